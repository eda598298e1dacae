#include "core/agent.hpp"

#include "core/ascii.hpp"
#include "core/choices.hpp"

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

std::string_view name(protocol value) noexcept
{
    return chosen_name(value);
}

std::string_view name(card_shape value) noexcept
{
    return chosen_name(value);
}

std::string_view name(card_trust value) noexcept
{
    return chosen_name(value);
}

std::string_view name(extended_card_access value) noexcept
{
    return chosen_name(value);
}

bool passes_extended_card(const agent& record) noexcept
{
    const bool credentials = !record.bearer.empty() || !record.cert_file.empty();
    return record.extended_card == extended_card_access::proxy || !credentials;
}

std::string_view name(signature_policy value) noexcept
{
    return chosen_name(value);
}

}  // namespace core
