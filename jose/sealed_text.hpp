// Short texts that only the holders of a key can write, read or change, and that are good only for the purpose that they were
// sealed for: AES-256-GCM (NIST SP 800-38D) with random nonces of 96 bits, in base64url. Section 8.3 there allows 2^32 texts for
// one key. Any thread.
#pragma once

#include "core/secret.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jose {

inline constexpr std::size_t sealing_key_bytes = 32;
inline constexpr std::size_t most_sealing_keys = 8;
inline constexpr std::size_t longest_sealed = 512;  // characters
inline constexpr std::size_t longest_unsealed =
    355;  // bytes: what 512 characters hold beside the key's mark, nonce and tag

// The 32 bytes of a key that is written as 64 hexadecimal digits, or as base64 or base64url. Nothing: it is neither.
std::optional<core::secret> sealing_key(std::string_view text);

// Fills the span with unpredictable bytes. system_random() throws std::runtime_error if OpenSSL has none.
using random_source = std::function<void(std::span<unsigned char>)>;
void system_random(std::span<unsigned char> bytes);

// The plain text of a sealed one; holds no memory of its own.
class opened_text {
public:
    std::string_view view() const noexcept { return {bytes_.data(), size_}; }

private:
    friend class text_sealer;

    std::array<char, longest_unsealed + 1> bytes_;
    std::size_t size_ = 0;
};

// Texts that say for what and whom: in this order, and each whole.
using sealed_purpose = std::span<const std::string_view>;

class text_sealer {
public:
    // Keys as sealing_key() returns them: the first seals, all open. Throws std::invalid_argument if there are none, more
    // than most_sealing_keys, or one of another length.
    explicit text_sealer(std::span<const core::secret> keys, random_source random = system_random);

    // Visible ASCII. Nothing: `plain` is longer than longest_unsealed. Throws std::runtime_error if OpenSSL fails.
    std::optional<std::string> seal(std::string_view plain, sealed_purpose purpose) const;

    // Nothing: it was not sealed with one of the keys for this purpose, or it was changed since. Allocates nothing.
    std::optional<opened_text> open(std::string_view sealed, sealed_purpose purpose) const;

    // Takes texts of any length up to 2^31 - 64 bytes, and allocates. A text that one of the two pairs seals the other opens, if
    // it is short enough.
    std::string seal_long(std::string_view plain, sealed_purpose purpose) const;
    std::optional<std::string> open_long(std::string_view sealed, sealed_purpose purpose) const;

    // Seals equal texts for one purpose to the same sealed text as long as the first key stays: the nonce is a MAC of
    // both. Who sees two of them learns whether they hold the same.
    std::string seal_equally(std::string_view plain, sealed_purpose purpose) const;

    void fill_randomly(std::span<unsigned char> bytes) const { random_(bytes); }

private:
    void choose_nonce(unsigned char* nonce, std::string_view plain, sealed_purpose purpose) const;
    void seal_into(unsigned char* bytes, std::string_view plain, sealed_purpose purpose) const;
    bool open_into(char* plain, std::string_view bytes, sealed_purpose purpose) const;

    struct marked_key {
        core::secret bytes;
        core::secret nonces;     // the key of the nonces of seal_equally()
        unsigned char mark = 0;  // tells keys apart, so that few have to be tried
    };

    std::vector<marked_key> keys_;
    random_source random_;
};

}  // namespace jose
