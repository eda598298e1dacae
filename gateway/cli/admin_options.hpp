// Options, exit codes and the environment of all verbs that ask a running gateway.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::cli {

enum class output_form : std::uint8_t { automatic, json, table };

// Text that was not given is empty.
struct admin_options {
    std::string admin;       // of the gateway: HOST:PORT or a URL; then CARDEA_ADMIN counts, then 127.0.0.1:4001
    std::string ca_file;     // PEM
    std::string token_file;  // with the credential for `admin`; then CARDEA_ADMIN_TOKEN counts, then none is sent
    output_form output = output_form::automatic;
};

// Stable: scripts depend on them.
enum class exit_code : int {
    done = 0,
    refused = 1,    // by the gateway or the agent, or the agent is not as it was to be
    unusable = 2,   // an argument or a file
    unreached = 3,  // the gateway
    interrupted = 130
};

using environment = std::function<std::optional<std::string>(std::string_view name)>;

}  // namespace gateway::cli
