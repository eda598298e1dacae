// Calls whose callers and agents speak different dialects of A2A, over real sockets: each pair of the four dialects.
#include "tests/flow/bridge_fixture.hpp"
#include "tests/flow/gateway_answers.hpp"

#include <algorithm>
#include <string>
#include <utility>

TEST_SUITE_BEGIN("flow/bridge");

namespace {

using enum core::a2a_dialect;
using flow::asked;
using flow::bridged;
using flow::plain_json;
using flow::wire_request;
using test_support::field_list;

}  // namespace

TEST_CASE("a call of any dialect reaches an agent of any dialect, and its answer comes in the caller's")
{
    for (const auto agent : flow::dialects) {
        const bridged with{agent};
        for (const auto caller : flow::dialects) {
            for (const auto what : {asked::send, asked::get, asked::cancel}) {
                CAPTURE(core::name(caller));
                CAPTURE(core::name(agent));
                CAPTURE(flow::method_name(caller, what));
                const auto got = with.ask(caller, what);
                CHECK(got.status == 200);
                CHECK(got.header("Content-Type") == "application/json");
                CHECK(plain_json::parse(got.body) == plain_json::parse(flow::answer_in(caller, what)));
                const auto seen = with.last();
                const auto wanted = flow::request_in(agent, what);
                CHECK(seen.method == wanted.verb);
                CHECK(seen.target == "/base" + wanted.path);
                if (what == asked::send) {
                    const auto sent = plain_json::parse(seen.body);
                    const auto& params = flow::is_rest(agent) ? sent : sent.at("params");
                    CHECK(params.at("message") == plain_json::parse(flow::message_in(agent)));
                }
                if (agent != caller) {
                    CHECK(seen.header("A2A-Version") == (flow::is_1(agent) ? "1.0" : ""));
                }
            }
        }
        const auto lines = flow::access_lines(with.x.gateway, 12);
        REQUIRE(lines.size() == 12);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            CAPTURE(lines[i]);
            CHECK((lines[i].find(R"("translated":true)") != std::string::npos) == (flow::dialects[i / 3] != agent));
            CHECK(lines[i].find(R"("route":"call")") != std::string::npos);
        }
    }
}

TEST_CASE("HTTP+JSON of both generations is at the root of an agent's own name, with and without /rest")
{
    for (const auto agent : {v03_jsonrpc, v1_rest}) {
        const bridged with{agent, [](config::settings& s) { s.agents[0].hosts = {"a.test"}; }};
        for (const auto caller : {v03_rest, v1_rest}) {
            for (const auto what : {asked::send, asked::get}) {
                for (const std::string front : {"", "/rest"}) {
                    CAPTURE(core::name(caller));
                    CAPTURE(flow::method_name(caller, what));
                    const auto wire = flow::request_in(caller, what);
                    const test_support::field_list fields{{"Host", "a.test"}, {"Content-Type", "application/json"}};
                    const auto got =
                        test_support::request(with.x.port(), wire.verb, front + wire.path, fields, wire.body);
                    CHECK(got.status == 200);
                    CHECK(plain_json::parse(got.body) == plain_json::parse(flow::answer_in(caller, what)));
                    CHECK(with.last().target == "/base" + flow::request_in(agent, what).path);
                }
            }
        }
        const test_support::field_list named{{"Host", "a.test"}};
        const auto wrong = test_support::request(with.x.port(), "PUT", "/v1/tasks/t", named);
        CHECK(wrong.status == 405);
        CHECK(wrong.header("Allow") == "GET");
        CHECK(test_support::request(with.x.port(), "GET", "/nothing/of/a2a", named).status == 404);
    }
}

TEST_CASE("a call between equal dialects passes byte for byte, also over HTTP+JSON")
{
    const std::string answer = "{ \"task\" :\t{\"id\":\"t\", \"x\":1.50e+1}}\r\n";
    const bridged with{
        v1_rest,
        {},
        [&](const auto&) {
            return test_support::answer(200, answer, {{"Content-Type", "application/a2a+json"}, {"ETag", "\"e\""}});
        }
    };
    const wire_request odd{"POST", "/acme/message:send?x=%20y", "{ \"message\":{} , \"unknown\":1.0}"};
    const auto got = with.ask(v1_rest, odd, {{"A2A-Version", "1.0"}, {"A2A-Extensions", "https://x.example/e"}});
    CHECK(got.status == 200);
    CHECK(got.body == answer);
    CHECK(got.header("Content-Type") == "application/a2a+json");
    CHECK(got.header("ETag") == "\"e\"");
    const auto seen = with.last();
    CHECK(seen.target == "/base/acme/message:send?x=%20y");
    CHECK(seen.body == odd.body);
    CHECK(seen.header("A2A-Version") == "1.0");
    CHECK(seen.header("A2A-Extensions") == "https://x.example/e");
}

TEST_CASE("an agent of 1.0 always gets its version, whatever the caller has said of it")
{
    for (const auto dialect : {v1_jsonrpc, v1_rest}) {
        const bridged with{dialect};
        for (const auto what : {asked::send, asked::stream, asked::get, asked::cancel, asked::subscribe}) {
            for (const auto& said :
                 {field_list{}, field_list{{"A2A-Version", "1.0"}}, field_list{{"a2a-version", "1.0.1"}}}) {
                CAPTURE(core::name(dialect));
                CAPTURE(flow::method_name(dialect, what));
                CHECK(with.ask(dialect, flow::request_in(dialect, what), said).status == 200);
                CHECK(with.last().count("A2A-Version") == 1);
                CHECK(with.last().header("A2A-Version") == "1.0");
            }
        }
    }
    const auto passes = [](config::settings& s) { s.agents[0].bridge = false; };
    const bridged plain{v1_jsonrpc, passes};
    const auto send = flow::request_in(v1_jsonrpc, asked::send);
    plain.ask(v1_jsonrpc, send);
    CHECK(plain.last().header("A2A-Version") == "1.0");
    plain.ask(v1_jsonrpc, send, {{"A2A-Version", "2.0"}});
    CHECK(plain.last().header("A2A-Version") == "2.0");
    const bridged old{v03_jsonrpc};
    old.ask(v03_jsonrpc, asked::send);
    CHECK(old.last().count("A2A-Version") == 0);
}

TEST_CASE("an error of the agent's has its code and its message in every dialect")
{
    for (const auto agent : flow::dialects) {
        const bridged with{agent, {}, [agent](const auto& seen) {
                               return test_support::answer(
                                   flow::is_rest(agent) ? 404 : 200,
                                   flow::error_in(agent, flow::id_of(seen)),
                                   {{"Content-Type", "application/json"}}
                               );
                           }};
        for (const auto caller : flow::dialects) {
            for (const auto what : {asked::get, asked::stream}) {
                CAPTURE(core::name(caller));
                CAPTURE(core::name(agent));
                const auto got = with.ask(caller, what);
                CHECK(got.status == (flow::is_rest(caller) ? 404 : 200));
                CHECK(got.header("Content-Type") == "application/json");
                CHECK(flow::said_error(caller, got.body) == flow::told_not_found(caller));
                CHECK((flow::is_rest(caller) || plain_json::parse(got.body).at("id") == "q-1"));
            }
        }
    }
}

TEST_CASE("an error status without a body of A2A is an error of A2A for the caller")
{
    bridged with{v03_jsonrpc, {}, [](const auto&) { return test_support::html(503); }};
    const auto rpc = with.ask(v1_jsonrpc, asked::send);
    CHECK(rpc.status == 200);
    CHECK(flow::said_error(v1_jsonrpc, rpc.body).starts_with("-31503 "));
    const auto rest = with.ask(v1_rest, asked::send);
    CHECK(rest.status == 503);
    CHECK(plain_json::parse(rest.body).at("error").at("code") == 503);
    CHECK(with.ask(v03_jsonrpc, asked::send).status == 503);
}

TEST_CASE("an agent that breaks off within a unary answer is upstream_reset, in the caller's words")
{
    bridged with{v03_jsonrpc, {}, [](const auto&) { return test_support::half_body(); }};
    CHECK(with.ask(v1_jsonrpc, asked::send).header("Cardea-Error") == "upstream_reset");
    const auto rest = with.ask(v1_rest, asked::send);
    CHECK(rest.status == 502);
    CHECK(
        plain_json::parse(rest.body) ==
        plain_json::parse(R"({"error":{"code":502,"status":"INTERNAL",)"
                          R"("message":"The agent closed the connection before its answer was complete.",)"
                          R"("details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"upstream_reset",)"
                          R"("domain":"cardea","metadata":{"agent":"a"}}]}})")
    );
    const auto old = with.ask(v03_rest, asked::send);
    CHECK(old.status == 502);
    CHECK(plain_json::parse(old.body).at("data").at("code") == "upstream_reset");
}

TEST_CASE("what is no answer of A2A, or none that the caller's dialect has, is -32006")
{
    for (const std::string body : {"", "[]", "not JSON", R"({"jsonrpc":"2.0","id":1,"result":{"kind":"poem"}})"}) {
        CAPTURE(body);
        const bridged with{v03_jsonrpc, {}, [&](const auto&) { return test_support::answer_json(body); }};
        const auto rpc = with.ask(v1_jsonrpc, asked::send);
        CHECK(rpc.status == 200);
        CHECK(flow::said_error(v1_jsonrpc, rpc.body).starts_with("-32006 "));
        CHECK(rpc.header("Cardea-Error") == "answer_untranslatable");
        const auto rest = with.ask(v1_rest, asked::send);
        CHECK(rest.status >= 500);
        CHECK(flow::said_error(v1_rest, rest.body).find("INVALID_AGENT_RESPONSE") != std::string::npos);
        const auto lines = flow::access_lines(with.x.gateway, 2);
        REQUIRE(lines.size() == 2);
        CHECK(lines[0].find(R"("code":"answer_untranslatable","from":"upstream")") != std::string::npos);
    }
}

TEST_CASE("of several interfaces a caller gets its own dialect, else its generation, else a translation")
{
    const auto both = [](config::settings& s) { s.agents[0].dialects = {v03_jsonrpc, v1_rest}; };
    const bridged with{v03_jsonrpc, both, [](const auto& seen) {
                           const bool rpc = seen.target == "/base";
                           return flow::speaking(rpc ? v03_jsonrpc : v1_rest)(seen);
                       }};
    for (const auto& [caller, target] :
         {std::pair{v03_jsonrpc, "/base"},
          {v03_rest, "/base"},
          {v1_rest, "/base/message:send"},
          {v1_jsonrpc, "/base/message:send"}}) {
        CAPTURE(core::name(caller));
        const auto got = with.ask(caller, asked::send);
        CHECK(plain_json::parse(got.body) == plain_json::parse(flow::answer_in(caller, asked::send)));
        CHECK(with.last().target == target);
    }
}

TEST_CASE("without bridge calls of JSON-RPC pass as they are, and HTTP+JSON is only there if the agent has it")
{
    const auto alone = [](config::settings& s) { s.agents[0].bridge = false; };
    const bridged rpc{v03_jsonrpc, alone, [](const auto&) { return test_support::answer_json("{}"); }};
    CHECK(rpc.ask(v1_jsonrpc, flow::request_in(v1_jsonrpc, asked::send), {{"A2A-Version", "7"}}).body == "{}");
    CHECK(rpc.last().body == flow::request_in(v1_jsonrpc, asked::send).body);
    CHECK(rpc.ask(v03_rest, asked::send).status == 404);
    const bridged rest{v1_rest, alone};
    CHECK(rest.ask(v1_rest, asked::send).status == 200);
    CHECK(rest.ask(v03_rest, asked::send).status == 404);
}

TEST_CASE("an agent of which nothing is known speaks JSON-RPC of its callers' generation")
{
    const auto unknown = [](config::settings& s) { s.agents[0].dialects.clear(); };
    const bridged with{v1_jsonrpc, unknown};
    const auto got = with.ask(v1_rest, asked::send);
    CHECK(plain_json::parse(got.body) == plain_json::parse(flow::answer_in(v1_rest, asked::send)));
    CHECK(with.last().target == "/base");
    CHECK(with.ask(v03_jsonrpc, asked::send).status == 404);
    CHECK(with.last().body == flow::request_in(v03_jsonrpc, asked::send).body);
}

TEST_CASE("the card of an agent says what it speaks and at which paths, from the first call on")
{
    const auto by_card = [](config::settings& s) {
        s.agents[0].dialects.clear();
        s.agents[0].trust = core::card_trust::same_origin;
    };
    const auto handler = [](const test_support::recorded_request& seen) {
        if (seen.target.find("/.well-known/") != std::string::npos) {
            const auto base = "http://" + seen.header("Host");
            return test_support::answer_json(
                R"({"name":"A","description":"d","version":"1","capabilities":{"streaming":true},"defaultInputModes":["text"],)"
                R"("defaultOutputModes":["text"],"skills":[],"supportedInterfaces":[)"
                R"({"url":")" +
                base + R"(/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"},{"url":")" + base +
                R"(/api/","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}]})"
            );
        }
        auto at_base = seen;
        const auto end = std::min(seen.target.find('/', 1), seen.target.size());
        at_base.target = "/base" + seen.target.substr(end);
        return flow::speaking(seen.target == "/rpc" ? v1_jsonrpc : v1_rest)(at_base);
    };
    for (const auto& [caller, target] :
         {std::pair{v1_rest, "/api/message:send"},
          {v1_jsonrpc, "/rpc"},
          {v03_jsonrpc, "/rpc"},
          {v03_rest, "/api/message:send"}}) {
        CAPTURE(core::name(caller));
        const bridged with{v1_jsonrpc, by_card, handler};
        const auto got = with.ask(caller, asked::send);
        CHECK(plain_json::parse(got.body) == plain_json::parse(flow::answer_in(caller, asked::send)));
        CHECK(with.last().target == target);
    }
}

TEST_SUITE_END();
