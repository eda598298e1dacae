#include "config/mcp_program.hpp"

#include <algorithm>
#include <array>

namespace config {

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
    constexpr auto names = std::to_array<std::string_view>(
        {"PATH",
         "NODE_OPTIONS",
         "NODE_PATH",
         "PYTHONPATH",
         "PYTHONSTARTUP",
         "PYTHONHOME",
         "RUBYOPT",
         "RUBYLIB",
         "PERL5OPT",
         "PERL5LIB",
         "JAVA_TOOL_OPTIONS",
         "BASH_ENV",
         "ENV"}
    );
    return variable.starts_with("LD_") || variable.starts_with("npm_config_") ||
           std::find(names.begin(), names.end(), variable) != names.end();
}

}  // namespace config
