// What was asked for on the command line. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gateway::cli {

enum class verb { run, validate, config_schema, config_dump, lint_card, agents, version, help };

enum class dump_format { yaml, json };

struct command_line {
    verb what = verb::help;
    std::string config_file;          // empty: none
    std::vector<std::string> agents;  // ID=URL, as written
    std::vector<std::string> mcp;     // ID=COMMAND or ID=URL, as written
    std::string listen;               // HOST:PORT instead of the configuration's; empty: not given
    std::string admin;
    std::string store;  // `memory` or `sqlite:PATH`, instead of the configuration's; empty: not given
    dump_format format = dump_format::yaml;  // of config_dump
    std::string card;                        // of lint_card: a file or a URL
    bool explain = false;                    // of lint_card: with the section of the specification
    std::vector<std::string> rest;           // of agents: what follows (gateway/cli/agents_command_line.hpp)
    std::string problem;  // not empty: the arguments cannot be carried out; what is wrong and what was expected
};

// `arguments` without the program's name.
command_line parse_command_line(const std::vector<std::string>& arguments);

std::string_view help_text() noexcept;

}  // namespace gateway::cli
