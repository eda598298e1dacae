#include "config/json_value.hpp"

#include "config/values.hpp"
#include "core/ascii.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

namespace config {
namespace {

using core::is_digit;

std::optional<core::json> integer(std::string_view text)
{
    int base = 10;
    if (text.starts_with("0x") || text.starts_with("0o")) {
        base = text[1] == 'x' ? 16 : 8;
        text.remove_prefix(2);
    }
    const bool has_sign = text.starts_with('+') || text.starts_with('-');
    const auto digits = text.substr(has_sign ? 1 : 0);
    if (digits.starts_with('-') || (has_sign && base != 10)) {
        return {};
    }
    text.remove_prefix(text.starts_with('+') ? 1 : 0);
    const auto whole = [&](auto value) -> std::optional<core::json> {
        const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value, base);
        return failed == std::errc{} && end == text.data() + text.size() ? std::optional<core::json>{value}
                                                                         : std::nullopt;
    };
    const auto narrow = whole(std::int64_t{});
    return narrow ? narrow : whole(std::uint64_t{});
}

// [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
bool looks_like_float(std::string_view text)
{
    const auto digits = [&] {
        const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
        const auto count = static_cast<std::size_t>(end - text.begin());
        text.remove_prefix(count);
        return count;
    };
    const auto skip = [&](std::string_view any) {
        const bool found = !text.empty() && any.find(text.front()) != std::string_view::npos;
        text.remove_prefix(found ? 1 : 0);
        return found;
    };
    skip("+-");
    const auto before = digits();
    const auto after = skip(".") ? digits() : 0;
    if (before + after == 0) {
        return false;
    }
    if (skip("eE")) {
        skip("+-");
        if (digits() == 0) {
            return false;
        }
    }
    return text.empty();
}

// A decimal number as 0.digits * 10^exponent, without zeros at either end: equal numbers are equal here.
struct decimal {
    std::string digits;
    long exponent = 0;

    friend bool operator==(const decimal&, const decimal&) = default;
};

// `text` looks like a float, and its exponent is one that a double has.
decimal to_decimal(std::string_view text)
{
    decimal value;
    bool fraction = false;
    std::size_t i = 0;
    for (; i < text.size() && text[i] != 'e' && text[i] != 'E'; ++i) {
        if (text[i] == '.') {
            fraction = true;
        } else if (is_digit(text[i])) {
            const bool leading = value.digits.empty() && text[i] == '0';
            if (!leading) {
                value.digits += text[i];
            }
            value.exponent += fraction ? (leading ? -1 : 0) : (leading ? 0 : 1);
        }
    }
    if (i < text.size()) {
        const auto from = i + (text[i + 1] == '+' ? 2 : 1);
        long exponent = 0;
        std::from_chars(text.data() + from, text.data() + text.size(), exponent);
        value.exponent += exponent;
    }
    value.digits.erase(value.digits.find_last_not_of('0') + 1);
    if (value.digits.empty()) {
        value.exponent = 0;
    }
    return value;
}

std::optional<core::json> real(std::string_view text)
{
    if (!looks_like_float(text)) {
        return {};
    }
    const auto unsigned_text = text.substr(text.starts_with('+') ? 1 : 0);
    double value = 0;
    const auto [end, failed] =
        std::from_chars(unsigned_text.data(), unsigned_text.data() + unsigned_text.size(), value);
    if (failed != std::errc{} || end != unsigned_text.data() + unsigned_text.size()) {
        return {};
    }
    std::array<char, 64> shortest{};
    const auto written =
        std::to_chars(shortest.data(), shortest.data() + shortest.size(), value, std::chars_format::scientific);
    const std::string_view again{shortest.data(), static_cast<std::size_t>(written.ptr - shortest.data())};
    return to_decimal(text) == to_decimal(again) ? std::optional<core::json>{value} : std::nullopt;
}

core::json scalar_to_json(const node& scalar)
{
    const auto& text = scalar.text;
    if (!scalar.plain) {
        return text;
    }
    if (const auto on = parse_switch(text)) {
        return *on;
    }
    if (auto number = integer(text)) {
        return std::move(*number);
    }
    if (auto number = real(text)) {
        return std::move(*number);
    }
    return text;
}

node to_node(const core::json& value, unsigned& count)
{
    node out;
    out.at = {1, ++count};
    if (value.is_object()) {
        out.is = node::kind::map;
        for (const auto& [key, below] : value.items()) {
            out.keys.push_back({key, {1, ++count}});
            out.items.push_back(to_node(below, count));
        }
    } else if (value.is_array()) {
        out.is = node::kind::list;
        for (const auto& below : value) {
            out.items.push_back(to_node(below, count));
        }
    } else if (!value.is_null()) {
        out.is = node::kind::scalar;
        out.plain = !value.is_string();
        out.text = value.is_string() ? value.get_ref<const std::string&>() : core::to_text(value);
    }
    return out;
}

}  // namespace

// The recursion is as deep as the document, which core::json_limits bound.
node to_node(const core::json& value)
{
    unsigned count = 0;
    return to_node(value, count);
}

void append_member(core::json& object, const std::string& key, core::json value)
{
    auto& members = static_cast<core::json::object_t::Container&>(object.get_ref<core::json::object_t&>());
    members.emplace_back(key, std::move(value));
}

// The recursion is as deep as the document, which document_limits bound.
core::json to_json(const node& value)
{
    switch (value.is) {
        case node::kind::null:
            return nullptr;
        case node::kind::scalar:
            return scalar_to_json(value);
        case node::kind::list: {
            auto list = core::json::array();
            for (const auto& item : value.items) {
                list.push_back(to_json(item));
            }
            return list;
        }
        case node::kind::map: {
            auto object = core::json::object();
            for (std::size_t i = 0; i < value.items.size(); ++i) {
                append_member(object, value.keys[i].text, to_json(value.items[i]));
            }
            return object;
        }
    }
    return nullptr;
}

}  // namespace config
