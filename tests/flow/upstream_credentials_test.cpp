#include "tests/flow/access_fixture.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("flow/upstream_credentials");

namespace {

using namespace flow;
using core::credential_place;
using core::secret;

constexpr std::string_view planted = "planted-value";

struct kind {
    std::string id;
    core::agent_credentials credentials;
    std::string field;  // of the request that the agent gets; empty: the credential is in the query
    std::string value;
};

std::vector<kind> kinds()
{
    const auto key = [](credential_place place) {
        return core::key_credential{place, "x-key", secret{"planted-value"}};
    };
    return {
        {"bearer", secret{"planted-value"}, "Authorization", "Bearer planted-value"},
        {"basic",
         core::basic_credentials{"me", secret{"planted-value"}},
         "Authorization",
         "Basic bWU6cGxhbnRlZC12YWx1ZQ=="},
        {"header", key(credential_place::header), "x-key", "planted-value"},
        {"cookie", key(credential_place::cookie), "Cookie", "x-key=planted-value"},
        {"query", key(credential_place::query), "", ""},
    };
}

core::agent fetched_agent(const std::string& id, const std::string& url)
{
    auto out = agent(id, url, anyone, anyone);
    out.card.clear();
    out.relay_paths = {"/files/*"};
    return out;
}

config::settings with_kinds(const std::string& url)
{
    auto settings = quick_settings();
    settings.log_level = core::log_level::debug;
    for (const auto& each : kinds()) {
        auto& added = settings.agents.emplace_back(fetched_agent(each.id, url + '/' + each.id));
        added.credentials = each.credentials;
        added.extended_card = core::extended_card_access::proxy;
        added.headers = {{"X-Team", secret{"words"}}};
    }
    return settings;
}

// What a caller may try, beside what the agent gets from the gateway.
field_list callers_own()
{
    return {
        {"Authorization", "Bearer of-caller"},
        {"Cookie", "x-key=of-caller"},
        {"X-Key", "of-caller"},
        {"x-team", "of-caller"}
    };
}

}  // namespace

TEST_CASE(
    "an agent gets its own credentials with calls, relayed paths, cards and extended cards, and never the caller's"
)
{
    test_support::scripted_agent agent{answer_of_agent};
    running_gateway gateway{with_kinds(agent.url())};
    for (const auto& each : kinds()) {
        CAPTURE(each.id);
        const auto before = agent.request_count();
        CHECK(get_card(gateway, each.id).status == 200);
        const auto cards = agent.request_count();
        REQUIRE(cards > before);
        CHECK(call(gateway.port(), each.id, callers_own()).status == 200);
        CHECK(call(gateway.port(), each.id, callers_own(), "message/stream").status == 200);
        CHECK(request(gateway.port(), "GET", "/agents/" + each.id + "/files/a?x=1", callers_own()).status == 200);
        request(gateway.port(), "GET", "/agents/" + each.id + "/rest/v1/card", callers_own());
        REQUIRE(agent.request_count() == cards + 4);
        for (auto i = before; i < agent.request_count(); ++i) {
            const auto seen = agent.request(i);
            CAPTURE(seen.target);
            CHECK(seen.header("X-Team") == "words");
            CHECK(seen.count("X-Team") == 1);
            for (const auto* name : {"Authorization", "Cookie", "x-key"}) {
                CAPTURE(name);
                const bool own = each.field == name;
                const bool callers_key = std::string_view{name} == "x-key" && i >= cards;
                CHECK(seen.count(name) == (own || callers_key ? 1 : 0));
                CHECK((!own || seen.header(name) == each.value));
            }
            CHECK((seen.target.find("x-key=planted-value") != std::string::npos) == each.field.empty());
        }
        if (each.field.empty()) {
            CHECK(agent.request(cards).target == "/query?x-key=planted-value");
            CHECK(agent.request(cards + 2).target == "/query/files/a?x=1&x-key=planted-value");
        }
    }
}

TEST_CASE(
    "The query of an agent's URL goes with calls, relayed paths and cards, beside that of the caller, and is never "
    "shown"
)
{
    test_support::scripted_agent agent{answer_of_agent};
    auto settings = quick_settings();
    settings.log_level = core::log_level::debug;
    auto& added = settings.agents.emplace_back(fetched_agent("a", agent.url("/api/a2a")));
    added.queries = {secret{"code=planted-value%3D&v=1"}};
    running_gateway gateway{std::move(settings)};
    auto seen = get_card(gateway, "a").body;
    seen += call(gateway.port(), "a", callers_own()).body;
    seen += request(gateway.port(), "GET", "/agents/a/files/x?y=1&v=2&code=theirs", nobody).body;
    std::vector<std::string> targets;
    for (const auto& each : agent.requests()) {
        targets.push_back(each.target);
    }
    CHECK(
        targets ==
        std::vector<std::string>{
            "/api/a2a/.well-known/agent-card.json?code=planted-value%3D&v=1",
            "/api/a2a?code=planted-value%3D&v=1",
            "/api/a2a/files/x?y=1&code=planted-value%3D&v=1"
        }
    );

    const auto upserted =
        manage(gateway, "agents/upsert", {{"id", "b"}, {"agent", {{"url", agent.url("/b?code=planted-value")}}}});
    CHECK(upserted["agent"]["url"] == agent.url("/b?********"));
    CHECK(call(gateway.port(), "b", nobody).status == 200);
    CHECK(agent.requests().back().target == "/b?code=planted-value");
    seen += upserted.dump();
    for (const auto* const id : {"a", "b"}) {
        seen += manage(gateway, "agents/get", {{"id", id}}).dump();
        seen += manage(gateway, "agents/health", {{"id", id}}).dump();
    }
    seen += manage(gateway, "agents/list", core::json::object()).dump();
    seen += request(gateway.admin_port(), "GET", "/metrics").body;
    CHECK(seen.find("/api/a2a?********") != std::string::npos);
    CHECK(seen.find(planted) == std::string::npos);
    REQUIRE(gateway.log().wait_for([](std::string_view line) { return line.find(R"("agent":"b")") != line.npos; }));
    for (const auto& line : gateway.log().all()) {
        CHECK(line.find(planted) == std::string::npos);
    }
}

TEST_CASE("no log line, no metric and no answer of the management API has a credential of an agent")
{
    test_support::scripted_agent agent;  // 404: what fails is logged too
    auto settings = with_kinds(agent.url());
    auto gone = settings.agents;
    for (auto& each : gone) {
        each.id += "-gone";
        each.url = "http://127.0.0.1:" + std::to_string(test_support::unused_port()) + "/rpc";
    }
    settings.agents.insert(settings.agents.end(), gone.begin(), gone.end());
    for (auto& each : settings.agents) {
        each.card_headers = {{"X-Card", secret{"planted-value"}}};
        each.headers.emplace_back("X-More", secret{"planted-value"});
    }
    const auto ids = settings.agents;
    running_gateway gateway{std::move(settings)};
    std::string seen;
    for (const auto& each : ids) {
        seen += get_card(gateway, each.id).body;
        seen += call(gateway.port(), each.id, nobody).body;
        seen += request(gateway.port(), "GET", "/agents/" + each.id + "/files/a", nobody).body;
        seen += manage(gateway, "agents/get", {{"id", each.id}}).dump();
    }
    seen += manage(gateway, "agents/list", core::json::object()).dump();
    seen += request(gateway.admin_port(), "GET", "/metrics").body;
    CHECK(seen.find(core::masked) != std::string::npos);
    CHECK(seen.find(planted) == std::string::npos);
    CHECK(seen.find("bWU6cGxhbnRlZC12YWx1ZQ") == std::string::npos);
    REQUIRE(gateway.log().wait_for([](std::string_view line) { return line.find("-gone") != line.npos; }));
    for (const auto& line : gateway.log().all()) {
        CHECK(line.find(planted) == std::string::npos);
        CHECK(line.find("bWU6cGxhbnRlZC12YWx1ZQ") == std::string::npos);
    }
}

TEST_CASE("of its callers' credentials an agent gets what its record says")
{
    using names = std::vector<std::string>;
    const std::pair<core::caller_credentials, names> rows[] = {
        {{}, {}},
        {{.all = true, .names = {}}, {"Authorization", "Cookie", "X-API-Key"}},
        {{.all = false, .names = {"authorization"}}, {"Authorization"}},
        {{.all = false, .names = {"Cookie", "x-api-key"}}, {"Cookie", "X-API-Key"}},
    };
    test_support::scripted_agent recorder{answer_of_agent};
    auto settings = guarded(recorder.url("/rpc"));
    settings.access.providers.push_back(
        {"session", core::api_key_provider{.place = credential_place::cookie, .field = "sid", .keys = {}}}
    );
    settings.access.providers.push_back(
        {"link", core::api_key_provider{.place = credential_place::query, .field = "key", .keys = {}}}
    );
    settings.agents.clear();
    for (const auto& [passed, meant] : rows) {
        auto& added = settings.agents.emplace_back(
            agent("a" + std::to_string(settings.agents.size()), recorder.url("/rpc"), anyone, anyone)
        );
        added.of_callers = passed;
        added.relay_paths = {"/files/*"};
    }
    running_gateway gateway{std::move(settings)};
    std::size_t row = 0;
    for (const auto& [passed, meant] : rows) {
        CAPTURE(row);
        const auto id = "a" + std::to_string(row++);
        const field_list with_token{{"Authorization", "Bearer reader-token-0123456789"}, {"Cookie", "other=1"}};
        const field_list with_key{{"X-API-Key", "key-of-ci"}, {"Cookie", "other=1"}};
        for (const auto& headers : {with_token, with_key}) {
            const auto before = recorder.request_count();
            CHECK(call(gateway.port(), id, headers).status == 200);
            CHECK(request(gateway.port(), "GET", "/agents/" + id + "/files/a", headers).status == 200);
            for (auto i = before; i < recorder.request_count(); ++i) {
                for (const auto* name : {"Authorization", "Cookie", "X-API-Key"}) {
                    CAPTURE(name);
                    const bool sent = test_support::count_values(headers, name) > 0;
                    const bool passes = std::find(meant.begin(), meant.end(), name) != meant.end();
                    CHECK(recorder.request(i).count(name) == (sent && passes ? 1 : 0));
                }
            }
        }
    }
}

TEST_CASE("a caller's key in the query goes to an agent that gets all of its callers' credentials, and to no other")
{
    test_support::scripted_agent recorder{answer_of_agent};
    auto settings = quick_settings();
    settings.access.providers = {
        {"link",
         core::api_key_provider{
             .place = credential_place::query,
             .field = "key",
             .keys = {{.sha256 = jose::sha256_hex("key-of-ci"), .expires = {}, .owner = known_as("ci", "link")}}
         }},
    };
    const std::pair<core::caller_credentials, std::string> rows[] = {
        {{}, "/rpc/files/a?x=1"},
        {{.all = true, .names = {}}, "/rpc/files/a?x=1&key=key-of-ci"},
        {{.all = false, .names = {"Authorization", "key"}}, "/rpc/files/a?x=1"},
    };
    for (const auto& [passed, meant] : rows) {
        auto& added = settings.agents.emplace_back(
            agent("a" + std::to_string(settings.agents.size()), recorder.url("/rpc"), everybody_known, everybody_known)
        );
        added.of_callers = passed;
        added.relay_paths = {"/files/*"};
    }
    running_gateway gateway{std::move(settings)};
    std::size_t row = 0;
    for (const auto& [passed, meant] : rows) {
        const auto id = "a" + std::to_string(row);
        CAPTURE(id);
        const auto path = "/agents/" + id + "/files/a?x=1";
        CHECK(request(gateway.port(), "GET", path, nobody).status == 401);
        CHECK(
            request(gateway.port(), "GET", path + "&key=key-of-ci", {{"Referer", "https://c/?key=key-of-ci"}}).status ==
            200
        );
        const auto seen = recorder.request(row++);
        CHECK(seen.target == meant);
        CHECK(seen.count("Referer") == (passed.all ? 1 : 0));
    }
}

TEST_CASE("a caller's own credential does not replace the agent's")
{
    test_support::scripted_agent recorder{answer_of_agent};
    auto settings = quick_settings();
    auto& words = settings.agents.emplace_back(agent("words", recorder.url("/rpc"), anyone, anyone));
    words.credentials = core::key_credential{credential_place::header, "X-Key", secret{"of-gateway"}};
    words.of_callers.all = true;
    running_gateway gateway{std::move(settings)};
    CHECK(call(gateway.port(), "words", callers_own()).status == 200);
    const auto seen = recorder.request(0);
    CHECK(seen.count("X-Key") == 1);
    CHECK(seen.header("X-Key") == "of-gateway");
    CHECK(seen.header("Authorization") == "Bearer of-caller");
    CHECK(seen.header("Cookie") == "x-key=of-caller");
}

TEST_SUITE_END();
