#pragma once

#include "gateway/cli/agents_command.hpp"
#include "gateway/cli/call_command.hpp"
#include "gateway/cli/explain_command.hpp"
#include "gateway/cli/gateway_command.hpp"
#include "gateway/cli/key_command.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gateway::cli {

enum class top_verb {
    run,
    validate,
    config_schema,
    config_dump,
    lint_card,
    new_key,
    agents,
    gateway,
    call,
    explain,
    migrate_store,
    copy_store,
    version,
    help
};

enum class dump_format { yaml, json };

// The arguments of the process. Text that was not given is empty.
struct command_line {
    top_verb verb = top_verb::help;
    std::string config_file;
    std::vector<std::string> agents;  // ID=URL, as written
    std::vector<std::string> mcp;     // ID=COMMAND or ID=URL, as written
    std::string listen;               // HOST:PORT, replaces the configuration's
    std::string admin;                // HOST:PORT, replaces the configuration's
    std::string store;                // as written, replaces the configuration's; of migrate_store and copy_store
    std::string copy_to;              // of copy_store: another store, as written
    std::string password_file;        // of migrate_store and copy_store
    dump_format format = dump_format::yaml;  // of config_dump
    std::string card;                        // of lint_card: a file or a URL
    bool explain = false;                    // of lint_card: name the sections of the specification
    key_command key;                         // of new_key
    agents_command agents_request;           // of agents, also for the verb `bundles`
    gateway_command gateway_request;  // of gateway: the verbs `status`, `events`, `reload` and `config dump --running`
    call_command call_request;        // of call
    explain_command explain_request;  // of explain; config_file too
    std::string help;                 // of help: the text to print, for the verb that was given
    std::string problem;  // if not empty, the arguments cannot be used: the offending one, and where help is
};

// `arguments` without the program's name. Pure.
command_line parse_command_line(const std::vector<std::string>& arguments);

// Text that `cardea run` prints if it was given no agents: where it serves, and how agents are added. Pure.

struct served_addresses {
    std::string_view traffic;  // HOST:PORT, as bound
    std::string_view admin;
};

// `store` is the path of the store's file; empty: agents are kept in memory. Lines, each with its end.
std::string welcome(const served_addresses& at, std::string_view store);

}  // namespace gateway::cli
