// Frames by which a peer makes work at no cost of its own: each around its limit, by raw frames, in both roles where both can send them.
#include "tests/unit/net/http2/session_rig.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <functional>
#include <string>

TEST_SUITE_BEGIN("net/http2/abuse");

namespace {

using namespace tests;
using net::http2::role;
using net::http2::session_settings;

constexpr std::size_t burst = net::http2::session_settings{}.control * 10;

const std::string calm = "goaway enhance_your_calm ";
const std::string useless = calm + "too many frames that carry nothing\n";

// A session that has its peer's preface and SETTINGS, which count for one.
struct begun_session : session_rig {
    explicit begun_session(session_settings with = {})
        : session_rig{with}
    {
        feed(with.as == role::server ? raw::client_start() : raw::settings_frame());
        sent();
        log.clear();
    }
};

session_settings limits(std::size_t bytes, std::size_t fields, role as = role::server)
{
    session_settings out;
    out.as = as;
    out.head.bytes = bytes;
    out.head.fields = fields;
    return out;
}

}  // namespace

TEST_CASE("Frames that carry nothing end the connection beyond ten seconds' worth, of either role")
{
    struct row {
        std::string frame;
        std::size_t free;  // that do not count
        std::string why = "too many frames that carry nothing";
        std::string limit = "control";
    };
    const row rows[] = {
        {raw::settings_frame(), 0},
        {raw::frame(raw::priority, 0, 1, raw::number(0, 5)), 0},
        {raw::frame(0x20, 0, 0, "unknown"), 0},
        {raw::frame(0x20, 0, 1), 0},
        {raw::frame(raw::ping, raw::ack, 0, "12345678"), 0},
        {raw::update_frame(0, 1), 10},
        {raw::ping_frame(), 1, "too_many_pings", "pings"},
    };
    for (const auto as : {role::server, role::client}) {
        for (const auto& row : rows) {
            CAPTURE(static_cast<int>(as));
            CAPTURE(row.frame);
            begun_session rig{{.as = as}};
            rig.feed(raw::repeated(row.frame, row.free + burst - 1));
            CHECK(rig.ends().empty());
            CHECK_FALSE(rig.session.done());
            rig.feed(row.frame);
            CHECK(rig.ends() == calm + row.why + "\n");
            CHECK(rig.session.done());
            CHECK(rig.log == "over " + row.limit + "\n");
            CHECK(rig.goaways == 1);
        }
    }
}

TEST_CASE("The allowance for frames that carry nothing grows by fifty a second")
{
    begun_session rig;
    rig.feed(raw::repeated(raw::settings_frame(), burst - 1));
    rig.now += 100ms;
    rig.feed(raw::repeated(raw::settings_frame(), 5));
    CHECK(rig.ends().empty());
    rig.now += 24h;
    rig.feed(raw::repeated(raw::settings_frame(), burst));
    CHECK(rig.ends().empty());
    rig.feed(raw::settings_frame());
    CHECK(rig.ends() == useless);
}

TEST_CASE("Empty DATA counts, but not the one that ends a body")
{
    begun_session rig;
    const auto open = raw::headers_frame(1, raw::post(), raw::end_headers);
    rig.feed(open + raw::repeated(raw::frame(raw::data, 0, 1), burst - 1));
    CHECK(rig.ends().empty());
    rig.feed(raw::frame(raw::data, raw::end_stream, 1));
    CHECK(rig.ends().empty());
    CHECK(rig.log.ends_with("1: end 0\n"));
    rig.feed(raw::headers_frame(3, raw::post(), raw::end_headers) + raw::frame(raw::data, 0, 3));
    CHECK(rig.ends() == useless);
}

TEST_CASE("DATA of padding alone counts as empty")
{
    begun_session rig;
    const auto padding = raw::frame(raw::data, raw::padded, 1, raw::number(3, 1) + std::string(3, '\0'));
    rig.feed(raw::headers_frame(1, raw::post(), raw::end_headers) + raw::repeated(padding, burst - 1));
    CHECK(rig.ends().empty());
    rig.feed(padding);
    CHECK(rig.ends() == useless);
}

TEST_CASE("Late frames of a stream that was reset are no fault, and count beyond what may be on its way")
{
    begun_session rig;
    rig.feed(raw::headers_frame(1, raw::post(), raw::end_headers));
    rig.session.reset(1, net::http2::error_code::cancel);
    CHECK(rig.ends() == "reset 1 cancel\n");
    const std::size_t window = 64 * 1024;
    const auto small = raw::frame(raw::data, 0, 1, "x");
    rig.feed(raw::repeated(small, 2 * burst));
    rig.feed(raw::repeated(raw::frame(raw::data, 0, 1, std::string(1024, 'x')), (window - 2 * burst) / 1024));
    rig.feed(raw::repeated(small, (window - 2 * burst) % 1024));
    rig.feed(raw::headers_frame(1, {{"a", "trailer"}}) + raw::repeated(raw::frame(raw::data, 0, 1), 3));
    CHECK(rig.ends().empty());
    rig.feed(raw::repeated(small, burst - 2) + raw::frame(raw::data, 0, 1));
    CHECK(rig.ends().empty());
    rig.feed(small);
    CHECK(rig.ends() == useless);
}

TEST_CASE("A reset that crosses ours does not count")
{
    begun_session rig;
    std::uint32_t stream = 1;
    for (std::size_t i = 0; i < 2 * burst; ++i, stream += 2) {
        rig.feed(raw::headers_frame(stream, raw::post(), raw::end_headers));
        rig.session.reset(static_cast<std::int32_t>(stream), net::http2::error_code::cancel);
        rig.sent();
        rig.feed(raw::frame(raw::rst_stream, 0, stream, raw::number(8, 4)));
    }
    CHECK(rig.ends().find("goaway") == std::string::npos);
}

TEST_CASE("Frames on a stream that its own sender has ended are faults")
{
    const auto answered = [](begun_session& rig) {
        rig.session.answer(1, "HTTP/1.1 204 \r\n", true);
        rig.sent();
    };
    SUBCASE("DATA is one of the stream")
    {
        begun_session rig;
        rig.feed(raw::headers_frame(1, raw::get()));
        answered(rig);
        rig.feed(raw::frame(raw::data, 0, 1, "x"));
        CHECK(rig.ends() == "reset 1 stream_closed\n");
    }
    SUBCASE("HEADERS is one of the connection")
    {
        begun_session rig;
        rig.feed(raw::headers_frame(1, raw::get()));
        answered(rig);
        rig.feed(raw::headers_frame(1, raw::get()));
        CHECK(rig.ends() == "goaway stream_closed HEADERS on a stream that has ended\n");
    }
    SUBCASE("DATA after the sender's own reset")
    {
        begun_session rig;
        rig.feed(raw::headers_frame(1, raw::post(), raw::end_headers) + raw::reset_frame(1));
        rig.feed(raw::frame(raw::data, 0, 1, "x"));
        CHECK(rig.ends() == "reset 1 stream_closed\n");
    }
}

TEST_CASE("A PING after each answer is free, and WINDOW_UPDATE up to ten for each DATA")
{
    begun_session rig;
    std::uint32_t stream = 1;
    for (std::size_t i = 0; i < burst + 10; ++i, stream += 2) {
        rig.feed(raw::headers_frame(stream, raw::get()) + raw::ping_frame());
        const auto id = static_cast<std::int32_t>(stream);
        rig.streams[id]->to_send = "x";
        rig.streams[id]->last = true;
        rig.session.answer(id, "HTTP/1.1 200 \r\n", false);
        REQUIRE(rig.ends().empty());
        rig.session.end_work();
        rig.feed(raw::repeated(raw::update_frame(0, 1), 10));
    }
    CHECK_FALSE(rig.session.done());
}

TEST_CASE("Streams that their caller resets before the answer's end are counted, whatever they cost")
{
    const std::size_t most = session_settings{}.resets * 10;
    const auto reset_one = [](begun_session& rig, std::uint32_t number) {
        rig.feed(raw::headers_frame(2 * number + 1, raw::get()) + raw::reset_frame(2 * number + 1));
        rig.session.end_work();
    };
    begun_session rig;
    std::uint32_t number = 0;
    while (number < most) {
        reset_one(rig, number++);
    }
    CHECK(rig.ends().empty());
    CHECK_FALSE(rig.session.done());
    rig.now += 1s;
    for (std::size_t i = 0; i < session_settings{}.resets; ++i) {
        reset_one(rig, number++);
    }
    CHECK(rig.ends().empty());
    reset_one(rig, number++);
    CHECK(rig.ends() == calm + "too many streams reset\n");
    CHECK(rig.log.ends_with("over resets\n"));
}

TEST_CASE("Streams that are reset for their peer's fault are counted with them")
{
    const std::size_t most = session_settings{}.resets * 10;
    const std::string faults[] = {
        raw::headers_frame(1, raw::get("/", {{"connection", "close"}})),
        raw::headers_frame(1, raw::post("/", {{"content-length", "1"}}), raw::end_headers) +
            raw::frame(raw::data, 0, 1, "xx"),
        raw::headers_frame(1, raw::post(), raw::end_headers) + raw::headers_frame(1, {{":path", "/"}}),
    };
    for (const auto& fault : faults) {
        CAPTURE(fault);
        begun_session rig;
        std::string ends;
        for (std::uint32_t number = 0; !rig.session.done() && number <= most; ++number) {
            auto frames = fault;
            for (std::size_t at = 0; at < frames.size();) {  // the next stream
                frames.replace(at + 5, 4, raw::number(2 * number + 1, 4));
                at += 9 + raw::number_in(std::string_view{frames}.substr(at, 3));
            }
            rig.feed(frames);
            while (rig.session.working() > 0) {
                rig.session.end_work();
            }
            CHECK(rig.session.done() == (number == most));
            ends = rig.ends();
        }
        CHECK(ends.ends_with(calm + "too many faults of streams\n"));
    }
}

TEST_CASE("A stream keeps its place until its work has ended, whether or not it was reset")
{
    begun_session rig{{.streams = 2}};
    rig.feed(raw::frame(raw::settings, raw::ack, 0));
    rig.feed(raw::headers_frame(1, raw::get()) + raw::reset_frame(1) + raw::headers_frame(3, raw::get()));
    CHECK(rig.session.working() == 2);
    rig.feed(raw::headers_frame(5, raw::get()));
    CHECK(rig.ends() == "reset 5 refused_stream\n");
    CHECK(rig.log.ends_with("over streams\n"));
    rig.session.end_work();
    rig.log.clear();
    rig.feed(raw::headers_frame(7, raw::get()));
    CHECK(rig.log.starts_with("7: request GET"));
    CHECK(rig.ends().empty());
}

TEST_CASE("A peer that breaks the agreed number of streams loses its connection")
{
    begun_session rig{{.streams = 2}};
    rig.feed(raw::frame(raw::settings, raw::ack, 0));
    for (const auto id : {1U, 3U, 5U}) {
        rig.feed(raw::headers_frame(id, raw::post(), raw::end_headers));
    }
    CHECK(rig.ends() == "goaway protocol_error request HEADERS: max concurrent streams exceeded\n");
    CHECK(rig.session.done());
}

TEST_CASE("A header list over a limit is refused, and one over four times a limit ends the connection")
{
    // Four pseudo fields; each other one has 42 bytes with the 32 that are added.
    const auto list = [](std::size_t fields, const std::string& name) {
        raw::field_lines more(fields, {name, std::string(10 - name.size(), 'v')});
        return raw::headers_frame(1, raw::get("/", more));
    };
    const auto size_of_get = 7 + 3 + 7 + 4 + 10 + 6 + 5 + 1 + 4 * 32;
    SUBCASE("by its bytes")
    {
        const auto told = [&](std::size_t fields, std::size_t limit) {
            begun_session rig{limits(limit, 10'000)};
            rig.feed(list(fields, "name"));
            return rig.log + rig.ends();
        };
        const std::size_t size = size_of_get + 100 * 42;
        CHECK(told(100, size).starts_with("1: request GET"));
        CHECK(told(100, size - 1) == "over header\n1: request header_too_large\n1: end 0\n");
        CHECK(told(100, (size + 3) / 4) == "over header\n1: request header_too_large\n1: end 0\n");
        CHECK(told(100, (size - 1) / 4) == "over header\n" + calm + "a header list far over the limit\n");
    }
    SUBCASE("by its fields, with Host and each crumb of a cookie")
    {
        for (const std::string name : {"name", "cookie"}) {
            const auto told = [&](std::size_t fields) {
                begun_session rig{limits(1'000'000, 100)};
                rig.feed(list(fields, name));
                return rig.log + rig.ends();
            };
            CAPTURE(name);
            CHECK(told(99).starts_with("1: request GET"));
            CHECK(told(100) == "over header_fields\n1: request header_too_large\n1: end 0\n");
            CHECK(told(399) == "over header_fields\n1: request header_too_large\n1: end 0\n");
            CHECK(told(400) == "over header_fields\n" + calm + "a header list far over the limit\n");
        }
    }
    SUBCASE("by entries of the dynamic table, a byte each")
    {
        begun_session rig;
        const std::string value(4000, 'v');
        auto block = raw::block_of(raw::get()) + '\x40' + "\x01x" + '\x7f' + std::string{"\xa1\x1e", 2} + value;
        block += std::string(5000, '\xbe');  // the entry at 62
        rig.feed(raw::frame(raw::headers, raw::end_headers | raw::end_stream, 1, block));
        CHECK(rig.log + rig.ends() == "over header\n" + calm + "a header list far over the limit\n");
    }
    SUBCASE("in trailers, which reset the stream")
    {
        begun_session rig{limits(1'000, 100)};
        rig.feed(raw::headers_frame(1, raw::post(), raw::end_headers));
        rig.log.clear();
        rig.feed(raw::headers_frame(1, {{"a", std::string(1'000, 'x')}}));
        CHECK(rig.log == "over header\n1: closed enhance_your_calm by us\n");
        CHECK(rig.ends() == "reset 1 enhance_your_calm\n");
    }
    SUBCASE("of an agent, which reset its stream")
    {
        begun_session rig{limits(1'000, 100, role::client)};
        recorded_stream call{rig.log, "call"};
        REQUIRE(rig.session.request("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", call, true).value() == 1);
        rig.sent();
        rig.feed(raw::headers_frame(1, {{":status", "200"}, {"a", std::string(1'000, 'x')}}));
        CHECK(rig.ends() == "reset 1 enhance_your_calm\n");
        CHECK(rig.log == "call: sent all\nover header\ncall: closed enhance_your_calm by us\n");
    }
}

TEST_CASE("A head over a limit keeps what tells how its caller reads an answer")
{
    struct kept_head final : session_rig {
        using session_rig::session_rig;
        net::http2::stream_user* on_request(std::int32_t id, net::http2::received_head head) override
        {
            kept = head.text;
            return session_rig::on_request(id, head);
        }
        std::string kept;
    };
    raw::field_lines more(150, {"x", "y"});
    more.insert(more.begin() + 120, {"content-type", "application/grpc"});
    kept_head rig;
    rig.feed(raw::client_start() + raw::headers_frame(1, raw::post("/a/b", more)));
    CHECK(rig.kept == "POST /a/b HTTP/1.1\r\nhost: a.test\r\ncontent-type: application/grpc\r\n\r\n");
    kept_head other;
    other.feed(raw::client_start() + raw::headers_frame(1, raw::post("a", more)));
    CHECK(other.kept.empty());
}

TEST_CASE("More than eight CONTINUATION frames end the connection")
{
    const auto sent_with = [](int continuations) {
        begun_session rig;
        const auto block = raw::block_of(raw::get());
        auto frames = raw::frame(raw::headers, raw::end_stream, 1, block.substr(0, 1));
        for (int i = 1; i < continuations; ++i) {
            frames += raw::frame(raw::continuation, 0, 1);
        }
        rig.feed(frames + raw::frame(raw::continuation, raw::end_headers, 1, block.substr(1)));
        return rig.log + rig.ends();
    };
    CHECK(sent_with(8).starts_with("1: request GET"));
    CHECK(sent_with(9) == "over continuations\n" + calm + "too many CONTINUATION frames\n");
}

TEST_CASE("A PRIORITY of no stream, or of one that depends on itself, ends the connection")
{
    const auto sent_for = [](std::uint32_t stream, std::uint32_t dependency) {
        begun_session rig;
        for (const char byte : raw::frame(raw::priority, 0, stream, raw::number(dependency, 4) + '\x10')) {
            rig.feed({&byte, 1});
        }
        return rig.ends();
    };
    CHECK(sent_for(3, 1).empty());
    CHECK(sent_for(3, 0x80000001).empty());
    CHECK(sent_for(3, 3).starts_with("goaway protocol_error"));
    CHECK(sent_for(3, 0x80000003).starts_with("goaway protocol_error"));
    CHECK(sent_for(0, 1).starts_with("goaway protocol_error"));
}

TEST_CASE("A session that has failed reads and writes nothing more")
{
    begun_session rig;
    rig.feed(raw::headers_frame(1, raw::get()) + raw::frame(raw::data, 0, 0, "x") + raw::headers_frame(3, raw::get()));
    CHECK(rig.ends().starts_with("goaway protocol_error"));
    CHECK(rig.session.done());
    CHECK(rig.log.find("3:") == std::string::npos);
    rig.feed(raw::headers_frame(5, raw::get()));
    rig.session.answer(1, "HTTP/1.1 204 \r\n", true);
    rig.session.ping();
    CHECK(rig.sent().empty());
    CHECK(rig.log.find("5:") == std::string::npos);
}

TEST_SUITE_END();
