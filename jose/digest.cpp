#include "jose/digest.hpp"

#include "core/ascii.hpp"

#include <openssl/evp.h>

#include <array>
#include <stdexcept>

namespace jose {

std::string sha256(std::string_view bytes)
{
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned length = 0;
    if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1) {
        throw std::runtime_error("OpenSSL offers no SHA-256");
    }
    return {reinterpret_cast<const char*>(digest.data()), length};
}

std::string sha256_hex(std::string_view bytes)
{
    std::string text;
    for (const char each : sha256(bytes)) {
        const auto byte = static_cast<unsigned char>(each);
        text += core::hex_digits[byte >> 4U];
        text += core::hex_digits[byte & 0x0FU];
    }
    return text;
}

}  // namespace jose
