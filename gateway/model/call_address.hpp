// Where the calls of an agent go. The operator says to which host: the agent's credentials are for that one. Its card may say to
// which path. Pure; any thread.
#pragma once

#include "a2a/card/card.hpp"
#include "core/agent.hpp"
#include "core/error.hpp"
#include "core/json/json.hpp"
#include "gateway/model/agent_interface.hpp"

#include <optional>
#include <string_view>

namespace gateway::model {

struct call_address {
    call_route route;
    std::optional<::a2a::card_problem> problem;  // a warning: calls do not go where the card says
};

// `card` as it came, repaired or not; `found_at`: the URL that it was fetched from, empty if the operator wrote it.
// The card's path is taken if its address has the scheme, host and port of the agent's `url`, where all names of loopback
// (localhost, 127.0.0.0/8, [::1]) are one host, and if the card is this agent's beyond doubt: one found at the root of
// the origin while `url` has a path may be another agent's. The same holds for each interface. One of JSON-RPC that is not
// followed is at the agent's `url`; one of HTTP+JSON only if the card has none of JSON-RPC. `agent.dialects` decide which
// interfaces there are, and the card where they are. A card without a version leaves the generation open.
// Interfaces of gRPC, whose addresses are in the http or https form, are where core::grpc_address() says, whatever addresses the card
// has; else at the agent's own host and port, if `agent.dialects` or a card that may say where calls go have some there.
call_address call_address_of(const core::agent& agent, const core::json& card, std::string_view found_at);

// Whether the agent has such interfaces.
bool reaches_grpc(const core::agent& agent, const core::json& card, std::string_view found_at);

// Whether an agent of which a card cannot be had for this reason answers: then its calls arrive, and need not wait for a card.
bool answers(core::errc why) noexcept;

}  // namespace gateway::model
