// A route: one kind of address that the gateway serves, as a value. gateway/worker/routes.cpp has the table of them.
#pragma once

#include "core/error.hpp"
#include "gateway/model/directory_kind.hpp"
#include "gateway/model/request_record.hpp"

#include <cstdint>
#include <string_view>

namespace gateway::request {

// The callers who may use a route, where callers need a credential.
enum class identity : std::uint8_t {
    nobody,      // everybody reads it, and no credential is looked at
    address,     // the address itself is the credential
    of_agent,    // callers that may know of the agent
    of_bundle,   // the route knows, for each member of the bundle
    of_named,    // callers that may know of the agent which the request names within; the route knows
    principal,   // callers with a credential
    registrant,  // callers that may register agents
};

struct route {
    std::string_view methods;       // that it takes; empty: its function knows
    std::string_view page_methods;  // that web pages are told
    identity needs = identity::principal;
    bool reaches_agent = false;  // it counts for the rate limit of its agent
    bool calls_agent = false;    // the agent would get the request: overload may refuse it
    bool is_document = false;    // it says the same to everybody who may read it
};

inline constexpr std::string_view reading_methods = "GET, HEAD";
inline constexpr std::string_view posting = "POST";
inline constexpr std::string_view methods_of_mcp = "POST, GET, DELETE, OPTIONS";
inline constexpr std::string_view methods_of_agents = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

// The addresses below an agent that a GET may ask for its extended card.
enum class extended_path : std::uint8_t { none, v02, rest_v03, rest_v1 };

// Found once for each request. The views point into the target: of a request they hold until its body is read, because the
// head may move then. What is needed later, such as the path that the agent is asked at, is made before.
struct destination {
    model::route where = model::route::none;
    std::string_view agent;  // of card, call, mcp, relay, push, and perhaps of resource_metadata and directory
    // The path below the agent, from its '/', without the query; empty or "/" for the agent itself. Of bundle: its path, without a slash at
    // the end; so too of resource_metadata of a bundle. Of server_version: the version, as
    // it is written.
    std::string_view below;
    // With relay: the path of HTTP+JSON, which follows `/rest`; at an agent's own name it may stand alone, and be something else. Of none:
    // of a path that is refused, if it is one of HTTP+JSON. Of a server in a registry: its name up to the slash.
    std::string_view rest;
    std::string_view query;                                           // with its '?', or empty
    model::directory_kind directory = model::directory_kind::agents;  // of directory
    extended_path extended = extended_path::none;                     // of relay
    std::string_view grpc;        // of call: the path of a call by gRPC, `/<service>/<method>`; else empty
    bool legacy_card = false;     // the card was asked for under its name of 0.2, agent.json
    bool card_of_nobody = false;  // of none: the well-known place of a card, without an agent
    // With none: why. not_found, or bad_request for a path that another reader may take for a different one.
    core::errc refusal = core::errc::not_found;
    // With none: almost an agent's address, which looks like a try; the connection ends with the answer.
    bool astray = false;
};

// The entry that a worker has of an agent (local_snapshot.hpp), as a request has looked it up last.
struct known_agent;
struct cached_lookup {
    const known_agent* agent = nullptr;
    std::uint64_t version = 0;  // of the snapshot; 0: nobody has looked
};

}  // namespace gateway::request
