#include "gateway/relay/forwarded.hpp"

#include "core/ascii.hpp"
#include "net/http1/head_writer.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>

namespace gateway::relay {
namespace {

using core::equal_ignoring_case;
using net::http1::field_list;
using net::http1::field_name;

constexpr std::string_view for_name = "X-Forwarded-For";
constexpr std::string_view host_name = "X-Forwarded-Host";
constexpr std::string_view scheme_name = "X-Forwarded-Proto";
constexpr std::size_t most_elements = 100;

bool is_port(std::string_view text) noexcept
{
    return !text.empty() && text.size() <= 5 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// The address of "192.0.2.1", "192.0.2.1:80", "2001:db8::1", "[2001:db8::1]" or "[2001:db8::1]:80"; empty: none of them.
std::string_view address_of(std::string_view node) noexcept
{
    auto address = node;
    std::string_view port = "0";
    if (node.starts_with('[')) {
        const auto end = std::min(node.find(']'), node.size() - 1);
        address = node.substr(1, end - 1);
        if (end + 1 < node.size()) {
            port = node[end + 1] == ':' ? node.substr(end + 2) : std::string_view{};
        }
        if (node[end] != ']' || address.find(':') == std::string_view::npos) {
            return {};
        }
    } else if (std::count(node.begin(), node.end(), ':') == 1) {
        address = node.substr(0, node.find(':'));
        port = node.substr(node.find(':') + 1);
    }
    return is_port(port) && core::parse_ip(address) ? address : std::string_view{};
}

// A walk from the peer towards the caller.
class chain_walk {
public:
    chain_walk(std::string_view peer, const proxy_trust& proxies) noexcept
        : proxies_{proxies},
          client_{peer}
    {
    }

    // One element further to the left. False: the walk has ended.
    bool step(std::string_view node) noexcept
    {
        const auto address = address_of(node);
        if (address.empty() || ++steps_ > most_elements) {
            return false;
        }
        client_ = address;
        return proxies_.trusts(address);
    }

    std::string_view client() const noexcept { return client_; }

private:
    const proxy_trust& proxies_;
    std::string_view client_;
    std::size_t steps_ = 0;
};

// One line of X-Forwarded-For. False: the walk has ended.
bool walk_list(std::string_view list, chain_walk& walk) noexcept
{
    for (;;) {
        const auto comma = list.rfind(',');
        const auto element = comma == std::string_view::npos ? list : list.substr(comma + 1);
        if (!walk.step(core::trim(element))) {
            return false;
        }
        if (comma == std::string_view::npos) {
            return true;
        }
        list = list.substr(0, comma);
    }
}

// Reads one line of Forwarded (RFC 7239 section 4), element by element.
class forwarded_reader {
public:
    explicit forwarded_reader(std::string_view line) noexcept
        : rest_{line}
    {
    }

    // The value of `for` in the next element, without quotes; empty if it has none. Nothing: the line is over or malformed.
    std::optional<std::string_view> next() noexcept
    {
        if (over_) {
            return std::nullopt;
        }
        std::string_view node;
        for (;;) {
            const auto at = std::min(rest_.find_first_of("=,;"), rest_.size());
            const auto name = core::trim(rest_.substr(0, at));
            const bool is_pair = at < rest_.size() && rest_[at] == '=' && !name.empty();
            rest_.remove_prefix(std::min(at + 1, rest_.size()));
            const auto value = is_pair ? take_value() : std::nullopt;
            if (!value) {
                malformed_ = true;
                over_ = true;
                return std::nullopt;
            }
            node = equal_ignoring_case(name, "for") ? *value : node;
            over_ = rest_.empty();
            if (over_) {
                return node;
            }
            const char separator = rest_.front();
            rest_.remove_prefix(1);
            if (separator == ',') {
                return node;
            }
        }
    }

    bool malformed() const noexcept { return malformed_; }

private:
    // Up to the separator, which stays in front of the rest. An escape within quotes is taken for malformed: no address
    // needs one.
    std::optional<std::string_view> take_value() noexcept
    {
        std::string_view value;
        if (rest_.starts_with('"')) {
            const auto end = rest_.find_first_of("\"\\", 1);
            if (end == std::string_view::npos || rest_[end] == '\\') {
                return std::nullopt;
            }
            value = rest_.substr(1, end - 1);
            rest_.remove_prefix(end + 1);
        } else {
            value = rest_.substr(0, rest_.find_first_of(" \t,;\"="));
            rest_.remove_prefix(value.size());
            if (value.empty()) {
                return std::nullopt;
            }
        }
        rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
        if (!rest_.empty() && rest_.front() != ',' && rest_.front() != ';') {
            return std::nullopt;
        }
        return value;
    }

    std::string_view rest_;
    bool over_ = false;
    bool malformed_ = false;
};

bool can_be_read(std::string_view line) noexcept
{
    forwarded_reader reader{line};
    while (reader.next()) {
    }
    return !reader.malformed();
}

// One line of Forwarded. False: the walk has ended.
bool walk_forwarded(std::string_view line, chain_walk& walk) noexcept
{
    std::array<std::string_view, most_elements> latest;  // the elements' nodes, over and over
    std::size_t count = 0;
    forwarded_reader reader{line};
    while (const auto node = reader.next()) {
        latest[count++ % latest.size()] = *node;
    }
    if (reader.malformed()) {
        return false;
    }
    for (std::size_t left = std::min(count, latest.size()); left > 0; --left) {
        if (!walk.step(latest[--count % latest.size()])) {
            return false;
        }
    }
    return count == 0;
}

bool named(const net::http1::field& line, std::string_view name) noexcept
{
    return line.id == field_name::x_forwarded && equal_ignoring_case(line.name, name);
}

// An IPv4 caller of a socket that takes both families.
std::string_view without_mapping(std::string_view address) noexcept
{
    constexpr std::string_view mapped = "::ffff:";
    return address.starts_with(mapped) && address.find('.') != std::string_view::npos ? address.substr(mapped.size())
                                                                                      : address;
}

// RFC 7239 section 6: an IPv6 address in brackets and quotes.
void append_forwarded(std::string& text, const forwarding_hop& hop)
{
    const auto peer = without_mapping(hop.peer);
    const bool v6 = peer.find(':') != std::string_view::npos;
    text.append(v6 ? "for=\"[" : "for=").append(peer).append(v6 ? "]\"" : "");
    if (!hop.host.empty()) {
        text.append(";host=\"").append(hop.host).append("\"");
    }
    text.append(";proto=").append(hop.scheme);
}

// The lines of a chain as one, with a comma behind each.
template <class Wanted>
void append_chain(std::string& text, const field_list& fields, Wanted wanted)
{
    for (const auto& line : fields) {
        if (wanted(line) && !line.value.empty()) {
            text.append(line.value).append(", ");
        }
    }
}

void write_trusted(std::string& text, const field_list& fields, const forwarding_hop& hop)
{
    net::http1::head_writer out{text};
    bool has_host = false;
    bool has_scheme = false;
    bool has_forwarded = false;
    bool readable = true;
    for (const auto& line : fields) {
        if (line.id == field_name::forwarded) {
            has_forwarded = true;
            readable = readable && can_be_read(line.value);
        }
        const bool passes = line.id == field_name::x_forwarded && line.name.find('_') == std::string_view::npos;
        if (!passes || named(line, for_name)) {
            continue;
        }
        has_host = has_host || named(line, host_name);
        has_scheme = has_scheme || named(line, scheme_name);
        out.field(line.name, line.value);
    }
    text.append(for_name).append(": ");
    append_chain(text, fields, [](const auto& line) { return named(line, for_name); });
    text.append(without_mapping(hop.peer)).append("\r\n");
    if (!has_scheme) {
        out.field(scheme_name, hop.scheme);
    }
    if (!has_host && !hop.host.empty()) {
        out.field(host_name, hop.host);
    }
    if (has_forwarded && readable) {
        text.append("Forwarded: ");
        append_chain(text, fields, [](const auto& line) { return line.id == field_name::forwarded; });
        append_forwarded(text, hop);
        text.append("\r\n");
    }
}

}  // namespace

proxy_trust::proxy_trust(const std::vector<std::string>& blocks)
{
    for (const auto& text : blocks) {
        if (const auto block = core::parse_ip_block(text)) {
            blocks_.push_back(*block);
        }
    }
}

bool proxy_trust::trusts(std::string_view address) const noexcept
{
    const auto parsed = core::parse_ip(address);
    return parsed && std::any_of(blocks_.begin(), blocks_.end(), [&](const core::ip_block& block) {
               return block.contains(*parsed);
           });
}

std::string_view client_address(std::string_view peer, const field_list& fields, const proxy_trust& proxies) noexcept
{
    chain_walk walk{peer, proxies};
    const bool listed =
        std::any_of(fields.begin(), fields.end(), [](const auto& line) { return named(line, for_name); });
    for (auto line = fields.rbegin(); line != fields.rend(); ++line) {
        if (listed ? named(*line, for_name) && !walk_list(line->value, walk)
                   : line->id == field_name::forwarded && !walk_forwarded(line->value, walk)) {
            break;
        }
    }
    return walk.client();
}

void write_forwarding_fields(std::string& text, const field_list& fields, const forwarding_hop& hop)
{
    if (hop.trusted) {
        write_trusted(text, fields, hop);
        return;
    }
    // Few pieces are made: each costs a call.
    text.append("X-Forwarded-For: ").append(without_mapping(hop.peer));
    text.append("\r\nX-Forwarded-Proto: ").append(hop.scheme);
    if (!hop.host.empty()) {
        text.append("\r\nX-Forwarded-Host: ").append(hop.host);
    }
    text.append("\r\n");
}

}  // namespace gateway::relay
