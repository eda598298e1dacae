// A value chosen by its name among those of an enum (core/choices.hpp). Pure.
#pragma once

#include "config/fields.hpp"
#include "config/problem.hpp"
#include "core/choices.hpp"
#include "core/error.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace config {

// The problem of a text that is none of the names, as a predicate.
template <class Enum>
inline constexpr std::string_view not_chosen = "is not one of them";
template <>
inline constexpr std::string_view not_chosen<core::card_trust> = "is not one of the two";
template <>
inline constexpr std::string_view not_chosen<core::push_mode> = "is not one of the two";
template <>
inline constexpr std::string_view not_chosen<core::skill_visibility> = "is not one of the two";
template <>
inline constexpr std::string_view not_chosen<core::protocol> = "is not a protocol";
template <>
inline constexpr std::string_view not_chosen<core::card_shape> = "is not a shape of cards";
template <>
inline constexpr std::string_view not_chosen<core::a2a_dialect> = "is not a dialect of A2A";
template <>
inline constexpr std::string_view not_chosen<core::error_edition> = "is not one of the two";
template <>
inline constexpr std::string_view not_chosen<core::signature_policy> = "is not a policy for signatures";
template <>
inline constexpr std::string_view not_chosen<core::log_level> = "is not a level";
template <>
inline constexpr std::string_view not_chosen<core::log_format> = "is not a format";

// "a, b or c", with each name between two of `quote`.
template <class Enum>
std::string listed(std::string_view quote = "")
{
    const auto& all = core::choices<Enum>;
    std::string text;
    for (std::size_t i = 0; i < all.size(); ++i) {
        text += i == 0 ? "" : i + 1 == all.size() ? " or " : ", ";
        text.append(quote).append(all[i].name).append(quote);
    }
    return text;
}

// The detail of the error is a predicate.
template <class Enum>
core::result<Enum> parse_choice(std::string_view text)
{
    for (const auto& each : core::choices<Enum>) {
        if (each.name == text) {
            return each.value;
        }
    }
    return core::gateway_error(core::errc::config_invalid, std::string{text.empty() ? "is empty" : not_chosen<Enum>});
}

// Nothing: it is reported.
template <class Enum>
std::optional<Enum> read_choice(const field& f, problem_list& problems)
{
    return read_parsed(f, listed<Enum>(), parse_choice<Enum>, problems);
}

}  // namespace config
