#include "jose/sealed_text.hpp"

#include "core/ascii.hpp"
#include "core/base64.hpp"
#include "jose/digest.hpp"
#include "jose/signature.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>

namespace jose {
namespace {

constexpr std::size_t nonce_bytes = 12;
constexpr std::size_t tag_bytes = 16;
constexpr std::size_t overhead = 1 + nonce_bytes + tag_bytes;
constexpr std::size_t longest_sealed_bytes = longest_unsealed + overhead;

static_assert((longest_sealed_bytes * 4 + 2) / 3 <= longest_sealed);

using cipher_owner = std::unique_ptr<EVP_CIPHER, freed_by<EVP_CIPHER_free>>;
using context_owner = std::unique_ptr<EVP_CIPHER_CTX, freed_by<EVP_CIPHER_CTX_free>>;

void require(bool succeeded)
{
    if (!succeeded) {
        throw std::runtime_error("OpenSSL offers no AES-256-GCM");
    }
}

const EVP_CIPHER* algorithm()
{
    static const cipher_owner fetched{EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr)};
    require(fetched != nullptr);
    return fetched.get();
}

// One for each thread, with the algorithm chosen once: each of the two would be an allocation for every text.
EVP_CIPHER_CTX* context()
{
    const auto chosen = [] {
        context_owner made{EVP_CIPHER_CTX_new()};
        require(made != nullptr && EVP_CipherInit_ex2(made.get(), algorithm(), nullptr, nullptr, 0, nullptr) == 1);
        return made;
    };
    thread_local const context_owner own = chosen();
    return own.get();
}

int size_of(std::string_view text) noexcept
{
    return static_cast<int>(text.size());
}

std::array<unsigned char, 4> length_of(std::string_view text) noexcept
{
    const auto size = static_cast<std::uint32_t>(text.size());
    return {
        static_cast<unsigned char>(size >> 24U),
        static_cast<unsigned char>(size >> 16U),
        static_cast<unsigned char>(size >> 8U),
        static_cast<unsigned char>(size),
    };
}

// Additional authenticated data. Each text comes behind its length, so that no two purposes are the same bytes.
void authenticate(EVP_CIPHER_CTX* in, std::string_view text)
{
    const auto length = length_of(text);
    int ignored = 0;
    require(EVP_CipherUpdate(in, nullptr, &ignored, length.data(), static_cast<int>(length.size())) == 1);
    require(text.empty() || EVP_CipherUpdate(in, nullptr, &ignored, bytes_of(text), size_of(text)) == 1);
}

enum class direction : int { open = 0, seal = 1 };

EVP_CIPHER_CTX* begin(direction to, const core::secret& key, const unsigned char* nonce, sealed_purpose purpose)
{
    auto* const in = context();
    require(EVP_CipherInit_ex2(in, nullptr, bytes_of(key.reveal()), nonce, static_cast<int>(to), nullptr) == 1);
    for (const auto text : purpose) {
        authenticate(in, text);
    }
    return in;
}

std::optional<std::string> from_hex(std::string_view text)
{
    std::string bytes;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
        const auto high = core::hex_value(text[i]);
        const auto low = core::hex_value(text[i + 1]);
        if (high < 0 || low < 0) {
            return std::nullopt;
        }
        bytes += static_cast<char>(high * 16 + low);
    }
    return bytes;
}

unsigned char mark_of(std::string_view key)
{
    return static_cast<unsigned char>(sha256("mark of a sealing key" + std::string{key}).front());
}

}  // namespace

std::optional<core::secret> sealing_key(std::string_view text)
{
    std::optional<std::string> bytes;
    if (text.size() == 2 * sealing_key_bytes) {
        bytes = from_hex(text);
    } else {
        bytes = core::from_base64(text);
    }
    if (!bytes || bytes->size() != sealing_key_bytes) {
        return std::nullopt;
    }
    return core::secret{std::move(*bytes)};
}

void system_random(std::span<unsigned char> bytes)
{
    if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
        throw std::runtime_error("OpenSSL offers no random bytes");
    }
}

text_sealer::text_sealer(std::span<const core::secret> keys, random_source random)
    : random_{std::move(random)}
{
    if (keys.empty() || keys.size() > most_sealing_keys) {
        throw std::invalid_argument("a sealer has 1 to 8 keys");
    }
    for (const auto& key : keys) {
        if (key.reveal().size() != sealing_key_bytes) {
            throw std::invalid_argument("a sealing key has 32 bytes");
        }
        keys_.push_back({key, core::secret{sha256("nonces of a sealing key" + key.reveal())}, mark_of(key.reveal())});
    }
}

// The first 96 bits of an HMAC, as in RFC 8452 a text and its purpose choose their nonce themselves: two that differ have the same one
// as rarely as with chance.
void text_sealer::choose_nonce(unsigned char* nonce, std::string_view plain, sealed_purpose purpose) const
{
    std::string all;
    for (const auto text : purpose) {
        const auto length = length_of(text);
        all.append(length.begin(), length.end()).append(text);
    }
    all += plain;
    const auto& key = keys_.front().nonces.reveal();
    std::array<unsigned char, EVP_MAX_MD_SIZE> code{};
    unsigned int size = 0;
    const auto* const done =
        HMAC(EVP_sha256(), key.data(), size_of(key), bytes_of(all), all.size(), code.data(), &size);
    require(done != nullptr && size >= nonce_bytes);
    std::copy_n(code.begin(), nonce_bytes, nonce);
}

// `bytes` has room for the text and the overhead, and its nonce already.
void text_sealer::seal_into(unsigned char* bytes, std::string_view plain, sealed_purpose purpose) const
{
    const auto& key = keys_.front();
    auto* const nonce = bytes + 1;
    auto* const text = nonce + nonce_bytes;
    auto* const tag = text + plain.size();
    bytes[0] = key.mark;
    auto* const in = begin(direction::seal, key.bytes, nonce, purpose);
    int written = 0;
    require(plain.empty() || EVP_CipherUpdate(in, text, &written, bytes_of(plain), size_of(plain)) == 1);
    require(EVP_CipherFinal_ex(in, tag, &written) == 1);
    require(EVP_CIPHER_CTX_ctrl(in, EVP_CTRL_AEAD_GET_TAG, static_cast<int>(tag_bytes), tag) == 1);
}

// `bytes` has at least the overhead, and `plain` room for the rest and one byte more. False: no key opens it.
bool text_sealer::open_into(char* plain, std::string_view bytes, sealed_purpose purpose) const
{
    const auto mark = static_cast<unsigned char>(bytes[0]);
    const auto text = bytes.substr(1 + nonce_bytes, bytes.size() - overhead);
    for (const auto& key : keys_) {
        if (key.mark != mark) {
            continue;
        }
        auto* const in = begin(direction::open, key.bytes, bytes_of(bytes.substr(1, nonce_bytes)), purpose);
        auto* const out = reinterpret_cast<unsigned char*>(plain);
        int written = 0;
        require(text.empty() || EVP_CipherUpdate(in, out, &written, bytes_of(text), size_of(text)) == 1);
        std::array<unsigned char, tag_bytes> tag{};
        std::ranges::copy(bytes.substr(bytes.size() - tag_bytes), tag.begin());
        require(EVP_CIPHER_CTX_ctrl(in, EVP_CTRL_AEAD_SET_TAG, static_cast<int>(tag_bytes), tag.data()) == 1);
        if (EVP_CipherFinal_ex(in, out + written, &written) == 1) {
            return true;
        }
    }
    return false;
}

std::optional<std::string> text_sealer::seal(std::string_view plain, sealed_purpose purpose) const
{
    if (plain.size() > longest_unsealed) {
        return std::nullopt;
    }
    std::array<unsigned char, longest_sealed_bytes> bytes{};
    random_({bytes.data() + 1, nonce_bytes});
    seal_into(bytes.data(), plain, purpose);
    return core::base64url({reinterpret_cast<const char*>(bytes.data()), plain.size() + overhead});
}

std::optional<opened_text> text_sealer::open(std::string_view sealed, sealed_purpose purpose) const
{
    std::array<char, longest_sealed_bytes> bytes;
    const auto size = core::from_base64url(sealed, bytes);
    if (!size || *size < overhead) {
        return std::nullopt;
    }
    opened_text opened;
    opened.size_ = *size - overhead;
    if (!open_into(opened.bytes_.data(), {bytes.data(), *size}, purpose)) {
        return std::nullopt;
    }
    return opened;
}

std::string text_sealer::seal_long(std::string_view plain, sealed_purpose purpose) const
{
    std::string bytes(plain.size() + overhead, '\0');
    auto* const begin = reinterpret_cast<unsigned char*>(bytes.data());
    random_({begin + 1, nonce_bytes});
    seal_into(begin, plain, purpose);
    return core::base64url(bytes);
}

std::string text_sealer::seal_equally(std::string_view plain, sealed_purpose purpose) const
{
    std::string bytes(plain.size() + overhead, '\0');
    auto* const begin = reinterpret_cast<unsigned char*>(bytes.data());
    choose_nonce(begin + 1, plain, purpose);
    seal_into(begin, plain, purpose);
    return core::base64url(bytes);
}

std::optional<std::string> text_sealer::open_long(std::string_view sealed, sealed_purpose purpose) const
{
    const auto bytes = core::from_base64url(sealed);
    if (!bytes || bytes->size() < overhead) {
        return std::nullopt;
    }
    std::string plain(bytes->size() - overhead, '\0');
    return open_into(plain.data(), *bytes, purpose) ? std::optional{std::move(plain)} : std::nullopt;
}

}  // namespace jose
