#include "config/access_table.hpp"

#include "config/choice.hpp"

namespace config {
namespace {

using enum access_map;
using form = access_form;

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

constexpr auto access_keys = std::to_array<access_key>({
    {access, "providers", form::list_of_providers, "none", "They turn credentials into principals, in this order."},
    {access, "rules", form::list_of_rules, "none", "The policies of agents that have none of their own."},
    {access,
     "open",
     form::on_off,
     "`false`",
     "Without providers: whether `listen` may be an address that other machines reach."},

    {static_token, "type", form::type_name, is_required, "`static_token`: one bearer token, one principal."},
    {static_token, "name", form::name, is_required, name_meaning},
    {static_token, "principal", form::text, "`name`", "The principal's id."},
    {static_token,
     "token",
     form::secret,
     "none",
     "What callers send as `Authorization: Bearer`; at least 16 characters."},
    {static_token, "token_file", form::path, "none", "A file with the token, instead of `token`."},
    {static_token, "scopes", form::texts, "none", scopes_meaning},
    {static_token, "groups", form::texts, "none", groups_meaning},
    {static_token, "tenant", form::text, "none", tenant_meaning},
    {static_token, "claims", form::claims, "none", claims_meaning},

    {api_key, "type", form::type_name, is_required, "`api_key`: many keys, of which only hashes are stored."},
    {api_key, "name", form::name, is_required, name_meaning},
    {api_key, "header", form::text, "`X-API-Key`", "The header field with the key."},
    {api_key, "cookie", form::text, "none", "The cookie with the key, instead of `header`."},
    {api_key, "in", form::query_word, "none", "The key is in the query, as `parameter`, instead of in `header`."},
    {api_key, "parameter", form::text, "none", "The name of the query parameter with the key; only with `in: query`."},
    {api_key, "keys", form::list_of_keys, is_required, "The keys."},

    {key, "name", form::text, is_required, "The id of the key's principal. Each key has its own."},
    {key, "sha256", form::hash, "none", "The SHA-256 of the key. The key needs 256 random bits."},
    {key, "scrypt", form::scrypt_hash, "none", "The scrypt hash of a weaker key, instead of `sha256`; at most 16 keys."
    },
    {key, "scopes", form::texts, "none", scopes_meaning},
    {key, "groups", form::texts, "none", groups_meaning},
    {key, "tenant", form::text, "none", tenant_meaning},
    {key, "claims", form::claims, "none", claims_meaning},
    {key, "expires", form::time, "never", "From then on Cardea refuses the key. A date is its first second in UTC."},
    {key, "disabled", form::on_off, "`false`", "Cardea refuses the key."},

    {jwt, "type", form::type_name, is_required, "`jwt`: signed tokens (RFC 7519). The principal's id is `sub`."},
    {jwt, "name", form::name, is_required, name_meaning},
    {jwt, "issuer", form::text, is_required, "What `iss` has to be."},
    {jwt, "audience", form::texts, "none", audience_or_client_meaning},
    {jwt, "client_id", form::texts, "none", client_meaning},
    {jwt, "algorithms", form::algorithms, "`RS256`, `ES256`", algorithms_meaning},
    {jwt, "jwks_url", form::secure_url, "none", "Where the issuer's JWK Set is. `http` only on a loopback host."},
    {jwt, "jwks_file", form::path, "none", "A file with the issuer's JWK Set, instead of `jwks_url`."},
    {jwt, "leeway", form::leeway, "`30s`", leeway_meaning},
    {jwt, "scope_prefix", form::text, "none", prefix_meaning},

    {oidc,
     "type",
     form::type_name,
     is_required,
     "`oidc`: like `jwt`, with the keys that the issuer's discovery document names."},
    {oidc, "name", form::name, is_required, name_meaning},
    {oidc,
     "issuer",
     form::secure_url,
     is_required,
     "What `iss` has to be; the document is below it. `http` only on a loopback host."},
    {oidc, "audience", form::texts, "none", audience_or_client_meaning},
    {oidc, "client_id", form::texts, "none", client_meaning},
    {oidc, "algorithms", form::algorithms, "`RS256`, `ES256`", algorithms_meaning},
    {oidc, "leeway", form::leeway, "`30s`", leeway_meaning},
    {oidc, "scope_prefix", form::text, "none", prefix_meaning},

    {azure_ad,
     "type",
     form::type_name,
     is_required,
     "`azure_ad`: tokens of Microsoft Entra ID. Scopes are `scp` and `roles`, the tenant is `tid`."},
    {azure_ad, "name", form::name, is_required, name_meaning},
    {azure_ad, "tenant", form::text, is_required, "The id of the directory."},
    {azure_ad, "audience", form::texts, is_required, audience_meaning},
    {azure_ad, "jwks_file", form::path, "none", "A file with the keys, if Cardea cannot fetch them from Microsoft."},
    {azure_ad, "leeway", form::leeway, "`30s`", leeway_meaning},
    {azure_ad, "scope_prefix", form::text, "none", prefix_meaning},

    {gcp_iap,
     "type",
     form::type_name,
     is_required,
     "`gcp_iap`: tokens of Google's Identity-Aware Proxy in `X-Goog-IAP-JWT-Assertion`. The id is `email`, else `sub`."
    },
    {gcp_iap, "name", form::name, is_required, name_meaning},
    {gcp_iap, "audience", form::texts, is_required, audience_meaning},
    {gcp_iap, "jwks_file", form::path, "none", "A file with the keys, if Cardea cannot fetch them from Google."},
    {gcp_iap, "leeway", form::leeway, "`30s`", leeway_meaning},

    {http_verifier,
     "type",
     form::type_name,
     is_required,
     "`http_verifier`: a service says whose a bearer token is. It decides on every token that no provider before it "
     "knows."},
    {http_verifier, "name", form::name, is_required, name_meaning},
    {http_verifier,
     "url",
     form::secure_url,
     is_required,
     "Where to send `{\"token\": ...}` with POST. `http` only on a loopback host."},
    {http_verifier, "timeout", form::verifier_timeout, "`1s`", "How long an answer may take."},
    {http_verifier,
     "cache",
     form::verifier_cache,
     "`5s`",
     "For how long Cardea does not ask again about a token that was accepted. It counts for as long again "
     "[while it is asked again](security.md#verifiers)."},

    {aws_sigv4,
     "type",
     form::type_name,
     is_required,
     "`aws_sigv4`: bearer tokens `forge-aws-v1.` with a presigned `GetCallerIdentity`, which AWS answers."},
    {aws_sigv4, "name", form::name, is_required, name_meaning},
    {aws_sigv4,
     "hosts",
     form::texts,
     "`sts.amazonaws.com` and those of regions",
     "The hosts that may be asked. `http` only on a loopback host."},

    {mtls,
     "type",
     form::type_name,
     is_required,
     "`mtls`: client certificates identify callers that send no other credential. The listener needs `tls`."},
    {mtls, "name", form::name, is_required, name_meaning},
    {mtls,
     "ca_file",
     form::path,
     is_required,
     "PEM: the authorities of clients, with revocation lists if there are any."},
    {mtls,
     "principal",
     form::certificate_name,
     "`san`",
     "The principal's id: the first DNS name, URI or email address of the certificate, its subject, or its SPIFFE id."},

    {agents_rule,
     "agents",
     form::texts,
     "all agents",
     "The ids of the agents that the rule is for. `*` is any text: `team-*`."},
    {agents_rule, "discover", form::policy, "none", "Who may know of these agents."},
    {agents_rule, "call", form::policy, "none", "Who may call these agents."},

    {policy_rule, "principals", form::texts, "any", "The ids of principals."},
    {policy_rule, "providers", form::texts, "any", "The names of providers that accepted the caller."},
    {policy_rule, "scopes", form::texts, "any", "Scopes, of which the principal has at least one."},
    {policy_rule, "groups", form::texts, "any", "Groups, of which the principal has at least one."},
    {policy_rule, "tenants", form::texts, "any", "Tenants, of which the principal has one."},
    {policy_rule, "claims", form::claims, "any", "Claims with their values, of which the principal has at least one."},
    {policy_rule, "methods", form::texts, "any", "The JSON-RPC methods that the rule is for; only below `call`."},

    {credentials, "bearer", form::secret, "none", "Sent as `Authorization: Bearer`."},
    {credentials, "bearer_file", form::path, "none", "A file with the bearer, instead of `bearer`."},
    {credentials, "basic", form::basic_map, "none", "A name with a password, sent as `Authorization: Basic`."},
    {credentials, "api_key", form::agent_key_map, "none", "A key in a header field, the query, or a cookie."},
    {credentials,
     "oauth2",
     form::oauth2_map,
     "none",
     "Cardea gets tokens from an OAuth server and sends them as `Authorization: Bearer`. Not for "
     "MCP servers that are programs."},

    {basic, "username", form::text, is_required, "The name. It has no colon."},
    {basic, "password", form::secret, "none", "The password."},
    {basic, "password_file", form::path, "none", "A file with the password, instead of `password`."},

    {agent_key, "header", form::text, "none", "The name of the header field with the key."},
    {agent_key, "query", form::text, "none", "The name of the query parameter with the key, instead of `header`."},
    {agent_key, "cookie", form::text, "none", "The name of the cookie with the key, instead of `header`."},
    {agent_key, "value", form::secret, "none", "The key."},
    {agent_key, "value_file", form::path, "none", "A file with the key, instead of `value`."},

    {oauth2,
     "token_url",
     form::secure_url,
     is_required,
     "The token endpoint. `http` only on a loopback host. Its certificate is checked against the system's authorities."
    },
    {oauth2, "client_id", form::text, is_required, "Who the gateway is to the OAuth server."},
    {oauth2, "client_secret", form::secret, "none", "What proves it."},
    {oauth2, "client_secret_file", form::path, "none", "A file with the secret, instead of `client_secret`."},
    {oauth2, "scopes", form::texts, "none", "What the token is asked for."},
    {oauth2, "audience", form::text, "none", "Sent as `audience`, which some servers want."},
    {oauth2, "resource", form::text, "none", "Sent as `resource` (RFC 8707)."},
    {oauth2,
     "auth",
     form::client_authentication,
     "`basic`",
     "How the secret is sent: in a header field (`basic`), or in the form (`post`)."},
    {oauth2,
     "grant",
     form::oauth_grant,
     "`client_credentials`",
     "For whom calls have a token: for the gateway, or, with `token_exchange`, for the caller, whose bearer token the "
     "OAuth server exchanges (RFC 8693). The latter needs a provider of type `jwt`, `oidc`, `azure_ad` or "
     "`http_verifier`, and is not for MCP servers."},
});

std::string listed_algorithms()
{
    std::string text;
    for (const auto each : token_algorithms) {
        text += (text.empty() ? "`" : ", `") + std::string{each} + '`';
    }
    return text;
}

}  // namespace

std::span<const access_key> all_access_keys()
{
    return access_keys;
}

std::vector<std::string_view> keys_of(access_map map)
{
    std::vector<std::string_view> keys;
    for (const auto& each : access_keys) {
        if (each.of == map) {
            keys.push_back(each.name);
        }
    }
    return keys;
}

std::string written_as(access_form form)
{
    switch (form) {
        case form::on_off:
            return "`true` or `false`";
        case form::list_of_providers:
        case form::list_of_rules:
        case form::list_of_keys:
            return "list of maps";
        case form::type_name:
            return "its type";
        case form::name:
            return "1 to 64 letters, digits, `.`, `_` and `-`";
        case form::text:
            return "text";
        case form::texts:
            return "text, or list of texts";
        case form::secret:
            return "secret";
        case form::path:
            return "path";
        case form::claims:
            return "map from names to values or lists of values";
        case form::query_word:
            return "`query`";
        case form::hash:
            return "64 hexadecimal digits";
        case form::scrypt_hash:
            return "`$scrypt$ln=15,r=8,p=1$SALT$HASH`";
        case form::time:
            return "`2027-01-01` or `2027-01-01T12:00:00Z`";
        case form::algorithms:
            return "one or a list of " + listed_algorithms();
        case form::secure_url:
            return "URL, `https`";
        case form::leeway:
            return "duration, 0 to 5m";
        case form::verifier_timeout:
            return "duration, 10ms to 10s";
        case form::verifier_cache:
            return "duration, 0 to 1m";
        case form::certificate_name:
            return listed<core::certificate_name>("`");
        case form::policy:
            return "[policy](#policies)";
        case form::basic_map:
        case form::agent_key_map:
        case form::oauth2_map:
            return "map";
        case form::client_authentication:
            return "`basic` or `post`";
        case form::oauth_grant:
            return listed<core::oauth_grant>("`");
    }
    return {};
}

}  // namespace config
