// `cardea agents` and `cardea bundles`: ask a running gateway for its agents and bundles, or to change agents.
#pragma once

#include "core/json/json.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::cli {

// The answers of the management methods as text for people, printable, in lines. Pure.

// A table of the `agents` of agents/list.
std::string list_table(const core::json& found);

// A table of the `agents` of agents/health, and a line with their `summary`.
std::string health_table(const core::json& found);

// The result of agents/refreshCard: whether the card changed, its differences and problems.
std::string refreshed_text(const std::string& id, const core::json& result, bool dry_run);

// The result of agents/upsert.
std::string added_line(const core::json& result);

// The result of bundles/list: a table of the members, and one of the names that are not as a prefix and the member's own make them.
std::string bundles_table(const core::json& found);

// The state of an agent's card, with its failure; not printable.
std::string state_of(const core::json& agent);

// The member as text: a string without quotes, anything else as JSON, empty if it is absent or null; not printable.
std::string text_of(const core::json& object, std::string_view key);

enum class agents_verb : std::uint8_t { list, get, health, card, refresh, reset, add, remove, bundles };

enum class output_form : std::uint8_t { automatic, json, table };

// The arguments of one command. Text that was not given is empty.
struct agents_command {
    agents_verb verb = agents_verb::list;
    std::string admin;       // of the gateway: HOST:PORT or a URL
    std::string ca_file;     // PEM
    std::string token_file;  // with the credential for `admin`
    output_form output = output_form::automatic;

    std::string id;
    std::string url;                          // of add
    std::string file;                         // of add: agents of this file, `-` for stdin, instead of `id` and `url`
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

// Sends the requests of the command and prints the answers to stdout, failures to stderr; what is printed is safe for a
// terminal. Returns the exit code, which is stable: 0 done, 1 refused or unhealthy, 2 a file cannot be used, 3 the gateway
// was not reached. Without `admin`, CARDEA_ADMIN of `variable` counts, then 127.0.0.1:4001; without `token_file`,
// CARDEA_ADMIN_TOKEN, then no credential is sent. Blocking.
int run_agents_command(
    agents_command command,
    const std::function<std::optional<std::string>(std::string_view name)>& variable
);

}  // namespace gateway::cli
