#include "gateway/access/card_schemes.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using core::json;
using gateway::access::card_schemes;

core::access_provider token(const std::string& name)
{
    core::principal owner;
    owner.id = name;
    return {name, core::static_token_provider{core::secret{"a-token-of-" + name}, owner}};
}

core::access_provider keys(core::credential_place place, const std::string& field)
{
    return {"keys", core::api_key_provider{.place = place, .field = field, .keys = {}}};
}

core::access_settings with(std::vector<core::access_provider> providers)
{
    core::access_settings settings;
    settings.providers = std::move(providers);
    return settings;
}

core::agent agent_with(core::access_policy call)
{
    core::agent agent;
    agent.id = "a";
    agent.call = std::move(call);
    return agent;
}

const core::access_policy everybody{.anyone = false, .any_of = {core::access_rule{}}};

// As JSON text.
std::string schemes_of(const core::access_settings& settings, const core::access_policy& call = everybody)
{
    return card_schemes{settings}.of(agent_with(call)).schemes.dump();
}

}  // namespace

TEST_SUITE("card schemes")
{
    TEST_CASE("Without a provider nothing is needed")
    {
        const auto access = card_schemes{{}}.of(agent_with(everybody));
        CHECK(access.schemes.empty());
        CHECK_FALSE(access.optional);
        CHECK_FALSE(access.passes);
    }

    TEST_CASE("Each provider is one scheme with its name")
    {
        CHECK(schemes_of(with({token("ops")})) == R"({"ops":{"type":"http","scheme":"bearer"}})");
        CHECK(
            schemes_of(with({{"idp", core::jwt_provider{}}})) ==
            R"({"idp":{"type":"http","scheme":"bearer","bearerFormat":"JWT"}})"
        );
        CHECK(
            schemes_of(with({keys(core::credential_place::header, "X-API-Key")})) ==
            R"({"keys":{"type":"apiKey","in":"header","name":"X-API-Key"}})"
        );
        CHECK(
            schemes_of(with({keys(core::credential_place::cookie, "session")})) ==
            R"({"keys":{"type":"apiKey","in":"cookie","name":"session"}})"
        );
        CHECK(
            schemes_of(with({keys(core::credential_place::query, "key")})) ==
            R"({"keys":{"type":"apiKey","in":"query","name":"key"}})"
        );
    }

    TEST_CASE("Providers whose credentials come from elsewhere are schemes of their own kind")
    {
        core::oidc_provider oidc;
        oidc.issuer = "https://idp.example";
        core::azure_ad_provider azure;
        azure.tenant = "t";
        const auto scheme_of = [](core::provider_settings type) { return schemes_of(with({{"p", std::move(type)}})); };
        CHECK(
            scheme_of(oidc) ==
            R"({"p":{"type":"openIdConnect","openIdConnectUrl":"https://idp.example/.well-known/openid-configuration"}})"
        );
        CHECK(
            scheme_of(azure) == R"({"p":{"type":"openIdConnect","openIdConnectUrl":)"
                                R"("https://login.microsoftonline.com/t/v2.0/.well-known/openid-configuration"}})"
        );
        CHECK(
            scheme_of(core::gcp_iap_provider{}) ==
            R"({"p":{"type":"apiKey","in":"header","name":"X-Goog-IAP-JWT-Assertion"}})"
        );
        CHECK(scheme_of(core::http_verifier_provider{}) == R"({"p":{"type":"http","scheme":"bearer"}})");
        CHECK(
            scheme_of(core::aws_sigv4_provider{}) ==
            R"({"p":{"type":"http","scheme":"bearer","bearerFormat":"forge-aws-v1"}})"
        );
        CHECK(scheme_of(core::mtls_provider{}) == R"({"p":{"type":"mutualTLS"}})");
    }

    TEST_CASE("An agent that gets its callers' credentials says what it asks for")
    {
        auto agent = agent_with(everybody);
        agent.of_callers.all = true;
        CHECK(card_schemes{{}}.of(agent).passes);
        CHECK(card_schemes{with({token("ops")})}.of(agent).passes);
    }

    TEST_CASE("A provider that no rule for calls accepts is not described")
    {
        const auto settings = with({token("ops"), token("web")});
        core::access_rule only_web;
        only_web.providers = {"web"};
        CHECK(json::parse(schemes_of(settings)).size() == 2);
        CHECK(
            schemes_of(settings, {.anyone = false, .any_of = {only_web}}) ==
            R"({"web":{"type":"http","scheme":"bearer"}})"
        );
        CHECK(json::parse(schemes_of(settings, {.anyone = false, .any_of = {only_web, {}}})).size() == 2);
        CHECK(schemes_of(settings, {.anyone = false, .any_of = {}}) == "{}");
    }

    TEST_CASE("Where anyone may call, credentials are optional")
    {
        const auto access = card_schemes{with({token("ops")})}.of(agent_with({.anyone = true, .any_of = {}}));
        CHECK(access.optional);
        CHECK(access.schemes.size() == 1);
    }

    TEST_CASE("A change of access concerns the cards that say something else then, and no others")
    {
        const auto differs = [](const core::agent& agent, const core::access_settings& a, const core::access_settings& b
                             ) {
            const auto made = [](const auto& settings) { return std::make_shared<const card_schemes>(settings); };
            return card_schemes::difference(made(a), made(b))(agent);
        };
        const auto agent = agent_with(everybody);
        const auto one = with({token("a")});
        CHECK_FALSE(differs(agent, one, one));
        CHECK_FALSE(differs(agent, {}, {}));
        CHECK(differs(agent, {}, one));
        CHECK(differs(agent, one, with({token("a"), token("b")})));
        auto ruled = one;
        ruled.rules.push_back({.agents = {"other"}, .discover = everybody, .call = {}});
        CHECK_FALSE(differs(agent, one, ruled));
        const auto of_a = agent_with({.anyone = false, .any_of = {{.providers = {"a"}}}});
        CHECK_FALSE(differs(of_a, one, with({token("a"), token("b")})));
        // Nothing is needed in either case, but an extended card is there with providers only.
        auto closed = agent_with({});
        closed.extended_card = core::extended_card_access::managed;
        CHECK(differs(closed, {}, one));
    }
}
