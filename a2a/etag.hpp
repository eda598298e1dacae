// What identifies served bytes: equal on every replica, different for every difference. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace a2a {

// SHA-256 (FIPS 180-4) as 64 lower-case hex digits.
std::string sha256(std::string_view bytes);  // 32 bytes
std::string sha256_hex(std::string_view bytes);

// A strong entity tag (RFC 9110 section 8.8.3), quotes included: the first 128 bits of the SHA-256 as 32 hex digits.
std::string strong_etag(std::string_view bytes);

}  // namespace a2a
