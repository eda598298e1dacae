// A value chosen by its name among those of an enum (core/choices.hpp). Pure.
#pragma once

#include "config/fields.hpp"
#include "config/problem.hpp"
#include "core/choices.hpp"
#include "core/error.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace config {

// Why a text is none of the names, as a predicate.
template <class Enum>
inline constexpr std::string_view not_chosen = "is not one of them";
template <>
inline constexpr std::string_view not_chosen<core::card_trust> = "is not one of the two";
template <>
inline constexpr std::string_view not_chosen<core::extended_card_access> = "is not one of the two";
template <>
inline constexpr std::string_view not_chosen<core::protocol> = "is not a protocol";
template <>
inline constexpr std::string_view not_chosen<core::card_shape> = "is not a shape of cards";
template <>
inline constexpr std::string_view not_chosen<core::signature_policy> = "is not a policy for signatures";
template <>
inline constexpr std::string_view not_chosen<core::log_level> = "is not a level";

template <class Enum>
std::vector<std::string_view> choice_names()
{
    std::vector<std::string_view> names;
    for (const auto& each : core::choices<Enum>) {
        names.push_back(each.name);
    }
    return names;
}

// Enum of an optional Enum too.
template <class T>
struct enum_in {
    using type = T;
};
template <class T>
struct enum_in<std::optional<T>> {
    using type = T;
};
template <class T>
using enum_of = typename enum_in<T>::type;

// "a, b or c", with each name between two of `quote`.
std::string listed(const std::vector<std::string_view>& names, std::string_view quote = "");

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
    const auto expected = listed(choice_names<Enum>());
    const auto* text = read_text(f, expected, problems);
    if (text == nullptr) {
        return std::nullopt;
    }
    const auto value = parse_choice<Enum>(*text);
    if (!value) {
        refuse(f, value.error().detail, expected, problems);
        return std::nullopt;
    }
    return *value;
}

}  // namespace config
