#include "gateway/cards/card_signer.hpp"

#include "a2a/card/card_signature.hpp"
#include "config/file.hpp"
#include "core/base64.hpp"
#include "gateway/model/well_known.hpp"

#include <utility>

namespace gateway::cards {
namespace {

using core::errc;
using core::json;

core::result<jose::json_web_key> read_key(const std::string& path)
{
    const auto text = config::read_regular_file(path);
    if (!text) {
        return text.error();
    }
    return jose::json_web_key::from_pem(*text, {});
}

core::result<std::vector<jose::json_web_key>> read_key_set(const std::string& path)
{
    const auto text = config::read_regular_file(path);
    if (!text) {
        return text.error();
    }
    auto keys = jose::parse_key_set(*text);
    if (!keys) {
        return core::gateway_error(errc::config_invalid, "is no JWK Set: " + keys.error().detail);
    }
    if (keys->empty()) {
        return core::gateway_error(errc::config_invalid, "has no key that can be used");
    }
    return keys;
}

core::error at(const std::string& path, const core::error& why)
{
    return core::gateway_error(errc::config_invalid, path + ' ' + why.detail);
}

}  // namespace

card_signer::card_signer(std::shared_ptr<const jose::json_web_key> key, std::string key_set)
    : key_{std::move(key)},
      key_set_{std::move(key_set)}
{
}

core::result<json> card_signer::signatures_of(const json& card, const std::string& public_base) const
{
    return ::a2a::signatures_of(card, *key_, public_base + std::string{model::key_set_path});
}

core::result<std::string>
card_signer::detached_signature(std::string_view body, std::string_view jti, const std::string& public_base) const
{
    const json header = {
        {"alg", jose::name(key_->algorithm())},
        {"kid", key_->kid()},
        {"jku", public_base + std::string{model::key_set_path}},
        {"jti", jti}
    };
    const auto encoded = core::base64url(core::to_text(header));
    const auto signature = key_->sign(encoded + '.' + core::base64url(body));
    if (!signature) {
        return signature.error();
    }
    return encoded + ".." + core::base64url(*signature);
}

core::result<std::shared_ptr<const card_signer>> make_signer(const config::card_settings& settings)
{
    std::shared_ptr<const jose::json_web_key> own;
    auto keys = json::array();
    if (!settings.signing_key.empty()) {
        auto key = read_key(settings.signing_key);
        if (!key) {
            return at(settings.signing_key, key.error());
        }
        own = std::make_shared<const jose::json_web_key>(std::move(*key));
        keys.push_back(own->jwk());
    }
    if (!settings.retired_keys.empty()) {
        const auto retired = read_key_set(settings.retired_keys);
        if (!retired) {
            return at(settings.retired_keys, retired.error());
        }
        for (const auto& each : *retired) {
            if (own == nullptr || each.thumbprint() != own->thumbprint()) {
                keys.push_back(each.jwk());
            }
        }
    }
    if (keys.empty()) {
        return std::shared_ptr<const card_signer>{};
    }
    return std::make_shared<const card_signer>(std::move(own), core::to_text(json{{"keys", std::move(keys)}}));
}

core::result<> check_signing_key(const std::string& path)
{
    const auto key = read_key(path);
    return key ? core::result<>{} : key.error();
}

core::result<> check_key_set(const std::string& path)
{
    const auto keys = read_key_set(path);
    return keys ? core::result<>{} : keys.error();
}

}  // namespace gateway::cards
