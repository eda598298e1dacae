#include "gateway/access/token_verifier.hpp"

#include "config/access_tokens.hpp"
#include "config/schema.hpp"
#include "core/ascii.hpp"
#include "gateway/access/principal_claims.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace gateway::access {
namespace {

constexpr const char* keys_of_iap = "https://www.gstatic.com/iap/verify/public_key-jwk";

std::string keys_of_azure(const std::string& tenant)
{
    return "https://login.microsoftonline.com/" + tenant + "/discovery/v2.0/keys";
}

key_set_place file_or(const std::string& file, std::string url)
{
    return file.empty() ? key_set_place{.url = std::move(url), .file = {}} : key_set_place{.url = {}, .file = file};
}

// Without issuer and audiences. An algorithm is what the issuer signs with.
token_settings common_settings(const core::provider_settings& type)
{
    token_settings common;
    std::visit(
        config::overloaded{
            [&](const core::jwt_provider& of) {
                common.algorithms = of.algorithms;
                common.leeway = of.leeway;
                common.keys = {.url = of.key_set_url, .file = of.key_set_file};
                common.clients = of.client_ids;
            },
            [&](const core::oidc_provider& of) {
                common.algorithms = of.algorithms;
                common.leeway = of.leeway;
                common.keys = {.url = {}, .file = {}, .issuer = of.issuer};
                common.clients = of.client_ids;
            },
            [&](const core::azure_ad_provider& of) {
                common.algorithms = {"RS256"};
                common.leeway = of.leeway;
                common.keys = file_or(of.key_set_file, keys_of_azure(of.tenant));
                common.style = claim_style::azure_ad;
            },
            [&](const core::gcp_iap_provider& of) {
                common.algorithms = {"ES256"};
                common.leeway = of.leeway;
                common.keys = file_or(of.key_set_file, keys_of_iap);
                common.header = core::iap_header;
                common.style = claim_style::gcp_iap;
            },
            [](const auto&) {}
        },
        type
    );
    return common;
}

using core::errc;

core::error refused_token(const char* why)
{
    return core::caller_error(errc::unauthenticated, std::string{"token: "} + why);
}

jose::token_policy policy_of(const token_settings& settings)
{
    jose::token_policy policy;
    policy.issuer = settings.issuer;
    policy.audiences = settings.audiences;
    policy.clients = settings.clients;
    policy.leeway = settings.leeway;
    for (const auto& each : settings.algorithms) {
        if (const auto algorithm = jose::jws_algorithm_named(each)) {
            policy.algorithms.push_back(*algorithm);
        }
    }
    return policy;
}

}  // namespace

std::vector<token_settings> token_settings_of(const core::access_provider& provider)
{
    std::vector<token_settings> all;
    for (auto& issuer : config::issuers_of(provider)) {
        auto one = common_settings(provider.type);
        one.issuer = std::move(issuer);
        one.audiences = config::audiences_of(provider);
        all.push_back(std::move(one));
    }
    return all;
}

token_verifier::token_verifier(key_set_services services, std::function<core::wall_time()> wall)
    : services_{std::move(services)},
      wall_{std::move(wall)}
{
}

void token_verifier::set_providers(const std::vector<core::access_provider>& providers)
{
    std::vector<provider_pointer> made;
    for (const auto& each : providers) {
        for (auto& settings : token_settings_of(each)) {
            auto one = make_provider(each.name, std::move(settings), made);
            made.push_back(std::move(one));
        }
    }
    const auto before = std::exchange(providers_, std::move(made));
    if (stopped_) {
        stop();
    }
    for (const auto& each : before) {
        const auto is_used = [&](const auto& other) { return other->source == each->source; };
        if (std::ranges::none_of(providers_, is_used)) {
            each->source->stop();
        }
    }
}

void token_verifier::stop()
{
    stopped_ = true;
    for (const auto& each : providers_) {
        each->source->stop();
    }
}

bool token_verifier::recognises(const std::string& text) const
{
    const auto claims = jose::json_web_token::claims_in(text);
    const auto is_theirs = [&](const provider_pointer& each) {
        return each->settings.header.empty() && each->policy.issuer == core::text_member(*claims, "iss");
    };
    return claims && (claims->is_null() || std::ranges::any_of(providers_, is_theirs));
}

net::task<core::result<model::accepted_credential>> token_verifier::verify(std::string text, std::string header)
{
    auto parsed = jose::json_web_token::parse(text);
    if (!parsed) {
        co_return parsed.error();
    }
    const auto token = std::make_shared<const jose::json_web_token>(std::move(*parsed));
    const auto by = provider_of(*token, header);
    if (!by) {
        co_return refused_token("no provider has its issuer");
    }
    // A token that cannot be accepted anyway does not take up the thread for signatures.
    if (const auto held = token->check(by->policy, wall_()); !held) {
        co_return held.error();
    }
    auto owner = principal_of(token->claims(), by->name, by->settings.style);
    if (!owner) {
        co_return owner.error();
    }
    const auto checked = co_await check_signature(by, token);
    if (!checked) {
        co_return checked.error();
    }
    const auto now = wall_();
    if (const auto held = token->check(by->policy, now); !held) {
        co_return held.error();
    }
    if (!has(by)) {
        co_return core::gateway_error(errc::access_unavailable, "token: its provider has changed meanwhile");
    }
    const auto ends = token->expires_at() + by->policy.leeway;
    co_return model::accepted_credential{
        .owner = std::make_shared<const core::principal>(std::move(*owner)),
        .until = std::min(ends, now + model::longest_acceptance),
        .ends = ends
    };
}

std::vector<provider_key_set> token_verifier::key_sets() const
{
    std::vector<provider_key_set> sets;
    sets.reserve(providers_.size());
    for (const auto& each : providers_) {
        // One of several issuers, which have one set.
        if (sets.empty() || sets.back().provider != each->name) {
            sets.push_back({each->name, each->source->facts()});
        }
    }
    return sets;
}

// `others`: those that will stand beside it.
token_verifier::provider_pointer token_verifier::make_provider(
    const std::string& name,
    token_settings settings,
    const std::vector<provider_pointer>& others
) const
{
    std::shared_ptr<key_set_source> source;
    for (const auto& each : providers_) {
        if (each->name == name && each->settings == settings) {
            return each;
        }
    }
    for (const auto* list : {&providers_, &others}) {
        for (const auto& each : *list) {
            if (!source && each->source->place() == settings.keys) {
                source = each->source;
            }
        }
    }
    if (!source) {
        source = std::make_shared<key_set_source>(settings.keys, services_);
    }
    auto policy = policy_of(settings);
    return std::make_shared<const provider>(provider{name, std::move(settings), std::move(policy), std::move(source)});
}

token_verifier::provider_pointer token_verifier::provider_of(const jose::json_web_token& token, std::string_view header)
    const
{
    const auto issuer = core::text_member(token.claims(), "iss");
    provider_pointer of_issuer;
    for (const auto& each : providers_) {
        const bool is_there = core::equal_ignoring_case(each->settings.header, header);
        if (issuer.empty() || each->policy.issuer != issuer || !is_there) {
            continue;
        }
        // Several providers may have one issuer.
        if (token.is_for(each->policy)) {
            return each;
        }
        of_issuer = of_issuer ? of_issuer : each;
    }
    return of_issuer;
}

bool token_verifier::has(const provider_pointer& by) const
{
    return std::ranges::find(providers_, by) != providers_.end();
}

// A token whose key is not in the set, or that does not name its key, is looked at once more with newer keys.
net::task<core::result<>> token_verifier::check_signature(provider_pointer by, token_pointer token)
{
    auto result = co_await search(by, token, nullptr);
    const bool may_be_newer = token->kid().empty() || (result && result->found == finding::key_missing);
    if (result && result->found != finding::signed_by_key && may_be_newer) {
        result = co_await search(by, token, result->keys);
    }
    if (!result) {
        co_return result.error();
    }
    if (result->found != finding::signed_by_key) {
        co_return refused_token("no key of the provider has signed it");
    }
    co_return core::result<>{};
}

// `searched`: keys that were looked at before, so that newer ones are asked for; null: none.
net::task<core::result<token_verifier::search_result>>
token_verifier::search(provider_pointer by, token_pointer token, key_list searched)
{
    const bool newer = searched != nullptr;
    // Tokens with keys that nobody knows do not keep out those with known ones.
    const auto& line = newer ? waiting_for_newer_ : waiting_;
    if (line->size() >= max_waiting_tokens) {
        co_return core::gateway_error(errc::access_unavailable, "token: too many wait to be checked");
    }
    const waiting_place place{line};
    const auto keys = co_await by->source->keys(newer);
    if (!keys) {
        co_return keys.error();
    }
    search_result result{.found = finding::key_missing, .keys = *keys};
    const bool has_key = std::ranges::any_of(**keys, [&](const auto& key) { return token->may_be_signed_by(key); });
    if (!has_key || *keys == searched) {
        co_return result;
    }
    std::function<bool()> question = [token, list = *keys] { return token->signed_by(*list); };
    const bool is_signed = co_await signatures_.ask<bool>(std::move(question));
    result.found = is_signed ? finding::signed_by_key : finding::not_signed;
    co_return result;
}

}  // namespace gateway::access
