#include "config/values.hpp"

#include "config/problem.hpp"
#include "core/ascii.hpp"
#include "core/ip.hpp"
#include "core/proxy.hpp"

#include <boost/url/ipv4_address.hpp>
#include <boost/url/ipv6_address.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

namespace config {
namespace {

using core::is_digit;
using core::is_letter;

struct unit {
    std::string_view name;
    std::uint64_t factor;
};

constexpr std::uint64_t kibi = 1024;
constexpr std::array<unit, 5> duration_units{
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}}
};
constexpr std::array<unit, 8> size_units{{
    {"GiB", kibi* kibi* kibi},
    {"MiB", kibi* kibi},
    {"KiB", kibi},
    {"GB", 1'000'000'000},
    {"MB", 1'000'000},
    {"kB", 1000},
    {"B", 1},
    {"", 1},
}};

// A text that begins with `file` names one.
core::result<std::string> checked_file_name(std::string_view text, std::string_view file)
{
    if (text == file) {
        return invalid("names no file");
    }
    if (text.find('\0') != std::string_view::npos) {
        return invalid("has a NUL in its name");
    }
    return std::string{text};
}

// The rest of `text` after the first `mark`, which is cut off; nothing if there is none.
std::optional<std::string_view> take_rest(std::string_view& text, char mark)
{
    const auto at = text.find(mark);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    const auto rest = text.substr(at + 1);
    text = text.substr(0, at);
    return rest;
}

std::string_view take_while(std::string_view& text, bool (*accepted)(char))
{
    const auto end = std::find_if_not(text.begin(), text.end(), accepted);
    const auto taken = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    text.remove_prefix(taken.size());
    return taken;
}

// Digits only, so that a sign, a blank or a fraction never passes.
std::optional<std::uint64_t> to_number(std::string_view digits)
{
    std::uint64_t value = 0;
    const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return failed == std::errc{} && end == digits.data() + digits.size() ? std::optional{value} : std::nullopt;
}

std::optional<std::uint64_t> product(std::uint64_t value, std::uint64_t factor)
{
    return value <= std::numeric_limits<std::int64_t>::max() / factor ? std::optional{value * factor} : std::nullopt;
}

// One of the hosts of a URL of PostgreSQL, with its port: both may be missing, and a directory of sockets is percent-encoded.
core::result<> check_database_host(std::string_view host)
{
    const auto end_of_address = host.starts_with('[') ? host.find(']') : 0;
    const auto colon = host.find(':', end_of_address);  // npos: the host is not valid either
    if (colon != std::string_view::npos) {
        const auto port = to_number(host.substr(colon + 1));
        if (!port || *port < 1 || *port > std::numeric_limits<std::uint16_t>::max()) {
            return invalid("has no valid port (1 to 65535)");
        }
        host = host.substr(0, colon);
    }
    const bool socket = host.starts_with("%2F") || host.starts_with("%2f");
    const bool bracketed = host.starts_with('[');
    if (host.empty() || socket || (bracketed ? parse_host(host).has_value() : valid_host(host))) {
        return {};
    }
    return invalid("has no valid host");
}

// Split as libpq does it (PostgreSQL, "Connection URIs"). A password would be shown with the URL.
core::result<std::string> checked_database_url(std::string_view text)
{
    constexpr std::string_view password = "has a password in it, which belongs in store_options.password_file";
    auto rest = text.substr(text.find("//") + 2);
    if (!std::ranges::all_of(rest, [](char c) { return c > ' ' && c < '\x7F'; })) {
        return invalid("is not a URL");
    }
    auto hosts = rest.substr(0, rest.find('/'));
    if (take_rest(hosts, '@')) {
        if (hosts.find(':') != std::string_view::npos) {
            return invalid(std::string{password});
        }
        rest.remove_prefix(hosts.size() + 1);
    }
    auto options = take_rest(rest, '?').value_or("");
    if (rest.find('@') != std::string_view::npos) {
        return invalid(std::string{password});  // with a slash or an @ that is not percent-encoded
    }
    take_rest(rest, '/');
    for (std::optional<std::string_view> next = rest; next;) {
        auto host = *next;
        next = take_rest(host, ',');
        if (auto checked = check_database_host(host); !checked) {
            return std::move(checked).error();
        }
    }
    for (std::optional<std::string_view> next = options; next;) {
        auto option = *next;
        next = take_rest(option, '&');
        take_rest(option, '=');
        if (option == "password" || option == "sslpassword") {
            return invalid(option == "password" ? std::string{password} : "has the password of a key in it");
        }
        if (option == "service") {
            return invalid("names a service of libpq, which could be any host");
        }
        if (option.find('%') != std::string_view::npos) {
            return invalid("is not a URL");  // it could be `password`
        }
    }
    return std::string{text};
}

// The problem of text that does not start with a digit.
core::error not_a_number(std::string_view text, std::string_view otherwise)
{
    return invalid(text.empty() ? "is empty" : text.front() == '-' ? "is negative" : otherwise);
}

}  // namespace

bool valid_host(std::string_view host)
{
    constexpr std::size_t longest = 253;  // RFC 1035 section 2.3.4
    const auto in_name = [](char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '_'; };
    if (host.empty() || host.size() > longest || !std::all_of(host.begin(), host.end(), in_name)) {
        return false;
    }
    const bool numeric = std::none_of(host.begin(), host.end(), is_letter);
    return !numeric || boost::urls::parse_ipv4_address(host).has_value();
}

std::optional<std::string> parse_host(std::string_view text)
{
    const bool bracketed = text.size() > 2 && text.front() == '[' && text.back() == ']';
    const auto v6 = boost::urls::parse_ipv6_address(bracketed ? text.substr(1, text.size() - 2) : text);
    if (v6) {
        return v6->to_string();
    }
    return valid_host(text) ? std::optional{std::string{text}} : std::nullopt;
}

core::result<core::duration> parse_duration(std::string_view text)
{
    if (text == "0") {
        return core::duration{0};
    }
    if (text.empty() || !is_digit(text.front())) {
        return not_a_number(text, "is not a duration");
    }
    std::uint64_t total = 0;
    auto next = duration_units.begin();
    while (!text.empty()) {
        const auto digits = take_while(text, is_digit);
        const auto name = take_while(text, is_letter);
        if (digits.empty()) {
            return invalid("is not a duration");
        }
        if (name.empty()) {
            return invalid(text.empty() ? "has no unit" : "is not a duration");
        }
        const auto found = std::find_if(next, duration_units.end(), [&](const unit& u) { return u.name == name; });
        if (found == duration_units.end()) {
            return invalid("is not a duration");
        }
        next = std::next(found);
        const auto number = to_number(digits);
        const auto part = number ? product(*number, found->factor) : std::nullopt;
        if (!part || *part > std::numeric_limits<std::int64_t>::max() - total) {
            return invalid("is too large");
        }
        total += *part;
    }
    return core::duration{static_cast<core::duration::rep>(total)};
}

core::result<std::uint64_t> parse_size(std::string_view text)
{
    if (text.empty() || !is_digit(text.front())) {
        return not_a_number(text, "is not a size");
    }
    const auto digits = take_while(text, is_digit);
    const auto found =
        std::find_if(size_units.begin(), size_units.end(), [&](const unit& u) { return u.name == text; });
    if (found == size_units.end()) {
        return invalid("is not a size");
    }
    const auto number = to_number(digits);
    const auto bytes = number ? product(*number, found->factor) : std::nullopt;
    if (!bytes) {
        return invalid("is too large");
    }
    return *bytes;
}

core::result<std::uint64_t> parse_count(std::string_view text)
{
    if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) {
        return not_a_number(text, "is not a whole number");
    }
    const auto number = to_number(text);
    if (!number) {
        return invalid("is too large");
    }
    return *number;
}

core::result<double> parse_share(std::string_view text)
{
    constexpr std::string_view expected = "is not a decimal fraction";
    if (text.empty() || !is_digit(text.front()) || !is_digit(text.back())) {
        return not_a_number(text, expected);
    }
    double value = 0;
    const auto* const begin = text.data();
    const auto* const end = begin + text.size();
    const auto read = std::from_chars(begin, end, value, std::chars_format::fixed);
    if (read.ec != std::errc{} || read.ptr != end) {
        return invalid(std::string{expected});
    }
    return value;
}

core::result<bool> parse_switch(std::string_view text)
{
    if (text == "true" || text == "True" || text == "TRUE") {
        return true;
    }
    if (text == "false" || text == "False" || text == "FALSE") {
        return false;
    }
    return invalid(text.empty() ? "is empty" : "is not a switch");
}

core::result<core::secret> parse_proxy(std::string_view text)
{
    if (text != core::proxy_of_environment && text != core::proxy_none) {
        if (auto read = core::proxy_address::parse(text); !read) {
            return std::move(read).error();
        }
    }
    return core::secret{std::string{text}};
}

core::result<endpoint> parse_endpoint(std::string_view text)
{
    const auto colon = text.rfind(':');
    if (text.empty() || colon == std::string_view::npos || text.ends_with(']')) {
        return invalid(text.empty() ? "is empty" : "has no port");
    }
    auto host = text.substr(0, colon);
    const auto port = text.substr(colon + 1);
    if (host.empty()) {
        return invalid("has no host");
    }
    const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (bracketed) {
        host = host.substr(1, host.size() - 2);
    }
    const bool v6 = boost::urls::parse_ipv6_address(host).has_value();
    if (v6 && !bracketed) {
        return invalid("has an IPv6 address without brackets");
    }
    if (bracketed ? !v6 : !valid_host(host)) {
        return invalid("has no valid host");
    }
    const auto number = parse_count(port);
    if (!number || *number > std::numeric_limits<std::uint16_t>::max()) {
        return invalid("has no valid port");
    }
    return endpoint{std::string{host}, static_cast<std::uint16_t>(*number)};
}

core::result<std::string> parse_store(std::string_view text)
{
    constexpr std::string_view file = "sqlite:";
    if (text.starts_with("postgresql://") || text.starts_with("postgres://")) {
        return checked_database_url(text);
    }
    if (text != "memory" && !text.starts_with(file)) {
        return invalid("is not a store");
    }
    return checked_file_name(text, file);
}

core::result<std::string> parse_audit(std::string_view text)
{
    constexpr std::string_view file = "file:";
    if (text != "off" && text != "stdout" && !text.starts_with(file)) {
        return invalid("is no place for the audit");
    }
    return checked_file_name(text, file);
}

std::string to_text(core::duration value)
{
    const auto count = static_cast<std::uint64_t>(value.count());
    if (count == 0) {
        return "0";
    }
    const auto fits = [&](const unit& u) { return count % u.factor == 0; };
    const auto found = std::find_if(duration_units.begin(), duration_units.end(), fits);
    return std::to_string(count / found->factor) + std::string{found->name};
}

std::string share_text(double value)
{
    std::array<char, 32> digits{};
    const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    return {digits.data(), written.ptr};
}

std::string size_text(std::uint64_t bytes)
{
    const auto fits = [&](const unit& u) {
        return bytes % u.factor == 0 && u.name != "GB" && u.name != "MB" && u.name != "kB";
    };
    const auto found = std::find_if(size_units.begin(), size_units.end(), fits);
    return bytes == 0 ? "0" : std::to_string(bytes / found->factor) + std::string{found->name};
}

std::string to_text(const endpoint& address)
{
    if (address.host.empty()) {
        return {};
    }
    const bool v6 = address.host.find(':') != std::string::npos;
    return (v6 ? '[' + address.host + ']' : address.host) + ':' + std::to_string(address.port);
}

bool is_loopback(const endpoint& address) noexcept
{
    const auto of_this_machine = core::parse_ip_block("127.0.0.0/8");
    const auto ip = core::parse_ip(address.host);
    if (!ip || !of_this_machine) {
        return address.host == "localhost";
    }
    return *ip == core::parse_ip("::1") || of_this_machine->contains(*ip);
}

}  // namespace config
