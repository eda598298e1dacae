// Any bytes of a peer give a session the same events and the same frames, or the same end, however they are cut, in both roles; each head that it tells is
// whole and clean, and its own frames are frames. The first byte chooses the role.
#include "net/http2/session.hpp"
#include "tests/fuzz/http1_properties.hpp"
#include "tests/support/http2_frames.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace {

namespace raw = test_support::http2;
using namespace net::http2;

template <class Result, class Parser>
std::string verdict(const Result& of, const Parser& by)
{
    return of.has_error() ? tests::describe(of.error()) : tests::describe(by.head());
}

struct told_stream final : stream_user {
    told_stream(std::string& to, std::string of)
        : log{to},
          name{std::move(of)}
    {
    }

    void on_head(received_head head) override
    {
        check_open();
        net::http1::response_parser parser{{}};
        const auto parsed = parser.parse(head.text, net::http1::method::get);
        tests::require(parsed.has_error() || *parsed == head.text.size(), "an answer's head is whole", head.text);
        net::http1::response_parser known{{}};
        const auto read = known.read(head.text, head.lines, net::http1::method::get);
        tests::require(verdict(parsed, parser) == verdict(read, known), "its lines are those of its text", head.text);
        log += name + " head " + head.text;
    }
    void on_body(std::string_view piece) override
    {
        check_open();
        body += piece;
    }
    void on_trailers(std::string& text) override
    {
        check_open();
        log += name + " trailers " + text;
    }
    void on_end() override
    {
        check_open();
        log += name + " end\n";
    }
    void on_closed(error_code code, by whom) override
    {
        check_open();
        open = false;
        log += name + " closed " + std::to_string(static_cast<unsigned>(code)) + (whom == by::us ? " us\n" : " peer\n");
    }
    outgoing next() noexcept override { return {to_send.size(), true}; }
    void take(std::size_t size, std::string& out) override
    {
        out.append(to_send, 0, size);
        to_send.erase(0, size);
    }
    void check_open() const { tests::require(open, "nothing is told of a stream that is closed", log); }

    std::string& log;
    std::string name;
    std::string body;
    std::string to_send;
    bool open = true;
};

std::string without_closed(const std::string& log)
{
    std::string out;
    for (std::size_t at = 0; at < log.size();) {
        const auto end = std::min(log.find('\n', at), log.size() - 1) + 1;
        const auto line = log.substr(at, end - at);
        out += line.find(" closed ") == std::string::npos ? line : "";
        at = end;
    }
    return out;
}

struct told_session final : session_user {
    explicit told_session(role as)
        : settings{.as = as, .streams = 8},
          session{settings, *this}
    {
        if (as == role::client) {
            for (const auto* const name : {"one", "two"}) {
                auto& made = streams[static_cast<std::int32_t>(2 * streams.size() + 1)];
                made = std::make_unique<told_stream>(log, name);
                made->to_send = std::string(70'000, 'x');
                session.request("POST / HTTP/1.1\r\nHost: a.test\r\n\r\n", *made, streams.size() > 1).value();
            }
            session.feed(raw::settings_frame(), now);
        } else {
            session.feed(raw::client_start(), now);
        }
    }

    stream_user* on_request(std::int32_t id, received_head head) override
    {
        log += std::to_string(id) + " request " + head.text;
        if (head.refused == nullptr) {
            net::http1::request_parser parser{{}};
            const auto parsed = parser.parse(head.text);
            tests::require(parsed.has_error() || *parsed == head.text.size(), "a request's head is whole", head.text);
            net::http1::request_parser known{{}};
            const auto read = known.read(head.text, head.lines);
            tests::require(
                verdict(parsed, parser) == verdict(read, known),
                "its lines are those of its text",
                head.text
            );
            tests::require_clean(head.text);
        }
        auto& made = streams[id];
        tests::require(made == nullptr, "a stream begins once", log);
        made = std::make_unique<told_stream>(log, std::to_string(id));
        return made.get();
    }
    void on_goaway(std::int32_t last, error_code) override { log += "goaway " + std::to_string(last) + "\n"; }
    void count_reset(by, error_code) noexcept override {}
    void count_goaway(by, error_code) noexcept override {}
    void count_refused(limit which) noexcept override { log += std::string{name(which)} + "\n"; }

    // Everything that came of the input.
    std::string outcome()
    {
        for (const auto& [id, stream] : streams) {
            log += std::to_string(id) + " body " + stream->body + "\n";
            if (settings.as == role::server && stream->open && !session.done()) {
                stream->to_send = "answer";
                session.answer(id, "HTTP/1.1 200 OK\r\nA: b\r\n\r\n", false);
            }
        }
        session.produce(0);
        auto out = session.output();
        if (out.starts_with(raw::preface)) {
            out.erase(0, raw::preface.size());
        }
        auto left = out;
        raw::take_frames(left);
        tests::require(left.empty(), "the output is whole frames", left);
        // A stream that is reset within the frame that ends the connection may be told of and sent, or not.
        return session.done() ? without_closed(log) : log + out;
    }

    session_settings settings;
    std::string log;
    std::map<std::int32_t, std::unique_ptr<told_stream>> streams;
    core::steady_time now{std::chrono::hours{1}};
    session session;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) {
        return 0;
    }
    const auto as = data[0] % 2 == 0 ? role::server : role::client;
    const std::string_view bytes{reinterpret_cast<const char*>(data) + 1, size - 1};
    tests::require_same_in_pieces(bytes, [&](const tests::cuts& cuts, tests::buffer) {
        told_session told{as};
        std::size_t from = 0;
        for (const auto cut : cuts) {
            told.session.feed(bytes.substr(from, cut - from), told.now);
            from = cut;
        }
        told.session.feed(bytes.substr(from), told.now);
        return told.outcome();
    });
    return 0;
}
