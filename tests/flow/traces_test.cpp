// Traces of callers: what agents are told of them, and what a collector gets.
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/mcp_fixture.hpp"
#include "tests/flow/mcp_program_fixture.hpp"
#include "tests/flow/relay_fixture.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("flow/traces");

namespace {

using namespace std::chrono_literals;
using core::json;
using flow::call_body;
using flow::call_text;
using flow::parsed;
using flow::relayed;
using test_support::field_list;
using test_support::http_client;
using test_support::recorded_request;
using test_support::scripted_agent;

const std::string trace = "0af7651916cd43dd8448eb211c80319c";
const std::string span = "b7ad6b7169203331";
const std::string recorded = "00-" + trace + '-' + span + "-01";
const std::string unrecorded = "00-" + trace + '-' + span + "-00";

struct told {
    std::string trace;
    std::string span;
    std::string flags;
};

told read(const std::string& traceparent)
{
    REQUIRE(traceparent.size() == 55);
    CHECK(traceparent.starts_with("00-"));
    return {traceparent.substr(3, 32), traceparent.substr(36, 16), traceparent.substr(53)};
}

// A gateway that joins traces, before an agent, with a collector.
struct traced {
    explicit traced(const relayed::adjustment& adjust = {}, double sample = 1)
        : x{test_support::answer_json("{}"), [&](config::settings& settings) {
                settings.trace = {collector.url(), sample};
                if (adjust) {
                    adjust(settings);
                }
            }}
    {
    }

    test_support::http_response
    call(const field_list& further, std::string_view method = "message/send", std::string_view target = "/agents/a")
    {
        field_list fields{{"Content-Type", "application/json"}};
        fields.insert(fields.end(), further.begin(), further.end());
        return test_support::request(x.port(), "POST", target, fields, call_body("1", method));
    }

    // What the agent was told by the call that came last.
    recorded_request last() const
    {
        const auto all = x.agent.requests();
        REQUIRE_FALSE(all.empty());
        return all.back();
    }

    // Ends the gateway; what the collector has got by then.
    std::vector<json> spans()
    {
        x.gateway.stop();
        CHECK(x.gateway.wait_until_stopped());
        std::vector<json> all;
        for (const auto& each : collector.requests()) {
            CHECK(each.method == "POST");
            CHECK(each.target == "/v1/traces");
            CHECK(each.header("Content-Type") == "application/json");
            const auto batch = parsed(each.body);
            for (const auto& of : batch["resourceSpans"]) {
                for (const auto& part : of["scopeSpans"]) {
                    all.insert(all.end(), part["spans"].begin(), part["spans"].end());
                }
            }
        }
        return all;
    }

    scripted_agent collector{[](const recorded_request&) { return test_support::answer_json("{}"); }};
    relayed x;
};

// The only one of this kind: 2 is a request of a caller, 3 an attempt at an agent.
json only(const std::vector<json>& spans, int kind)
{
    std::optional<json> found;
    for (const auto& each : spans) {
        if (each["kind"] == kind) {
            CHECK_FALSE(found.has_value());
            found = each;
        }
    }
    REQUIRE(found.has_value());
    return *found;
}

std::string attribute(const json& of, std::string_view key)
{
    for (const auto& each : of["attributes"]) {
        if (each["key"] == key) {
            const auto& value = each["value"];
            return value.contains("stringValue") ? value["stringValue"].get<std::string>()
                                                 : value["intValue"].get<std::string>();
        }
    }
    return "(absent)";
}

// The access line of the `index`th request.
json line_of(const flow::running_gateway& gateway, std::size_t index)
{
    std::size_t seen = 0;
    const auto line = gateway.log().wait_for([&](std::string_view text) {
        const bool is_it = text.find(R"("event":"request")") != text.npos;
        return is_it && seen++ == index;
    });
    REQUIRE(line.has_value());
    return parsed(*line);
}

}  // namespace

TEST_CASE("Without an endpoint the caller's trace passes unchanged, whatever it says")
{
    relayed x{test_support::answer_json("{}")};
    http_client caller{x.port()};
    for (const auto& value : {recorded, unrecorded, std::string{"nonsense"}}) {
        caller.send(call_text(call_body(), {{"traceparent", value}, {"tracestate", "a=1"}, {"tracestate", "b=2"}}));
        CHECK(caller.read_response().status == 200);
        const auto got = x.agent.requests().back();
        CHECK(got.count("traceparent") == 1);
        CHECK(got.header("traceparent") == value);
        CHECK(got.count("tracestate") == 2);
    }
    caller.send(call_text(call_body()));
    CHECK(caller.read_response().status == 200);
    CHECK(x.agent.requests().back().count("traceparent") == 0);
    CHECK_FALSE(x.gateway.metric(R"(cardea_trace_spans_total{outcome="exported"})").has_value());
}

TEST_CASE("Each access line has a trace and a span, those of the caller if the gateway joins no trace")
{
    relayed x{test_support::answer_json("{}")};
    CHECK(
        test_support::request(
            x.port(),
            "POST",
            "/agents/a",
            {{"Content-Type", "application/json"}, {"traceparent", recorded}},
            call_body()
        )
            .status == 200
    );
    CHECK(test_support::request(x.port(), "GET", "/nowhere", {{"traceparent", "nonsense"}}).status == 404);
    http_client garbage{x.port()};
    garbage.send("NO REQUEST\r\n\r\n");
    CHECK(garbage.read_until_closed().starts_with("HTTP/1.1 400 "));
    const auto first = line_of(x.gateway, 0);
    CHECK(first["trace_id"] == trace);
    CHECK(first["span_id"] == span);
    for (const std::size_t i : {1U, 2U}) {
        const auto other = line_of(x.gateway, i);
        CHECK(other["trace_id"].get<std::string>().size() == 32);
        CHECK(other["trace_id"] != trace);
        CHECK(other["span_id"].get<std::string>().size() == 16);
    }
    CHECK(line_of(x.gateway, 1)["trace_id"] != line_of(x.gateway, 2)["trace_id"]);
}

TEST_CASE(
    "With an endpoint the gateway joins: the agent is told of its span, and the collector of caller, gateway and agent"
)
{
    traced t;
    CHECK(t.call({{"traceparent", recorded}, {"tracestate", "a=1"}}).status == 200);
    const auto got = t.last();
    CHECK(got.count("traceparent") == 1);
    const auto agents = read(got.header("traceparent"));
    CHECK(agents.trace == trace);
    CHECK(agents.span != span);
    CHECK(agents.flags == "01");
    CHECK(got.header("tracestate") == "a=1");
    const auto line = line_of(t.x.gateway, 0);

    const auto spans = t.spans();
    REQUIRE(spans.size() == 2);
    const auto request = only(spans, 2);
    const auto attempt = only(spans, 3);
    CHECK(request["traceId"] == trace);
    CHECK(request["parentSpanId"] == span);
    CHECK(request["spanId"] == line["span_id"]);
    CHECK(request["name"] == "POST /agents/{id}");
    CHECK(attribute(request, "url.path") == "/agents/a");
    CHECK(attribute(request, "server.address") == "127.0.0.1");
    CHECK(attribute(request, "http.response.status_code") == "200");
    CHECK(attribute(request, "rpc.method") == "message/send");
    CHECK(attribute(request, "cardea.agent") == "a");
    CHECK(attempt["traceId"] == trace);
    CHECK(attempt["spanId"] == agents.span);
    CHECK(attempt["parentSpanId"] == request["spanId"]);
    CHECK(attribute(attempt, "server.port") == std::to_string(t.x.agent.port()));
    CHECK(attribute(attempt, "http.response.status_code") == "200");
    const auto time = [](const json& of, std::string_view key) {
        return std::stoull(of[std::string{key}].get<std::string>());
    };
    CHECK(time(request, "startTimeUnixNano") <= time(attempt, "startTimeUnixNano"));
    CHECK(time(attempt, "startTimeUnixNano") <= time(attempt, "endTimeUnixNano"));
    CHECK(time(attempt, "endTimeUnixNano") <= time(request, "endTimeUnixNano"));
}

TEST_CASE("a trace that is not valid begins again without its state, and one that is missing is made")
{
    traced t;
    for (const auto& fields : std::vector<field_list>{
             {{"traceparent", "00-" + trace + "-0000000000000000-01"}, {"tracestate", "a=1"}},
             {{"traceparent", recorded}, {"traceparent", recorded}, {"tracestate", "a=1"}},
             {{"tracestate", "a=1"}},
             {},
         }) {
        CHECK(t.call(fields).status == 200);
        const auto got = t.last();
        CHECK(got.count("traceparent") == 1);
        CHECK(read(got.header("traceparent")).trace != trace);
        CHECK(got.count("tracestate") == 0);
    }
    const auto spans = t.spans();
    CHECK(spans.size() == 8);
    for (const auto& each : spans) {
        CHECK(each.contains("parentSpanId") == (each["kind"] == 3));
    }
}

TEST_CASE("a caller's decision not to record its trace holds, and the agent is told of it")
{
    traced t;
    CHECK(t.call({{"traceparent", unrecorded}}).status == 200);
    const auto agents = read(t.last().header("traceparent"));
    CHECK(agents.trace == trace);
    CHECK(agents.span != span);
    CHECK(agents.flags == "00");
    CHECK(t.spans().empty());
}

TEST_CASE("a caller's decision to record its trace holds, however few of the gateway's own are recorded")
{
    traced t{{}, 0};
    CHECK(t.call({}).status == 200);
    CHECK(read(t.last().header("traceparent")).flags == "00");
    CHECK(t.call({{"traceparent", recorded}}).status == 200);
    CHECK(t.spans().size() == 2);
}

TEST_CASE("no credential, query and body is in a span")
{
    traced t;
    const field_list fields{
        {"Authorization", "Bearer planted-1"},
        {"Cookie", "c=planted-2"},
        {"X-Api-Key", "planted-3"}
    };
    CHECK(t.call(fields, "message/send", "/agents/a?key=planted-4").status == 200);
    CHECK(test_support::request(t.x.port(), "POST", "/rpc?planted-5", fields, R"({"planted":"planted-6"})").status > 0);
    CHECK_FALSE(t.spans().empty());
    for (const auto& each : t.collector.requests()) {
        CHECK(each.body.find("planted") == std::string::npos);
    }
}

TEST_CASE("an agent that fails is told as an error of its attempt and of the request")
{
    traced t;
    t.x.agent.next(test_support::close_unanswered());
    CHECK(t.call({}).status == 502);
    const auto spans = t.spans();
    REQUIRE(spans.size() == 2);
    for (const auto& each : spans) {
        CHECK(each["status"]["code"] == 2);
        CHECK(attribute(each, "error.type") == "upstream_reset");
    }
    CHECK(attribute(only(spans, 3), "http.response.status_code") == "(absent)");
}

TEST_CASE("an agent that ends in the middle of its answer fails its attempt, which had a status")
{
    traced t;
    t.x.agent.next(test_support::half_body());
    http_client caller{t.x.port()};
    caller.send(call_text(call_body()));
    caller.read_until_closed();
    const auto attempt = only(t.spans(), 3);
    CHECK(attribute(attempt, "http.response.status_code") == "200");
    CHECK(attribute(attempt, "error.type") == "upstream_reset");
}

TEST_CASE("a call that is sent again has two attempts, each with a span of its own")
{
    traced t;
    t.x.agent.otherwise(test_support::closing_on_reuse(test_support::answer_json("{}")));
    CHECK(t.call({{"traceparent", unrecorded}}, "tasks/get").status == 200);
    CHECK(t.call({{"traceparent", recorded}}, "tasks/get").status == 200);
    const auto spans = t.spans();
    REQUIRE(spans.size() == 3);
    CHECK(attribute(spans[0], "http.request.resend_count") == "(absent)");
    CHECK(attribute(spans[0], "error.type") == "upstream_reset");
    CHECK(attribute(spans[1], "http.request.resend_count") == "1");
    CHECK(attribute(spans[1], "http.response.status_code") == "200");
    CHECK(spans[0]["spanId"] != spans[1]["spanId"]);
    CHECK(spans[0]["parentSpanId"] == spans[1]["parentSpanId"]);
    CHECK(attribute(spans[2], "http.response.status_code") == "200");
}

TEST_CASE("what the gateway answers itself is a request without an attempt")
{
    traced t;
    CHECK(t.call({}, "message/send", "/agents/nobody").status == 404);
    http_client garbage{t.x.port()};
    garbage.send("NO REQUEST\r\n\r\n");
    garbage.read_until_closed();
    const auto spans = t.spans();
    REQUIRE(spans.size() == 2);
    CHECK(attribute(spans[0], "error.type") == "agent_not_found");
    CHECK_FALSE(spans[0].contains("status"));
    CHECK(spans[1]["name"] == "HTTP");
    CHECK(attribute(spans[1], "http.response.status_code") == "400");
}

TEST_CASE("a message to an MCP server is traced as a call is")
{
    traced t{flow::mcp_calls::make_mcp};
    t.x.agent.otherwise(flow::mcp_calls::as_server);
    const field_list fields{
        {"Content-Type", "application/json"},
        {"Accept", "application/json, text/event-stream"},
        {"traceparent", recorded}
    };
    const auto began =
        test_support::request(t.x.port(), "POST", "/agents/a/mcp", fields, flow::mcp_calls::initialize_body);
    CHECK(began.status == 200);
    const auto agents = read(t.last().header("traceparent"));
    CHECK(agents.trace == trace);
    CHECK(agents.span != span);
    const auto spans = t.spans();
    const auto request = only(spans, 2);
    CHECK(request["name"] == "initialize");
    CHECK(attribute(request, "http.route") == "/agents/{id}/mcp");
    CHECK(attribute(request, "mcp.method.name") == "initialize");
    CHECK(attribute(request, "rpc.method") == "initialize");
    CHECK(only(spans, 3)["spanId"] == agents.span);
}

TEST_CASE("a program gets the trace of each request in _meta, where nothing is written without an endpoint")
{
    const scripted_agent collector{[](const recorded_request&) { return test_support::answer_json("{}"); }};
    const field_list caller{{"traceparent", recorded}, {"tracestate", "k=v"}};
    const std::string meta = R"("_meta":{)";
    for (const bool joins : {true, false}) {
        CAPTURE(joins);
        const flow::mcp_programs::program_gateway x{[&](config::settings& settings) {
            settings.trace = {joins ? collector.url() : std::string{}, 1};
        }};
        const auto session = x.begin(caller);
        REQUIRE(x.post(flow::mcp_programs::call_of("t"), session).status == 200);
        const auto got = x.got("tools/call");
        CHECK(got.find(flow::mcp_programs::initialize_body) != std::string::npos);  // as the client sent it
        const auto at = got.find(meta + R"("traceparent":")");
        CHECK((at != std::string::npos) == joins);
        if (joins) {
            const auto agents = read(got.substr(at + meta.size() + 15, 55));
            CHECK(agents.trace == trace);
            CHECK(agents.span != span);
            CHECK(got.find(R"(","tracestate":"k=v","progressToken":7}})") != std::string::npos);
        } else {
            CHECK(got.find(flow::mcp_programs::call_of("t")) != std::string::npos);
        }
    }
}

TEST_CASE("a collector that fails costs no call, is in the log once, and the metrics say what was lost")
{
    traced t;
    t.collector.otherwise([](const recorded_request&) { return test_support::answer(400, "no"); });
    for (int i = 0; i < 300; ++i) {  // attempts count too: more than a batch, which goes out at once
        REQUIRE(t.call({}).status == 200);
    }
    CHECK(flow::becomes_true([&] {
        return t.x.gateway.metric(R"(cardea_trace_spans_total{outcome="refused"})").value_or(0) >= 512;
    }));
    CHECK(t.x.gateway.metric(R"(cardea_trace_spans_total{outcome="exported"})") == 0);
    std::size_t lines = 0;
    for (const auto& each : t.x.gateway.log().all()) {
        lines += each.find("trace_export_failed") != std::string::npos ? 1 : 0;
    }
    CHECK(lines == 1);
    CHECK(t.x.gateway.log()
              .wait_for([](std::string_view line) {
                  return line.find(R"("event":"trace_export_failed","reason":"status 400")") != line.npos;
              })
              .has_value());
}

TEST_CASE("a collector that does not answer keeps the gateway from its end for two seconds and no longer")
{
    traced t;
    t.collector.otherwise([](const recorded_request&) { return test_support::silence(); });
    CHECK(t.call({}).status == 200);
    const auto begun = std::chrono::steady_clock::now();
    t.x.gateway.stop();
    CHECK(t.x.gateway.wait_until_stopped());
    CHECK(t.collector.request_count() == 1);
    CHECK(std::chrono::steady_clock::now() - begun < 5s);
}

TEST_CASE("A caller that is turned away has no say in what is recorded")
{
    traced with{
        [](config::settings& settings) {
            settings.access.providers = {
                {"team",
                 core::static_token_provider{
                     core::secret{"token-of-the-team"},
                     core::principal{
                         .id = "team",
                         .provider = "team",
                         .tenant = {},
                         .scopes = {},
                         .groups = {},
                         .claims = {}
                     }
                 }}
            };
            settings.agents[0].discover = core::access_policy{.anyone = false, .any_of = {core::access_rule{}}};
            settings.agents[0].call = settings.agents[0].discover;
        },
        /*sample=*/0
    };
    const field_list good{{"Authorization", "Bearer token-of-the-team"}, {"traceparent", recorded}};
    CHECK(with.call({{"traceparent", recorded}}).status == 401);
    CHECK(with.call({{"traceparent", recorded}, {"Authorization", "Bearer another"}}).status == 401);
    CHECK(with.call(good, "message/send", "/agents/nobody").status == 404);
    CHECK(with.call({{"traceparent", recorded}, {"Host", "other.example"}}).status == 421);
    CHECK(with.call(good).status == 200);
    const auto spans = with.spans();
    std::vector<std::string> statuses;
    for (const auto& each : spans) {
        if (each["kind"] == 2) {
            statuses.push_back(attribute(each, "http.response.status_code"));
        }
    }
    // That an agent does not exist is no refusal.
    CHECK(statuses == std::vector<std::string>{"404", "200"});
}

TEST_SUITE_END();
