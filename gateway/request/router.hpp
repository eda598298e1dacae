// From a request target to what it is for. Pure. Nothing is decoded or normalised: a path that only means an agent after
// decoding means nothing here, so that no spelling reaches another agent or route. The slash in the name of a registry's server is
// the exception: clients of that API encode it.
#pragma once

#include "gateway/model/directory_kind.hpp"
#include "gateway/model/request_record.hpp"

#include <cstdint>
#include <string_view>

namespace gateway::request {

// The addresses below an agent that a GET may ask for its extended card.
enum class extended_path : std::uint8_t { none, v02, rest_v03, rest_v1 };

// Found once for each request. The views point into the target: of a request they hold until its body is read, because the
// head may move then. What is needed later, such as the path that the agent is asked at, is made before.
struct destination {
    model::route where = model::route::none;
    std::string_view agent;  // of card, call, mcp, relay, push, and perhaps of resource_metadata and directory
    // The path below the agent, from its '/', without the query; empty or "/" for the agent itself. Of server_version: the version, as
    // it is written.
    std::string_view below;
    // Of relay: the path of HTTP+JSON, which follows `/rest`; at an agent's own name it may stand alone, and be something else. Of none:
    // of a path that is refused, if it is one of HTTP+JSON. Of a server in a registry: its name up to the slash.
    std::string_view rest;
    std::string_view query;                                           // with its '?', or empty
    model::directory_kind directory = model::directory_kind::agents;  // of directory
    extended_path extended = extended_path::none;                     // of relay
    bool legacy_card = false;     // the card was asked for under its name of 0.2, agent.json
    bool card_of_nobody = false;  // of none: the well-known place of a card, without an agent
    // Of none: why. not_found, or bad_request for a path that another reader may take for a different one.
    core::errc refusal = core::errc::not_found;
    // Of none: almost an agent's address, which looks like a try; the connection ends with the answer.
    bool astray = false;
};

// `target` is origin-form or "*" (net/http1/head.hpp).
destination find_destination(std::string_view target) noexcept;

// The same at the origin of an agent's own name, where nothing but this agent is: a path there means what it means below
// `/agents/<id>`, and those of HTTP+JSON need no `/rest` in front. `agent` outlives the destination.
destination find_destination_of(std::string_view agent, std::string_view target) noexcept;

}  // namespace gateway::request
