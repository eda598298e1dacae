// Who may ask for explanations, and the rules that they name beside those of a file.
#include "tests/flow/explain_fixture.hpp"
#include "tests/flow/mcp_bundle_fixture.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

TEST_SUITE_BEGIN("flow/explain");

namespace {

using namespace flow;
using core::json;

}  // namespace

TEST_CASE("a principal is explained to readers, a credential to operators alone, and it counts and stands nowhere")
{
    test_support::scripted_agent agent{answer_of_agent};
    auto settings = guarded(agent.url("/rpc"));
    settings.limits.failed_credentials = 3;
    running_gateway gateway{std::move(settings)};
    const auto ask = [&](const field_list& who, const json& params) {
        return parsed(rpc(gateway.port(), who, "access/explain", params.dump()).body);
    };
    const json of_principal{{"agent", "sends"}, {"principal", {{"provider", "keys"}, {"id", "ci"}}}};
    CHECK(ask(mallory, of_principal)["error"]["data"]["code"] == "admin_only");
    CHECK(ask(reader, of_principal)["result"]["allowed"] == true);
    CHECK(ask(reader, {{"agent", "sends"}, {"anonymous", true}})["result"]["status"] == 401);

    json of_credential{{"agent", "sends"}, {"credential", {{"value", "guess-of-somebody"}}}};
    CHECK(ask(reader, of_credential)["error"]["data"]["code"] == "admin_only");
    for (int i = 0; i < 10; ++i) {
        const auto said = ask(operators, of_credential)["result"];
        CHECK(said["status"] == 401);
        CHECK(said["steps"][0]["outcome"] == "deny");
    }
    of_credential["credential"]["value"] = "mallory-token-0123456789";
    CHECK(ask(operators, of_credential)["result"]["status"] == 404);
    // The address is not locked out by the guesses.
    CHECK(call(gateway.port(), "open", mallory).status == 200);
    for (const auto& params :
         {json{{"agent", "sends"}},
          json{{"agent", "sends"}, {"principal", {{"provider", "no such"}, {"id", "x"}}}},
          json{{"agent", "sends"}, {"credential", {{"value", "x"}, {"field", "X-None"}}}}}) {
        const auto refused = ask(operators, params);
        CHECK(refused["error"]["code"] == -32602);
        CHECK_FALSE(refused["error"]["data"]["problems"][0]["path"].empty());
    }
    gateway.stop();
    REQUIRE(gateway.wait_until_stopped());
    for (const auto& line : gateway.log().all()) {
        CHECK(line.find("guess-of-somebody") == std::string::npos);
        CHECK(line.find("mallory-token") == std::string::npos);
    }
}

TEST_CASE("a tool of a bundle that its caller does not get is denied by the member's rule")
{
    mcp_bundles::bundle_gateway x{[](config::settings& settings) {
        settings.access.providers = {
            token("ops", "operator-token-0123456789", {}),
            token("gold", "gold-token-0123456789", {"s"})
        };
        for (auto& each : settings.agents) {
            each.discover = anyone;
            each.call = anyone;
        }
        auto& a = settings.agents[0];
        a.skills = {{.id = "one", .visibility = core::skill_visibility::extended, .required_scopes = {"s"}}};
        settings.agents[1].call = only({.principals = {"gold"}});
    }};
    const auto with_rule = [&](const std::string& rule) {
        return x.programs().gateway().log().wait_for([&](std::string_view line) {
            return line.find("\"rule\":\"" + rule + "\"") != line.npos &&
                   line.find(R"("bundle":"default")") != line.npos;
        });
    };
    const auto gold = bearer("gold-token-0123456789");
    REQUIRE(becomes_true([&] { return x.modern("tools/list", {}, gold)["result"]["tools"].size() == 4; }));
    CHECK(x.modern("tools/call", {{"name", "a__one"}}, gold).contains("result"));
    CHECK(x.modern("tools/call", {{"name", "a__one"}}, operators)["error"]["code"] == -32602);
    CHECK(with_rule("agents.a.skills").has_value());
    CHECK(x.modern("tools/call", {{"name", "bee__one"}}, operators)["error"]["code"] == -32602);
    CHECK(with_rule("agents.b.call").has_value());
}

TEST_CASE("an agent that was added at run time is named with its version in the store, in explanations and lines alike")
{
    test_support::scripted_agent agent{answer_of_agent};
    running_gateway gateway{guarded(agent.url("/rpc"))};
    const json rules{{{"scopes", {"one"}}}, {{"principals", {"ci"}}, {"methods", {"message/send"}}}};
    json definition{
        {"url", agent.url("/rpc")},
        {"card", parsed(std::string{words_card})},
        {"discover", "anyone"},
        {"call", rules}
    };
    const auto explain = [&](const char* method) {
        return explained(
            gateway.admin_port(),
            {{"agent", "added"}, {"method", method}, {"principal", {{"provider", "keys"}, {"id", "ci"}}}}
        )["result"];
    };
    for (int write = 0; write < 2; ++write) {
        definition["version"] = std::to_string(write);
        const auto written = manage(gateway, "agents/upsert", {{"id", "added"}, {"agent", definition}});
        const auto version = " version " + std::to_string(written["version"].get<int>());
        CHECK(explain("message/send")["steps"][3]["rule"] == "store agents.added.call[1]" + version);
        CHECK(explain("message/send")["steps"][2]["rule"] == "store agents.added.discover" + version);
        CHECK(call(gateway.port(), "added", ci).status == 200);
        const auto denied = explain("tasks/get")["steps"][3];
        CHECK(denied["rule"] == "store agents.added.call[0]" + version);
        CHECK(denied["missing"] == "the scope one");
        CHECK(call(gateway.port(), "added", ci, "tasks/get").status == 403);
        const auto text = "\"rule\":\"" + denied["rule"].get<std::string>() + "\"";
        CHECK(gateway.log().wait_for([&](std::string_view line) { return line.find(text) != line.npos; }).has_value());
    }
}

TEST_SUITE_END();
