#include "jose/signature.hpp"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include <memory>

namespace jose {

std::string_view name(jws_algorithm algorithm) noexcept
{
    return facts_of(algorithm).name;
}

std::optional<jws_algorithm> jws_algorithm_named(std::string_view name) noexcept
{
    const auto* found = std::ranges::find(all_algorithms, name, &algorithm_facts::name);
    return found == all_algorithms.end() ? std::nullopt : std::optional{found->algorithm};
}

namespace {

using number = std::unique_ptr<BIGNUM, freed_by<BN_free>>;
using digest_context = std::unique_ptr<EVP_MD_CTX, freed_by<EVP_MD_CTX_free>>;
using ec_signature = std::unique_ptr<ECDSA_SIG, freed_by<ECDSA_SIG_free>>;

// JWS has the two numbers of an ECDSA signature side by side (RFC 7518 section 3.4), OpenSSL has them in DER.
std::string to_der(std::string_view raw, std::size_t coordinate)
{
    if (raw.size() != 2 * coordinate) {
        return {};
    }
    const auto part = static_cast<int>(coordinate);
    number r{BN_bin2bn(bytes_of(raw), part, nullptr)};
    number s{BN_bin2bn(bytes_of(raw.substr(coordinate)), part, nullptr)};
    const ec_signature both{ECDSA_SIG_new()};
    if (!r || !s || !both || ECDSA_SIG_set0(both.get(), r.get(), s.get()) != 1) {
        return {};
    }
    r.release();  // NOLINT(bugprone-unused-return-value): now the signature's
    s.release();  // NOLINT(bugprone-unused-return-value)
    unsigned char* der = nullptr;
    const auto length = i2d_ECDSA_SIG(both.get(), &der);
    std::string out;
    if (length > 0) {
        out.assign(reinterpret_cast<const char*>(der), static_cast<std::size_t>(length));
    }
    OPENSSL_free(der);
    return out;
}

std::string from_der(std::string_view der, std::size_t coordinate)
{
    const auto* at = bytes_of(der);
    const ec_signature both{d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size()))};
    std::string raw(2 * coordinate, '\0');
    auto* out = reinterpret_cast<unsigned char*>(raw.data());
    const auto part = static_cast<int>(coordinate);
    if (!both || BN_bn2binpad(ECDSA_SIG_get0_r(both.get()), out, part) != part ||
        BN_bn2binpad(ECDSA_SIG_get0_s(both.get()), out + coordinate, part) != part) {
        return {};
    }
    return raw;
}

bool set_padding(EVP_PKEY_CTX* context, const algorithm_facts& facts)
{
    return !facts.pss || (EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1 &&
                          EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1);
}

const char* digest_of(const algorithm_facts& facts) noexcept
{
    return facts.digest.empty() ? nullptr : facts.digest.data();
}

}  // namespace

bool verifies(EVP_PKEY& key, jws_algorithm algorithm, std::string_view message, std::string_view signature)
{
    const auto& facts = facts_of(algorithm);
    const auto* curve = curve_of(facts.kind);
    const auto wanted = curve != nullptr ? to_der(signature, curve->coordinate) : std::string{signature};
    const digest_context context{EVP_MD_CTX_new()};
    EVP_PKEY_CTX* parameters = nullptr;
    const bool verified =
        context != nullptr &&
        EVP_DigestVerifyInit_ex(context.get(), &parameters, digest_of(facts), nullptr, nullptr, &key, nullptr) == 1 &&
        set_padding(parameters, facts) &&
        EVP_DigestVerify(context.get(), bytes_of(wanted), wanted.size(), bytes_of(message), message.size()) == 1;
    ERR_clear_error();
    return verified;
}

core::result<std::string> sign(EVP_PKEY& key, jws_algorithm algorithm, std::string_view message)
{
    const auto& facts = facts_of(algorithm);
    const auto* curve = curve_of(facts.kind);
    const digest_context context{EVP_MD_CTX_new()};
    EVP_PKEY_CTX* parameters = nullptr;
    std::size_t length = 0;
    std::string signature;
    bool done =
        context != nullptr &&
        EVP_DigestSignInit_ex(context.get(), &parameters, digest_of(facts), nullptr, nullptr, &key, nullptr) == 1 &&
        set_padding(parameters, facts) &&
        EVP_DigestSign(context.get(), nullptr, &length, bytes_of(message), message.size()) == 1;
    if (done) {
        signature.resize(length);
        auto* out = reinterpret_cast<unsigned char*>(signature.data());
        done = EVP_DigestSign(context.get(), out, &length, bytes_of(message), message.size()) == 1;
        signature.resize(length);
    }
    if (done && curve != nullptr) {
        signature = from_der(signature, curve->coordinate);
    }
    ERR_clear_error();
    if (!done || signature.empty()) {
        return core::gateway_error(core::errc::internal, "signature: OpenSSL refused to sign");
    }
    return signature;
}

}  // namespace jose
