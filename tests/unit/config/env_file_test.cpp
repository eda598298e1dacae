#include "config/dump.hpp"
#include "config/mcp_program.hpp"
#include "core/redaction.hpp"
#include "tests/unit/config/support.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using namespace config::testing;

TEST_SUITE_BEGIN("config/env_file");

namespace {

using variables_list = std::vector<std::pair<std::string, std::string>>;

config::loaded load_with(std::string_view text, const std::string& file)
{
    return config::load(text, "c.yml", variables, [&](const std::string& path) -> core::result<std::string> {
        return path == "/e" ? core::result<std::string>{file}
                            : core::gateway_error(core::errc::config_invalid, "cannot be opened: no such file");
    });
}

}  // namespace

TEST_CASE("a line is a variable as VS Code reads it")
{
    for (const auto& [line, wanted] : std::vector<std::pair<std::string, variables_list>>{
             {"A=b", {{"A", "b"}}},
             {"  A = b c  ", {{"A", "b c"}}},
             {"A: b", {{"A", "b"}}},
             {"A=b:c=d", {{"A", "b:c=d"}}},
             {"export A=b", {{"A", "b"}}},
             {"export  A=b", {{"A", "b"}}},
             {"exported=b", {{"exported", "b"}}},
             {"A=", {{"A", ""}}},
             {"A=\"\"", {{"A", ""}}},
             {"A=b # comment", {{"A", "b"}}},
             {"A=b#c", {{"A", "b"}}},
             {"A=\"b # c\" # d", {{"A", "b # c"}}},
             {"A='b\\nc'", {{"A", "b\\nc"}}},
             {"A=`b'c\"`", {{"A", "b'c\""}}},
             {"A=\"b\\nc\\rd\\te\"", {{"A", "b\nc\rd\\te"}}},
             {"A=\"b\\\"c\" # d", {{"A", "b\\\"c"}}},
             {"A=\"b", {{"A", "\"b"}}},
             {"A=b\"", {{"A", "b\""}}},
             {"A=\"", {{"A", "\""}}},
             {"A=\"b' # c", {{"A", "\"b' # c"}}},
             {"A=$B ${C}", {{"A", "$B ${C}"}}},
             {"# A=b", {}},
             {"   # A=b", {}},
             {"", {}},
             {"A=1\nA=2\nB=3", {{"A", "2"}, {"B", "3"}}},
             {"A=1\r\nB=2\rC=3\n\n", {{"A", "1"}, {"B", "2"}, {"C", "3"}}},
             {"\xEF\xBB\xBF"
              "A=b",
              {{"A", "b"}}},
         }) {
        CAPTURE(line);
        const auto parsed = config::parse_env_file(line);
        CHECK((parsed.variables == wanted));
        CHECK(parsed.other_lines.empty());
    }
}

TEST_CASE("a line that is no variable is named by its number, however lines end")
{
    CHECK(config::parse_env_file("A=b\nplain\n=c\n\"D=e\"\n").other_lines == std::vector<unsigned>{2, 3, 4});
    CHECK(config::parse_env_file("A\r\nB=c\rD\nE").other_lines == std::vector<unsigned>{1, 3, 4});
}

TEST_CASE("a file of 64 KiB of short names is read at once")
{
    std::string text;
    for (int i = 0; text.size() < 64 * 1024; ++i) {
        text += std::to_string(i) + "=\n";
    }
    CHECK(config::parse_env_file(text).variables.size() > 8000);
}

TEST_CASE("the file's variables are the program's, behind what env says, and secrets everywhere")
{
    const std::string text = "agents: {a: {command: x, args: [-y], env: {B: own}, env_file: /e}}";
    const auto read = load_with(text, "A=hunter2-hunter2\nB=hunter3-hunter3\nno variable");
    CHECK(lines(read.problems) == "");
    CHECK(
        lines(read.warnings) ==
        "c.yml:1:63: warning: agents.a.env_file: line 3 of the file has no effect; expected NAME=value\n"
    );
    const auto& agent = read.value.agents.at(0);
    CHECK(
        agent.mcp->environment ==
        decltype(agent.mcp->environment){{"A", core::secret{"hunter2-hunter2"}}, {"B", core::secret{"own"}}}
    );
    CHECK(agent.metadata.find("hunter") == std::string::npos);
    CHECK(core::redaction_of(*agent.mcp).apply("said hunter2-hunter2") == "said ********");
    const auto dumped = config::dump(read.value, {text, "c.yml", variables, {}});
    CHECK(dumped.dump().find("hunter") == std::string::npos);
    CHECK(dumped["agents"]["a"]["env_file"] == core::json{{"value", "/e"}, {"origin", "c.yml:1"}});
}

TEST_CASE("a program in either form takes a file of variables, and only a program does")
{
    for (const auto* good :
         {"agents: {a: {command: x, envFile: /e}}",
          "agents: {a: {transport: {command: x}, env_file: /e}}",
          "mcpServers: {a: {type: local, command: x, envFile: /e}}"}) {
        CAPTURE(good);
        const auto read = load_with(good, "A=b");
        CHECK(lines(read.problems) == "");
        CHECK(read.value.agents.at(0).mcp->environment.size() == 1);
    }
    const std::pair<const char*, const char*> rows[]{
        {"agents: {a: {url: \"http://h\", env_file: /e}}",
         "c.yml:1:41: agents.a.env_file: is for MCP servers; expected protocol: mcp, or a url alone\n"},
        {"mcpServers: {a: {url: \"http://h\", env_file: /e}}",
         "c.yml:1:45: mcpServers.a.env_file: stands without a command; expected both\n"},
        {"mcpServers: {a: {command: x, env_file: /none}}",
         "c.yml:1:40: mcpServers.a.env_file: \"/none\" cannot be opened: no such file; expected the path of a file "
         "with "
         "environment variables\n"},
        {"mcpServers: {a: {command: x, env_file: /e, envFile: /e}}",
         "c.yml:1:44: mcpServers.a.envFile: is the same as mcpServers.a.env_file, which is given too; expected one of "
         "the two\n"},
    };
    for (const auto& [text, said] : rows) {
        CAPTURE(text);
        CHECK(lines(load_with(text, "A=b").problems) == said);
    }
    const auto with_nul = load_with("mcpServers: {a: {command: x, env_file: /e}}", std::string{"A=hunter2\0x", 11});
    CHECK(
        lines(with_nul.problems) ==
        "c.yml:1:40: mcpServers.a.env_file: names a file with a NUL in it; expected lines such as NAME=value\n"
    );
}

TEST_CASE("callers of the management API name no file, and no key of clients")
{
    const auto said = [](std::string_view record) {
        return lines(config::read_agent("a", core::parse_json(record).value(), "agent", {}).problems);
    };
    for (const auto* key : {"env_file", "envFile"}) {
        const auto problem = said(R"({"command":"x",")" + std::string{key} + R"(":"/etc/shadow"})");
        CAPTURE(problem);
        CHECK(
            problem.find("cannot be read here; expected the path of a file with environment variables") !=
            std::string::npos
        );
    }
    CHECK(
        said(R"({"command":"x","autoApprove":[]})")
            .find("is a key of MCP clients that has no meaning here; remove it") != std::string::npos
    );
    CHECK(said(R"({"serverUrl":"http://h","protocol":"mcp"})") == "");
}

TEST_SUITE_END();
