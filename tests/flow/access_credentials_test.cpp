#include "core/json/json.hpp"
#include "tests/flow/access_fixture.hpp"
#include "tests/support/scratch.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

TEST_SUITE_BEGIN("flow/access credentials");

namespace {

using namespace flow;

// One agent `a` for every caller with a credential: a token of an issuer, a key in a cookie or in the query.
config::settings with_issuer(const std::string& url)
{
    auto settings = quick_settings();
    const auto known = [](const std::string& text, const std::string& owner, const std::string& provider) {
        return core::api_key{
            .sha256 = jose::sha256_hex(text),
            .expires = {},
            .disabled = false,
            .owner = known_as(owner, provider)
        };
    };
    core::jwt_provider idp;
    idp.issuer = "https://idp.example";
    idp.audiences = {"cardea"};
    idp.algorithms = {"RS256", "PS256", "ES256", "EdDSA"};
    idp.key_set_file = CARDEA_TEST_DATA "/tokens/keys.json";
    settings.access.providers = {
        {"idp", idp},
        {"web",
         core::api_key_provider{
             .place = core::credential_place::cookie,
             .field = "session",
             .keys = {known("key-of-web", "web", "web")}
         }},
        {"links",
         core::api_key_provider{
             .place = core::credential_place::query,
             .field = "key",
             .keys = {known("key-of-link", "link", "links")}
         }},
    };
    settings.agents = {agent("a", url, everybody_known, everybody_known)};
    settings.agents[0].relay_paths = {"/files/*"};
    return settings;
}

struct issuing_gateway {
    test_support::scripted_agent agent{answer_of_agent};
    running_gateway gateway{with_issuer(agent.url("/rpc"))};
};

core::json strangers_tokens()
{
    return parsed(test_support::read_whole(CARDEA_TEST_DATA "/tokens/tokens.json"));
}

}  // namespace

TEST_CASE("tokens that other libraries have signed let their subjects call")
{
    issuing_gateway with;
    const auto tokens = strangers_tokens();
    REQUIRE(tokens.size() == 8);
    for (const auto& each : tokens) {
        const auto text = core::text_member(each, "token");
        CAPTURE(core::text_member(each, "alg"));
        for (int i = 0; i < 3; ++i) {
            CHECK(call(with.gateway.port(), "a", bearer(text)).status == 200);
        }
    }
    const auto line = with.gateway.log().wait_for([](std::string_view text) {
        return text.find("\"principal\":\"alice\",\"provider\":\"idp\"") != text.npos;
    });
    CHECK(line.has_value());
    CHECK(with.agent.request_count() == 24);
}

TEST_CASE("a token that was changed, or that is none, is refused and calls nobody")
{
    auto settings = with_issuer("http://127.0.0.1:9/");
    settings.limits.failed_credentials = 100'000;
    running_gateway gateway{settings};
    const auto good = core::text_member(strangers_tokens().at(0), "token");
    const auto first = good.find('.');
    const auto second = good.rfind('.');
    auto other_signature = good;
    other_signature[second + 5] = other_signature[second + 5] == 'A' ? 'B' : 'A';
    auto other_claims = good;
    other_claims[first + 20] = other_claims[first + 20] == 'A' ? 'B' : 'A';
    const auto none = std::string{"eyJhbGciOiJub25lIn0"} + good.substr(first, second - first) + ".";
    for (const auto& text :
         {other_signature, other_claims, none, good + "A", good.substr(0, second), std::string{"a.b.c"}}) {
        CAPTURE(text);
        const auto got = call(gateway.port(), "a", bearer(text));
        CHECK(got.status == 401);
        CHECK(got.header("WWW-Authenticate").starts_with("Bearer realm=\"idp\", error=\"invalid_token\""));
    }
}

TEST_CASE("after ten failures in a second an address is told to wait, unless its credential is known")
{
    auto settings = with_issuer("http://127.0.0.1:9/");
    running_gateway gateway{settings};
    const auto card = [&](const field_list& headers) {
        return request(gateway.port(), "GET", card_target("a"), headers);
    };
    const auto known = bearer(core::text_member(strangers_tokens().at(0), "token"));
    const auto new_one = bearer(core::text_member(strangers_tokens().at(1), "token"));
    CHECK(card(known).status == 200);
    bool limited = false;
    // A second may end in between: then the count begins again.
    for (int i = 0; i < 200 && !limited; ++i) {
        const auto got = card(bearer("no-such-token"));
        limited = got.status == 429;
        CHECK((limited || got.status == 401));
        if (limited) {
            CHECK(got.header("Retry-After") == "1");
            CHECK(got.header("Cardea-Error") == "rate_limited");
        }
    }
    CHECK(limited);
    CHECK(card(known).status == 200);
    CHECK(becomes_true([&] { return card(new_one).status == 200; }));
}

TEST_CASE("A caller with two credentials is told where they are, in the words that it speaks")
{
    issuing_gateway with;
    const std::string said =
        "The request has two credentials, in the cookie session and in the query parameter key; send one.";
    const auto refused = [&](const std::string& path) {
        const auto got = request(
            with.gateway.port(),
            "POST",
            path + "?key=key-of-link",
            {{"Cookie", "session=key-of-web"}, {"Content-Type", "application/json"}},
            "{}"
        );
        CHECK(got.status == 400);
        CHECK(got.header("Cardea-Error") == "bad_request");
        return parsed(got.body);
    };
    CHECK(refused("/agents/a")["error"]["message"] == said);
    CHECK(refused("/agents/a/mcp")["error"]["message"] == said);
    CHECK(refused("/agents/a/rest/v1/message:send")["message"] == said);
    CHECK(refused("/agents/a/rest/message:send")["error"]["message"] == said);
    CHECK(with.agent.request_count() == 0);
}

TEST_CASE("An Authorization of a scheme that no provider reads goes beside a key, to an agent that gets it")
{
    test_support::scripted_agent recorder{answer_of_agent};
    auto settings = guarded(recorder.url("/rpc"));
    settings.agents = {
        agent("gets", recorder.url("/rpc"), everybody_known, only({.principals = {"ci"}})),
        agent("drops", recorder.url("/rpc"), everybody_known, only({.principals = {"ci"}})),
    };
    settings.agents[0].of_callers.names = {"Authorization"};
    running_gateway gateway{std::move(settings)};
    const auto with_key = [](std::string_view value) {
        auto both = ci;
        both.emplace_back("Authorization", value);
        return both;
    };
    for (const auto* value : {"Basic dTpw", "Negotiate abc", ""}) {
        CAPTURE(value);
        for (const auto* id : {"gets", "drops"}) {
            const auto before = recorder.request_count();
            CHECK(call(gateway.port(), id, with_key(value)).status == 200);
            REQUIRE(recorder.request_count() == before + 1);
            const bool gets = std::string_view{id} == "gets";
            CHECK(recorder.request(before).header("Authorization") == (gets ? value : ""));
        }
        // Alone it is one that nobody knows.
        CHECK(call(gateway.port(), "gets", {{"Authorization", value}}).status == 401);
    }
    CHECK(call(gateway.port(), "gets", with_key("Bearer of-user")).status == 400);
    const auto twice = call(gateway.port(), "gets", {ci[0], ci[0]});
    CHECK(twice.status == 400);
    CHECK(parsed(twice.body)["error"]["message"] == "The request has X-API-Key twice; send it once.");
    CHECK(recorder.request_count() == 6);
}

TEST_CASE("keys in a cookie and in the query are accepted, and agents do not get them")
{
    issuing_gateway with;
    const auto port = with.gateway.port();
    const field_list cookies{{"Cookie", "theme=dark; session=key-of-web"}, {"Referer", "http://x/?key=key-of-link"}};
    CHECK(call(port, "a", cookies).status == 200);
    CHECK(request(port, "GET", "/agents/a/files/b?x=1&key=key-of-link&y=2").status == 200);
    CHECK(request(port, "GET", "/agents?key=key-of-link").status == 200);
    CHECK(request(port, "GET", "/agents?limit=1&key=key-of-link").status == 200);
    CHECK(request(port, "GET", "/agents/a/files/b?x=1&key=key-of-web").status == 401);
    const auto got = with.agent.requests();
    REQUIRE(got.size() == 2);
    CHECK(got[0].count("Cookie") == 0);
    CHECK(got[0].count("Referer") == 0);
    CHECK(got[1].target == "/rpc/files/b?x=1&y=2");
    for (const auto& line : with.gateway.log().all()) {
        CHECK(line.find("key-of-") == std::string::npos);
    }
}

TEST_CASE("while the keys of an issuer cannot be had its tokens get 503, and never the place of no credential")
{
    auto settings = with_issuer("http://127.0.0.1:9/");
    auto& idp = std::get<core::jwt_provider>(settings.access.providers[0].type);
    idp.key_set_file = "/nonexistent/keys.json";
    settings.agents[0].discover = anyone;
    running_gateway gateway{settings};
    CHECK(request(gateway.port(), "GET", card_target("a")).status == 200);
    const auto token = bearer(core::text_member(strangers_tokens().at(0), "token"));
    const auto got = request(gateway.port(), "GET", card_target("a"), token);
    CHECK(got.status == 503);
    CHECK(got.header("Cardea-Error") == "access_unavailable");
    CHECK_FALSE(got.header("Retry-After").empty());
}

TEST_SUITE_END();
