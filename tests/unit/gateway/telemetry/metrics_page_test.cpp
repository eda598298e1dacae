// over 600 lines: one page, family by family.
#include "gateway/telemetry/metrics_page.hpp"

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

TEST_SUITE_BEGIN("gateway/metrics_page");

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

gateway::telemetry::session_sample a_session()
{
    gateway::telemetry::session_sample made;
    made.states = {{"configured", 0}, {"ready", 0}, {"degraded", 1}};
    made.attempts = 5;
    made.up = 1;
    made.losses = {{"exited", 2}, {"ping_timeout", 1}};
    made.restarts = 3;
    made.initialize = 1250ms;
    made.walks_changed = 4;
    made.walks_unchanged = 5;
    made.walks_incomplete = 6;
    made.walks_failed = 7;
    made.received = 8;
    made.sent = 9;
    made.refused = 10;
    made.queued = 0;
    return made;
}

using loops = std::vector<const gateway::telemetry::worker_metrics*>;

// What is known of agents beside the loops' counters.
struct planes {
    std::map<std::string, gateway::telemetry::status_sample> statuses{};
    std::map<std::string, gateway::telemetry::card_sample> cards{};
    std::map<std::string, gateway::telemetry::session_sample> sessions{};
    std::map<std::string, gateway::telemetry::token_sample> tokens{};
    std::map<std::string, gateway::telemetry::callers_sample> callers{};
    std::map<std::string, gateway::telemetry::endpoint_sample> endpoints{};
};

template <class Value>
std::optional<Value> in(const std::map<std::string, Value>& all, const std::string& id)
{
    const auto found = all.find(id);
    return found == all.end() ? std::nullopt : std::optional{found->second};
}

gateway::telemetry::plane_samples samples_of(const planes& known, const std::string& id)
{
    return {
        in(known.statuses, id),
        in(known.cards, id),
        in(known.sessions, id),
        in(known.tokens, id),
        in(known.callers, id),
        in(known.endpoints, id)
    };
}

// The parts of the page, put together as gateway/admin/metrics_feed.cpp does, of all agents that these tests name.
std::string page_of(const loops& all, const gateway::telemetry::gateway_sample& gateway = {}, const planes& known = {})
{
    gateway::telemetry::loop_totals sum;
    for (const auto* each : all) {
        sum.merge(each->totals());
    }
    auto page = gateway::telemetry::process_metrics(sum, gateway);
    for (const auto& each : gateway::telemetry::agent_families()) {
        gateway::telemetry::family written{each.name, each.help, each.type};
        for (const auto* id : {"a", "b", "b-1", "c.d_e", "m1", "m2", "never fetched", "weather"}) {
            gateway::telemetry::agent_counters counters;
            for (const auto* loop : all) {
                if (const auto* counted = loop->find(id)) {
                    counters.merge(*counted);
                }
            }
            const auto parts = samples_of(known, id);
            auto sample = gateway::telemetry::make_sample(id, &counters, parts);
            sample.protocol = std::string_view{id}.starts_with("m") ? "mcp" : "a2a";
            gateway::telemetry::add_agent(each, written, sample);
        }
        page += written.take();
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

TEST_CASE("cards show what the cache did, and how fetches ended")
{
    gateway::telemetry::worker_metrics first;
    gateway::telemetry::worker_metrics second;
    first.count(a_card_request("b", gateway::model::card_use::hit));
    second.count(a_card_request("b", gateway::model::card_use::hit));
    second.count(a_card_request("a", gateway::model::card_use::negative));
    planes known;
    known.cards["b"] = {
        .fetched = 5,
        .not_modified = 2,
        .failures = {{core::errc::upstream_timeout, 3}, {core::errc::card_invalid, 1}},
        .changes = 2,
        .age = 1500ms
    };
    known.cards["a"] = {.failures = {{core::errc::upstream_refused, 7}}};
    known.cards["never fetched"] = {};
    const auto page = page_of({&first, &second}, {}, known);
    CHECK(
        family(page, "cardea_card_cache_total") ==
        R"(# HELP cardea_card_cache_total Requests for an agent's card by what the cache had.
# TYPE cardea_card_cache_total counter
cardea_card_cache_total{agent="a",result="negative"} 1
cardea_card_cache_total{agent="b",result="hit"} 2
)"
    );
    CHECK(
        family(page, "cardea_card_fetch_total") + family(page, "cardea_card_age_seconds") +
            family(page, "cardea_card_changes_total") ==
        R"(# HELP cardea_card_fetch_total Fetches of an agent's card by outcome: ok, not_modified or why not.
# TYPE cardea_card_fetch_total counter
cardea_card_fetch_total{agent="a",outcome="upstream_refused"} 7
cardea_card_fetch_total{agent="b",outcome="ok"} 3
cardea_card_fetch_total{agent="b",outcome="not_modified"} 2
cardea_card_fetch_total{agent="b",outcome="upstream_timeout"} 3
cardea_card_fetch_total{agent="b",outcome="card_invalid"} 1
# HELP cardea_card_age_seconds Time since an agent's card was fetched or confirmed.
# TYPE cardea_card_age_seconds gauge
cardea_card_age_seconds{agent="b"} 1.5
# HELP cardea_card_changes_total How often a different card of an agent was published.
# TYPE cardea_card_changes_total counter
cardea_card_changes_total{agent="b"} 2
)"
    );
}

TEST_CASE("tokens of agents show how often they were asked for, and how old the one in use is")
{
    planes known;
    known.tokens["a"] = {.age = 1500ms, .renewed = 2, .failed = 3};
    known.tokens["b"] = {};
    const auto page = page_of({}, {}, known);
    CHECK(page.find("\ncardea_agent_token_refreshes_total{agent=\"a\",outcome=\"ok\"} 2\n") != std::string::npos);
    CHECK(page.find("\ncardea_agent_token_refreshes_total{agent=\"a\",outcome=\"failed\"} 3\n") != std::string::npos);
    CHECK(page.find("\ncardea_agent_token_age_seconds{agent=\"a\"} 1.5\n") != std::string::npos);
    CHECK(page.find("token_refreshes_total{agent=\"b\"") == std::string::npos);
    CHECK(page.find("token_age_seconds{agent=\"b\"") == std::string::npos);
}

TEST_CASE("Endpoints show the state of their breaker, and how often it has opened")
{
    planes known;
    known.endpoints["a"] = {.states = {{"closed", 0}, {"open", 1}, {"half_open", 0}}, .openings = 3};
    known.endpoints["b"] = {.states = {{"closed", 1}, {"open", 0}, {"half_open", 0}}};
    const auto page = page_of({}, {}, known);
    const auto states = lines_of(family(page, "cardea_endpoint_state"));
    REQUIRE(states.size() == 8);
    CHECK(states[2] == R"(cardea_endpoint_state{agent="a",endpoint="1",state="closed"} 0)");
    CHECK(states[3] == R"(cardea_endpoint_state{agent="a",endpoint="1",state="open"} 1)");
    CHECK(states[4] == R"(cardea_endpoint_state{agent="a",endpoint="1",state="half_open"} 0)");
    CHECK(states[5] == R"(cardea_endpoint_state{agent="b",endpoint="1",state="closed"} 1)");
    const auto openings = lines_of(family(page, "cardea_breaker_openings_total"));
    REQUIRE(openings.size() == 3);
    CHECK(openings[2] == R"(cardea_breaker_openings_total{agent="a",endpoint="1"} 3)");
}

TEST_CASE("sessions show their state, why they were lost, and what passed, in the order of the agents")
{
    planes known;
    known.sessions["b"] = a_session();
    known.sessions["a"] = {.states = {{"configured", 1}, {"ready", 0}, {"degraded", 0}}, .up = 0};
    known.sessions["weather"] = {.states = {{"configured", 0}}};
    std::string values;
    bool within = false;
    for (const auto& line : lines_of(page_of({}, {}, known))) {
        within = line.starts_with("#") ? line.find(" cardea_mcp_") != std::string::npos : within;
        if (within && !line.starts_with("#")) {
            values += line + '\n';
        }
    }
    CHECK(
        values ==
        R"(cardea_mcp_recoveries_total 0
cardea_mcp_parked_calls 0
cardea_mcp_session_up{agent="a"} 0
cardea_mcp_session_up{agent="b"} 1
cardea_mcp_session_state{agent="a",state="configured"} 1
cardea_mcp_session_state{agent="a",state="ready"} 0
cardea_mcp_session_state{agent="a",state="degraded"} 0
cardea_mcp_session_state{agent="b",state="configured"} 0
cardea_mcp_session_state{agent="b",state="ready"} 0
cardea_mcp_session_state{agent="b",state="degraded"} 1
cardea_mcp_session_state{agent="weather",state="configured"} 0
cardea_mcp_session_losses_total{agent="b",reason="exited"} 2
cardea_mcp_session_losses_total{agent="b",reason="ping_timeout"} 1
cardea_mcp_attempts_total{agent="a"} 0
cardea_mcp_attempts_total{agent="b"} 5
cardea_mcp_attempts_total{agent="weather"} 0
cardea_mcp_session_restarts_total{agent="b"} 3
cardea_mcp_initialize_seconds{agent="b"} 1.25
cardea_mcp_list_refreshes_total{agent="b",outcome="changed"} 4
cardea_mcp_list_refreshes_total{agent="b",outcome="unchanged"} 5
cardea_mcp_list_refreshes_total{agent="b",outcome="incomplete"} 6
cardea_mcp_list_refreshes_total{agent="b",outcome="failed"} 7
cardea_mcp_messages_total{agent="b",direction="received"} 8
cardea_mcp_messages_total{agent="b",direction="sent"} 9
cardea_mcp_messages_refused_total{agent="b"} 10
cardea_mcp_write_queue_bytes{agent="b"} 0
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
    CHECK(page.find("\ncardea_mcp_tool_calls_total{agent=\"m1\",tool=\"search\"} 3\n") != std::string::npos);
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
        const auto others = "\ncardea_mcp_tool_calls_total{agent=\"a\",tool=\"other\"} ";
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
    CHECK(page.find("\ncardea_mcp_tool_calls_total{agent=\"a\",tool=\"search\"} 2\n") != std::string::npos);
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
    gateway::telemetry::gateway_sample gateway;
    gateway.recovered_sessions = 7;
    const auto page = page_of({&one, &other}, gateway);
    CHECK(page.find("\ncardea_mcp_recoveries_total 7\n") != std::string::npos);
    CHECK(page.find("\ncardea_mcp_client_sessions_ended_total{reason=\"deleted\"} 2\n") != std::string::npos);
    CHECK(page.find("\ncardea_mcp_client_sessions_ended_total{reason=\"lost\"} 1\n") != std::string::npos);
}

TEST_CASE("What servers ask callers is counted by method, and by whether a client has it")
{
    gateway::telemetry::gateway_sample sample;
    sample.server_requests.count("roots/list", mcp::question_end::passed);
    sample.server_requests.count("roots/list", mcp::question_end::passed);
    sample.server_requests.count("sampling/createMessage", mcp::question_end::answered);
    sample.server_requests.count("made/up", mcp::question_end::answered);
    const auto series = lines_of(family(page_of({}, sample), "cardea_mcp_server_requests_total"));
    REQUIRE(series.size() == 5);
    CHECK(series[2] == R"(cardea_mcp_server_requests_total{method="sampling/createMessage",outcome="answered"} 1)");
    CHECK(series[3] == R"(cardea_mcp_server_requests_total{method="roots/list",outcome="passed"} 2)");
    CHECK(series[4] == R"(cardea_mcp_server_requests_total{method="other",outcome="answered"} 1)");
}

TEST_CASE("the gateway and its process are described")
{
    gateway::telemetry::gateway_sample sample;
    sample.version = "0.1.0";
    sample.revision = "0123456789ab";
    sample.compiler = "clang \"19\"\n\\";
    sample.started = core::wall_time{1700000000123ms};
    sample.ready = true;
    sample.overload = 2;
    sample.agents = 3;
    sample.connections = 4;
    sample.idle_upstream_connections = 5;
    sample.dns_failures = 20;
    sample.dropped_log_lines = 6;
    sample.dropped_audit_lines = 16;
    sample.key_sets = {{"idp", 90s}, {"never read", std::nullopt}};
    sample.refused_connections = 7;
    sample.parked_calls = 18;
    sample.config_reloads = 8;
    sample.handovers = {{"completed", 3}, {"failed", 0}};
    sample.config_refusals = 9;
    sample.config_since = core::wall_time{1700000001500ms};
    sample.config_refused_last = true;
    sample.restart_needed = true;
    sample.store_writes = {{"ok", 10}, {"store_failed", 0}};
    sample.spans = {{"exported", 21}, {"dropped", 0}};
    sample.push = {3, 4096, 90s, {{"delivered", 11}, {"expired", 0}, {"retried", 12}}};
    sample.certificates = {{"admin", "/etc/a \"b\".pem", core::wall_time{1900000000s}}};
    sample.omitted_agents = 19;
    sample.process = {
        .resident_bytes = 20'000'000'000,
        .virtual_bytes = 30'000'000'000,
        .threads = 7,
        .open_descriptors = 17,
        .most_descriptors = 1024,
        .cpu_time = 123'456ms
    };
    const auto page = gateway::telemetry::process_metrics({}, sample);
    const std::vector<std::string> expected{
        R"(cardea_shed_total{reason="overload"} 0)",
        R"(cardea_shed_total{reason="queue_full"} 0)",
        R"(cardea_shed_total{reason="queue_share"} 0)",
        R"(cardea_shed_total{reason="queue_timeout"} 0)",
        R"(cardea_shed_total{reason="streams"} 0)",
        R"(cardea_shed_total{reason="stream_share"} 0)",
        "cardea_requests_in_flight 0",
        R"(cardea_retries_total{reason="unconnected"} 0)",
        R"(cardea_retries_total{reason="unacknowledged"} 0)",
        R"(cardea_retries_total{reason="unanswered"} 0)",
        "cardea_mcp_recoveries_total 0",
        "cardea_mcp_parked_calls 18",
        R"(cardea_build_info{version="0.1.0",revision="0123456789ab",compiler="clang \"19\"\n\\"} 1)",
        "cardea_start_time_seconds 1700000000.123",
        "cardea_ready 1",
        "cardea_overload_level 2",
        "cardea_agents 3",
        "cardea_metrics_agents_omitted 19",
        "cardea_connections_open 4",
        "cardea_upstream_connections_idle 5",
        "cardea_dns_failures_total 20",
        "cardea_connections_refused_total 7",
        "cardea_log_lines_dropped_total 6",
        "cardea_audit_dropped_total 16",
        R"(cardea_key_set_age_seconds{provider="idp"} 90)",
        R"(cardea_store_writes_total{outcome="ok"} 10)",
        R"(cardea_store_writes_total{outcome="store_failed"} 0)",
        R"(cardea_tls_certificate_not_after_timestamp_seconds{listener="admin",cert="/etc/a \"b\".pem"} 1900000000)",
        R"(cardea_push_attempts_total{outcome="delivered"} 11)",
        R"(cardea_push_attempts_total{outcome="expired"} 0)",
        R"(cardea_push_attempts_total{outcome="retried"} 12)",
        "cardea_push_queue 3",
        "cardea_push_queue_bytes 4096",
        "cardea_push_oldest_seconds 90",
        R"(cardea_trace_spans_total{outcome="exported"} 21)",
        R"(cardea_trace_spans_total{outcome="dropped"} 0)",
        R"(cardea_config_reloads_total{outcome="ok"} 8)",
        R"(cardea_config_reloads_total{outcome="refused"} 9)",
        R"(cardea_handovers_total{outcome="completed"} 3)",
        R"(cardea_handovers_total{outcome="failed"} 0)",
        "cardea_config_restart_needed 1",
        "cardea_config_last_reload_successful 0",
        "cardea_config_last_success_timestamp_seconds 1700000001.5",
        "process_resident_memory_bytes 20000000000",
        "process_virtual_memory_bytes 30000000000",
        "process_open_fds 17",
        "process_max_fds 1024",
        "process_threads 7",
        "process_cpu_seconds_total 123.456",
        "process_start_time_seconds 1700000000.123",
    };
    std::vector<std::string> values;
    for (const auto& line : lines_of(page)) {
        if (!line.starts_with("#")) {
            values.push_back(line);
        }
    }
    CHECK(values == expected);

    const auto without = page_of({});
    CHECK(without.find("\nprocess_open_fds ") == std::string::npos);
    CHECK(without.find("\ncardea_ready 0\n") != std::string::npos);
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

TEST_CASE("An agent has each status as 0 or 1, its card's problems by severity, and what it is as labels")
{
    planes known;
    known.statuses["a"] = {
        .status = {{"healthy", 0}, {"degraded", 1}},
        .facts = gateway::telemetry::agent_facts{"Say \"hi\"\n\\", "a2a", "1.2", "configuration"}
    };
    known.statuses["b"] = {.status = {{"healthy", 3}, {"degraded", 4}}};
    known.cards["a"] = {.problems = {{"error", 2}, {"warning", 0}}};
    const auto page = page_of({}, {}, known);
    CHECK(
        family(page, "cardea_agent_info") ==
        R"(# HELP cardea_agent_info 1, with what an agent is as labels: name and version as its card has them.
# TYPE cardea_agent_info gauge
cardea_agent_info{agent="a",name="Say \"hi\" \\",protocol="a2a",version="1.2",source="configuration"} 1
)"
    );
    CHECK(
        family(page, "cardea_agent_status") ==
        R"(# HELP cardea_agent_status 1 for the status that an agent has, 0 for the others.
# TYPE cardea_agent_status gauge
cardea_agent_status{agent="a",status="healthy"} 0
cardea_agent_status{agent="a",status="degraded"} 1
cardea_agent_status{agent="b",status="healthy"} 3
cardea_agent_status{agent="b",status="degraded"} 4
)"
    );
    CHECK(
        family(page, "cardea_card_problems") ==
        R"(# HELP cardea_card_problems Problems of an agent's card, by severity.
# TYPE cardea_card_problems gauge
cardea_card_problems{agent="a",severity="error"} 2
cardea_card_problems{agent="a",severity="warning"} 0
)"
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

TEST_CASE("Sessions of callers are told of servers that have them here, and programs that wait of programs only")
{
    planes known;
    known.callers = {{"m1", {.sessions = 2, .warm = 1}}, {"m2", {.sessions = 0}}};
    const auto page = page_of({}, {}, known);
    CHECK(
        page.find("\ncardea_mcp_client_sessions{agent=\"m1\"} 2\ncardea_mcp_client_sessions{agent=\"m2\"} 0\n") !=
        page.npos
    );
    CHECK(page.find("\ncardea_mcp_warm_programs{agent=\"m1\"} 1\n") != page.npos);
    CHECK(page.find("cardea_mcp_warm_programs{agent=\"m2\"}") == page.npos);
}

TEST_CASE("every family has one HELP and one TYPE, every line is well formed, and no series comes twice")
{
    gateway::telemetry::worker_metrics metrics;
    for (const auto* agent : {"a", "b-1", "c.d_e"}) {
        metrics.count(a_call(agent, 4ms));
        metrics.count(a_tool_call(agent, "search"));
        metrics.count(a_failed_call(agent));
        metrics.stream_started(agent);
        metrics.count(a_stream(agent, gateway::model::stream_end::idle));
        metrics.count(a_card_request(agent, gateway::model::card_use::miss));
    }
    gateway::telemetry::gateway_sample sample;
    sample.process = gateway::telemetry::process_stats{};
    planes known;
    known.statuses["a"] = {
        .status = {{"healthy", 1}, {"unhealthy", 0}},
        .facts = gateway::telemetry::agent_facts{"A", "a2a", "1.0", "management"}
    };
    known.cards["a"] =
        {.fetched = 1, .changes = 1, .age = 1ms, .hidden_tools = 1, .problems = {{"error", 2}, {"note", 0}}};
    known.tokens["a"] = {.age = 1ms, .renewed = 1, .failed = 1};
    known.sessions = {{"m2", a_session()}, {"m1", a_session()}};
    known.endpoints["a"] = {.states = {{"closed", 1}, {"open", 0}, {"half_open", 0}}, .openings = 1};
    known.callers = {{"m1", {.sessions = 2, .warm = 1}}, {"m2", {.sessions = 3}}};
    for (const auto& page : {page_of({}), page_of({&metrics, &metrics}, sample, known)}) {
        const std::regex form{R"re(([a-z_]+)(\{([a-z_]+="[^"\\]*"(,[a-z_]+="[^"\\]*")*)?\})? [0-9.e+-]+)re"};
        std::set<std::string> described;
        std::set<std::string> series;
        std::string current;
        for (const auto& line : lines_of(page)) {
            CAPTURE(line);
            if (line.starts_with("# HELP ")) {
                current = line.substr(7, line.find(' ', 7) - 7);
                CHECK(described.insert(current).second);
                CHECK(line.size() > 8 + current.size());
            } else if (line.starts_with("#")) {
                CHECK(line.starts_with("# TYPE " + current + " "));
            } else {
                CHECK(std::regex_match(line, form));
                CHECK(line.starts_with(current));
                CHECK(series.insert(line.substr(0, line.rfind(' '))).second);
            }
        }
        CHECK(described.size() == 87);
        CHECK(page.ends_with('\n'));
    }
}

TEST_SUITE_END();
