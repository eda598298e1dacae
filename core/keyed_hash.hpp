// A hash under a random key (SipHash-1-3 with 128 bits, https://www.aumasson.jp/siphash/siphash.pdf): who does not know the
// key can neither find a text to a hash nor two texts with one. One round for each word: nobody sees hashes, and the best way
// known to make two texts collide inside works once in 2^167 (Dobraunig, Mendel, Schläffer: Differential Cryptanalysis of
// SipHash, 2014), which is less often than by chance. Any thread. Our own, because OpenSSL's takes a context for
// each thread and ten times as long to prepare it as to hash a name.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace core {

using hash_value = std::array<std::uint64_t, 2>;

class keyed_hash {
public:
    using key = std::array<std::uint64_t, 2>;

    // With a new key. Throws std::runtime_error if the system has no randomness.
    keyed_hash();
    explicit keyed_hash(const key& known) noexcept
        : key_{known}
    {
    }

    // The hash of both texts, which depends on where they are cut: it covers the length of the first (64 bits, little-endian), then both.
    hash_value operator()(std::string_view first, std::string_view second) const noexcept;

private:
    key key_{};
};

}  // namespace core
