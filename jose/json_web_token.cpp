#include "jose/json_web_token.hpp"

#include "core/ascii.hpp"
#include "core/base64.hpp"
#include "core/json/ambiguity.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

namespace jose {
namespace {

using core::json;

constexpr core::json_limits token_json{.bytes = max_token_size, .depth = 16, .members = 200};
constexpr double latest_date = 253'402'300'800;  // seconds: the year 10000
constexpr double latest_time = 7'258'118'400;    // the year 2200: wall_time overflows in 2262

core::error refused(std::string why)
{
    return core::caller_error(core::errc::unauthenticated, "token: " + std::move(why));
}

core::result<json> object_in(std::string_view encoded, const char* part)
{
    const auto text = core::from_base64url(encoded);
    if (!text) {
        return refused(std::string{part} + " is not base64url");
    }
    auto value = core::parse_json(*text, token_json);
    if (!value || !value->is_object()) {
        return refused(std::string{part} + " is not a JSON object");
    }
    if (const auto why = core::ambiguity(*text)) {
        return refused(std::string{part} + " has " + *why);
    }
    return value;
}

bool is_token_type(std::string_view type)
{
    constexpr std::array<std::string_view, 4> known{"jwt", "at+jwt", "application/jwt", "application/at+jwt"};
    return std::ranges::any_of(known, [&](auto each) { return core::equal_ignoring_case(each, type); });
}

// A header must not have a key of the sender's own choice, or a member that changes how the token is read.
std::optional<std::string> objection_to_header(const json& header)
{
    constexpr std::array forbidden{"jwk", "jku", "x5u", "x5c", "crit", "b64", "cty", "enc", "zip"};
    for (const auto* name : forbidden) {
        if (core::member(header, name) != nullptr) {
            return "its header has " + std::string{name};
        }
    }
    if (const auto* type = core::member(header, "typ")) {
        if (!type->is_string() || !is_token_type(type->get_ref<const std::string&>())) {
            return "its typ is not that of an access token";
        }
    }
    const auto* kid = core::member(header, "kid");
    if (kid != nullptr && !kid->is_string()) {
        return "its kid is not a string";
    }
    return std::nullopt;
}

struct numeric_date {
    bool present = false;
    std::optional<core::wall_time> at;  // nothing: present, but not a date
};

// RFC 7519 section 2: seconds, which may have a fraction. A date later than latest_time counts as that.
numeric_date date_in(const json& claims, std::string_view name)
{
    const auto* value = core::member(claims, name);
    if (value == nullptr) {
        return {};
    }
    if (!value->is_number()) {
        return {.present = true, .at = std::nullopt};
    }
    const auto seconds = value->get<double>();
    if (!std::isfinite(seconds) || seconds < 0 || seconds > latest_date) {
        return {.present = true, .at = std::nullopt};
    }
    const auto since_epoch =
        std::chrono::milliseconds{static_cast<std::int64_t>(std::min(seconds, latest_time) * 1000)};
    return {.present = true, .at = core::wall_time{since_epoch}};
}

bool is_one_of(const json& value, const std::vector<std::string>& names)
{
    return value.is_string() && std::ranges::find(names, value.get_ref<const std::string&>()) != names.end();
}

bool names_one_of(const json& audience, const std::vector<std::string>& audiences)
{
    if (!audience.is_array()) {
        return is_one_of(audience, audiences);
    }
    const auto is_string = [](const json& value) { return value.is_string(); };
    const auto named = [&](const json& value) { return is_one_of(value, audiences); };
    return std::ranges::all_of(audience, is_string) && std::ranges::any_of(audience, named);
}

}  // namespace

core::result<json_web_token> json_web_token::parse(std::string_view text)
{
    if (text.size() > max_token_size) {
        return refused("it is too long");
    }
    const auto first = text.find('.');
    const auto second = first == std::string_view::npos ? first : text.find('.', first + 1);
    if (second == std::string_view::npos || text.find('.', second + 1) != std::string_view::npos) {
        return refused("it does not have three parts");
    }
    const auto header = object_in(text.substr(0, first), "its header");
    if (!header) {
        return header.error();
    }
    if (auto why = objection_to_header(*header)) {
        return refused(std::move(*why));
    }
    const auto* algorithm_name = core::string_member(*header, "alg");
    const auto algorithm = algorithm_name == nullptr ? std::nullopt : jws_algorithm_named(*algorithm_name);
    if (!algorithm) {
        return refused("its alg is not an asymmetric algorithm that Cardea knows");
    }
    auto claims = object_in(text.substr(first + 1, second - first - 1), "its payload");
    if (!claims) {
        return claims.error();
    }
    auto signature = core::from_base64url(text.substr(second + 1));
    if (!signature || signature->empty()) {
        return refused("its signature is not base64url");
    }
    json_web_token token;
    token.signed_text_ = text.substr(0, second);
    token.signature_ = std::move(*signature);
    token.algorithm_ = *algorithm;
    if (const auto* kid = core::string_member(*header, "kid")) {
        token.kid_ = *kid;
    }
    token.claims_ = std::move(*claims);
    return token;
}

std::optional<json> json_web_token::claims_in(std::string_view text)
{
    const auto first = text.find('.');
    const auto second = first == std::string_view::npos ? first : text.find('.', first + 1);
    if (second == std::string_view::npos || text.size() > max_token_size) {
        return std::nullopt;
    }
    const auto payload = core::from_base64url(text.substr(first + 1, second - first - 1));
    if (!payload) {
        return std::nullopt;
    }
    auto claims = core::parse_json(*payload, token_json);
    if (!claims || !claims->is_object()) {
        return std::nullopt;
    }
    return core::ambiguity(*payload) ? json{} : std::move(*claims);
}

bool json_web_token::may_be_signed_by(const json_web_key& key) const noexcept
{
    return (kid_.empty() || key.kid().empty() || key.kid() == kid_) && key.usable_with(algorithm_);
}

bool json_web_token::signed_by(std::span<const json_web_key> keys) const
{
    std::size_t tried = 0;
    for (const auto& key : keys) {
        if (!may_be_signed_by(key)) {
            continue;
        }
        if (++tried > max_token_verifications) {
            return false;
        }
        if (key.verifies(algorithm_, signed_text_, signature_)) {
            return true;
        }
    }
    return false;
}

bool json_web_token::is_for(const token_policy& policy) const
{
    if (const auto* audience = core::member(claims_, "aud")) {
        return names_one_of(*audience, policy.audiences);
    }
    const auto* client = core::member(claims_, "client_id");
    return client != nullptr && is_one_of(*client, policy.clients) &&
           core::text_member(claims_, "token_use") == "access";
}

core::result<> json_web_token::check(const token_policy& policy, core::wall_time now) const
{
    if (std::ranges::find(policy.algorithms, algorithm_) == policy.algorithms.end()) {
        return refused("its alg is not one that the provider allows");
    }
    const auto* issuer = core::string_member(claims_, "iss");
    if (issuer == nullptr || *issuer != policy.issuer) {
        return refused("iss is not the provider's issuer");
    }
    if (!is_for(policy)) {
        const bool has_client = core::member(claims_, "aud") == nullptr && !policy.clients.empty();
        return refused(
            has_client ? "it has no aud, and client_id and token_use do not fit" : "aud does not name this gateway"
        );
    }
    const auto expires = date_in(claims_, "exp");
    if (!expires.at || now >= *expires.at + policy.leeway) {
        return refused(expires.present ? "exp has passed or is not a date" : "exp is missing");
    }
    const auto begins = date_in(claims_, "nbf");
    if (begins.present && (!begins.at || now + policy.leeway < *begins.at)) {
        return refused("nbf has not come or is not a date");
    }
    const auto issued = date_in(claims_, "iat");
    if (issued.present && (!issued.at || now + policy.leeway < *issued.at)) {
        return refused("iat lies in the future or is not a date");
    }
    return {};
}

core::wall_time json_web_token::expires_at() const
{
    return date_in(claims_, "exp").at.value_or(core::wall_time{});
}

}  // namespace jose
