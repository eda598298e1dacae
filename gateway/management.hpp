// The management methods of POST /rpc: JSON-RPC 2.0 over HTTP 200, errors with a stable code in error.data.code.
// On the control loop's thread.
#pragma once

#include "config/settings.hpp"
#include "core/json.hpp"
#include "core/jsonrpc_server.hpp"
#include "gateway/card_plane.hpp"
#include "net/types.hpp"

#include <string>
#include <string_view>

namespace gateway {

// `agents/list`, `agents/get`, `agents/refreshCard`, or "other"; the dotted spellings are the same methods.
std::string_view management_method(std::string_view wire_name) noexcept;

struct managed {
    std::string body;         // of the answer; empty: nothing may be answered (notifications only)
    std::string_view method;  // for the log: a management method, "other", "batch", or empty for what is no request
};

class management {
public:
    // References outlive it.
    management(const config::settings& settings, card_plane& cards);

    // A whole body, one request or a batch.
    net::task<managed> handle(std::string body);

private:
    net::task<std::string> carry_out(core::rpc_request request);
    core::result<core::json> list(const core::rpc_request& request) const;
    core::result<core::json> get(const core::agent& agent) const;
    net::task<core::result<core::json>> refresh(std::string id);
    core::json record_of(const core::agent& agent) const;
    const core::agent* find(std::string_view id) const;

    const config::settings& settings_;
    card_plane& cards_;
};

// What an operator sees of an agent: its record with every secret masked. Keys are those of the configuration.
core::json agent_record(const core::agent& agent);

// What an operator sees of an agent's card: its state, age, validators, problems, the latest failure.
core::json card_status_record(const card_status& status, core::steady_time now);

}  // namespace gateway
