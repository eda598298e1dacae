#include "config/mcp_flag.hpp"

#include "tests/unit/config/support.hpp"

#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("config/mcp_flag");

TEST_CASE("ID=COMMAND and ID=URL of the command line are the agents that a file makes of the same")
{
    const auto program = config::parse_mcp_flag("files=npx -y 'my server' \"/s r\" --a=b");
    REQUIRE(program.has_value());
    const auto file = config::testing::right(
        "agents: {files: {command: npx, args: [-y, my server, /s r, --a=b]}, web: {protocol: mcp, url: "
        "\"http://h/mcp\"}}"
    );
    CHECK(*program == file.agents[0]);
    CHECK(program->mcp->arguments == std::vector<std::string>{"-y", "my server", "/s r", "--a=b"});
    const auto remote = config::parse_mcp_flag("web=HTTP://H/mcp");
    REQUIRE(remote.has_value());
    CHECK(*remote == file.agents[1]);
    CHECK(config::parse_mcp_flag("web=https://h/mcp?key=k").value().url == "https://h/mcp?key=k");
    CHECK(remote->mcp->transport == core::mcp_transport::streamable_http);
}

TEST_CASE("a URL among the arguments of a program is an argument")
{
    const auto bridge = config::parse_mcp_flag("a=npx mcp-remote https://h/mcp");
    REQUIRE(bridge.has_value());
    CHECK(bridge->mcp->command == "npx");
    CHECK(bridge->mcp->arguments.back() == "https://h/mcp");
    CHECK(config::parse_mcp_flag("a=run --at=https://h/").value().mcp->command == "run");
    CHECK(
        config::parse_mcp_flag("a=run '--at=https://h/?b=c'").value().mcp->arguments.front() == "--at=https://h/?b=c"
    );
}

TEST_CASE("what is neither says why, and shows nothing of the command")
{
    const std::pair<const char*, const char*> rows[] = {
        {"npx -y server",
         "has no '='; expected ID=COMMAND such as 'files=npx -y @modelcontextprotocol/server-filesystem /srv', or "
         "ID=URL"},
        {"npx -y server --port=1", "what is before the first '=' is not an agent's id; expected ID=COMMAND such as"},
        {"=npx", "what is before the first '=' is not an agent's id"},
        {"a=", "the command of a is empty; expected ID=COMMAND such as"},
        {"a= \t", "the command of a is empty"},
        {"a='' -y", "the command of a is empty"},
        {"a=npx s3cr3t | tee", "the command of a has '|' that a shell would act on, and none runs it (column 12)"},
        {"a=npx 's3cr3t", "the command of a has a ' that nothing closes (column 5)"},
        {"a=API_KEY=s3cr3t npx x", "the command of a begins with a variable, and no shell sets it; expected `env`"},
        {"a='s3cr3t\ny'", "the program of a has a control character in its name; expected its path or name"},
        {"a=ws://h/s3cr3t", "the URL of a"},
        {"a=http://h/mcp s3cr3t", "the URL of a"},
        {"a=http://u:s3cr3t@h", "the URL of a has a user name or password in it; expected an http or https URL such as"
        },
    };
    for (const auto& [flag, meant] : rows) {
        CAPTURE(flag);
        const auto agent = config::parse_mcp_flag(flag);
        REQUIRE(agent.has_error());
        CHECK(agent.error().code == core::errc::config_invalid);
        CAPTURE(agent.error().detail);
        CHECK(agent.error().detail.starts_with(meant));
        CHECK(agent.error().detail.find("s3cr3t") == std::string::npos);
    }
}

TEST_SUITE_END();
