#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

TEST_SUITE_BEGIN("flow/directory");

namespace {

using core::json;
using flow::a2a_agent;
using flow::check_refusal;
using flow::parsed;
using flow::quick_settings;
using flow::running_gateway;
using test_support::answer_json;
using test_support::request;
using test_support::scripted_agent;

constexpr const char* nobody = "http://127.0.0.1:1/secret-path";

json page(const running_gateway& gateway, std::string_view target)
{
    const auto got = request(gateway.port(), "GET", target);
    CHECK(got.status == 200);
    return parsed(got.body);
}

std::vector<std::string> ids(const json& listed)
{
    std::vector<std::string> out;
    for (const auto& each : listed["agents"]) {
        out.push_back(each["id"].get<std::string>());
    }
    return out;
}

json state_of(const running_gateway& gateway)
{
    return page(gateway, "/agents?limit=1")["agents"][0]["state"];
}

std::string upsert_text(const std::string& id, const std::string& url)
{
    return flow::managing("agents/upsert", R"({"id":")" + id + R"(","agent":{"url":")" + url + R"("}})");
}

}  // namespace

TEST_CASE("the directory has the agents that are served, also those without a card, and no address of theirs")
{
    scripted_agent agent{[](const auto&) { return answer_json(flow::card_text("Weather", "http://10.1.2.3/")); }};
    auto settings = quick_settings();
    settings.public_url = "https://agents.example.com/base";
    settings.agents = {a2a_agent("b", agent.url()), a2a_agent("a", nobody), a2a_agent("off", nobody)};
    settings.agents[0].metadata = R"({"tags":["mine"]})";
    settings.agents[1].bearer = core::secret{"s3cret"};
    settings.agents[2].disabled = true;
    const running_gateway gateway{std::move(settings)};
    CHECK(ids(page(gateway, "/agents")) == std::vector<std::string>{"a", "b"});
    CHECK(page(gateway, "/agents/") == page(gateway, "/agents"));
    CHECK(page(gateway, "/agents")["agents"][1]["name"] == "b");
    CHECK(flow::get_card(gateway, "b").status == 200);
    CHECK(flow::get_card(gateway, "a").status == 502);
    const auto got = request(gateway.port(), "GET", "/agents?limit=2");
    const auto listed = parsed(got.body)["agents"];
    CHECK(
        listed[1] ==
        parsed(R"({"id":"b","name":"Weather","description":"Says what a test needs.","protocol":"a2a","version":"1.0.0",
            "url":"https://agents.example.com/base/agents/b/",
            "cardUrl":"https://agents.example.com/base/agents/b/.well-known/agent-card.json",
            "tags":["mine"],"state":"ready"})")
    );
    CHECK(listed[0]["state"] == "unavailable");
    for (const auto* target : {"/agents", "/.well-known/api-catalog", "/.well-known/ai-catalog.json", "/agents/a"}) {
        CAPTURE(target);
        const auto text = request(gateway.port(), "GET", target).body;
        for (const auto* hidden : {"127.0.0.1", "secret", "s3cret", "\"off\"", "10.1.2.3"}) {
            CHECK(text.find(hidden) == std::string::npos);
        }
    }
}

TEST_CASE("pages follow one another until every agent has been seen once")
{
    auto settings = quick_settings();
    for (const auto* id : {"a", "b", "c", "d", "e"}) {
        settings.agents.push_back(a2a_agent(id, nobody));
    }
    settings.agents[2].disabled = true;
    const running_gateway gateway{std::move(settings)};
    const auto first = page(gateway, "/agents?limit=2");
    CHECK(ids(first) == std::vector<std::string>{"a", "b"});
    CHECK(first["nextCursor"] == "b");
    const auto second = request(gateway.port(), "GET", "/agents?limit=2&cursor=b");
    CHECK(ids(parsed(second.body)) == std::vector<std::string>{"d", "e"});
    CHECK_FALSE(parsed(second.body).contains("nextCursor"));
    CHECK(second.header("Link").find("rel=\"next\"") == std::string::npos);
    CHECK(ids(page(gateway, "/agents?cursor=e")).empty());
    CHECK(ids(page(gateway, "/agents?cursor=bb")) == std::vector<std::string>{"d", "e"});
    check_refusal(request(gateway.port(), "GET", "/agents?limit=x"), 400, "invalid_params", "");
}

TEST_CASE("what is written and what is fetched is in the directory at once")
{
    scripted_agent agent{[](const auto&) { return answer_json(R"({"name":"Fetched"})"); }};
    const running_gateway gateway{quick_settings()};
    const auto joined = [&] {
        std::string out;
        const auto listed = page(gateway, "/agents");
        for (const auto& each : listed["agents"]) {
            out += each["name"].get<std::string>() + ",";
        }
        return out;
    };
    for (int i = 0; i < 20; ++i) {
        CHECK(joined().empty());
        CHECK(flow::post_json(gateway.admin_port(), "/rpc", upsert_text("x", agent.url())).status == 200);
        CHECK(joined() == "x,");
        CHECK(flow::get_card(gateway, "x").status == 200);
        CHECK(joined() == "Fetched,");
        const auto removal = flow::managing("agents/delete", R"({"id":"x"})");
        CHECK(flow::post_json(gateway.admin_port(), "/rpc", removal).status == 200);
    }
}

TEST_CASE("a page that was begun before an agent was written is not kept beyond it")
{
    auto settings = quick_settings();
    for (int i = 0; i < 20'000; ++i) {  // which takes a page long, and lists none of them
        settings.agents.push_back(a2a_agent("off" + std::to_string(i), nobody));
        settings.agents.back().disabled = true;
    }
    const running_gateway gateway{std::move(settings)};
    std::vector<std::jthread> others(3);
    for (auto& each : others) {
        each = std::jthread{[&](const std::stop_token& end) {
            while (!end.stop_requested()) {
                request(gateway.port(), "GET", "/agents");
            }
        }};
    }
    const auto write = [&](const std::string& id) {
        CHECK(flow::post_json(gateway.admin_port(), "/rpc", upsert_text(id, nobody)).status == 200);
    };
    for (std::size_t i = 0; i < 20; ++i) {
        write("a" + std::to_string(i));  // whereupon the others have a page begun
        write("b" + std::to_string(i));
        CHECK(page(gateway, "/agents")["agents"].size() == 2 * i + 2);
    }
}

TEST_CASE("an agent is unknown, then ready, and unavailable when its card cannot be got any more")
{
    std::atomic<bool> broken = false;
    scripted_agent agent{[&](const auto&) {
        return broken ? test_support::answer(500, "") : answer_json(R"({"name":"A"})");
    }};
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("a", agent.url()));
    const running_gateway gateway{std::move(settings)};
    CHECK(state_of(gateway) == "unknown");
    CHECK(flow::get_card(gateway, "a").status == 200);
    CHECK(state_of(gateway) == "ready");
    broken = true;
    CHECK(flow::error_of(gateway, "agents/refreshCard", R"({"id":"a"})")["data"]["code"] == "upstream_status");
    CHECK(state_of(gateway) == "unavailable");
    // The plain page is kept for a second, and that an agent fails publishes nothing.
    CHECK(flow::becomes_true([&] { return page(gateway, "/agents")["agents"][0]["state"] == "unavailable"; }));
}

TEST_CASE("the forms of the directory take GET and HEAD, and answer a tag that they have given with 304")
{
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("a", nobody));
    const running_gateway gateway{std::move(settings)};
    for (const auto* target :
         {"/agents", "/agents?limit=7", "/.well-known/api-catalog", "/.well-known/ai-catalog.json"}) {
        CAPTURE(target);
        const auto got = request(gateway.port(), "GET", target);
        CHECK(got.status == 200);
        CHECK(got.header("Cache-Control") == "public, no-cache");
        test_support::http_client caller{gateway.port()};
        caller.send(test_support::request_text("HEAD", target));
        const auto head = caller.read_response(/*to_head=*/true);
        CHECK(head.status == 200);
        for (const auto* field : {"ETag", "Content-Type", "Content-Length", "Link", "Cache-Control"}) {
            CHECK(head.header(field) == got.header(field));
        }
        CHECK(head.header("Link").find("/.well-known/api-catalog>; rel=\"api-catalog\"") != std::string::npos);
        const auto same = request(gateway.port(), "GET", target, {{"If-None-Match", got.header("ETag")}});
        CHECK(same.status == 304);
        CHECK(same.header("ETag") == got.header("ETag"));
        CHECK(same.body.empty());
        for (const auto* method : {"POST", "PUT", "DELETE", "OPTIONS"}) {
            const auto refused = request(gateway.port(), method, target);
            CHECK(refused.status == 405);
            CHECK(refused.header("Allow") == "GET, HEAD");
        }
        const auto elsewhere = request(gateway.port(), "GET", target, {{"Host", "evil.example"}});
        CHECK(elsewhere.status == 421);
    }
    CHECK(gateway.metric(R"(cardea_http_requests_total{route="directory",method="GET",code="304"})") == 4);
}

TEST_CASE("catalogs of more than a thousand agents are catalogs of pages that have every agent once")
{
    auto settings = quick_settings();
    std::set<std::string> all;
    for (int i = 0; i < 2345; ++i) {
        settings.agents.push_back(a2a_agent("agent-" + std::to_string(i), nobody));
        settings.agents.back().disabled = i % 7 == 0;
        if (i % 7 != 0) {
            all.insert("agent-" + std::to_string(i));
        }
    }
    settings.public_url = "http://gateway.test";
    settings.hosts = {"gateway.test", "127.0.0.1"};
    const running_gateway gateway{std::move(settings)};
    const auto path = [](const json& url) {
        return url.get<std::string>().substr(std::string{"http://gateway.test"}.size());
    };
    const auto id = [](const json& url) {
        const auto text = url.get<std::string>();
        return text.substr(text.find("/agents/") + 8, text.find_last_not_of('/') + 1 - (text.find("/agents/") + 8));
    };
    const auto big = [&](std::string_view target) {
        const auto value = core::parse_json(request(gateway.port(), "GET", target).body, {.bytes = 16 << 20});
        REQUIRE(value.has_value());
        return *value;
    };
    std::multiset<std::string> linked;
    const auto links = big("/.well-known/api-catalog")["linkset"];
    REQUIRE(links.size() == 1);
    CHECK(links[0]["api-catalog"].size() == 3);
    for (const auto& each : links[0]["api-catalog"]) {
        const auto leaf = big(path(each["href"]));
        for (const auto& item : leaf["linkset"][0]["item"]) {
            linked.insert(id(item["href"]));
        }
    }
    CHECK(linked == std::multiset<std::string>(all.begin(), all.end()));
    std::multiset<std::string> entered;
    const auto catalog = big("/.well-known/ai-catalog.json");
    for (const auto& each : catalog["entries"]) {
        CHECK(each["type"] == "application/ai-catalog+json");
        const auto leaf = big(path(each["url"]));
        for (const auto& entry : leaf["entries"]) {
            // urn:air:gateway.test:<id>:a2a
            const auto name = entry["identifier"].get<std::string>();
            const auto begin = std::string{"urn:air:gateway.test:"}.size();
            entered.insert(name.substr(begin, name.rfind(':') - begin));
        }
    }
    CHECK(entered == std::multiset<std::string>(all.begin(), all.end()));
}

TEST_CASE("Readers of one page share it, and pages of others that do not read are bounded by limits.rpc_memory")
{
    auto settings = quick_settings();
    constexpr int many = 1'000;
    for (int i = 0; i < many; ++i) {
        settings.agents.push_back(a2a_agent("agent-" + std::to_string(i), nobody));
        settings.agents.back().card = R"({"name":"n","description":")" + std::string(500, 'd') + R"("})";
    }
    constexpr std::size_t mib = 1024 * 1024;
    settings.limits.rpc_memory = 6 * mib;  // of which callers have three quarters
    settings.limits.connections = 1'000;
    const running_gateway gateway{std::move(settings)};
    // The cards are made one after the other.
    const auto all_are_made = [&] {
        return request(gateway.port(), "GET", "/agents?limit=1000").body.find(R"("state":"unknown")") ==
               std::string::npos;
    };
    REQUIRE(flow::becomes_true(all_are_made));
    const auto size = request(gateway.port(), "GET", "/agents?limit=1000").body.size();
    REQUIRE(size > 600'000);
    REQUIRE(size < 2 * mib);
    const auto text_for = [](int limit) {
        return test_support::request_text("GET", "/agents?limit=" + std::to_string(limit), {}, "");
    };
    std::vector<std::unique_ptr<test_support::http_client>> slow;
    const auto begin = [&](int limit) {
        slow.push_back(std::make_unique<test_support::http_client>(gateway.port()));
        slow.back()->send(text_for(limit));
        return slow.back()->read_head().status;
    };
    for (int i = 0; i < 50; ++i) {
        CHECK(begin(many) == 200);  // fifty times as much as there is
    }
    unsigned refused = 0;
    for (int limit = many - 1; limit > many - 30 && refused == 0; --limit) {
        refused = begin(limit) == 200 ? 0 : static_cast<unsigned>(many - limit);
    }
    CHECK(refused > 1);
    CHECK(refused < 8);
    const auto full = request(gateway.port(), "GET", "/agents?limit=900");
    check_refusal(full, 503, "overloaded", "");
    CHECK_FALSE(full.header("Retry-After").empty());
    CHECK(begin(many) == 200);  // the page that others have is there
    CHECK(
        flow::post_json(gateway.admin_port(), "/rpc", flow::managing("agents/get", R"({"id":"agent-1"})")).status == 200
    );
    for (auto& each : slow) {
        each->reset();
    }
    CHECK(flow::becomes_true([&] { return request(gateway.port(), "GET", "/agents?limit=900").status == 200; }));
}

TEST_CASE("GET of an agent's own address says what it is and where its card is")
{
    auto settings = quick_settings();
    settings.agents =
        {a2a_agent("a", nobody), a2a_agent("tools", nobody), a2a_agent("off", nobody), a2a_agent("plain", nobody)};
    settings.agents[1].speaks = core::protocol::mcp;
    settings.agents[2].disabled = true;
    settings.agents[3].speaks = core::protocol::mcp;
    settings.agents[3].bridge = false;
    const running_gateway gateway{std::move(settings)};
    const auto url = gateway.base() + "/agents/a";
    for (const auto* target : {"/agents/a", "/agents/a/", "/agents/a?x=1"}) {
        CAPTURE(target);
        const auto got = request(gateway.port(), "GET", target);
        CHECK(got.status == 200);
        CHECK(got.header("Content-Type") == "application/json");
        CHECK(got.header("Vary") == "Accept");
        CHECK(
            got.header("Link") ==
            "<" + url + "/.well-known/agent-card.json>; rel=\"service-desc\"; type=\"application/json\""
        );
        const auto said = parsed(got.body);
        CHECK(said["id"] == "a");
        CHECK(said["url"] == url + "/");
        CHECK(said["cardUrl"] == url + "/.well-known/agent-card.json");
        CHECK(said["methods"].contains("POST"));
    }
    const auto directory = page(gateway, "/agents");
    for (const auto& each : directory.at("agents")) {
        CHECK(each["url"] == gateway.base() + "/agents/" + each["id"].get<std::string>() + "/");
    }
    const auto tools = parsed(request(gateway.port(), "GET", "/agents/tools").body);
    CHECK(tools["protocol"] == "mcp");
    CHECK(tools["methods"].contains("POST"));
    CHECK(tools["calls"] == json{"a2a", "mcp"});
    CHECK(tools["about"].get<std::string>().find("Calls of A2A") != std::string::npos);
    const auto plain = parsed(request(gateway.port(), "GET", "/agents/plain").body);
    CHECK_FALSE(plain["methods"].contains("POST"));
    CHECK_FALSE(plain.contains("calls"));
    CHECK(plain["about"].get<std::string>().find("no calls of A2A") != std::string::npos);
    CHECK(tools["mcp"]["url"] == gateway.base() + "/agents/tools/mcp");
    CHECK(tools["about"].get<std::string>().find("messages of MCP") != std::string::npos);
    for (const auto* id : {"off", "nobody"}) {
        check_refusal(request(gateway.port(), "GET", "/agents/" + std::string{id}), 404, "agent_not_found", id);
    }
    for (const auto* accepted : {"text/event-stream", "application/json, Text/Event-Stream;q=0.5"}) {
        const auto refused = request(gateway.port(), "GET", "/agents/a", {{"Accept", accepted}});
        check_refusal(refused, 405, "method_not_allowed", "");
        CHECK(refused.header("Allow") == "POST");
    }
    CHECK_FALSE(gateway.metric(R"(cardea_agent_requests_total{agent="a",protocol="a2a",rpc_method="none",outcome="ok"})"
    ));
}

TEST_CASE("an address whose agent a client has dropped is explained")
{
    auto settings = quick_settings();
    settings.agents = {a2a_agent("a", nobody), a2a_agent("agent", nobody)};
    const running_gateway gateway{std::move(settings)};
    for (const auto* target :
         {"/agents/.well-known/agent-card.json",
          "/agents/.well-known/agent.json",
          "/agents/.well-known/",
          "/agents/.well-known",
          "/agents/extendedAgentCard",
          "/agents/v1/card"}) {
        CAPTURE(target);
        const auto got = request(gateway.port(), "GET", target);
        check_refusal(got, 404, "not_found", "");
        CHECK(got.body.find("no slash at its end, as " + gateway.base() + "/agents/<id>/ has.") != std::string::npos);
        CHECK(got.reason == "Not Found: the base URL of an agent needs a slash at its end");
    }
    // An agent that has such a name is one.
    CHECK(request(gateway.port(), "GET", "/agents/agent").status == 200);
    const auto below = request(gateway.port(), "GET", "/agents/agent/authenticatedExtendedCard");
    check_refusal(below, 404, "not_found", "");
    CHECK(below.reason == "Not Found");
    check_refusal(request(gateway.port(), "GET", "/agents/v2/card"), 404, "agent_not_found", "v2");
}

TEST_CASE("a request for a card at the origin, as resolvers of Java send it, is answered with where cards are")
{
    auto settings = quick_settings();
    settings.agents = {a2a_agent("a", nobody)};
    const running_gateway gateway{std::move(settings)};
    for (const auto* target : {"/.well-known/agent-card.json", "/.well-known/agent.json?x"}) {
        CAPTURE(target);
        const auto got = request(gateway.port(), "GET", target);
        check_refusal(got, 404, "not_found", "");
        CHECK(got.body.find(gateway.base() + "/agents/<id>/.well-known/agent-card.json") != std::string::npos);
        CHECK(
            got.body.find("A2ACardResolver (agentCardPath): /agents/<id>/.well-known/agent-card.json") !=
            std::string::npos
        );
        CHECK(got.reason == "Not Found: the card of an agent is at /agents/<id>/.well-known/agent-card.json");
    }
}

TEST_SUITE_END();
