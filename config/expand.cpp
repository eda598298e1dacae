#include "config/expand.hpp"

#include "config/agent_table.hpp"
#include "config/mcp_program.hpp"
#include "config/problem.hpp"
#include "core/ascii.hpp"
#include "core/secret.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace config {
namespace {

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

    // The recursion is as deep as the document, which document_limits bound.
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

void refuse_placeholder(const node::name& key, const node& value, const std::string& path, problem_list& problems)
{
    if (value.text == core::masked) {
        problems.add(key.at, path, "is the mask of a credential; expected the credential itself");
    } else if (value.text.find("${") != std::string::npos) {
        problems.add(key.at, path, "has a variable in it, which only the configuration file may; expected its value");
    }
}

// At any depth.
void refuse_any_placeholder(const node::name& key, const node& value, const std::string& path, problem_list& problems)
{
    refuse_placeholder(key, value, path, problems);
    for (std::size_t i = 0; i < value.keys.size(); ++i) {
        refuse_any_placeholder(value.keys[i], value.items[i], join(path, value.keys[i].text), problems);
    }
}

// The mask of a query, as an address with one is shown.
void refuse_masked_query(const node& value, const place& at, const std::string& path, problem_list& problems)
{
    if (value.text.find(std::string{"?"} + core::masked) != std::string::npos) {
        problems.add(at, path, "has the mask of a query; expected the query itself");
    }
    for (std::size_t i = 0; i < value.items.size(); ++i) {
        refuse_masked_query(value.items[i], value.items[i].at, path + '[' + std::to_string(i) + ']', problems);
    }
}

void refuse_masked_proxy(const node& value, const place& at, const std::string& path, problem_list& problems)
{
    if (value.text.find(std::string{core::masked} + '@') != std::string::npos) {
        problems.add(at, path, "has the mask of a credential; expected the credential itself");
    }
}

// `map` is a transport, or the environment of one in its short form.
void refuse_environment(const node& map, const std::string& path, problem_list& problems)
{
    for (std::size_t i = 0; i < map.keys.size(); ++i) {
        const auto& key = map.keys[i];
        const auto& value = map.items[i];
        if (loads_code(key.text)) {
            problems
                .add(key.at, join(path, key.text), "decides which code is loaded; the configuration file may set it");
        } else if (value.is == node::kind::scalar) {
            refuse_placeholder(key, value, join(path, key.text), problems);
            refuse_masked_query(value, key.at, join(path, key.text), problems);
        } else if (key.text == "env" || key.text == "headers") {
            refuse_environment(value, join(path, key.text), problems);
        }
    }
}

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

void refuse_placeholders(const node& record, std::string_view path, problem_list& problems)
{
    for (std::size_t i = 0; i < record.keys.size(); ++i) {
        const auto& key = record.keys[i];
        const auto& value = record.items[i];
        const auto below = join(path, key.text);
        const auto* row = find_agent_setting(key.text);
        if (row == nullptr) {
            continue;
        }
        const auto refuse_members = [&] {
            for (std::size_t j = 0; j < value.keys.size(); ++j) {
                refuse_placeholder(value.keys[j], value.items[j], join(below, value.keys[j].text), problems);
            }
        };
        switch (row->form().masked) {
            case masked_part::nothing:
                break;
            case masked_part::whole:
                refuse_placeholder(key, value, below, problems);
                break;
            case masked_part::members:
                refuse_members();
                break;
            case masked_part::anywhere:
                refuse_any_placeholder(key, value, below, problems);
                break;
            case masked_part::query:
                refuse_masked_query(value, key.at, below, problems);
                break;
            case masked_part::proxy:
                refuse_masked_proxy(value, key.at, below, problems);
                break;
            case masked_part::environment:
                refuse_environment(value, below, problems);
                break;
        }
    }
}

}  // namespace config
