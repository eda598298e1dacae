#include "gateway/command_line.hpp"

#include <cstddef>

namespace gateway {
namespace {

constexpr std::string_view help = R"(cardea: one address for the A2A agents behind it.

  cardea run -c FILE                 serve the agents of a configuration file (YAML or JSON)
  cardea run --agent ID=URL ...      serve these A2A agents, no file needed
  cardea validate -c FILE            check a configuration; exit code 2 if it cannot be used
  cardea card lint FILE|URL          what is wrong with an agent's card; exit code 1 if there are errors
  cardea agents VERB                 list, get, card, refresh, add, remove: the agents of a gateway that runs
  cardea version
  cardea --help

Options of run:
  -c, --config FILE       the configuration; docs/configuration.md lists every key
      --agent ID=URL      an A2A agent, in addition to those of the file; may be given again
      --listen HOST:PORT  where callers connect (default 127.0.0.1:4000; port 0: the system chooses)
      --admin HOST:PORT   metrics, health and management (default 127.0.0.1:4001)
      --store STORE       where agents live that are added at run time: memory or sqlite:PATH
                          (default sqlite:~/.local/state/cardea/store.db)

Options of card lint:
      --explain           name the section of the specification that each problem is about

For every agent:
  GET  /agents/<id>/.well-known/agent-card.json    its card, pointing at this gateway
  POST /agents/<id>                                its JSON-RPC address, answers and event streams
)";

command_line wrong(std::string what)
{
    command_line out;
    out.problem = std::move(what);
    return out;
}

// What follows `card`.
void read_card_command(command_line& out, const std::vector<std::string>& arguments)
{
    if (arguments.size() < 2 || arguments[1] != "lint") {
        out.problem = "card has one command: cardea card lint FILE|URL";
        return;
    }
    for (std::size_t i = 2; i < arguments.size(); ++i) {
        const auto& argument = arguments[i];
        if (argument == "-h" || argument == "--help") {
            out.what = verb::help;
            return;
        }
        if (argument == "--explain") {
            out.explain = true;
        } else if (argument.starts_with("-") || !out.card.empty()) {
            out.problem = "unexpected '" + argument + "' behind 'card lint'; see cardea --help";
            return;
        } else {
            out.card = argument;
        }
    }
    if (out.card.empty()) {
        out.problem = "card lint needs a card: cardea card lint FILE|URL";
    }
}

bool read_options(command_line& out, const std::vector<std::string>& arguments)
{
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        const auto& option = arguments[i];
        if (option == "-h" || option == "--help") {
            out.what = verb::help;
            return true;
        }
        const bool config = option == "-c" || option == "--config";
        const bool running = out.what == verb::run && (option == "--agent" || option == "--listen" ||
                                                       option == "--admin" || option == "--store");
        if ((!config && !running) || out.what == verb::version) {
            out.problem = "unknown option '" + option + "' of '" + arguments[0] + "'; see cardea --help";
            return false;
        }
        if (i + 1 == arguments.size()) {
            out.problem = option + " needs a value; see cardea --help";
            return false;
        }
        const auto& value = arguments[++i];
        if (config) {
            out.config_file = value;
        } else if (option == "--agent") {
            out.agents.push_back(value);
        } else if (option == "--listen") {
            out.listen = value;
        } else if (option == "--store") {
            out.store = value;
        } else {
            out.admin = value;
        }
    }
    return true;
}

}  // namespace

command_line parse_command_line(const std::vector<std::string>& arguments)
{
    command_line out;
    if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "help") {
        return out;
    }
    if (arguments[0] == "version" || arguments[0] == "--version" || arguments[0] == "-V") {
        out.what = verb::version;
    } else if (arguments[0] == "run") {
        out.what = verb::run;
    } else if (arguments[0] == "validate") {
        out.what = verb::validate;
    } else if (arguments[0] == "card") {
        out.what = verb::lint_card;
        read_card_command(out, arguments);
        return out;
    } else if (arguments[0] == "agents") {
        out.what = verb::agents;
        out.rest.assign(arguments.begin() + 1, arguments.end());
        return out;
    } else {
        return wrong("unknown command '" + arguments[0] + "'; known are run, validate, agents, card and version");
    }
    if (!read_options(out, arguments)) {
        return out;
    }
    if (out.what == verb::validate && out.config_file.empty()) {
        return wrong("validate needs a configuration: cardea validate -c FILE");
    }
    if (out.what == verb::run && out.config_file.empty() && out.agents.empty() && out.store.empty()) {
        return wrong("nothing to serve: give a configuration (-c FILE), an agent (--agent ID=URL) or a --store");
    }
    return out;
}

std::string_view help_text() noexcept
{
    return help;
}

}  // namespace gateway
