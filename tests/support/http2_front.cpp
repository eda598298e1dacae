#include "tests/support/http2_front.hpp"

#include "core/ascii.hpp"
#include "tests/support/http2_agent.hpp"

#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace test_support {
namespace {

namespace http = boost::beast::http;

constexpr std::uint32_t internal_error = 2;

std::mutex fronts_mutex;
std::set<std::uint16_t> fronts;

bool belongs_to_http1(const std::string& name)
{
    static const std::set<std::string>
        names{"connection", "keep-alive", "transfer-encoding", "upgrade", "proxy-connection", "te"};
    return names.contains(name);
}

std::string text_of(const recorded_request& request)
{
    std::string out = request.method + " " + request.target + " HTTP/1.1\r\n";
    bool has_length = false;
    for (const auto& [name, value] : request.headers) {
        if (name == ":authority") {
            out += "Host: " + value + "\r\n";
        } else if (!name.starts_with(':') && name != "not-indexed") {
            out += name + ": " + value + "\r\n";
            has_length = has_length || name == "content-length";
        }
    }
    if (!has_length && !request.body.empty()) {
        out += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
    }
    return out + "\r\n" + request.body;
}

class plain_socket {
public:
    explicit plain_socket(std::uint16_t port)
        : number_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)}
    {
        ::sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        to.sin_port = htons(port);
        const int on = 1;
        ::setsockopt(number_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        open_ = ::connect(number_, reinterpret_cast<::sockaddr*>(&to), sizeof to) == 0;
    }
    ~plain_socket() { ::close(number_); }
    plain_socket(const plain_socket&) = delete;
    plain_socket& operator=(const plain_socket&) = delete;

    bool write(std::string_view bytes) const
    {
        while (!bytes.empty()) {
            const auto put = ::send(number_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (put <= 0) {
                return false;
            }
            bytes.remove_prefix(static_cast<std::size_t>(put));
        }
        return open_;
    }
    // Empty: it has ended.
    std::string read() const
    {
        std::array<char, 16384> bytes;
        const auto got = ::recv(number_, bytes.data(), bytes.size(), 0);
        return {bytes.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
    }
    bool is_open() const
    {
        char byte = 0;
        return open_ && ::recv(number_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
               (errno == EAGAIN || errno == EWOULDBLOCK);
    }
    void end() const { ::shutdown(number_, SHUT_RDWR); }

private:
    int number_;
    bool open_ = false;
};

}  // namespace

class http2_front::state {
public:
    explicit state(std::uint16_t agent)
        : agent_{agent},
          front_{
              [](const recorded_request&) { return h2::script{}; },
              {.came = [this](std::size_t index, const recorded_request& request) { begin(index, request); },
               .gone = [this](std::size_t index) { drop(index); }}
          }
    {
        const std::lock_guard held{fronts_mutex};
        fronts.insert(agent_);
    }

    ~state()
    {
        {
            const std::lock_guard held{fronts_mutex};
            fronts.erase(agent_);
        }
        front_.stop();
        {
            const std::lock_guard held{mutex_};
            stopping_ = true;
            for (const auto& [index, each] : busy_) {
                each->end();
            }
        }
        for (auto& each : threads_) {
            each.join();
        }
    }

    void take(int socket) { front_.take(socket); }

private:
    // In the front's thread.
    void begin(std::size_t index, const recorded_request& request)
    {
        threads_.emplace_back([this, index, request] { exchange(index, request); });
    }

    void drop(std::size_t index)
    {
        const std::lock_guard held{mutex_};
        if (const auto found = busy_.find(index); found != busy_.end()) {
            found->second->end();
        }
    }

    std::shared_ptr<plain_socket> take(std::size_t index)
    {
        const std::lock_guard held{mutex_};
        std::shared_ptr<plain_socket> taken;
        while (!idle_.empty() && taken == nullptr) {
            if (idle_.back()->is_open()) {
                taken = idle_.back();
            }
            idle_.pop_back();
        }
        if (taken == nullptr) {
            taken = std::make_shared<plain_socket>(agent_);
        }
        busy_[index] = taken;
        if (stopping_) {
            taken->end();
        }
        return taken;
    }

    void exchange(std::size_t index, const recorded_request& request)
    {
        const auto socket = take(index);
        std::string last;
        const auto end =
            socket->write(text_of(request)) ? pass(*socket, index, request.method == "HEAD", last) : answer_end::cut;
        {
            const std::lock_guard held{mutex_};
            busy_.erase(index);
            if (end == answer_end::kept && !stopping_) {
                idle_.push_back(socket);  // before the next request can come
            }
        }
        front_.say(
            index,
            {end == answer_end::cut ? h2::step{h2::reset{internal_error}} : h2::step{h2::data{last, true}}}
        );
    }

    enum class answer_end : std::uint8_t { cut, closed, kept };

    // Passes an answer on but for its last bytes.
    answer_end pass(const plain_socket& socket, std::size_t index, bool to_head, std::string& last)
    {
        http::response_parser<http::buffer_body> parser;
        parser.body_limit(boost::none);
        parser.skip(to_head);
        std::string come;
        bool headed = false;
        while (!parser.is_done()) {
            boost::beast::error_code ec;
            const auto more = socket.read();
            if (more.empty() && !parser.got_some()) {
                return answer_end::cut;
            }
            come += more;
            std::array<char, 16384> room;
            std::size_t used = 1;
            while (used > 0 && !parser.is_done()) {
                auto& body = parser.get().body();
                body.data = room.data();
                body.size = room.size();
                more.empty() ? parser.put_eof(ec) : void();
                used = more.empty() || come.empty() ? 0 : parser.put(boost::asio::buffer(come), ec);
                come.erase(0, used);
                if (ec && ec != http::error::need_buffer && ec != http::error::need_more) {
                    return answer_end::cut;
                }
                if (!headed && parser.is_header_done()) {
                    headed = true;
                    front_.say(index, {head_of(parser.get())});
                }
                const auto size = headed ? room.size() - body.size : 0;
                if (parser.is_done()) {
                    last.assign(room.data(), size);
                } else if (size > 0) {
                    front_.say(index, {h2::data{std::string{room.data(), size}}});
                }
            }
            if (more.empty() && !parser.is_done()) {
                return answer_end::cut;
            }
        }
        return parser.keep_alive() && come.empty() ? answer_end::kept : answer_end::closed;
    }

    static h2::step head_of(const http::response<http::buffer_body>& head)
    {
        h2::head out{{{":status", std::to_string(head.result_int())}}};
        for (const auto& each : head) {
            std::string name{each.name_string()};
            std::ranges::transform(name, name.begin(), core::lower);
            if (!belongs_to_http1(name)) {
                out.fields.emplace_back(std::move(name), std::string{each.value()});
            }
        }
        return out;
    }

    std::uint16_t agent_;
    std::mutex mutex_;
    std::map<std::size_t, std::shared_ptr<plain_socket>> busy_;  // by request
    std::vector<std::shared_ptr<plain_socket>> idle_;
    bool stopping_ = false;
    std::vector<std::thread> threads_;
    http2_agent front_;
};

http2_front::http2_front(std::uint16_t agent)
    : state_{std::make_unique<state>(agent)}
{
}

http2_front::~http2_front() = default;

void http2_front::take(int socket)
{
    state_->take(socket);
}

bool http2_front::has(std::uint16_t port)
{
    const std::lock_guard held{fronts_mutex};
    return fronts.contains(port);
}

bool agents_speak_http2()
{
    const char* const set = std::getenv("CARDEA_TEST_AGENT_HTTP");  // NOLINT(concurrency-mt-unsafe)
    return set != nullptr && std::string_view{set} == "2";
}

}  // namespace test_support
