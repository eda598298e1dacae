#include "core/redaction.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

TEST_SUITE_BEGIN("core/redaction");

namespace {

using core::redaction;

std::string
redacted(const std::vector<std::string>& values, std::string_view text, std::size_t most = std::string::npos)
{
    return redaction{values}.apply(text, most);
}

}  // namespace

TEST_CASE("a value is masked wherever it stands, and nothing else")
{
    CHECK(redacted({"s3cr3t"}, "s3cr3t, as3cr3tb; s3cr3") == "********, a********b; s3cr3");
    CHECK(redacted({"s3cr3t"}, "S3CR3T") == "S3CR3T");
    CHECK(redacted({"s3cr3t"}, "") == "");
    CHECK(redacted({}, "s3cr3t") == "s3cr3t");
    CHECK(redaction{}.apply("s3cr3t", 3) == "s3c");
    CHECK(redaction{}.reach() == 0);
}

TEST_CASE("a value of fewer than six bytes is a word like others")
{
    static_assert(redaction::shortest == 6);
    CHECK(redacted({"1", "", "12345", "123456"}, "1 12345 123456") == "1 12345 ********");
}

TEST_CASE("of values in one another the longest is masked, and what overlaps is one mask")
{
    CHECK(redacted({"secret", "secret-token"}, "a secret-token and a secret") == "a ******** and a ********");
    CHECK(redacted({"secret-token", "secret"}, "secret-toke") == "********-toke");
    CHECK(redacted({"abcdef", "defghi"}, "xabcdefghiy") == "x********y");
    CHECK(redacted({"aaaaaa"}, "aaaaaaaaab") == "********b");
    CHECK(redacted({"abcdef"}, "abcdefabcdef") == "****************");
}

TEST_CASE("a value across the cut is masked whole, and no part of one behind it is shown")
{
    const std::vector<std::string> values{"s3cr3t-value"};
    const std::string text = "0123456789s3cr3t-value.tail";
    for (std::size_t most = 0; most <= text.size(); ++most) {
        CAPTURE(most);
        const auto shown = redacted(values, text, most);
        CHECK(shown.find('s') == std::string::npos);
        CHECK(shown.starts_with(std::string_view{text}.substr(0, std::min<std::size_t>(most, 10))));
    }
    CHECK(redacted(values, text, 10) == "0123456789");
    CHECK(redacted(values, text, 11) == "0123456789********");
    CHECK(redacted(values, text, 22) == "0123456789********");
    CHECK(redacted(values, text, 23) == "0123456789********.");
}

TEST_CASE("as many bytes behind the cut as reach() says are enough")
{
    const redaction secrets{{"s3cr3t-value", "other!"}};
    CHECK(secrets.reach() == 11);
    const std::string text = "0123456789s3cr3t-value";
    CHECK(secrets.apply(text.substr(0, 11 + secrets.reach()), 11) == "0123456789********");
    CHECK(secrets.apply(text.substr(0, 11 + secrets.reach() - 1), 11) == "0123456789s");
}

TEST_CASE("masks before the cut bring nothing unmasked into view")
{
    const std::vector<std::string> values{"a-very-long-secret-value"};
    const auto text = values[0] + values[0].substr(0, 20);
    CHECK(redacted(values, text, 24) == "********");
}

TEST_CASE("of a value of several lines each line is masked too")
{
    const std::vector<std::string> key{"-----BEGIN\r\nMIIEvQIB\nend\n"};
    CHECK(redacted(key, "read MIIEvQIB") == "read ********");
    CHECK(redacted(key, "read end") == "read end");
    CHECK(redacted(key, "<-----BEGIN\r\nMIIEvQIB\nend\n>") == "<********>");
    CHECK(redacted(key, R"("-----BEGIN\nMIIEvQIB\nend")") == R"("********\n********\nend")");
}

TEST_CASE("what a server is given is masked: environment, headers, arguments, the query of its address")
{
    core::mcp_server server;
    server.environment = {{"API_KEY", core::secret{"env-value"}}, {"DEBUG", core::secret{"1"}}};
    const std::vector<std::pair<std::string, core::secret>> headers{
        {"Authorization", core::secret{"Bearer token-value"}},
        {"X-Key", core::secret{"header-value"}}
    };
    server.arguments = {"-y", "--key=argument-value", "plain-argument"};
    const auto secrets = core::redaction_of(server, headers, "https://h.example/mcp?k=query-value&t=other-value");
    CHECK(
        secrets.apply("1 env-value|token-value|Bearer token-value|header-value") ==
        "1 ********|********|********|********"
    );
    CHECK(secrets.apply("argument-value|--key=argument-value|plain-argument|-y") == "********|********|********|-y");
    CHECK(secrets.apply("query-value|other-value|h.example/mcp") == "********|********|h.example/mcp");
    CHECK(core::redaction_of({}).reach() == 0);
}

TEST_CASE("of arguments, options' names, paths and what a launcher runs stay readable, and all else is masked")
{
    struct row {
        std::string command;
        std::vector<std::string> arguments;
        std::vector<std::string> readable;
        std::vector<std::string> masked;
    };
    const std::vector<row> rows{
        {"npx", {"-y", "@scope/server-files@1.2.3", "/srv/data"}, {"@scope/server-files@1.2.3", "/srv/data"}, {}},
        {"/usr/bin/npx", {"--yes", "server-one", "server-two"}, {"--yes", "server-one"}, {"server-two"}},
        {"python3", {"-m", "mcp_server", "hunter22"}, {"mcp_server"}, {"hunter22"}},
        {"npx", {"-y", "Abcdef0123"}, {}, {"Abcdef0123"}},
        {"my-server", {"hunter-two"}, {}, {"hunter-two"}},
        {"npx", {"hunter-one", "hunter-two"}, {"hunter-one"}, {"hunter-two"}},
        {"s", {"--api-key", "/srv/value"}, {"--api-key"}, {"/srv/value"}},
        {"npx", {"--token", "package-like"}, {"--token"}, {"package-like"}},
        {"s", {"--AuthToken", "./value"}, {"--AuthToken"}, {"./value"}},
        {"s", {"--folder", "./notes", "../more", "~/home"}, {"--folder", "./notes", "../more", "~/home"}, {}},
        {"s", {"/9j4AAQSkZJRg", "/aB3dEfGh", "/x/secretly"}, {}, {"/9j4AAQSkZJRg", "/aB3dEfGh", "/x/secretly"}},
        {"s", {"/Users/me/notes", "/home"}, {"/Users/me/notes", "/home"}, {}},
        {"mysql", {"-phunter22"}, {}, {"-phunter22"}},
        {"sh", {"-c", "./serve --token hunter22"}, {"-c", "./serve"}, {"./serve --token hunter22", "hunter22"}},
        {"sh", {"-c", "/srv/serve hunter22"}, {"/srv/serve"}, {"/srv/serve hunter22", "hunter22"}},
        {"s", {"/srv/events?key=hunter22"}, {"/srv/events"}, {"/srv/events?key=hunter22", "hunter22"}},
        {"s", {"--token hunter22"}, {"--token"}, {"--token hunter22", "hunter22"}},
        {"s", {"--token:hunter22"}, {"--token"}, {"--token:hunter22", "hunter22"}},
        {"s", {"--header", "Authorization:hunter22"}, {"--header"}, {"hunter22"}},
        {"s", {"-token", "/srv/value", "/srv/data"}, {"/srv/data"}, {"-token", "/srv/value"}},
        {"npx", {"-token", "package-like"}, {}, {"package-like"}},
        {"s", {"--key=hunter22", "/srv/data"}, {"/srv/data"}, {"--key=hunter22"}},
        {"s", {"--password=hunter22"}, {}, {"--password=hunter22", "hunter22"}},
        {"s", {"--password=/srv/value"}, {}, {"/srv/value"}},
        {"npx", {"-y", "mcp-remote", "--header", "Authorization: Bearer hunter22"}, {"mcp-remote"}, {"hunter22"}},
        {"s", {"X-Key: hunter22"}, {}, {"hunter22"}},
        {"s", {"postgres://user-name:hunter22@db.example/x"}, {"user-name", "db.example"}, {"hunter22"}},
        {"s", {"postgres://user-name:hunter@22@db.example/x"}, {"user-name", "hunter", "db.example"}, {"hunter@22"}},
        {"s", {"postgres://user-name:@hunter2@db.example"}, {"user-name", "db.example"}, {"@hunter2"}},
        {"s", {"--db=amqp://user-name:hunter@22@db.example:5672/a@b"}, {"user-name", "db.example"}, {"hunter@22"}},
        {"s", {"https://db.example:8443/x"}, {"db.example:8443"}, {}},
        {"docker", {"run", "image-name", "KEY=hunter22"}, {}, {"image-name", "hunter22"}},
    };
    for (const auto& each : rows) {
        CAPTURE(each.arguments);
        core::mcp_server server;
        server.command = each.command;
        server.arguments = each.arguments;
        const auto secrets = core::redaction_of(server);
        for (const auto& text : each.readable) {
            CHECK(secrets.apply(text) == text);
        }
        for (const auto& text : each.masked) {
            CHECK(secrets.apply(text) == "********");
        }
    }
}

TEST_CASE("an option with any word for a credential in its name announces one, whatever it looks like")
{
    for (const auto* option :
         {"--auth",
          "--oauth-code",
          "--bearer",
          "--cred",
          "--credentials",
          "--api-key",
          "--apikey",
          "--pass",
          "--password",
          "--passphrase",
          "--pwd",
          "--db-pwd",
          "--client-secret",
          "--token",
          "--ACCESS_TOKEN",
          "--Key"}) {
        CAPTURE(option);
        for (const auto* value : {"/srv/value", "./value", "--value", "package-like"}) {
            CAPTURE(value);
            core::mcp_server server;
            server.command = "s";
            server.arguments = {"--verbose", option, value, "/srv/data"};
            const auto secrets = core::redaction_of(server);
            CHECK(secrets.apply(value) == "********");
            CHECK(secrets.apply(option) == option);
            CHECK(secrets.apply("/srv/data") == "/srv/data");
        }
    }
    for (const auto* option : {"--folder", "--transport", "--host", "--sort", "auth", "token"}) {
        CAPTURE(option);
        core::mcp_server server;
        server.command = "s";
        server.arguments = {option, "/srv/value"};
        CHECK(core::redaction_of(server).apply("/srv/value") == "/srv/value");
    }
}

TEST_CASE("each launcher's program stays readable, and only the first one behind it")
{
    for (const auto* launcher : {"bun", "bunx", "deno", "node", "npx", "pipx", "python", "python3", "uv", "uvx"}) {
        CAPTURE(launcher);
        for (const std::string folder : {"", "/usr/local/bin/"}) {
            core::mcp_server server;
            server.command = folder + launcher;
            server.arguments = {"-x", "package-one", "package-two"};
            const auto secrets = core::redaction_of(server);
            CHECK(secrets.apply("package-one|package-two") == "package-one|********");
        }
    }
}

TEST_SUITE_END();
