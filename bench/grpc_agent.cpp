// The agent behind the proxies of ./dev bench h2: HTTP/2 in the clear by libnghttp2, one thread, raw epoll. Every POST gets, once it has
// come, a message of gRPC of --body bytes with its prefix and status 0 in trailers. A path that ends in `SendStreamingMessage` gets the
// message and never the end; one that ends in `Stall` is not answered, and of its body a window is taken. On start the program prints its
// port. It trusts its peers: nothing but the proxies of a bench may reach it.
#include "bench/sockets.hpp"

#include <nghttp2/nghttp2.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bench {
namespace {

constexpr std::size_t most_unsent = 256 * 1024;

// `a2a.v1.SendMessageResponse` with a message, and as many dots as fit.
std::string answer_of(std::size_t size)
{
    const auto field = [](unsigned number, std::string_view content) {
        std::string out{static_cast<char>(number << 3U | 2U)};
        auto length = content.size();
        for (; length >= 0x80; length >>= 7U) {
            out.push_back(static_cast<char>(length | 0x80U));
        }
        out.push_back(static_cast<char>(length));
        return out.append(content);
    };
    std::string whole;
    for (std::size_t dots = size; whole.empty() || whole.size() + 5 > size; --dots) {
        const auto part = field(5, field(1, std::string(dots, '.')));
        whole = field(2, field(1, "7f1d8c52-8a0e-4a8c-9d0b-52f3c1e0a6b4") + std::string{"\x20\x02"} + part);
    }
    const auto length = whole.size();
    std::string out{'\0'};
    for (unsigned shift = 32; shift > 0;) {
        shift -= 8;
        out.push_back(static_cast<char>(length >> shift));
    }
    return out + whole;
}

nghttp2_nv field_of(std::string_view name, std::string_view value)
{
    const auto bytes = [](std::string_view text) {
        return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
    };  // NOLINT
    return {
        bytes(name),
        bytes(value),
        name.size(),
        value.size(),
        NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE
    };
}

struct call {
    std::string_view kind;  // a literal
    std::size_t sent = 0;
};

class connection {
public:
    connection(int descriptor, const std::string& answer);
    ~connection();
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    // False: it is over.
    bool serve();
    bool waits() const noexcept { return !unsent_.empty(); }

private:
    bool read();
    bool write();
    void answer(std::int32_t id);
    ssize_t fill(std::int32_t id, std::uint8_t* to, std::size_t size, std::uint32_t& flags);
    static const nghttp2_session_callbacks* calls();

    const int descriptor_;
    const std::string& answer_;
    nghttp2_session* session_ = nullptr;
    std::map<std::int32_t, call> open_;
    std::string unsent_;
};

const nghttp2_session_callbacks* connection::calls()
{
    static nghttp2_session_callbacks* made = nullptr;
    if (made != nullptr) {
        return made;
    }
    ::nghttp2_session_callbacks_new(&made);
    ::nghttp2_session_callbacks_set_on_header_callback(
        made,
        [](auto*,
           const nghttp2_frame* frame,
           const std::uint8_t* name,
           std::size_t name_size,
           const std::uint8_t* value,
           std::size_t size,
           std::uint8_t,
           void* self) {
            const std::string_view path{reinterpret_cast<const char*>(value), size};  // NOLINT
            if (name_size == 5 && std::equal(name, name + 5, ":path")) {
                auto& kind = static_cast<connection*>(self)->open_[frame->hd.stream_id].kind;
                for (const std::string_view known : {"SendStreamingMessage", "Stall"}) {
                    kind = path.ends_with(known) ? known : kind;
                }
            }
            return 0;
        }
    );
    ::nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        made,
        [](nghttp2_session* session, std::uint8_t, std::int32_t id, const std::uint8_t*, std::size_t size, void* self) {
            ::nghttp2_session_consume_connection(session, size);
            if (static_cast<connection*>(self)->open_[id].kind != "Stall") {
                ::nghttp2_session_consume_stream(session, id, size);
            }
            return 0;
        }
    );
    ::nghttp2_session_callbacks_set_on_frame_recv_callback(made, [](auto*, const nghttp2_frame* frame, void* self) {
        const bool carries = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
        if (carries && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
            static_cast<connection*>(self)->answer(frame->hd.stream_id);
        }
        return 0;
    });
    ::nghttp2_session_callbacks_set_on_stream_close_callback(
        made,
        [](auto*, std::int32_t id, std::uint32_t, void* self) {
            static_cast<connection*>(self)->open_.erase(id);
            return 0;
        }
    );
    return made;
}

connection::connection(int descriptor, const std::string& answer)
    : descriptor_{descriptor},
      answer_{answer}
{
    nghttp2_option* options = nullptr;
    ::nghttp2_option_new(&options);
    ::nghttp2_option_set_no_auto_window_update(options, 1);
    ::nghttp2_option_set_no_closed_streams(options, 1);
    ::nghttp2_session_server_new2(&session_, calls(), this, options);
    ::nghttp2_option_del(options);
    const nghttp2_settings_entry most{
        NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS,
        100
    };  // as Go, Java and C++ servers of gRPC have it
    ::nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &most, 1);
    ::nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, 16 * 1024 * 1024);
}

connection::~connection()
{
    ::nghttp2_session_del(session_);
    ::close(descriptor_);
}

void connection::answer(std::int32_t id)
{
    if (open_[id].kind == "Stall") {
        return;
    }
    const std::array fields{field_of(":status", "200"), field_of("content-type", "application/grpc")};
    const nghttp2_data_provider body{
        {},
        [](auto*, std::int32_t stream, std::uint8_t* to, std::size_t size, std::uint32_t* flags, auto*, void* self) {
            return static_cast<connection*>(self)->fill(stream, to, size, *flags);
        }
    };
    ::nghttp2_submit_response(session_, id, fields.data(), fields.size(), &body);
}

ssize_t connection::fill(std::int32_t id, std::uint8_t* to, std::size_t size, std::uint32_t& flags)
{
    auto& of = open_[id];
    const auto part = std::string_view{answer_}.substr(of.sent, size);
    std::copy(part.begin(), part.end(), to);
    of.sent += part.size();
    if (of.sent == answer_.size() && of.kind.empty()) {
        flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
        const auto status = field_of("grpc-status", "0");
        ::nghttp2_submit_trailer(session_, id, &status, 1);
    }
    return part.empty() ? NGHTTP2_ERR_DEFERRED : static_cast<ssize_t>(part.size());
}

bool connection::serve()
{
    return read() && write();
}

bool connection::read()
{
    static std::array<std::uint8_t, 256 * 1024> space;
    for (;;) {
        const auto got = ::recv(descriptor_, space.data(), space.size(), 0);
        if (got <= 0) {
            return got < 0 && errno == EAGAIN;
        }
        if (::nghttp2_session_mem_recv(session_, space.data(), static_cast<std::size_t>(got)) < 0) {
            return false;
        }
        if (static_cast<std::size_t>(got) < space.size()) {
            return true;
        }
    }
}

bool connection::write()
{
    for (bool more = true; more;) {
        const std::uint8_t* bytes = nullptr;
        ssize_t size = 0;
        while (unsent_.size() < most_unsent && (size = ::nghttp2_session_mem_send(session_, &bytes)) > 0) {
            unsent_.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));  // NOLINT
        }
        more = size > 0;
        const auto sent = unsent_.empty() ? 0 : ::send(descriptor_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
        if (sent < 0) {
            return errno == EAGAIN;
        }
        unsent_.erase(0, static_cast<std::size_t>(sent));
        more = more && unsent_.empty();
    }
    return ::nghttp2_session_want_read(session_) != 0 || ::nghttp2_session_want_write(session_) != 0;
}

[[noreturn]] void run(int listener, const std::string& answer)
{
    const int epoll = make_epoll();
    watch(epoll, listener, EPOLLIN, EPOLL_CTL_ADD);
    std::vector<std::unique_ptr<connection>> all;  // by descriptor
    std::array<epoll_event, 64> ready{};
    for (;;) {
        const int count = ::epoll_wait(epoll, ready.data(), static_cast<int>(ready.size()), -1);
        for (int i = 0; i < count; ++i) {
            const int descriptor = ready[static_cast<std::size_t>(i)].data.fd;
            if (descriptor == listener) {
                for (int made = 0; (made = accept_next(listener)) >= 0;) {
                    all.resize(std::max(all.size(), static_cast<std::size_t>(made) + 1));
                    all[static_cast<std::size_t>(made)] = std::make_unique<connection>(made, answer);
                    watch(epoll, made, EPOLLIN, EPOLL_CTL_ADD);
                }
                continue;
            }
            auto& each = all[static_cast<std::size_t>(descriptor)];
            const bool waited = each->waits();
            if (!each->serve()) {
                each.reset();
            } else if (waited != each->waits()) {
                watch(epoll, descriptor, waited ? EPOLLIN : EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
            }
        }
    }
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv)
{
    try {
        const std::vector<std::string_view> given{argv + 1, argv + argc};
        const auto size = given.size() == 2 && given[0] == "--body" ? bench::read_number<std::size_t>(given[1]) : 1024;
        const auto answer = bench::answer_of(size);
        const int listener = bench::listen_on(0);
        std::printf("%u\n", static_cast<unsigned>(bench::port_of(listener)));
        std::fflush(stdout);
        bench::run(listener, answer);
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "bench_grpc_agent: %s\n", problem.what());
        return 1;
    }
}
