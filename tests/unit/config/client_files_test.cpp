// The configuration files of MCP clients, as their users have them (tests/data/config/clients), given to the gateway.
#include "config/client_files.hpp"

#include "config/document.hpp"
#include "config/file.hpp"
#include "config/json_schema.hpp"
#include "tests/unit/config/support.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace config::testing;

TEST_SUITE_BEGIN("config/client_files");

namespace {

using environment_map = std::map<std::string, std::string, std::less<>>;

config::loaded load_named(
    std::string_view text,
    std::string_view name,
    const environment_map& environment = {},
    const environment_map& files = {}
)
{
    return config::load(
        text,
        name,
        [&](std::string_view variable) {
            const auto found = environment.find(variable);
            return found == environment.end() ? std::nullopt : std::optional{found->second};
        },
        [&](const std::string& path) -> core::result<std::string> {
            const auto found = files.find(path);
            return found == files.end() ? core::gateway_error(core::errc::config_invalid, "cannot be opened: no file")
                                        : core::result<std::string>{found->second};
        }
    );
}

std::string text_of(const std::string& name)
{
    const auto text = config::read_file(CARDEA_TEST_DATA "/config/clients/" + name);
    REQUIRE(text.has_value());
    return *text;
}

std::string lines_without(const std::vector<config::problem>& problems, const std::string& name)
{
    std::string text;
    for (const auto& each : problems) {
        const auto line = to_text(each);
        CHECK(line.starts_with(name + ':'));
        text += line.substr(name.size() + 1) + '\n';
    }
    return text;
}

std::string ids(const config::settings& s)
{
    std::string text;
    for (const auto& each : s.agents) {
        CHECK(each.speaks == core::protocol::mcp);
        text += (text.empty() ? "" : " ") + each.id;
    }
    return text;
}

constexpr const char* of_client = "has no effect: only MCP clients use it\n";
constexpr const char* filter = "has no effect: `tools` says which tools callers get\n";
constexpr const char* no_login =
    "has no effect: Cardea signs in to MCP servers only with `headers` and `credentials`\n";
constexpr const char* no_unit = "has no effect: it has no unit; `timeouts.request` sets this time here, such as 30s\n";

struct outcome {
    std::string file;
    environment_map environment;
    std::string agents;  // empty: it cannot be used
    std::string problems;
    std::string warnings;
};

}  // namespace

TEST_CASE("every file of a client loads, or each thing that stands in the way is said once")
{
    const auto warning = [](const char* place, const char* key, const char* why) {
        return std::string{place} + ": warning: mcpServers." + key + ": " + why;
    };
    const std::string not_set = " is not set; ${";
    for (const auto& each : std::vector<outcome>{
             {"claude_desktop.json",
              {},
              "filesystem time github",
              "",
              "14:3: warning: globalShortcut: " + std::string{of_client} +
                  "15:3: warning: preferences: " + std::string{of_client}},
             {"claude_code.mcp.json",
              {{"API_KEY", "k"}},
              "airtable sentry api asana oauth helper",
              "",
              warning("7:69", "oauth.oauth", no_login) + warning("8:75", "helper.headersHelper", no_login)},
             {"claude_code.mcp.json",
              {},
              "",
              "5:113: mcpServers.api.headers.Authorization: the variable API_KEY" + not_set +
                  "API_KEY:-default} gives it a default\n",
              warning("7:69", "oauth.oauth", no_login) + warning("8:75", "helper.headersHelper", no_login)},
             {"cline.json",
              {},
              "weather remote",
              "",
              warning("3:93", "weather.alwaysAllow", of_client) + warning("3:119", "weather.autoApprove", of_client) +
                  warning("3:156", "weather.timeout", no_unit)},
             {"codex.toml", {}, "", "1:1: is TOML; expected YAML or JSON, with the servers below `mcpServers`\n", ""},
             {"copilot_agent.json", {}, "s", "", ""},
             {"cursor.json",
              {{"workspaceFolder", "/w"}, {"API_KEY", "k"}, {"HOME", "/home/me"}},
              "local remote oauth",
              "",
              warning("5:53", "oauth.auth", no_login)},
             {"cursor.json",
              {{"API_KEY", "k"}, {"HOME", "/home/me"}},
              "",
              "3:62: mcpServers.local.args[0]: the variable workspaceFolder" + not_set +
                  "workspaceFolder:-default} gives it a default\n",
              warning("5:53", "oauth.auth", no_login)},
             {"gemini.json",
              {},
              "py http",
              "",
              warning("3:115", "py.timeout", no_unit) + warning("3:133", "py.trust", of_client) +
                  warning("3:148", "py.includeTools", filter) + warning("3:171", "py.excludeTools", filter) +
                  warning("4:77", "http.timeout", no_unit)},
             {"goose.yaml",
              {},
              "",
              "1:1: extensions: is Goose's form of MCP servers; expected `mcpServers`, with `command` for `cmd` and "
              "`env` for `envs`\n",
              ""},
             {"librechat.yaml",
              {},
              "everything pw",
              "",
              warning("5:5", "everything.timeout", no_unit) +
                  warning(
                      "6:5",
                      "everything.initTimeout",
                      "has no effect: `timeouts.initialize` sets this time here\n"
                  ) +
                  warning("7:5", "everything.serverInstructions", of_client) +
                  warning("8:5", "everything.iconPath", of_client) + warning("9:5", "everything.chatMenu", of_client) +
                  warning("13:5", "pw.stderr", "has no effect: Cardea logs what a server writes to stderr\n")},
             {"roo.json",
              {},
              "r",
              "",
              warning("1:86", "r.alwaysAllow", of_client) + warning("1:124", "r.watchPaths", of_client)},
             {"vscode.json",
              {{"INPUT_PERPLEXITY_KEY", "k"}},
              "github perplexity fetch",
              "",
              "9:80: warning: servers.fetch.dev: " + std::string{of_client}},
             {"vscode.json",
              {},
              "",
              "8:126: servers.perplexity.env.PERPLEXITY_API_KEY: the variable INPUT_PERPLEXITY_KEY is not set; it "
              "replaces the input perplexity-key, which only an editor can ask for\n",
              "9:80: warning: servers.fetch.dev: " + std::string{of_client}},
             {"windows.json", {}, "fs", "", warning("1:140", "fs.description", of_client)},
             {"windsurf.json", {}, "figma gh", "", warning("4:131", "gh.disabledTools", filter)},
             {"zed.json", {}, "", "1:2: context_servers: is Zed's name for MCP servers; expected `mcpServers`\n", ""},
         }) {
        CAPTURE(each.file);
        const auto read = load_named(text_of(each.file), each.file, each.environment, {{"/home/me/.env", ""}});
        CHECK(lines_without(read.problems, each.file) == each.problems);
        CHECK(lines_without(read.warnings, each.file) == each.warnings);
        CHECK((each.agents.empty() || ids(read.value) == each.agents));
        CHECK(each.agents.empty() != each.problems.empty());
    }
}

TEST_CASE("what a client's file says of a server is what the gateway does")
{
    const auto agents = [](const char* name, const environment_map& environment = {}) {
        auto read = load_named(text_of(name), name, environment, {{"/home/me/.env", "FROM_FILE=f\nAPI_KEY=other\n"}});
        REQUIRE(lines(read.problems) == "");
        return std::move(read.value.agents);
    };
    const auto cursor = agents("cursor.json", {{"workspaceFolder", "/w"}, {"API_KEY", "k"}, {"HOME", "/home/me"}});
    CHECK(cursor[0].mcp->arguments == std::vector<std::string>{"/w/mcp-server.py"});
    CHECK(
        cursor[0].mcp->environment ==
        decltype(cursor[0].mcp->environment){{"FROM_FILE", core::secret{"f"}}, {"API_KEY", core::secret{"k"}}}
    );
    const auto gemini = agents("gemini.json");
    CHECK(gemini[0].mcp->directory == "./mcp-servers/python");
    CHECK(gemini[1].url == "http://localhost:3000/mcp");
    CHECK_FALSE(gemini[1].timeout.has_value());
    CHECK(agents("windsurf.json")[0].url == "https://mcp.figma.com/mcp");
    CHECK(agents("copilot_agent.json")[0].mcp->transport == core::mcp_transport::stdio);
    CHECK(agents("copilot_agent.json")[0].mcp->tools.allow == std::vector<std::string>{"get_issue_details"});
    CHECK(agents("cline.json")[0].disabled);
    CHECK_FALSE(agents("cline.json")[1].disabled);
    const auto code = agents("vscode.json", {{"INPUT_PERPLEXITY_KEY", "pk"}});
    CHECK(code[1].mcp->environment.front().second.reveal() == "pk");
    const auto claude = agents("claude_code.mcp.json", {{"API_KEY", "k"}});
    CHECK(claude[0].mcp->environment.front().second.empty());
    CHECK(claude[2].url == "https://api.example.com/mcp");
    CHECK(claude[3].mcp->transport == core::mcp_transport::sse);
}

TEST_CASE("a key of clients warns only among the servers of clients; elsewhere it is a problem")
{
    for (const auto& key : config::client_server_keys()) {
        CAPTURE(key.name);
        for (const auto section : config::client_sections()) {
            const auto quoted =
                "{" + std::string{section} + ": {a: {command: x, " + std::string{key.name} + ": \"${UNSET}\"}}}";
            const auto read = load_named(quoted, "c.yml");
            CHECK(lines(read.problems) == "");
            REQUIRE(read.warnings.size() == 1);
            CHECK(read.warnings.front().what == key.why);
        }
        const auto ours = load_named("agents: {a: {command: x, " + std::string{key.name} + ": 1}}", "c.yml");
        REQUIRE(ours.problems.size() == 1);
        CHECK(ours.problems.front().what == "is a key of MCP clients that has no meaning here; remove it");
    }
    CHECK(load_named("agents: {a: {command: x, timeout: 5}}", "c.yml").problems.size() == 1);
    for (const auto* timeout : {"5s", "\"5\"", "[5]", "-5"}) {
        CAPTURE(timeout);
        const auto read = load_named("mcpServers: {a: {command: x, timeout: " + std::string{timeout} + "}}", "c.yml");
        CHECK(read.warnings.empty());
        CHECK(read.problems.empty() == (std::string_view{timeout} == "5s"));
    }
    CHECK(
        lines(load_named("mcpServers: {a: {command: x, enabled: false}}", "c.yml").problems) ==
        "c.yml:1:30: mcpServers.a.enabled: is not a known key; `disabled: true` turns an agent off\n"
    );
}

TEST_CASE("keys of clients do not hide a mistake beside them, and keep their neighbours in order")
{
    const auto read = load_named(
        "mcpServers:\n  a:\n    autoApprove: []\n    comand: x\n    trust: true\n    args: [y]\n"
        "  b: 5\n  c: {command: z, dev: 1}\n",
        "c.yml"
    );
    CHECK(
        lines(read.problems) ==
        "c.yml:2:3: mcpServers.a: has neither a url nor a transport; expected one of the two\n"
        "c.yml:4:5: mcpServers.a.comand: is not a known key; did you mean `command`?\n"
        "c.yml:6:11: mcpServers.a.args: stands without mcpServers.a.command; expected both\n"
        "c.yml:7:6: mcpServers.b: is a single value; expected a map of the agent's settings\n"
    );
    CHECK(read.warnings.size() == 3);
    CHECK(read.value.agents.back().mcp->command == "z");
}

TEST_CASE("at most 50 warnings are told, and they take no room from the problems")
{
    std::string text = "mcpServers:\n";
    for (int i = 0; i < 60; ++i) {
        text += "  s" + std::to_string(i) + ": {command: x, trust: true, wrong" + std::to_string(i) + ": 1}\n";
    }
    const auto read = load_named(text, "c.yml");
    CHECK(read.warnings.size() == 50);
    CHECK(read.problems.size() == 50);
}

TEST_CASE("an id is taken once, in whichever map of servers it stands")
{
    CHECK(
        lines(
            load_named("agents: {a: {command: x}}\nservers: {a: {command: y}}\nmcpServers: {a: {command: z}}", "c.yml")
                .problems
        ) ==
        "c.yml:2:11: servers.a: is an agent already; expected another id\n"
        "c.yml:3:14: mcpServers.a: is an agent already; expected another id\n"
    );
    CHECK(
        lines(load_named("mcpServers: {a: {url: \"http://h\", httpUrl: \"http://i\"}}", "c.yml").problems) ==
        "c.yml:1:35: mcpServers.a.httpUrl: is the same as mcpServers.a.url, which is given too; expected one of the "
        "two\n"
    );
}

TEST_CASE("comments are taken in JSON of a file with its name, and nowhere else")
{
    const std::string text =
        "// first\n{ /* two\nlines */ \"agents\": {\n  \"a\": {\"url\": \"http://h//x/*y*/\" // end\n"
        "  /**/,}, }, // \"q\"\n}\n/* last */";
    for (const auto* name : {"c.json", "c.jsonc", "/x/.MCP.JSON"}) {
        CAPTURE(name);
        const auto read = load_named(text, name);
        CHECK(lines(read.problems) == "");
        REQUIRE(read.value.agents.size() == 1);
        CHECK(read.value.agents.front().url == "http://h//x/*y*/");
    }
    for (const auto* name : {"c.yml", "c.json.yml", "json", "cjson"}) {
        CAPTURE(name);
        CHECK_FALSE(load_named(text, name).problems.empty());
    }
    CHECK(
        lines(load_named("{ // c\n  \"workers\": \"x\" /* \xC3\xA9 */, \"wrong\": 1}", "c.json").problems) ==
        "c.json:2:14: workers: \"x\" is not a whole number; expected a whole number, 0 to 256\n"
        "c.json:2:28: wrong: is not a known key; known here:" +
            load_named("{\"wrong\": 1}", "c.json").problems.front().what.substr(31) + "\n"
    );
    CHECK(
        lines(load_named("{\n  /* x\n}", "c.json").problems) == "c.json:2:3: a comment that begins with /* has no */\n"
    );
    CHECK(lines(load_named("{} // \"\\", "c.json").problems) == "");
    CHECK(lines(load_named("{\"$schema\": \"cardea.schema.json\"}", "c.json").warnings) == "");
}

TEST_CASE("YAML in a file that is named as JSON is read as it is written")
{
    const auto read = load_named("agents:\n  a:\n    url: http://h/x\n    metadata: {k: a/*b, l: c*/}\n", "c.json");
    CHECK(lines(read.problems) == "");
    REQUIRE(read.value.agents.size() == 1);
    CHECK(read.value.agents.front().url == "http://h/x");
    CHECK(read.value.agents.front().metadata == R"({"k":"a/*b","l":"c*/"})");
}

TEST_CASE("comments are blanked byte for byte, and text in quotes is left alone")
{
    for (const auto& [before, after] : std::vector<std::pair<std::string, std::string>>{
             {R"({"a":"//","b":"/*\"*/"}//x)", R"({"a":"//","b":"/*\"*/"}   )"},
             {R"({"a":"\\"/*"*/})", R"({"a":"\\"     })"},
             {"{/*a\r\nb*/}", "{   \r\n   }"},
             {"{//a\rb}", "{   \rb}"},
             {"[1/*/ */,2]", "[1      ,2]"},
             {"{\"a", "{\"a"},
             {"{\"a\\", "{\"a\\"},
             {"{/", "{/"},
             {"", ""},
             {"\xEF\xBB\xBF//x\n{}", "\xEF\xBB\xBF   \n{}"},
         }) {
        CAPTURE(before);
        auto text = before;
        CHECK_FALSE(config::blank_comments(text).has_value());
        CHECK(text == after);
    }
}

TEST_CASE("what a client's file may have, the JSON Schema knows")
{
    const auto schema = config::json_schema();
    const auto& server = schema["$defs"]["server"]["properties"];
    for (const auto& key : config::client_server_keys()) {
        CHECK(server.contains(std::string{key.name}));
        CHECK_FALSE(schema["$defs"]["agent"]["properties"].contains(std::string{key.name}));
    }
    for (const auto& key : config::client_file_keys()) {
        CHECK(schema["properties"].contains(std::string{key.name}));
    }
    for (const auto section : config::client_sections()) {
        CHECK(schema["properties"][std::string{section}]["additionalProperties"]["$ref"] == "#/$defs/server");
    }
}

TEST_SUITE_END();
