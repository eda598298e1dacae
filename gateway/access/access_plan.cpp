#include "gateway/access/access_plan.hpp"

#include "gateway/access/policy.hpp"
#include "jose/digest.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace gateway::access {
namespace {

using core::errc;

std::vector<key_field> key_fields(const core::access_settings& settings)
{
    std::vector<key_field> fields;
    for (const auto& provider : settings.providers) {
        if (const auto* keys = std::get_if<core::api_key_provider>(&provider.type)) {
            key_field field{keys->place, keys->field};
            if (std::ranges::find(fields, field) == fields.end()) {
                fields.push_back(std::move(field));
            }
        }
    }
    return fields;
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

}  // namespace

std::shared_ptr<const access_plan>
access_plan::make(const core::access_settings& settings, std::shared_ptr<const access_plan> before)
{
    if (settings.providers.empty()) {
        return before;
    }
    return std::shared_ptr<const access_plan>{new access_plan{settings, std::move(before)}};
}

access_plan::access_plan(const core::access_settings& settings, std::shared_ptr<const access_plan> before)
    : reader_{key_fields(settings)},
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
        challenge("Bearer", provider, {});
    } else if (const auto* keys = std::get_if<core::api_key_provider>(&provider.type)) {
        const auto& fields = reader_.fields();
        const auto field = std::ranges::find(fields, key_field{keys->place, keys->field});
        for (const auto& key : keys->keys) {
            // Of a key that stands twice, the first counts.
            keys_.try_emplace(
                key.sha256,
                &*field,
                key.expires,
                key.disabled,
                std::make_shared<const core::principal>(key.owner)
            );
        }
        challenge("ApiKey", provider, ", in=\"" + std::string{name(keys->place)} + "\", name=\"" + keys->field + '"');
    } else {
        reads_tokens_ = true;
        challenge("Bearer", provider, {});
    }
}

// RFC 9110 section 11.6.1; `error` is that of RFC 6750 section 3.1.
void access_plan::challenge(
    const std::string& scheme,
    const core::access_provider& provider,
    const std::string& parameters
)
{
    const auto line = "WWW-Authenticate: " + scheme + " realm=\"" + provider.name + '"' + parameters;
    challenges_ += line + "\r\n";
    refusals_ += line + (scheme == "Bearer" ? ", error=\"invalid_token\"\r\n" : "\r\n");
}

std::optional<core::result<model::accepted_credential>> access_plan::judge(const credential& found, core::wall_time now)
    const
{
    if (found.field != nullptr) {
        return judge_key(found, now);
    }
    const auto digest = jose::sha256(found.text);
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
    if (!reads_tokens_) {
        return refused("no provider knows the token");
    }
    return std::nullopt;
}

core::result<model::accepted_credential> access_plan::judge_key(const credential& found, core::wall_time now) const
{
    const auto known = keys_.find(jose::sha256_hex(found.text));
    if (known == keys_.end() || known->second.field != found.field) {
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

const core::access_policy&
access_plan::rule_for(std::string_view id, std::optional<core::access_policy> core::access_default::* policy) const
{
    for (const auto& rule : rules_) {
        const auto& own = rule.*policy;
        if (own && is_for(rule, id)) {
            return *own;
        }
    }
    return nobody;
}

}  // namespace gateway::access
