#include "jose/json_web_key.hpp"

#include "core/base64.hpp"
#include "core/json/canonical_json.hpp"
#include "jose/digest.hpp"
#include "jose/signature.hpp"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>

#include <utility>

namespace jose {
namespace {

using core::errc;
using core::json;

constexpr int least_rsa_bits = 2048;

using number = std::unique_ptr<BIGNUM, freed_by<BN_free>>;
using key_context = std::unique_ptr<EVP_PKEY_CTX, freed_by<EVP_PKEY_CTX_free>>;

core::error no_key(const std::string& why)
{
    return core::upstream_error(errc::card_signature, "key: " + why);
}

std::optional<key_kind> kind_of(const EVP_PKEY& key)
{
    if (EVP_PKEY_is_a(&key, "RSA") == 1) {
        return EVP_PKEY_get_bits(&key) >= least_rsa_bits ? std::optional{key_kind::rsa} : std::nullopt;
    }
    if (EVP_PKEY_is_a(&key, "ED25519") == 1) {
        return key_kind::ed25519;
    }
    std::array<char, 32> group{};
    std::size_t length = 0;
    if (EVP_PKEY_is_a(&key, "EC") != 1 || EVP_PKEY_get_group_name(&key, group.data(), group.size(), &length) != 1) {
        return std::nullopt;
    }
    const auto* found = std::ranges::find_if(curves, [&](const auto& each) {
        return std::string_view{each.group} == std::string_view{group.data(), length};
    });
    return found == curves.end() ? std::nullopt : std::optional{found->kind};
}

jws_algorithm first_algorithm(key_kind kind) noexcept
{
    return std::ranges::find(all_algorithms, kind, &algorithm_facts::kind)->algorithm;
}

// A member in base64url; empty if there is none that can be read.
std::string decoded(const json& jwk, std::string_view member)
{
    const auto* text = core::string_member(jwk, member);
    return text == nullptr ? std::string{} : core::from_base64url(*text).value_or("");
}

EVP_PKEY* make_key(const char* type, OSSL_PARAM* parameters)
{
    EVP_PKEY* key = nullptr;
    const key_context context{EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr)};
    if (context == nullptr || EVP_PKEY_fromdata_init(context.get()) != 1 ||
        EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters) != 1) {
        return nullptr;
    }
    return key;
}

EVP_PKEY* rsa_key(const json& jwk)
{
    const auto modulus = decoded(jwk, "n");
    const auto exponent = decoded(jwk, "e");
    constexpr std::size_t most_bytes = 1024;  // 8192 bits: what is larger costs whoever verifies
    if (modulus.size() > most_bytes || exponent.size() > 8) {
        return nullptr;
    }
    const number n{BN_bin2bn(bytes_of(modulus), static_cast<int>(modulus.size()), nullptr)};
    const number e{BN_bin2bn(bytes_of(exponent), static_cast<int>(exponent.size()), nullptr)};
    if (!n || !e || BN_is_odd(e.get()) == 0 || BN_is_one(e.get()) != 0) {
        return nullptr;
    }
    const std::unique_ptr<OSSL_PARAM_BLD, freed_by<OSSL_PARAM_BLD_free>> builder{OSSL_PARAM_BLD_new()};
    if (!builder || OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) != 1 ||
        OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) != 1) {
        return nullptr;
    }
    const std::unique_ptr<OSSL_PARAM, freed_by<OSSL_PARAM_free>> parameters{OSSL_PARAM_BLD_to_param(builder.get())};
    return parameters ? make_key("RSA", parameters.get()) : nullptr;
}

EVP_PKEY* ec_key(const json& jwk)
{
    const auto* name = core::string_member(jwk, "crv");
    const auto* curve = name == nullptr ? curves.end() : std::ranges::find(curves, *name, &curve_facts::name);
    const auto x = decoded(jwk, "x");
    const auto y = decoded(jwk, "y");
    if (curve == curves.end() || x.size() != curve->coordinate || y.size() != curve->coordinate) {
        return nullptr;
    }
    std::string group = curve->group;
    std::string point = '\x04' + x + y;  // SEC 1 section 2.3.3, uncompressed
    std::array<OSSL_PARAM, 3> parameters{
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group.data(), 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()),
        OSSL_PARAM_construct_end()
    };
    return make_key("EC", parameters.data());
}

EVP_PKEY* edwards_key(const json& jwk)
{
    const auto* curve = core::string_member(jwk, "crv");
    const auto x = decoded(jwk, "x");
    if (curve == nullptr || *curve != "Ed25519") {
        return nullptr;
    }
    return EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_of(x), x.size());
}

// A member that says what the key is for, but not in the form of RFC 7517, allows nothing.
bool for_signatures(const json& jwk)
{
    const auto* use = core::member(jwk, "use");
    const auto* operations = core::member(jwk, "key_ops");
    if (use != nullptr && *use != "sig") {
        return false;
    }
    const auto verifies = [](const json& each) { return each == "verify"; };
    return operations == nullptr || (operations->is_array() && std::ranges::any_of(*operations, verifies));
}

std::string coordinate_of(const EVP_PKEY& key, const char* name, std::size_t bytes)
{
    BIGNUM* value = nullptr;
    EVP_PKEY_get_bn_param(&key, name, &value);
    const number owned{value};
    std::string out(bytes == 0 && value != nullptr ? static_cast<std::size_t>(BN_num_bytes(value)) : bytes, '\0');
    if (value == nullptr ||
        BN_bn2binpad(value, reinterpret_cast<unsigned char*>(out.data()), static_cast<int>(out.size())) < 0) {
        return {};
    }
    return core::base64url(out);
}

}  // namespace

void json_web_key::free_key::operator()(EVP_PKEY* key) const noexcept
{
    EVP_PKEY_free(key);
}

json_web_key::json_web_key(key_pointer key, std::string kid, jws_algorithm algorithm, bool only)
    : key_{std::move(key)},
      kid_{std::move(kid)},
      algorithm_{algorithm},
      only_{only}
{
}

core::result<json_web_key> json_web_key::from_jwk(const json& jwk)
{
    const auto* type = core::string_member(jwk, "kty");
    if (type == nullptr || !for_signatures(jwk)) {
        return no_key("not one for signatures");
    }
    const auto* kid = core::member(jwk, "kid");
    if (kid != nullptr && !kid->is_string()) {
        return no_key("its kid is not a string");
    }
    EVP_PKEY* found = nullptr;
    if (*type == "EC") {
        found = ec_key(jwk);
    } else if (*type == "RSA") {
        found = rsa_key(jwk);
    } else if (*type == "OKP") {
        found = edwards_key(jwk);
    }
    key_pointer key{found};
    ERR_clear_error();
    const auto kind = key ? kind_of(*key) : std::nullopt;
    if (!kind) {
        return no_key("of a kind that is not known, damaged, or weak");
    }
    const auto* alg = core::member(jwk, "alg");
    auto algorithm = first_algorithm(*kind);
    if (alg != nullptr) {
        const auto named = jws_algorithm_named(core::text_member(jwk, "alg"));
        if (!named || facts_of(*named).kind != *kind) {
            return no_key("its alg is not one of its kind");
        }
        algorithm = *named;
    }
    return json_web_key{std::move(key), core::text_member(jwk, "kid"), algorithm, alg != nullptr};
}

core::result<json_web_key> json_web_key::from_pem(std::string_view text, std::string kid)
{
    const std::unique_ptr<BIO, freed_by<BIO_free>> source{BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
    const auto no_password = [](char*, int, int, void*) { return -1; };
    key_pointer key{source ? PEM_read_bio_PrivateKey(source.get(), nullptr, no_password, nullptr) : nullptr};
    ERR_clear_error();
    if (!key) {
        return core::gateway_error(errc::config_invalid, "has no private key in PEM, or one that needs a password");
    }
    const auto kind = kind_of(*key);
    if (!kind) {
        return core::gateway_error(
            errc::config_invalid,
            "is not a P-256, P-384, P-521, Ed25519 or RSA (2048 bits) key"
        );
    }
    json_web_key out{std::move(key), std::move(kid), first_algorithm(*kind), true};
    if (out.kid_.empty()) {
        out.kid_ = out.thumbprint();
    }
    return out;
}

// The members that RFC 7638 section 3.2 and RFC 8037 section 2 name for a thumbprint: those that make the key.
json json_web_key::public_members() const
{
    const auto kind = facts_of(algorithm_).kind;
    if (kind == key_kind::rsa) {
        return {
            {"kty", "RSA"},
            {"n", coordinate_of(*key_, OSSL_PKEY_PARAM_RSA_N, 0)},
            {"e", coordinate_of(*key_, OSSL_PKEY_PARAM_RSA_E, 0)}
        };
    }
    if (const auto* curve = curve_of(kind)) {
        return {
            {"kty", "EC"},
            {"crv", curve->name},
            {"x", coordinate_of(*key_, OSSL_PKEY_PARAM_EC_PUB_X, curve->coordinate)},
            {"y", coordinate_of(*key_, OSSL_PKEY_PARAM_EC_PUB_Y, curve->coordinate)}
        };
    }
    std::string x(32, '\0');
    std::size_t length = x.size();
    EVP_PKEY_get_raw_public_key(key_.get(), reinterpret_cast<unsigned char*>(x.data()), &length);
    return {{"kty", "OKP"}, {"crv", "Ed25519"}, {"x", core::base64url(x)}};
}

std::string json_web_key::thumbprint() const
{
    return core::base64url(sha256(core::canonical_json(public_members())));
}

json json_web_key::jwk() const
{
    auto out = public_members();
    out["kid"] = kid_;
    out["alg"] = name(algorithm_);
    out["use"] = "sig";
    return out;
}

bool json_web_key::usable_with(jws_algorithm algorithm) const noexcept
{
    return only_ ? algorithm == algorithm_ : facts_of(algorithm).kind == facts_of(algorithm_).kind;
}

bool json_web_key::verifies(jws_algorithm algorithm, std::string_view message, std::string_view signature) const
{
    return usable_with(algorithm) && jose::verifies(*key_, algorithm, message, signature);
}

core::result<std::string> json_web_key::sign(std::string_view message) const
{
    return jose::sign(*key_, algorithm_, message);
}

core::result<std::vector<json_web_key>> parse_key_set(std::string_view text)
{
    const auto set = core::parse_json(text);
    const auto* keys = set ? core::member(*set, "keys") : nullptr;
    if (keys == nullptr || !keys->is_array()) {
        return no_key("not a JWK Set");
    }
    if (keys->size() > max_keys_in_set) {
        return no_key("a JWK Set of more than " + std::to_string(max_keys_in_set) + " keys");
    }
    std::vector<json_web_key> usable;
    for (const auto& each : *keys) {
        if (auto key = json_web_key::from_jwk(each)) {
            usable.push_back(std::move(*key));
        }
    }
    return usable;
}

}  // namespace jose
