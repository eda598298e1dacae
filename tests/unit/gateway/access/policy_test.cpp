#include "gateway/access/policy.hpp"

#include <doctest/doctest.h>

#include <utility>

namespace {

using core::access_policy;
using core::access_rule;
using core::principal;
using gateway::access::allows;
using gateway::access::missing_scopes;
using gateway::access::scopes_of;

principal alice()
{
    return {
        .id = "alice",
        .provider = "idp",
        .tenant = "acme",
        .scopes = {"words:call", "words:read"},
        .groups = {"writers"},
        .claims = {{"plan", "gold"}, {"region", "eu"}}
    };
}

access_policy only(access_rule rule)
{
    return {.anyone = false, .any_of = {std::move(rule)}};
}

TEST_SUITE("access policy")
{
    TEST_CASE("Without a rule nobody is allowed")
    {
        const auto caller = alice();
        CHECK_FALSE(allows({}, &caller));
        CHECK_FALSE(allows({}, nullptr));
    }

    TEST_CASE("Anyone means callers without a credential too")
    {
        const auto caller = alice();
        const access_policy anyone{.anyone = true, .any_of = {}};
        CHECK(allows(anyone, nullptr));
        CHECK(allows(anyone, &caller));
    }

    TEST_CASE("An empty rule allows every principal and no anonymous caller")
    {
        const auto caller = alice();
        CHECK(allows(only({}), &caller));
        CHECK_FALSE(allows(only({}), nullptr));
    }

    TEST_CASE("Each list of a rule holds if the principal has one of its elements")
    {
        const auto caller = alice();
        CHECK(allows(only({.principals = {"bob", "alice"}}), &caller));
        CHECK_FALSE(allows(only({.principals = {"Alice", "alice "}}), &caller));
        CHECK(allows(only({.providers = {"idp"}}), &caller));
        CHECK_FALSE(allows(only({.providers = {"keys"}}), &caller));
        CHECK(allows(only({.scopes = {"other", "words:call"}}), &caller));
        CHECK_FALSE(allows(only({.scopes = {"words"}}), &caller));
        CHECK(allows(only({.groups = {"writers"}}), &caller));
        CHECK_FALSE(allows(only({.groups = {"readers"}}), &caller));
        CHECK(allows(only({.tenants = {"acme"}}), &caller));
        CHECK_FALSE(allows(only({.tenants = {"other"}}), &caller));
        CHECK(allows(only({.claims = {{"plan", "gold"}}}), &caller));
        CHECK_FALSE(allows(only({.claims = {{"plan", "silver"}}}), &caller));
        CHECK_FALSE(allows(only({.claims = {{"region", "gold"}}}), &caller));
    }

    TEST_CASE("A principal without a tenant is in none that a rule names")
    {
        auto caller = alice();
        caller.tenant.clear();
        CHECK_FALSE(allows(only({.tenants = {"acme"}}), &caller));
    }

    TEST_CASE("All lists of a rule must hold together")
    {
        const auto caller = alice();
        CHECK(allows(only({.principals = {"alice"}, .scopes = {"words:call"}}), &caller));
        CHECK_FALSE(allows(only({.principals = {"alice"}, .scopes = {"admin"}}), &caller));
        CHECK_FALSE(allows(only({.principals = {"bob"}, .scopes = {"words:call"}}), &caller));
    }

    TEST_CASE("One of several rules suffices")
    {
        const auto caller = alice();
        const access_policy either{.anyone = false, .any_of = {{.principals = {"bob"}}, {.groups = {"writers"}}}};
        CHECK(allows(either, &caller));
    }

    TEST_CASE("A rule for methods allows these methods only")
    {
        const auto caller = alice();
        const auto sends = only({.principals = {"alice"}, .methods = {"message/send", "SendMessage"}});
        CHECK(allows(sends, &caller, "message/send"));
        CHECK(allows(sends, &caller, "SendMessage"));
        CHECK_FALSE(allows(sends, &caller, "message/stream"));
        CHECK_FALSE(allows(sends, &caller));
    }

    TEST_CASE("A caller lacks the scopes of rules that would hold for it with them")
    {
        const auto caller = alice();
        using texts = std::vector<std::string>;
        const access_policy policy{
            .anyone = false,
            .any_of =
                {
                    {.scopes = {"admin", "owner"}},
                    {.scopes = {"send"}, .methods = {"SendMessage"}},
                    {.principals = {"bob"}, .scopes = {"of-bob"}},
                    {.scopes = {"admin"}, .groups = {"writers"}},
                    {.scopes = {"words:call"}, .methods = {"GetTask"}},
                    {.groups = {"readers"}},
                }
        };
        CHECK(scopes_of(policy) == texts{"admin", "owner", "send", "of-bob", "words:call"});
        CHECK(missing_scopes(policy, caller, std::nullopt) == texts{"admin", "owner", "send"});
        CHECK(missing_scopes(policy, caller, "SendMessage") == texts{"admin", "owner", "send"});
        CHECK(missing_scopes(policy, caller, "CancelTask") == texts{"admin", "owner"});
        CHECK(missing_scopes(only({.groups = {"readers"}}), caller, std::nullopt).empty());
        CHECK(missing_scopes({}, caller, std::nullopt).empty());
        CHECK(scopes_of({.anyone = true, .any_of = {{.scopes = {"a"}}}}).empty());
    }
}

}  // namespace
