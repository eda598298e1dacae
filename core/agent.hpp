// An agent or MCP server behind the gateway. One value, whether it came from the configuration file, the command line
// or the management API; validated before it is made (config/agents.hpp).
#pragma once

#include "core/access.hpp"
#include "core/agent_credentials.hpp"
#include "core/boxed.hpp"
#include "core/call_limits.hpp"
#include "core/clock.hpp"
#include "core/endpoint_rules.hpp"
#include "core/error.hpp"
#include "core/mcp_server.hpp"
#include "core/secret.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace core {

enum class protocol : std::uint8_t { a2a, mcp };

// A generation of A2A and a binding: what an agent or a caller speaks. Tables of tasks keep these numbers.
enum class a2a_dialect : std::uint8_t { v03_jsonrpc, v03_rest, v1_jsonrpc, v1_rest, v03_grpc, v1_grpc };

// "0.3/jsonrpc", "0.3/rest", "1.0/jsonrpc", "1.0/rest", "0.3/grpc", "1.0/grpc".
std::string_view name(a2a_dialect d) noexcept;

// The version of HTTP that an agent is called with. `automatic`: HTTP/2 for gRPC, else HTTP/1.1. `v2`: by ALPN, or with prior
// knowledge for http URLs.
enum class http_version : std::uint8_t { automatic, v1_1, v2 };

// "auto", "1.1", "2".
std::string_view name(http_version v) noexcept;

// The generation of cards that callers are shown: that of the A2A-Version they name, or always the same.
enum class card_shape : std::uint8_t { automatic, v1, v03, hybrid };

// "auto", "v1", "v0.3", "hybrid".
std::string_view name(card_shape s) noexcept;

// How signatures of a card are treated: the agent's are always removed from a rewritten card; before, one of
// them may have to be good, and afterwards the gateway may sign what it serves.
enum class signature_policy : std::uint8_t { strip, verify, sign, verify_and_sign };

// "strip", "verify", "sign", "verify_and_sign".
std::string_view name(signature_policy p) noexcept;

// Whether the card may say where calls go: never, or to another path of the origin of `url`, whose credentials they carry.
enum class card_trust : std::uint8_t { never, same_origin };

// "never", "same-origin".
std::string_view name(card_trust t) noexcept;

// Where an agent's extended card comes from: nowhere; from the agent, which the gateway asks with its own credentials; or from
// the gateway, which extends the agent's card itself. `automatic`: see extended_card_of().
enum class extended_card_access : std::uint8_t { automatic, off, proxy, managed };

// "auto", "off", "proxy", "managed".
std::string_view name(extended_card_access a) noexcept;

// Who delivers push notifications to callers: the agents themselves, or the gateway, which agents then notify instead.
enum class push_mode : std::uint8_t { passthrough, mediate };

// "passthrough", "mediate".
std::string_view name(push_mode m) noexcept;

// How MCP clients call an A2A agent: with one tool for the agent, with one for each of its skills, or not at all.
enum class tool_form : std::uint8_t { agent, skills, off };

// "agent", "skills", "off".
std::string_view name(tool_form f) noexcept;

// Which cards show a skill: all, or only extended ones.
enum class skill_visibility : std::uint8_t { everyone, extended };

// "public", "extended".
std::string_view name(skill_visibility v) noexcept;

// Who sees skills of an A2A agent, or tools of an MCP server. The first rule whose pattern fits an id counts.
struct skill_rule {
    std::string id;  // of the skill or tool; `*` is any text
    skill_visibility visibility = skill_visibility::everyone;
    std::vector<std::string> required_scopes;  // the principal has all of them; only of `extended`

    friend bool operator==(const skill_rule&, const skill_rule&) = default;
};

// Additions to an extended card for some principals.
struct card_overlay {
    access_policy when;
    std::string card;  // JSON object text: a part of a card

    friend bool operator==(const card_overlay&, const card_overlay&) = default;
};

// Whether what an agent says of itself is compared with what was approved: not at all, with an event for a change, or so that only the
// approved reaches callers.
enum class pin_mode : std::uint8_t { off, warn, enforce };

// "off", "warn", "enforce".
std::string_view name(pin_mode m) noexcept;

struct pin_settings {
    std::optional<pin_mode> mode;     // instead of defaults.pin
    std::vector<std::string> except;  // tools that are not compared; `*` is any text

    friend bool operator==(const pin_settings&, const pin_settings&) = default;
};

struct skill_tags {
    std::string id;  // as of skill_rule
    std::vector<std::string> tags;

    friend bool operator==(const skill_tags&, const skill_tags&) = default;
};

// Replacements in every card of the agent; an empty one leaves the agent's own text.
struct card_patch {
    std::string description;
    std::string documentation_url;
    std::string provider_organization;  // goes with provider_url
    std::string provider_url;
    std::vector<skill_tags> skills;  // the first that fits an id counts

    friend bool operator==(const card_patch&, const card_patch&) = default;
};

struct agent {
    std::string id;
    protocol speaks = protocol::a2a;
    // http or https, no fragment, no user info; of A2A also grpc or grpcs without a path: it is called by gRPC alone. Traffic goes here
    // and nowhere else, but see `trust` and `grpc_url`.
    std::string url;
    std::string grpc_url;  // of A2A: grpc or grpcs, where it takes gRPC beside `url`; empty: as grpc_address() says
    std::vector<std::string> relay_services;  // of A2A: gRPC services besides A2A's that pass unread, as `pkg.Service`
    http_version http = http_version::automatic;
    std::vector<secret> queries;  // of A2A: that of `url`, or one for each of `rules.upstreams`; empty: none has one
    boxed<mcp_server> mcp;        // how it is reached, if it speaks MCP
    std::string card_url;         // empty: looked for beside `url` (docs/architecture.md)
    card_trust trust = card_trust::never;
    std::vector<a2a_dialect> dialects;  // of A2A, instead of what its card says; each once; empty: as the card says
    bool bridge = true;  // calls of other dialects, of an MCP server those of A2A, are translated to its own
    tool_form as_tools = tool_form::agent;          // of A2A
    duration tool_wait = std::chrono::seconds{45};  // of A2A: until the caller of a tool gets the task that goes on
    extended_card_access extended_card = extended_card_access::automatic;
    std::vector<skill_rule> skills;      // a skill that no rule is for is public
    std::vector<card_overlay> overlays;  // of extended cards that the gateway makes, applied in this order
    boxed<card_patch> patch;
    std::string card;  // an inline card as JSON text; served without a fetch; empty: fetched
    std::vector<std::pair<std::string, secret>> card_headers;  // sent with card fetches
    std::optional<push_mode> push;                             // instead of the gateway's
    std::optional<card_shape> shape;                           // instead of cards.shape
    std::optional<signature_policy> signatures;                // instead of cards.signatures
    std::string trusted_keys;                                  // JWK Set file, instead of cards.trusted_keys
    std::vector<std::string> key_set_origins;                  // instead of cards.key_set_origins
    secret bearer;                                             // sent with calls and card fetches
    agent_credentials credentials;                             // the same; not beside `bearer`
    std::vector<std::pair<std::string, secret>> headers;       // the same; of an MCP server: with every request
    caller_credentials of_callers;                             // what the agent gets of its callers' credentials
    secret proxy;                           // to it; see net/upstream/proxies.hpp; empty: the gateway's
    std::optional<duration> timeout;        // instead of timeouts.upstream_head
    std::optional<duration> read_timeout;   // instead of timeouts.upstream_read
    std::string ca_file;                    // PEM; empty: the system's trust store
    std::string cert_file;                  // PEM: what agents are shown that ask who calls
    std::string key_file;                   // PEM; goes with cert_file
    std::vector<std::string> relay_paths;   // glob patterns: what is relayed opaquely
    std::vector<std::string> hosts;         // names of its own (core/host_names.hpp), in lower case
    std::optional<access_policy> discover;  // who may know of it; nullopt: as access.rules say
    std::optional<access_policy> call;      // who may call it; nullopt: as access.rules say
    std::vector<principal_name> acts_as;    // with whose credentials the agent itself calls
    pin_settings pin;
    bool extensions_of_03 = false;  // callers of 0.3 have to name what its card requires
    bool disabled = false;          // known, but answered like an unknown agent
    bool registered = false;        // by itself, see register: reached at public addresses only
    std::string registered_by;      // provider and id of a principal; empty: whoever has the token for registrations
    std::string version;            // the operator's note; shown, never interpreted
    std::string protocol_version;   // as the operator gives it; shown, never interpreted
    std::string metadata = "{}";    // JSON object text; shown by agents/get, never interpreted

    // These instead of defaults.breaker.
    std::optional<std::uint64_t> breaker_failures;
    std::optional<double> breaker_ratio;
    std::optional<std::uint64_t> breaker_volume;
    std::optional<duration> breaker_window;
    std::optional<duration> breaker_cooldown;
    std::optional<duration> breaker_max_cooldown;
    std::optional<duration> breaker_probe;

    boxed<endpoint_rules> rules;
    // These instead of defaults.limits and defaults.timeouts.
    std::optional<std::uint64_t> most_in_flight;
    std::optional<std::uint64_t> most_queued;
    std::optional<std::uint64_t> most_streams;
    std::optional<duration> queue_wait;

    friend bool operator==(const agent&, const agent&) = default;
};

// Whether the agent takes calls by gRPC alone: its `url` has a scheme of gRPC.
bool only_grpc(const agent& record) noexcept;

// Where the agent takes gRPC, as an http or https URL without a path: its `url` if it has a scheme of gRPC, else `grpc_url`. Empty: the
// operator names no such place.
std::string grpc_address(const agent& record);

// Whether the gateway has something to show to the agent that other callers of the agent do not have.
bool has_credentials(const agent& record) noexcept;

// Where its extended card comes from: off, proxy or managed. With `authenticates` (the gateway has providers), only principals
// get one, and `automatic` is proxy. Without, `automatic` is proxy unless the agent has a credential that it would be asked
// with, and managed is off, since nobody is a principal. An MCP server has no extended card of its own.
extended_card_access extended_card_of(const agent& record, bool authenticates) noexcept;

// The record's own settings, or `defaults`.
breaker_settings breaker_of(const agent& record, const breaker_settings& defaults) noexcept;
call_limits limits_of(const agent& record, const call_limits& defaults) noexcept;

inline pin_mode pin_of(const agent& record, pin_mode defaults) noexcept
{
    return record.pin.mode.value_or(defaults);
}

health_settings health_of(const agent& record, const health_settings& defaults) noexcept;
retry_settings retry_of(const agent& record, const retry_settings& defaults) noexcept;

// The query that goes with whatever is sent to `url`, which may be any of the agent's addresses. Empty: none.
const secret& query_of(const agent& record) noexcept;

// The record's own rules; none if it has none.
const endpoint_rules& rules_of(const agent& record) noexcept;

// Letters, digits, '.', '_' and '-'; 1 to 128 of them; no "..", not ".": an id is one path segment that no
// normalisation changes (RFC 3986 section 5.2.4).
bool valid_agent_id(std::string_view id) noexcept;

std::string_view name(protocol p) noexcept;

}  // namespace core
