#include "net/tls/tls_tickets.hpp"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <type_traits>

namespace net {
namespace {

constexpr int no_ticket = -1;
constexpr int unknown = 0;  // a whole handshake follows
constexpr int fine = 1;
constexpr int fine_but_old = 2;  // the caller gets a new ticket

// OpenSSL wants them writable.
bool begin_mac(EVP_MAC_CTX* mac, std::array<unsigned char, 32> secret)
{
    char digest[] = "SHA256";
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, secret.data(), secret.size()),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_end(),
    };
    const bool begun = EVP_MAC_CTX_set_params(mac, parameters) == 1;
    OPENSSL_cleanse(secret.data(), secret.size());
    return begun;
}

}  // namespace

ticket_keys::ticket_keys(core::steady_time now)
{
    keys_.reserve(kept + 1);  // a vector that grows would leave keys behind
    add_key(now);
}

// The age of the latest in milliseconds, eight bytes, then the keys as they are in memory.
ticket_keys::ticket_keys(core::steady_time now, std::string_view passed)
{
    keys_.reserve(kept + 1);
    std::int64_t age = 0;
    const bool whole = passed.size() > sizeof age && (passed.size() - sizeof age) % sizeof(key) == 0 &&
                       (passed.size() - sizeof age) / sizeof(key) <= kept;
    if (!whole) {
        add_key(now);
        return;
    }
    std::memcpy(&age, passed.data(), sizeof age);
    passed.remove_prefix(sizeof age);
    keys_.resize(passed.size() / sizeof(key));
    std::memcpy(keys_.data(), passed.data(), passed.size());
    const auto longest = std::chrono::duration_cast<std::chrono::milliseconds>(period).count();
    made_ = now - std::chrono::milliseconds{std::clamp<std::int64_t>(age, 0, longest)};
}

std::string ticket_keys::pass(core::steady_time now)
{
    static_assert(std::is_trivially_copyable_v<key> && sizeof(key) == 80);
    const std::lock_guard guard{mutex_};
    const std::int64_t age = std::chrono::duration_cast<std::chrono::milliseconds>(now - made_).count();
    std::string out(sizeof age + keys_.size() * sizeof(key), '\0');
    std::memcpy(out.data(), &age, sizeof age);
    std::memcpy(out.data() + sizeof age, keys_.data(), keys_.size() * sizeof(key));
    return out;
}

ticket_keys::~ticket_keys()
{
    OPENSSL_cleanse(keys_.data(), keys_.size() * sizeof(key));
}

void ticket_keys::rotate(core::steady_time now)
{
    const std::lock_guard guard{mutex_};
    if (now - made_ >= period) {
        add_key(now);
    }
}

void ticket_keys::add_key(core::steady_time now)
{
    key added{};
    const bool random =
        RAND_bytes(added.name.data(), static_cast<int>(added.name.size())) == 1 &&
        RAND_priv_bytes(added.encryption.data(), static_cast<int>(added.encryption.size())) == 1 &&
        RAND_priv_bytes(added.authentication.data(), static_cast<int>(added.authentication.size())) == 1;
    if (!random) {
        throw std::runtime_error{"no random numbers for session tickets"};
    }
    keys_.insert(keys_.begin(), added);
    OPENSSL_cleanse(&added, sizeof added);
    if (keys_.size() > kept) {
        OPENSSL_cleanse(&keys_.back(), sizeof(key));
        keys_.pop_back();
    }
    made_ = now;
}

int ticket_keys::seal(unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac)
{
    const std::lock_guard guard{mutex_};
    const auto& latest = keys_.front();
    std::copy(latest.name.begin(), latest.name.end(), name);
    const auto* const algorithm = EVP_aes_256_cbc();
    const bool begun = RAND_bytes(iv, EVP_CIPHER_get_iv_length(algorithm)) == 1 &&
                       EVP_EncryptInit_ex(cipher, algorithm, nullptr, latest.encryption.data(), iv) == 1 &&
                       begin_mac(mac, latest.authentication);
    return begun ? fine : no_ticket;
}

int ticket_keys::open(const unsigned char* name, const unsigned char* iv, EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac)
{
    const std::lock_guard guard{mutex_};
    const auto found = std::find_if(keys_.begin(), keys_.end(), [&](const key& each) {
        return CRYPTO_memcmp(each.name.data(), name, each.name.size()) == 0;
    });
    if (found == keys_.end()) {
        return unknown;
    }
    const bool begun = begin_mac(mac, found->authentication) &&
                       EVP_DecryptInit_ex(cipher, EVP_aes_256_cbc(), nullptr, found->encryption.data(), iv) == 1;
    if (!begun) {
        return no_ticket;
    }
    return found == keys_.begin() ? fine : fine_but_old;
}

}  // namespace net
