// Agents that register themselves at the traffic listener, and the addresses that they may have.
#include "tests/flow/access_fixture.hpp"
#include "tests/support/hostile_addresses.hpp"
#include "tests/support/name_table.hpp"
#include "tests/support/scratch.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>

TEST_SUITE_BEGIN("flow/access registration");

namespace {

using namespace flow;
using core::json;

const field_list registrant = bearer("register-token-0123456789");
const field_list scoped = bearer("scoped-token-0123456789");
const field_list second_scoped = bearer("second-scoped-token-0123456789");

config::settings registering(const std::string& url)
{
    auto settings = guarded(url);
    settings.registration.token = core::secret{"register-token-0123456789"};
    settings.access.providers.push_back(token("scoped", "scoped-token-0123456789", {core::scope_register}));
    settings.access.providers.push_back(token("second", "second-scoped-token-0123456789", {core::scope_register}));
    settings.timeouts.connect = std::chrono::milliseconds{500};
    settings.cards.timeout = std::chrono::milliseconds{500};
    return settings;
}

config::settings allowing(config::settings settings)
{
    settings.registration.allow = {"127.0.0.0/8"};
    return settings;
}

http_response enroll(std::uint16_t port, field_list headers, const std::string& url, std::string_view name = "mine")
{
    headers.emplace_back("Content-Type", "application/json");
    const json body{{"agent_url", url}, {"name", name}, {"version", "1"}};
    return request(port, "POST", "/agent/register", headers, core::to_text(body));
}

json record_of(const running_gateway& gateway, const std::string& id)
{
    return manage(gateway, "agents/get", {{"id", id}});
}

// With the port in it where the address has none.
std::string with_port(std::string url, std::uint16_t port)
{
    const auto end = url.rfind("/x");
    const auto host = url.find("://");
    const bool plain = host != std::string::npos && end == url.size() - 2 && end > host + 3;
    const bool has_port =
        plain && url.find(':', url.find(']') == std::string::npos ? host + 3 : url.find(']')) != std::string::npos;
    return plain && !has_port ? url.insert(end, ":" + std::to_string(port)) : url;
}

}  // namespace

TEST_CASE("a registration takes the token for it, or the scope, and no other credential")
{
    test_support::scripted_agent agent{answer_of_agent};
    const running_gateway gateway{allowing(registering(agent.url("/rpc")))};
    const auto url = agent.url("/rpc");
    const auto refused = enroll(gateway.port(), nobody, url);
    CHECK(refused.status == 401);
    CHECK(refused.header("WWW-Authenticate").find("realm=\"register\"") != std::string::npos);
    CHECK(enroll(gateway.port(), unknown, url).status == 401);
    CHECK(enroll(gateway.port(), expired, url).status == 401);
    for (const auto& who : {mallory, ci, reader, operators}) {
        CHECK(enroll(gateway.port(), who, url).status == 403);
    }
    CHECK(enroll(gateway.port(), registrant, url, "first").status == 200);
    CHECK(enroll(gateway.port(), scoped, url, "second").status == 200);
    CHECK(record_of(gateway, "first")["registered"] == true);
    const auto changes = manage(gateway, "agents/changes", json::object())["changes"];
    REQUIRE(changes.size() == 2);
    CHECK(changes[0]["by"] == "agent/register register register");
    CHECK(changes[1]["by"] == "agent/register scoped scoped");
    CHECK(request(gateway.port(), "GET", "/agent/register", registrant).status == 405);
}

TEST_CASE("the token for registrations is good for nothing else")
{
    test_support::scripted_agent agent{answer_of_agent};
    const running_gateway gateway{allowing(registering(agent.url("/rpc")))};
    CHECK(request(gateway.port(), "GET", "/agents", registrant).status == 401);
    CHECK(request(gateway.port(), "GET", card_target("seen"), registrant).status == 401);
    CHECK(call(gateway.port(), "open", registrant).status == 401);
    CHECK(rpc(gateway.port(), registrant, "agents/list", "{}").status == 401);
}

TEST_CASE("who registers agents changes those that registered themselves, and no others")
{
    test_support::scripted_agent agent{answer_of_agent};
    const running_gateway gateway{allowing(registering(agent.url("/rpc")))};
    const auto url = agent.url("/rpc");
    const json made{{"id", "made"}, {"agent", {{"url", url}}}};
    manage(gateway, "agents/upsert", made);
    check_refusal(enroll(gateway.port(), registrant, url, "made"), 403, "forbidden", "made");
    check_refusal(enroll(gateway.port(), registrant, url, "seen"), 403, "agent_read_only", "seen");
    CHECK(manage(gateway, "agents/changes", json::object())["changes"].size() == 1);
    CHECK(enroll(gateway.port(), registrant, url).status == 200);
    CHECK(enroll(gateway.port(), registrant, agent.url("/other")).status == 200);
    CHECK(record_of(gateway, "mine")["url"] == agent.url("/other"));
    // An operator who replaces it keeps it.
    const json kept{{"id", "mine"}, {"agent", {{"url", url}}}};
    manage(gateway, "agents/upsert", kept);
    CHECK(enroll(gateway.port(), registrant, agent.url("/other")).status == 403);
    // On the admin listener an operator registers, with the same right as to write.
    CHECK(enroll(gateway.admin_port(), nobody, agent.url("/other")).status == 200);
    CHECK_FALSE(record_of(gateway, "mine").contains("registered"));
}

TEST_CASE("an agent that registered itself is changed by the same registrant, by no other, and by operators")
{
    test_support::scripted_agent agent{answer_of_agent};
    const test_support::scratch_directory scratch;
    auto settings = allowing(registering(agent.url("/rpc")));
    settings.store = "sqlite:" + scratch.file("s.db");
    settings.admin_access = core::admin_access::scopes;
    const auto url = agent.url("/rpc");
    const auto moved = agent.url("/moved");
    const std::vector<std::pair<std::string, field_list>> owners{
        {"tokens", registrant},
        {"firsts", scoped},
        {"seconds", second_scoped}
    };
    const auto others_are_refused = [&](const running_gateway& gateway) {
        for (const auto& [id, owner] : owners) {
            for (const auto& [other, headers] : owners) {
                if (id != other) {
                    CAPTURE(id);
                    CAPTURE(other);
                    check_refusal(enroll(gateway.port(), headers, moved, id), 403, "forbidden", id);
                    check_refusal(enroll(gateway.admin_port(), headers, moved, id), 403, "forbidden", id);
                }
            }
        }
    };
    {
        const running_gateway gateway{settings};
        for (const auto& [id, owner] : owners) {
            CHECK(enroll(gateway.port(), owner, url, id).status == 200);
        }
        others_are_refused(gateway);
        CHECK(
            rpc(gateway.admin_port(), operators, "agents/get", R"({"id":"firsts"})").body.find("scoped scoped") !=
            std::string::npos
        );
    }
    const running_gateway again{settings};
    others_are_refused(again);
    for (const auto& [id, owner] : owners) {
        CHECK(enroll(again.port(), owner, moved, id).status == 200);
        CHECK(enroll(again.admin_port(), owner, url, id).status == 200);
        CHECK(enroll(again.admin_port(), operators, moved, id).status == 200);
    }
}

TEST_CASE("an agent that registered itself before owners were stored is the token's, until an operator names an owner")
{
    test_support::scripted_agent agent{answer_of_agent};
    const running_gateway gateway{allowing(registering(agent.url("/rpc")))};
    const auto url = agent.url("/rpc");
    json written{{"id", "old"}, {"agent", {{"url", url}, {"registered", true}}}};
    manage(gateway, "agents/upsert", written);
    CHECK(enroll(gateway.port(), scoped, url, "old").status == 403);
    CHECK(enroll(gateway.port(), registrant, url, "old").status == 200);
    written["agent"]["registered_by"] = "scoped scoped";
    manage(gateway, "agents/upsert", written);
    CHECK(enroll(gateway.port(), registrant, url, "old").status == 403);
    CHECK(enroll(gateway.port(), scoped, url, "old").status == 200);
    CHECK(enroll(gateway.port(), second_scoped, url, "old").status == 403);
}

TEST_CASE("without providers the token is the only credential, and wrong ones are limited")
{
    test_support::scripted_agent agent{answer_of_agent};
    auto settings = quick_settings();
    settings.registration = {core::secret{"register-token-0123456789"}, {"127.0.0.0/8"}};
    settings.limits.failed_credentials = 3;
    const running_gateway gateway{settings};
    CHECK(enroll(gateway.port(), registrant, agent.url("/")).status == 200);
    CHECK(enroll(gateway.port(), nobody, agent.url("/")).status == 401);
    CHECK(request(gateway.port(), "GET", "/agents").status == 200);
    unsigned limited = 0;
    for (int i = 0; i < 20; ++i) {
        limited += enroll(gateway.port(), unknown, agent.url("/")).status == 429 ? 1 : 0;
    }
    CHECK(limited > 0);
    CHECK(enroll(gateway.port(), registrant, agent.url("/")).status == 200);
}

TEST_CASE("an agent that registered itself is found again after a restart, with the same bounds")
{
    test_support::scripted_agent agent{answer_of_agent};
    const test_support::scratch_directory scratch;
    auto settings = allowing(registering(agent.url("/rpc")));
    settings.store = "sqlite:" + scratch.file("s.db");
    const auto url = "http://localhost:" + std::to_string(agent.port()) + "/rpc";
    {
        const running_gateway gateway{settings};
        CHECK(enroll(gateway.port(), registrant, agent.url("/rpc"), "literal").status == 200);
        CHECK(enroll(gateway.port(), registrant, url, "named").status == 200);
    }
    settings.registration.allow.clear();
    settings.access = {};
    settings.agents.clear();
    const running_gateway again{settings};
    CHECK(record_of(again, "named")["registered"] == true);
    CHECK(record_of(again, "literal").contains("unusable"));
    CHECK(call(again.port(), "literal", nobody).status == 404);
    CHECK(call(again.port(), "named", nobody).status == 502);
    CHECK(agent.accepted_connections() == 0);
}

TEST_CASE("no address that an agent registers leads to this machine or to networks behind it")
{
    test_support::scripted_agent agent{answer_of_agent};
    auto settings = quick_settings();
    settings.registration.token = core::secret{"register-token-0123456789"};
    settings.timeouts.connect = std::chrono::milliseconds{300};
    settings.timeouts.upstream_head = std::chrono::milliseconds{300};
    settings.cards.timeout = std::chrono::milliseconds{300};
    const running_gateway gateway{settings};
    unsigned accepted = 0;
    for (const auto& hostile : test_support::hostile_addresses()) {
        if (hostile.starts_with("https") && hostile.size() < 1000) {
            continue;  // as with http, and nothing here speaks TLS
        }
        const auto url = with_port(hostile, agent.port());
        CAPTURE(url.substr(0, 100));
        const auto registered = enroll(gateway.port(), registrant, url);
        if (registered.status != 200) {
            CHECK((registered.status == 400 || registered.status == 413));
            continue;
        }
        ++accepted;
        CHECK(get_card(gateway, "mine").status >= 500);
        CHECK(call(gateway.port(), "mine", nobody).status >= 500);
        CHECK(agent.accepted_connections() == 0);
    }
    CHECK(accepted > 0);
    CHECK(agent.accepted_connections() == 0);
}

TEST_CASE("a name that leads to this machine is upstream_forbidden for calls, cards and sessions, unless it is allowed")
{
    test_support::scripted_agent agent{answer_of_agent};
    auto settings = quick_settings();
    settings.registration.token = core::secret{"register-token-0123456789"};
    const auto url = "http://localhost:" + std::to_string(agent.port()) + "/rpc";
    core::agent server;
    server.id = "tools";
    server.speaks = core::protocol::mcp;
    server.url = url;
    server.registered = true;
    server.mcp.emplace();
    server.mcp->transport = core::mcp_transport::streamable_http;
    settings.agents = {server};
    {
        const running_gateway gateway{settings};
        CHECK(enroll(gateway.port(), registrant, url).status == 200);
        check_refusal(get_card(gateway, "mine"), 502, "upstream_forbidden", "mine");
        const auto called = call(gateway.port(), "mine", nobody);
        CHECK(called.status == 502);
        CHECK(called.header("Cardea-Error") == "upstream_forbidden");
        CHECK(get_card(gateway, "tools").status >= 500);
        CHECK(agent.accepted_connections() == 0);
    }
    settings.agents.clear();
    settings.registration.allow = {"127.0.0.0/8", "::1"};
    const running_gateway gateway{settings};
    CHECK(enroll(gateway.port(), registrant, url).status == 200);
    CHECK(call(gateway.port(), "mine", nobody).status == 200);
    CHECK(get_card(gateway, "mine").status == 200);
    CHECK(agent.accepted_connections() > 0);
}

TEST_CASE("an agent that registered itself is never at a listener of the gateway, although its address is allowed")
{
    auto settings = quick_settings();
    settings.registration.token = core::secret{"register-token-0123456789"};
    settings.registration.allow = {"127.0.0.0/8", "::1", "0.0.0.0/8"};
    settings.metrics = {"127.0.0.1", 0};
    const auto names = std::make_shared<test_support::name_table>();
    names->set("own.test", {"127.0.0.1"});
    names->set("mapped.test", {"::ffff:127.0.0.1"});
    names->set("none.test", {"0.0.0.0"});
    const running_gateway gateway{settings, [names](const std::string& host) { return names->answer(host); }};
    for (const auto port : {gateway.port(), gateway.admin_port(), gateway.metrics_port()}) {
        const auto end = ':' + std::to_string(port) + "/rpc";
        for (const std::string host : {"127.0.0.1", "0.0.0.0", "[::ffff:127.0.0.1]"}) {
            CAPTURE(host);
            const auto refused = enroll(gateway.port(), registrant, "http://" + host + end);
            CHECK(refused.status == 400);
            CHECK(refused.body.find("is at an address of this gateway") != std::string::npos);
        }
        for (const std::string host : {"own.test", "mapped.test", "none.test"}) {
            CAPTURE(host);
            CHECK(enroll(gateway.port(), registrant, "http://" + host + end).status == 200);
            // What was called would be a method of the admin listener.
            CHECK(call(gateway.port(), "mine", nobody, "agents/list").header("Cardea-Error") == "upstream_forbidden");
            check_refusal(get_card(gateway, "mine"), 502, "upstream_forbidden", "mine");
        }
    }
}

TEST_CASE("a connection that another agent has is not used for one that registered itself")
{
    test_support::scripted_agent agent{answer_of_agent};
    auto settings = quick_settings();
    settings.registration.token = core::secret{"register-token-0123456789"};
    const auto url = "http://localhost:" + std::to_string(agent.port()) + "/rpc";
    settings.agents = {a2a_agent("declared", url)};
    const running_gateway gateway{settings};
    CHECK(call(gateway.port(), "declared", nobody).status == 200);
    CHECK(get_card(gateway, "declared").status == 200);
    const auto requests = agent.request_count();
    CHECK(enroll(gateway.port(), registrant, url).status == 200);
    CHECK(call(gateway.port(), "mine", nobody).status == 502);
    CHECK(get_card(gateway, "mine").status == 502);
    CHECK(agent.request_count() == requests);
}

TEST_SUITE_END();
