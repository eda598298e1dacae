#include "config/agents.hpp"
#include "config/file.hpp"
#include "config/load.hpp"
#include "config/values.hpp"
#include "core/log.hpp"
#include "gateway/card_lint_command.hpp"
#include "gateway/command_line.hpp"
#include "gateway/log_output.hpp"
#include "gateway/open_store.hpp"
#include "gateway/server.hpp"
#include "gateway/tls_files.hpp"
#include "gateway/version.hpp"
#include "net/descriptor_budget.hpp"

#include <fcntl.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

// Stable: scripts depend on them.
constexpr int exit_failure = 1;
constexpr int exit_unusable = 2;

std::optional<std::string> environment_variable(std::string_view name)
{
    // Before any thread is started: nothing changes the environment meanwhile.
    const char* value = std::getenv(std::string(name).c_str());  // NOLINT(concurrency-mt-unsafe)
    return value == nullptr ? std::nullopt : std::optional<std::string>{value};
}

// A descriptor below 3 that was closed at the start would be given to the next socket, and log lines written into it.
void open_standard_descriptors()
{
    for (int descriptor = 0; descriptor <= 2; ++descriptor) {
        if (::fcntl(descriptor, F_GETFD) == -1 && ::open("/dev/null", O_RDWR) != descriptor) {
            std::abort();
        }
    }
}

bool complain(std::string_view what)
{
    std::cerr << "cardea: " << what << '\n';
    return false;
}

bool load_file(const std::string& path, config::settings& into)
{
    const auto text = config::read_file(path);
    if (!text) {
        return complain(path + ": " + text.error().detail);
    }
    auto loaded = config::load(*text, path, environment_variable, config::read_secret_file, gateway::tls_checks());
    for (const auto& problem : loaded.problems) {
        std::cerr << config::to_text(problem) << '\n';
    }
    into = std::move(loaded.value);
    return loaded.problems.empty();
}

bool read_endpoint(std::string_view option, const std::string& text, config::endpoint& into)
{
    if (text.empty()) {
        return true;
    }
    const auto parsed = config::parse_endpoint(text);
    if (!parsed) {
        return complain(std::string(option) + ": " + parsed.error().detail);
    }
    into = *parsed;
    return true;
}

bool read_store(const std::string& text, std::string& into)
{
    if (text.empty()) {
        return true;
    }
    auto parsed = config::parse_store(text);
    if (!parsed) {
        return complain("--store: " + parsed.error().detail + "; memory or sqlite:PATH is meant");
    }
    into = std::move(*parsed);
    return true;
}

bool add_agents(const std::vector<std::string>& flags, config::settings& into)
{
    for (const auto& flag : flags) {
        auto agent = config::parse_agent_flag(flag);
        if (!agent) {
            return complain("--agent: " + agent.error().detail);
        }
        const bool known =
            std::any_of(into.agents.begin(), into.agents.end(), [&](const auto& each) { return each.id == agent->id; });
        if (known) {
            return complain("--agent: there is an agent with the id '" + agent->id + "' already");
        }
        into.agents.push_back(std::move(*agent));
    }
    return true;
}

// What the file says and the command line changes. False: it has been said on stderr what is wrong.
bool read_settings(const gateway::command_line& asked, config::settings& into)
{
    if (!asked.config_file.empty() && !load_file(asked.config_file, into)) {
        return false;
    }
    return add_agents(asked.agents, into) && read_endpoint("--listen", asked.listen, into.listen) &&
           read_endpoint("--admin", asked.admin, into.admin) && read_store(asked.store, into.store);
}

int run(const gateway::command_line& asked)
{
    config::settings settings;
    if (!read_settings(asked, settings)) {
        return exit_unusable;
    }
    // A peer that leaves while we write is an error of that write, and a log reader that leaves costs lines.
    std::signal(SIGPIPE, SIG_IGN);
    net::raise_descriptor_limit();
    gateway::log_output output;
    const core::logger log{output, settings.log_level};
    auto store = gateway::open_store(settings.store, environment_variable);
    if (!store) {
        complain(store.error().detail);
        return exit_unusable;
    }
    if (!store->unusable_place.empty()) {
        log.write(core::log_level::warn, "store_in_memory", {{"reason", store->unusable_place}});
    }
    gateway::server server{std::move(settings), std::move(store->engine), log, [&output] { return output.dropped(); }};
    if (const auto started = server.start(); !started) {
        complain(started.error().detail);
        return exit_unusable;
    }
    server.handle_signals();  // before the line that tells whoever started us that there is something to stop
    // Whatever the level: whoever starts a gateway on port 0 needs this line.
    output.write(core::format_log_line(
        std::chrono::system_clock::now(),
        core::log_level::info,
        "listening",
        {{"traffic", server.traffic_address()}, {"admin", server.admin_address()}, {"version", gateway::version()}}
    ));
    server.run();
    return EXIT_SUCCESS;
}

int validate(const gateway::command_line& asked)
{
    config::settings settings;
    if (!read_settings(asked, settings)) {
        return exit_unusable;
    }
    const auto made = gateway::make_snapshot(settings, "http://localhost");
    if (!made) {
        complain(made.error().detail);
        return exit_unusable;
    }
    std::cout << asked.config_file << ": " << settings.agents.size()
              << (settings.agents.size() == 1 ? " agent" : " agents") << ", no problems\n";
    return EXIT_SUCCESS;
}

int lint_card(const gateway::command_line& asked)
{
    const auto text = gateway::read_card(asked.card);
    if (!text) {
        complain(asked.card + ": " + text.error().detail);
        return exit_unusable;
    }
    const auto report = a2a::lint_card(*text);
    std::cout << gateway::lint_text(report, asked.card, asked.explain);
    return report.count(a2a::problem_severity::error) == 0 ? EXIT_SUCCESS : exit_failure;
}

int carry_out(const gateway::command_line& asked)
{
    if (!asked.problem.empty()) {
        complain(asked.problem);
        return exit_unusable;
    }
    switch (asked.what) {
        case gateway::verb::run:
            return run(asked);
        case gateway::verb::validate:
            return validate(asked);
        case gateway::verb::lint_card:
            return lint_card(asked);
        case gateway::verb::version:
            std::cout << "cardea " << gateway::version() << '\n';
            return EXIT_SUCCESS;
        case gateway::verb::help:
            std::cout << gateway::help_text();
            return EXIT_SUCCESS;
    }
    return exit_failure;
}

}  // namespace

int main(int argc, char** argv)
{
    open_standard_descriptors();
    try {
        return carry_out(gateway::parse_command_line({argv + 1, argv + argc}));
    } catch (const std::exception& bug) {
        complain(bug.what());
        return exit_failure;
    }
}
