// One connection of a scripted agent: requests in, the steps of their scripts out. Internal to the scripted agent.
#pragma once

#include "tests/support/agent_ledger.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace test_support {

using tls_stream = boost::asio::ssl::stream<boost::asio::ip::tcp::socket>;
using request_parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

enum class after : std::uint8_t { next, end };  // what becomes of the connection

inline constexpr std::size_t block_size = 64 * 1024;

struct serialised {
    std::string text;
    bool keep_alive;
};
serialised serialise(const message& what, bool to_head);
recorded_request to_record(const boost::beast::http::request<boost::beast::http::string_body>& request);
std::string as_chunk(std::string_view data);

inline boost::asio::ip::tcp::socket& socket_of(boost::asio::ip::tcp::socket& stream)
{
    return stream;
}

inline boost::asio::ip::tcp::socket& socket_of(tls_stream& stream)
{
    return stream.next_layer();
}

// One connection: requests in, the steps of their scripts out.
template <class Stream>
class conversation {
public:
    conversation(agent_ledger& ledger, Stream& stream, std::size_t number)
        : ledger_{ledger},
          stream_{stream},
          number_{number}
    {
    }

    boost::asio::awaitable<void> run()
    {
        for (std::size_t count = 1;; ++count) {
            request_parser parser;
            parser.header_limit(std::numeric_limits<std::uint32_t>::max());
            parser.body_limit(boost::none);
            boost::system::error_code failed;
            co_await boost::beast::http::async_read(
                stream_,
                buffer_,
                parser,
                boost::asio::redirect_error(boost::asio::use_awaitable, failed)
            );
            if (failed) {
                peer_left();
                co_return;
            }
            to_head_ = parser.get().method() == boost::beast::http::verb::head;
            keep_alive_ = parser.get().keep_alive();
            const auto steps = ledger_.enter(record(parser.get(), count));
            for (const auto& what : steps) {
                const auto then = co_await std::visit([this](const auto& s) { return this->take(s); }, what);
                if (then == after::end) {
                    co_return;
                }
            }
            if (!keep_alive_) {
                co_await take(close_now{});
                co_return;
            }
        }
    }

    boost::asio::awaitable<after> take(const hold&)
    {
        while (!left_) {
            buffer_.clear();
            co_await read_more();
        }
        co_return after::end;
    }

    boost::asio::awaitable<after> take(const reset_now&)
    {
        boost::system::error_code ignored;  // the peer may have been faster
        socket_of(stream_).set_option(boost::asio::socket_base::linger{true, 0}, ignored);
        socket_of(stream_).close(ignored);
        co_return after::end;
    }

    boost::asio::awaitable<after> take(const close_now& how)
    {
        boost::system::error_code ignored;  // the peer may have been faster
        if constexpr (std::is_same_v<Stream, tls_stream>) {
            if (!how.silently) {
                co_await say_end();
            }
        }
        socket_of(stream_).shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
        socket_of(stream_).close(ignored);
        co_return after::end;
    }

private:
    // Sends close_notify; the peer's own is not worth a long wait.
    boost::asio::awaitable<void> say_end()
    {
        boost::system::error_code ignored;  // the peer may have been faster
        boost::asio::steady_timer linger{co_await boost::asio::this_coro::executor, std::chrono::milliseconds{200}};
        using namespace boost::asio::experimental::awaitable_operators;
        co_await (
            stream_.async_shutdown(boost::asio::redirect_error(boost::asio::use_awaitable, ignored)) ||
            linger.async_wait(boost::asio::use_awaitable)
        );
    }

    recorded_request
    record(const boost::beast::http::request<boost::beast::http::string_body>& request, std::size_t count) const
    {
        auto made = to_record(request);
        made.connection = number_;
        made.number_on_connection = count;
        return made;
    }

    void peer_left()
    {
        if (!left_) {
            left_ = true;
            ledger_.update([this] { ++ledger_.closed_by_peer; });
        }
    }

    // Keeps what it reads for the next request: a peer may send that early.
    boost::asio::awaitable<void> read_more()
    {
        boost::system::error_code failed;
        const auto size = co_await stream_.async_read_some(
            buffer_.prepare(4096),
            boost::asio::redirect_error(boost::asio::use_awaitable, failed)
        );
        buffer_.commit(size);
        if (failed && failed != boost::asio::error::operation_aborted) {
            peer_left();
        }
    }

    // Until the timer expires or the peer leaves.
    boost::asio::awaitable<void> wait_for(boost::asio::steady_timer& wake)
    {
        boost::system::error_code woken;
        using namespace boost::asio::experimental::awaitable_operators;
        co_await (wake.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, woken)) || read_more());
    }

    boost::asio::awaitable<after> write(std::string data)
    {
        boost::system::error_code failed;
        co_await boost::asio::async_write(
            stream_,
            boost::asio::buffer(data),
            boost::asio::redirect_error(boost::asio::use_awaitable, failed)
        );
        if (failed) {
            peer_left();
        }
        co_return failed ? after::end : after::next;
    }

    boost::asio::awaitable<after> take(const message& what)
    {
        const auto made = serialise(what, to_head_);
        keep_alive_ = keep_alive_ && made.keep_alive;
        co_return co_await write(made.text);
    }

    boost::asio::awaitable<after> take(const bytes& what) { return write(what.data); }

    boost::asio::awaitable<after> take(const pass_gate& what)
    {
        const auto wake = std::make_shared<boost::asio::steady_timer>(co_await boost::asio::this_coro::executor);
        bool counted_already = false;
        for (;;) {
            rearm(*wake);
            {
                const std::lock_guard guard{what.at->mutex};
                what.at->reached += counted_already ? 0 : 1;
                counted_already = true;
                if (what.at->passes > 0) {
                    --what.at->passes;
                    break;
                }
                what.at->waiting.push_back(wake);
            }
            what.at->changed.notify_all();
            co_await wait_for(*wake);
            if (left_) {
                co_return after::end;
            }
        }
        what.at->changed.notify_all();
        co_return after::next;
    }

    boost::asio::awaitable<after> take(const pattern& what)
    {
        for (std::uint64_t position = 0; position < what.size;) {
            std::string block(std::min<std::uint64_t>(block_size, what.size - position), '\0');
            for (char& c : block) {
                c = pattern_byte(position++);
            }
            if (co_await write(what.chunked ? as_chunk(block) : std::move(block)) == after::end) {
                co_return after::end;
            }
        }
        co_return what.chunked ? co_await write("0\r\n\r\n") : after::next;
    }

    boost::asio::awaitable<after> take(const events&)
    {
        outbox box{co_await boost::asio::this_coro::executor};
        const open_stream streaming{ledger_, box};
        for (;;) {
            rearm(box.wake);
            while (!box.data.empty()) {
                auto data = std::move(box.data.front());
                box.data.pop_front();
                if (co_await write(as_chunk(data)) == after::end) {
                    co_return after::end;
                }
            }
            if (box.cut) {
                co_return co_await take(close_now{});
            }
            if (box.ends) {
                co_return co_await write("0\r\n\r\n");
            }
            co_await wait_for(box.wake);
            if (left_) {
                co_return after::end;
            }
        }
    }

    agent_ledger& ledger_;
    Stream& stream_;
    std::size_t number_;
    boost::beast::flat_buffer buffer_;
    bool to_head_ = false;
    bool keep_alive_ = true;
    bool left_ = false;
};

}  // namespace test_support
