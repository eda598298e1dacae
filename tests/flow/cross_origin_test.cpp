// Web pages of other origins and what browsers ask for them (Fetch standard, "CORS protocol"), on every route.
#include "tests/flow/access_fixture.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("flow/cross_origin");

namespace {

using namespace flow;

constexpr std::string_view page = "https://app.example";
constexpr std::string_view stranger = "https://evil.example";

const std::vector<std::string> documents{
    "/agents/open/.well-known/agent-card.json",
    "/agents",
    "/.well-known/ai-catalog.json",
    "/.well-known/api-catalog",
    "/v0.1/servers",
};

const std::vector<std::string> calls{
    "/agents/open",
    "/agents/secret",
    "/agents/none",
    "/agents/open/rest/v1/message:send",
    "/agents/open/files/a",
    "/rpc",
};

field_list preflight_of(std::string_view origin)
{
    return {
        {"Origin", std::string{origin}},
        {"Access-Control-Request-Method", "POST"},
        {"Access-Control-Request-Headers", "authorization, x-api-key, a2a-version"}
    };
}

field_list from(std::string_view origin, field_list more = {})
{
    more.emplace_back("Origin", std::string{origin});
    return more;
}

struct listing_gateway {
    explicit listing_gateway(bool credentials = false)
    {
        auto settings = guarded(agent.url("/rpc"));
        settings.cors.origins = {std::string{page}, "http://localhost:*"};
        settings.cors.credentials = credentials;
        gateway.emplace(settings);
    }

    http_response
    ask(const std::string& method, const std::string& target, const field_list& headers, const std::string& body = {}
    ) const
    {
        return request(gateway->port(), method, target, headers, body);
    }

    test_support::scripted_agent agent{answer_of_agent};
    std::optional<running_gateway> gateway;
};

}  // namespace

TEST_CASE(
    "A browser's question about a listed page is answered on every route, without a credential and without the agent"
)
{
    const listing_gateway x;
    auto targets = documents;
    targets.insert(targets.end(), calls.begin(), calls.end());
    for (const auto& target : targets) {
        for (const auto& origin : {std::string{page}, std::string{"http://localhost:5173"}}) {
            CAPTURE(target);
            CAPTURE(origin);
            const auto got = x.ask("OPTIONS", target, preflight_of(origin));
            CHECK(got.status == 204);
            CHECK(got.header("Access-Control-Allow-Origin") == origin);
            CHECK(got.header("Access-Control-Allow-Headers") == "authorization, x-api-key, a2a-version");
            CHECK_FALSE(got.header("Access-Control-Allow-Methods").empty());
            CHECK(got.count("Access-Control-Allow-Credentials") == 0);
            CHECK(got.header("Vary") == "Origin");
        }
    }
    CHECK(x.agent.request_count() == 0);
}

TEST_CASE("A listed page reads answers of every kind: documents, results, errors and refusals")
{
    const listing_gateway x;
    const std::string call = R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{}})";
    const auto readable = [](const http_response& got) {
        return got.header("Access-Control-Allow-Origin") == page && got.count("Access-Control-Allow-Origin") == 1 &&
               got.header("Access-Control-Expose-Headers").find("WWW-Authenticate") != std::string::npos &&
               got.header("Access-Control-Expose-Headers").find("Cardea-Error") != std::string::npos;
    };
    for (const auto& target : documents) {
        CAPTURE(target);
        const auto got = x.ask("GET", target, from(page, ci));
        CHECK(got.status == 200);
        CHECK(readable(got));
    }
    const auto json_from = [](std::string_view origin, field_list more = {}) {
        more.emplace_back("Content-Type", "application/json");
        return from(origin, std::move(more));
    };
    const auto served = x.ask("POST", "/agents/open", json_from(page), call);
    CHECK(served.status == 200);
    CHECK(readable(served));
    const auto refused = x.ask("POST", "/agents/secret", json_from(page), call);
    CHECK(refused.status == 401);
    CHECK(readable(refused));
    const auto unread = x.ask("POST", "/agents/open", json_from(page), "{");
    CHECK(readable(unread));
    const auto missing = x.ask("GET", "/nowhere", from(page, ci));
    CHECK(missing.status == 404);
    CHECK(readable(missing));
}

TEST_CASE("A page that is not listed gets no permission, and its question is refused for every agent alike")
{
    const listing_gateway x;
    for (const auto& target : calls) {
        for (const auto& origin :
             {std::string{stranger}, std::string{"null"}, std::string{"https://app.example.evil"}}) {
            CAPTURE(target);
            const auto got = x.ask("OPTIONS", target, preflight_of(origin));
            CHECK(got.status == 403);
            CHECK(got.header("Cardea-Error") == "origin_forbidden");
            CHECK(got.count("Access-Control-Allow-Origin") == 0);
        }
    }
    const auto called = x.ask(
        "POST",
        "/agents/open",
        from(stranger, {{"Content-Type", "application/json"}}),
        R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{}})"
    );
    CHECK(called.status == 200);
    CHECK(called.count("Access-Control-Allow-Origin") == 0);
    CHECK(called.header("Vary") == "Origin");
}

TEST_CASE("Any page reads public documents where callers need a credential, and none of an agent that is not for anyone"
)
{
    const listing_gateway x;
    for (const auto& target : documents) {
        CAPTURE(target);
        const auto asked = x.ask("OPTIONS", target, preflight_of(stranger));
        CHECK(asked.status == 204);
        CHECK(asked.header("Access-Control-Allow-Origin") == "*");
        for (const auto& headers : {from(stranger, ci), ci}) {
            const auto got = x.ask("GET", target, headers);
            CHECK(got.status == 200);
            CHECK(got.header("Access-Control-Allow-Origin") == "*");
            CHECK(got.count("Access-Control-Allow-Credentials") == 0);
        }
    }
    for (const std::string id : {"seen", "secret", "none"}) {
        const auto target = "/agents/" + id + "/.well-known/agent-card.json";
        CHECK(x.ask("GET", target, from(stranger)).count("Access-Control-Allow-Origin") == 0);
        CHECK(x.ask("GET", target, from(stranger, ci)).count("Access-Control-Allow-Origin") == 0);
        CHECK(x.ask("OPTIONS", target, preflight_of(stranger)).status == 204);
    }
}

TEST_CASE("cors.public decides which pages read public documents")
{
    test_support::scripted_agent agent{answer_of_agent};
    auto open = quick_settings();
    open.agents = {a2a_agent("open", agent.url("/rpc"))};
    const auto read = [](const config::settings& settings) {
        const running_gateway gateway{settings};
        const auto got = request(gateway.port(), "GET", "/agents/open/.well-known/agent-card.json", from(stranger));
        CHECK(got.status == 200);
        return got.header("Access-Control-Allow-Origin");
    };
    CHECK(read(open).empty());  // of a gateway that asks nobody for a credential any page could read what is internal
    open.cors.documents = core::public_documents::anyone;
    CHECK(read(open) == "*");
    auto closed = guarded(agent.url("/rpc"));
    CHECK(read(closed) == "*");
    closed.cors.documents = core::public_documents::listed;
    CHECK(read(closed).empty());
}

TEST_CASE("A listed page may have the browser send credentials only if cors.credentials says so")
{
    const listing_gateway x{/*credentials=*/true};
    CHECK(x.ask("OPTIONS", "/agents/open", preflight_of(page)).header("Access-Control-Allow-Credentials") == "true");
    CHECK(x.ask("GET", "/agents", from(page, ci)).header("Access-Control-Allow-Credentials") == "true");
    CHECK(x.ask("GET", "/agents", from(stranger, ci)).count("Access-Control-Allow-Credentials") == 0);
}

TEST_SUITE_END();
