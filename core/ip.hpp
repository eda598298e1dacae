// IP addresses and blocks of them as values. An IPv4 address and the same one mapped into IPv6 (RFC 4291 section 2.5.5.2)
// are equal. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace core {

struct ip_address {
    std::array<std::uint8_t, 16> bytes{};  // an IPv4 address as ::ffff:a.b.c.d

    friend bool operator==(const ip_address&, const ip_address&) = default;
};

// "192.0.2.1" in four decimal numbers, "2001:db8::1" without brackets and zone. Nothing: it is no address.
std::optional<ip_address> parse_ip(std::string_view text) noexcept;

struct ip_block {
    ip_address base;
    unsigned prefix = 128;  // bits of `base` that count, of 128

    bool contains(const ip_address& address) const noexcept;
};

// An address, or one with "/" and a prefix length of its family. Nothing: it is none, or `base` has bits behind its prefix.
std::optional<ip_block> parse_ip_block(std::string_view text) noexcept;

// Whether the address is one of a host on the public internet. All that the registries of IANA for special purposes
// (RFC 6890) reserve is not: loopback, private, link-local, shared, documentation, benchmarks, multicast and whatever has no
// meaning yet; nor are addresses in which an IPv4 address is hidden (compatible, 6to4, Teredo), except NAT64 (RFC 6052) of a
// public one; nor the address at which Azure serves metadata.
bool is_public(const ip_address& address) noexcept;

// Which addresses may be connected to: public ones, and those in the blocks.
class address_rule {
public:
    // Each block is one that parse_ip_block() reads; what is none lets nothing through.
    explicit address_rule(std::span<const std::string> blocks);

    bool allows(const ip_address& address) const noexcept;

private:
    std::vector<ip_block> besides_;
};

}  // namespace core
