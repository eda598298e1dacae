#include "config/expand.hpp"

#include "core/ascii.hpp"

#include <algorithm>
#include <utility>

namespace config {
namespace {

core::error invalid(std::string detail)
{
    return core::gateway_error(core::errc::config_invalid, std::move(detail));
}

constexpr std::string_view input_prefix = "input:";

core::error not_set(std::string_view written, const std::string& name)
{
    const auto shown = shown_key(name);
    if (written.starts_with(input_prefix)) {
        return invalid(
            "the variable " + shown + " is not set; it replaces the input " +
            shown_key(written.substr(input_prefix.size())) + ", which only an editor can ask for"
        );
    }
    return invalid("the variable " + shown + " is not set; ${" + shown + ":-default} gives it a default");
}

// `inside` is what stands between the braces.
core::result<std::string> value_of(std::string_view inside, const environment& variables)
{
    const auto separator = inside.find(":-");
    const auto name = variable_of(inside);
    if (!is_variable_name(name)) {
        return invalid(
            "a ${ is not followed by a variable's name; expected ${NAME} or ${NAME:-default} ($${ for a literal ${)"
        );
    }
    auto value = variables ? variables(name) : std::nullopt;
    if (separator == std::string_view::npos) {
        if (!value) {
            return not_set(inside, name);
        }
        return std::move(*value);
    }
    const auto fallback = inside.substr(separator + 2);
    if (fallback.find("${") != std::string_view::npos) {
        return invalid("the default of the variable " + shown_key(name) + " has a variable in it; expected plain text");
    }
    return value && !value->empty() ? std::move(*value) : std::string{fallback};
}

class expansion {
public:
    expansion(const environment& variables, problem_list& problems, std::size_t left)
        : variables_{variables},
          problems_{problems},
          left_{left}
    {
    }

    // As deep as the document, which document_limits bound.
    void walk(node& value, const std::string& path)
    {
        if (value.is == node::kind::scalar) {
            expand_scalar(value, path);
        }
        for (std::size_t i = 0; i < value.items.size(); ++i) {
            const bool list = value.is == node::kind::list;
            walk(value.items[i], list ? path + '[' + std::to_string(i) + ']' : join(path, value.keys[i].text));
        }
    }

private:
    void expand_scalar(node& scalar, const std::string& path)
    {
        if (scalar.text.find("${") == std::string::npos) {
            return;
        }
        auto expanded = expand(scalar.text, variables_, left_);
        if (!expanded) {
            scalar.unusable = true;
            problems_.add(scalar.at, path, expanded.error().detail);
            return;
        }
        left_ -= expanded->size();
        scalar.text = std::move(*expanded);
        scalar.plain = false;
        scalar.from_outside = true;
    }

    const environment& variables_;
    problem_list& problems_;
    std::size_t left_;
};

}  // namespace

bool is_variable_name(std::string_view text) noexcept
{
    return !text.empty() && !core::is_digit(text.front()) &&
           std::ranges::all_of(text, [](char c) { return core::is_letter(c) || core::is_digit(c) || c == '_'; });
}

std::string variable_of(std::string_view inside)
{
    constexpr std::string_view environment_prefix = "env:";
    auto name = inside.substr(0, inside.find(":-"));
    if (name == "userHome") {
        return "HOME";
    }
    if (name.starts_with(environment_prefix)) {
        name.remove_prefix(environment_prefix.size());
    }
    if (!name.starts_with(input_prefix)) {
        return std::string{name};
    }
    name.remove_prefix(input_prefix.size());
    std::string variable{name.empty() ? "" : "INPUT_"};  // an input `path` is not PATH
    for (const char c : name) {
        variable += core::is_letter(c) ? static_cast<char>(c & ~0x20) : core::is_digit(c) ? c : '_';
    }
    return variable;
}

core::result<std::string> expand(std::string_view text, const environment& variables, std::size_t most)
{
    std::string out;
    for (;;) {
        const auto dollar = text.find("${");
        const bool escaped = dollar != std::string_view::npos && dollar > 0 && text[dollar - 1] == '$';
        out += text.substr(0, escaped ? dollar - 1 : dollar);
        out += escaped ? "${" : "";
        if (out.size() > most) {
            return invalid("is too long with its variables");
        }
        if (dollar == std::string_view::npos) {
            return out;
        }
        if (escaped) {
            text.remove_prefix(dollar + 2);
            continue;
        }
        text.remove_prefix(dollar);
        const auto end = text.find('}');
        if (end == std::string_view::npos) {
            return invalid("a ${ has no }; expected ${NAME} or ${NAME:-default} ($${ for a literal ${)");
        }
        auto value = value_of(text.substr(2, end - 2), variables);
        if (!value) {
            return value.error();
        }
        out += *value;
        text.remove_prefix(end + 1);
    }
}

void expand_all(node& root, const environment& variables, problem_list& problems, std::size_t most)
{
    expansion{variables, problems, most}.walk(root, "");
}

}  // namespace config
