#include "gateway/access/access_plan.hpp"

#include "jose/digest.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

namespace {

using namespace std::chrono_literals;
using core::credential_place;
using gateway::access::access_plan;
using gateway::access::credential;

constexpr core::wall_time now{1'800'000'000s};

core::principal known_as(std::string id, std::string provider)
{
    return {
        .id = std::move(id),
        .provider = std::move(provider),
        .tenant = {},
        .scopes = {},
        .groups = {},
        .claims = {}
    };
}

core::access_provider ops()
{
    return {"ops", core::static_token_provider{core::secret{"a-token-of-operations"}, known_as("ops", "ops")}};
}

core::api_key key_of(const std::string& text, const std::string& owner)
{
    return {.sha256 = jose::sha256_hex(text), .expires = {}, .disabled = false, .owner = known_as(owner, "keys")};
}

core::access_settings with(std::vector<core::access_provider> providers)
{
    core::access_settings settings;
    settings.providers = std::move(providers);
    return settings;
}

// The id of the owner, "asks" where a signature has to be checked, or the name of the error.
std::string owner_of(const access_plan& plan, std::string_view text, const gateway::access::key_field* field = nullptr)
{
    const auto judged = plan.judge(credential{field, text}, now);
    if (!judged) {
        return "asks";
    }
    return *judged ? (*judged)->owner->id : std::string{core::name(judged->error().code)};
}

TEST_SUITE("access plan")
{
    TEST_CASE("Without a provider there is no plan")
    {
        CHECK(access_plan::make({}) == nullptr);
        CHECK(access_plan::make(with({ops()})) != nullptr);
    }

    TEST_CASE("A static token is its principal's, and nothing else is")
    {
        const auto plan = access_plan::make(with({ops()}));
        CHECK(owner_of(*plan, "a-token-of-operations") == "ops");
        CHECK(owner_of(*plan, "a-token-of-operation") == "unauthenticated");
        CHECK(owner_of(*plan, "A-token-of-operations") == "unauthenticated");
        CHECK(owner_of(*plan, "") == "unauthenticated");
    }

    TEST_CASE("Of two providers with the same token the first counts")
    {
        auto second = ops();
        second.name = "other";
        std::get<core::static_token_provider>(second.type).bearer = known_as("other", "other");
        CHECK(owner_of(*access_plan::make(with({ops(), second})), "a-token-of-operations") == "ops");
        CHECK(owner_of(*access_plan::make(with({second, ops()})), "a-token-of-operations") == "other");
    }

    TEST_CASE("A token that no provider knows is asked about if one reads signed tokens")
    {
        core::access_provider idp{"idp", core::jwt_provider{}};
        const auto plan = access_plan::make(with({ops(), idp}));
        CHECK(owner_of(*plan, "a-token-of-operations") == "ops");
        CHECK(owner_of(*plan, "something else") == "asks");
    }

    TEST_CASE("A key counts in the field of its provider only")
    {
        core::access_provider keys{"keys", core::api_key_provider{.keys = {key_of("k1", "ci")}}};
        core::access_provider cookies{
            "cookies",
            core::api_key_provider{.place = credential_place::cookie, .field = "session", .keys = {key_of("k2", "web")}}
        };
        const auto plan = access_plan::make(with({keys, cookies}));
        const auto& fields = plan->reader().fields();
        REQUIRE(fields.size() == 2);
        CHECK(owner_of(*plan, "k1", &fields[0]) == "ci");
        CHECK(owner_of(*plan, "k2", &fields[1]) == "web");
        CHECK(owner_of(*plan, "k1", &fields[1]) == "unauthenticated");
        CHECK(owner_of(*plan, "k2", &fields[0]) == "unauthenticated");
        CHECK(owner_of(*plan, "k1") == "unauthenticated");
    }

    TEST_CASE("A key is refused from the moment it expires and while it is disabled")
    {
        auto old = key_of("old", "old");
        old.expires = now;
        auto young = key_of("young", "young");
        young.expires = now + 1ms;
        auto off = key_of("off", "off");
        off.disabled = true;
        const auto plan = access_plan::make(with({{"keys", core::api_key_provider{.keys = {old, young, off}}}}));
        const auto& field = plan->reader().fields().at(0);
        CHECK(owner_of(*plan, "old", &field) == "unauthenticated");
        CHECK(owner_of(*plan, "young", &field) == "young");
        CHECK(owner_of(*plan, "off", &field) == "unauthenticated");
        const auto judged = plan->judge(credential{&field, "young"}, now);
        REQUIRE(judged.has_value());
        REQUIRE(judged->has_value());
        CHECK((*judged)->until == now + 1ms);
    }

    TEST_CASE("A refused caller is told of every provider")
    {
        const auto plan = access_plan::make(
            with({ops(), {"keys", core::api_key_provider{.keys = {key_of("k1", "ci")}}}, {"idp", core::jwt_provider{}}})
        );
        CHECK(
            plan->challenges(/*refused=*/false, {}) ==
            "WWW-Authenticate: Bearer realm=\"ops\"\r\n"
            "WWW-Authenticate: ApiKey realm=\"keys\", in=\"header\", name=\"X-API-Key\"\r\n"
            "WWW-Authenticate: Bearer realm=\"idp\"\r\n"
        );
        CHECK(
            plan->challenges(/*refused=*/true, {}) ==
            "WWW-Authenticate: Bearer realm=\"ops\", error=\"invalid_token\"\r\n"
            "WWW-Authenticate: ApiKey realm=\"keys\", in=\"header\", name=\"X-API-Key\"\r\n"
            "WWW-Authenticate: Bearer realm=\"idp\", error=\"invalid_token\"\r\n"
        );
    }

    TEST_CASE("A refused caller is told where the metadata of the gateway or of the agent is, if an issuer is a URL")
    {
        core::access_provider idp{"idp", core::jwt_provider{}};
        std::get<core::jwt_provider>(idp.type).issuer = "https://idp.example";
        const auto plan = access_plan::make(with({ops(), idp}), nullptr, "https://gw.example/base");
        const std::string begin =
            "WWW-Authenticate: Bearer realm=\"ops\"\r\n"
            "WWW-Authenticate: Bearer realm=\"idp\", "
            "resource_metadata=\"https://gw.example/base/.well-known/oauth-protected-resource";
        CHECK(plan->challenges(false, {"a", ""}) == begin + "/agents/a\"\r\n");
        CHECK(plan->challenges(false, {"a", "/mcp"}) == begin + "/agents/a/mcp\"\r\n");
        CHECK(plan->challenges(false, {"", "/mcp"}) == begin + "/mcp\"\r\n");  // the address of a bundle
        for (const auto* other : {"a\"b", "..", ".well-known", "a\r\nb"}) {
            CHECK(plan->challenges(false, {other, "/mcp"}) == begin + "\"\r\n");
        }
        CHECK(
            plan->resource_metadata({}) ==
            R"({"resource":"https://gw.example/base","authorization_servers":["https://idp.example"],)"
            R"("bearer_methods_supported":["header"]})"
        );
        CHECK(plan->resource_metadata({"a", ""})->starts_with(R"({"resource":"https://gw.example/base/agents/a",)"));
        CHECK(plan->resource_metadata({"a", "/mcp"})
                  ->starts_with(R"({"resource":"https://gw.example/base/agents/a/mcp",)"));
        // At a name of the agent's own the resource is there, whatever the path of the gateway.
        const auto named =
            begin.substr(0, begin.find("https://")) + "https://a.example/.well-known/oauth-protected-resource";
        CHECK(plan->challenges(false, {"a", "", "a.example"}) == named + "\"\r\n");
        CHECK(plan->challenges(false, {"a", "/mcp", "a.example"}) == named + "/mcp\"\r\n");
        CHECK(plan->resource_metadata({"a", "", "a.example"})->starts_with(R"({"resource":"https://a.example",)"));
        CHECK(
            plan->resource_metadata({"a", "/mcp", "a.example"})->starts_with(R"({"resource":"https://a.example/mcp",)")
        );
        std::get<core::jwt_provider>(idp.type).issuer = "local";
        CHECK_FALSE(access_plan::make(with({ops(), idp}))->resource_metadata({}).has_value());
    }

    TEST_CASE("The scopes of an agent's rules are named as the issuer spells them, if anyone may know of the agent")
    {
        core::access_provider idp{"idp", core::jwt_provider{}};
        std::get<core::jwt_provider>(idp.type).issuer = "https://idp.example";
        std::get<core::jwt_provider>(idp.type).scope_prefix = "api://cardea/";
        core::access_provider local{"local", core::jwt_provider{}};
        auto settings = with({ops(), idp, local, {"check", core::http_verifier_provider{}}});
        settings.rules = {
            {.agents = {},
             .discover = {},
             .call =
                 core::access_policy{
                     .anyone = false,
                     .any_of = {{.scopes = {"words", "a b", "q\"q", ""}}, {.scopes = {"tools", "words"}}}
                 }}
        };
        const auto plan = access_plan::make(settings, nullptr, "https://gw.example");
        core::agent known;
        known.id = "a";
        const std::string metadata =
            ", resource_metadata=\"https://gw.example/.well-known/oauth-protected-resource/agents/a\"\r\n";
        const std::string hidden =
            "WWW-Authenticate: Bearer realm=\"ops\"\r\n"
            "WWW-Authenticate: Bearer realm=\"idp\"" +
            metadata +
            "WWW-Authenticate: Bearer realm=\"local\"\r\n"
            "WWW-Authenticate: Bearer realm=\"check\"\r\n";
        // An agent that not everybody may know of is told like one that does not exist.
        CHECK(plan->challenges(false, {.agent = "a", .below = "", .record = &known}) == hidden);
        CHECK(plan->challenges(false, {.agent = "a", .below = ""}) == hidden);
        CHECK(
            plan->resource_metadata({.agent = "a", .below = "", .record = &known}) ==
            plan->resource_metadata({.agent = "a", .below = ""})
        );
        known.discover = core::access_policy{.anyone = true, .any_of = {}};
        const gateway::access::protected_resource open{.agent = "a", .below = "", .record = &known};
        CHECK(
            plan->challenges(false, open) ==
            "WWW-Authenticate: Bearer realm=\"ops\"\r\n"
            "WWW-Authenticate: Bearer realm=\"idp\", scope=\"api://cardea/words api://cardea/tools\"" +
                metadata +
                "WWW-Authenticate: Bearer realm=\"local\", scope=\"words tools\"\r\n"
                "WWW-Authenticate: Bearer realm=\"check\", scope=\"words tools\"\r\n"
        );
        CHECK(plan->resource_metadata(open)->ends_with(
            R"(,"scopes_supported":["api://cardea/words","api://cardea/tools"]})"
        ));
        // A caller is told what it lacks, in the words of its own issuer, and only if that would help.
        const auto challenge = [&](const std::string& provider, std::vector<std::string> scopes) {
            auto caller = known_as("alice", provider);
            caller.scopes = std::move(scopes);
            return plan->scope_challenge(open, caller, std::nullopt);
        };
        CHECK(
            challenge("idp", {}) ==
            "WWW-Authenticate: Bearer realm=\"idp\", error=\"insufficient_scope\", "
            "scope=\"api://cardea/words api://cardea/tools\"" +
                metadata
        );
        CHECK(
            challenge("local", {}) ==
            "WWW-Authenticate: Bearer realm=\"local\", error=\"insufficient_scope\", scope=\"words tools\"\r\n"
        );
        CHECK(challenge("idp", {"words"}).empty());
        CHECK(challenge("ops", {}).empty());
        CHECK(challenge("elsewhere", {}).empty());
    }

    TEST_CASE("A token in a header of its own is asked about, and no bearer token is then")
    {
        const auto plan = access_plan::make(with({{"iap", core::gcp_iap_provider{}}}));
        const auto& field = plan->reader().fields().at(0);
        CHECK(owner_of(*plan, "a.b.c", &field) == "asks");
        CHECK(owner_of(*plan, "a.b.c") == "unauthenticated");
        CHECK(
            plan->challenges(false, {}) ==
            "WWW-Authenticate: ApiKey realm=\"iap\", in=\"header\", name=\"X-Goog-IAP-JWT-Assertion\"\r\n"
        );
        for (const auto* const name :
             {"x-goog-iap-jwt-assertion", "X-Goog-Authenticated-User-Email", "x-goog-authenticated-user-id"}) {
            CHECK(plan->reader().is_key_header(name));
            CHECK_FALSE(access_plan::make(with({ops()}))->reader().is_key_header(name));
        }
    }

    TEST_CASE("A certificate names its principal as the provider says, until it ends")
    {
        const net::client_certificate shown{
            .fingerprint = std::string(32, 'f'),
            .alternative_name = "alice",
            .uris = {"spiffe://corp/alice"},
            .subject = "CN=Alice",
            .valid_until = now + 1ms
        };
        const auto judged = [&](core::certificate_name name, const net::client_certificate& certificate) {
            const auto plan = access_plan::make(with({{"certs", core::mtls_provider{"ca.pem", name}}}));
            const auto got = plan->judge(certificate, now).value();
            return got ? got->owner->provider + ' ' + got->owner->id : std::string{core::name(got.error().code)};
        };
        using enum core::certificate_name;
        CHECK(judged(san, shown) == "certs alice");
        CHECK(judged(subject, shown) == "certs CN=Alice");
        CHECK(judged(spiffe, shown) == "certs spiffe://corp/alice");
        auto other = shown;
        other.valid_until = now;
        CHECK(judged(san, other) == "unauthenticated");
        other = shown;
        other.alternative_name.clear();
        other.subject = std::string(257, 's');
        other.uris.emplace_back("https://corp/alice");
        for (const auto name : {san, subject, spiffe}) {
            CHECK(judged(name, other) == "unauthenticated");
        }
        for (const auto& uris : {std::vector<std::string>{}, {"https://a"}, {""}, {"SPIFFE://a"}}) {
            other.uris = uris;
            CHECK(judged(spiffe, other) == "unauthenticated");
        }
        const auto plan = access_plan::make(with({{"certs", core::mtls_provider{"ca.pem", san}}}));
        CHECK((*plan->judge(shown, now))->until == now + 1ms);
        CHECK(owner_of(*plan, "a-token") == "unauthenticated");
        CHECK_FALSE(access_plan::make(with({ops()}))->judge(shown, now).has_value());
    }

    TEST_CASE("An agent's own policy counts before the rules, and the first rule for it that has one before the others")
    {
        const core::access_policy anyone{.anyone = true, .any_of = {}};
        const core::access_policy alice{.anyone = false, .any_of = {{.principals = {"alice"}}}};
        const core::access_policy bob{.anyone = false, .any_of = {{.principals = {"bob"}}}};
        auto settings = with({ops()});
        settings.rules = {
            {.agents = {"team-*"}, .discover = {}, .call = alice},
            {.agents = {"*-open", "public"}, .discover = anyone, .call = {}},
            {.agents = {}, .discover = bob, .call = bob},
        };
        const auto plan = access_plan::make(settings);
        const auto agent = [](std::string id) {
            core::agent made;
            made.id = std::move(id);
            return made;
        };
        CHECK(plan->discover(agent("team-a")) == bob);
        CHECK(plan->call(agent("team-a")) == alice);
        CHECK(plan->discover(agent("team-open")) == anyone);
        CHECK(plan->discover(agent("public")) == anyone);
        CHECK(plan->call(agent("public")) == bob);
        CHECK(plan->call(agent("teams")) == bob);
        auto own = agent("team-a");
        own.call = core::access_policy{};
        CHECK(plan->call(own) == core::access_policy{});
        CHECK(access_plan::make(with({ops()}))->discover(agent("team-a")) == core::access_policy{});
    }

    TEST_CASE("Between two configurations only what both allow is allowed")
    {
        core::agent agent;
        agent.id = "a";
        const auto alice = known_as("alice", "ops");
        const auto bob = known_as("bob", "ops");
        const auto allowing = [](std::vector<std::string> names) {
            auto settings = with({ops()});
            const core::access_policy policy{.anyone = false, .any_of = {{.principals = std::move(names)}}};
            settings.rules = {{.agents = {}, .discover = policy, .call = policy}};
            return settings;
        };
        const auto before = access_plan::make(allowing({"alice", "bob"}));
        const auto between = access_plan::make(allowing({"alice", "carol"}), before);
        const auto carol = known_as("carol", "ops");
        for (const auto* caller : {&bob, &carol}) {
            CHECK_FALSE(between->may_discover(agent, caller));
            CHECK_FALSE(between->may_call(agent, caller, "message/send"));
            CHECK_FALSE(between->may_call_somehow(agent, caller));
        }
        CHECK(between->may_discover(agent, &alice));
        CHECK(between->may_call(agent, &alice, "message/send"));
        CHECK(between->may_call_somehow(agent, &alice));
        CHECK_FALSE(between->may_discover(agent, nullptr));
        // Where there will be no provider the earlier plan stays for so long.
        CHECK(access_plan::make({}, before) == before);
    }

    TEST_CASE("A star in a rule's pattern is any text")
    {
        const auto fits = [](std::string pattern, std::string id) {
            core::access_default rule;
            rule.agents = {std::move(pattern)};
            auto settings = with({ops()});
            rule.call = core::access_policy{.anyone = true, .any_of = {}};
            settings.rules = {rule};
            core::agent agent;
            agent.id = std::move(id);
            return access_plan::make(settings)->call(agent).anyone;
        };
        CHECK(fits("*", "a"));
        CHECK(fits("a*", "a"));
        CHECK(fits("a*b*c", "abc"));
        CHECK(fits("a*b*c", "a-b-b-c"));
        CHECK(fits("**c", "abc"));
        CHECK_FALSE(fits("a*b*c", "abcd"));
        CHECK_FALSE(fits("a", "ab"));
        CHECK_FALSE(fits("", "a"));
        CHECK_FALSE(fits("a*", "ba"));
        CHECK(fits(std::string(30, '*') + "x", std::string(120, 'a') + "x"));
        CHECK_FALSE(fits("a*a*a*a*a*a*a*a*a*b", std::string(128, 'a')));
    }
}

}  // namespace
