// Bundles: several MCP servers, which are programs, as one behind /mcp, for clients of both eras.
#include "jose/digest.hpp"
#include "tests/flow/mcp_bundle_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("flow/mcp_bundle");

using namespace flow;
using namespace flow::mcp_bundles;
using namespace std::chrono_literals;

namespace {

using names = std::vector<std::string>;

const json one{{"name", "bee__one"}, {"arguments", json::object()}};

}  // namespace

TEST_CASE("The tools of all members are one list in either era")
{
    const bundle_gateway x;
    const names all{"a__one", "a__secret", "bee__one", "bee__secret"};
    const auto listed = x.modern("tools/list", json::object());
    CHECK(names_in(listed) == all);
    CHECK(listed["result"]["ttlMs"] == 0);
    CHECK(listed["result"]["cacheScope"] == "private");
    const auto session = x.begin();
    CHECK(names_in(x.post(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})", session)) == all);
    CHECK(x.modern("server/discover", json::object())["result"]["capabilities"].contains("tools"));
}

TEST_CASE("A request of the modern era goes to its member under the member's own name")
{
    const bundle_gateway x;
    CHECK(x.modern("tools/call", one)["result"].contains("content"));
    const auto got = read_whole(x.other().file("got"));
    CHECK(got.find(R"("name":"one")") != std::string::npos);
    CHECK(got.find("bee__one") == std::string::npos);
    CHECK(read_whole(x.programs().folder().file("got")).find("tools/call") == std::string::npos);
}

TEST_CASE("A name without a prefix is refused with the full forms if several members have it")
{
    const bundle_gateway x;
    const auto refused = x.modern("tools/call", {{"name", "one"}, {"arguments", json::object()}});
    CHECK(refused["error"]["code"] == -32602);
    const auto said = refused["error"]["message"].get<std::string>();
    CHECK(said.find("a__one") != std::string::npos);
    CHECK(said.find("bee__one") != std::string::npos);
    CHECK(x.modern("tools/call", {{"name", "nope"}, {"arguments", json::object()}})["error"]["code"] == -32602);
}

TEST_CASE("A tool that its server lists to some clients only is called by the prefix")
{
    const bundle_gateway x;
    CHECK(
        x.modern("tools/call", {{"name", "bee__unlisted"}, {"arguments", json::object()}})["result"].contains("content")
    );
}

TEST_CASE("A client's session has a session with each member that it calls, and ends them all")
{
    const bundle_gateway x;
    CHECK(names_in(x.modern("tools/list", json::object())).size() == 4);
    const auto control = x.programs().programs().size();
    const auto session = x.begin();
    CHECK(x.programs().programs().size() == control);  // nobody has been called
    CHECK(x.post(call_of("a__one", "1"), session)["result"].contains("content"));
    CHECK(x.post(call_of("bee__one", "2"), session)["result"].contains("content"));
    CHECK(x.post(call_of("a__one", "3"), session)["result"].contains("content"));
    CHECK(x.programs().programs().size() == control + 1);
    const auto program = x.programs().programs().back();
    CHECK(x.programs().running(program));
    CHECK(x.send("DELETE", session).status == 200);
    check_error(x.send("POST", session, call_of("a__one")), 404, -32001, "session_not_found");
    CHECK(program_gateway::becomes_true([&] { return !x.programs().running(program); }));
}

TEST_CASE("What is called while its member starts waits for that")
{
    const bundle_gateway x{[](config::settings& settings) { settings.mcp.bundles[0].list_wait = 20s; }};
    CHECK(x.modern("tools/call", {{"name", "nope"}, {"arguments", json::object()}})["error"]["code"] == -32602);
    CHECK(names_in(x.modern("tools/list", json::object())).size() == 4);
}

TEST_CASE("A session of another bundle or agent is 404")
{
    const bundle_gateway x{[](config::settings& settings) {
        settings.mcp.bundles.push_back(bundle_of({{"a"}}));
        settings.mcp.bundles.back().name = "other";
    }};
    const auto session = x.begin();
    check_error(x.send("POST", session, call_of("a__one"), "/mcp/other"), 404, -32001, "session_not_found");
    check_error(x.send("POST", session, call_of("one"), "/agents/a/mcp"), 404, -32001, "session_not_found");
    check_error(x.send("POST", x.programs().begin(), call_of("a__one")), 404, -32001, "session_not_found");
    CHECK(x.send("POST", {}, initialize_body, "/mcp/none").status == 404);
}

TEST_CASE("Two members ask a question with one id, and each gets its own answer")
{
    const bundle_gateway x;
    const auto session = x.begin();
    http_client to_a{x.programs().port()};
    http_client to_b{x.programs().port()};
    to_a.send(bundle_gateway::text("POST", session, call_of("a__ask", "5")));
    to_b.send(bundle_gateway::text("POST", session, call_of("bee__ask", "6")));
    std::set<std::string> ids;
    for (auto* const caller : {&to_a, &to_b}) {
        const auto head = caller->read_until("roots/list");
        const auto from = head.find(R"("id":)", head.rfind("data: ")) + 5;
        ids.insert(head.substr(from, head.find_first_of(",}", from) - from));
    }
    REQUIRE(ids.size() == 2);
    for (const auto& id : ids) {
        const auto answer = R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"roots":[]}})";
        CHECK(x.send("POST", session, answer).status == 202);
    }
    CHECK(to_a.read_until("asked").find(R"("id":5)") != std::string::npos);
    CHECK(to_b.read_until("asked").find(R"("id":6)") != std::string::npos);
    for (const auto* const folder : {&x.programs().folder(), &x.other()}) {
        const auto got = read_whole(folder->file("got"));
        CHECK(got.find(R"("id":77,"result":{"roots":[]})") != std::string::npos);
    }
}

TEST_CASE("A member that crashes fails its call with 200, and the session goes on with another program")
{
    const bundle_gateway x;
    const auto session = x.begin();
    const auto failed = x.post(call_of("a__crash", "1"), session);
    CHECK(failed["error"]["data"]["agent"] == "a");
    CHECK(x.post(call_of("bee__one", "2"), session)["result"].contains("content"));
    // The first message after it may still meet the session that is over.
    CHECK(program_gateway::becomes_true([&] {
        return json::parse(x.send("POST", session, call_of("a__one", "3")).body).contains("result");
    }));
}

TEST_CASE("A cancellation reaches the member that has the call")
{
    const bundle_gateway x;
    const auto session = x.begin();
    http_client caller{x.programs().port()};
    caller.send(bundle_gateway::text("POST", session, call_of("bee__hang", R"("x")")));
    CHECK(program_gateway::becomes_true([&] {
        return read_whole(x.other().file("got")).find("hang") != std::string::npos;
    }));
    const std::string cancel =
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x","reason":"r"}})";
    CHECK(x.send("POST", session, cancel).status == 202);
    CHECK(program_gateway::becomes_true([&] {
        return read_whole(x.other().file("got")).find("notifications/cancelled") != std::string::npos;
    }));
    CHECK(read_whole(x.programs().folder().file("got")).find("cancelled") == std::string::npos);
}

TEST_CASE("The stream of a session tells once that what the client gets has changed")
{
    const bundle_gateway x{[](config::settings& settings) { settings.mcp.walk = 50ms; }};
    CHECK(x.modern("tools/list", json::object()).contains("result"));
    const auto session = x.begin();
    http_client listener{x.programs().port()};
    listener.send(bundle_gateway::text("GET", session, {}));
    CHECK(listener.read_until("\r\n\r\n").find("200") != std::string::npos);
    write_whole(x.programs().folder().file("differ"), "x");
    CHECK(listener.read_until("tools/list_changed").find("data:") != std::string::npos);
}

TEST_CASE("More than 64 calls of one session at a time are refused")
{
    const bundle_gateway x{[](config::settings& settings) { settings.defaults.calls.in_flight = 1000; }};
    const auto session = x.begin();
    std::vector<http_client> callers;
    for (int i = 0; i < 64; ++i) {
        callers.emplace_back(x.programs().port());
        callers.back().send(bundle_gateway::text("POST", session, call_of("a__hang", std::to_string(i + 10))));
    }
    CHECK(program_gateway::becomes_true([&] {
        const auto got = read_whole(x.programs().folder().file("got"));
        return std::ranges::count(got, '\n') >= 64;
    }));
    const auto refused = x.post(call_of("bee__one", "99"), session);
    CHECK(refused["error"]["data"]["code"] == "overloaded");
    callers.pop_back();
    CHECK(program_gateway::becomes_true([&] {
        return json::parse(x.send("POST", session, call_of("bee__one", "100")).body).contains("result");
    }));
}

TEST_CASE("A caller gets the members that it may call, and the others are unknown")
{
    const bundle_gateway x{[](config::settings& settings) {
        const auto known = [](const std::string& id) {
            return core::access_provider{
                id,
                core::static_token_provider{
                    core::secret{id + "-token"},
                    {.id = id, .provider = id, .tenant = {}, .scopes = {}, .groups = {}, .claims = {}}
                }
            };
        };
        settings.access.providers = {known("ann"), known("bob"), known("eve")};
        const auto only = [](const std::string& id) {
            core::access_rule rule;
            rule.principals = {id};
            return core::access_policy{.anyone = false, .any_of = {rule}};
        };
        core::access_rule either;
        either.principals = {"ann", "bob"};
        settings.agents[0].discover = settings.agents[0].call = only("ann");
        settings.agents[1].discover = settings.agents[1].call =
            core::access_policy{.anyone = false, .any_of = {either}};
    }};
    const auto as = [](const std::string& id) { return field_list{{"Authorization", "Bearer " + id + "-token"}}; };
    CHECK(names_in(x.modern("tools/list", json::object(), as("bob"))) == names{"bee__one", "bee__secret"});
    CHECK(names_in(x.modern("tools/list", json::object(), as("ann"))).size() == 4);
    CHECK(
        x.modern("tools/call", {{"name", "a__one"}, {"arguments", json::object()}}, as("bob"))["error"]["code"] ==
        -32602
    );
    CHECK(x.modern("tools/call", {{"name", "one"}, {"arguments", json::object()}}, as("bob"))["result"].contains(
        "content"
    ));
    CHECK(x.send_modern("tools/list", json::object(), as("eve")).status == 404);
    const auto anonymous = x.send_modern("tools/list", json::object());
    CHECK(anonymous.status == 401);
    const auto session = x.begin(as("ann"));
    auto stolen = as("bob");
    stolen.push_back(session[1]);
    check_error(x.send("POST", stolen, call_of("bee__one")), 404, -32001, "session_not_found");
    CHECK(x.post(call_of("a__one"), session)["result"].contains("content"));
}

TEST_CASE("A subscription of the modern era tells that what the client gets has changed, and no more")
{
    const bundle_gateway x{[](config::settings& settings) { settings.mcp.walk = 50ms; }};
    CHECK(names_in(x.modern("tools/list", json::object())).size() == 4);
    const auto listen = [&](const json& wanted) {
        http_client listener{x.programs().port()};
        json params{{"notifications", wanted}};
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28";
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json::object();
        const auto body =
            json{{"jsonrpc", "2.0"}, {"id", "s"}, {"method", "subscriptions/listen"}, {"params", params}}.dump();
        listener.send(bundle_gateway::text(
            "POST",
            {{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "subscriptions/listen"}},
            body
        ));
        CHECK(listener.read_until("subscriptions/acknowledged").find("200") != std::string::npos);
        return listener;
    };
    auto tools = listen({{"toolsListChanged", true}});
    auto prompts = listen({{"promptsListChanged", true}});
    write_whole(x.other().file("differ"), "x");
    const auto told = tools.read_until("tools/list_changed");
    CHECK(told.find("data:") != std::string::npos);
    CHECK(tools.read_until("\n\n").find(R"("s")") != std::string::npos);
    CHECK_FALSE(prompts.closed_by_peer(50ms));
}

TEST_CASE("What is no message, or of no session, is refused as at an agent")
{
    const bundle_gateway x;
    CHECK(x.send("GET", {{"Accept", "text/event-stream"}}).status == 405);
    CHECK(x.send("PUT", {}, "{}").status == 405);
    CHECK(x.send("POST", {}, "{").status == 400);
    check_error(x.send("GET", {{"Mcp-Session-Id", "forged"}}), 404, -32001, "session_not_found");
    check_error(x.send("DELETE", {{"Mcp-Session-Id", "forged"}}), 404, -32001, "session_not_found");
}

TEST_CASE("A tool that the bundle denies is not called by another spelling of its name either")
{
    const bundle_gateway x{[](config::settings& settings) {
        settings.mcp.bundles[0].tools.deny = {"bee__rm_file", "bee__secret"};
    }};
    for (const auto* const name : {"bee__rm_file", "bee__rm.file", "bee__secret", "bee__sec\u0072et"}) {
        CAPTURE(name);
        CHECK(x.modern("tools/call", {{"name", name}, {"arguments", json::object()}})["error"]["code"] == -32602);
    }
    CHECK(read_whole(x.other().file("got")).find("tools/call") == std::string::npos);
}

TEST_CASE("A rule for calls of tools is enough for a client of either era, and one for nothing opens no bundle")
{
    const bundle_gateway x{[](config::settings& settings) {
        for (const std::string id : {"ann", "eve"}) {
            settings.access.providers.push_back(
                {id,
                 core::static_token_provider{
                     core::secret{id + "-token"},
                     {.id = id, .provider = id, .tenant = {}, .scopes = {}, .groups = {}, .claims = {}}
                 }}
            );
        }
        const auto may = [](const std::string& id, const std::string& method) {
            core::access_rule rule;
            rule.principals = {id};
            rule.methods = {method};
            return rule;
        };
        for (auto& each : settings.agents) {
            each.discover = core::access_policy{.anyone = false, .any_of = {core::access_rule{}}};
            each.call =
                core::access_policy{.anyone = false, .any_of = {may("ann", "tools/call"), may("eve", "message/send")}};
        }
    }};
    const field_list ann{{"Authorization", "Bearer ann-token"}};
    const auto session = x.begin(ann);
    CHECK(x.post(call_of("a__one"), session)["result"].contains("content"));
    CHECK(x.modern("tools/call", one, ann)["result"].contains("content"));
    CHECK(x.send_modern("tools/list", json::object(), {{"Authorization", "Bearer eve-token"}}).status == 404);
}

TEST_CASE("Notifications of a client are dropped while its members have too many of them")
{
    const bundle_gateway x;
    const auto session = x.begin();
    CHECK(x.post(call_of("a__one"), session)["result"].contains("content"));
    http_client flood{x.programs().port()};
    for (int round = 0; round < 40; ++round) {
        std::string some;
        for (int i = 0; i < 20; ++i) {
            some += bundle_gateway::text("POST", session, R"({"jsonrpc":"2.0","method":"notifications/foo"})");
        }
        flood.send(some);
        for (int i = 0; i < 20; ++i) {
            CHECK(flood.read_response().status == 202);
        }
    }
    CHECK(x.post(call_of("bee__one", "9"), session)["result"].contains("content"));
}

TEST_CASE("Operators read the bundles page by page")
{
    auto x = program_gateway{[](config::settings& settings) {
        for (const auto* const name : {"one", "three", "two"}) {
            settings.mcp.bundles.push_back(bundle_of({{"a"}}));
            settings.mcp.bundles.back().name = name;
        }
    }};
    const auto ask = [&x](const json& params) {
        http_client operator_of{x.gateway().admin_port()};
        const json body{{"jsonrpc", "2.0"}, {"id", 1}, {"method", "bundles/list"}, {"params", params}};
        operator_of.send(request_text("POST", "/rpc", {{"Content-Type", "application/json"}}, body.dump()));
        return json::parse(operator_of.read_response().body);
    };
    const auto names_of = [](const json& answer) {
        names found;
        for (const auto& each : answer["result"]["bundles"]) {
            found.push_back(each["name"].get<std::string>());
            CHECK(each["members"][0]["agent"] == "a");
        }
        return found;
    };
    const auto all = ask(json::object());
    CHECK(names_of(all) == names{"one", "three", "two"});
    CHECK_FALSE(all["result"].contains("next"));
    const auto first = ask({{"limit", 2}});
    CHECK(names_of(first) == names{"one", "three"});
    CHECK(first["result"]["next"] == "three");
    const auto last = ask({{"limit", 2}, {"after", "three"}});
    CHECK(names_of(last) == names{"two"});
    CHECK_FALSE(last["result"].contains("next"));
    CHECK(ask({{"limit", 0}})["error"]["code"] == -32602);
}
