#include "gateway/console/try.hpp"

#include "config/exposure.hpp"
#include "gateway/console/try_head.hpp"
#include "tests/unit/gateway/console/texts.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/console/try");

namespace {

unsigned status_for(const std::string& line)
{
    const auto text = line + " HTTP/1.1\r\nHost: a\r\n\r\n";
    const auto refusal = gateway::console::refusal_of_try(request_head_of(text));
    return refusal ? refusal->status : 0;
}

std::string sent_on(const std::string& text, std::size_t length = 2, const config::settings& settings = {})
{
    return gateway::console::head_of_try(request_head_of(text), length, "https://agents.example/base", settings);
}

core::access_provider keys_in(core::credential_place place, const std::string& field)
{
    return {field, core::api_key_provider{.place = place, .field = field, .keys = {}}};
}

}  // namespace

TEST_CASE("an agent's paths are tried with POST, and DELETE ends a session of MCP")
{
    for (const auto& [line, status] : std::vector<std::pair<std::string, unsigned>>{
             {"POST /try/agents/a", 0},
             {"POST /try/agents/a/", 0},
             {"POST /try/agents/a?x=1", 0},
             {"POST /try/agents/a/mcp", 0},
             {"POST /try/agents/a/rest/message:send", 0},
             {"DELETE /try/agents/a/mcp", 0},
             {"DELETE /try/agents/a/mcp?x=1", 0},
             {"DELETE /try/agents/a/mcp/", 0},
             {"DELETE /try/agents/a/", 405},
             {"DELETE /try/agents/a/mcp//", 405},
             {"GET /try/agents/a", 405},
             {"GET /try/agents/a/mcp", 405},
             {"PUT /try/agents/a", 405},
             {"OPTIONS /try/agents/a", 405},
             {"DELETE /try/agents/a", 405},
             {"DELETE /try/agents/a/mcp/x", 405},
             {"DELETE /try/agents/a/b/mcp", 405},
             {"POST /try", 404},
             {"POST /try/", 404},
             {"POST /try/rpc", 404},
             {"POST /try/agents", 404},
             {"POST /try/agents/", 404},
             {"POST /try/agents//mcp", 404},
             {"POST /try/agents?id=a", 404},
             {"POST /try/mcp/bundle", 404},
             {"GET /try/nothing", 404},
         }) {
        CAPTURE(line);
        CHECK(status_for(line) == status);
    }
    CHECK(gateway::console::is_try_path("/try"));
    CHECK(gateway::console::is_try_path("/try/x"));
    CHECK_FALSE(gateway::console::is_try_path("/tryout"));
    CHECK_FALSE(gateway::console::is_try_path("/"));
}

TEST_CASE("a refused method is told what the path takes")
{
    const auto allowed = [](const std::string& text) {
        const auto refusal = gateway::console::refusal_of_try(request_head_of(text));
        REQUIRE(refusal.has_value());
        return refusal->fields;
    };
    CHECK(allowed("GET /try/agents/a HTTP/1.1\r\nHost: a\r\n\r\n").find("Allow: POST\r\n") != std::string::npos);
    CHECK(
        allowed("GET /try/agents/a/mcp HTTP/1.1\r\nHost: a\r\n\r\n").find("Allow: POST, DELETE\r\n") !=
        std::string::npos
    );
}

TEST_CASE("a try has the caller's fields, under the public host, and none of the browser's")
{
    CHECK(
        sent_on("POST /try/agents/a/mcp?x=%20 HTTP/1.1\r\n"
                "Host: 127.0.0.1:4001\r\n"
                "Origin: http://127.0.0.1:4001\r\n"
                "Cookie: a=b\r\n"
                "Sec-Fetch-Site: same-origin\r\n"
                "sec-ch-ua: x\r\n"
                "Referer: http://127.0.0.1:4001/console/\r\n"
                "Connection: keep-alive, X-Hop\r\n"
                "X-Hop: 1\r\n"
                "Keep-Alive: 5\r\n"
                "TE: trailers\r\n"
                "Expect: 100-continue\r\n"
                "Authorization: Bearer admin\r\n"
                "Cardea-Caller-Authorization: Bearer caller\r\n"
                "Content-Length: 2\r\n"
                "Content-Type: application/json\r\n"
                "Accept-Encoding: gzip\r\n"
                "X-Free: yes\r\n"
                "A2A-Version: 1.0\r\n\r\n") ==
        "POST /agents/a/mcp?x=%20 HTTP/1.1\r\n"
        "Host: agents.example\r\n"
        "Connection: close\r\n"
        "Authorization: Bearer caller\r\n"
        "Content-Type: application/json\r\n"
        "Accept-Encoding: gzip\r\n"
        "X-Free: yes\r\n"
        "A2A-Version: 1.0\r\n"
        "Content-Length: 2\r\n\r\n"
    );
}

TEST_CASE("another credential can be the caller's, and nothing of the connection can")
{
    const auto head = sent_on(
        "POST /try/agents/a HTTP/1.1\r\nHost: a\r\n"
        "cardea-caller-x-api-key: k\r\n"
        "Cardea-Caller-Host: evil.example\r\n"
        "Cardea-Caller-Cookie: a=b\r\n"
        "Cardea-Caller-Content-Length: 5\r\n"
        "Cardea-Caller-Transfer-Encoding: chunked\r\n"
        "Cardea-Caller-: x\r\n\r\n"
    );
    CHECK(
        head ==
        "POST /agents/a HTTP/1.1\r\nHost: agents.example\r\nConnection: close\r\nx-api-key: k\r\n"
        "Content-Length: 2\r\n\r\n"
    );
}

TEST_CASE("no credential of the operator becomes the caller's, wherever a provider reads it")
{
    config::settings settings;
    settings.access.providers = {
        keys_in(core::credential_place::header, "X-Staff"),
        keys_in(core::credential_place::query, "key")
    };
    const std::string fields =
        " HTTP/1.1\r\nHost: a\r\n"
        "X-API-Key: operator\r\n"
        "X-Goog-IAP-JWT-Assertion: operator\r\n"
        "x-staff: operator\r\n"
        "key: free\r\n"
        "Cardea-Caller-X-Staff: caller\r\n\r\n";
    const std::string rest =
        " HTTP/1.1\r\nHost: agents.example\r\nConnection: close\r\nkey: free\r\nX-Staff: caller\r\n"
        "Content-Length: 2\r\n\r\n";
    // Where operators need no credential one in the query is the caller's.
    CHECK(sent_on("POST /try/agents/a?key=1" + fields, 2, settings) == "POST /agents/a?key=1" + rest);
    settings.admin_access = core::admin_access::scopes;
    for (const auto& [asked, sent] : std::vector<std::pair<std::string, std::string>>{
             {"?key=1", ""},
             {"?k%65y=1&x=%20", "?x=%20"},
             {"?x&key=1&&keys=2&key", "?x&&keys=2"},
             {"?", ""},
             {"?Key=1", "?Key=1"},
         }) {
        CAPTURE(asked);
        CHECK(sent_on("POST /try/agents/a" + asked + fields, 2, settings) == "POST /agents/a" + sent + rest);
    }
}

TEST_CASE("a session is ended without a body")
{
    CHECK(
        sent_on("DELETE /try/agents/a/mcp HTTP/1.1\r\nHost: a\r\nMcp-Session-Id: s\r\n\r\n", 0) ==
        "DELETE /agents/a/mcp HTTP/1.1\r\nHost: agents.example\r\nConnection: close\r\nMcp-Session-Id: s\r\n\r\n"
    );
}

TEST_CASE("no browser obeys what an agent answers")
{
    const std::string text =
        "HTTP/1.1 307 Temporary Redirect\r\n"
        "Date: Sat, 28 Nov 2026 11:00:00 GMT\r\n"
        "Location: /rpc\r\n"
        "WWW-Authenticate: Basic realm=\"x\"\r\n"
        "Refresh: 0; url=/reload\r\n"
        "x-content-type-options: x\r\n"
        "Content-Security-Policy: sandbox allow-scripts\r\n"
        "Content-Security-Policy-Report-Only: report-uri https://evil.example\r\n"
        "Link: <https://evil.example>; rel=preconnect\r\n"
        "SourceMap: https://evil.example\r\n"
        "Connection: close, X-Hop\r\n"
        "X-Hop: 1\r\n"
        "Content-Type: text/html\r\n"
        "X-Free: yes\r\n"
        "Content-Length: 4\r\n\r\n";
    CHECK(
        gateway::console::fields_of_try(response_head_of(text)) ==
        "Cardea-Caller-Location: /rpc\r\n"
        "Cardea-Caller-WWW-Authenticate: Basic realm=\"x\"\r\n"
        "Cardea-Caller-Refresh: 0; url=/reload\r\n"
        "Cardea-Caller-x-content-type-options: x\r\n"
        "Cardea-Caller-Content-Security-Policy: sandbox allow-scripts\r\n"
        "Cardea-Caller-Content-Security-Policy-Report-Only: report-uri https://evil.example\r\n"
        "Cardea-Caller-Link: <https://evil.example>; rel=preconnect\r\n"
        "Cardea-Caller-SourceMap: https://evil.example\r\n"
        "Content-Type: text/html\r\n"
        "X-Free: yes\r\n"
        "X-Content-Type-Options: nosniff\r\n"
        "Content-Security-Policy: default-src 'none'; sandbox\r\n"
    );
}

TEST_CASE("nothing can be tried while the console is off, or where every caller needs a certificate")
{
    config::settings settings;
    CHECK(config::untriable(settings).empty());
    settings.access.providers = {{"certificates", core::mtls_provider{}}};
    CHECK(config::untriable(settings).find("client certificate") != std::string_view::npos);
    settings.access.providers.push_back({"token", core::static_token_provider{}});
    CHECK(config::untriable(settings).empty());
    settings.console = false;
    CHECK(config::untriable(settings).find("off") != std::string_view::npos);
}
