// The management methods of a gateway that runs, asked from outside: what `cardea agents` speaks to. Blocking.
#pragma once

#include "core/error.hpp"
#include "core/json/json.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <variant>

namespace gateway::cli {

// No answer of a gateway's: why, as a sentence without a full stop.
struct unreached {
    std::string why;
};

// The gateway answered, and did not do it.
struct declined {
    std::string code;
    std::string message;
    core::json data;  // of the JSON-RPC error; or null
};

using rpc_outcome = std::variant<core::json, unreached, declined>;

// A method with its parameters; the result of it.
using rpc_caller_of = std::function<rpc_outcome(std::string_view method, const core::json& params)>;

// `address` is HOST:PORT, or an http or https URL to which /rpc is added. `ca_file`: who vouches for an https address;
// empty: the system's authorities.
rpc_caller_of admin_client(std::string address, std::string ca_file);

}  // namespace gateway::cli
