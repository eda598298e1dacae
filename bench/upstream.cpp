// The agent behind the proxies that are measured: as little work per call as a process can do, so that it is never what
// limits them. One thread, raw epoll, every answer built at the start. It listens on 127.0.0.1 and answers
//   POST (any target)          a JSON-RPC answer of --body bytes, or, with --events N, a stream of N server-sent events
//                              of 200 bytes, one every --interval microseconds; with --mixed 1 only if message/stream
//                              is asked for
//                              with --mcp 1 what an MCP server with one session answers, with --mcp 2 one of 2026-07-28
//                              alone; it has --tools N tools, and with --listen 1 GET is a stream without events
//   GET …/agent-card.json      an agent card of 4 KiB
//   GET /count                 how much was answered, as JSON
// with the header fields of an agent that runs on Node.js and Express. On start it prints the port. It trusts its peers:
// nothing but the proxies of a bench may reach it.
#include "bench/answers.hpp"
#include "bench/mcp_answers.hpp"
#include "bench/request.hpp"
#include "bench/sockets.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bench {
namespace {

constexpr std::size_t request_bytes = 16 * 1024;

struct options {
    std::uint16_t port = 0;
    std::size_t body = 1024;
    std::uint64_t events = 0;
    std::int64_t interval = 2000;  // microseconds
    unsigned mixed = 0;
    unsigned mcp = 0;
    std::size_t tools = 1;
    unsigned listen = 0;
};

struct connection {
    int descriptor = -1;
    std::size_t received = 0;
    std::uint64_t events_left = 0;
    std::string_view unsent;  // lives as long as the upstream, or is `made`
    std::string made;
    std::array<char, request_bytes> bytes;
};

class upstream {
public:
    explicit upstream(const options& chosen)
        : chosen_{chosen},
          answer_{call_answer(chosen.body)},
          mcp_{chosen.body, chosen.tools, chosen.mcp == 2},
          stream_head_{event_stream_head()},
          event_{event_chunk()},
          last_event_{event_chunk() + "0\r\n\r\n"},
          listener_{listen_on(chosen.port)},
          port_{port_of(listener_)},
          card_{card_answer(port_)}
    {
        watch(epoll_, listener_, EPOLLIN, EPOLL_CTL_ADD);
        if (chosen_.events > 0) {
            start_timer();
        }
    }

    std::uint16_t port() const noexcept { return port_; }

    [[noreturn]] void run()
    {
        std::array<epoll_event, 256> ready{};
        for (;;) {
            const int count = ::epoll_wait(epoll_, ready.data(), static_cast<int>(ready.size()), -1);
            if (count < 0 && errno != EINTR) {
                fail("epoll_wait");
            }
            for (int i = 0; i < count; ++i) {
                const auto descriptor = ready[static_cast<std::size_t>(i)].data.fd;
                if (descriptor == listener_) {
                    accept_all();
                } else if (descriptor == timer_) {
                    tick();
                } else if (auto& each = connections_[static_cast<std::size_t>(descriptor)]) {
                    serve(*each);
                }
            }
        }
    }

private:
    void start_timer();
    void accept_all();
    void tick();
    void serve(connection& c);
    bool receive(connection& c);
    bool answer_received(connection& c);
    bool answer(connection& c, const request& what);
    bool answer_mcp(connection& c, const request& what);
    bool send_static(connection& c, std::string_view bytes);
    bool send_count(connection& c);
    void close(connection& c);

    const options chosen_;
    const std::string answer_;
    mcp_answers mcp_;
    const std::string stream_head_;
    const std::string event_;
    const std::string last_event_;
    const int epoll_ = make_epoll();
    const int listener_;
    const std::uint16_t port_;
    const std::string card_;
    int timer_ = -1;
    std::uint64_t answers_ = 0;
    std::uint64_t events_ = 0;
    std::vector<std::unique_ptr<connection>> connections_;  // by descriptor
    std::vector<int> streams_;
};

void upstream::start_timer()
{
    timer_ = ::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    const timespec interval{chosen_.interval / 1'000'000, chosen_.interval % 1'000'000 * 1000};
    const itimerspec every{interval, interval};
    if (timer_ < 0 || ::timerfd_settime(timer_, 0, &every, nullptr) != 0) {
        fail("timerfd");
    }
    watch(epoll_, timer_, EPOLLIN, EPOLL_CTL_ADD);
}

void upstream::accept_all()
{
    for (int descriptor = 0; (descriptor = accept_next(listener_)) >= 0;) {
        const auto at = static_cast<std::size_t>(descriptor);
        if (connections_.size() <= at) {
            connections_.resize(at + 1);
        }
        connections_[at] = std::make_unique<connection>();
        connections_[at]->descriptor = descriptor;
        watch(epoll_, descriptor, EPOLLIN, EPOLL_CTL_ADD);
    }
}

void upstream::close(connection& c)
{
    std::erase(streams_, c.descriptor);
    ::close(c.descriptor);
    connections_[static_cast<std::size_t>(c.descriptor)].reset();
}

// Sends what of `bytes` fits now and leaves the rest for later; false if the peer is gone.
bool upstream::send_static(connection& c, std::string_view bytes)
{
    const bool waited = !c.unsent.empty();
    c.unsent = bytes;
    while (!c.unsent.empty()) {
        const auto sent = ::send(c.descriptor, c.unsent.data(), c.unsent.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) {
            break;
        }
        if (sent < 0) {
            return false;
        }
        c.unsent.remove_prefix(static_cast<std::size_t>(sent));
    }
    if (waited != !c.unsent.empty()) {
        watch(epoll_, c.descriptor, waited ? EPOLLIN : EPOLLOUT, EPOLL_CTL_MOD);
    }
    return true;
}

bool upstream::send_count(connection& c)
{
    const auto text =
        whole_answer(R"({"answers":)" + std::to_string(answers_) + R"(,"events":)" + std::to_string(events_) + "}");
    return ::send(c.descriptor, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

bool upstream::receive(connection& c)
{
    if (c.received == c.bytes.size()) {
        throw std::runtime_error{"a request of more than 16 KiB"};
    }
    const auto got = ::recv(c.descriptor, c.bytes.data() + c.received, c.bytes.size() - c.received, 0);
    if (got > 0) {
        c.received += static_cast<std::size_t>(got);
        return true;
    }
    return got < 0 && errno == EAGAIN;
}

bool upstream::answer_mcp(connection& c, const request& what)
{
    const std::string_view whole{c.bytes.data(), what.length};
    const auto answer = what.method == "POST" ? mcp_.of(whole.substr(whole.find("\r\n\r\n"))) : std::string_view{};
    if (what.method == "GET" && chosen_.listen != 0) {
        return send_static(c, stream_head_);
    }
    if (what.method == "GET") {
        return send_static(c, "HTTP/1.1 405 Method Not Allowed\r\nAllow: POST, DELETE\r\nContent-Length: 0\r\n\r\n");
    }
    if (answer.empty()) {
        return send_static(c, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
    }
    ++answers_;
    c.made = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
    c.made += chosen_.mcp == 1 ? "Mcp-Session-Id: bench-8f4c1a52b7d94d1e\r\nContent-Length: " : "Content-Length: ";
    c.made += std::to_string(answer.size());
    c.made += "\r\n\r\n";
    c.made += answer;
    return send_static(c, c.made);
}

bool upstream::answer(connection& c, const request& what)
{
    if (chosen_.mcp != 0 && !what.target.ends_with("/agent-card.json")) {
        return answer_mcp(c, what);
    }
    if (what.method == "GET" && what.target == "/count") {
        return send_count(c);
    }
    if (what.method == "GET" && what.target.ends_with("/agent-card.json")) {
        return send_static(c, card_);
    }
    if (what.method == "GET" && what.target == "/answer") {
        return send_static(c, answer_);
    }
    if (what.method != "POST") {
        throw std::runtime_error{"no answer to " + std::string{what.method} + " " + std::string{what.target}};
    }
    ++answers_;
    const std::string_view whole{c.bytes.data(), what.length};
    if (chosen_.events == 0 || (chosen_.mixed != 0 && whole.find("\"message/stream\"") == std::string_view::npos)) {
        return send_static(c, answer_);
    }
    c.events_left = chosen_.events;
    streams_.push_back(c.descriptor);
    return send_static(c, stream_head_);
}

bool upstream::answer_received(connection& c)
{
    while (c.unsent.empty() && c.events_left == 0) {
        const auto what = first_request({c.bytes.data(), c.received});
        if (!what) {
            return true;
        }
        const auto alive = answer(c, *what);
        c.received -= what->length;
        std::memmove(c.bytes.data(), c.bytes.data() + what->length, c.received);
        if (!alive) {
            return false;
        }
    }
    return true;
}

void upstream::serve(connection& c)
{
    const bool alive = c.unsent.empty() ? receive(c) : send_static(c, c.unsent);
    if (!alive || !answer_received(c)) {
        close(c);
    }
}

// One event for every stream whose reader has taken the last one.
void upstream::tick()
{
    std::uint64_t expirations = 0;
    if (::read(timer_, &expirations, sizeof expirations) != sizeof expirations) {
        return;
    }
    for (std::size_t i = streams_.size(); i-- > 0;) {
        auto& c = *connections_[static_cast<std::size_t>(streams_[i])];
        if (!c.unsent.empty()) {
            continue;
        }
        ++events_;
        const bool last = --c.events_left == 0;
        if (last) {
            streams_[i] = streams_.back();
            streams_.pop_back();
        }
        if (!send_static(c, last ? last_event_ : event_) || (last && !answer_received(c))) {
            close(c);
        }
    }
}

options read_options(const std::vector<std::string_view>& arguments)
{
    options out;
    for (std::size_t i = 0; i < arguments.size(); i += 2) {
        if (i + 1 == arguments.size()) {
            throw std::invalid_argument{std::string{arguments[i]} + " needs a value"};
        }
        const auto value = arguments[i + 1];
        if (arguments[i] == "--port") {
            out.port = read_number<decltype(out.port)>(value);
        } else if (arguments[i] == "--body") {
            out.body = read_number<decltype(out.body)>(value);
        } else if (arguments[i] == "--events") {
            out.events = read_number<decltype(out.events)>(value);
        } else if (arguments[i] == "--interval") {
            out.interval = read_number<decltype(out.interval)>(value);
        } else if (arguments[i] == "--mcp") {
            out.mcp = read_number<decltype(out.mcp)>(value);
        } else if (arguments[i] == "--tools") {
            out.tools = read_number<decltype(out.tools)>(value);
        } else if (arguments[i] == "--listen") {
            out.listen = read_number<decltype(out.listen)>(value);
        } else if (arguments[i] == "--mixed") {
            out.mixed = read_number<decltype(out.mixed)>(value);
        } else {
            throw std::invalid_argument{"unknown option " + std::string{arguments[i]}};
        }
    }
    if (out.interval <= 0) {
        throw std::invalid_argument{"--interval must be positive"};
    }
    return out;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv)
{
    try {
        bench::upstream server{bench::read_options({argv + 1, argv + argc})};
        std::printf("%u\n", static_cast<unsigned>(server.port()));
        std::fflush(stdout);
        server.run();
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "bench_upstream: %s\n", problem.what());
        return 1;
    }
}
