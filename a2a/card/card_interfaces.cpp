#include "a2a/card/card_interfaces.hpp"

#include "core/ascii.hpp"

#include <algorithm>
#include <utility>

namespace a2a {
namespace {

constexpr std::array<std::string_view, 3> bindings{"JSONRPC", "HTTP+JSON", "GRPC"};

// U+017F LATIN SMALL LETTER LONG S and U+212A KELVIN SIGN: Unicode folds no others to a letter of ASCII.
constexpr std::array<std::pair<std::string_view, char>, 2> letters_beyond_ascii{{{"\u017F", 's'}, {"\u212A", 'k'}}};

// The next byte that counts, folded, off the front of `name`; nothing at its end.
std::optional<char> take_folded(std::string_view& name) noexcept
{
    while (name.starts_with('-') || name.starts_with('_')) {
        name.remove_prefix(1);
    }
    for (const auto& [spelled, letter] : letters_beyond_ascii) {
        if (name.starts_with(spelled)) {
            name.remove_prefix(spelled.size());
            return letter;
        }
    }
    if (name.empty()) {
        return std::nullopt;
    }
    const char c = name.front();
    name.remove_prefix(1);
    return core::lower(c);
}

}  // namespace

bool same_name(std::string_view a, std::string_view b) noexcept
{
    for (;;) {
        const auto letter = take_folded(a);
        if (letter != take_folded(b)) {
            return false;
        }
        if (!letter) {
            return true;
        }
    }
}

const core::json* find_spelled(const core::json& object, std::string_view name)
{
    if (const auto* exact = core::member(object, name)) {
        return exact;
    }
    if (object.is_object()) {
        for (const auto& [key, value] : object.items()) {
            if (same_name(key, name)) {
                return &value;
            }
        }
    }
    return nullptr;
}

const std::string_view* known_binding(std::string_view name) noexcept
{
    const auto found = std::ranges::find_if(bindings, [&](std::string_view known) { return same_name(known, name); });
    return found == bindings.end() ? nullptr : &*found;
}

const served_binding* find_served(std::string_view name) noexcept
{
    const auto found =
        std::ranges::find_if(served_bindings, [&](const served_binding& b) { return same_name(b.name, name); });
    return found == served_bindings.end() ? nullptr : &*found;
}

std::string_view major_minor(std::string_view version) noexcept
{
    const auto dot = version.find('.');
    return dot == std::string_view::npos ? version : version.substr(0, version.find('.', dot + 1));
}

std::optional<bool> one_or_later(std::string_view version) noexcept
{
    const auto digits = version.substr(0, version.find('.'));
    if (digits.empty() || !std::ranges::all_of(digits, core::is_digit)) {
        return std::nullopt;
    }
    return std::ranges::any_of(digits, [](char c) { return c != '0'; });
}

}  // namespace a2a
