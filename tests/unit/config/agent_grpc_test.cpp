#include "config/agents.hpp"
#include "config/compare.hpp"
#include "config/json_schema.hpp"
#include "config/url.hpp"
#include "core/agent.hpp"
#include "tests/support/schema_validator.hpp"
#include "tests/unit/config/support.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace config::testing;
using core::json;

TEST_SUITE_BEGIN("config/agent_grpc");

namespace {

std::string agent(const std::string& keys)
{
    return "agents: {a: {" + keys + "}}";
}

core::agent read(const std::string& keys)
{
    return right(agent(keys)).agents.at(0);
}

}  // namespace

TEST_CASE("An agent may be reached by gRPC alone, or beside its url")
{
    const auto alone = read("url: \"GRPC://Agent.Example:50051\"");
    CHECK(alone.url == "grpc://agent.example:50051");
    CHECK(core::only_grpc(alone));
    CHECK(core::grpc_address(alone) == "http://agent.example:50051");
    CHECK(core::grpc_address(read("url: \"grpcs://[::1]:443\"")) == "https://[::1]:443");

    const auto beside = read("url: \"http://h/a2a\", grpc_url: \"grpcs://h:9443\"");
    CHECK_FALSE(core::only_grpc(beside));
    CHECK(core::grpc_address(beside) == "https://h:9443");
    CHECK(core::grpc_address(read("url: \"http://h/a2a\"")).empty());

    const auto several = read("upstreams: [\"grpc://h:1\", \"grpc://h:2\"]");
    CHECK(several.url == "grpc://h:1");
    CHECK(core::rules_of(several).upstreams.back() == "grpc://h:2");
    CHECK(config::parse_agent_flag("a=grpc://h:1")->url == "grpc://h:1");
}

TEST_CASE("A URL of gRPC has a host and a port, and nothing else")
{
    constexpr const char* meant = "; expected grpc://host:port or grpcs://host:port\n";
    const std::pair<const char*, const char*> rows[] = {
        {"grpc://h:1/", "has a path, which gRPC does not have"},
        {"grpc://h:1/a2a", "has a path, which gRPC does not have"},
        {"grpcs://h?x=1", "has a query (?)"},
        {"grpc://h#x", "has a fragment (#)"},
        {"grpc://user:s3cr3t@h:1", "has a user name or password in it"},
        {"grpc://", "has no host"},
        {"grpc://h", "has no port"},
        {"grpcs://[::1]", "has no port"},
        {"grpc://h:", "has no valid port (1 to 65535)"},
        {"grpc://h:0", "has no valid port (1 to 65535)"},
        {"grpc://h:65536", "has no valid port (1 to 65535)"},
    };
    for (const auto& [url, why] : rows) {
        CAPTURE(url);
        const auto quoted = '"' + std::string{url} + '"';
        CHECK(problems_of(agent("url: " + quoted)) == "c.yml:1:19: agents.a.url: " + std::string{why} + meant);
        CHECK(
            problems_of(agent("url: \"http://h\", grpc_url: " + quoted)) ==
            "c.yml:1:41: agents.a.grpc_url: " + std::string{why} + meant
        );
    }
    CHECK(
        problems_of(agent("url: \"http://h\", grpc_url: \"http://h:1\"")) ==
        "c.yml:1:41: agents.a.grpc_url: is not a grpc or grpcs URL" + std::string{meant}
    );
}

TEST_CASE("What contradicts a URL of gRPC is a problem at its place")
{
    constexpr const char* needs_2 =
        "agents.a.http: is 1.1 for an agent with a URL of gRPC, which needs HTTP/2; expected auto or 2\n";
    CHECK(problems_of(agent("url: \"grpc://h:1\", http: 1.1")) == "c.yml:1:39: " + std::string{needs_2});
    CHECK(
        problems_of(agent("url: \"http://h\", grpc_url: \"grpc://h:1\", http: 1.1")) ==
        "c.yml:1:61: " + std::string{needs_2}
    );
    CHECK(
        problems_of(agent("url: \"grpc://h:1\", grpc_url: \"grpc://h:2\"")) ==
        "c.yml:1:43: agents.a.grpc_url: stands beside a url of gRPC; expected one of the two\n"
    );
    CHECK(
        problems_of(agent("upstreams: [\"http://a\", \"http://b\"], grpc_url: \"grpc://h:2\"")) ==
        "c.yml:1:61: agents.a.grpc_url: stands beside several upstreams; expected one url\n"
    );
    CHECK(
        problems_of(agent("upstreams: [\"http://a\", \"grpc://b:1\"]")) ==
        "c.yml:1:38: agents.a.upstreams[1]: is of gRPC beside URLs that are not; expected all of one kind\n"
    );
    CHECK(
        problems_of(agent("url: \"grpc://h:1\", speaks: [1.0/grpc, 1.0/rest]")) ==
        "c.yml:1:41: agents.a.speaks: has another binding than that of the url; expected 1.0/grpc, 0.3/grpc or both\n"
    );
    CHECK(read("url: \"grpc://h:1\", speaks: [0.3/grpc]").dialects.size() == 1);
    CHECK(
        problems_of("agents: {a: {command: npx, grpc_url: \"grpc://h:1\", relay_services: [a.B]}}") ==
        "c.yml:1:38: agents.a.grpc_url: is for A2A agents; remove it\n"
        "c.yml:1:68: agents.a.relay_services: is for A2A agents; remove it\n"
    );
}

TEST_CASE("The version of HTTP is auto, 1.1 or 2, for servers of MCP too")
{
    using enum core::http_version;
    CHECK(read("url: \"http://h\"").http == automatic);
    CHECK(read("url: \"http://h\", http: auto").http == automatic);
    CHECK(read("url: \"http://h\", http: 1.1").http == v1_1);
    CHECK(read("url: \"http://h\", http: 2").http == v2);
    CHECK(read("url: \"grpc://h:1\", http: 2").http == v2);
    CHECK(read("url: \"http://h\", protocol: mcp, http: 2").http == v2);
    CHECK(
        problems_of(agent("url: \"http://h\", http: 3")) ==
        "c.yml:1:37: agents.a.http: \"3\" is not one of them; expected auto, 1.1 or 2\n"
    );
    for (const auto& [value, version] :
         {std::pair{json(2), v2}, {json(1.1), v1_1}, {json("2"), v2}, {json("auto"), automatic}}) {
        CAPTURE(value);
        const json definition{{"url", "http://h"}, {"http", value}};
        const auto made = config::read_agent("a", definition, "agent", {});
        CHECK(lines(made.problems) == "");
        CHECK(made.agent.http == version);
        CHECK(test_support::validator{config::json_schema()}.takes({{"agents", {{"a", definition}}}}));
    }
}

TEST_CASE("Services that pass unread have a package, each once, and are none of A2A's")
{
    const auto services = [](const std::string& list) {
        return problems_of(agent("url: \"grpc://h:1\", relay_services: " + list));
    };
    CHECK(
        read("url: \"grpc://h:1\", relay_services: [grpc.reflection.v1.ServerReflection, a_1.B]").relay_services ==
        std::vector<std::string>{"grpc.reflection.v1.ServerReflection", "a_1.B"}
    );
    for (const auto* wrong : {"Service", "a..B", ".a.B", "a.B.", "a.1B", "a.B/Get", "/a.B", "a-b.C", "\"\""}) {
        CAPTURE(wrong);
        CHECK(services('[' + std::string{wrong} + ']').find("agents.a.relay_services[0]: ") != std::string::npos);
    }
    CHECK(services("[a.B, a.B]").find("is given twice") != std::string::npos);
    for (const auto* own : {"lf.a2a.v1.A2AService", "a2a.v1.A2AService"}) {
        CHECK(services('[' + std::string{own} + ']').find("is a service of A2A") != std::string::npos);
    }
    const auto longest = "a." + std::string(254, 'b');
    CHECK(services('[' + longest + ']').empty());
    CHECK_FALSE(services('[' + longest + "b]").empty());
}

TEST_CASE("How callers reach agents by gRPC is a host with a port, and the id of an agent")
{
    for (const auto* good : {"grpc.example.com:443", "10.0.0.1:1", "\"[::1]:65535\""}) {
        CAPTURE(good);
        CHECK(problems_of("grpc: {public: " + std::string{good} + '}').empty());
    }
    for (const std::string wrong : {"grpc.example.com", "https://h:443", "h:0", "h:65536", "::1:443", "h:"}) {
        CAPTURE(wrong);
        CHECK(problems_of("grpc: {public: \"" + wrong + "\"}").find("grpc.public: ") != std::string::npos);
    }
    CHECK(right("grpc: {default_agent: dice}").grpc.default_agent == "dice");
    CHECK(problems_of("grpc: {default_agent: a/b}").find("is not an agent's id") != std::string::npos);
    CHECK(right("{}").http2);
    CHECK_FALSE(right("http2: false").http2);
}

TEST_CASE("Keys of HTTP/2 and gRPC of the process need a restart, those of an agent do not")
{
    const auto before = right(agent("url: \"http://h\""));
    const auto now = right(
        "http2: false\ngrpc: {public: \"h:1\", default_agent: a}\n"
        "limits: {http2_streams: 1, http2_resets: 1, http2_control: 1, grpc_message: 1KiB, "
        "upstream_http2_connections: 1}\n"
        "timeouts: {http2_age: 1m}\n" +
        agent("url: \"http://h\", grpc_url: \"grpc://h:1\", http: 2, relay_services: [a.B]")
    );
    const auto changes = config::compare(before, now);
    CHECK(changes.settings.empty());
    CHECK(changes.needs_restart.size() == 9);
    REQUIRE(changes.changed.size() == 1);
    CHECK(changes.changed[0].keys == std::vector<std::string_view>{"grpc_url", "http", "relay_services"});
}
