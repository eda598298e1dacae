#include "gateway/telemetry/worker_families.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/worker_families");

namespace {

using namespace std::chrono_literals;

gateway::model::request_record a_call(std::string_view agent, std::chrono::nanoseconds total)
{
    gateway::model::request_record record;
    record.where = gateway::model::route::call;
    record.http_method = "POST";
    record.agent = agent;
    record.rpc_method = a2a::method::send_message;
    record.status = 200;
    record.bytes_in = 5;
    record.bytes_out = 50;
    record.total = total;
    record.upstream_first_byte = total / 2;
    return record;
}

gateway::model::request_record a_failed_call(std::string_view agent)
{
    auto record = a_call(agent, 40ms);
    record.rpc_method.reset();
    record.status = 502;
    record.code = core::errc::upstream_refused;
    record.from = core::side::upstream;
    record.upstream_first_byte.reset();
    return record;
}

gateway::model::request_record a_stream(std::string_view agent, gateway::model::stream_end end)
{
    auto record = a_call(agent, 90s);
    record.rpc_method = a2a::method::message_stream;
    record.stream = end;
    return record;
}

gateway::model::request_record a_card_request(std::string_view agent, gateway::model::card_use use)
{
    gateway::model::request_record record;
    record.where = gateway::model::route::card;
    record.http_method = "GET";
    record.agent = agent;
    record.status = 200;
    record.card = use;
    return record;
}

gateway::model::request_record a_tool_call(std::string_view agent, std::string_view tool)
{
    gateway::model::request_record record;
    record.where = gateway::model::route::mcp;
    record.http_method = "POST";
    record.agent = agent;
    record.mcp_method = mcp::client_method::tools_call;
    record.era = mcp::era::legacy;
    record.tool = tool;
    record.tool_listed = true;
    record.status = 200;
    record.total = 30ms;
    return record;
}

using loops = std::vector<const gateway::telemetry::worker_metrics*>;

// The page of what these loops have counted, with all agents that these tests name.
std::string page_of(const loops& all)
{
    gateway::telemetry::worker_sums sums;
    for (const auto* each : all) {
        sums.add(each->totals());
    }
    auto page = gateway::telemetry::text_of(sums.Collect());
    for (const auto& each : gateway::telemetry::counted_families()) {
        gateway::telemetry::family written{each.what};
        for (const auto* id : {"a", "b", "b-1", "c.d_e", "m1", "m2", "never fetched", "weather"}) {
            gateway::telemetry::agent_counters counters;
            for (const auto* loop : all) {
                if (const auto* counted = loop->find(id)) {
                    counters.merge(*counted);
                }
            }
            const auto* protocol = std::string_view{id}.starts_with("m") ? "mcp" : "a2a";
            each.add(written, {id, protocol, counters});
        }
        page += gateway::telemetry::text_of({written.take()});
    }
    return page;
}

std::vector<std::string> lines_of(const std::string& text)
{
    std::vector<std::string> lines;
    std::istringstream stream{text};
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line);
    }
    return lines;
}

// The lines of one family, HELP and TYPE included.
std::string family(const std::string& page, const std::string& name)
{
    std::string text;
    bool within = false;
    for (const auto& line : lines_of(page)) {
        if (line.starts_with("# HELP ")) {
            within = line.starts_with("# HELP " + name + " ");
        }
        if (within) {
            text += line + '\n';
        }
    }
    return text;
}

}  // namespace

TEST_CASE("handshakes of all loops are added up by outcome")
{
    gateway::telemetry::worker_metrics first;
    first.count_handshake(gateway::telemetry::tls_handshake::complete);
    first.count_handshake(gateway::telemetry::tls_handshake::failed);
    gateway::telemetry::worker_metrics second;
    second.count_handshake(gateway::telemetry::tls_handshake::complete);
    const auto page = page_of({&first, &second});
    CHECK(
        family(page, "cardea_tls_handshakes_total") ==
        R"(# HELP cardea_tls_handshakes_total TLS handshakes of callers, by outcome.
# TYPE cardea_tls_handshakes_total counter
cardea_tls_handshakes_total{outcome="complete"} 2
cardea_tls_handshakes_total{outcome="failed"} 1
)"
    );
}

TEST_CASE("requests and bytes of all loops are added up by route")
{
    gateway::telemetry::worker_metrics first;
    gateway::telemetry::worker_metrics second;
    first.count(a_call("weather", 4ms));
    second.count(a_call("weather", 4ms));
    second.count(a_failed_call("weather"));
    second.count(a_card_request("weather", gateway::model::card_use::hit));
    second.count({});
    const auto page = page_of({&first, &second});
    CHECK(
        family(page, "cardea_http_requests_total") ==
        R"(# HELP cardea_http_requests_total Requests by route, HTTP method and status sent.
# TYPE cardea_http_requests_total counter
cardea_http_requests_total{route="card",method="GET",code="200"} 1
cardea_http_requests_total{route="call",method="POST",code="200"} 2
cardea_http_requests_total{route="call",method="POST",code="502"} 1
cardea_http_requests_total{route="none",method="none",code="other"} 1
)"
    );
    CHECK(
        family(page, "cardea_request_bytes_total") ==
        R"(# HELP cardea_request_bytes_total Bytes received from callers.
# TYPE cardea_request_bytes_total counter
cardea_request_bytes_total{route="call"} 15
)"
    );
    CHECK(
        family(page, "cardea_response_bytes_total") ==
        R"(# HELP cardea_response_bytes_total Bytes sent to callers.
# TYPE cardea_response_bytes_total counter
cardea_response_bytes_total{route="call"} 150
)"
    );
}

TEST_CASE("calls of all loops are added up by agent, in the order of the agents")
{
    gateway::telemetry::worker_metrics first;
    gateway::telemetry::worker_metrics second;
    first.count(a_call("b", 4ms));
    first.count(a_failed_call("b"));
    second.count(a_call("b", 4ms));
    second.count(a_call("a", 4ms));
    const auto page = page_of({&first, &second});
    CHECK(
        family(page, "cardea_agent_requests_total") ==
        R"(# HELP cardea_agent_requests_total Calls of an agent by protocol, method and outcome.
# TYPE cardea_agent_requests_total counter
cardea_agent_requests_total{agent="a",protocol="a2a",rpc_method="SendMessage",outcome="ok"} 1
cardea_agent_requests_total{agent="b",protocol="a2a",rpc_method="SendMessage",outcome="ok"} 2
cardea_agent_requests_total{agent="b",protocol="a2a",rpc_method="other",outcome="upstream_error"} 1
)"
    );
    CHECK(
        family(page, "cardea_upstream_errors_total") ==
        R"(# HELP cardea_upstream_errors_total Calls that failed on the agent's side, by reason.
# TYPE cardea_upstream_errors_total counter
cardea_upstream_errors_total{agent="b",reason="upstream_refused"} 1
)"
    );
}

TEST_CASE("histograms are cumulative, end with +Inf, and are added up")
{
    gateway::telemetry::worker_metrics first;
    gateway::telemetry::worker_metrics second;
    first.count(a_call("weather", 1ms));
    first.count(a_call("weather", 61s));
    second.count(a_call("weather", 30ms));
    const auto page = page_of({&first, &second});
    CHECK(
        family(page, "cardea_agent_request_duration_seconds") ==
        R"(# HELP cardea_agent_request_duration_seconds Time from a call's start to the end of its answer, without answers that are streams.
# TYPE cardea_agent_request_duration_seconds histogram
cardea_agent_request_duration_seconds_count{agent="weather"} 3
cardea_agent_request_duration_seconds_sum{agent="weather"} 61.031
cardea_agent_request_duration_seconds_bucket{agent="weather",le="0.001"} 1
cardea_agent_request_duration_seconds_bucket{agent="weather",le="0.0025"} 1
cardea_agent_request_duration_seconds_bucket{agent="weather",le="0.005"} 1
cardea_agent_request_duration_seconds_bucket{agent="weather",le="0.01"} 1
cardea_agent_request_duration_seconds_bucket{agent="weather",le="0.025"} 1
cardea_agent_request_duration_seconds_bucket{agent="weather",le="0.05"} 2
cardea_agent_request_duration_seconds_bucket{agent="weather",le="0.1"} 2
cardea_agent_request_duration_seconds_bucket{agent="weather",le="0.25"} 2
cardea_agent_request_duration_seconds_bucket{agent="weather",le="0.5"} 2
cardea_agent_request_duration_seconds_bucket{agent="weather",le="1"} 2
cardea_agent_request_duration_seconds_bucket{agent="weather",le="2.5"} 2
cardea_agent_request_duration_seconds_bucket{agent="weather",le="5"} 2
cardea_agent_request_duration_seconds_bucket{agent="weather",le="10"} 2
cardea_agent_request_duration_seconds_bucket{agent="weather",le="30"} 2
cardea_agent_request_duration_seconds_bucket{agent="weather",le="60"} 2
cardea_agent_request_duration_seconds_bucket{agent="weather",le="+Inf"} 3
)"
    );
    const auto first_byte = family(page, "cardea_agent_time_to_first_byte_seconds");
    CHECK(first_byte.find("_count{agent=\"weather\"} 3\n") != std::string::npos);
    CHECK(first_byte.find("_sum{agent=\"weather\"} 30.5155\n") != std::string::npos);
    CHECK(first_byte.find("_bucket{agent=\"weather\",le=\"0.025\"} 2\n") != std::string::npos);
}

TEST_CASE("streams of all loops are added up by what ended them")
{
    gateway::telemetry::worker_metrics first;
    gateway::telemetry::worker_metrics second;
    for (auto* loop : {&first, &second}) {
        for (int i = 0; i < 3; ++i) {
            loop->stream_started("weather");
        }
        loop->count(a_stream("weather", gateway::model::stream_end::complete));
    }
    second.count(a_stream("weather", gateway::model::stream_end::caller));
    const auto page = page_of({&first, &second});
    CHECK(
        family(page, "cardea_streams_active") + family(page, "cardea_streams_ended_total") ==
        R"(# HELP cardea_streams_active Event streams that are open now.
# TYPE cardea_streams_active gauge
cardea_streams_active{agent="weather"} 3
# HELP cardea_streams_ended_total Event streams that have ended, by who or what ended them.
# TYPE cardea_streams_ended_total counter
cardea_streams_ended_total{agent="weather",reason="complete"} 2
cardea_streams_ended_total{agent="weather",reason="caller"} 1
)"
    );
}

TEST_CASE("states of tasks are added up over all loops, in the words of 0.3")
{
    gateway::telemetry::worker_metrics first;
    gateway::telemetry::worker_metrics second;
    first.count_task_state("weather", a2a::task_state::working);
    first.count_task_state("weather", a2a::task_state::input_required);
    second.count_task_state("weather", a2a::task_state::working);
    second.count_task_state("weather", a2a::task_state::unspecified);
    CHECK(
        family(page_of({&first, &second}), "cardea_task_states_total") ==
        R"(# HELP cardea_task_states_total Tasks that came to a state, as answers to calls showed them.
# TYPE cardea_task_states_total counter
cardea_task_states_total{agent="weather",state="unknown"} 1
cardea_task_states_total{agent="weather",state="working"} 2
cardea_task_states_total{agent="weather",state="input-required"} 1
)"
    );
}

TEST_CASE("Messages to MCP servers are added up by agent, method, era and outcome")
{
    gateway::telemetry::worker_metrics one;
    gateway::telemetry::worker_metrics other;
    one.count(a_tool_call("m1", "search"));
    other.count(a_tool_call("m1", "search"));
    auto failed = a_tool_call("m1", "search");
    failed.era = mcp::era::modern;
    failed.translated = true;
    failed.code = core::errc::upstream_reset;
    failed.from = core::side::upstream;
    other.count(failed);
    auto answer = a_tool_call("m2", "");
    answer.mcp_method = mcp::client_method::other;
    other.count(answer);
    auto listens = a_tool_call("m2", "");
    listens.mcp_method = mcp::client_method::listen;
    other.count(listens);
    const auto page = page_of({&one, &other});
    const auto requests = family(page, "cardea_mcp_requests_total");
    const std::string m1 = R"(cardea_mcp_requests_total{agent="m1",method="tools/call",)";
    CHECK(requests.find(m1 + R"(era="legacy",outcome="ok"} 2)") != std::string::npos);
    CHECK(requests.find(m1 + R"(era="modern",outcome="upstream_error"} 1)") != std::string::npos);
    CHECK(requests.find(R"({agent="m2",method="other",era="legacy",outcome="ok"} 1)") != std::string::npos);
    const auto translated = lines_of(family(page, "cardea_mcp_translated_total"));
    REQUIRE(translated.size() == 3);
    CHECK(translated[2] == R"(cardea_mcp_translated_total{agent="m1",era="modern"} 1)");
    CHECK(page.find("\ncardea_mcp_request_seconds_count{agent=\"m1\"} 3\n") != std::string::npos);
    CHECK(page.find("\ncardea_mcp_request_seconds_count{agent=\"m2\"} 1\n") != std::string::npos);
    const std::string calls = "\ncardea_mcp_tool_calls_total{agent=\"m1\",tool=\"search\",outcome=";
    CHECK(page.find(calls + "\"ok\"} 2\n") != std::string::npos);
    CHECK(page.find(calls + "\"failed\"} 1\n") != std::string::npos);
    CHECK(page.find(calls + "\"tool_error\"}") == std::string::npos);
    CHECK(page.find("cardea_mcp_tool_calls_total{agent=\"m2\"") == std::string::npos);
}

TEST_CASE("200 tools of an agent have a series, others and those that are not listed share one")
{
    for (const int tools : {199, 200, 201}) {
        CAPTURE(tools);
        gateway::telemetry::worker_metrics one;
        gateway::telemetry::worker_metrics other;
        for (int i = 0; i < tools; ++i) {
            const auto name = "t" + std::to_string(i);
            auto& loop = i % 2 == 0 ? one : other;
            loop.count(a_tool_call("a", name));
        }
        auto unlisted = a_tool_call("a", "made up");
        unlisted.tool_listed = false;
        one.count(unlisted);
        one.count(a_tool_call("a", "other"));
        const auto page = page_of({&one, &other});
        const auto series = lines_of(family(page, "cardea_mcp_tool_calls_total"));
        CHECK(page.find("made up") == std::string::npos);
        const auto others = "\ncardea_mcp_tool_calls_total{agent=\"a\",tool=\"other\",outcome=\"ok\"} ";
        CHECK(page.find(others + std::to_string(tools - 197) + "\n") != std::string::npos);
        CHECK(series.size() == 2 + 200);
    }
}

TEST_CASE("A tool that has a series keeps it when it is not listed any more")
{
    gateway::telemetry::worker_metrics loop;
    auto call = a_tool_call("a", "search");
    loop.count(call);
    call.tool_listed = false;
    loop.count(call);
    const auto page = page_of({&loop});
    CHECK(
        page.find("\ncardea_mcp_tool_calls_total{agent=\"a\",tool=\"search\",outcome=\"ok\"} 2\n") != std::string::npos
    );
}

TEST_CASE("Calls of a tool are counted by how they ended, which changes no other counter")
{
    gateway::telemetry::worker_metrics loop;
    auto call = a_tool_call("a", "search");
    loop.count(call);
    call.tool_failed = true;
    loop.count(call);
    loop.count(call);
    call.tool_failed = false;
    call.tool_refused = true;
    loop.count(call);
    call.tool_listed = false;
    call.tool = "made up";
    loop.count(call);
    auto denied = a_tool_call("a", "search");
    denied.code = core::errc::forbidden;
    denied.from = core::side::caller;
    denied.tool_failed = true;
    loop.count(denied);
    const auto page = page_of({&loop});
    const auto series = lines_of(family(page, "cardea_mcp_tool_calls_total"));
    const std::string of_a = R"(cardea_mcp_tool_calls_total{agent="a",tool=")";
    for (const auto* line :
         {R"(search",outcome="ok"} 1)",
          R"(search",outcome="tool_error"} 2)",
          R"(search",outcome="failed"} 2)",
          R"(other",outcome="failed"} 1)"}) {
        CAPTURE(line);
        CHECK(std::ranges::find(series, of_a + line) != series.end());
    }
    const auto requests = family(page, "cardea_mcp_requests_total");
    CHECK(requests.find(R"(outcome="ok"} 5)") != std::string::npos);
}

TEST_CASE("Sessions of callers that are over are counted by why, over all loops")
{
    gateway::telemetry::worker_metrics one;
    gateway::telemetry::worker_metrics other;
    auto ended = a_tool_call("m1", "");
    ended.session_ended = gateway::model::session_end::deleted;
    one.count(ended);
    other.count(ended);
    ended.session_ended = gateway::model::session_end::lost;
    other.count(ended);
    const auto page = page_of({&one, &other});
    CHECK(page.find("\ncardea_mcp_client_sessions_ended_total{reason=\"deleted\"} 2\n") != std::string::npos);
    CHECK(page.find("\ncardea_mcp_client_sessions_ended_total{reason=\"lost\"} 1\n") != std::string::npos);
}

TEST_CASE("Requests are timed by route, streams are not, and those in flight are counted")
{
    gateway::telemetry::worker_metrics one;
    gateway::telemetry::worker_metrics other;
    one.count(a_call("weather", 4ms));
    other.count(a_call("weather", 2s));
    other.stream_started("weather");
    other.count(a_stream("weather", gateway::model::stream_end::complete));
    auto listens = a_tool_call("m1", "");
    listens.mcp_method = mcp::client_method::listen;
    other.count(listens);
    const gateway::telemetry::request_in_flight first{one};
    const gateway::telemetry::request_in_flight second{other};
    const auto page = page_of({&one, &other});
    const auto times = family(page, "cardea_http_request_duration_seconds");
    CHECK(times.find("_count{route=\"call\"} 2\n") != std::string::npos);
    CHECK(times.find("_sum{route=\"call\"} 2.004\n") != std::string::npos);
    CHECK(times.find("_bucket{route=\"call\",le=\"0.005\"} 1\n") != std::string::npos);
    CHECK(times.find("route=\"mcp\"") == std::string::npos);
    CHECK(page.find("\ncardea_requests_in_flight 2\n") != std::string::npos);
}

TEST_CASE("A request is in flight until it ends, however it ends")
{
    gateway::telemetry::worker_metrics metrics;
    {
        const gateway::telemetry::request_in_flight one{metrics};
        const gateway::telemetry::request_in_flight other{metrics};
        CHECK(metrics.totals().in_flight == 2);
    }
    CHECK(metrics.totals().in_flight == 0);
}

TEST_CASE("Calls and messages are counted by outcome, and every agent has all outcomes from 0")
{
    gateway::telemetry::worker_metrics one;
    gateway::telemetry::worker_metrics other;
    one.count(a_call("a", 4ms));
    other.count(a_call("a", 4ms));
    other.count(a_failed_call("a"));
    other.count(a_tool_call("m1", "search"));
    auto modern = a_tool_call("m1", "search");
    modern.era = mcp::era::modern;
    other.count(modern);
    const auto calls = family(page_of({&one, &other}), "cardea_agent_calls_total");
    CHECK(calls.find(R"(cardea_agent_calls_total{agent="a",outcome="ok"} 2
cardea_agent_calls_total{agent="a",outcome="caller_error"} 0
cardea_agent_calls_total{agent="a",outcome="upstream_error"} 1
cardea_agent_calls_total{agent="a",outcome="gateway_error"} 0
)") != std::string::npos);
    CHECK(calls.find("{agent=\"m1\",outcome=\"ok\"} 2\n") != std::string::npos);
    CHECK(calls.find("{agent=\"b\",outcome=\"upstream_error\"} 0\n") != std::string::npos);
}

TEST_CASE("A call of an MCP server has its protocol")
{
    gateway::telemetry::worker_metrics metrics;
    metrics.count(a_call("m1", 4ms));
    CHECK(
        lines_of(family(page_of({&metrics}), "cardea_agent_requests_total")).at(2) ==
        R"(cardea_agent_requests_total{agent="m1",protocol="mcp",rpc_method="SendMessage",outcome="ok"} 1)"
    );
}

TEST_CASE("A foreign text is a label of UTF-8 without control characters, cut between two characters")
{
    using gateway::telemetry::label_of;
    using gateway::telemetry::longest_label;
    CHECK(label_of("").empty());
    CHECK(label_of("Wörter \"1\" \\") == "Wörter \"1\" \\");
    CHECK(label_of(std::string{"a\0b\nc\x7F", 6}) == "a b c ");
    CHECK(
        label_of("a\xFF"
                 "b\xC3") ==
        "a\xEF\xBF\xBD"
        "b\xEF\xBF\xBD"
    );
    for (const std::size_t size : {longest_label - 1, longest_label, longest_label + 1}) {
        CAPTURE(size);
        CHECK(label_of(std::string(size, 'x')).size() == std::min(size, longest_label));
    }
    CHECK(label_of(std::string(longest_label - 1, 'x') + "ö") == std::string(longest_label - 1, 'x'));
    CHECK(label_of(std::string(longest_label - 2, 'x') + "ö") == std::string(longest_label - 2, 'x') + "ö");
}

TEST_CASE("denied and limited requests are counted by reason and limit, over all loops")
{
    gateway::telemetry::worker_metrics one;
    gateway::telemetry::worker_metrics other;
    gateway::model::request_record denied;
    denied.denied = gateway::model::denial::hidden;
    gateway::model::request_record over;
    over.over = gateway::model::rate_limit::agent;
    one.count(denied);
    other.count(denied);
    other.count(over);
    const auto page = page_of({&one, &other});
    CHECK(page.find("\ncardea_denied_total{reason=\"hidden\"} 2\n") != std::string::npos);
    CHECK(page.find("cardea_denied_total{reason=\"forbidden\"}") == std::string::npos);
    CHECK(page.find("\ncardea_rate_limited_total{limit=\"agent\"} 1\n") != std::string::npos);
}

TEST_CASE("when a key was used last is told once, as the loop knows that saw it last")
{
    using namespace std::chrono_literals;
    gateway::telemetry::worker_metrics one;
    gateway::telemetry::worker_metrics other;
    one.note_key({"keys", "ci"}, core::wall_time{1'800'000'007s});
    other.note_key({"keys", "ci"}, core::wall_time{1'800'000'000s});
    CHECK(
        lines_of(family(page_of({&one, &other}), "cardea_access_key_last_used_timestamp_seconds")).at(2) ==
        R"(cardea_access_key_last_used_timestamp_seconds{provider="keys",key="ci"} 1800000007)"
    );
}

TEST_CASE("Every family has a row, and every row is in the metric table once")
{
    std::set<std::string_view> names;
    for (const auto& row : gateway::telemetry::metric_rows::all) {
        CAPTURE(row.name);
        CHECK(names.insert(row.name).second);
        CHECK(row.help.ends_with('.'));
        CHECK(row.help.find('\\') == row.help.npos);
        CHECK((row.type == gateway::telemetry::metric_rows::counter) == row.name.ends_with("_total"));
    }
}

TEST_CASE("Label values are escaped, and more series of a family have no second HELP and TYPE")
{
    gateway::telemetry::family first{gateway::telemetry::metric("cardea_push_queue")};
    first.add({{"agent", "a\"b\\c\nd"}, {"b", "x"}}, 0.5);
    CHECK(
        gateway::telemetry::text_of({first.take()}) ==
        "# HELP cardea_push_queue Push notifications that are not delivered yet.\n"
        "# TYPE cardea_push_queue gauge\n"
        "cardea_push_queue{agent=\"a\\\"b\\\\c\\nd\",b=\"x\"} 0.5\n"
    );
    gateway::telemetry::family more{gateway::telemetry::metric("cardea_push_queue")};
    more.add({}, std::uint64_t{9'007'199'254'740'992});
    CHECK(gateway::telemetry::more_text_of(more.take()) == "cardea_push_queue 9007199254740992\n");
    gateway::telemetry::family none{gateway::telemetry::metric("cardea_push_queue")};
    CHECK(gateway::telemetry::more_text_of(none.take()).empty());
}

TEST_SUITE_END();
