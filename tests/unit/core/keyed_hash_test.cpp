#include "core/keyed_hash.hpp"

#include <doctest/doctest.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using core::hash_value;
using core::keyed_hash;

// SipHash-1-3 of OpenSSL.
hash_value of_openssl(const keyed_hash::key& key, std::string_view text)
{
    std::array<unsigned char, sizeof(hash_value)> out{};
    std::size_t written = 0;
    EVP_MAC* const mac = EVP_MAC_fetch(nullptr, "SIPHASH", nullptr);
    EVP_MAC_CTX* const context = EVP_MAC_CTX_new(mac);
    unsigned word_rounds = 1;
    unsigned final_rounds = 3;
    const std::array parameters{
        OSSL_PARAM_construct_uint(OSSL_MAC_PARAM_C_ROUNDS, &word_rounds),
        OSSL_PARAM_construct_uint(OSSL_MAC_PARAM_D_ROUNDS, &final_rounds),
        OSSL_PARAM_construct_end()
    };
    const auto* const secret = reinterpret_cast<const unsigned char*>(key.data());
    REQUIRE(EVP_MAC_init(context, secret, sizeof(key), parameters.data()) == 1);
    REQUIRE(EVP_MAC_update(context, reinterpret_cast<const unsigned char*>(text.data()), text.size()) == 1);
    REQUIRE(EVP_MAC_final(context, out.data(), &written, out.size()) == 1);
    EVP_MAC_CTX_free(context);
    EVP_MAC_free(mac);
    REQUIRE(written == out.size());
    return std::bit_cast<hash_value>(out);
}

std::string with_length(std::string_view first, std::string_view second)
{
    const auto length = std::bit_cast<std::array<char, 8>>(std::uint64_t{first.size()});
    return std::string{length.data(), length.size()} + std::string{first} + std::string{second};
}

TEST_SUITE("keyed hash")
{
    TEST_CASE("It is SipHash-1-3 of the first text's length and both texts, of every length and cut anywhere")
    {
        const keyed_hash::key key{0x0706050403020100, 0x0F0E0D0C0B0A0908};
        const keyed_hash hash{key};
        std::string text;
        for (int i = 0; i < 70; ++i) {
            text += static_cast<char>(i * 7 + 130);
        }
        for (std::size_t size = 0; size <= text.size(); ++size) {
            for (std::size_t cut = 0; cut <= size; ++cut) {
                const auto first = std::string_view{text}.substr(0, cut);
                const auto second = std::string_view{text}.substr(cut, size - cut);
                REQUIRE(hash(first, second) == of_openssl(key, with_length(first, second)));
            }
        }
        const std::string large(70'001, 'x');
        CHECK(hash("a", large) == of_openssl(key, with_length("a", large)));
    }
}

}  // namespace
