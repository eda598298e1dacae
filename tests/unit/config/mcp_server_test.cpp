#include "config/agents.hpp"
#include "core/json/json.hpp"
#include "tests/unit/config/support.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace config::testing;
using namespace std::chrono_literals;

TEST_SUITE_BEGIN("config/mcp_server");

namespace {

core::mcp_server server(const std::string& members)
{
    return right("agents: {a: {" + members + "}}").agents.at(0).mcp.value_or({});
}

std::string problems(const std::string& members)
{
    return problems_of("agents: {a: {" + members + "}}");
}

std::string api_problems(const std::string& definition)
{
    std::string all;
    for (const auto& each : config::read_agent("a", *core::parse_json(definition), "agent", {}).problems) {
        all += each.key + ": " + each.what + '\n';
    }
    return all;
}

}  // namespace

TEST_CASE("the transport is what its type says, or else what else it has")
{
    using enum core::mcp_transport;
    const std::pair<const char*, core::mcp_transport> rows[]{
        {"command: x", stdio},
        {"transport: {command: x}", stdio},
        {"transport: {type: stdio, command: x}", stdio},
        {"transport: {url: \"http://h\"}", streamable_http},
        {"protocol: mcp, url: \"http://h\"", streamable_http},
        {"transport: {type: http, url: \"http://h\"}", streamable_http},
        {"transport: {type: streamable_http, url: \"http://h\"}", streamable_http},
        {"transport: {type: streamableHttp, url: \"http://h\"}", streamable_http},
        {"transport: {type: sse, url: \"http://h\"}", sse},
        {"transport: {package: {name: x}}", unsupported},
        {"transport: {type: stdio, package: {name: x}}", unsupported},
    };
    for (const auto& [members, transport] : rows) {
        CAPTURE(members);
        CHECK(server(members).transport == transport);
    }
    CHECK(
        problems("transport: {type: pigeon, url: \"http://h\"}") ==
        "c.yml:1:32: agents.a.transport.type: \"pigeon\" is not a transport; expected stdio, streamable-http or sse\n"
    );
    CHECK(
        problems("transport: {type: stdio, url: \"http://h\"}") ==
        "c.yml:1:32: agents.a.transport.type: \"stdio\" needs a command; expected stdio, streamable-http or sse\n"
    );
    CHECK(
        problems("transport: {type: sse, command: x}") ==
        "c.yml:1:32: agents.a.transport.type: \"sse\" needs a url; expected stdio, streamable-http or sse\n"
    );
    CHECK(
        problems("transport: {url: \"http://h\", headrs: {}}") ==
        "c.yml:1:43: agents.a.transport.headrs: is not a known key; did you mean `headers`?\n"
    );
}

TEST_CASE("the HTTP+SSE transport has no era without sessions")
{
    const std::string sse = "transport: {type: sse, url: \"http://h\"}";
    CHECK(server(sse + ", era: auto").era == core::mcp_era::automatic);
    CHECK(server(sse + ", era: legacy").era == core::mcp_era::legacy);
    CHECK(
        problems(sse + ", era: modern") ==
        "c.yml:1:60: agents.a.era: stands beside the type sse, which has no modern era; expected auto or legacy\n"
    );
    CHECK(
        problems("type: sse, url: \"http://h\", protocol: mcp, era: modern")
            .find("agents.a.era: stands beside the type sse") != std::string::npos
    );
    CHECK(server("transport: {url: \"http://h\"}, era: modern").era == core::mcp_era::modern);
}

TEST_CASE("a program gets its arguments, its variables and its directory as they are written")
{
    const auto all =
        server("command: /bin/x, args: [-a, \"b c\", \"\", \"$${NOT\"], env: {A: \"1\", B: \"\"}, cwd: /srv");
    CHECK(all.command == "/bin/x");
    CHECK(all.arguments == std::vector<std::string>{"-a", "b c", "", "${NOT"});
    CHECK(all.environment == std::vector<std::pair<std::string, core::secret>>{{"A", core::secret{"1"}}, {"B", {}}});
    CHECK(all.directory == "/srv");
    CHECK(
        problems("command: x, env: {\"A=B\": c}") ==
        "c.yml:1:32: agents.a.env.A(...): is not a variable's name; expected a name such as API_KEY\n"
    );
    CHECK(
        problems("command: x, args: y") ==
        "c.yml:1:32: agents.a.args: is a single value; expected a list of arguments\n"
    );
    CHECK(problems("command: \"\"").find("agents.a.command: is empty") != std::string::npos);
}

TEST_CASE("headers go with a URL, once, and are none that the gateway sets")
{
    CHECK(right("agents: {a: {transport: {url: \"http://h\", headers: {X-Key: k}}}}").agents.at(0).headers.size() == 1);
    CHECK(
        problems("transport: {url: \"http://h\", headers: {A: b}}, headers: {A: c}") ==
        "c.yml:1:70: agents.a.headers: stands beside the headers of the transport; expected one of the two\n"
    );
    CHECK(
        problems("command: x, headers: {A: b}") == "c.yml:1:35: agents.a.headers: stands without a url; expected both\n"
    );
    CHECK(
        problems("url: \"http://h\", protocol: mcp, headers: {Host: b}").find("is set by the gateway") !=
        std::string::npos
    );
}

TEST_CASE("what MCP clients have in their configuration is taken as it is")
{
    const auto agents = right(R"({"mcpServers": {
        "files": {"command": "npx", "args": ["-y", "server-filesystem", "/srv"], "env": {"DEBUG": "1"}},
        "search": {"type": "http", "url": "https://mcp.example.com/mcp", "headers": {"Authorization": "Bearer t"}},
        "old": {"type": "sse", "url": "http://h/sse"},
        "bare": {"url": "http://h/mcp", "disabled": true}
    }, "agents": {"dice": {"url": "http://h"}}})")
                            .agents;
    REQUIRE(agents.size() == 5);
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(agents[i].speaks == core::protocol::mcp);
        REQUIRE(agents[i].mcp.has_value());
    }
    CHECK(agents[0].mcp->transport == core::mcp_transport::stdio);
    CHECK(agents[0].mcp->arguments.size() == 3);
    CHECK(agents[1].mcp->transport == core::mcp_transport::streamable_http);
    CHECK(agents[1].headers.size() == 1);
    CHECK(agents[2].mcp->transport == core::mcp_transport::sse);
    CHECK(agents[3].mcp->transport == core::mcp_transport::streamable_http);
    CHECK(agents[3].disabled);
    CHECK(agents[4].speaks == core::protocol::a2a);
    CHECK(
        problems_of("agents: {a: {url: \"http://h\"}}\nmcpServers: {a: {command: x}}") ==
        "c.yml:2:14: mcpServers.a: is an agent already; expected another id\n"
    );
    CHECK(problems_of("mcpServers: {a: {comand: x}}").find("did you mean `command`?") != std::string::npos);
}

TEST_CASE("a key that nothing is near to is answered with every key of agents, each once")
{
    const auto unknown = problems("command: x, qqqqqqq: 1");
    for (const auto* key : {"tls", "timeouts", "restart"}) {
        const auto word = ' ' + std::string{key} + ',';
        CHECK(unknown.find(word) != std::string::npos);
        CHECK(unknown.find(word) == unknown.rfind(word));
    }
}

TEST_CASE("a command that is a whole line is none, and shows nothing of it; a path may have blanks")
{
    CHECK(
        problems("command: npx -y s3cr3t") ==
        "c.yml:1:23: agents.a.command: is a whole line; expected the program alone, with its arguments in args\n"
    );
    CHECK(problems("transport: {command: uvx x}").find("is a whole line") != std::string::npos);
    CHECK(server("command: /opt/my server/bin/x").command == "/opt/my server/bin/x");
    CHECK(server("command: npx").command == "npx");
}

TEST_CASE("The URL of a server may have a query, which is never shown")
{
    const auto agent = right("mcpServers: {a: {url: \"https://h/mcp?key=s3cr3t\"}}").agents.at(0);
    CHECK(agent.url == "https://h/mcp?key=s3cr3t");
    const auto long_form = right("agents: {a: {transport: {url: \"https://h/mcp?key=s3cr3t\"}}}").agents.at(0);
    CHECK(long_form.url == "https://h/mcp?key=s3cr3t");
    CHECK(long_form.metadata == R"({"transport":{"url":"https://h/mcp?********"}})");
}

TEST_CASE("what is not said of a session has its default, and what is said its bounds")
{
    const auto bare = server("command: x");
    CHECK(bare.start == core::mcp_start::eager);
    CHECK(bare.era == core::mcp_era::automatic);
    CHECK(bare.initialize_timeout == 60s);
    CHECK(bare.request_timeout == 30s);
    CHECK(bare.ping_interval == 30s);
    CHECK_FALSE(bare.walk.has_value());
    CHECK(bare.backoff == 500ms);
    CHECK(bare.max_backoff == 60s);
    CHECK(bare.max_message == 8 * 1024 * 1024);
    CHECK_FALSE(bare.stale_if_error);
    CHECK(server("command: x, timeouts: {ping: 0}").ping_interval == 0s);
    CHECK(server("command: x, walk: 0").walk == 0s);
    CHECK(server("command: x, walk: 1d").walk == 24h);
    CHECK(server("command: x, max_message: 64KiB").max_message == 65536);
    CHECK(server("command: x, max_message: 1GiB").max_message == 1024 * 1024 * 1024);
    const std::pair<const char*, const char*> rows[]{
        {"command: x, start: soon", "agents.a.start: \"soon\" is not one of them; expected eager or lazy"},
        {"command: x, era: old", "agents.a.era: \"old\" is not one of them; expected auto, legacy or modern"},
        {"command: x, max_message: 65535", "agents.a.max_message: \"65535\" is out of range; expected 64KiB to 1GiB"},
        {"command: x, max_message: 1073741825",
         "agents.a.max_message: \"1073741825\" is out of range; expected 64KiB to 1GiB"},
        {"command: x, max_message: 1025MiB", "agents.a.max_message: \"1025MiB\" is out of range; expected 64KiB to 1GiB"
        },
        {"command: x, timeouts: {initialize: 0}",
         "agents.a.timeouts.initialize: \"0\" is out of range; expected 1ms to 1d"},
        {"command: x, walk: 25h", "agents.a.walk: \"25h\" is out of range; expected 0 to 1d"},
        {"command: x, restart: {backoff: 9ms}", "agents.a.restart.backoff: \"9ms\" is out of range; expected 10ms to 1d"
        },
        {"command: x, restart: {backoff: 2m}",
         "agents.a.restart: has a backoff over its max_backoff; expected at most max_backoff"},
        {"command: x, timeouts: {init: 1s}", "agents.a.timeouts.init: is not a known key"},
        {"url: \"http://h\", start: lazy", "agents.a.start: is for MCP servers"},
    };
    for (const auto& [members, what] : rows) {
        CAPTURE(members);
        const auto said = problems(members);
        CAPTURE(said);
        CHECK(said.find(what) != std::string::npos);
    }
}

TEST_CASE("the times of a session are taken at their limits and refused one step beyond")
{
    struct row {
        const char* key;
        const char* below;  // null: there is nothing below
        const char* least;
        const char* most;
    };
    for (const auto& r : {
             row{"timeouts: {initialize: ", "0", "1ms", "1d"},
             row{"timeouts: {request: ", "0", "1ms", "1d"},
             row{"timeouts: {ping: ", nullptr, "0", "1d"},
             row{"restart: {max_backoff: 1d, backoff: ", "9ms", "10ms", "1d"},
             row{"restart: {backoff: 10ms, max_backoff: ", "9ms", "10ms", "1d"},
         }) {
        CAPTURE(r.key);
        const auto with = [&](const char* value) {
            return problems(std::string{"command: x, "} + r.key + value + '}');
        };
        CHECK(with(r.least) == "");
        CHECK(with(r.most) == "");
        for (const auto* beyond : {r.below, "1d1ms"}) {
            CHECK((beyond == nullptr || with(beyond).find("is out of range; ") != std::string::npos));
        }
    }
}

TEST_CASE("the header fields of the protocol are the gateway's own, in either place")
{
    for (const std::string own :
         {"Host",
          "Accept",
          "content-type",
          "Last-Event-ID",
          "MCP-Session-Id",
          "Mcp-Protocol-Version",
          "Mcp-Method",
          "mcp-name"}) {
        CAPTURE(own);
        const auto said = own + ": is set by the gateway itself; expected another header field\n";
        CHECK(
            api_problems(R"({"protocol":"mcp","url":"http://h","headers":{")" + own + R"(":"x"}})") ==
            "agent.headers." + said
        );
        CHECK(
            api_problems(R"({"transport":{"url":"http://h","headers":{")" + own + R"(":"x"}}})") ==
            "agent.transport.headers." + said
        );
    }
    CHECK(
        api_problems(R"({"transport":{"url":"http://h","headers":{"Accept-Language":"de","Authorization":"x"}}})") == ""
    );
    CHECK(api_problems(R"({"protocol":"a2a","url":"http://h","card_headers":{"Accept":"application/json"}})") == "");
}

TEST_CASE("over the management API no variable is set that decides which code is loaded, and no mask is a credential")
{
    CHECK(
        api_problems(R"({"command":"x","env":{"LD_PRELOAD":"/tmp/x.so","API_KEY":"k"}})") ==
        "agent.env.LD_PRELOAD: decides which code is loaded; the configuration file may set it\n"
    );
    CHECK(
        api_problems(R"({"transport":{"command":"x","env":{"NODE_OPTIONS":"--require x"}}})") ==
        "agent.transport.env.NODE_OPTIONS: decides which code is loaded; the configuration file may set it\n"
    );
    CHECK(
        api_problems(R"({"transport":{"url":"http://h","headers":{"Authorization":"********"}}})") ==
        "agent.transport.headers.Authorization: is the mask of a credential; expected the credential itself\n"
    );
    CHECK(api_problems(R"({"command":"x","env":{"A":"b"},"args":["-y"]})") == "");
    CHECK(server("command: x, env: {PATH: /opt/bin}").environment.size() == 1);
}

TEST_SUITE_END();
