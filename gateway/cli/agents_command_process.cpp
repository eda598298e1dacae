// `cardea agents` in its process: files, the environment, the terminal.
#include "config/file.hpp"
#include "gateway/cli/agents_command.hpp"
#include "gateway/model/terminal_text.hpp"

#include <unistd.h>

#include <iostream>

namespace gateway::cli {
namespace {

constexpr std::string_view default_admin = "127.0.0.1:4001";

}  // namespace

int run_agents_command(
    const std::vector<std::string>& arguments,
    const std::function<std::optional<std::string>(std::string_view name)>& variable
)
{
    auto asked = parse_agents_command(arguments);
    if (asked.help) {
        std::cout << agents_help(asked.what);
        return static_cast<int>(command_exit::done);
    }
    if (!asked.problem.empty()) {
        std::cerr << "cardea: " << model::printable(asked.problem) << '\n';
        return static_cast<int>(command_exit::unusable);
    }
    if (asked.admin.empty()) {
        const auto said = variable("CARDEA_ADMIN");
        asked.admin = said && !said->empty() ? *said : std::string{default_admin};
    }
    command_surroundings with;
    with.ask = admin_client(asked.admin, asked.ca_file);
    with.read_file = [](const std::string& path) { return config::read_file(path); };
    with.read_secret = [](const std::string& path) { return config::read_secret_file(path); };
    with.terminal = ::isatty(STDOUT_FILENO) == 1;
    const auto done = carry_out(asked, with);
    std::cout << done.out << std::flush;
    std::cerr << done.err;
    return static_cast<int>(done.code);
}

}  // namespace gateway::cli
