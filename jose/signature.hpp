// Signing and verifying with a key of OpenSSL's, in the form that JWS gives a signature (RFC 7515, RFC 7518 section 3). Any
// thread.
#pragma once

#include "core/error.hpp"
#include "jose/algorithms.hpp"

#include <openssl/types.h>

#include <string>
#include <string_view>

namespace jose {

// Whether `signature` (not in base64) is this key's over `message`. The key is of the algorithm's kind.
bool verifies(EVP_PKEY& key, jws_algorithm algorithm, std::string_view message, std::string_view signature);

// A signature, not in base64. The key is private and of the algorithm's kind. Fails with internal.
core::result<std::string> sign(EVP_PKEY& key, jws_algorithm algorithm, std::string_view message);

}  // namespace jose
