#include "core/mcp_bundle.hpp"

#include "core/ascii.hpp"

#include <algorithm>

namespace core {
namespace {

constexpr std::size_t longest_prefix = 32;
constexpr std::string_view without_a_letter = "agent";

bool is_of_prefix(char c) noexcept
{
    return is_letter(c) || is_digit(c) || c == '-' || c == '_';
}

}  // namespace

bool valid_bundle_prefix(std::string_view as) noexcept
{
    return !as.empty() && as.size() <= longest_prefix && is_letter(as.front()) && as.back() != '_' &&
           as.find("__") == std::string_view::npos && std::ranges::all_of(as, is_of_prefix);
}

std::string proposed_prefix(std::string_view id)
{
    std::string as;
    for (const char each : id) {
        const char c = is_of_prefix(each) ? each : '-';
        const bool begins = as.empty() && !is_letter(c);
        if (!begins && !(c == '_' && as.back() == '_') && as.size() < longest_prefix) {
            as += c;
        }
    }
    while (!as.empty() && (as.back() == '_' || as.back() == '-')) {
        as.pop_back();
    }
    return as.empty() ? std::string{without_a_letter} : as;
}

std::string bundle_scheme(std::string_view as)
{
    auto scheme = in_lower_case(as);
    std::ranges::replace(scheme, '_', '-');
    return scheme;
}

}  // namespace core
