#include "gateway/access/access_plan.hpp"

#include "config/access_tokens.hpp"
#include "core/json/json.hpp"
#include "core/url.hpp"
#include "gateway/access/policy.hpp"
#include "gateway/access/principal_claims.hpp"
#include "gateway/model/agent_record.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/model/well_known.hpp"
#include "jose/digest.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace gateway::access {
namespace {

using core::errc;

// Where the provider's credentials are, unless they are bearer tokens or certificates.
std::optional<key_field> field_of(const core::access_provider& provider)
{
    if (const auto* keys = std::get_if<core::api_key_provider>(&provider.type)) {
        return key_field{keys->place, keys->field};
    }
    if (std::holds_alternative<core::gcp_iap_provider>(provider.type)) {
        return key_field{core::credential_place::header, core::iap_header};
    }
    return std::nullopt;
}

std::vector<key_field> key_fields(const core::access_settings& settings)
{
    std::vector<key_field> fields;
    for (const auto& provider : settings.providers) {
        auto field = field_of(provider);
        if (field && std::ranges::find(fields, *field) == fields.end()) {
            fields.push_back(std::move(*field));
        }
    }
    return fields;
}

// Fields that the proxy of gcp_iap sends beside its token. An agent might believe them even if the token is not checked.
std::vector<std::string> identity_headers(const core::access_settings& settings)
{
    const bool reads_iap = std::ranges::any_of(settings.providers, [](const core::access_provider& provider) {
        return std::holds_alternative<core::gcp_iap_provider>(provider.type);
    });
    return reads_iap ? std::vector<std::string>{"X-Goog-Authenticated-User-Email", "X-Goog-Authenticated-User-Id"}
                     : std::vector<std::string>{};
}

bool reads_bearer(const core::access_settings& settings)
{
    return std::ranges::any_of(settings.providers, [](const core::access_provider& provider) {
        return !field_of(provider) && !std::holds_alternative<core::api_key_provider>(provider.type) &&
               !std::holds_alternative<core::mtls_provider>(provider.type);
    });
}

// Where callers get the provider's tokens (RFC 9728 section 2): issuers that are URLs.
std::vector<std::string> authorization_servers(const core::access_provider& provider)
{
    auto issuers = config::issuers_of(provider);
    std::erase_if(issuers, [](const auto& each) { return core::origin_of(each).empty(); });
    return issuers;
}

std::shared_ptr<const core::principal> named(std::string id, const std::string& provider)
{
    core::principal owner;
    owner.id = std::move(id);
    owner.provider = provider;
    return std::make_shared<const core::principal>(std::move(owner));
}

// The principal's id in the certificate; empty: it has none that is usable.
std::string id_in(const net::client_certificate& shown, core::certificate_name name)
{
    switch (name) {
        case core::certificate_name::san:
            return shown.alternative_name;
        case core::certificate_name::subject:
            return shown.subject;
        case core::certificate_name::spiffe:
            break;
    }
    // An SVID has one URI and no other (SPIFFE X509-SVID section 2).
    const bool is_one = shown.uris.size() == 1 && shown.uris.front().starts_with("spiffe://");
    return is_one ? shown.uris.front() : std::string{};
}

core::error refused(const char* why)
{
    return core::caller_error(errc::unauthenticated, why);
}

bool same_digest(const std::string& a, const std::string& b) noexcept
{
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

const core::access_policy nobody{};

// A scope with characters that it cannot have would end the quotes.
std::string quoted_scopes(const std::vector<std::string>& scopes, const std::string& prefix)
{
    std::string words;
    for (const auto& each : scopes) {
        if (core::is_scope(each)) {
            words.append(words.empty() ? "" : " ").append(prefix).append(each);
        }
    }
    return words.empty() ? words : ", scope=\"" + words + '"';
}

}  // namespace

std::shared_ptr<const access_plan> access_plan::make(
    const core::access_settings& settings,
    std::shared_ptr<const access_plan> before,
    std::string public_base
)
{
    if (settings.providers.empty()) {
        return before;
    }
    return std::shared_ptr<const access_plan>{new access_plan{settings, std::move(before), std::move(public_base)}};
}

std::shared_ptr<const access_plan> access_plan::make_for_registration(
    const core::access_settings& settings,
    const core::secret& token,
    std::string public_base
)
{
    core::access_settings all;
    if (!token.empty()) {
        const std::string own{core::registration_owner};
        core::principal bearer;
        bearer.id = own;
        bearer.provider = own;
        bearer.scopes = {core::scope_register};
        all.providers.push_back({own, core::static_token_provider{token, std::move(bearer)}});
    }
    all.providers.insert(all.providers.end(), settings.providers.begin(), settings.providers.end());
    return make(all, nullptr, std::move(public_base));
}

access_plan::access_plan(
    const core::access_settings& settings,
    std::shared_ptr<const access_plan> before,
    std::string public_base
)
    : reader_{key_fields(settings), identity_headers(settings), reads_bearer(settings)},
      public_base_{std::move(public_base)},
      rules_{settings.rules},
      before_{std::move(before)}
{
    for (const auto& provider : settings.providers) {
        add(provider);
    }
}

void access_plan::add(const core::access_provider& provider)
{
    if (const auto* token = std::get_if<core::static_token_provider>(&provider.type)) {
        tokens_.push_back({jose::sha256(token->token.reveal()), std::make_shared<const core::principal>(token->bearer)}
        );
        add_challenge("Bearer", provider, {});
    } else if (const auto* keys = std::get_if<core::api_key_provider>(&provider.type)) {
        add(*keys, provider);
    } else if (const auto* certificates = std::get_if<core::mtls_provider>(&provider.type)) {
        certificates_ = {provider.name, certificates->principal};
        add_challenge("ClientCertificate", provider, {});
    } else if (const auto field = field_of(provider)) {
        asked_fields_.push_back(&*std::ranges::find(reader_.fields(), *field));
        add_challenge("ApiKey", provider, ", in=\"header\", name=\"" + field->name + '"');
    } else {
        asks_about_bearers_ = true;
        exchanged_as_.emplace_back(provider.name, config::exchanged_as(provider));
        add_challenge("Bearer", provider, {});
        auto& line = challenges_.back();
        if (!config::exchanged_as(provider).empty()) {
            line.scope_prefix = config::scope_prefix_of(provider);
        }
        for (auto& server : authorization_servers(provider)) {
            line.has_server = true;
            servers_.push_back(std::move(server));
        }
    }
}

void access_plan::add(const core::api_key_provider& keys, const core::access_provider& provider)
{
    const auto field = std::ranges::find(reader_.fields(), key_field{keys.place, keys.field});
    for (const auto& key : keys.keys) {
        // If a key is listed twice, the first one counts.
        keys_.try_emplace(
            key.sha256,
            &*field,
            key.expires,
            key.disabled,
            std::make_shared<const core::principal>(key.owner)
        );
    }
    add_challenge("ApiKey", provider, ", in=\"" + std::string{name(keys.place)} + "\", name=\"" + keys.field + '"');
}

// RFC 9110 section 11.6.1.
void access_plan::add_challenge(
    const std::string& scheme,
    const core::access_provider& provider,
    const std::string& parameters
)
{
    challenges_.push_back(
        {.text = "WWW-Authenticate: " + scheme + " realm=\"" + provider.name + '"' + parameters,
         .provider = provider.name,
         .is_bearer = scheme == "Bearer"}
    );
}

std::string_view access_plan::exchanged_as(std::string_view provider) const noexcept
{
    const auto found = std::ranges::find(exchanged_as_, provider, [](const auto& each) { return each.first; });
    return found == exchanged_as_.end() ? std::string_view{} : found->second;
}

std::string access_plan::challenges(bool refused, const protected_resource& asked) const
{
    const auto scopes = public_scopes(asked);
    // There a bearer token is the server's: what is said of the gateway's would send clients round in circles.
    const bool logs_in = asked.record != nullptr && asked.below == model::mcp_path &&
                         model::passes_logins(*asked.record) && may_discover(*asked.record, nullptr);
    std::string lines;
    for (const auto& each : challenges_) {
        if (logs_in && each.is_bearer) {
            continue;
        }
        lines += each.text;
        if (each.is_bearer && refused) {
            lines += ", error=\"invalid_token\"";  // RFC 6750 section 3.1
        }
        if (each.scope_prefix) {
            lines += quoted_scopes(scopes, *each.scope_prefix);
        }
        if (each.has_server) {
            add_metadata_address(lines, asked);
        }
        lines += "\r\n";
    }
    return lines;
}

std::string access_plan::scope_challenge(
    const protected_resource& asked,
    const core::principal& caller,
    const std::vector<std::string>& scopes
) const
{
    const auto line = std::ranges::find(challenges_, caller.provider, &challenge_line::provider);
    if (line == challenges_.end() || !line->scope_prefix) {
        return {};
    }
    const auto named = quoted_scopes(scopes, *line->scope_prefix);
    if (named.empty()) {
        return {};
    }
    auto lines = line->text + ", error=\"insufficient_scope\"" + named;
    if (line->has_server) {
        add_metadata_address(lines, asked);
    }
    return lines + "\r\n";
}

std::string access_plan::scope_challenge(
    const protected_resource& asked,
    const core::principal& caller,
    std::optional<std::string_view> method
) const
{
    return asked.record == nullptr
               ? std::string{}
               : scope_challenge(asked, caller, missing_scopes(call(*asked.record), caller, method));
}

// RFC 9728 section 5.1; the agent is part of it only if its id has nothing that would end the quotes.
void access_plan::add_metadata_address(std::string& line, const protected_resource& asked) const
{
    line += ", resource_metadata=\"";
    line += asked.host.empty() ? public_base_ : model::own_origin(public_base_, asked.host);
    line += model::resource_metadata_path;
    if (!asked.host.empty()) {
        line += asked.below;
    } else if (core::valid_agent_id(asked.agent)) {
        line.append("/agents/").append(asked.agent).append(asked.below);
    } else if (asked.agent.empty()) {
        line += asked.below;
    }
    line += '"';
}

std::vector<std::string> access_plan::public_scopes(const protected_resource& asked) const
{
    if (asked.record == nullptr || !may_discover(*asked.record, nullptr)) {
        return {};
    }
    auto scopes = scopes_of(call(*asked.record));
    std::erase_if(scopes, [](const auto& each) { return !core::is_scope(each); });
    return scopes;
}

std::optional<std::string> access_plan::resource_metadata(const protected_resource& asked) const
{
    if (servers_.empty()) {
        return std::nullopt;
    }
    auto resource = !asked.host.empty()   ? model::own_origin(public_base_, asked.host)
                    : asked.agent.empty() ? public_base_
                                          : model::public_address(public_base_, asked.agent);
    resource += asked.below;
    core::json document{
        {"resource", resource},
        {"authorization_servers", servers_},
        {"bearer_methods_supported", {"header"}}
    };
    std::vector<std::string> scopes;
    for (const auto& line : challenges_) {
        for (const auto& each : line.has_server ? public_scopes(asked) : std::vector<std::string>{}) {
            auto spelled = line.scope_prefix.value_or("") + each;
            if (std::ranges::find(scopes, spelled) == scopes.end()) {
                scopes.push_back(std::move(spelled));
            }
        }
    }
    if (!scopes.empty()) {
        document["scopes_supported"] = scopes;
    }
    return core::to_text(document);
}

std::optional<core::result<model::accepted_credential>> access_plan::judge(const credential& found, core::wall_time now)
    const
{
    if (found.field != nullptr) {
        return judge_key(found, now);
    }
    const auto digest = jose::sha256(found.text());
    const known_token* match = nullptr;
    for (const auto& each : tokens_) {
        // To the end of the list, so that time tells nothing.
        if (same_digest(each.digest, digest) && match == nullptr) {
            match = &each;
        }
    }
    if (match != nullptr) {
        return model::accepted_credential{.owner = match->owner};
    }
    if (!asks_about_bearers_) {
        return refused("no provider knows the token");
    }
    return std::nullopt;
}

std::optional<core::result<model::accepted_credential>>
access_plan::judge(const net::client_certificate& shown, core::wall_time now) const
{
    if (!certificates_) {
        return std::nullopt;
    }
    // A connection may outlive the certificate that it began with, and a session that was resumed too.
    if (now >= shown.valid_until) {
        return refused("the client certificate has expired");
    }
    auto id = id_in(shown, certificates_->principal);
    if (!is_principal_id(id)) {
        return refused("the client certificate names nobody");
    }
    return model::accepted_credential{
        .owner = named(std::move(id), certificates_->provider),
        .until = shown.valid_until
    };
}

std::optional<core::result<model::accepted_credential>>
access_plan::judge_key(const credential& found, core::wall_time now) const
{
    const auto known = keys_.find(jose::sha256_hex(found.text()));
    if (known == keys_.end() || known->second.field != found.field) {
        if (std::ranges::find(asked_fields_, found.field) != asked_fields_.end()) {
            return std::nullopt;
        }
        return refused("no provider knows the API key");
    }
    const auto& key = known->second;
    if (key.disabled) {
        return refused("the API key is disabled");
    }
    if (key.expires && now >= *key.expires) {
        return refused("the API key has expired");
    }
    return model::accepted_credential{.owner = key.owner, .until = key.expires.value_or(core::wall_time::max())};
}

const core::access_policy& access_plan::discover(const core::agent& agent) const
{
    return agent.discover ? *agent.discover : rule_for(agent.id, &core::access_default::discover);
}

const core::access_policy& access_plan::call(const core::agent& agent) const
{
    return agent.call ? *agent.call : rule_for(agent.id, &core::access_default::call);
}

std::string access_plan::discover_path(const core::agent& agent) const
{
    return agent.discover ? "agents." + agent.id + ".discover"
                          : path_of(agent, &core::access_default::discover, "discover");
}

std::string access_plan::call_path(const core::agent& agent) const
{
    return agent.call ? "agents." + agent.id + ".call" : path_of(agent, &core::access_default::call, "call");
}

bool access_plan::may_discover(const core::agent& agent, const core::principal* caller) const
{
    return allows(discover(agent), caller) && (!before_ || before_->may_discover(agent, caller));
}

bool access_plan::may_call(const core::agent& agent, const core::principal* caller, std::string_view method) const
{
    return allows(call(agent), caller, method) && (!before_ || before_->may_call(agent, caller, method));
}

bool access_plan::may_call_somehow(const core::agent& agent, const core::principal* caller) const
{
    return allows_some_method(call(agent), caller) && (!before_ || before_->may_call_somehow(agent, caller));
}

const core::access_policy& access_plan::rule_for(std::string_view id, policy_of_rule policy) const
{
    for (const auto& rule : rules_) {
        const auto& own = rule.*policy;
        if (own && is_for(rule, id)) {
            return *own;
        }
    }
    return nobody;
}

// The rule that rule_for() finds.
std::string access_plan::path_of(const core::agent& agent, policy_of_rule policy, std::string_view key) const
{
    const auto found = std::ranges::find_if(rules_, [&](const core::access_default& rule) {
        return (rule.*policy).has_value() && is_for(rule, agent.id);
    });
    if (found == rules_.end()) {
        return {};
    }
    auto path = "access.rules[" + std::to_string(found - rules_.begin()) + "].";
    path += key;
    return path;
}

}  // namespace gateway::access
