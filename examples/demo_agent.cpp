// A small A2A agent to put behind the gateway: counts words (A2A 0.3) or rolls dice (A2A 1.0), unary and streamed.
// It listens on 127.0.0.1, serves /.well-known/agent-card.json and takes JSON-RPC at /. One thread.
#include "examples/agent.hpp"
#include "examples/dialect.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using examples::generation;
using request = http::request<http::string_body>;
using response = http::response<http::string_body>;

constexpr auto idle = std::chrono::seconds{75};
constexpr std::uint64_t largest_body = 256 * 1024;

struct options {
    std::uint16_t port = 0;
    generation spoken = generation::v0_3;
    std::string name;
    std::chrono::milliseconds pace{300};
};

struct site {
    examples::agent agent;
    std::string card;
    std::string card_tag;
};

response text_response(const request& to, http::status status, std::string_view type, std::string body)
{
    response out{status, to.version()};
    out.set(http::field::content_type, type);
    out.keep_alive(to.keep_alive());
    out.body() = std::move(body);
    out.prepare_payload();
    return out;
}

response card_response(const site& here, const request& to)
{
    const bool unchanged = to[http::field::if_none_match] == here.card_tag;
    auto out = text_response(
        to,
        unchanged ? http::status::not_modified : http::status::ok,
        "application/json",
        unchanged || to.method() == http::verb::head ? std::string{} : here.card
    );
    if (to.method() == http::verb::head) {
        out.content_length(here.card.size());
    }
    out.set(http::field::etag, here.card_tag);
    out.set(http::field::cache_control, "max-age=60");
    return out;
}

// Writes one event as one chunk. False when the caller is gone.
asio::awaitable<bool> tell(beast::tcp_stream& stream, std::string item)
{
    const auto text = "data: " + std::move(item) + "\n\n";
    error_code ec;
    stream.expires_after(idle);
    const auto chunk = http::make_chunk(asio::buffer(text));
    co_await asio::async_write(stream, chunk, asio::redirect_error(asio::use_awaitable, ec));
    co_return !ec;
}

// The task as it stands, then its events, until it has ended. False when the caller is gone; the task goes on then.
asio::awaitable<bool> tell_events(beast::tcp_stream& stream, generation spoken, examples::live_task about)
{
    const auto& task = *about.of;
    auto item = examples::response(about.id, examples::task_result(spoken, task)).dump();
    bool heard = co_await tell(stream, std::move(item));
    while (heard && (about.next < task.events.size() || !task.ended())) {
        if (about.next == task.events.size()) {
            co_await about.of->next_event();
            continue;
        }
        auto event = examples::event_json(spoken, task, task.events[about.next++]);
        item = examples::response(about.id, std::move(event)).dump();
        heard = co_await tell(stream, std::move(item));
    }
    co_return heard;
}

// An event stream, from its head to its last chunk. False when the caller is gone.
asio::awaitable<bool> tell_all(beast::tcp_stream& stream, generation spoken, examples::outcome what)
{
    http::response<http::empty_body> head{http::status::ok, 11};
    head.set(http::field::content_type, "text/event-stream");
    head.set(http::field::cache_control, "no-cache");
    head.chunked(true);
    http::response_serializer<http::empty_body> serializer{head};
    error_code ec;
    co_await http::async_write_header(stream, serializer, asio::redirect_error(asio::use_awaitable, ec));
    bool heard = !ec;
    if (heard && what.stream) {
        heard = co_await tell_events(stream, spoken, std::move(*what.stream));
    } else if (heard) {
        heard = co_await tell(stream, what.answer.dump());
    }
    if (heard) {
        const auto last = http::make_chunk_last();
        co_await asio::async_write(stream, last, asio::redirect_error(asio::use_awaitable, ec));
    }
    co_return heard && !ec;
}

response plain_answer(const site& here, const request& to)
{
    const bool reads = to.method() == http::verb::get || to.method() == http::verb::head;
    if (to.target() == "/.well-known/agent-card.json" && reads) {
        return card_response(here, to);
    }
    if (to.target() == "/") {
        auto out = text_response(to, http::status::method_not_allowed, "text/plain", "POST JSON-RPC here\n");
        out.set(http::field::allow, "POST");
        return out;
    }
    return text_response(to, http::status::not_found, "text/plain", "no such page\n");
}

// Answers the requests of one connection, one after another. `here` outlives every connection.
asio::awaitable<void> serve(beast::tcp_stream stream, site& here)
{
    beast::flat_buffer buffer;
    error_code ec;
    bool keep = true;
    while (keep) {
        http::request_parser<http::string_body> parser;
        parser.body_limit(largest_body);
        stream.expires_after(idle);
        co_await http::async_read(stream, buffer, parser, asio::redirect_error(asio::use_awaitable, ec));
        if (ec) {
            co_return;
        }
        const auto asked = parser.release();
        response answer;
        if (asked.method() == http::verb::post && asked.target() == "/") {
            stream.expires_never();  // a task may take longer than a caller may idle
            std::string version{asked["A2A-Version"]};
            auto outcome = co_await here.agent.call(asked.body(), std::move(version));
            if (outcome.stream || outcome.as_event) {
                keep = co_await tell_all(stream, here.agent.spoken(), std::move(outcome));
                keep = keep && asked.keep_alive();
                continue;
            }
            answer = text_response(asked, http::status::ok, "application/json", outcome.answer.dump());
        } else {
            answer = plain_answer(here, asked);
        }
        keep = answer.keep_alive();
        stream.expires_after(idle);
        co_await http::async_write(stream, answer, asio::redirect_error(asio::use_awaitable, ec));
        keep = keep && !ec;
    }
}

void report(const std::exception_ptr& failed)
{
    if (!failed) {
        return;
    }
    try {
        std::rethrow_exception(failed);
    } catch (const std::exception& why) {
        std::cerr << "demo_agent: " << why.what() << '\n';
    }
}

// With too many connections for its descriptors the next one waits until another has ended.
asio::awaitable<void> accept_all(asio::ip::tcp::acceptor& acceptor, site& here)
{
    asio::steady_timer pause{acceptor.get_executor()};
    for (;;) {
        auto [failed, socket] = co_await acceptor.async_accept(asio::as_tuple(asio::use_awaitable));
        if (failed) {
            pause.expires_after(std::chrono::milliseconds{20});
            co_await pause.async_wait(asio::use_awaitable);
            continue;
        }
        const auto executor = socket.get_executor();
        asio::co_spawn(executor, serve(beast::tcp_stream{std::move(socket)}, here), report);
    }
}

template <class Number>
bool read_number(std::string_view text, Number& out)
{
    const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
    return read.ec == std::errc{} && read.ptr == text.data() + text.size();
}

bool read_options(const std::vector<std::string_view>& words, options& out)
{
    for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
        const auto value = words[i + 1];
        unsigned milliseconds = 0;
        if (words[i] == "--port" && read_number(value, out.port)) {
            continue;
        }
        if (words[i] == "--generation" && (value == "0.3" || value == "1.0")) {
            out.spoken = value == "0.3" ? generation::v0_3 : generation::v1_0;
        } else if (words[i] == "--name" && !value.empty()) {
            out.name = value;
        } else if (words[i] == "--pace" && read_number(value, milliseconds) && milliseconds <= 60000) {
            out.pace = std::chrono::milliseconds{milliseconds};
        } else {
            return false;
        }
    }
    if (out.name.empty()) {
        out.name = out.spoken == generation::v0_3 ? "Words" : "Dice";
    }
    return words.size() % 2 == 0;
}

int run(const options& chosen)
{
    asio::io_context io{1};
    asio::ip::tcp::acceptor acceptor{io, {asio::ip::address_v4::loopback(), chosen.port}};
    const auto url = "http://127.0.0.1:" + std::to_string(acceptor.local_endpoint().port()) + '/';
    auto card = examples::card(chosen.spoken, chosen.name, url).dump();
    auto tag = '"' + std::to_string(std::hash<std::string>{}(card)) + '"';
    site here{{chosen.spoken, io.get_executor(), chosen.pace}, std::move(card), std::move(tag)};

    asio::signal_set signals{io, SIGINT, SIGTERM};
    signals.async_wait([&io](error_code, int) { io.stop(); });
    asio::co_spawn(io, accept_all(acceptor, here), [&io](const std::exception_ptr& failed) {
        report(failed);
        io.stop();
    });
    std::cout << chosen.name << " speaks A2A " << (chosen.spoken == generation::v0_3 ? "0.3" : "1.0") << " at " << url
              << '\n'
              << std::flush;
    io.run();
    return 0;
}

}  // namespace

int main(int argc, char** argv)
{
    options chosen;
    if (!read_options({argv + 1, argv + argc}, chosen)) {
        std::cerr
            << "usage: demo_agent [--port N] [--generation 0.3|1.0] [--name NAME] [--pace MILLISECONDS]\n"
               "A small A2A agent to try, on 127.0.0.1. With 0.3 (the default) it counts words, with 1.0 it rolls "
               "dice.\n"
               "Port 0 (the default) takes any free one; the pace (300) is the time between two steps of a task.\n";
        return 2;
    }
    try {
        return run(chosen);
    } catch (const std::exception& why) {
        std::cerr << "demo_agent: " << why.what() << '\n';
        return 1;
    }
}
