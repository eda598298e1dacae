// What was asked for behind `cardea agents`. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::cli {

enum class agents_verb : std::uint8_t { list, get, health, card, refresh, add, remove };

std::string_view name(agents_verb v) noexcept;

enum class output_form : std::uint8_t { automatic, json, table };

struct agents_command {
    std::optional<agents_verb> what;  // nullopt: none was given
    bool help = false;
    std::string problem;  // not empty: the arguments cannot be carried out; what is wrong and what was expected

    std::string admin;    // where the gateway is; empty: not given
    std::string ca_file;  // who vouches for it
    output_form output = output_form::automatic;

    std::string id;
    std::string url;                          // of add
    std::string file;                         // of add: agents instead of one
    std::string protocol;                     // of list, health and add
    std::string status;                       // of health
    std::string card_url;                     // of add
    std::string bearer_file;                  // of add
    std::vector<std::string> tags;            // of add; of list and health at most one
    std::string text;                         // of list and health
    std::string after;                        // of list and health
    std::optional<std::uint64_t> limit;       // of list and health
    std::optional<std::uint64_t> if_version;  // of add and remove
    bool dry_run = false;                     // of refresh
};

// `arguments` are those behind `agents`.
agents_command parse_agents_command(const std::vector<std::string>& arguments);

// For all of them (nullopt) or for one.
std::string agents_help(std::optional<agents_verb> what);

}  // namespace gateway::cli
