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

// As `address`, without the bits behind the first `prefix`.
ip_address masked(ip_address address, unsigned prefix) noexcept
{
    for (unsigned i = 0; i < address.bytes.size(); ++i) {
        const unsigned kept = prefix > i * 8 ? std::min(8U, prefix - i * 8) : 0;
        address.bytes[i] = static_cast<std::uint8_t>(address.bytes[i] & (0xFF00U >> kept));
    }
    return address;
}

}  // namespace

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
