// Private keys for tests of signatures, created in each run: nothing secret lies in the repository.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace a2a_test {

using key_pointer = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

inline key_pointer checked(EVP_PKEY* key)
{
    if (key == nullptr) {
        throw std::runtime_error{"OpenSSL makes no key"};
    }
    return {key, &EVP_PKEY_free};
}

inline key_pointer ec_key(const char* curve)
{
    return checked(EVP_EC_gen(curve));
}

inline key_pointer rsa_key(unsigned bits)
{
    return checked(EVP_RSA_gen(bits));
}

inline key_pointer edwards_key()
{
    return checked(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
}

inline std::string pem(const key_pointer& key)
{
    const std::unique_ptr<BIO, decltype(&BIO_free)> out{BIO_new(BIO_s_mem()), &BIO_free};
    if (PEM_write_bio_PrivateKey(out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1) {
        throw std::runtime_error{"OpenSSL writes no key"};
    }
    char* text = nullptr;
    const auto length = BIO_get_mem_data(out.get(), &text);
    return {text, static_cast<std::size_t>(length)};
}

}  // namespace a2a_test
