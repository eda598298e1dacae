// A hash under a random key (SipHash-2-4 with 128 bits): who does not know the key can neither find a text to a hash nor two
// texts with one. One thread.
#pragma once

#include <openssl/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

namespace gateway::access {

using hash_value = std::array<std::uint64_t, 2>;

class keyed_hash {
public:
    // With a new key. Throws std::runtime_error if OpenSSL has no randomness or no SipHash.
    keyed_hash();

    // Of both texts; how they are cut counts.
    hash_value operator()(std::string_view first, std::string_view second);

private:
    struct free_mac {
        void operator()(EVP_MAC_CTX* context) const noexcept;
    };

    std::array<unsigned char, 16> key_{};
    std::unique_ptr<EVP_MAC_CTX, free_mac> context_;
};

}  // namespace gateway::access
