// The hash of a key that may be guessed, as a PHC string: `$scrypt$ln=15,r=8,p=1$SALT$HASH` (RFC 7914). Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace core {

struct scrypt_hash {
    unsigned log_cost = 0;     // `ln`: the cost N is 2 to its power
    unsigned block_size = 0;   // `r`
    unsigned parallelism = 0;  // `p`
    std::string salt;          // 8 to 64 bytes
    std::string hash;          // 16 to 64 bytes
};

// Bytes that one check takes, 128 N r: enough that guesses are dear, and no more than a thread may take.
inline constexpr std::uint64_t least_scrypt_memory = std::uint64_t{16} * 1024 * 1024;
inline constexpr std::uint64_t most_scrypt_memory = std::uint64_t{64} * 1024 * 1024;
inline constexpr unsigned most_scrypt_parallelism = 4;

// Nothing: the text has another form, or its parameters are beyond the limits. Salt and hash are base64 without padding.
std::optional<scrypt_hash> parse_scrypt_hash(std::string_view text);

}  // namespace core
