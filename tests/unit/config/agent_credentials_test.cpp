#include "config/agent_credentials.hpp"

#include "config/dump.hpp"
#include "config/load.hpp"
#include "core/json/json.hpp"
#include "tests/unit/config/support.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace config::testing;

TEST_SUITE_BEGIN("config/agent_credentials");

namespace {

core::result<std::string> files(const std::string& path)
{
    if (path == "/run/secret") {
        return std::string{"file-s3cr3t"};
    }
    return core::gateway_error(core::errc::config_invalid, "cannot be opened: No such file or directory");
}

config::loaded loaded(const std::string& members)
{
    return config::load("agents:\n  a:\n    url: http://h\n    " + members + "\n", "c.yml", variables, files);
}

std::string problem_of(const std::string& members)
{
    return lines(loaded(members).problems);
}

core::agent agent(const std::string& members)
{
    auto result = loaded(members);
    REQUIRE(lines(result.problems) == "");
    return std::move(result.value.agents.at(0));
}

// Without the place and the agent's path.
std::string said_of(const std::string& members)
{
    const auto text = problem_of(members);
    const auto at = text.find("agents.a.");
    return at == std::string::npos ? text : text.substr(at + 9, text.find('\n', at) - at - 9);
}

constexpr const char* oauth = "token_url: \"https://as.test/token\", client_id: me, ";

}  // namespace

TEST_CASE("credentials have one of four kinds, with a secret from a variable or a file")
{
    CHECK(
        agent("credentials: {bearer: \"${TOKEN}\"}").credentials ==
        core::agent_credentials{core::secret{"s3cr3t-token"}}
    );
    CHECK(
        agent("credentials: {bearer_file: /run/secret}").credentials ==
        core::agent_credentials{core::secret{"file-s3cr3t"}}
    );
    CHECK(
        agent("credentials: {basic: {username: me, password: \"${TOKEN}\"}}").credentials ==
        core::agent_credentials{core::basic_credentials{"me", core::secret{"s3cr3t-token"}}}
    );
    CHECK(
        agent("credentials: {basic: {username: me, password_file: /run/secret}}").credentials ==
        core::agent_credentials{core::basic_credentials{"me", core::secret{"file-s3cr3t"}}}
    );
    using enum core::credential_place;
    for (const auto& [name, place] : {std::pair{"header", header}, {"query", query}, {"cookie", cookie}}) {
        CAPTURE(name);
        const core::agent_credentials meant{core::key_credential{place, "X-Key", core::secret{"k"}}};
        CHECK(agent("credentials: {api_key: {" + std::string{name} + ": X-Key, value: k}}").credentials == meant);
    }
    const auto client = *std::get<core::boxed<core::oauth_client>>(
        agent("credentials: {oauth2: {" + std::string{oauth} + "client_secret_file: /run/secret, scopes: s}}")
            .credentials
    );
    CHECK(client.token_url == "https://as.test/token");
    CHECK(client.client_secret.reveal() == "file-s3cr3t");
    CHECK(client.scopes == std::vector<std::string>{"s"});
    CHECK(client.authentication == core::client_authentication::basic);
    CHECK(client.grant == core::oauth_grant::client_credentials);
    const auto exchanges = *std::get<core::boxed<core::oauth_client>>(
        agent("credentials: {oauth2: {" + std::string{oauth} + "client_secret: s, grant: token_exchange}}").credentials
    );
    CHECK(exchanges.grant == core::oauth_grant::token_exchange);
}

TEST_CASE("credentials that are none, or several, are refused, and no problem says a secret")
{
    const std::string kinds = "expected one of bearer, bearer_file, basic, api_key and oauth2";
    const std::string in_oauth = "credentials: {oauth2: {" + std::string{oauth};
    const std::pair<std::string, std::string> rows[] = {
        {"credentials: {}", "credentials: is empty; " + kinds},
        {"credentials:", "credentials: has no value; " + kinds},
        {"credentials: s3cr3t", "credentials: is a single value; " + kinds},
        {"credentials: {bearer: s3cr3t, basic: {username: a, password: s3cr3t}}",
         "credentials: has several kinds of credentials; " + kinds},
        {"credentials: {bearer: \"s3 cr3t\"}",
         "credentials.bearer: has a character that no bearer has; expected the token alone, without `Bearer `"},
        {"credentials: {bearer: \"\"}", "credentials.bearer: is empty; expected a token"},
        {"credentials: {basic: {username: a:b, password: s3cr3t}}",
         "credentials.basic.username: \"a:b\" has a colon; expected a name"},
        {"credentials: {basic: {username: a}}",
         "credentials.basic.password: is missing; expected a password, or `password_file`"},
        {"credentials: {basic: {username: a, password: \"s3cr3t\\nX: y\"}}",
         "credentials.basic.password: has a line break or another control character; expected a password"},
        {"credentials: {basic: {username: a, password: s3cr3t, password_file: /run/secret}}",
         "credentials.basic.password_file: stands beside agents.a.credentials.basic.password; expected one of the two"},
        {"credentials: {api_key: {value: s3cr3t}}",
         "credentials.api_key: does not say where the key stands; expected header, query or cookie"},
        {"credentials: {api_key: {header: A, cookie: B, value: s3cr3t}}",
         "credentials.api_key.cookie: stands beside agents.a.credentials.api_key.header; expected one of the two"},
        {"credentials: {api_key: {header: \"a b\", value: s3cr3t}}",
         "credentials.api_key.header: \"a b\" is not a name; expected the name of a header field, of a query parameter "
         "or of a cookie"},
        {"credentials: {api_key: {header: Host, value: s3cr3t}}",
         "credentials.api_key.header: \"Host\" is set by the gateway itself; expected another header field"},
        {"credentials: {api_key: {cookie: sid, value: \"s3cr3t;x\"}}",
         "credentials.api_key.value: has a character that no cookie has; expected a key"},
        {in_oauth + "}}",
         "credentials.oauth2.client_secret: is missing; expected a client's secret, or "
         "`client_secret_file`"},
        {"credentials: {oauth2: {token_url: \"http://as.test/t?s3cr3t\", client_id: a, client_secret: s}}",
         "credentials.oauth2.token_url: is not safe from changes on its way; expected an https URL, or an http URL of "
         "a loopback host"},
        {in_oauth + "client_secret: s3cr3t, auth: jwt}}",
         "credentials.oauth2.auth: \"jwt\" is not one of them; expected basic or post"},
        {in_oauth + "client_secret: s3cr3t, grant: password}}",
         "credentials.oauth2.grant: \"password\" is not one of them; expected client_credentials or token_exchange"},
        {in_oauth + "client_secret: s3cr3t, scopes: [\"a b\"]}}",
         "credentials.oauth2.scopes[0]: \"a b\" has a blank; expected a scope such as cardea:read, or a list of "
         "scopes"},
        {"bearer: s3cr3t\n    credentials: {bearer: s3cr3t}",
         "credentials: stands beside the agent's bearer; expected one of the two"},
    };
    for (const auto& [members, meant] : rows) {
        CAPTURE(members);
        CHECK(said_of(members) == meant);
        CHECK(problem_of(members).find("s3cr3t") == std::string::npos);
    }
    CHECK(problem_of("credentials: {oauth: {}}").find("did you mean `oauth2`?") != std::string::npos);
}

TEST_CASE("a password and a key have at most 16 KiB")
{
    for (const std::string where :
         {"credentials: {basic: {username: a, password: ", "credentials: {api_key: {header: X, value: "}) {
        CHECK(problem_of(where + std::string(16'383, 't') + "}}") == "");
        CHECK(problem_of(where + std::string(16'384, 't') + "}}") == "");
        CHECK(problem_of(where + std::string(16'385, 't') + "}}").find("is longer than 16KiB") != std::string::npos);
    }
}

TEST_CASE("an agent's header fields are none that the caller or the gateway says")
{
    CHECK(agent("headers: {X-Team: words}").headers.size() == 1);
    for (const std::string own :
         {"Host", "accept", "Content-Type", "Via", "X-Forwarded-For", "Forwarded", "Cardea-Id", "Expect", "Proxy-A"}) {
        CAPTURE(own);
        CHECK(
            said_of("headers: {" + own + ": x}") ==
            "headers." + own + ": is set by the gateway itself; expected another header field"
        );
    }
}

TEST_CASE("what an agent gets of its callers' credentials is a word or a list of names")
{
    CHECK(agent("caller_credentials: drop").of_callers == core::caller_credentials{});
    CHECK(agent("caller_credentials: passthrough").of_callers == core::caller_credentials{true, {}});
    CHECK(agent("caller_credentials: [Authorization, X-Key]").of_callers.names.size() == 2);
    const std::string expected = "; expected drop, passthrough, or a list of header names such as [Authorization]";
    CHECK(said_of("caller_credentials: all") == "caller_credentials: \"all\" is not known" + expected);
    CHECK(
        said_of("caller_credentials: [Connection]") ==
        "caller_credentials[0]: \"Connection\" is not a header field with a credential; expected a name such as "
        "Authorization"
    );
}

TEST_CASE("an agent does not get one header field from two")
{
    const std::string two = "on, which the agent gets from the gateway; expected one of the two";
    const auto both = [&](const std::string& field) {
        return "caller_credentials: passes the caller's `" + field + "` " + two;
    };
    const std::pair<std::string, std::string> rows[] = {
        {"caller_credentials: passthrough\n    bearer: t", both("authorization")},
        {"caller_credentials: [AUTHORIZATION]\n    bearer: t", both("authorization")},
        {"caller_credentials: passthrough\n    credentials: {basic: {username: a, password: b}}", both("authorization")
        },
        {"caller_credentials: passthrough\n    credentials: {api_key: {cookie: a, value: b}}", both("cookie")},
        {"caller_credentials: [Cookie]\n    credentials: {api_key: {cookie: a, value: b}}", both("cookie")},
        {"caller_credentials: [X-Key]\n    credentials: {api_key: {header: x-key, value: b}}", both("x-key")},
        {"caller_credentials: [X-Key]\n    headers: {x-key: b}", both("x-key")},
        {"caller_credentials: passthrough\n    credentials: {api_key: {header: X-Key, value: b}}", ""},
        {"caller_credentials: passthrough\n    credentials: {api_key: {query: k, value: b}}", ""},
        {"caller_credentials: [Cookie]\n    bearer: t", ""},
        {"headers: {Authorization: x}\n    bearer: t",
         "headers: has the header field of agents.a.bearer; expected it once"},
        {"headers: {x-key: x}\n    credentials: {api_key: {header: X-Key, value: b}}",
         "headers: has the header field of agents.a.credentials; expected it once"},
    };
    for (const auto& [members, meant] : rows) {
        CAPTURE(members);
        CHECK(said_of(members) == meant);
    }
}

TEST_CASE("An MCP server over HTTP with a session for each caller may get the Authorization of its callers")
{
    const std::string passes = "protocol: mcp\n    caller_credentials: ";
    CHECK(problem_of(passes + "[Authorization]") == "");
    CHECK(problem_of(passes + "[authorization]\n    card_headers: {Authorization: s}") == "");
    CHECK(problem_of(passes + "drop") == "");
    for (const std::string other : {"passthrough", "[X-Key]", "[Authorization, X-Key]"}) {
        CAPTURE(other);
        CHECK(
            said_of(passes + other) == "caller_credentials: is of an MCP server; expected [Authorization], or `drop`"
        );
    }
    for (const std::string other : {"type: sse", "sessions: shared", "sessionless: shared"}) {
        CAPTURE(other);
        CHECK(
            said_of(passes + "[Authorization]\n    " + other) ==
            "caller_credentials: stands beside a program, the type sse or shared sessions, which get no header fields "
            "of "
            "callers; expected a url of streamable HTTP with a session for each caller"
        );
    }
    CHECK(
        said_of(passes + "[Authorization]\n    bearer: t").find("passes the caller's `authorization` on") !=
        std::string::npos
    );
}

TEST_CASE("An MCP server over HTTP may have the gateway's own token of an OAuth server")
{
    CHECK(problem_of("protocol: mcp\n    credentials: {basic: {username: a, password: b}}") == "");
    const auto client = "credentials: {oauth2: {" + std::string{oauth} + "client_secret: s";
    CHECK(problem_of("protocol: mcp\n    " + client + "}}") == "");
    CHECK(problem_of("protocol: mcp\n    type: sse\n    " + client + "}}") == "");
    CHECK(
        said_of("protocol: mcp\n    " + client + ", grant: token_exchange}}") ==
        "credentials.oauth2.grant: is for A2A agents; expected client_credentials, because the session is the "
        "gateway's own"
    );
    const auto program = "mcpServers:\n  a:\n    command: x\n    " + client + "}}\n";
    CHECK(
        lines(config::load(program, "c.yml", variables, files).problems)
            .find("a.credentials.oauth2: is sent over HTTP, and this MCP server is a program") != std::string::npos
    );
}

TEST_CASE("no dump shows a secret of credentials")
{
    for (const std::string members :
         {"credentials: {bearer: s3cr3t}",
          "credentials: {basic: {username: a, password: s3cr3t}}",
          "credentials: {api_key: {query: a, value: s3cr3t}}",
          "credentials: {oauth2: {token_url: \"https://h/?s3cr3t\", client_id: a, client_secret: s3cr3t}}",
          "headers: {X: s3cr3t}"}) {
        CAPTURE(members);
        const auto settings = loaded(members).value;
        const auto text = config::dump_text(config::dump(settings, {}));
        CHECK(text.find("s3cr3t") == std::string::npos);
        CHECK(text.find(core::masked) != std::string::npos);
        CHECK(core::to_text(config::given_values(settings.agents.at(0))).find("s3cr3t") == std::string::npos);
    }
}

TEST_CASE("over the management API a mask is no credential, and variables and files are not for callers")
{
    const auto said = [](const std::string& credentials) {
        const auto definition = core::parse_json(R"({"url":"http://h","credentials":)" + credentials + '}');
        REQUIRE(definition.has_value());
        const auto read = config::read_agent("a", *definition, "agent", {});
        return read.problems.empty() ? std::string{} : read.problems.front().key + ": " + read.problems.front().what;
    };
    CHECK(said(R"({"basic":{"username":"a","password":"b"}})") == "");
    CHECK(
        said(R"({"basic":{"username":"a","password":"********"}})") ==
        "agent.credentials.basic.password: is the mask of a credential; expected the credential itself"
    );
    CHECK(said(R"({"api_key":{"header":"X","value":"${HOME}"}})").find("has a variable in it") != std::string::npos);
    CHECK(said(R"({"bearer_file":"/run/secret"})").find("agent.credentials.bearer_file") == 0);
}

TEST_SUITE_END();
