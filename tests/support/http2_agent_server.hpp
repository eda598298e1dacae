// The thread of http2_agent: its sockets, and the sessions of libnghttp2 on them. Only http2_agent.cpp includes this header.
#pragma once

#include "tests/support/http2_agent.hpp"
#include "tests/support/http2_agent_parts.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

namespace test_support {

class http2_agent::server {
public:
    server(handler by_default, http2_agent_options options)
        : handler_{std::move(by_default)},
          options_{std::move(options)},
          listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)},
          wake_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)}
    {
        ::sockaddr_in where{};
        where.sin_family = AF_INET;
        where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        ::socklen_t size = sizeof where;
        auto* const any = reinterpret_cast<::sockaddr*>(&where);
        if (::bind(listener_, any, size) != 0 || ::listen(listener_, 128) != 0 ||
            ::getsockname(listener_, any, &size) != 0) {
            throw std::runtime_error{"http2_agent: no socket"};
        }
        port_ = ntohs(where.sin_port);
        if (!options_.cert_file.empty()) {
            context_ = h2_context(options_);
        }
        thread_ = std::thread{[this] { run(); }};
    }

    ~server()
    {
        stop();
        for (const auto socket : taken_) {
            ::close(socket);
        }
        ::close(listener_);
        ::close(wake_);
    }

    void stop()
    {
        if (!thread_.joinable()) {
            return;
        }
        {
            const std::lock_guard held{mutex_};
            stopping_ = true;
        }
        wake();
        thread_.join();
    }

    struct connection {
        server* of = nullptr;
        int socket = -1;
        std::size_t number = 0;
        std::unique_ptr<SSL, ssl_free> tls;
        nghttp2_session* session = nullptr;
        std::map<std::int32_t, h2_stream> streams;
        std::size_t requests = 0;
        bool over = false;

        ~connection()
        {
            nghttp2_session_del(session);
            if (socket >= 0) {
                ::close(socket);
            }
        }
    };

    void say(std::size_t index, h2::script more)
    {
        {
            const std::lock_guard held{mutex_};
            said_.emplace_back(index, std::move(more));
        }
        wake();
    }

    void take(int socket)
    {
        {
            const std::lock_guard held{mutex_};
            taken_.push_back(socket);
        }
        wake();
    }

    template <class Condition>
    bool wait(std::chrono::milliseconds timeout, Condition condition)
    {
        std::unique_lock held{mutex_};
        return changed_.wait_for(held, timeout, condition);
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::optional<recorded_request>> requests_;  // by index; nothing: not whole
    std::vector<std::uint32_t> resets_;
    std::size_t accepted_ = 0;
    std::size_t open_ = 0;
    std::size_t pings_ = 0;
    std::size_t goaways_ = 0;
    std::uint16_t port_ = 0;
    http2_agent_options& options() { return options_; }

    std::vector<recorded_request> whole()
    {
        const std::lock_guard held{mutex_};
        std::vector<recorded_request> out;
        for (const auto& each : requests_) {
            if (each) {
                out.push_back(*each);
            }
        }
        return out;
    }

private:
    void wake()
    {
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof one);
    }

    void run()
    {
        ::sigset_t none;
        ::sigemptyset(&none);
        ::sigaddset(&none, SIGPIPE);  // OpenSSL writes to peers that are gone
        ::pthread_sigmask(SIG_BLOCK, &none, nullptr);
        for (;;) {
            std::vector<::pollfd> wanted{{listener_, POLLIN, 0}, {wake_, POLLIN, 0}};
            for (const auto& each : connections_) {
                wanted.push_back({each->socket, POLLIN, 0});
            }
            ::poll(wanted.data(), wanted.size(), -1);
            std::uint64_t count = 0;
            [[maybe_unused]] const auto read = ::read(wake_, &count, sizeof count);
            {
                const std::lock_guard held{mutex_};
                if (stopping_) {
                    connections_.clear();
                    return;
                }
            }
            for (std::size_t i = 2; i < wanted.size(); ++i) {
                if (wanted[i].revents != 0) {
                    receive(*connections_[i - 2]);
                }
            }
            say_more();
            for (const auto& each : connections_) {
                if (each->over) {
                    forget(*each);
                }
            }
            std::erase_if(connections_, [](const auto& each) { return each->over; });
            if ((wanted[0].revents & POLLIN) != 0) {
                hold(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
            }
            for (const auto socket : taken()) {
                hold(socket);
            }
            const std::lock_guard held{mutex_};
            open_ = connections_.size();
            changed_.notify_all();
        }
    }

    std::vector<int> taken()
    {
        const std::lock_guard held{mutex_};
        return std::exchange(taken_, {});
    }

    void forget(const connection& on)
    {
        for (const auto& [id, stream] : on.streams) {
            if (options_.gone) {
                options_.gone(stream.index);
            }
        }
    }

    void hold(int socket)
    {
        if (socket < 0) {
            return;
        }
        auto made = std::make_unique<connection>();
        made->of = this;
        made->socket = socket;
        ::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL) & ~O_NONBLOCK);
        const int on = 1;
        ::setsockopt(made->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        {
            const std::lock_guard held{mutex_};
            made->number = ++accepted_;
        }
        if (context_ != nullptr) {
            made->tls.reset(SSL_new(context_.get()));
            SSL_set_fd(made->tls.get(), made->socket);
            if (SSL_accept(made->tls.get()) != 1) {
                return;
            }
        }
        if (!options_.instead.empty()) {
            write(*made, options_.instead);
        } else {
            begin(*made);
        }
        connections_.push_back(std::move(made));
    }

    void begin(connection& on)
    {
        nghttp2_session_callbacks* calls = nullptr;
        nghttp2_session_callbacks_new(&calls);
        nghttp2_session_callbacks_set_on_begin_headers_callback(calls, &on_begin);
        nghttp2_session_callbacks_set_on_header_callback(calls, &on_field);
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(calls, &on_data);
        nghttp2_session_callbacks_set_on_frame_recv_callback(calls, &on_frame);
        nghttp2_session_callbacks_set_on_stream_close_callback(calls, &on_close);
        nghttp2_option* option = nullptr;
        nghttp2_option_new(&option);
        nghttp2_option_set_no_http_messaging(option, 1);
        nghttp2_option_set_no_auto_window_update(option, options_.takes_bodies ? 0 : 1);
        nghttp2_session_server_new2(&on.session, calls, &on, option);
        nghttp2_option_del(option);
        nghttp2_session_callbacks_del(calls);
        const nghttp2_settings_entry streams{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, options_.streams};
        nghttp2_submit_settings(on.session, NGHTTP2_FLAG_NONE, &streams, 1);
        flush(on);
    }

    void receive(connection& on)
    {
        std::array<char, 65536> bytes;
        const auto got = on.tls ? SSL_read(on.tls.get(), bytes.data(), static_cast<int>(bytes.size()))
                                : static_cast<int>(::recv(on.socket, bytes.data(), bytes.size(), 0));
        if (got <= 0) {
            on.over = true;
            return;
        }
        if (on.session != nullptr && nghttp2_session_mem_recv(
                                         on.session,
                                         reinterpret_cast<std::uint8_t*>(bytes.data()),
                                         static_cast<std::size_t>(got)
                                     ) < 0) {
            on.over = true;
            return;
        }
        go_on(on);
        if (on.tls && SSL_pending(on.tls.get()) > 0 && !on.over) {
            receive(on);
        }
    }

    void write(connection& on, std::string_view bytes)
    {
        while (!bytes.empty() && !on.over) {
            const auto put = on.tls ? SSL_write(on.tls.get(), bytes.data(), static_cast<int>(bytes.size()))
                                    : static_cast<int>(::send(on.socket, bytes.data(), bytes.size(), MSG_NOSIGNAL));
            if (put <= 0) {
                on.over = true;
                return;
            }
            bytes.remove_prefix(static_cast<std::size_t>(put));
        }
    }

    void flush(connection& on)
    {
        if (!options_.tells_settings) {
            return;
        }
        std::string out;
        const std::uint8_t* bytes = nullptr;
        for (;;) {
            const auto size = nghttp2_session_mem_send(on.session, &bytes);
            if (size <= 0) {
                break;
            }
            out += text_of(bytes, static_cast<std::size_t>(size));
        }
        write(on, out);
    }

    // Runs the scripts of all streams as far as they go.
    void go_on(connection& on)
    {
        if (on.session == nullptr) {
            return;
        }
        for (bool more = true; more && !on.over;) {
            more = false;
            flush(on);
            std::vector<std::int32_t> ids;
            for (const auto& [id, each] : on.streams) {
                ids.push_back(id);
            }
            for (const auto id : ids) {
                const auto found = on.streams.find(id);
                if (found != on.streams.end() && !found->second.busy && !found->second.left.empty() && !on.over) {
                    auto next = std::move(found->second.left.front());
                    found->second.left.pop_front();
                    const bool was_last = found->second.closed && found->second.left.empty();
                    std::visit([&](const auto& step) { run_step(on, id, found->second, step); }, next);
                    if (was_last) {
                        on.streams.erase(id);
                    }
                    more = true;
                }
            }
        }
    }

    void run_step(connection& on, std::int32_t id, h2_stream& stream, const h2::head& step)
    {
        const auto fields = converted(step.fields);
        const bool interim = !step.fields.empty() && step.fields.front().second.starts_with('1') && !step.last;
        if (interim || step.last || stream.headed) {
            const auto flags = static_cast<std::uint8_t>(step.last ? NGHTTP2_FLAG_END_STREAM : NGHTTP2_FLAG_NONE);
            nghttp2_submit_headers(on.session, flags, id, nullptr, fields.data(), fields.size(), nullptr);
        } else {
            stream.headed = true;
            const auto body = provider();
            nghttp2_submit_response(on.session, id, fields.data(), fields.size(), &body);
        }
        flush(on);
    }

    void run_step(connection& on, std::int32_t id, h2_stream& stream, const h2::data& step)
    {
        stream.sending = step.text;
        stream.sends_last = step.last;
        stream.busy = true;
        nghttp2_session_resume_data(on.session, id);
    }

    void run_step(connection& on, std::int32_t id, h2_stream& stream, const h2::trailers& step)
    {
        stream.trailers = step.fields;
        stream.sends_last = true;
        stream.busy = true;
        nghttp2_session_resume_data(on.session, id);
    }

    void run_step(connection& on, std::int32_t id, h2_stream& /*stream*/, const h2::reset& step)
    {
        nghttp2_submit_rst_stream(on.session, NGHTTP2_FLAG_NONE, id, step.code);
    }

    void run_step(connection& on, std::int32_t id, h2_stream& /*stream*/, const h2::goaway& step)
    {
        nghttp2_submit_goaway(on.session, NGHTTP2_FLAG_NONE, step.last < 0 ? id : step.last, step.code, nullptr, 0);
    }

    void run_step(connection& on, std::int32_t /*id*/, h2_stream& /*stream*/, const h2::raw& step)
    {
        flush(on);
        write(on, step.bytes);
    }

    void run_step(connection& on, std::int32_t /*id*/, h2_stream& /*stream*/, const h2::close_now&)
    {
        flush(on);
        on.over = true;
    }

    void run_step(connection& on, std::int32_t /*id*/, h2_stream& /*stream*/, const h2::break_now&)
    {
        flush(on);
        const ::linger hard{1, 0};
        ::setsockopt(on.socket, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
        on.over = true;
    }

    nghttp2_data_provider provider() { return {{}, &on_read}; }

    void say_more()
    {
        decltype(said_) said;
        {
            const std::lock_guard held{mutex_};
            said.swap(said_);
        }
        for (auto& [index, script] : said) {
            for (const auto& each : connections_) {
                for (auto& [id, stream] : each->streams) {
                    if (stream.index == index) {
                        stream.left.insert(stream.left.end(), script.begin(), script.end());
                    }
                }
            }
        }
        for (const auto& each : connections_) {
            if (!each->over) {
                go_on(*each);
            }
        }
    }

    void came(connection& on, std::int32_t id, bool whole)
    {
        auto& stream = on.streams[id];
        if (whole) {
            const std::lock_guard held{mutex_};
            requests_[stream.index] = stream.request;
            changed_.notify_all();
        }
        if (!whole && !options_.answers_pieces) {
            return;
        }
        if (options_.came) {
            return options_.came(stream.index, stream.request);
        }
        auto said = whole && options_.answers_pieces ? h2::script{h2::data{{}, true}} : handler_(stream.request);
        stream.left.insert(stream.left.end(), said.begin(), said.end());
        if (options_.answers_pieces) {
            stream.request.body.clear();
        }
    }

    static connection& part(void* data) { return *static_cast<connection*>(data); }

    static int on_begin(nghttp2_session*, const nghttp2_frame* frame, void* data)
    {
        auto& on = part(data);
        if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) {
            return 0;
        }
        auto& stream = on.streams[frame->hd.stream_id];
        stream.request.connection = on.number;
        stream.request.number_on_connection = ++on.requests;
        const std::lock_guard held{on.of->mutex_};
        stream.index = on.of->requests_.size();
        on.of->requests_.emplace_back();
        return 0;
    }

    static int on_field(
        nghttp2_session*,
        const nghttp2_frame* frame,
        const std::uint8_t* name,
        std::size_t name_size,
        const std::uint8_t* value,
        std::size_t size,
        std::uint8_t flags,
        void* data
    )
    {
        auto& request = part(data).streams[frame->hd.stream_id].request;
        auto named = text_of(name, name_size);
        auto text = text_of(value, size);
        if (named == ":method") {
            request.method = text;
        } else if (named == ":path") {
            request.target = text;
        }
        if ((flags & NGHTTP2_NV_FLAG_NO_INDEX) != 0) {
            request.headers.emplace_back("not-indexed", named);
        }
        request.headers.emplace_back(std::move(named), std::move(text));
        return 0;
    }

    static int
    on_data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* bytes, std::size_t size, void* data)
    {
        part(data).streams[id].request.body += text_of(bytes, size);
        return 0;
    }

    static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* data)
    {
        auto& on = part(data);
        const bool ends = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
        if (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) {
            on.of->came(on, frame->hd.stream_id, ends);
        }
        const std::lock_guard held{on.of->mutex_};
        if (frame->hd.type == NGHTTP2_RST_STREAM) {
            on.of->resets_.push_back(frame->rst_stream.error_code);
        }
        on.of->pings_ += frame->hd.type == NGHTTP2_PING && (frame->hd.flags & NGHTTP2_FLAG_ACK) == 0 ? 1 : 0;
        on.of->goaways_ += frame->hd.type == NGHTTP2_GOAWAY ? 1 : 0;
        on.of->changed_.notify_all();
        return 0;
    }

    static int on_close(nghttp2_session*, std::int32_t id, std::uint32_t, void* data)
    {
        auto& streams = part(data).streams;
        const auto found = streams.find(id);
        if (found != streams.end() && part(data).of->options_.gone) {
            part(data).of->options_.gone(found->second.index);
            streams.erase(found);
        } else if (found != streams.end() && !found->second.left.empty()) {
            found->second.closed = true;  // there is more to do
            found->second.busy = false;
        } else if (found != streams.end()) {
            streams.erase(found);
        }
        return 0;
    }

    static ssize_t on_read(
        nghttp2_session* session,
        std::int32_t id,
        std::uint8_t* into,
        std::size_t most,
        std::uint32_t* flags,
        nghttp2_data_source*,
        void* data
    )
    {
        auto& stream = part(data).streams[id];
        const auto size = std::min(most, stream.sending.size());
        std::copy_n(stream.sending.begin(), size, into);
        stream.sending.erase(0, size);
        if (!stream.sending.empty()) {
            return static_cast<ssize_t>(size);
        }
        if (stream.busy && stream.sends_last) {
            *flags |= NGHTTP2_DATA_FLAG_EOF;
            if (!stream.trailers.empty()) {
                *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
                const auto fields = converted(stream.trailers);
                nghttp2_submit_trailer(session, id, fields.data(), fields.size());
            }
            stream.busy = false;
            return static_cast<ssize_t>(size);
        }
        stream.busy = false;
        return size > 0 ? static_cast<ssize_t>(size) : NGHTTP2_ERR_DEFERRED;
    }

    handler handler_;
    http2_agent_options options_;
    int listener_;
    int wake_;
    std::unique_ptr<SSL_CTX, ssl_free> context_;
    std::vector<std::unique_ptr<connection>> connections_;
    std::vector<std::pair<std::size_t, h2::script>> said_;
    std::vector<int> taken_;  // sockets that the thread has not begun
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace test_support
