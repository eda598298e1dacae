#include "gateway/model/snapshot.hpp"

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

TEST_SUITE_BEGIN("gateway/snapshot");

namespace {

using namespace std::chrono_literals;

core::agent agent_at(const std::string& url)
{
    core::agent agent;
    agent.id = "weather";
    agent.url = url;
    return agent;
}

std::shared_ptr<const gateway::model::agent_entry> entry_of(const core::agent& agent, const std::string& call_url = {})
{
    net::client_contexts contexts;
    auto made = gateway::model::make_entry(agent, {30s}, contexts, {call_url, {}});
    REQUIRE(made.has_value());
    return *made;
}

}  // namespace

TEST_CASE("The head of a call has the agent's own target, with its query, and its authority")
{
    const auto entry = entry_of(agent_at("http://agent.test:8080/a2a/v1/?tenant=t"));
    CHECK(entry->call_head.starts_with("POST /a2a/v1/?tenant=t HTTP/1.1\r\nHost: agent.test:8080\r\n"));
    CHECK(entry->call_head.ends_with(entry->fixed_fields));
    CHECK(entry->call_url == "http://agent.test:8080/a2a/v1/?tenant=t");
}

TEST_CASE("Paths below an agent begin behind its own path, without the query and without a slash at the end")
{
    CHECK(entry_of(agent_at("http://agent.test"))->base_path.empty());
    CHECK(entry_of(agent_at("http://agent.test/"))->base_path.empty());
    CHECK(entry_of(agent_at("http://agent.test/a2a"))->base_path == "/a2a");
    CHECK(entry_of(agent_at("http://agent.test/a2a//?x=/y/"))->base_path == "/a2a");
}

TEST_CASE("Calls go where the card says if that is given, and the record keeps the URL that it was given")
{
    const auto entry = entry_of(agent_at("http://agent.test/base"), "http://agent.test/base/rpc");
    CHECK(entry->call_url == "http://agent.test/base/rpc");
    CHECK(entry->call_head.starts_with("POST /base/rpc HTTP/1.1\r\n"));
    CHECK(entry->record.url == "http://agent.test/base");
}

TEST_CASE("Each interface has a path of its own, and a head only where the agent's own does not serve")
{
    using enum core::a2a_dialect;
    net::client_contexts contexts;
    auto record = agent_at("http://agent.test/base");
    record.bearer = core::secret{"s3cret"};
    const gateway::model::call_route route{
        "http://agent.test/one",
        {{v1_jsonrpc, "http://agent.test/one", {}},
         {v03_jsonrpc, "http://agent.test/two/", {}},
         {v1_rest, "http://agent.test/", "t"}}
    };
    const auto made = gateway::model::make_entry(record, {30s}, contexts, route);
    REQUIRE(made.has_value());
    const auto& entry = **made;
    REQUIRE(entry.interfaces.size() == 3);
    CHECK(entry.interfaces[0].call_head.empty());
    CHECK(entry.interfaces[1].call_head == "POST /two/ HTTP/1.1\r\n" + entry.fixed_fields);
    CHECK(entry.interfaces[1].base_path == "/two");
    CHECK(entry.interfaces[2].call_head.empty());
    CHECK(entry.interfaces[2].base_path.empty());
    CHECK(entry.route() == route);
    CHECK_FALSE(entry.awaits_card);
}

TEST_CASE("What the record says an agent speaks holds at its own address until the card is seen")
{
    auto record = agent_at("http://agent.test/base");
    CHECK(entry_of(record)->interfaces.empty());
    record.dialects = {core::a2a_dialect::v03_rest};
    const auto entry = entry_of(record);
    REQUIRE(entry->interfaces.size() == 1);
    CHECK(entry->interfaces[0].at.url == "http://agent.test/base");
    CHECK(entry->interfaces[0].base_path == "/base");
}

TEST_CASE("An agent that takes gRPC elsewhere has a target, credentials and a breaker for there")
{
    auto record = agent_at("http://agent.test/base");
    record.bearer = core::secret{"s3cret"};
    CHECK(entry_of(record)->grpc == nullptr);
    record.grpc_url = "grpc://agent.test:80";
    REQUIRE(entry_of(record)->grpc != nullptr);  // the same place, but HTTP/1.1 is spoken there
    CHECK(entry_of(record)->grpc->upstream->http2);
    CHECK_FALSE(entry_of(record)->upstream->http2);
    record.http = core::http_version::v2;
    CHECK(entry_of(record)->grpc == nullptr);
    CHECK(entry_of(record)->upstream->http2);
    record.http = core::http_version::automatic;
    record.grpc_url = "grpc://agent.test:50051";
    const auto entry = entry_of(record);
    REQUIRE(entry->grpc != nullptr);
    const auto& grpc = *entry->grpc;
    CHECK(grpc.upstream->authority == "agent.test:50051");
    CHECK(grpc.upstream->path == "/");
    CHECK(grpc.fixed_fields.starts_with("Host: agent.test:50051\r\n"));
    CHECK(grpc.fixed_fields.find("\r\nAuthorization: Bearer s3cret\r\n") != std::string::npos);
    CHECK(grpc.own_fields.size() == entry->own_fields.size());
    CHECK(grpc.breaker != entry->breaker);
    CHECK(grpc.calls == entry->calls);
    CHECK(grpc.grpc == nullptr);
    CHECK(entry->upstream->authority == "agent.test");
    CHECK(gateway::model::keys_that_leave(entry.get(), nullptr).size() == 2);
    std::string breakers;
    gateway::model::each_breaker(*entry, [&](const std::string& name, const auto&) { breakers += name + ';'; });
    CHECK(breakers == "1;grpc;");
}

TEST_CASE("An agent of gRPC alone is called at the address of its URL")
{
    const auto entry = entry_of(agent_at("grpc://agent.test:50051"));
    CHECK(entry->record.url == "grpc://agent.test:50051");
    CHECK(entry->call_url == "http://agent.test:50051");
    CHECK(entry->upstream->authority == "agent.test:50051");
    CHECK(entry->upstream->http2);
    CHECK(entry->grpc == nullptr);
    REQUIRE(entry->interfaces.size() == 2);
    CHECK(entry->interfaces[0].at.speaks == core::a2a_dialect::v1_grpc);
    CHECK(entry->interfaces[1].at.speaks == core::a2a_dialect::v03_grpc);

    auto several = agent_at("grpc://one.test:1");
    several.rules.emplace().upstreams = {"grpc://one.test:1", "grpc://two.test:2"};
    const auto first = entry_of(several);
    REQUIRE(gateway::model::endpoint_count(*first) == 2);
    const auto second = gateway::model::endpoint_of(first, 1);
    CHECK(second->upstream->authority == "two.test:2");
    CHECK(second->interfaces[0].at.url == "http://two.test:2");
}

TEST_CASE("Only an agent with a bearer is sent one")
{
    auto agent = agent_at("http://agent.test/");
    CHECK(entry_of(agent)->call_head.find("Authorization") == std::string::npos);
    agent.bearer = core::secret{"s3cret"};
    CHECK(entry_of(agent)->call_head.find("\r\nAuthorization: Bearer s3cret\r\n") != std::string::npos);
}

TEST_CASE("An agent's own timeout replaces the one for all")
{
    auto agent = agent_at("http://agent.test/");
    CHECK(entry_of(agent)->head_timeout == 30s);
    agent.timeout = 5s;
    CHECK(entry_of(agent)->head_timeout == 5s);
    CHECK(entry_of(agent)->read_timeout == 5s);  // never more than that
    agent.read_timeout = 2s;
    CHECK(entry_of(agent)->read_timeout == 2s);
}

TEST_CASE("An agent is mediated as its own setting says, else as the gateway's")
{
    using enum core::push_mode;
    net::client_contexts contexts;
    auto agent = agent_at("http://agent.test/");
    const auto mediated = [&](core::push_mode gateway) {
        auto entry = gateway::model::make_entry(agent, {.push = gateway}, contexts);
        REQUIRE(entry.has_value());
        return (*entry)->mediates_push;
    };
    CHECK_FALSE(mediated(passthrough));
    CHECK(mediated(mediate));
    agent.push = passthrough;
    CHECK_FALSE(mediated(mediate));
    agent.push = mediate;
    CHECK(mediated(passthrough));
}

TEST_CASE("An agent keeps its breaker as long as its calls go to the same endpoint by the same rules")
{
    net::client_contexts contexts;
    gateway::balancing::breaker_shelf breakers;
    auto agent = agent_at("http://agent.test/a");
    const auto made = [&] {
        const gateway::model::entry_defaults defaults{.head_timeout = 30s, .breakers = &breakers};
        auto entry = gateway::model::make_entry(agent, defaults, contexts);
        REQUIRE(entry.has_value());
        return *entry;
    };
    const auto first = made();
    REQUIRE(first->breaker != nullptr);
    CHECK(first->breaker->settings() == core::breaker_settings{});
    CHECK(made()->breaker == first->breaker);
    agent.url = "http://agent.test/another/path";
    CHECK(made()->breaker == first->breaker);
    agent.breaker_failures = 7;
    const auto stricter = made();
    CHECK(stricter->breaker != first->breaker);
    CHECK(stricter->breaker->settings().failures == 7);
    agent.url = "http://other.test/a";
    CHECK(made()->breaker != stricter->breaker);
    agent.id = "other";
    agent.url = "http://agent.test/a";
    CHECK(made()->breaker != stricter->breaker);
}

TEST_CASE("An MCP server has no address for calls")
{
    auto agent = agent_at("http://agent.test/mcp");
    agent.speaks = core::protocol::mcp;
    CHECK(entry_of(agent)->upstream == nullptr);
}

TEST_CASE("A snapshot leaves out what is disabled, and an agent that cannot be used is named")
{
    config::settings settings;
    settings.agents = {agent_at("http://agent.test/"), agent_at("http://other.test/")};
    settings.agents[1].id = "off";
    settings.agents[1].disabled = true;
    const auto made = gateway::model::make_snapshot(settings, "http://gw.test");
    REQUIRE(made.has_value());
    CHECK((*made)->agents.size() == 1);
    CHECK((*made)->agents.contains("weather"));
    CHECK(gateway::model::public_address((*made)->public_base, "weather") == "http://gw.test/agents/weather");

    settings.agents[0].url = "ftp://agent.test/";
    const auto refused = gateway::model::make_snapshot(settings, {});
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == core::errc::config_invalid);
    CHECK(refused.error().detail.find("weather") != std::string::npos);
}

TEST_CASE(
    "An agent is made into one of the other protocol once, whoever asks first, and stays it for each of its endpoints"
)
{
    net::client_contexts contexts;
    gateway::model::entry_defaults defaults;
    auto record = agent_at("http://one.test/");
    const auto unreached = gateway::model::make_entry(record, defaults, contexts);
    REQUIRE(unreached.has_value());
    CHECK((*unreached)->other_side() == nullptr);

    defaults.bridge = [] { return core::descriptor{}; };
    record.rules.emplace().upstreams = {"http://one.test/", "http://two.test/"};
    const auto made = gateway::model::make_entry(record, defaults, contexts);
    REQUIRE(made.has_value());
    const auto second = gateway::model::endpoint_of(*made, 1);
    REQUIRE(second != *made);
    std::array<std::shared_ptr<const gateway::model::agent_entry>, 8> seen;
    {
        std::vector<std::jthread> askers;
        for (std::size_t i = 0; i < seen.size(); ++i) {
            askers.emplace_back([&, i] { seen[i] = (i % 2 == 0 ? *made : second)->other_side(); });
        }
    }
    REQUIRE(seen[0] != nullptr);
    for (const auto& each : seen) {
        CHECK(each == seen[0]);
    }
    CHECK(seen[0]->record.id == "weather");
    CHECK(seen[0]->record.mcp.has_value());
    CHECK(seen[0]->upstream->dial != nullptr);
    CHECK(seen[0]->other_side() == nullptr);
    CHECK(gateway::model::with_fallback(*made, true)->other_side() == seen[0]);

    record.as_tools = core::tool_form::off;
    const auto alone = gateway::model::make_entry(record, defaults, contexts);
    REQUIRE(alone.has_value());
    CHECK((*alone)->other_side() == nullptr);
}

TEST_CASE("An agent has its own names and the one by agent_hosts")
{
    config::settings settings;
    settings.agent_hosts = "{id}.agents.test";
    settings.agents = {agent_at("http://agent.test/")};
    settings.agents[0].hosts = {"w.test"};
    const auto made = gateway::model::make_snapshot(settings, "http://gw.test");
    REQUIRE(made.has_value());
    CHECK((*made)->agents.at("weather")->hosts == std::vector<std::string>{"w.test", "weather.agents.test"});
}

TEST_CASE("The origin of a name has the scheme and the port of the gateway, and no path")
{
    using gateway::model::own_origin;
    CHECK(own_origin("https://gw.test", "a.test") == "https://a.test");
    CHECK(own_origin("https://gw.test:8443/base", "a.test") == "https://a.test:8443");
    CHECK(own_origin("http://[::1]:4000", "a.test") == "http://a.test:4000");
    CHECK(own_origin("http://gw.test:80", "a.test") == "http://a.test");
    CHECK(own_origin("https://gw.test", "A.Test") == "https://a.test");
}

TEST_SUITE_END();
