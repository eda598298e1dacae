#include "gateway/cli/command_line.hpp"

#include "config/schema.hpp"

#include <cstddef>

namespace gateway::cli {
namespace {

constexpr std::string_view help = R"(cardea: one address for the A2A agents behind it.

  cardea run -c FILE                 serve the agents of a configuration file (YAML or JSON)
  cardea run --agent ID=URL ...      serve these A2A agents, no file needed
  cardea run --mcp 'ID=COMMAND' ...  serve these MCP servers as agents, each with a card made from what it lists
  cardea validate -c FILE            check a configuration; exit code 2 if it cannot be used
  cardea config dump -c FILE         print the effective configuration and the source of each value; secrets are masked
  cardea config schema               its JSON Schema, for editors
  cardea card lint FILE|URL          what is wrong with an agent's card; exit code 1 if there are errors
  cardea agents VERB                 list, get, health, card, refresh, add, remove: the agents of a gateway that runs
  cardea version
  cardea --help

Options of run and config dump:
  -c, --config FILE       the configuration; docs/configuration.md lists every key
      --agent ID=URL      an A2A agent, in addition to those of the file; may be given again
      --mcp 'ID=COMMAND'  an MCP server that is a program; may be given again; quotes and backslashes as in a shell, but none runs
                          it: 'web=npx -y @modelcontextprotocol/server-everything'
      --mcp ID=URL        one that is reached over streamable HTTP
      --listen HOST:PORT  where callers connect (default 127.0.0.1:4000; port 0: the system chooses)
      --admin HOST:PORT   metrics, health and management (default 127.0.0.1:4001)
      --store STORE       where agents live that are added at run time: memory or sqlite:PATH
                          (default sqlite:~/.local/state/cardea/store.db)

Options of config dump:
      --output FORMAT     yaml (default) or json

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

bool read_format(command_line& out, const std::string& text)
{
    out.format = text == "json" ? dump_format::json : dump_format::yaml;
    if (text != "json" && text != "yaml") {
        out.problem = "--output: '" + text + "' is no format; expected yaml or json";
    }
    return out.problem.empty();
}

std::vector<std::string_view> options_of(verb what)
{
    std::vector<std::string_view> all{"--config", "--help"};
    if (what == verb::run || what == verb::config_dump) {
        all.insert(all.end(), {"--agent", "--mcp", "--listen", "--admin", "--store"});
    }
    if (what == verb::config_dump) {
        all.emplace_back("--output");
    }
    return all;
}

// Where the value of an option goes; null: this command has no such option.
std::string* value_of(command_line& out, const std::string& option)
{
    const bool configures = out.what == verb::run || out.what == verb::config_dump;
    if (option == "-c" || option == "--config") {
        return configures || out.what == verb::validate ? &out.config_file : nullptr;
    }
    if (!configures) {
        return nullptr;
    }
    if (option == "--agent") {
        return &out.agents.emplace_back();
    }
    if (option == "--mcp") {
        return &out.mcp.emplace_back();
    }
    return option == "--listen"  ? &out.listen
           : option == "--admin" ? &out.admin
           : option == "--store" ? &out.store
                                 : nullptr;
}

// The options from the `first` argument on; `command` is what they belong to.
bool read_options(
    command_line& out,
    const std::vector<std::string>& arguments,
    std::size_t first,
    const std::string& command
)
{
    for (std::size_t i = first; i < arguments.size(); ++i) {
        const auto& option = arguments[i];
        if (option == "-h" || option == "--help") {
            out.what = verb::help;
            return true;
        }
        const bool format = out.what == verb::config_dump && option == "--output";
        auto* const value = format ? nullptr : value_of(out, option);
        if (value == nullptr && !format) {
            const auto meant = config::nearest_key(option, options_of(out.what));
            out.problem = "unknown option '" + option + "' of '" + command + "'; " +
                          (meant.empty() ? "see cardea --help" : "did you mean " + std::string{meant} + '?');
            return false;
        }
        if (i + 1 == arguments.size()) {
            out.problem = option + " needs a value; see cardea --help";
            return false;
        }
        ++i;
        if (format && !read_format(out, arguments[i])) {
            return false;
        }
        if (value != nullptr) {
            *value = arguments[i];
        }
    }
    return true;
}

// What follows `config`.
void read_config_command(command_line& out, const std::vector<std::string>& arguments)
{
    const std::string what = arguments.size() < 2 ? "" : arguments[1];
    if (what != "schema" && what != "dump") {
        out.problem = "config has two commands: cardea config dump -c FILE, and cardea config schema";
        return;
    }
    out.what = what == "schema" ? verb::config_schema : verb::config_dump;
    read_options(out, arguments, 2, "config " + what);
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
    } else if (arguments[0] == "config") {
        read_config_command(out, arguments);
        return out;
    } else {
        return wrong(
            "unknown command '" + arguments[0] + "'; known are run, validate, config, agents, card and version"
        );
    }
    if (!read_options(out, arguments, 1, arguments[0])) {
        return out;
    }
    if (out.what == verb::validate && out.config_file.empty()) {
        return wrong("validate needs a configuration: cardea validate -c FILE");
    }
    const bool named = !out.agents.empty() || !out.mcp.empty();
    if (out.what == verb::run && out.config_file.empty() && !named && out.store.empty()) {
        return wrong(
            "nothing to serve: give a configuration (-c FILE), an agent (--agent ID=URL), an MCP server "
            "(--mcp 'ID=COMMAND') or a --store"
        );
    }
    return out;
}

std::string_view help_text() noexcept
{
    return help;
}

}  // namespace gateway::cli
