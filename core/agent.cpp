#include "core/agent.hpp"

#include "core/ascii.hpp"

#include <algorithm>

namespace core {

bool valid_agent_id(std::string_view id) noexcept
{
    constexpr std::size_t longest = 128;
    const auto allowed = [](char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '_' || c == '-'; };
    // Clients that have dropped an agent's id arrive at "/agents/.well-known": no agent has that name.
    return !id.empty() && id.size() <= longest && id != "." && id != ".well-known" &&
           id.find("..") == std::string_view::npos && std::all_of(id.begin(), id.end(), allowed);
}

std::string_view name(protocol p) noexcept
{
    switch (p) {
        case protocol::a2a:
            return "a2a";
        case protocol::mcp:
            return "mcp";
    }
    return "a2a";
}

std::string_view name(card_shape s) noexcept
{
    switch (s) {
        case card_shape::automatic:
            return "auto";
        case card_shape::v1:
            return "v1";
        case card_shape::v03:
            return "v0.3";
        case card_shape::hybrid:
            return "hybrid";
    }
    return "auto";
}

std::string_view name(card_trust t) noexcept
{
    switch (t) {
        case card_trust::never:
            return "never";
        case card_trust::same_origin:
            return "same-origin";
    }
    return "never";
}

std::string_view name(extended_card_access a) noexcept
{
    switch (a) {
        case extended_card_access::automatic:
            return "auto";
        case extended_card_access::proxy:
            return "proxy";
    }
    return "auto";
}

bool passes_extended_card(const agent& which) noexcept
{
    const bool credentials = !which.bearer.empty() || !which.cert_file.empty();
    return which.extended_card == extended_card_access::proxy || !credentials;
}

std::string_view name(signature_policy p) noexcept
{
    switch (p) {
        case signature_policy::strip:
            return "strip";
        case signature_policy::verify:
            return "verify";
        case signature_policy::sign:
            return "sign";
        case signature_policy::verify_and_sign:
            return "verify_and_sign";
    }
    return "strip";
}

}  // namespace core
