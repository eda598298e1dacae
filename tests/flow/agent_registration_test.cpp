// Agents that register themselves at the admin listener.
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("flow/agent_registration");

namespace {

using core::json;
using flow::a2a_agent;
using flow::check_refusal;
using flow::parsed;
using flow::post_json;
using flow::quick_settings;
using flow::running_gateway;
using test_support::answer_json;
using test_support::request;
using test_support::scripted_agent;

constexpr const char* path = "/agent/register";

json sent(const std::string& url, const std::string& version = "1.0.0")
{
    return {
        {"agent_url", url},
        {"name", "My agent"},
        {"version", version},
        {"agent_card_url", url + ".well-known/agent-card.json"},
        {"description", "Does what it says."}
    };
}

test_support::http_response enroll(const running_gateway& gateway, const json& body)
{
    return post_json(gateway.admin_port(), path, body.dump());
}

json managed(const running_gateway& gateway, std::string_view method, const json& params)
{
    const auto answer = post_json(gateway.admin_port(), "/rpc", flow::managing(method, params.dump()));
    auto body = parsed(answer.body);
    CAPTURE(body.dump());
    REQUIRE(body.contains("result"));
    return body["result"];
}

std::size_t changes_of(const running_gateway& gateway)
{
    return managed(gateway, "agents/changes", json::object())["changes"].size();
}

}  // namespace

TEST_CASE("an agent that registers is there, durably, with a line in the audit trail")
{
    scripted_agent agent{[](const auto&) { return answer_json(R"({"name":"Mine"})"); }};
    const test_support::scratch_directory scratch;
    auto settings = quick_settings();
    settings.store = "sqlite:" + scratch.file("s.db");
    {
        const running_gateway gateway{settings};
        const auto got = enroll(gateway, sent(agent.url("/")));
        CHECK(got.status == 200);
        CHECK(got.header("Content-Type") == "application/json");
        CHECK(got.header("Cache-Control") == "no-store");
        const auto said = parsed(got.body);
        CHECK(said["status"] == "accepted");
        CHECK(said["id"] == "My-agent");
        CHECK(said["version"] == 1);
        CHECK(said["changed"] == true);
        CHECK(said["durable"] == true);
        CHECK(flow::get_card(gateway, "My-agent").status == 200);
        const auto record = managed(gateway, "agents/get", {{"id", "My-agent"}});
        CHECK(record["url"] == agent.url("/"));
        CHECK(record["version"] == "1.0.0");
        CHECK(record["metadata"] == json{{"name", "My agent"}, {"description", "Does what it says."}});
        const auto trail = managed(gateway, "agents/changes", json::object())["changes"];
        REQUIRE(trail.size() == 1);
        CHECK(trail[0]["by"] == "agent/register 127.0.0.1");
        CHECK(trail[0]["action"] == "created");
        CHECK(gateway.log().wait_for([](auto line) {
            return line.find(R"("event":"agent_changed","agent":"My-agent","action":"created")") !=
                   std::string_view::npos;
        }));
    }
    const running_gateway again{settings};
    CHECK(flow::get_card(again, "My-agent").status == 200);
}

TEST_CASE("to register again changes nothing, a new version or address does, and what an operator added stays")
{
    scripted_agent agent;
    const running_gateway gateway{quick_settings()};
    CHECK(parsed(enroll(gateway, sent(agent.url("/"))).body)["version"] == 1);
    for (int i = 0; i < 3; ++i) {
        const auto got = enroll(gateway, sent(agent.url("/")));
        CHECK(got.status == 200);
        CHECK(parsed(got.body)["changed"] == false);
        CHECK(parsed(got.body)["version"] == 1);
    }
    CHECK(changes_of(gateway) == 1);
    const json with_bearer{
        {"id", "My-agent"},
        {"agent", {{"url", agent.url("/")}, {"bearer", "s3cret"}, {"relay_paths", {"/v1/*"}}}}
    };
    CHECK(managed(gateway, "agents/upsert", with_bearer)["version"] == 2);
    CHECK(parsed(enroll(gateway, sent(agent.url("/"), "1.1.0")).body)["version"] == 3);
    auto record = managed(gateway, "agents/get", {{"id", "My-agent"}});
    CHECK(record["version"] == "1.1.0");
    CHECK(record.contains("bearer"));
    CHECK(parsed(enroll(gateway, sent("http://127.0.0.1:1/")).body)["version"] == 4);
    record = managed(gateway, "agents/get", {{"id", "My-agent"}});
    CHECK(record["url"] == "http://127.0.0.1:1/");
    CHECK_FALSE(record.contains("bearer"));
}

TEST_CASE("an agent of the configuration cannot be registered over")
{
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("My-agent", "http://127.0.0.1:1/"));
    const running_gateway gateway{std::move(settings)};
    check_refusal(enroll(gateway, sent("http://127.0.0.1:2/")), 403, "agent_read_only", "My-agent");
    CHECK(changes_of(gateway) == 0);
}

TEST_CASE("a registration that cannot be used is refused like any other write")
{
    auto settings = quick_settings();
    settings.limits.body = 1000;
    const running_gateway gateway{std::move(settings)};
    const auto port = gateway.admin_port();
    auto wrong = sent("ftp://h/");
    wrong["version"] = 7;
    auto got = enroll(gateway, wrong);
    CHECK(got.status == 400);
    CHECK(got.header("Cardea-Error") == "invalid_params");
    CHECK(
        parsed(got.body)["error"]["problems"] == parsed(R"([{"path":"version","what":"is no text; expected text"}])")
    );
    got = enroll(gateway, sent("ftp://h/"));
    CHECK(got.status == 400);
    const auto problems = parsed(got.body)["error"]["problems"];
    REQUIRE(problems.size() == 2);
    CHECK(problems[0]["path"] == "agent_url");
    CHECK(problems[1]["path"] == "agent_card_url");
    check_refusal(post_json(port, path, "{"), 400, "parse_error", "");
    check_refusal(post_json(port, path, std::string(1001, ' ')), 413, "body_too_large", "");
    const auto body = sent("http://h/").dump();
    check_refusal(
        request(port, "POST", path, {{"Content-Type", "text/plain"}}, body),
        415,
        "unsupported_media_type",
        ""
    );
    check_refusal(request(port, "POST", path, {{"Origin", "http://e"}}, body), 403, "origin_forbidden", "");
    check_refusal(
        request(port, "POST", path, {{"Host", "evil.example"}, {"Content-Type", "application/json"}}, body),
        421,
        "misdirected_request",
        ""
    );
    got = request(port, "GET", path);
    check_refusal(got, 405, "method_not_allowed", "");
    CHECK(got.header("Allow") == "POST");
    check_refusal(post_json(gateway.port(), path, body), 404, "not_found", "");
    CHECK(changes_of(gateway) == 0);
}

TEST_SUITE_END();
