// The meaning of a value's text: durations, sizes, counts, switches, addresses. Pure. Every failure is errc::config_invalid
// whose detail says what is wrong as a predicate ("has no unit"), without the text itself: that may be a secret.
#pragma once

#include "config/settings.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/secret.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace config {

// Whole numbers with the units d, h, m, s, ms, largest first, each at most once: `500ms`, `1h30m`. `0` needs none.
core::result<core::duration> parse_duration(std::string_view text);

// Bytes: a whole number and B, KiB, MiB, GiB (powers of 1024) or kB, MB, GB (powers of 1000); none is B.
core::result<std::uint64_t> parse_size(std::string_view text);

// A whole number, not negative.
core::result<std::uint64_t> parse_count(std::string_view text);

// A decimal fraction, not negative: `0.5`, `1`.
core::result<double> parse_share(std::string_view text);

// `true` or `false`, also True, TRUE, False, FALSE (YAML 1.2 section 10.3.2).
core::result<bool> parse_switch(std::string_view text);

inline constexpr std::string_view expected_proxy =
    "the URL of an HTTP proxy such as http://proxy:3128, environment, or none";

// A proxy of core/proxy.hpp, or one of its words.
core::result<core::secret> parse_proxy(std::string_view text);

// `host:port`: an IPv4 address, an IPv6 address in brackets, or a name; port 0 lets the system choose.
core::result<endpoint> parse_endpoint(std::string_view text);

// A name of letters, digits, '.', '-' and '_', at most 253 of them, or an IPv4 address.
bool valid_host(std::string_view host);

// A name that a Host field may have: such a host, or an IPv6 address with or without brackets, which is given without them and in
// its shortest spelling. Nothing: neither.
std::optional<std::string> parse_host(std::string_view text);

inline constexpr std::string_view expected_store =
    "memory, sqlite:PATH or a URL such as postgresql://cardea@db1,db2:5432/cardea";

// `memory`, `sqlite:` and the path of a file, or a URL of PostgreSQL without a password, as libpq reads it.
core::result<std::string> parse_store(std::string_view text);

// `off`, `stdout`, or `file:` and the path of a file.
core::result<std::string> parse_audit(std::string_view text);

// The inverse, in the largest unit that keeps the value exact: `5m`, `1MiB`.
std::string to_text(core::duration value);
std::string size_text(std::uint64_t bytes);
std::string share_text(double value);
std::string to_text(const endpoint& address);

// Whether only this machine can connect there: `localhost`, 127.0.0.0/8 and ::1.
bool is_loopback(const endpoint& address) noexcept;

}  // namespace config
