#include "gateway/access/keyed_hash.hpp"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <bit>
#include <cstddef>
#include <stdexcept>

namespace gateway::access {
namespace {

void require(bool done)
{
    if (!done) {
        throw std::runtime_error{"OpenSSL cannot compute SipHash"};
    }
}

}  // namespace

void keyed_hash::free_mac::operator()(EVP_MAC_CTX* context) const noexcept
{
    EVP_MAC_CTX_free(context);
}

keyed_hash::keyed_hash()
{
    require(RAND_bytes(key_.data(), static_cast<int>(key_.size())) == 1);
    EVP_MAC* const mac = EVP_MAC_fetch(nullptr, "SIPHASH", nullptr);
    require(mac != nullptr);
    context_.reset(EVP_MAC_CTX_new(mac));
    EVP_MAC_free(mac);
    require(context_ != nullptr);
}

hash_value keyed_hash::operator()(std::string_view first, std::string_view second)
{
    const auto update = [&](const void* bytes, std::size_t size) {
        require(EVP_MAC_update(context_.get(), static_cast<const unsigned char*>(bytes), size) == 1);
    };
    require(EVP_MAC_init(context_.get(), key_.data(), key_.size(), nullptr) == 1);
    const auto length = first.size();
    update(&length, sizeof(length));
    update(first.data(), first.size());
    update(second.data(), second.size());
    std::array<unsigned char, sizeof(hash_value)> bytes{};
    std::size_t written = 0;
    const bool done = EVP_MAC_final(context_.get(), bytes.data(), &written, bytes.size()) == 1;
    require(done && written == bytes.size());
    return std::bit_cast<hash_value>(bytes);
}

}  // namespace gateway::access
