// SHA-256 (FIPS 180-4). Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace jose {

std::string sha256(std::string_view bytes);      // 32 bytes
std::string sha256_hex(std::string_view bytes);  // 64 lower-case hex digits

}  // namespace jose
