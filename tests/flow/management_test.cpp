#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

TEST_SUITE_BEGIN("flow/management");

namespace {

using core::json;
using flow::a2a_agent;
using flow::error_of;
using flow::managing;
using flow::parsed;
using flow::post_json;
using flow::quick_settings;
using flow::running_gateway;
using test_support::answer_json;
using test_support::request;
using test_support::scripted_agent;

constexpr const char* json_type = "application/json";

// The answer to one JSON-RPC body, the same from both listeners.
test_support::http_response ask(const running_gateway& gateway, std::string_view body)
{
    auto from_traffic = post_json(gateway.port(), "/rpc", body);
    const auto from_admin = post_json(gateway.admin_port(), "/rpc", body);
    CHECK(from_traffic.status == from_admin.status);
    CHECK(from_traffic.body == from_admin.body);
    CHECK(from_traffic.header("Content-Type") == from_admin.header("Content-Type"));
    return from_traffic;
}

}  // namespace

TEST_CASE("On the traffic listener a caller without a credential sees no address, no command and no reason of an agent")
{
    const scripted_agent agent{[](const auto&) { return answer_json(R"({"name":"A"})"); }};
    auto settings = quick_settings();
    settings.agents = {
        flow::a2a_agent("a", agent.url("/hidden-path")),
        flow::a2a_agent("down", "http://127.0.0.1:1/hidden-path")
    };
    settings.agents[0].metadata = R"({"note":"hidden-note"})";
    core::agent program;
    program.id = "tools";
    program.speaks = core::protocol::mcp;
    program.mcp.emplace();
    program.mcp->transport = core::mcp_transport::stdio;
    program.mcp->command = "/nowhere/hidden-program";
    program.mcp->arguments = {"hidden-argument"};
    program.mcp->start = core::mcp_start::lazy;
    settings.agents.push_back(program);
    const running_gateway gateway{std::move(settings)};
    CHECK(flow::get_card(gateway, "a").status == 200);
    CHECK(flow::get_card(gateway, "down").status == 502);
    for (const auto* method : {"agents/list", "agents/health", "agents/get", "agents/refreshCard"}) {
        for (const std::string params :
             {R"({"id":"a"})", R"({"id":"down"})", R"({"id":"tools"})", R"({"id":"a","dryRun":true})", "{}"}) {
            CAPTURE(method);
            CAPTURE(params);
            const auto shown = post_json(gateway.port(), "/rpc", managing(method, params)).body;
            for (const auto* hidden :
                 {"hidden-", "127.0.0.1:1", "nowhere", "found_at", "\"url\"", "detail", "metadata", "command"}) {
                CAPTURE(hidden);
                const bool own = std::string_view{method} == "agents/get" && std::string_view{hidden} == "\"url\"";
                // The card has the address of the gateway.
                CHECK((own || shown.find(hidden) == std::string::npos));
            }
            CHECK(shown.find(std::to_string(agent.port())) == std::string::npos);
        }
    }
    const auto listed = parsed(post_json(gateway.port(), "/rpc", managing("agents/list", "{}")).body)["result"];
    CHECK(listed["agents"][0] == json{{"id", "a"}, {"protocol", "a2a"}, {"card_status", {{"state", "fresh"}}}});
    const auto refused =
        parsed(post_json(gateway.port(), "/rpc", managing("agents/refreshCard", R"({"id":"a"})")).body);
    CHECK(refused["error"]["data"]["code"] == "forbidden");
    CHECK(flow::manage(gateway, "agents/get", {{"id", "a"}})["url"] == agent.url("/hidden-path"));
}

TEST_CASE("JSON-RPC is answered to the letter")
{
    auto settings = quick_settings();
    settings.limits.rpc_batch = 3;
    const running_gateway gateway{std::move(settings)};
    const std::string parse_error =
        R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"The body is not valid JSON.","data":{"code":"parse_error"}}})";
    const std::string invalid =
        R"({"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"The body is not a JSON-RPC 2.0 request.","data":{"code":"invalid_request"}}})";
    const auto list = [](const std::string& id) {
        return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"agents/list"})";
    };
    const auto listed = [](const std::string& id) {
        return R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"agents":[]}})";
    };
    const auto no_method = [](const std::string& id) {
        return R"({"jsonrpc":"2.0","id":)" + id +
               R"(,"error":{"code":-32601,"message":"There is no such method.","data":{"code":"method_not_found"}}})";
    };
    struct row {
        std::string body;
        std::string expected;
    };
    for (const auto& each : std::vector<row>{
             {"", parse_error},
             {"{", parse_error},
             {R"({"jsonrpc":"2.0","id":1,"method":"agents/list")", parse_error},
             {"[1,", parse_error},
             {"[]", invalid},
             {"1", invalid},
             {"null", invalid},
             {R"("agents/list")", invalid},
             {"{}", invalid},
             {R"({"id":null,"method":"agents/list"})", invalid},
             {R"({"jsonrpc":"1.0","id":null,"method":"agents/list"})", invalid},
             {R"({"jsonrpc":"2.0","id":{},"method":"agents/list"})", invalid},
             {R"({"jsonrpc":"2.0","id":null,"method":1})", invalid},
             {list("1"), listed("1")},
             {list("\"1\""), listed("\"1\"")},
             {list("1.0"), listed("1.0")},
             {list("-0.5e3"), listed("-0.5e3")},
             {list("12345678901234567890123"), listed("12345678901234567890123")},
             {list(R"("\u00e4\/")"), listed(R"("\u00e4\/")")},
             {list("null"), listed("null")},
             {R"({"jsonrpc":"2.0","id":2,"method":"nope"})", no_method("2")},
             {R"({"jsonrpc":"2.0","id":2,"method":"agents/list ","params":[]})", no_method("2")},
             {"[1]", "[" + invalid + "]"},
             {"[1,2]", "[" + invalid + "," + invalid + "]"},
             {"[" + list("1") + "]", "[" + listed("1") + "]"},
             {"[" + list("\"b\"") +
                  R"(,{"jsonrpc":"2.0","method":"agents/list"},{"jsonrpc":"2.0","id":3,"method":"x"}])",
              "[" + listed("\"b\"") + "," + no_method("3") + "]"},
             {"[" + list("1") + "," + list("2") + "," + list("3") + "]",
              "[" + listed("1") + "," + listed("2") + "," + listed("3") + "]"},
             {"[" + list("1") + "," + list("2") + "," + list("3") + "," + list("4") + "]", invalid},
         }) {
        CAPTURE(each.body);
        const auto answer = ask(gateway, each.body);
        CHECK(answer.status == 200);
        CHECK(answer.header("Content-Type") == json_type);
        CHECK(answer.header("Cache-Control") == "no-store");
        CHECK(answer.body == each.expected);
    }
}

TEST_CASE("notifications are carried out and not answered")
{
    scripted_agent agent{[](const auto&) { return answer_json(R"({"name":"A"})"); }};
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("a", agent.url()));
    const running_gateway gateway{std::move(settings)};
    const std::string refresh = R"({"jsonrpc":"2.0","method":"agents/refreshCard","params":{"id":"a"}})";
    for (const auto& body : {refresh, "[" + refresh + "]", "[" + refresh + "," + refresh + "]"}) {
        const auto answer = post_json(gateway.admin_port(), "/rpc", body);
        CHECK(answer.status == 204);
        CHECK(answer.body.empty());
        CHECK(answer.count("Content-Type") == 0);
        CHECK(answer.count("Content-Length") == 0);
    }
    CHECK(agent.request_count() == 4);
    CHECK(post_json(gateway.admin_port(), "/rpc", R"({"jsonrpc":"2.0","method":"nope"})").status == 204);
    CHECK(post_json(gateway.port(), "/rpc", R"({"jsonrpc":"2.0","method":"agents/get","params":{}})").status == 204);
}

TEST_CASE("after a 204 the connection goes on")
{
    const running_gateway gateway{quick_settings()};
    test_support::http_client caller{gateway.port()};
    const test_support::field_list type{{"Content-Type", json_type}};
    caller.send(test_support::request_text("POST", "/rpc", type, R"({"jsonrpc":"2.0","method":"agents/list"})"));
    CHECK(caller.read_response().status == 204);
    caller.send(test_support::request_text("POST", "/rpc", type, managing("agents/list", "{}")));
    CHECK(caller.read_response().status == 200);
}

TEST_CASE("an agent is found by id, agentId, name or position, under both spellings of a method")
{
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("a", "http://127.0.0.1:1"));
    settings.agents.push_back(a2a_agent("b", "http://127.0.0.1:1"));
    const running_gateway gateway{std::move(settings)};
    const auto on_both = [&](const std::string& body) {
        return std::vector{
            parsed(post_json(gateway.port(), "/rpc", body).body),
            parsed(post_json(gateway.admin_port(), "/rpc", body).body)
        };
    };
    for (const auto* method : {"agents/get", "agents.get"}) {
        for (const auto* params :
             {R"({"id":"b"})",
              R"({"agentId":"b"})",
              R"({"name":"b"})",
              R"(["b"])",
              R"({"id":"b","name":"a"})",
              R"({"id":1,"name":"b"})"}) {
            CAPTURE(params);
            for (const auto& answer : on_both(managing(method, params))) {
                CHECK(answer["result"]["id"] == "b");
            }
        }
    }
    for (const auto* method : {"agents/list", "agents.list"}) {
        for (const auto* params : {"{}", "[]", R"({"more":1})"}) {
            for (const auto& answer : on_both(managing(method, params))) {
                REQUIRE(answer["result"]["agents"].size() == 2);
                CHECK(answer["result"]["agents"][0]["id"] == "a");
                CHECK(answer["result"]["agents"][1]["id"] == "b");
            }
        }
    }
}

TEST_CASE("a request that names no agent, or one that is not there, is told so with a stable code")
{
    const running_gateway gateway{quick_settings()};
    for (const auto* method : {"agents/get", "agents/refreshCard", "agents.refreshCard"}) {
        for (const auto* params : {"{}", "[]", R"({"id":""})", R"({"id":null})", R"(["a","b"])", "[1]"}) {
            CAPTURE(params);
            const auto error = error_of(gateway, method, params);
            CHECK(error["code"] == -32602);
            CHECK(error["data"]["code"] == "invalid_params");
        }
        const auto error = error_of(gateway, method, R"({"id":"ghost"})");
        CHECK(error["code"] == -31404);
        CHECK(error["data"] == parsed(R"({"code":"agent_not_found","agent":"ghost"})"));
    }
}

TEST_CASE("get shows the record, the card that callers see, and how the card stands")
{
    scripted_agent agent;
    agent.otherwise([&](const auto&) { return answer_json(R"({"name":"A","url":")" + agent.url() + R"("})"); });
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("a", agent.url("/rpc")));
    settings.agents.back().metadata = R"({"team":"x"})";
    const running_gateway gateway{std::move(settings)};

    const auto before = flow::manage(gateway, "agents/get", {{"id", "a"}});
    CHECK(before["card"] == nullptr);
    CHECK(before["card_status"]["state"] == "unknown");
    CHECK(agent.request_count() == 0);

    const auto served = flow::get_card(gateway, "a");
    const auto after = flow::manage(gateway, "agents/get", {{"id", "a"}});
    CHECK(after["url"] == agent.url("/rpc"));
    CHECK(after["protocol"] == "a2a");
    CHECK(after["metadata"] == json{{"team", "x"}});
    CHECK(after["card"] == parsed(served.body));
    CHECK(after["card_status"]["state"] == "fresh");
    CHECK(after["card_status"]["etag"] == served.header("ETag"));
    CHECK(after["card_status"]["size"] == served.body.size());
    CHECK(after["card_status"]["changes"] == 1);
    CHECK(after["card_status"]["found_at"] == agent.url("/rpc/.well-known/agent-card.json"));
    CHECK(after["card_status"]["problems"].size() > 0);
    CHECK_FALSE(after["card_status"].contains("failure"));
}

TEST_CASE("no secret of an agent is seen anywhere")
{
    scripted_agent agent{[](const auto&) { return answer_json(R"({"name":"A"})"); }};
    auto settings = quick_settings();
    settings.log_level = core::log_level::debug;
    settings.agents.push_back(a2a_agent("a", agent.url()));
    settings.agents.back().bearer = core::secret{"hunter-bearer"};
    settings.agents.back().card_headers.emplace_back("X-Key", core::secret{"hunter-header"});
    settings.agents.push_back(settings.agents.back());
    settings.agents.back().id = "dead";
    settings.agents.back().url = "http://127.0.0.1:" + std::to_string(test_support::unused_port());
    const running_gateway gateway{std::move(settings)};
    // The admin listener tells more.
    const auto on_both = [&gateway](const std::string& body) {
        return post_json(gateway.port(), "/rpc", body).body + post_json(gateway.admin_port(), "/rpc", body).body;
    };
    std::string seen;
    for (const auto* id : {"a", "dead"}) {
        const auto params = json{{"id", id}}.dump();
        seen += flow::get_card(gateway, id).body;
        seen += on_both(managing("agents/refreshCard", params));
        seen += on_both(managing("agents/get", params));
        seen += post_json(gateway.port(), "/agents/" + std::string(id), managing("message/send", "{}")).body;
    }
    seen += on_both(managing("agents/list", "{}"));
    seen += request(gateway.admin_port(), "GET", "/metrics").body;
    REQUIRE(gateway.log().wait_for([](auto line) { return line.find("card_fetch_failed") != std::string_view::npos; }));
    for (const auto& line : gateway.log().all()) {
        seen += line;
    }
    REQUIRE(agent.request(0).header("Authorization") == "Bearer hunter-bearer");
    CHECK(seen.find("hunter") == std::string::npos);
    const auto record = flow::manage(gateway, "agents/get", {{"id", "a"}});
    CHECK(record["bearer"] == "********");
    CHECK(record["card_headers"] == json{{"X-Key", "********"}});
}

TEST_CASE("the management takes POST of JSON only")
{
    const running_gateway gateway{quick_settings()};
    for (const auto port : {gateway.port(), gateway.admin_port()}) {
        for (const auto* method : {"GET", "HEAD", "PUT", "DELETE", "OPTIONS"}) {
            CAPTURE(method);
            const auto answer = request(port, method, "/rpc");
            CHECK(answer.status == 405);
            CHECK(answer.header("Allow") == "POST");
            CHECK(answer.header("Cardea-Error") == "method_not_allowed");
        }
        for (const auto* type :
             {"text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1"}) {
            CAPTURE(type);
            const auto answer = request(port, "POST", "/rpc", {{"Content-Type", type}}, managing("agents/list", "{}"));
            flow::check_refusal(answer, 415, "unsupported_media_type", "");
        }
    }
}

TEST_CASE("a management body of limits.body is read, one byte more is refused")
{
    auto settings = quick_settings();
    settings.limits.body = 512;
    const running_gateway gateway{std::move(settings)};
    for (const auto port : {gateway.port(), gateway.admin_port()}) {
        for (const std::size_t size : {std::size_t{511}, std::size_t{512}, std::size_t{513}}) {
            CAPTURE(size);
            auto body = managing("agents/list", "{}");
            body += std::string(size - body.size(), ' ');
            const auto answer = post_json(port, "/rpc", body);
            if (size <= 512) {
                CHECK(answer.status == 200);
            } else {
                flow::check_refusal(answer, 413, "body_too_large", "");
            }
        }
    }
}

TEST_CASE("lists over many agents, in a batch too, let others have their turn")
{
    constexpr int many = 5'000;
    const test_support::scripted_agent agent{[](const auto&) { return test_support::answer_json(R"({"name":"n"})"); }};
    auto settings = flow::quick_settings();
    settings.cards.background = 0;
    for (int i = 0; i < many; ++i) {
        settings.agents.push_back(flow::a2a_agent("a" + std::to_string(i), agent.url("/rpc")));
        settings.agents.back().metadata = R"({"searched":")" + std::string(1024, 'm') + R"("})";
    }
    const flow::running_gateway gateway{std::move(settings)};
    const std::vector<std::pair<std::string, std::vector<const char*>>> lists{
        {"agents/list", {"a7", "a77", "a777"}},
        {"agents/health", {"a8", "a88", "a888"}},
    };
    for (const auto& [method, ids] : lists) {
        CAPTURE(method);
        std::string batch = "[";
        for (int i = 0; i < 50; ++i) {
            batch += std::string{i == 0 ? "" : ","} + R"({"jsonrpc":"2.0","id":1,"method":")" + method +
                     R"(","params":{"text":"what nobody has"}})";
        }
        batch += "]";
        std::atomic<bool> listed = false;
        std::jthread listing{[&] {
            // Who sees everything has metadata searched too, which takes a while.
            const auto answer = flow::post_json(gateway.admin_port(), "/rpc", batch);
            listed = answer.status == 200 && answer.body.find(R"("agents":[])") != std::string::npos;
        }};
        for (const auto* id : ids) {
            CHECK(flow::get_card(gateway, id).status == 200);
        }
        CHECK_FALSE(listed);
        listing.join();
        CHECK(listed);
    }
}

TEST_SUITE_END();
