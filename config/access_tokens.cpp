#include "config/access_tokens.hpp"

#include "config/access_table.hpp"
#include "config/access_values.hpp"
#include "config/schema.hpp"
#include "config/signatures.hpp"
#include "config/url.hpp"
#include "config/values.hpp"
#include "core/ascii.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

namespace config {
namespace {

using core::json;

constexpr std::string_view expected_issuer = "the `iss` of its tokens";

std::string expected_algorithms()
{
    std::string text;
    for (const auto each : token_algorithms) {
        text += (text.empty() ? "" : ", ") + std::string{each};
    }
    return text;
}

core::result<std::string> parse_algorithm(std::string_view text)
{
    if (std::ranges::find(token_algorithms, text) == token_algorithms.end()) {
        return core::gateway_error(
            core::errc::config_invalid,
            text.empty() ? "is empty" : "is not an algorithm with a public key"
        );
    }
    return std::string{text};
}

std::vector<std::string> read_audiences(const access_members& given)
{
    const auto* f = given.require("audience", "the `aud` of its tokens");
    return f == nullptr ? std::vector<std::string>{} : read_texts(*f, emptiness::refused, given.problems());
}

// Tokens say whom they are for by `aud`; those of some issuers only by the client that they were given to. One of the two is
// required, since any other token of the issuer would do else.
template <class Provider>
void read_audience_or_client(const access_members& given, Provider& into)
{
    if (const auto* clients = given.find("client_id")) {
        into.client_ids = read_texts(*clients, emptiness::refused, given.problems());
    }
    const auto* audience = given.find("audience");
    if (audience != nullptr) {
        into.audiences = read_texts(*audience, emptiness::refused, given.problems());
    } else if (given.find("client_id") == nullptr) {
        given.require("audience", "the `aud` of its tokens, or `client_id` for tokens that have none");
    }
}

constexpr std::string_view expected_prefix = "what stands in front of a scope, such as api://cardea/";

// The characters of a scope (RFC 6749 section 3.3).
core::result<std::string> parse_scope_prefix(std::string_view text)
{
    constexpr std::size_t longest = 256;
    if (text.size() > longest || !core::is_scope(text)) {
        return core::gateway_error(
            core::errc::config_invalid,
            text.empty() ? "is empty" : "has a character that scopes do not have, or over 256 of them"
        );
    }
    return std::string{text};
}

std::string read_scope_prefix(const access_members& given)
{
    const auto* f = given.find("scope_prefix");
    return f == nullptr ? std::string{}
                        : read_parsed(*f, expected_prefix, parse_scope_prefix, given.problems()).value_or("");
}

template <class Provider>
void show_audience_or_client(const Provider& provider, json& shown)
{
    if (!provider.audiences.empty()) {
        shown["audience"] = provider.audiences;
    }
    if (!provider.client_ids.empty()) {
        shown["client_id"] = provider.client_ids;
    }
}

void show_scope_prefix(const std::string& prefix, json& shown)
{
    if (!prefix.empty()) {
        shown["scope_prefix"] = prefix;
    }
}

std::vector<std::string> read_algorithms(const access_members& given)
{
    const auto* f = given.find("algorithms");
    if (f == nullptr) {
        return {"RS256", "ES256"};
    }
    const auto expected = expected_algorithms();
    std::vector<std::string> algorithms;
    for (const auto& element : read_elements(*f, expected, emptiness::refused, given.problems())) {
        if (auto name = read_parsed(element, expected, parse_algorithm, given.problems())) {
            algorithms.push_back(std::move(*name));
        }
    }
    return algorithms;
}

void read_leeway(const access_members& given, core::duration& into)
{
    if (const auto* f = given.find("leeway")) {
        into = read_duration(*f, 0s, 5min, given.problems()).value_or(into);
    }
}

// Compared as it is written, so that nothing in it is changed.
core::result<std::string> parse_issuer_url(std::string_view text)
{
    const auto invalid = [](const char* why) { return core::gateway_error(core::errc::config_invalid, why); };
    const auto url = parse_http_url(text);
    if (!url) {
        return url.error();
    }
    if (!is_secure(*url)) {
        return invalid("is not safe from changes on its way");
    }
    return *url == text ? url : invalid("has capitals in its host");
}

// The id of a directory, in lower case: what `tid` is in its tokens. A name of it is not in them.
core::result<std::string> parse_tenant(std::string_view text)
{
    constexpr std::string_view form = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    bool fits = text.size() == form.size();
    for (std::size_t i = 0; fits && i < text.size(); ++i) {
        fits = form[i] == 'x' ? core::hex_value(text[i]) >= 0 : text[i] == form[i];
    }
    if (!fits) {
        return core::gateway_error(
            core::errc::config_invalid,
            text.empty() ? "is empty" : "is not the id of a directory"
        );
    }
    return core::in_lower_case(text);
}

std::string read_key_set_file(const access_members& given, const tls_checks& tls)
{
    const auto* file = given.find("jwks_file");
    return file == nullptr ? std::string{} : read_checked_file(*file, file_kind::key_set, tls, given.problems());
}

void show_key_set_file(const std::string& file, json& shown)
{
    if (!file.empty()) {
        shown["jwks_file"] = file;
    }
}

}  // namespace

core::oidc_provider read_oidc(const access_members& given)
{
    core::oidc_provider provider;
    constexpr std::string_view expected = "the https URL of the issuer, or an http URL of a loopback host";
    if (const auto* f = given.require("issuer", expected)) {
        provider.issuer = read_parsed(*f, expected, parse_issuer_url, given.problems()).value_or("");
    }
    read_audience_or_client(given, provider);
    provider.algorithms = read_algorithms(given);
    read_leeway(given, provider.leeway);
    provider.scope_prefix = read_scope_prefix(given);
    return provider;
}

core::azure_ad_provider read_azure_ad(const access_members& given, const tls_checks& tls)
{
    core::azure_ad_provider provider;
    constexpr std::string_view expected = "the id of the directory, such as 8eaef023-2b34-4da1-9baa-8bc8c9d6a490";
    if (const auto* f = given.require("tenant", expected)) {
        provider.tenant = read_parsed(*f, expected, parse_tenant, given.problems()).value_or("");
    }
    provider.audiences = read_audiences(given);
    provider.key_set_file = read_key_set_file(given, tls);
    read_leeway(given, provider.leeway);
    provider.scope_prefix = read_scope_prefix(given);
    return provider;
}

core::gcp_iap_provider read_gcp_iap(const access_members& given, const tls_checks& tls)
{
    core::gcp_iap_provider provider;
    provider.audiences = read_audiences(given);
    provider.key_set_file = read_key_set_file(given, tls);
    read_leeway(given, provider.leeway);
    return provider;
}

core::jwt_provider read_jwt(const access_members& given, const tls_checks& tls)
{
    auto& problems = given.problems();
    core::jwt_provider provider;
    if (const auto* f = given.require("issuer", expected_issuer)) {
        provider.issuer = read_short_text(*f, expected_issuer, problems).value_or("");
    }
    read_audience_or_client(given, provider);
    provider.algorithms = read_algorithms(given);
    read_leeway(given, provider.leeway);
    provider.scope_prefix = read_scope_prefix(given);
    if (!given.require_one("jwks_url", "jwks_file", expected_secure_url)) {
        return provider;
    }
    if (const auto* file = given.find("jwks_file")) {
        provider.key_set_file = read_checked_file(*file, file_kind::key_set, tls, problems);
    } else {
        provider.key_set_url = read_secure_url(*given.find("jwks_url"), problems);
    }
    return provider;
}

void show_tokens(const core::jwt_provider& provider, json& shown)
{
    shown["issuer"] = provider.issuer;
    show_audience_or_client(provider, shown);
    shown["algorithms"] = provider.algorithms;
    if (provider.key_set_url.empty()) {
        shown["jwks_file"] = provider.key_set_file;
    } else {
        shown["jwks_url"] = shown_url(provider.key_set_url);
    }
    shown["leeway"] = to_text(provider.leeway);
    show_scope_prefix(provider.scope_prefix, shown);
}

void show_tokens(const core::oidc_provider& provider, json& shown)
{
    shown["issuer"] = provider.issuer;
    show_audience_or_client(provider, shown);
    shown["algorithms"] = provider.algorithms;
    shown["leeway"] = to_text(provider.leeway);
    show_scope_prefix(provider.scope_prefix, shown);
}

void show_tokens(const core::azure_ad_provider& provider, json& shown)
{
    shown["tenant"] = provider.tenant;
    shown["audience"] = provider.audiences;
    show_key_set_file(provider.key_set_file, shown);
    shown["leeway"] = to_text(provider.leeway);
    show_scope_prefix(provider.scope_prefix, shown);
}

void show_tokens(const core::gcp_iap_provider& provider, json& shown)
{
    shown["audience"] = provider.audiences;
    show_key_set_file(provider.key_set_file, shown);
    shown["leeway"] = to_text(provider.leeway);
}

std::string_view exchanged_as(const core::access_provider& provider) noexcept
{
    const auto& type = provider.type;
    if (std::holds_alternative<core::jwt_provider>(type) || std::holds_alternative<core::oidc_provider>(type) ||
        std::holds_alternative<core::azure_ad_provider>(type)) {
        return "urn:ietf:params:oauth:token-type:jwt";
    }
    // A request to AWS is for AWS alone, and the assertion of a proxy for whoever stands behind the proxy.
    return std::holds_alternative<core::http_verifier_provider>(type) ? "urn:ietf:params:oauth:token-type:access_token"
                                                                      : "";
}

std::vector<std::string> issuers_of(const core::access_provider& provider)
{
    using list = std::vector<std::string>;
    return std::visit(
        overloaded{
            [](const core::jwt_provider& of) { return list{of.issuer}; },
            [](const core::oidc_provider& of) { return list{of.issuer}; },
            [](const core::azure_ad_provider& of) {
                return list{
                    "https://login.microsoftonline.com/" + of.tenant + "/v2.0",
                    "https://sts.windows.net/" + of.tenant + '/'
                };
            },
            [](const core::gcp_iap_provider&) { return list{"https://cloud.google.com/iap"}; },
            [](const auto&) { return list{}; }
        },
        provider.type
    );
}

std::vector<std::string> audiences_of(const core::access_provider& provider)
{
    using list = std::vector<std::string>;
    return std::visit(
        overloaded{
            [](const core::jwt_provider& of) { return of.audiences; },
            [](const core::oidc_provider& of) { return of.audiences; },
            [](const core::azure_ad_provider& of) { return of.audiences; },
            [](const core::gcp_iap_provider& of) { return of.audiences; },
            [](const auto&) { return list{}; }
        },
        provider.type
    );
}

std::vector<std::string> clients_of(const core::access_provider& provider)
{
    using list = std::vector<std::string>;
    return std::visit(
        overloaded{
            [](const core::jwt_provider& of) { return of.client_ids; },
            [](const core::oidc_provider& of) { return of.client_ids; },
            [](const auto&) { return list{}; }
        },
        provider.type
    );
}

std::string scope_prefix_of(const core::access_provider& provider)
{
    return std::visit(
        overloaded{
            [](const core::jwt_provider& of) { return of.scope_prefix; },
            [](const core::oidc_provider& of) { return of.scope_prefix; },
            [](const core::azure_ad_provider& of) { return of.scope_prefix; },
            [](const auto&) { return std::string{}; }
        },
        provider.type
    );
}

}  // namespace config
