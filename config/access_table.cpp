// over 60 lines: one table of all keys. over 600 lines: the same.
#include "config/access_table.hpp"

#include "config/access_kinds.hpp"
#include "config/agent_kinds.hpp"
#include "config/mcp_bundles.hpp"
#include "core/access.hpp"
#include "core/agent_credentials.hpp"

#include <algorithm>
#include <utility>

namespace config {
namespace {

using core::json;
using enum access_map;

json any_schema()
{
    return json::object();
}

json name_schema()
{
    return schema::or_variable(schema::any_text_like("^[A-Za-z0-9._-]{1,64}$"));
}

json query_word_schema()
{
    return schema::or_variable({{"const", "query"}});
}

template <access_map Map>
json map_of()
{
    return map_schema(Map);
}

template <access_map Map>
json list_of()
{
    return schema::list_of(map_schema(Map));
}

json providers_schema()
{
    auto types = json::array();
    for (const auto& each : provider_types) {
        auto provider = map_schema(each.map);
        provider["properties"]["type"]["enum"] = {each.name};
        if (provider["properties"].contains("client_id")) {
            provider["anyOf"] = {{{"required", {"audience"}}}, {{"required", {"client_id"}}}};
        }
        types.push_back(std::move(provider));
    }
    return schema::list_of({{"anyOf", std::move(types)}});
}

// A key that is read together with others.
std::shared_ptr<const any_key> plain(std::string_view described, json (*schema)())
{
    return std::make_shared<const plain_key>(value_form{std::string{described}, schema});
}

constexpr std::string_view name_meaning = "Its name in policies, logs and metrics. Each provider has its own.";
constexpr std::string_view scopes_meaning = "The scopes of its principal.";
constexpr std::string_view groups_meaning = "The groups of its principal.";
constexpr std::string_view tenant_meaning = "The tenant of its principal.";
constexpr std::string_view audience_meaning = "What `aud` has to be, or to contain; one of these is enough.";
constexpr std::string_view audience_or_client_meaning =
    "What `aud` has to be, or to contain; one of these is enough. Required without `client_id`.";
constexpr std::string_view client_meaning =
    "What `client_id` has to be in a token without `aud`, such as Amazon Cognito's, whose `token_use` is `access`; "
    "one of these is enough.";
constexpr std::string_view prefix_meaning =
    "In front of each scope that a [refusal](security.md#scopes-in-refusals) names, as the issuer spells them: "
    "`api://cardea/`.";
constexpr std::string_view algorithms_meaning = "What `alg` may be.";
constexpr std::string_view leeway_meaning = "How far clocks may differ, for `exp`, `nbf` and `iat`.";
constexpr std::string_view claims_meaning = "The claims of its principal.";

std::vector<access_key> make_table()
{
    return {
        // clang-format off
        {access, "providers", plain("a list of maps", providers_schema), "none",
         "They turn credentials into principals, in this order."},
        {access, "rules", plain("a list of maps", list_of<access_map::agents_rule>), "none",
         "The policies of agents that have none of their own."},
        {access, "open", plain("true or false", schema::on_or_off), "`false`",
         "Without providers: whether `listen` may be an address that other machines reach."},
        {static_token, "type", plain("its type", any_schema), is_required,
         "`static_token`: one bearer token, one principal."},
        {static_token, "name", plain("1 to 64 letters, digits, `.`, `_` and `-`", name_schema), is_required,
         name_meaning},
        {static_token, "principal",
         sets<&core::static_token_provider::bearer, &core::principal::id>(short_text("the id of a principal")),
         "`name`", "The principal's id."},
        {static_token, "token", sets<&core::static_token_provider::token>(secret_text()), "none",
         "What callers send as `Authorization: Bearer`; at least 16 characters."},
        {static_token, "token_file", plain("a path", schema::any_text), "none",
         "A file with the token, instead of `token`."},
        {static_token, "scopes",
         sets<&core::static_token_provider::bearer, &core::principal::scopes>(scopes(emptiness::allowed)), "none",
         scopes_meaning},
        {static_token, "groups",
         sets<&core::static_token_provider::bearer, &core::principal::groups>(texts(emptiness::allowed)), "none",
         groups_meaning},
        {static_token, "tenant",
         sets<&core::static_token_provider::bearer, &core::principal::tenant>(short_text("the name of a tenant")),
         "none", tenant_meaning},
        {static_token, "claims",
         sets<&core::static_token_provider::bearer, &core::principal::claims>(claims(emptiness::allowed)), "none",
         claims_meaning},
        {api_key, "type", plain("its type", any_schema), is_required,
         "`api_key`: many keys, of which only hashes are stored."},
        {api_key, "name", plain("1 to 64 letters, digits, `.`, `_` and `-`", name_schema), is_required, name_meaning},
        {api_key, "header", plain("text", schema::any_text), "`X-API-Key`", "The header field with the key."},
        {api_key, "cookie", plain("text", schema::any_text), "none", "The cookie with the key, instead of `header`."},
        {api_key, "in", plain("query", query_word_schema), "none",
         "The key is in the query, as `parameter`, instead of in `header`."},
        {api_key, "parameter", plain("text", schema::any_text), "none",
         "The name of the query parameter with the key; only with `in: query`."},
        {api_key, "keys", plain("a list of maps", list_of<access_map::key>), is_required, "The keys."},
        {key, "name", sets<&core::api_key::owner, &core::principal::id>(short_text("the id of the key's principal")),
         is_required, "The id of the key's principal. Each key has its own."},
        {key, "sha256", sets<&core::api_key::sha256>(hash()), is_required,
         "The SHA-256 of the key. The key needs 256 random bits."},
        {key, "scopes", sets<&core::api_key::owner, &core::principal::scopes>(scopes(emptiness::allowed)), "none",
         scopes_meaning},
        {key, "groups", sets<&core::api_key::owner, &core::principal::groups>(texts(emptiness::allowed)), "none",
         groups_meaning},
        {key, "tenant", sets<&core::api_key::owner, &core::principal::tenant>(short_text("the name of a tenant")),
         "none", tenant_meaning},
        {key, "claims", sets<&core::api_key::owner, &core::principal::claims>(claims(emptiness::allowed)), "none",
         claims_meaning},
        {key, "expires", sets<&core::api_key::expires>(time()), "never",
         "From then on Cardea refuses the key. A date is its first second in UTC."},
        {key, "disabled", sets<&core::api_key::disabled>(on_or_off()), "`false`", "Cardea refuses the key."},
        {jwt, "type", plain("its type", any_schema), is_required,
         "`jwt`: signed tokens (RFC 7519). The principal's id is `sub`."},
        {jwt, "name", plain("1 to 64 letters, digits, `.`, `_` and `-`", name_schema), is_required, name_meaning},
        {jwt, "issuer", sets<&core::jwt_provider::issuer>(short_text("the `iss` of its tokens")), is_required,
         "What `iss` has to be."},
        {jwt, "audience", sets<&core::jwt_provider::audiences>(audiences()), "none", audience_or_client_meaning},
        {jwt, "client_id", sets<&core::jwt_provider::client_ids>(texts(emptiness::refused)), "none", client_meaning},
        {jwt, "algorithms", sets<&core::jwt_provider::algorithms>(algorithms()), "`RS256`, `ES256`",
         algorithms_meaning},
        {jwt, "jwks_url", sets<&core::jwt_provider::key_set_url>(secure_url()), "none",
         "Where the issuer's JWK Set is. `http` only on a loopback host."},
        {jwt, "jwks_file", sets<&core::jwt_provider::key_set_file>(file(file_kind::key_set)), "none",
         "A file with the issuer's JWK Set, instead of `jwks_url`."},
        {jwt, "leeway", sets<&core::jwt_provider::leeway>(duration_in(0s, 5min)), "`30s`", leeway_meaning},
        {jwt, "scope_prefix", sets<&core::jwt_provider::scope_prefix>(scope_prefix()), "none", prefix_meaning},
        {oidc, "type", plain("its type", any_schema), is_required,
         "`oidc`: like `jwt`, with the keys that the issuer's discovery document names."},
        {oidc, "name", plain("1 to 64 letters, digits, `.`, `_` and `-`", name_schema), is_required, name_meaning},
        {oidc, "issuer", sets<&core::oidc_provider::issuer>(issuer_url()), is_required,
         "What `iss` has to be; the document is below it. `http` only on a loopback host."},
        {oidc, "audience", sets<&core::oidc_provider::audiences>(audiences()), "none", audience_or_client_meaning},
        {oidc, "client_id", sets<&core::oidc_provider::client_ids>(texts(emptiness::refused)), "none", client_meaning},
        {oidc, "algorithms", sets<&core::oidc_provider::algorithms>(algorithms()), "`RS256`, `ES256`",
         algorithms_meaning},
        {oidc, "leeway", sets<&core::oidc_provider::leeway>(duration_in(0s, 5min)), "`30s`", leeway_meaning},
        {oidc, "scope_prefix", sets<&core::oidc_provider::scope_prefix>(scope_prefix()), "none", prefix_meaning},
        {azure_ad, "type", plain("its type", any_schema), is_required,
         "`azure_ad`: tokens of Microsoft Entra ID. Scopes are `scp` and `roles`, the tenant is `tid`."},
        {azure_ad, "name", plain("1 to 64 letters, digits, `.`, `_` and `-`", name_schema), is_required, name_meaning},
        {azure_ad, "tenant", sets<&core::azure_ad_provider::tenant>(directory_id()), is_required,
         "The id of the directory."},
        {azure_ad, "audience", sets<&core::azure_ad_provider::audiences>(audiences()), is_required, audience_meaning},
        {azure_ad, "jwks_file", sets<&core::azure_ad_provider::key_set_file>(file(file_kind::key_set)), "none",
         "A file with the keys, if Cardea cannot fetch them from Microsoft."},
        {azure_ad, "leeway", sets<&core::azure_ad_provider::leeway>(duration_in(0s, 5min)), "`30s`", leeway_meaning},
        {azure_ad, "scope_prefix", sets<&core::azure_ad_provider::scope_prefix>(scope_prefix()), "none",
         prefix_meaning},
        {gcp_iap, "type", plain("its type", any_schema), is_required,
         "`gcp_iap`: tokens of Google's Identity-Aware Proxy in `X-Goog-IAP-JWT-Assertion`. The id is `email`, "
         "else `sub`."},
        {gcp_iap, "name", plain("1 to 64 letters, digits, `.`, `_` and `-`", name_schema), is_required, name_meaning},
        {gcp_iap, "audience", sets<&core::gcp_iap_provider::audiences>(audiences()), is_required, audience_meaning},
        {gcp_iap, "jwks_file", sets<&core::gcp_iap_provider::key_set_file>(file(file_kind::key_set)), "none",
         "A file with the keys, if Cardea cannot fetch them from Google."},
        {gcp_iap, "leeway", sets<&core::gcp_iap_provider::leeway>(duration_in(0s, 5min)), "`30s`", leeway_meaning},
        {http_verifier, "type", plain("its type", any_schema), is_required,
         "`http_verifier`: a service says whose a bearer token is. It decides on every token that no provider "
         "before it knows."},
        {http_verifier, "name", plain("1 to 64 letters, digits, `.`, `_` and `-`", name_schema), is_required,
         name_meaning},
        {http_verifier, "url", sets<&core::http_verifier_provider::url>(secure_url()), is_required,
         "Where to send `{\"token\": ...}` with POST. `http` only on a loopback host."},
        {http_verifier, "timeout", sets<&core::http_verifier_provider::timeout>(duration_in(10ms, 10s)), "`1s`",
         "How long an answer may take."},
        {http_verifier, "cache", sets<&core::http_verifier_provider::cache>(duration_in(0s, 1min)), "`5s`",
         "For how long Cardea does not ask again about a token that was accepted. It counts for as long again "
         "[while it is asked again](security.md#verifiers)."},
        {aws_sigv4, "type", plain("its type", any_schema), is_required,
         "`aws_sigv4`: bearer tokens `forge-aws-v1.` with a presigned `GetCallerIdentity`, which AWS answers."},
        {aws_sigv4, "name", plain("1 to 64 letters, digits, `.`, `_` and `-`", name_schema), is_required, name_meaning},
        {aws_sigv4, "hosts", sets<&core::aws_sigv4_provider::hosts>(sts_hosts()),
         "`sts.amazonaws.com` and those of regions", "The hosts that may be asked. `http` only on a loopback host."},
        {mtls, "type", plain("its type", any_schema), is_required,
         "`mtls`: client certificates identify callers that send no other credential. The listener needs `tls`."},
        {mtls, "name", plain("1 to 64 letters, digits, `.`, `_` and `-`", name_schema), is_required, name_meaning},
        {mtls, "ca_file", sets<&core::mtls_provider::ca_file>(client_authorities_file()), is_required,
         "PEM: the authorities of clients, with revocation lists if there are any."},
        {mtls, "principal", sets<&core::mtls_provider::principal>(choice_of<core::certificate_name>()), "`san`",
         "The principal's id: the first DNS name, URI or email address of the certificate, its subject, or its "
         "SPIFFE id."},
        {agents_rule, "agents", sets<&core::access_default::agents>(id_patterns()), "all agents",
         "The ids of the agents that the rule is for. `*` is any text: `team-*`."},
        {agents_rule, "discover", sets<&core::access_default::discover>(policy(decision::discover)), "none",
         "Who may know of these agents."},
        {agents_rule, "call", sets<&core::access_default::call>(policy(decision::call)), "none",
         "Who may call these agents."},
        {policy_rule, "principals", sets<&core::access_rule::principals>(texts(emptiness::refused)), "any",
         "The ids of principals."},
        {policy_rule, "providers", sets<&core::access_rule::providers>(texts(emptiness::refused)), "any",
         "The names of providers that accepted the caller."},
        {policy_rule, "scopes", sets<&core::access_rule::scopes>(scopes(emptiness::refused)), "any",
         "Scopes, of which the principal has at least one."},
        {policy_rule, "groups", sets<&core::access_rule::groups>(texts(emptiness::refused)), "any",
         "Groups, of which the principal has at least one."},
        {policy_rule, "tenants", sets<&core::access_rule::tenants>(texts(emptiness::refused)), "any",
         "Tenants, of which the principal has one."},
        {policy_rule, "claims", sets<&core::access_rule::claims>(claims(emptiness::refused)), "any",
         "Claims with their values, of which the principal has at least one."},
        {policy_rule, "methods", sets<&core::access_rule::methods>(texts(emptiness::refused)), "any",
         "The JSON-RPC methods that the rule is for; only below `call`."},
        {credentials, "bearer", plain("a secret", schema::any_text), "none", "Sent as `Authorization: Bearer`."},
        {credentials, "bearer_file", plain("a path", schema::any_text), "none",
         "A file with the bearer, instead of `bearer`."},
        {credentials, "basic", plain("a map", map_of<access_map::basic>), "none",
         "A name with a password, sent as `Authorization: Basic`."},
        {credentials, "api_key", plain("a map", map_of<access_map::agent_key>), "none",
         "A key in a header field, the query, or a cookie."},
        {credentials, "oauth2", plain("a map", map_of<access_map::oauth2>), "none",
         "Cardea gets tokens from an OAuth server and sends them as `Authorization: Bearer`. Not for MCP servers "
         "that are programs."},
        {basic, "username", sets<&core::basic_credentials::username>(user_name()), is_required,
         "The name. It has no colon."},
        {basic, "password", plain("a secret", schema::any_text), "none", "The password."},
        {basic, "password_file", plain("a path", schema::any_text), "none",
         "A file with the password, instead of `password`."},
        {agent_key, "header", plain("text", schema::any_text), "none", "The name of the header field with the key."},
        {agent_key, "query", plain("text", schema::any_text), "none",
         "The name of the query parameter with the key, instead of `header`."},
        {agent_key, "cookie", plain("text", schema::any_text), "none",
         "The name of the cookie with the key, instead of `header`."},
        {agent_key, "value", plain("a secret", schema::any_text), "none", "The key."},
        {agent_key, "value_file", plain("a path", schema::any_text), "none",
         "A file with the key, instead of `value`."},
        {oauth2, "token_url", sets<&core::oauth_client::token_url>(secure_url()), is_required,
         "The token endpoint. `http` only on a loopback host. Its certificate is checked against the system's "
         "authorities."},
        {oauth2, "client_id", sets<&core::oauth_client::client_id>(short_text("the id of a client")), is_required,
         "Who the gateway is to the OAuth server."},
        {oauth2, "client_secret", sets<&core::oauth_client::client_secret>(secret_text()), "none", "What proves it."},
        {oauth2, "client_secret_file", plain("a path", schema::any_text), "none",
         "A file with the secret, instead of `client_secret`."},
        {oauth2, "scopes", sets<&core::oauth_client::scopes>(scopes(emptiness::allowed)), "none",
         "What the token is asked for."},
        {oauth2, "audience", sets<&core::oauth_client::audience>(line("text", "an audience")), "none",
         "Sent as `audience`, which some servers want."},
        {oauth2, "resource", sets<&core::oauth_client::resource>(line("text", "the URI of a resource")), "none",
         "Sent as `resource` (RFC 8707)."},
        {oauth2, "auth", sets<&core::oauth_client::authentication>(choice_of<core::client_authentication>()), "`basic`",
         "How the secret is sent: in a header field (`basic`), or in the form (`post`)."},
        {oauth2, "grant", sets<&core::oauth_client::grant>(choice_of<core::oauth_grant>()), "`client_credentials`",
         "For whom calls have a token: for the gateway, or, with `token_exchange`, for the caller, whose bearer "
         "token the OAuth server exchanges (RFC 8693). The latter needs a provider of type `jwt`, `oidc`, "
         "`azure_ad` or `http_verifier`, and is not for MCP servers."},
        {bundle, "agents", plain("a list of ids, patterns and maps", bundle_members_schema), is_required,
         "The members, 1 to 64: ids of agents, which stand before their names; patterns, in which `*` is any text, "
         "for all agents with such ids, also later ones; or maps."},
        {bundle, "call", sets<&core::mcp_bundle::call>(policy(decision::call)), "as the agents'",
         "Who may use the bundle, besides each agent's own policy."},
        {bundle, "instructions", sets<&core::mcp_bundle::instructions>(instructions()), "the members', 8 KiB in all",
         "What models are told about the bundle; at most 8 KiB."},
        {bundle, "name_length",
         sets<&core::mcp_bundle::name_length>(count_in(core::least_bundle_name, core::most_bundle_name)), "`48`",
         "The longest name of a tool or prompt. Clients put a prefix before names and stop at 64 characters. A longer "
         "name is cut, and ends with a hash."},
        {bundle, "list_wait", sets<&core::mcp_bundle::list_wait>(duration_in(0s, 1min)), "`2s`",
         "How long `initialize`, `server/discover` and lists wait for members that are starting, all together."},
        {bundle, "tools", plain("search, a map, or a list", bundle_tools_schema), "all, as the agents show them",
         "Which tools clients get. `search` is short for `{search: true}`; a list is `allow`."},
        {bundle, "prompts", sets<&core::mcp_bundle::prompts>(bundle_filter()), "all, as the agents show them",
         "Which prompts clients get. A list is `allow`."},
        {bundle, "resources", sets<&core::mcp_bundle::resources>(bundle_filter()), "all, as the agents show them",
         "Which resources clients get, by URI. A list is `allow`."},
        {bundle_member, "id", sets<&core::bundle_member::id>(short_text("the id of an agent")), is_required,
         "The id of an agent. It may come later."},
        {bundle_member, "as", plain("text", schema::any_text), "the id",
         "What stands before the names of its tools and prompts, `<as>__<name>`, and in small letters before its URIs, "
         "`<as>+<uri>`: a letter and up to 31 letters, digits, `-` and `_`, without `__` and without `_` at the end. "
         "One member may have `\"\"`, which leaves its names as they are."},
        {bundle_tools, "search", sets<&core::mcp_bundle::search>(on_or_off()), "`false`",
         "Clients get `find_tools`, `describe_tools` and `call_tool` instead of a list of all tools."},
        {bundle_tools, "always", sets<&core::mcp_bundle::always>(name_patterns()), "none",
         "Tools that are listed beside these. Only with `search`."},
        {bundle_tools, "allow", sets<&core::mcp_filter::allow>(name_patterns()), "all",
         "The only tools that clients get, by the names that they see."},
        {bundle_tools, "deny", sets<&core::mcp_filter::deny>(name_patterns()), "none",
         "Tools that clients do not get. It counts before `allow`."},
        {bundle_list, "allow", sets<&core::mcp_filter::allow>(name_patterns()), "all",
         "The only ones that clients get, by the names or URIs that they see."},
        {bundle_list, "deny", sets<&core::mcp_filter::deny>(name_patterns()), "none",
         "Those that clients do not get. It counts before `allow`."},
        // clang-format on
    };
}
}  // namespace

std::span<const access_key> all_access_keys()
{
    static const auto table = make_table();
    return table;
}

std::vector<std::string_view> keys_of(access_map map)
{
    std::vector<std::string_view> keys;
    for (const auto& each : all_access_keys()) {
        if (each.of == map) {
            keys.push_back(each.name);
        }
    }
    return keys;
}

json map_schema(access_map map)
{
    auto schema = schema::closed_map(json::object());
    for (const auto& each : all_access_keys()) {
        if (each.of == map) {
            const std::string key{each.name};
            schema["properties"][key] = schema::described(each.key->form().schema(), each.meaning);
            if (each.usual == is_required) {
                schema["required"].push_back(key);
            }
        }
    }
    return schema;
}

json policy_schema()
{
    const auto one = schema::reference("condition");
    const json several{{"type", "array"}, {"items", one}, {"minItems", 1}};
    constexpr auto words = std::to_array({word_anyone, word_authenticated, word_nobody});
    return {{"anyOf", {schema::names_of(words), one, several}}};
}

json access_schema()
{
    auto map = map_schema(access_map::access);
    map["type"] = {"object", "null"};
    return {{"anyOf", {schema::or_variable({{"const", "open"}}), std::move(map)}}};
}

}  // namespace config
