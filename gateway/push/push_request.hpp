// The requests of a delivery: to its receiver, and to the agent if the receiver needs the whole task. Pure; any thread.
#pragma once

#include "a2a/method.hpp"
#include "config/settings.hpp"
#include "core/error.hpp"
#include "gateway/model/push_addresses.hpp"
#include "gateway/model/snapshot.hpp"
#include "net/client/fetch.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace gateway::push {

// Body of a notification that goes out, or the task that has to be asked for before.
struct outgoing_body {
    std::string text;
    std::optional<std::string> missing_task{};  // its id: the receiver knows tasks only, and this is an update of one
};

// The body in the receiver's generation. Fails with internal: it is no notification, or cannot be said there.
core::result<outgoing_body> make_body(const std::string& notification, ::a2a::generation receiver);

// The token goes out under both names that receivers of A2A know; `Cardea-Delivery` has `id`. Public addresses only, and those of
// push_allow; redirects are answers.
net::fetch_request make_delivery(
    const model::push_receiver& receiver,
    std::string body,
    std::string_view id,
    const config::settings& settings
);

// Whether a request can be sent at all: its URL is one, and its fields have no line breaks or other control characters. What cannot
// be sent now never can.
bool can_be_sent(const net::fetch_request& request);

// GetTask of A2A 1.0 with the agent's own credentials: over HTTP+JSON, as a GET, if the agent has no JSON-RPC of 1.0 but that; else
// over JSON-RPC. Fails with upstream_protocol: no path can have the task's id.
core::result<net::fetch_request>
make_task_request(const model::agent_entry& agent, std::string_view task, const config::settings& settings);

// The notification of 1.0 with the task that such a request was answered with, over HTTP+JSON or JSON-RPC. Fails with upstream_status and
// upstream_protocol.
core::result<std::string> read_task_answer(const net::fetch_response& answer, bool rest);

}  // namespace gateway::push
