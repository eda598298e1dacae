#include "core/host_names.hpp"

#include "core/ascii.hpp"

#include <algorithm>

namespace core {
namespace {

constexpr std::string_view id_place = "{id}";

bool is_label(std::string_view label) noexcept
{
    constexpr std::size_t longest = 63;  // RFC 1035 section 2.3.4
    const auto allowed = [](char c) { return is_letter(c) || is_digit(c) || c == '-'; };
    return !label.empty() && label.size() <= longest && label.front() != '-' && label.back() != '-' &&
           std::ranges::all_of(label, allowed);
}

bool is_id(std::string_view text) noexcept
{
    const auto allowed = [](char c) { return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-'; };
    return !text.empty() && std::ranges::all_of(text, allowed);
}

// A label of another script, which readers show as that (RFC 5890 section 2.3.2.1): whoever chooses an id could make it look like
// the name of another agent.
bool is_encoded(std::string_view name) noexcept
{
    return name.starts_with("xn--");
}

std::string filled(std::string_view pattern, std::string_view id)
{
    std::string name{pattern};
    return name.replace(pattern.find(id_place), id_place.size(), id);
}

}  // namespace

bool valid_host_name(std::string_view name) noexcept
{
    if (name.size() > longest_host_name) {
        return false;
    }
    for (;;) {
        const auto dot = name.find('.');
        const auto label = name.substr(0, dot);
        if (!is_label(label)) {
            return false;
        }
        if (dot == std::string_view::npos) {
            return !std::ranges::all_of(label, is_digit);
        }
        name.remove_prefix(dot + 1);
    }
}

bool valid_host_pattern(std::string_view pattern)
{
    const auto first = pattern.substr(0, pattern.find('.'));
    const auto at = first.find(id_place);
    const bool once = at != std::string_view::npos && pattern.find(id_place, at + 1) == std::string_view::npos;
    return once && first.size() < pattern.size() && in_lower_case(pattern) == pattern &&
           valid_host_name(filled(pattern, "a"));
}

std::string host_of_agent(std::string_view pattern, std::string_view id)
{
    if (pattern.empty() || !is_id(id)) {
        return {};
    }
    auto name = filled(pattern, id);
    return valid_host_name(name) && !is_encoded(name) ? name : std::string{};
}

std::string_view agent_of_host(std::string_view pattern, std::string_view name) noexcept
{
    const auto at = pattern.find(id_place);
    if (at == std::string_view::npos) {
        return {};
    }
    const auto before = pattern.substr(0, at);
    const auto after = pattern.substr(at + id_place.size());
    if (name.size() <= before.size() + after.size() || !name.starts_with(before) || !name.ends_with(after)) {
        return {};
    }
    const auto id = name.substr(before.size(), name.size() - before.size() - after.size());
    return is_id(id) && valid_host_name(name) && !is_encoded(name) ? id : std::string_view{};
}

}  // namespace core
