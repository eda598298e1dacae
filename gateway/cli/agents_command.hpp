// `cardea agents`, `cardea bundles` and `cardea principals`: ask a running gateway for its agents and bundles, to change agents, or to contain
// agents and principals.
#pragma once

#include "core/clock.hpp"
#include "gateway/cli/admin_options.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gateway::cli {

enum class agents_verb : std::uint8_t {
    list,
    get,
    health,
    wait,
    card,
    history,
    refresh,
    reset,
    restart,
    add,
    remove,
    bundles,
    contain,  // an agent, as `release`
    release,
    contain_principal,
    release_principal,
    list_principals,
    pins,
    approve,
    ids  // for completions: asks for a moment, and complains of nothing
};

enum class card_form : std::uint8_t { served, raw, diff };

// Arguments of `pins` and `approve`.
struct pin_choice {
    bool diff = false;
    bool lock = false;
    bool all = false;
    bool card = false;
    bool instructions = false;
    std::vector<std::string> tools;
};

// The arguments of one command. Text that was not given is empty.
struct agents_command : admin_options {
    agents_verb verb = agents_verb::list;

    std::string id;
    std::string url;                          // of add
    std::string file;                         // of add: agents of this file, `-` for stdin, instead of `id` and `url`
    std::string protocol;                     // of list, health and add
    std::string status;                       // of health; of wait the one that is waited for
    std::string sort;                         // of health
    core::duration timeout{60'000};           // of wait
    card_form form = card_form::served;       // of card
    std::string a2a_version;                  // of card: as callers with this A2A-Version get it
    std::string card_url;                     // of add
    std::string bearer_file;                  // of add
    std::vector<std::string> tags;            // of add; of list and health at most one
    std::string text;                         // of list and health; of ids their beginning
    std::string after;                        // of list, health and principals
    std::optional<std::uint64_t> limit;       // the same
    std::optional<std::uint64_t> if_version;  // of add and remove
    bool dry_run = false;                     // of refresh, contain and release
    bool fresh = false;                       // of list, get and health
    std::string provider;                     // of a principal, whose `id` it is
    std::string reason;                       // of contain, as the next two
    std::string until;                        // a duration or a time
    std::string notice;
    pin_choice pins;  // of pins and approve
};

// Sends the requests of the command and prints the answers to stdout, failures to stderr; what is printed is safe for a
// terminal. Blocking.
exit_code run_agents_command(const agents_command& command, const environment& variable);

}  // namespace gateway::cli
