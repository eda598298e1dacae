#include "gateway/telemetry/access_log.hpp"

#include "core/json/json.hpp"
#include "tests/unit/gateway/telemetry/allocations.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/access_log");

namespace {

using namespace std::chrono_literals;

struct recording_sink final : core::log_sink {
    void write(std::string_view lines) override { batches.emplace_back(lines); }
    std::vector<std::string> batches;
};

struct counting_sink final : core::log_sink {
    void write(std::string_view lines) override
    {
        ++batches;
        bytes += lines.size();
    }
    std::size_t batches = 0;
    std::size_t bytes = 0;
};

constexpr core::wall_time when{std::chrono::milliseconds{1700000000123}};

gateway::model::request_record a_call()
{
    gateway::model::request_record record;
    record.where = gateway::model::route::call;
    record.http_method = "POST";
    record.peer = "192.0.2.7";
    record.agent = "weather";
    record.rpc_method = a2a::method::message_send;
    record.status = 200;
    record.bytes_in = 312;
    record.bytes_out = 1841;
    record.total = 12'345'678ns;
    record.first_byte = 11'000'999ns;
    return record;
}

std::string line_of(const gateway::model::request_record& record, core::wall_time now = when)
{
    recording_sink sink;
    gateway::telemetry::access_log log{sink, core::log_level::info, 0x0123456789abcdef};
    log.write(record, now);
    log.flush();
    REQUIRE(sink.batches.size() == 1);
    return sink.batches[0];
}

// Fails the test if the line is not one JSON object.
core::json parsed(const std::string& line)
{
    auto value = core::parse_json(line);
    REQUIRE(value.has_value());
    REQUIRE(value->is_object());
    return *value;
}

std::string string_at(const core::json& object, std::string_view key)
{
    const auto* text = core::string_member(object, key);
    return text == nullptr ? "(absent)" : *text;
}

std::vector<std::string> split(const std::string& batch)
{
    std::vector<std::string> lines{""};
    for (const char c : batch) {
        if (c == '\n') {
            lines.emplace_back();
        } else {
            lines.back() += c;
        }
    }
    return lines;
}

}  // namespace

TEST_CASE("a call that went well is one line with what is known of it, and nothing else")
{
    CHECK(
        line_of(a_call()) ==
        R"({"ts":"2023-11-14T22:13:20.123Z","level":"info","event":"request","id":"0123456789abcdef","route":"call",)"
        R"("method":"POST","agent":"weather","rpc":"message/send","status":200,"bytes_in":312,"bytes_out":1841,)"
        R"("ttfb_ms":11.000,"ms":12.345,"peer":"192.0.2.7"})"
    );
}

TEST_CASE("a line ends with the trace that the request belongs to and its span there")
{
    auto record = a_call();
    record.trace = {{0x0af7651916cd43dd, 0x8448eb211c80319c}, 0x00ad6b7169203331, true};
    CHECK(line_of(record).ends_with(
        R"("peer":"192.0.2.7","trace_id":"0af7651916cd43dd8448eb211c80319c","span_id":"00ad6b7169203331"})"
    ));
    record.stream = gateway::model::stream_end::complete;
    CHECK(line_of(record).find(R"("stream":"complete","trace_id":")") != std::string::npos);
}

TEST_CASE("A message to an MCP server has its era, and says that it was translated if it was")
{
    auto record = a_call();
    record.era = mcp::era::modern;
    record.session = "01234567";
    CHECK(line_of(record).find(R"("era":"modern","session":"01234567",)") != std::string::npos);
    record.translated = true;
    CHECK(line_of(record).find(R"("era":"modern","translated":true,"session":"01234567",)") != std::string::npos);
}

TEST_CASE("A request that another replica has answered names that one")
{
    auto record = a_call();
    record.session = "01234567";
    record.forwarded = gateway::model::forwarding::gone;
    CHECK(line_of(record).find("forwarded") == std::string::npos);
    record.forwarded = gateway::model::forwarding::answered;
    record.replica = "cardea-1";
    CHECK(line_of(record).find(R"("session":"01234567","forwarded":"cardea-1","status":)") != std::string::npos);
}

TEST_CASE("a failed stream has its code, whose it was, the detail, and how the stream ended")
{
    auto record = a_call();
    record.rpc_method = a2a::method::send_streaming_message;
    record.code = core::errc::upstream_reset;
    record.from = core::side::upstream;
    record.detail = "closed after 17 bytes";
    record.stream = gateway::model::stream_end::upstream;
    CHECK(
        line_of(record) ==
        R"({"ts":"2023-11-14T22:13:20.123Z","level":"info","event":"request","id":"0123456789abcdef","route":"call",)"
        R"("method":"POST","agent":"weather","rpc":"SendStreamingMessage","status":200,"code":"upstream_reset",)"
        R"("from":"upstream","detail":"closed after 17 bytes","bytes_in":312,"bytes_out":1841,)"
        R"("ttfb_ms":11.000,"ms":12.345,"peer":"192.0.2.7","stream":"upstream"})"
    );
}

TEST_CASE("a request that could not be read leaves out what is not known")
{
    gateway::model::request_record record;
    record.status = 400;
    record.code = core::errc::bad_request;
    record.from = core::side::caller;
    CHECK(
        line_of(record) ==
        R"({"ts":"2023-11-14T22:13:20.123Z","level":"info","event":"request","id":"0123456789abcdef","route":"none",)"
        R"("status":400,"code":"bad_request","from":"caller","bytes_in":0,"bytes_out":0,"ms":0.000})"
    );
}

TEST_CASE("card and management requests say what the cache did and which method was called")
{
    gateway::model::request_record card;
    card.where = gateway::model::route::card;
    card.agent = "weather";
    card.status = 200;
    card.card = gateway::model::card_use::stale;
    const auto card_line = parsed(line_of(card));
    CHECK(string_at(card_line, "route") == "card");
    CHECK(string_at(card_line, "card") == "stale");
    CHECK(string_at(card_line, "rpc") == "(absent)");

    gateway::model::request_record management;
    management.where = gateway::model::route::management;
    management.management_method = "agents/list";
    CHECK(string_at(parsed(line_of(management)), "rpc") == "agents/list");
}

TEST_CASE("a detail without a failure is not written")
{
    auto record = a_call();
    record.detail = "left over";
    CHECK(line_of(record).find("detail") == std::string::npos);
}

TEST_CASE("times are milliseconds with three decimals, cut, and never negative")
{
    const std::pair<std::chrono::nanoseconds, std::string> rows[] = {
        {0ns, "0.000"},
        {999ns, "0.000"},
        {1us, "0.001"},
        {999'999ns, "0.999"},
        {1ms, "1.000"},
        {10'020us, "10.020"},
        {1h, "3600000.000"},
        {-5ms, "0.000"},
    };
    for (const auto& [time, text] : rows) {
        CAPTURE(text);
        auto record = a_call();
        record.total = time;
        CHECK(line_of(record).find("\"ms\":" + text + ",") != std::string::npos);
    }
}

TEST_CASE("the timestamp follows the clock within a second, over its end and backwards")
{
    recording_sink sink;
    gateway::telemetry::access_log log{sink, core::log_level::info, 1};
    const std::pair<std::chrono::milliseconds, std::string> rows[] = {
        {1700000000000ms, "2023-11-14T22:13:20.000Z"},
        {1700000000007ms, "2023-11-14T22:13:20.007Z"},
        {1700000000999ms, "2023-11-14T22:13:20.999Z"},
        {1700000001000ms, "2023-11-14T22:13:21.000Z"},
        {1700000000998ms, "2023-11-14T22:13:20.998Z"},
        {1703980800000ms, "2023-12-31T00:00:00.000Z"},
        {0ms, "1970-01-01T00:00:00.000Z"},
    };
    for (const auto& [now, text] : rows) {
        log.write(a_call(), core::wall_time{now});
        log.flush();
        CHECK(string_at(parsed(sink.batches.back()), "ts") == text);
    }
}

TEST_CASE("no text of others can end a line or forge a member")
{
    const std::string nasty = "\"}\r\n{\"level\":\"error\",\"x\":\"\x1b[31m\\\x7f\xff\xc3";
    auto record = a_call();
    record.peer = nasty;
    record.code = core::errc::upstream_protocol;
    record.detail = nasty;
    record.http_method = nasty;
    record.management_method = nasty;
    const auto line = line_of(record);
    for (const char c : line) {
        CHECK(static_cast<unsigned char>(c) >= 0x20);
        CHECK(c != 0x7f);
    }
    const auto value = parsed(line);
    CHECK(string_at(value, "level") == "info");
    CHECK(string_at(value, "x") == "(absent)");
    const std::string kept = "\"}\r\n{\"level\":\"error\",\"x\":\"\x1b[31m\\\x7f\xEF\xBF\xBD\xEF\xBF\xBD";
    CHECK(string_at(value, "peer") == kept);
    CHECK(string_at(value, "detail") == kept);
    CHECK(string_at(value, "method") == kept);
    CHECK(string_at(value, "rpc") == kept);
}

TEST_CASE("every single byte is written so that it reads back, or as not being UTF-8")
{
    for (unsigned byte = 0; byte < 256; ++byte) {
        CAPTURE(byte);
        const std::string text{'a', static_cast<char>(byte), 'z'};
        auto record = a_call();
        record.peer = text;
        const auto line = line_of(record);
        CHECK(std::ranges::none_of(line, [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; }));
        CHECK(string_at(parsed(line), "peer") == (byte < 0x80 ? text : "a\xEF\xBF\xBDz"));
    }
}

TEST_CASE("a detail is cut at 200 bytes and a peer at 64, not within a character")
{
    const auto detail_of = [](const std::string& text) {
        auto record = a_call();
        record.code = core::errc::internal;
        record.detail = text;
        return string_at(parsed(line_of(record)), "detail");
    };
    CHECK(detail_of(std::string(199, 'a')) == std::string(199, 'a'));
    CHECK(detail_of(std::string(200, 'a')) == std::string(200, 'a'));
    CHECK(detail_of(std::string(201, 'a')) == std::string(200, 'a'));

    const std::string euro = "\xE2\x82\xAC";
    CHECK(detail_of(std::string(197, 'a') + euro + "z") == std::string(197, 'a') + euro);
    CHECK(detail_of(std::string(198, 'a') + euro) == std::string(198, 'a'));
    CHECK(detail_of(std::string(199, 'a') + euro) == std::string(199, 'a'));
    // Bytes that begin no character do not take the whole text with them.
    CHECK(detail_of(std::string(300, '\x80')).size() == 197 * 3);

    auto record = a_call();
    const auto peer_of = [&record](const std::string& text) {
        record.peer = text;
        return string_at(parsed(line_of(record)), "peer");
    };
    CHECK(peer_of(std::string(63, '1')) == std::string(63, '1'));
    CHECK(peer_of(std::string(64, '1')) == std::string(64, '1'));
    CHECK(peer_of(std::string(65, '1')) == std::string(64, '1'));
}

TEST_CASE("a batch holds whole lines, at most its limit")
{
    const auto line = line_of(a_call());
    const auto three_lines = 3 * line.size() + 2;
    for (const int more : {-1, 0, 1}) {
        CAPTURE(more);
        recording_sink sink;
        gateway::telemetry::access_log log{
            sink,
            core::log_level::info,
            0x0123456789abcdef,
            {.batch = static_cast<std::size_t>(static_cast<int>(three_lines) + more)}
        };
        for (int i = 0; i < 3; ++i) {
            log.write(a_call(), when);
        }
        log.flush();
        std::vector<std::size_t> sizes;
        for (const auto& batch : sink.batches) {
            sizes.push_back(split(batch).size());
            for (const auto& each : split(batch)) {
                CHECK(parsed(each).size() == 14);
            }
        }
        CHECK(sizes == (more < 0 ? std::vector<std::size_t>{2, 1} : std::vector<std::size_t>{3}));
    }
}

TEST_CASE("a full batch goes out at once, what is left with flush or at the end, and nothing twice")
{
    recording_sink sink;
    const auto line = line_of(a_call());
    {
        gateway::telemetry::access_log log{sink, core::log_level::info, 1, {.batch = 2 * line.size() + 1}};
        log.write(a_call(), when);
        CHECK(sink.batches.empty());
        log.write(a_call(), when);
        CHECK(sink.batches.size() == 1);
        log.flush();
        CHECK(sink.batches.size() == 1);
        log.write(a_call(), when);
        log.flush();
        CHECK(sink.batches.size() == 2);
        log.write(a_call(), when);
        CHECK(sink.batches.size() == 2);
    }
    CHECK(sink.batches.size() == 3);
}

TEST_CASE("a line longer than a batch goes alone")
{
    recording_sink sink;
    gateway::telemetry::access_log log{sink, core::log_level::info, 1, {.batch = 10}};
    log.write(a_call(), when);
    log.write(a_call(), when);
    REQUIRE(sink.batches.size() == 2);
    CHECK(string_at(parsed(sink.batches[0]), "id") == "0000000000000001");
    CHECK(string_at(parsed(sink.batches[1]), "id") == "0000000000000002");
}

TEST_CASE("ids count up, wrap, and start at random")
{
    recording_sink sink;
    gateway::telemetry::access_log log{sink, core::log_level::info, 0xffffffffffffffff};
    log.write(a_call(), when);
    log.write(a_call(), when);
    log.flush();
    const auto lines = split(sink.batches.at(0));
    CHECK(string_at(parsed(lines.at(0)), "id") == "ffffffffffffffff");
    CHECK(string_at(parsed(lines.at(1)), "id") == "0000000000000000");

    std::set<std::uint64_t> starts;
    for (int i = 0; i < 100; ++i) {
        starts.insert(gateway::telemetry::access_log::random_first_id());
    }
    CHECK(starts.size() == 100);
    CHECK(*starts.rbegin() > 0xffffffff);
}

TEST_CASE("nothing is formatted above level info")
{
    for (const auto level : {core::log_level::warn, core::log_level::error, core::log_level::off}) {
        recording_sink sink;
        const auto before = tests::allocations();
        {
            gateway::telemetry::access_log log{sink, level, 1};
            log.write(a_call(), when);
        }
        CHECK(tests::allocations() == before);
        CHECK(sink.batches.empty());
    }
    recording_sink sink;
    {
        gateway::telemetry::access_log log{sink, core::log_level::debug, 1};
        log.write(a_call(), when);
    }
    CHECK(sink.batches.size() == 1);
}

TEST_CASE("a level that changes is that of the next line")
{
    recording_sink sink;
    {
        gateway::telemetry::access_log log{sink, core::log_level::warn, 1};
        log.write(a_call(), when);
        log.set_level(core::log_level::info);
        log.write(a_call(), when);
        log.set_level(core::log_level::error);
        log.write(a_call(), when);
    }
    REQUIRE(sink.batches.size() == 1);
    CHECK(sink.batches[0].find('\n') == std::string::npos);
}

TEST_CASE("no line allocates after the first, failures with hostile details included")
{
    counting_sink sink;
    gateway::telemetry::access_log log{sink, core::log_level::info, 1};
    auto failed = a_call();
    const std::string agent(128, 'a');
    const std::string nasty(400, '\x01');
    failed.agent = agent;
    failed.peer = nasty;
    failed.code = core::errc::card_unrewritable;
    failed.detail = nasty;
    failed.stream = gateway::model::stream_end::complete;
    failed.card = gateway::model::card_use::negative;
    log.write(failed, when);
    const auto before = tests::allocations();
    for (int i = 0; i < 10'000; ++i) {
        log.write(i % 2 == 0 ? a_call() : failed, when + std::chrono::milliseconds{i});
    }
    CHECK(tests::allocations() == before);
    CHECK(sink.batches > 100);
}

TEST_SUITE_END();

TEST_CASE("viewers get the lines that the level leaves out, and none that it does not")
{
    recording_sink sink;
    recording_sink viewers;
    gateway::telemetry::access_log log{sink, core::log_level::warn, 1};
    log.write(a_call(), when);
    log.set_viewers(&viewers);
    log.flush();
    CHECK(viewers.batches.empty());
    log.write(a_call(), when);
    log.flush();
    REQUIRE(viewers.batches.size() == 1);
    CHECK(string_at(parsed(viewers.batches[0]), "event") == "request");
    log.write(a_call(), when);
    log.set_level(core::log_level::info);  // what was written before goes where it was to go
    CHECK(viewers.batches.size() == 2);
    CHECK(sink.batches.empty());
    log.write(a_call(), when);
    log.flush();
    CHECK(viewers.batches.size() == 2);
    CHECK(sink.batches.size() == 1);
    log.set_level(core::log_level::error);
    log.write(a_call(), when);
    log.set_viewers(nullptr);
    CHECK(viewers.batches.size() == 3);
    log.write(a_call(), when);
    log.flush();
    CHECK(viewers.batches.size() == 3);
    CHECK(sink.batches.size() == 1);
}

TEST_CASE("a line says that the console has sent the request on")
{
    CHECK_FALSE(parsed(line_of(a_call())).contains("via"));
    auto record = a_call();
    record.by_console = true;
    CHECK(string_at(parsed(line_of(record)), "via") == "console");
}
