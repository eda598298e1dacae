#include "core/ip.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>

namespace core {
namespace {

constexpr std::array<std::uint8_t, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
constexpr unsigned mapped_bits = 96;

bool is_mapped(const ip_address& address) noexcept
{
    return std::equal(mapped.begin(), mapped.end(), address.bytes.begin());
}

// Clears the bits after the first `prefix`.
ip_address masked(ip_address address, unsigned prefix) noexcept
{
    for (unsigned i = 0; i < address.bytes.size(); ++i) {
        const unsigned kept = prefix > i * 8 ? std::min(8U, prefix - i * 8) : 0;
        address.bytes[i] = static_cast<std::uint8_t>(address.bytes[i] & (0xFF00U >> kept));
    }
    return address;
}

// A block of IPv4 as its number and prefix, so that the tables are read at compile time.
struct v4_block {
    std::uint32_t base;
    unsigned prefix;
};

constexpr std::uint32_t v4(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) noexcept
{
    return a << 24U | b << 16U | c << 8U | d;
}

// https://www.iana.org/assignments/iana-ipv4-special-registry, and multicast.
constexpr auto special_v4 = std::to_array<v4_block>({
    {v4(0, 0, 0, 0), 8},         // this network
    {v4(10, 0, 0, 0), 8},        // private
    {v4(100, 64, 0, 0), 10},     // shared by a provider's customers; Alibaba's metadata
    {v4(127, 0, 0, 0), 8},       // loopback
    {v4(168, 63, 129, 16), 32},  // Azure's metadata
    {v4(169, 254, 0, 0), 16},    // link-local; metadata of most clouds
    {v4(172, 16, 0, 0), 12},     // private
    {v4(192, 0, 0, 0), 24},      // protocol assignments; Oracle's metadata
    {v4(192, 0, 2, 0), 24},      // documentation
    {v4(192, 88, 99, 0), 24},    // relays of 6to4
    {v4(192, 168, 0, 0), 16},    // private
    {v4(198, 18, 0, 0), 15},     // benchmarks
    {v4(198, 51, 100, 0), 24},   // documentation
    {v4(203, 0, 113, 0), 24},    // documentation
    {v4(224, 0, 0, 0), 4},       // multicast
    {v4(240, 0, 0, 0), 4},       // reserved, and broadcast
});

bool is_public_v4(std::uint32_t address) noexcept
{
    return std::none_of(special_v4.begin(), special_v4.end(), [&](const v4_block& each) {
        return (address ^ each.base) >> (32U - each.prefix) == 0;
    });
}

struct v6_block {
    std::array<std::uint8_t, 4> base;
    unsigned prefix;  // at most 32
};

// The special blocks in 2000::/3, outside of which nothing is public.
// https://www.iana.org/assignments/iana-ipv6-special-registry
constexpr auto special_v6 = std::to_array<v6_block>({
    {{0x20, 0x01, 0x00, 0x00}, 23},  // protocol assignments, with Teredo, benchmarks and ORCHID
    {{0x20, 0x01, 0x0d, 0xb8}, 32},  // documentation
    {{0x20, 0x02, 0x00, 0x00}, 16},  // 6to4
    {{0x3f, 0xff, 0x00, 0x00}, 20},  // documentation
});

constexpr std::array<std::uint8_t, 12> nat64{0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0};

std::uint32_t first_32_bits(std::span<const std::uint8_t> bytes) noexcept
{
    return v4(bytes[0], bytes[1], bytes[2], bytes[3]);
}

}  // namespace

bool is_public(const ip_address& address) noexcept
{
    const std::span bytes{address.bytes};
    if (is_mapped(address) || std::equal(nat64.begin(), nat64.end(), bytes.begin())) {
        return is_public_v4(first_32_bits(bytes.last(4)));
    }
    const auto begin = first_32_bits(bytes);
    constexpr std::uint32_t global_unicast = 1;  // 2000::/3
    return begin >> 29U == global_unicast &&
           std::none_of(special_v6.begin(), special_v6.end(), [&](const v6_block& each) {
               return (begin ^ first_32_bits(each.base)) >> (32U - each.prefix) == 0;
           });
}

address_rule::address_rule(std::span<const std::string> blocks)
{
    for (const auto& each : blocks) {
        if (const auto block = parse_ip_block(each)) {
            besides_.push_back(*block);
        }
    }
}

bool address_rule::allows(const ip_address& address) const noexcept
{
    return is_public(address) ||
           std::any_of(besides_.begin(), besides_.end(), [&](const ip_block& each) { return each.contains(address); });
}

std::optional<ip_address> parse_ip(std::string_view text) noexcept
{
    std::array<char, INET6_ADDRSTRLEN> zero_terminated{};
    if (text.empty() || text.size() >= zero_terminated.size() || text.find('\0') != std::string_view::npos) {
        return std::nullopt;
    }
    std::memcpy(zero_terminated.data(), text.data(), text.size());
    ip_address address;
    if (text.find(':') != std::string_view::npos) {
        if (::inet_pton(AF_INET6, zero_terminated.data(), address.bytes.data()) != 1) {
            return std::nullopt;
        }
        return address;
    }
    std::copy(mapped.begin(), mapped.end(), address.bytes.begin());
    if (::inet_pton(AF_INET, zero_terminated.data(), address.bytes.data() + mapped.size()) != 1) {
        return std::nullopt;
    }
    return address;
}

bool ip_block::contains(const ip_address& address) const noexcept
{
    return masked(address, prefix) == base;
}

std::optional<ip_block> parse_ip_block(std::string_view text) noexcept
{
    const auto slash = text.find('/');
    const auto written = text.substr(0, slash);
    const auto address = parse_ip(written);
    if (!address) {
        return std::nullopt;
    }
    const bool v4 = written.find(':') == std::string_view::npos;
    ip_block block{*address, 128};
    if (slash != std::string_view::npos) {
        const auto digits = text.substr(slash + 1);
        unsigned length = 0;
        const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), length);
        const bool whole = read.ec == std::errc{} && read.ptr == digits.data() + digits.size() && digits.size() <= 3;
        if (!whole || length > (v4 ? 32U : 128U)) {
            return std::nullopt;
        }
        block.prefix = v4 ? mapped_bits + length : length;
    }
    // ::ffff:0:0/0 would be all of IPv6 by accident.
    if (masked(*address, block.prefix) != *address || (!v4 && is_mapped(*address) && block.prefix < mapped_bits)) {
        return std::nullopt;
    }
    return block;
}

}  // namespace core
