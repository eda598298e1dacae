#include "config/load.hpp"
#include "tests/unit/config/support.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace config::testing;

TEST_SUITE_BEGIN("config/secrets");

namespace {

core::result<std::string> files(const std::string& path)
{
    if (path == "/run/token") {
        return std::string{"file-token"};
    }
    if (path == "/run/empty") {
        return std::string{};
    }
    if (path == "/run/two-lines") {
        return std::string{"s3cr3t\nline"};
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

constexpr const char* expected_token = "; expected the token alone, without `Bearer `\n";

}  // namespace

TEST_CASE("a bearer is a token, or none")
{
    CHECK(agent("bearer: ${TOKEN}").bearer.reveal() == "s3cr3t-token");
    CHECK(agent("bearer: 12345").bearer.reveal() == "12345");
    CHECK(agent("bearer: \"\"").bearer.empty());
    CHECK(agent("bearer: ${EMPTY}").bearer.empty());
    CHECK(agent("bearer: ${UNSET:-}").bearer.empty());
    CHECK(agent("bearer: \"!~\"").bearer.reveal() == "!~");
}

TEST_CASE("what is no bearer is refused without being said")
{
    const std::pair<std::string, std::string> rows[] = {
        {"bearer: Bearer s3cr3t",
         "c.yml:4:13: agents.a.bearer: has a character that no bearer has" + std::string{expected_token}},
        {"bearer: ${BREAK}",
         "c.yml:4:13: agents.a.bearer: has a character that no bearer has" + std::string{expected_token}},
        {"bearer: \"s3cr3t\\0\"",
         "c.yml:4:13: agents.a.bearer: has a character that no bearer has" + std::string{expected_token}},
        {"bearer: s3cr3t\xC3\xA9",
         "c.yml:4:13: agents.a.bearer: has a character that no bearer has" + std::string{expected_token}},
        {"bearer: [s3cr3t]", "c.yml:4:13: agents.a.bearer: is a list; expected a token\n"},
        {"bearer: {s3cr3t: x}", "c.yml:4:13: agents.a.bearer: is a map; expected a token\n"},
        {"bearer:", "c.yml:4:5: agents.a.bearer: has no value; expected a token\n"},
        {"bearer: ${NO_SUCH}",
         "c.yml:4:13: agents.a.bearer: the variable NO_SUCH is not set; ${NO_SUCH:-default} gives it a default\n"},
    };
    for (const auto& [members, meant] : rows) {
        CAPTURE(members);
        CHECK(problem_of(members) == meant);
    }
}

TEST_CASE("a bearer and a header's value have at most 16 KiB")
{
    CHECK(problem_of("bearer: " + std::string(16'383, 't')) == "");
    CHECK(problem_of("bearer: " + std::string(16'384, 't')) == "");
    CHECK(
        problem_of("bearer: " + std::string(16'385, 't')) ==
        "c.yml:4:13: agents.a.bearer: is longer than 16KiB" + std::string{expected_token}
    );
    const auto header = [](std::size_t n) { return problem_of("card_headers: {X: " + std::string(n, 't') + "}"); };
    CHECK(header(16'383) == "");
    CHECK(header(16'384) == "");
    CHECK(
        header(16'385) ==
        "c.yml:4:23: agents.a.card_headers.X: is longer than 16KiB; expected the value of a header field\n"
    );
}

TEST_CASE("a bearer may stand in a file")
{
    CHECK(agent("bearer_file: /run/token").bearer.reveal() == "file-token");
    CHECK(agent("bearer: \"\"\n    bearer_file: /run/token").bearer.reveal() == "file-token");
    const std::pair<std::string, std::string> rows[] = {
        {"bearer_file: /run/empty",
         "c.yml:4:18: agents.a.bearer_file: \"/run/empty\" is a file without a token; expected the path of a file with "
         "a token\n"},
        {"bearer_file: /run/no",
         "c.yml:4:18: agents.a.bearer_file: \"/run/no\" cannot be opened: No such file or directory; expected the path "
         "of a "
         "file with a token\n"},
        {"bearer_file: /run/two-lines",
         "c.yml:4:18: agents.a.bearer_file: has a character that no bearer has" + std::string{expected_token}},
        {"bearer_file: \"\"", "c.yml:4:18: agents.a.bearer_file: is empty; expected the path of a file with a token\n"},
        {"bearer: x\n    bearer_file: /run/token",
         "c.yml:5:18: agents.a.bearer_file: stands beside agents.a.bearer; expected one of the two\n"},
    };
    for (const auto& [members, meant] : rows) {
        CAPTURE(members);
        CHECK(problem_of(members) == meant);
    }
    CHECK(
        problems_of("agents: {a: {url: \"http://h\", bearer_file: /run/token}}") ==
        "c.yml:1:44: agents.a.bearer_file: \"/run/token\" cannot be read here; expected the path of a file with a "
        "token\n"
    );
}

TEST_CASE("card headers are what a header field can be, and none that frames the message")
{
    const auto headers =
        agent("card_headers: {X-Api-Key: \"${TOKEN}\", \"!#$%&'*+-.^_`|~09\": \"a\tb \xC3\xA9\"}").card_headers;
    REQUIRE(headers.size() == 2);
    CHECK(headers[0].first == "X-Api-Key");
    CHECK(headers[0].second.reveal() == "s3cr3t-token");
    CHECK(headers[1].second.reveal() == "a\tb \xC3\xA9");
    CHECK(agent("card_headers:").card_headers.empty());

    const std::string value = "; expected the value of a header field\n";
    const std::string name = "is not a header field's name; expected a name such as X-Api-Key\n";
    const std::pair<std::string, std::string> rows[] = {
        {"card_headers: [s3cr3t]", "c.yml:4:19: agents.a.card_headers: is a list; expected a map of header fields\n"},
        {"card_headers: {\"X Y\": s3cr3t}", "c.yml:4:20: agents.a.card_headers.X(...): " + name},
        {"card_headers: {\"\": s3cr3t}", "c.yml:4:20: agents.a.card_headers.: " + name},
        {"card_headers: {\"X:s3cr3t\": y}", "c.yml:4:20: agents.a.card_headers.X(...): " + name},
        {"card_headers: {\"X\\r\\nY\": y}", "c.yml:4:20: agents.a.card_headers.X(...): " + name},
        {"card_headers: {X: \"s3cr3t\\r\\nY: 1\"}",
         "c.yml:4:23: agents.a.card_headers.X: has a line break or another control character" + value},
        {"card_headers: {X: \"s3cr3t\\0\"}",
         "c.yml:4:23: agents.a.card_headers.X: has a line break or another control character" + value},
        {"card_headers: {X: \"${BREAK}\"}",
         "c.yml:4:23: agents.a.card_headers.X: has a line break or another control character" + value},
        {"card_headers: {X: \" s3cr3t\"}", "c.yml:4:23: agents.a.card_headers.X: starts or ends with a blank" + value},
        {"card_headers: {X: \"s3cr3t\\t\"}", "c.yml:4:23: agents.a.card_headers.X: starts or ends with a blank" + value
        },
        {"card_headers: {X: \"\"}", "c.yml:4:23: agents.a.card_headers.X: is empty" + value},
        {"card_headers: {X: [s3cr3t]}", "c.yml:4:23: agents.a.card_headers.X: is a list" + value},
        {"card_headers: {X: }", "c.yml:4:20: agents.a.card_headers.X: has no value" + value},
        {"card_headers: {X: a, x: b}",
         "c.yml:4:26: agents.a.card_headers.x: is given twice; header fields' names have no case\n"},
    };
    for (const auto& [members, meant] : rows) {
        CAPTURE(members);
        CHECK(problem_of(members) == meant);
    }
    for (const std::string reserved :
         {"Host",
          "host",
          "Content-Length",
          "Transfer-Encoding",
          "CONNECTION",
          "Keep-Alive",
          "Proxy-Connection",
          "TE",
          "Trailer",
          "Upgrade"}) {
        CAPTURE(reserved);
        CHECK(
            problem_of("card_headers: {" + reserved + ": s3cr3t}") ==
            "c.yml:4:20: agents.a.card_headers." + reserved +
                ": is set by the gateway itself; expected another header field\n"
        );
    }
}

TEST_CASE("an agent has at most 64 card headers")
{
    const auto with_headers = [](int n) {
        std::string map;
        for (int i = 0; i < n; ++i) {
            map += (i == 0 ? "X" : ", X") + std::to_string(i) + ": v";
        }
        return problem_of("card_headers: {" + map + "}");
    };
    CHECK(with_headers(63) == "");
    CHECK(with_headers(64) == "");
    CHECK(with_headers(65) == "c.yml:4:19: agents.a.card_headers: has more than 64 header fields\n");
}

TEST_CASE("of a transport only what cannot be a credential is shown")
{
    const auto shown = [](const std::string& transport) {
        return right("agents: {a: {transport: " + transport + "}}").agents.at(0).metadata;
    };
    CHECK(
        shown("{url: \"http://h\", headers: {A: s3cr3t}, memory: [s3cr3t, {c: 1}]}") ==
        R"({"transport":{"url":"http://h","headers":{"A":"********"},"memory":["********",{"c":"********"}]}})"
    );
    CHECK(shown("{command: \"/bin/npx -y --token s3cr3t\"}") == R"({"transport":{"command":"/bin/npx ********"}})");
    CHECK(shown("{command: \"${TOKEN}\"}") == R"({"transport":{"command":"********"}})");
    CHECK(
        shown("{package: {name: n, version: 1, env: {A: s3cr3t}, args: [s3cr3t]}, memory: 512}") ==
        R"({"transport":{"package":{"name":"n","version":1,"env":{"A":"********"},"args":["********"]},"memory":512}})"
    );
    CHECK(
        shown("{command: x, network: {name: s3cr3t}}") ==
        R"({"transport":{"command":"x","network":{"name":"********"}}})"
    );
    const auto short_form =
        right("agents: {a: {command: \"./npx s3cr3t\", args: [s3cr3t], env: {A: s3cr3t}}}").agents.at(0);
    CHECK(
        short_form.metadata ==
        R"({"transport":{"type":"stdio","command":"./npx ********","args":["********"],"env":{"A":"********"}}})"
    );
}

TEST_CASE("of a program's arguments options' names, paths and what a launcher runs are shown, as they are logged")
{
    const auto shown = [](const std::string& server) {
        return right("agents: {a: {" + server + "}}").agents.at(0).metadata;
    };
    const std::string expected =
        R"({"transport":{"command":"npx","args":["-y","server-files","/srv","--token","********","********"]}})";
    const std::string arguments = "[-y, server-files, /srv, --token, s3cr3t, --key=s3cr3t]";
    CHECK(shown("transport: {command: npx, args: " + arguments + "}") == expected);
    CHECK(shown("transport: {args: " + arguments + ", command: npx}").find("\"/srv\"") != std::string::npos);
    auto short_form = expected;
    short_form.insert(short_form.find("\"command\""), R"("type":"stdio",)");
    CHECK(shown("command: npx, args: " + arguments) == short_form);
    // What a variable put in is hidden, whatever it looks like; nothing is known of what runs a package.
    const auto from_variable = shown("command: npx, args: [-y, \"${TOKEN}\"]");
    CHECK(from_variable == R"({"transport":{"type":"stdio","command":"npx","args":["-y","********"]}})");
    CHECK(
        shown("transport: {package: {name: n, args: [-y, /srv]}}") ==
        R"({"transport":{"package":{"name":"n","args":["********","********"]}}})"
    );
}

TEST_CASE("a credential that lost its key does not reach a problem")
{
    for (const auto* text : {
             "agents: {a: {url: \"http://h\", bearer:s3cr3t}}",
             "agents:\n  a:\n    bearer:s3cr3t\n",
             "agents:\n  a:\n    url: http://h\n    bearer: *s3cr3t\n",
             "agents:\n  a:\n    url: http://h\n    bearer: \"s3cr3t\n",
             "agents:\n  a:\n    url: http://h\n    bearer: !s3cr3t x\n",
             "agents:\n  a:\n    url: http://h\n    bearer: @s3cr3t\n",
             "agents:\n  a:\n    url: http://h\n    bearer: s3cr3t: x\n",
             "agents:\n  a:\n    url: http://h\n    bearer: ${s3cr3t\n",
             "agents:\n  a:\n    url: http://h\n    bearer: [s3cr3t\n",
             "agents:\n  a:\n    url: http://u:s3cr3t@h\n",
             "store: postgresql://u:s3cr3t@h/db\n",
             "public_url: https://u:s3cr3t@h/\n",
             "listen: ${TOKEN}\n",
             "workers: ${TOKEN}\n",
             "log: {level: \"${TOKEN}\"}\n",
             "agents: {a: {url: \"http://h\", timeout: \"${TOKEN}\", disabled: \"${TOKEN}\", protocol: \"${TOKEN}\"}}",
             "access: {providers: [{type: static_token, name: a, token:s3cr3t}]}",
             "access: {providers: [{type: static_token, name: a, token: s3cr3t}]}",
             "access: {providers: [{type: static_token, name: a, token: \"${TOKEN}\"}]}",
             "access: {providers: [{type: api_key, name: a, keys: [{name: k, sha256: s3cr3t}]}]}",
             "access: {providers: [{type: api_key, name: a, keys: [{name: k, key: s3cr3t}]}]}",
             "access: {providers: [{type: jwt, name: a, issuer: i, audience: b, jwks_url: \"http://h/?k=s3cr3t\"}]}",
             "access: {providers: [{type: http_verifier, name: a, url: \"http://h/?k=s3cr3t\"}]}",
             "s3cr3t\n",
         }) {
        CAPTURE(text);
        const auto said = problems_of(text);
        CHECK_FALSE(said.empty());
        CHECK(said.find("s3cr3t") == std::string::npos);
    }
}

TEST_SUITE_END();
