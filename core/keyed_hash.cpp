#include "core/keyed_hash.hpp"

#include <sys/random.h>

#include <bit>
#include <cstddef>
#include <cstring>
#include <stdexcept>

namespace core {
namespace {

static_assert(std::endian::native == std::endian::little, "words are read as they lie in memory");

constexpr std::size_t word = sizeof(std::uint64_t);

constexpr int word_rounds = 1;
constexpr int final_rounds = 3;

std::uint64_t first_word(std::string_view text) noexcept
{
    std::uint64_t out = 0;
    std::memcpy(&out, text.data(), word);
    return out;
}

class sip_state {
public:
    explicit sip_state(const keyed_hash::key& key) noexcept
        : v0_{0x736F6D6570736575U ^ key[0]},
          v1_{0x646F72616E646F6DU ^ key[1] ^ 0xEEU},  // 0xEE: of the variant with 128 bits
          v2_{0x6C7967656E657261U ^ key[0]},
          v3_{0x7465646279746573U ^ key[1]}
    {
    }

    void add(std::string_view text) noexcept
    {
        size_ += text.size();
        for (; rest_bits_ == 0 && text.size() >= word; text.remove_prefix(word)) {
            add_word(first_word(text));
        }
        for (; text.size() >= word; text.remove_prefix(word)) {
            const auto next = first_word(text);
            add_word(rest_ | next << rest_bits_);
            rest_ = next >> (64U - rest_bits_);
        }
        if (!text.empty()) {
            add_end(text);
        }
    }

    hash_value take() noexcept
    {
        add_word(rest_ | size_ << 56U);
        v2_ ^= 0xEEU;
        mix(final_rounds);
        const auto first = v0_ ^ v1_ ^ v2_ ^ v3_;
        v1_ ^= 0xDDU;
        mix(final_rounds);
        return {first, v0_ ^ v1_ ^ v2_ ^ v3_};
    }

private:
    // Less than a word.
    void add_end(std::string_view text) noexcept
    {
        std::uint64_t last = 0;
        std::memcpy(&last, text.data(), text.size());
        rest_ |= last << rest_bits_;
        const auto bits = rest_bits_ + 8 * static_cast<unsigned>(text.size());
        if (bits >= 64) {
            add_word(rest_);
            rest_ = last >> (64U - rest_bits_);  // rest_bits_ is not 0, since `bits` would be less
        }
        rest_bits_ = bits % 64;
    }

    void add_word(std::uint64_t next) noexcept
    {
        v3_ ^= next;
        mix(word_rounds);
        v0_ ^= next;
    }

    void mix(int rounds) noexcept
    {
        for (; rounds > 0; --rounds) {
            v0_ += v1_;
            v1_ = std::rotl(v1_, 13) ^ v0_;
            v0_ = std::rotl(v0_, 32);
            v2_ += v3_;
            v3_ = std::rotl(v3_, 16) ^ v2_;
            v0_ += v3_;
            v3_ = std::rotl(v3_, 21) ^ v0_;
            v2_ += v1_;
            v1_ = std::rotl(v1_, 17) ^ v2_;
            v2_ = std::rotl(v2_, 32);
        }
    }

    std::uint64_t v0_;
    std::uint64_t v1_;
    std::uint64_t v2_;
    std::uint64_t v3_;
    std::uint64_t rest_ = 0;  // bytes that are no word yet
    unsigned rest_bits_ = 0;  // of them
    std::uint64_t size_ = 0;
};

}  // namespace

keyed_hash::keyed_hash()
{
    // So few bytes come whole, and no signal interrupts them (getrandom(2)).
    if (getrandom(key_.data(), sizeof(key_), 0) != sizeof(key_)) {
        throw std::runtime_error{"the system has no randomness"};
    }
}

hash_value keyed_hash::operator()(std::string_view first, std::string_view second) const noexcept
{
    sip_state state{key_};
    const std::uint64_t length = first.size();
    std::array<char, word> prefix{};
    std::memcpy(prefix.data(), &length, word);
    state.add({prefix.data(), prefix.size()});
    state.add(first);
    state.add(second);
    return state.take();
}

}  // namespace core
