// `cardea agents`: what an operator asks of a gateway that runs.
#pragma once

#include "config/problem.hpp"
#include "core/error.hpp"
#include "gateway/cli/admin_client.hpp"
#include "gateway/cli/agents_command_line.hpp"

#include <functional>
#include <string>

namespace gateway::cli {

// Stable: scripts depend on them.
enum class command_exit : int { done = 0, refused = 1, unusable = 2, unreached = 3 };

struct command_outcome {
    command_exit code = command_exit::done;
    std::string out;  // printable, as all text is that goes to a terminal
    std::string err;  // lines, each with its line feed
};

// What a command needs of the process.
struct command_surroundings {
    rpc_caller_of ask;
    std::function<core::result<std::string>(const std::string& path)> read_file;
    std::function<core::result<std::string>(const std::string& path)> read_secret;
    bool terminal = false;  // whether what is printed goes to one
};

// A command without a problem that asks for no help. Blocking, as its surroundings are.
command_outcome carry_out(const agents_command& asked, const command_surroundings& with);

// The whole of it: arguments to exit code, printed. `variable` is the environment.
int run_agents_command(
    const std::vector<std::string>& arguments,
    const std::function<std::optional<std::string>(std::string_view name)>& variable
);

}  // namespace gateway::cli
