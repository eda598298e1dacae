#include "config/mcp_server.hpp"
#include "tests/unit/config/support.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace config::testing;

TEST_SUITE_BEGIN("config/mcp_calls");

namespace {

core::mcp_server server(const std::string& members)
{
    return right("agents: {a: {command: run, " + members + "}}").agents.at(0).mcp.value_or({});
}

std::string wrong(const std::string& members)
{
    return problems_of("agents: {a: {command: run, " + members + "}}");
}

core::mcp_server http_server(const std::string& members)
{
    return right("agents: {a: {url: \"http://h/mcp\", protocol: mcp, " + members + "}}").agents.at(0).mcp.value_or({});
}

std::string http_wrong(const std::string& members)
{
    return problems_of("agents: {a: {url: \"http://h/mcp\", protocol: mcp, " + members + "}}");
}

bool has(const std::string& text, const std::string& part)
{
    CAPTURE(text);
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("callers have sessions of their own unless the operator says otherwise")
{
    const auto usual = server("start: lazy");
    CHECK(usual.sessions == core::mcp_sessions::own);
    CHECK(usual.sessionless == core::mcp_sessionless::fall_back);
    CHECK(server("sessionless: fresh").sessionless == core::mcp_sessionless::fresh);
    CHECK(usual.on_lost == core::mcp_loss::recover);
    CHECK(usual.warm == 1);
    CHECK_FALSE(usual.overlap);
    CHECK(server("overlap: true").overlap);
    CHECK_FALSE(usual.max_sessions.has_value());
    CHECK(usual.call_timeout == std::chrono::minutes{10});
    CHECK(usual.tools == core::mcp_filter{});
    CHECK(server("sessions: shared, sessionless: refuse, on_lost: tell").sessions == core::mcp_sessions::shared);
}

TEST_CASE("numbers of programs and sessions are taken to their limits and not beyond")
{
    CHECK(server("warm: 0").warm == 0);
    CHECK(server("warm: 16").warm == 16);
    CHECK(has(wrong("warm: 17"), "\"17\" is out of range; expected a whole number, 0 to 16"));
    CHECK(server("max_sessions: 1").max_sessions == 1);
    CHECK(server("max_sessions: 100000").max_sessions == 100'000);
    CHECK(has(wrong("max_sessions: 0"), "is out of range; expected a whole number, 1 to 100000"));
    CHECK(has(wrong("max_sessions: 100001"), "is out of range"));
    CHECK(server("timeouts: {call: 1h}").call_timeout == std::chrono::hours{1});
    CHECK(has(wrong("timeouts: {call: 3601s}"), "is out of range"));
}

TEST_CASE("a filter has patterns, names and descriptions, and no two names become one")
{
    const auto filtered = server("tools: {allow: [a, b*], deny: [c], rename: {a: x, b: y}, describe: {x: Does x}}");
    CHECK(filtered.tools.allow == std::vector<std::string>{"a", "b*"});
    CHECK(filtered.tools.deny == std::vector<std::string>{"c"});
    CHECK(filtered.tools.names.at(1) == std::pair<std::string, std::string>{"b", "y"});
    CHECK(filtered.tools.descriptions.at(0) == std::pair<std::string, std::string>{"x", "Does x"});
    CHECK(has(wrong("tools: {rename: {a: x, b: x}}"), "gives two names the name `x`"));
    CHECK(has(wrong("tools: {hide: [a]}"), "hide"));
    CHECK(server("prompts: [a]").prompts.allow == std::vector<std::string>{"a"});
    CHECK(has(wrong("prompts: a"), "expected a map with allow, deny, rename and describe"));
    CHECK(has(wrong("resources: {deny: [\"\"]}"), "expected a name"));
}

TEST_CASE("a filter is bounded")
{
    const auto patterns = [](std::size_t count) {
        std::string list = "tools: {allow: [";
        for (std::size_t i = 0; i < count; ++i) {
            list += "a" + std::to_string(i) + ',';
        }
        return list + "]}";
    };
    CHECK(server(patterns(config::most_filter_patterns)).tools.allow.size() == config::most_filter_patterns);
    CHECK(has(wrong(patterns(config::most_filter_patterns + 1)), "has more than 256 patterns"));
    const auto names = [](std::size_t count) {
        std::string list = "tools: {rename: {";
        for (std::size_t i = 0; i < count; ++i) {
            list += "a" + std::to_string(i) + ": b" + std::to_string(i) + ',';
        }
        return list + "}}";
    };
    CHECK(server(names(config::most_filter_names)).tools.names.size() == config::most_filter_names);
    CHECK(has(wrong(names(config::most_filter_names + 1)), "has more than 256 names"));
    const auto long_name = [](std::size_t size) { return "tools: {rename: {a: " + std::string(size, 'n') + "}}"; };
    CHECK(server(long_name(config::longest_exposed_name)).tools.names.size() == 1);
    CHECK(has(wrong(long_name(config::longest_exposed_name + 1)), "is longer than 128 bytes"));
    const auto text = [](std::size_t size) { return "tools: {describe: {a: " + std::string(size, 'n') + "}}"; };
    CHECK(server(text(config::longest_exposed_description)).tools.descriptions.size() == 1);
    CHECK(has(wrong(text(config::longest_exposed_description + 1)), "is longer than 16384 bytes"));
}

TEST_CASE("no credential, and no field of HTTP, MCP or the gateway goes on to a server")
{
    CHECK(http_server("forward_headers: [X-Tenant, x-request-id]").forward_headers.size() == 2);
    for (const std::string name :
         {"Authorization",
          "cookie",
          "Host",
          "Forwarded",
          "X-Forwarded-For",
          "Connection",
          "Transfer-Encoding",
          "Content-Length",
          "Content-Type",
          "Content-Encoding",
          "Accept",
          "Origin",
          "Proxy-Authorization",
          "Cardea-Error",
          "Mcp-Session-Id",
          "Mcp-Param-Key",
          "Last-Event-ID",
          "Via"}) {
        CAPTURE(name);
        CHECK(
            has(http_wrong("forward_headers: [" + name + "]"),
                "is a credential, or a field of HTTP, MCP or the gateway")
        );
    }
    for (const std::string name : {"\"a b\"", "x_tenant"}) {
        CHECK(has(http_wrong("forward_headers: [" + name + "]"), "is not the name of a header field, or has a '_'"));
    }
    std::string many = "forward_headers: [X-0";
    for (std::size_t i = 1; i < config::most_forwarded_headers; ++i) {
        many += ", X-" + std::to_string(i);
    }
    CHECK(http_server(many + "]").forward_headers.size() == config::most_forwarded_headers);
    CHECK(has(http_wrong(many + ", X-More]"), "has more than 32 names"));
}

TEST_CASE("Only a server over streamable HTTP gets header fields of callers")
{
    const std::string key = "forward_headers: [X-Tenant]";
    const std::string said = "stands beside a program or the type sse, which get no header fields of callers";
    CHECK(has(wrong(key), said));
    CHECK(has(problems_of("agents: {a: {url: \"http://h/sse\", protocol: mcp, type: sse, " + key + "}}"), said));
    CHECK(http_server(key).forward_headers.size() == 1);
    CHECK(server("forward_headers: []").forward_headers.empty());
}

TEST_CASE("a session key is 32 bytes in a file, and no problem shows it")
{
    const auto problems_with = [](const std::string& text) {
        const auto file = [&](const std::string&) { return core::result<std::string>{text}; };
        return lines(config::load("mcp: {session_keys: [/k]}", "c.yml", variables, file).problems);
    };
    const std::string base64 = std::string(42, 'a') + "A";
    for (const auto& right : {session_key, base64, base64 + "=", std::string(42, '-') + "w"}) {
        CAPTURE(right);
        CHECK(problems_with(right) == "");
    }
    for (const auto& wrong :
         {std::string{},
          std::string(63, 'f'),
          std::string(65, 'f'),
          std::string(64, 'g'),
          std::string(42, 'b'),
          std::string(43, 'b'),
          std::string(44, 'b'),
          base64 + "==",
          std::string(31, 'b') + " " + std::string(32, 'b')}) {
        CAPTURE(wrong);
        const auto problem = problems_with(wrong);
        CHECK(
            has(problem, "mcp.session_keys[0]: names a file that has no key; expected the path of a file with 32 bytes")
        );
        CHECK_FALSE(has(problem, "bbbb"));
    }
    CHECK(has(problems_of("mcp: {session_keys: [/k]}"), "cannot be read here"));
    CHECK(has(problems_of("mcp: {session_keys: [a, b, c, d, e, f, g, h, i]}"), "has more than 8 keys"));
}

TEST_SUITE_END();
