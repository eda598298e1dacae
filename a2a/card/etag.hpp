// What identifies served bytes: equal on every replica, different for every difference. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace a2a {

// A strong entity tag (RFC 9110 section 8.8.3), quotes included: the first 128 bits of the SHA-256 as 32 hex digits.
std::string strong_etag(std::string_view bytes);

}  // namespace a2a
