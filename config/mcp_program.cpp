#include "config/mcp_program.hpp"

#include "core/ascii.hpp"
#include "core/utf8.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>

namespace config {
namespace {

std::string_view trimmed(std::string_view text)
{
    return core::trim(text, " \t\v\f");
}

// The first of `any` that no quotes enclose. A quote behind a backslash does not end them.
std::size_t find_unquoted(std::string_view text, std::string_view any)
{
    char quote = '\0';
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quote != '\0') {
            quote = c == quote && text[i - 1] != '\\' ? '\0' : quote;
        } else if (c == '"' || c == '\'' || c == '`') {
            quote = c;
        } else if (any.find(c) != any.npos) {
            return i;
        }
    }
    return text.npos;
}

std::string without_quotes(std::string_view value)
{
    constexpr std::string_view quotes = "\"'`";
    if (value.size() < 2 || value.front() != value.back() || quotes.find(value.front()) == quotes.npos) {
        return std::string{value};
    }
    const bool escapes = value.front() == '"';
    value = value.substr(1, value.size() - 2);
    std::string out;
    for (std::size_t i = 0; i < value.size(); ++i) {
        const char next = i + 1 < value.size() ? value[i + 1] : '\0';
        if (escapes && value[i] == '\\' && (next == 'n' || next == 'r')) {
            out += next == 'n' ? '\n' : '\r';
            ++i;
        } else {
            out += value[i];
        }
    }
    return out;
}

std::optional<std::pair<std::string, std::string>> variable_in(std::string_view line)
{
    constexpr std::string_view exported = "export ";
    if (line.starts_with(exported)) {
        line = trimmed(line.substr(exported.size()));
    }
    const auto separator = find_unquoted(line, "=:");
    const auto name = trimmed(line.substr(0, separator));
    if (separator == line.npos || name.empty()) {
        return {};
    }
    const auto value = trimmed(line.substr(separator + 1));
    return std::pair{std::string{name}, without_quotes(trimmed(value.substr(0, find_unquoted(value, "#"))))};
}

}  // namespace

std::optional<std::string> read_argument(field f, problem_list& problems)
{
    constexpr std::string_view expected = "text without NUL";
    f.secret = true;
    const auto* text = read_text(f, expected, problems);
    if (text == nullptr) {
        return std::nullopt;
    }
    if (text->find('\0') != std::string::npos) {
        refuse(f, "has a NUL in it", expected, problems);
        return std::nullopt;
    }
    return *text;
}

std::vector<std::pair<std::string, core::secret>> read_environment(const field& f, problem_list& problems)
{
    std::vector<std::pair<std::string, core::secret>> variables;
    const auto* map = read_map(f, "a map of environment variables", problems);
    for (std::size_t i = 0; map != nullptr && i < map->keys.size(); ++i) {
        const auto& name = map->keys[i].text;
        const auto value = member(*map, i, f.path);
        if (name.empty() || name.find('=') != std::string::npos || name.find('\0') != std::string::npos) {
            problems.add(map->keys[i].at, value.path, "is not a variable's name; expected a name such as API_KEY");
        } else if (auto text = read_argument(value, problems)) {
            variables.emplace_back(name, core::secret{std::move(*text)});
        }
    }
    return variables;
}

bool loads_code(std::string_view variable) noexcept
{
    // clang-format off
    constexpr auto names = std::to_array<std::string_view>({
        "PATH", "NODE_OPTIONS", "NODE_PATH", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "RUBYOPT", "RUBYLIB",
        "PERL5OPT", "PERL5LIB", "JAVA_TOOL_OPTIONS", "BASH_ENV", "ENV"
    });
    // clang-format on
    return variable.starts_with("LD_") || variable.starts_with("npm_config_") ||
           std::find(names.begin(), names.end(), variable) != names.end();
}

env_file parse_env_file(std::string_view text)
{
    env_file out;
    std::map<std::string, std::size_t> places;
    text = core::without_byte_order_mark(text);
    for (unsigned number = 1; !text.empty(); ++number) {
        const auto end = std::min(text.find_first_of("\r\n"), text.size());
        const auto line = trimmed(text.substr(0, end));
        const auto behind = text.substr(end);
        text.remove_prefix(end + (behind.starts_with("\r\n") ? 2 : behind.empty() ? 0 : 1));
        if (line.empty() || line.front() == '#') {
            continue;
        }
        auto variable = variable_in(line);
        if (!variable) {
            out.other_lines.push_back(number);
            continue;
        }
        const auto [at, is_new] = places.try_emplace(variable->first, out.variables.size());
        if (is_new) {
            out.variables.push_back(std::move(*variable));
        } else {
            out.variables[at->second].second = std::move(variable->second);
        }
    }
    return out;
}

std::vector<std::pair<std::string, core::secret>>
read_env_file(const field& f, const secret_reader& files, problem_list& problems)
{
    std::vector<std::pair<std::string, core::secret>> variables;
    const auto text = read_named_file(f, "the path of a file with environment variables", files, problems);
    if (!text) {
        return variables;
    }
    if (text->find('\0') != std::string::npos) {
        problems.add(f, "names a file with a NUL in it; expected lines such as NAME=value");
        return variables;
    }
    auto parsed = parse_env_file(*text);
    for (auto& [name, value] : parsed.variables) {
        variables.emplace_back(std::move(name), core::secret{std::move(value)});
    }
    for (const auto line : parsed.other_lines) {
        problems.warn(f, "line " + std::to_string(line) + " of the file has no effect; expected NAME=value");
    }
    return variables;
}

}  // namespace config
