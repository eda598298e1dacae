// Tool search of a bundle: clients of both eras find the tools of two programs, and call them by call_tool.
#include "tests/flow/mcp_bundle_fixture.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("flow/bundle_search");

using namespace flow;
using namespace flow::mcp_bundles;

namespace {

using names = std::vector<std::string>;

bundle_gateway with_search(const program_gateway::adjustment& adjust = {})
{
    return bundle_gateway{[adjust](config::settings& settings) {
        auto& bundle = settings.mcp.bundles[0];
        bundle.search = true;
        bundle.always = {"*__secret"};
        bundle.tools.deny = {"bee__sec*"};
        if (adjust) {
            adjust(settings);
        }
    }};
}

json result_of(const bundle_gateway& x, const std::string& tool, json arguments, const field_list& fields = {})
{
    return x.modern("tools/call", {{"name", tool}, {"arguments", std::move(arguments)}}, fields)["result"];
}

std::string legacy_call(std::string_view tool, std::string_view arguments, std::string_view id)
{
    return R"({"jsonrpc":"2.0","id":)" + std::string{id} + R"(,"method":"tools/call","params":{"name":")" +
           std::string{tool} + R"(","arguments":)" + std::string{arguments} + R"(,"_meta":{"progressToken":7}}})";
}

names found(const json& result)
{
    names list;
    for (const auto& tool : result["structuredContent"]["tools"]) {
        list.push_back(tool["name"].get<std::string>());
    }
    return list;
}

std::string searches(std::string_view outcome)
{
    return R"(cardea_bundle_searches_total{bundle="default",outcome=")" + std::string{outcome} + "\"}";
}

}  // namespace

TEST_CASE("A bundle with search lists the three tools, and those that fit `always`, in either era")
{
    auto x = with_search();
    const names all{"find_tools", "describe_tools", "call_tool", "a__secret"};
    const auto listed = x.modern("tools/list", json::object());
    CHECK(names_in(listed) == all);
    const auto description = listed["result"]["tools"][0]["description"].get<std::string>();
    CHECK(description.find("\n- a: 2 tools\n- bee: 1 tool") != std::string::npos);
    CHECK(names_in(x.post(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})", x.begin())) == all);
}

TEST_CASE("find_tools and describe_tools answer in either era")
{
    auto x = with_search();
    const auto result = result_of(x, "find_tools", {{"query", "one"}});
    CHECK(result["resultType"] == "complete");
    CHECK(found(result) == names{"a__one", "bee__one"});
    CHECK(result["structuredContent"]["tools"][0].contains("inputSchema"));
    CHECK(json::parse(result["content"][0]["text"].get<std::string>()) == result["structuredContent"]);
    CHECK(found(result_of(x, "find_tools", {{"query", "one"}, {"agent", "bee"}})) == names{"bee__one"});
    CHECK(found(result_of(x, "find_tools", {{"query", "secret"}})) == names{"a__secret"});

    const auto session = x.begin();
    const auto legacy = x.post(legacy_call("find_tools", R"({"query":"one","limit":1})", "1"), session)["result"];
    CHECK_FALSE(legacy.contains("resultType"));
    CHECK(found(legacy) == names{"a__one"});
    const auto told = x.post(legacy_call("describe_tools", R"({"names":["bee__one"]})", "2"), session)["result"];
    CHECK(found(told) == names{"bee__one"});
    CHECK(x.metric(searches("found")) == 5);
}

TEST_CASE("Nothing found names the members")
{
    auto x = with_search();
    const auto result = result_of(x, "find_tools", {{"query", "quokka"}});
    CHECK(found(result).empty());
    CHECK(result["structuredContent"]["agents"].size() == 2);
    CHECK(result["structuredContent"]["agents"][1] == json{{"name", "bee"}, {"tools", 1}});
    CHECK(x.metric(searches("nothing")) == 1);
}

TEST_CASE("call_tool is a call of the tool")
{
    auto x = with_search();
    const json inner{{"name", "bee__one"}, {"arguments", {{"n", 1.5}}}};
    CHECK(result_of(x, "call_tool", inner).contains("content"));
    const auto got = read_whole(x.other().file("got"));
    CHECK(got.find(R"("name":"one")") != std::string::npos);
    CHECK(got.find(R"("arguments":{"n":1.5})") != std::string::npos);
    CHECK(got.find("call_tool") == std::string::npos);
    CHECK(got.find("bee__one") == std::string::npos);
    CHECK(result_of(x, "bee__one", json::object()).contains("content"));  // not listed, but callable
}

TEST_CASE("Progress, questions and cancellation of call_tool are those of the tool")
{
    auto x = with_search([](config::settings& settings) {
        std::string server{shell_server};
        const auto end = server.find(R"({"name":"secret")");
        server.insert(
            end,
            R"({"name":"talk","inputSchema":{}},{"name":"ask","inputSchema":{}},{"name":"hang","inputSchema":{}},)"
        );
        for (auto& each : settings.agents) {
            each.mcp->arguments = {"-c", server};
        }
    });
    const auto session = x.begin();
    const auto talked = x.send("POST", session, legacy_call("call_tool", R"({"name":"a__talk"})", "4"));
    CHECK(talked.body.find(R"("progressToken":7)") != std::string::npos);
    CHECK(talked.body.find(R"({"jsonrpc":"2.0","id":4,"result":{"content":[]}})") != std::string::npos);

    http_client asking{x.programs().port()};
    asking.send(bundle_gateway::text("POST", session, legacy_call("call_tool", R"({"name":"bee__ask"})", "5")));
    const auto head = asking.read_until("roots/list");
    const auto from = head.find(R"("id":)", head.rfind("data: ")) + 5;
    const auto id = head.substr(from, head.find_first_of(",}", from) - from);
    CHECK(x.send("POST", session, R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"roots":[]}})").status == 202);
    CHECK(asking.read_until("asked").find(R"("id":5)") != std::string::npos);

    http_client hanging{x.programs().port()};
    hanging.send(bundle_gateway::text("POST", session, legacy_call("call_tool", R"({"name":"bee__hang"})", "6")));
    const auto has_got = [&x](std::string_view text) {
        return program_gateway::becomes_true([&] {
            return read_whole(x.other().file("got")).find(text) != std::string::npos;
        });
    };
    CHECK(has_got("hang"));
    const std::string cancel = R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6}})";
    CHECK(x.send("POST", session, cancel).status == 202);
    CHECK(has_got("notifications/cancelled"));
}

TEST_CASE("An unknown name is an error with the nearest names, and so is one that the bundle hides")
{
    auto x = with_search();
    const auto unknown = result_of(x, "call_tool", {{"name", "oen"}});
    CHECK(unknown["isError"] == true);
    CHECK(
        unknown["content"][0]["text"] == "There is no tool 'oen'. The nearest names are a__one, a__secret, bee__one."
    );
    const auto misspelt = result_of(x, "call_tool", {{"name", "bee__oen"}});
    CHECK(misspelt["isError"] == true);
    CHECK(
        misspelt["content"][0]["text"].get<std::string>().find("The nearest names are bee__one,") != std::string::npos
    );
    for (const auto* const name : {"bee__secret", "find_tools", "call_tool", "secret"}) {
        CAPTURE(name);
        const auto refused = result_of(x, "call_tool", {{"name", name}});
        const bool is_known = std::string_view{name} == "secret";  // of one member, so it needs no prefix
        CHECK(refused.contains("isError") == !is_known);
    }
    CHECK(result_of(x, "describe_tools", {{"names", {"bee__secret"}}})["isError"] == true);
    CHECK(x.modern("tools/call", {{"name", "oen"}, {"arguments", json::object()}})["error"]["code"] == -32602);
    CHECK(read_whole(x.other().file("got")).find("secret\"") == std::string::npos);
    CHECK(x.metric(searches("unknown_name")) == 6);
}

TEST_CASE("Arguments beyond the limits are errors that the model reads")
{
    auto x = with_search();
    for (const auto& [arguments, why] : std::vector<std::pair<json, std::string>>{
             {{{"query", std::string(513, 'q')}}, "query: expected a text of at most 512 bytes"},
             {{{"query", "a"}, {"limit", 51}}, "limit: expected a number from 1 to 50"},
             {{{"query", "a"}, {"agent", "b"}}, "agent: expected one of a, bee"},
             {json::object(), "query: expected a text of at most 512 bytes"}
         }) {
        const auto refused = result_of(x, "find_tools", arguments);
        CHECK(refused["isError"] == true);
        CHECK(refused["content"][0]["text"] == why);
    }
    CHECK(result_of(x, "call_tool", {{"name", "a__one"}, {"arguments", 7}})["isError"] == true);
    CHECK(x.metric(searches("refused")) == 5);
}

TEST_CASE("A caller finds the tools of the members that it may call")
{
    auto x = with_search([](config::settings& settings) {
        for (const auto* const id : {"ann", "bob"}) {
            const std::string name{id};
            settings.access.providers.push_back(
                {name,
                 core::static_token_provider{
                     core::secret{name + "-token"},
                     {.id = name, .provider = name, .tenant = {}, .scopes = {}, .groups = {}, .claims = {}}
                 }}
            );
        }
        core::access_rule ann;
        ann.principals = {"ann"};
        core::access_rule either;
        either.principals = {"ann", "bob"};
        settings.agents[0].discover = settings.agents[0].call = core::access_policy{.anyone = false, .any_of = {ann}};
        settings.agents[1].discover = settings.agents[1].call =
            core::access_policy{.anyone = false, .any_of = {either}};
    });
    const auto as = [](const std::string& id) { return field_list{{"Authorization", "Bearer " + id + "-token"}}; };
    CHECK(found(result_of(x, "find_tools", {{"query", "one"}}, as("ann"))) == names{"a__one", "bee__one"});
    CHECK(found(result_of(x, "find_tools", {{"query", "one"}, {"limit", 1}}, as("bob"))) == names{"bee__one"});
    CHECK(names_in(x.modern("tools/list", json::object(), as("bob"))).size() == 3);
    const auto listed = x.modern("tools/list", json::object(), as("bob")).dump();
    CHECK(listed.find("a__") == std::string::npos);
    CHECK(listed.find("- a:") == std::string::npos);
    const auto refused = result_of(x, "call_tool", {{"name", "a__one"}}, as("bob"));
    CHECK(refused["content"][0]["text"] == "There is no tool 'a__one'. The nearest names are bee__one.");
    CHECK(result_of(x, "find_tools", {{"query", "a"}, {"agent", "a"}}, as("bob"))["isError"] == true);
    CHECK(read_whole(x.programs().folder().file("got")).find("tools/call") == std::string::npos);
}

TEST_CASE("A bundle without search has none of the three")
{
    const bundle_gateway x;
    CHECK(names_in(x.modern("tools/list", json::object())).size() == 4);
    for (const auto* const tool : {"find_tools", "describe_tools", "call_tool"}) {
        CHECK(x.modern("tools/call", {{"name", tool}, {"arguments", json::object()}})["error"]["code"] == -32602);
    }
}

TEST_CASE("A tool that appears is found after the list has changed")
{
    auto x = with_search([](config::settings& settings) { settings.mcp.walk = std::chrono::milliseconds{50}; });
    CHECK(found(result_of(x, "find_tools", {{"query", "of"}})).empty());
    write_whole(x.other().file("differ"), "x");
    CHECK(program_gateway::becomes_true([&] {
        const auto list = found(result_of(x, "find_tools", {{"query", "secret"}, {"agent", "bee"}}));
        return list.empty() && found(result_of(x, "find_tools", {{"query", "one"}})) == names{"a__one"};
    }));
}

TEST_CASE("The list has changed when the three tools or those of `always` have, and not before")
{
    auto x = with_search([](config::settings& settings) {
        settings.mcp.walk = std::chrono::milliseconds{50};
        auto whole = bundle_of({{"a"}, {"b", "bee"}});
        whole.name = "whole";
        settings.mcp.bundles.push_back(std::move(whole));
    });
    CHECK(found(result_of(x, "find_tools", {{"query", "one"}})) == names{"a__one", "bee__one"});
    const auto session = x.begin();
    const auto listener = [&x](field_list fields, std::string_view path) {
        fields.emplace_back("Connection", "close");
        http_client opened{x.programs().port()};
        opened.send(bundle_gateway::text("GET", fields, {}, path));
        CHECK(opened.read_until("\r\n\r\n").find(" 200 ") != std::string::npos);
        return opened;
    };
    auto listening = listener(session, "/mcp");
    auto beside = listener(x.begin({}, "/mcp/whole"), "/mcp/whole");
    write_whole(x.other().file("differ"), "x");  // one tool becomes another one
    CHECK(beside.read_until("tools/list_changed").find("\"id\"") == std::string::npos);
    CHECK(x.send("DELETE", session).status == 200);
    CHECK(listening.read_until("\r\n0\r\n\r\n").find("list_changed") == std::string::npos);

    auto again = listener(x.begin(), "/mcp");
    write_whole(x.programs().folder().file("differ"), "x");  // two tools become one
    CHECK(again.read_until("tools/list_changed").find("\"id\"") == std::string::npos);
    CHECK(names_in(x.modern("tools/list", json::object())) == names{"find_tools", "describe_tools", "call_tool"});
}

TEST_SUITE_END();
