// The keys that session tickets are sealed with (RFC 8446 section 4.6.1, RFC 5077): made here, rotated, and forgotten, so
// that a stolen key opens no more than the sessions of its own time. Never written down, never logged.
#pragma once

#include "core/clock.hpp"

#include <openssl/types.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace net {

// Shared by all workers and by the contexts before and after a reload, so that a caller may resume anywhere. Any thread:
// its lock is taken once or twice in a handshake, and in no request.
class ticket_keys {
public:
    static constexpr core::duration period = std::chrono::hours{1};  // how long a key seals
    static constexpr std::size_t kept = 3;                           // keys that open: the one that seals among them

    explicit ticket_keys(core::steady_time now);

    // Takes over the keys of another process from its pass(). Any other text makes new keys.
    ticket_keys(core::steady_time now, std::string_view passed);
    ~ticket_keys();
    ticket_keys(const ticket_keys&) = delete;
    ticket_keys& operator=(const ticket_keys&) = delete;

    // Makes a new key once the latest has sealed for a period. Whoever owns the keys calls it now and then.
    void rotate(core::steady_time now);

    // All of them, for a process that takes this one's place: whoever has the text can read the callers' connections.
    std::string pass(core::steady_time now);

    // The callback of SSL_CTX_set_tlsext_ticket_key_evp_cb, with its return values.
    int seal(unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac);
    int open(const unsigned char* name, const unsigned char* iv, EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac);

private:
    struct key {
        std::array<unsigned char, 16> name;
        std::array<unsigned char, 32> encryption;
        std::array<unsigned char, 32> authentication;
    };

    void add_key(core::steady_time now);

    std::mutex mutex_;
    std::vector<key> keys_;  // the latest one first
    core::steady_time made_{};
};

}  // namespace net
