#include "config/expand.hpp"

#include <algorithm>
#include <utility>

namespace config {
namespace {

bool valid_name(std::string_view name)
{
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    return !name.empty() && letter(name.front()) &&
           std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || digit(c); });
}

core::error invalid(std::string detail)
{
    return core::gateway_error(core::errc::config_invalid, std::move(detail));
}

// `inside` is what stands between the braces.
core::result<std::string> value_of(std::string_view inside, const environment& variables)
{
    const auto separator = inside.find(":-");
    const auto name = inside.substr(0, separator);
    if (!valid_name(name)) {
        return invalid(
            "a ${ is not followed by a variable's name; ${NAME} or ${NAME:-default} is meant ($${ for a literal ${)"
        );
    }
    auto value = variables ? variables(name) : std::nullopt;
    if (separator == std::string_view::npos) {
        if (!value) {
            return invalid(
                "the variable " + shown_key(name) + " is not set; ${" + shown_key(name) +
                ":-default} gives it a default"
            );
        }
        return std::move(*value);
    }
    const auto fallback = inside.substr(separator + 2);
    if (fallback.find("${") != std::string_view::npos) {
        return invalid("the default of the variable " + shown_key(name) + " has a variable in it; plain text is meant");
    }
    return value && !value->empty() ? std::move(*value) : std::string{fallback};
}

void expand_scalar(node& scalar, std::string_view path, const environment& variables, problem_list& problems)
{
    if (scalar.text.find("${") == std::string::npos) {
        return;
    }
    auto expanded = expand(scalar.text, variables);
    if (!expanded) {
        scalar.unusable = true;
        problems.add(scalar.at, path, expanded.error().detail);
        return;
    }
    scalar.text = std::move(*expanded);
    scalar.plain = false;
    scalar.from_outside = true;
}

// As deep as the document, which document_limits bound.
void walk(node& value, const std::string& path, const environment& variables, problem_list& problems)
{
    switch (value.is) {
        case node::kind::null:
            return;
        case node::kind::scalar:
            expand_scalar(value, path, variables, problems);
            return;
        case node::kind::list:
            for (std::size_t i = 0; i < value.items.size(); ++i) {
                walk(value.items[i], path + '[' + std::to_string(i) + ']', variables, problems);
            }
            return;
        case node::kind::map:
            for (std::size_t i = 0; i < value.items.size(); ++i) {
                walk(value.items[i], join(path, value.keys[i].text), variables, problems);
            }
            return;
    }
}

}  // namespace

core::result<std::string> expand(std::string_view text, const environment& variables)
{
    std::string out;
    while (!text.empty()) {
        if (text.starts_with("$${")) {
            out += "${";
            text.remove_prefix(3);
            continue;
        }
        if (!text.starts_with("${")) {
            out += text.front();
            text.remove_prefix(1);
            continue;
        }
        const auto end = text.find('}');
        if (end == std::string_view::npos) {
            return invalid("a ${ has no }; ${NAME} or ${NAME:-default} is meant ($${ for a literal ${)");
        }
        auto value = value_of(text.substr(2, end - 2), variables);
        if (!value) {
            return value.error();
        }
        out += *value;
        text.remove_prefix(end + 1);
    }
    return out;
}

void expand_all(node& root, const environment& variables, problem_list& problems)
{
    walk(root, "", variables, problems);
}

}  // namespace config
