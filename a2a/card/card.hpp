// Agent cards of every generation: read liberally, repaired to what their shape requires, made to point at the gateway.
// Sources: types.ts of 0.2.0 to 0.3.0; a2a.proto of 1.0.1, whose JSON form is ProtoJSON.
// Everything here is a pure function of its parameters; any thread. Member order and unknown members survive.
#pragma once

#include "core/error.hpp"
#include "core/json/json.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace a2a {

// By the members a card has, and only then by what it claims: those of 1.0 and of no version before make it v1, those of
// versions before and not of 1.0 one of the others, both a hybrid. Which of 0.x: what protocolVersion says, but
// both `preferredTransport` and `signatures` are 0.3; without one, `authentication` is 0.1, `preferredTransport` or
// `additionalInterfaces` 0.3, and anything else 0.2.
enum class card_generation : std::uint8_t { v01, v02, v03, v1, hybrid };

// "v0.1", "v0.2", "v0.3", "v1", "hybrid".
std::string_view name(card_generation g) noexcept;

enum class problem_severity : std::uint8_t {
    error,    // a reader that follows the specification may refuse the card, or miss what is meant
    warning,  // some readers stumble
    note,     // worth knowing
};

std::string_view name(problem_severity s) noexcept;

// A defect of a card as the agent wrote it. `path` reads "skills[0].id" and may hold member names of the card;
// `what` is always ours.
struct card_problem {
    std::string path;
    std::string what;
    problem_severity severity = problem_severity::error;

    friend bool operator==(const card_problem&, const card_problem&) = default;
};

inline constexpr std::size_t max_card_problems = 100;    // what comes after is counted in one last entry
inline constexpr std::size_t max_card_skills = 10000;    // the rest is dropped
inline constexpr std::size_t max_requirements = 64;      // of a `security` list; the rest is dropped
inline constexpr std::size_t max_required_schemes = 64;  // of one requirement; one with more is dropped
inline constexpr unsigned max_nested_cards = 4;          // `agentCard` inside `agentCard`; deeper ones are dropped

struct card {
    core::json document;  // an object with a `name`; repaired; its URLs are still the agent's own
    card_generation generation = card_generation::v03;
    std::vector<card_problem> problems;  // every repair, in the order of the walk
};

// A card as its agent wrote it: an object. Fails with an upstream error: card_too_large over limits.bytes; card_not_json, also
// with more than one value for every ten bytes of the limit and more than 1000 (a list of zeros costs as much as ten texts of
// its size); card_invalid if it is not an object.
core::result<core::json> read_card(std::string_view text, core::json_limits limits = {});

// `written` is an object. Fails with card_invalid if it has no `name` to speak of (a string that is not blank). Anything else
// is repaired and recorded.
core::result<card> repair_card(core::json written);

// Both.
core::result<card> parse_card(std::string_view text, core::json_limits limits = {});

// Whether a card announces an extended one.
enum class extended_card_flag : std::uint8_t { as_written, no, yes };

// Where callers reach the agent by gRPC, which has no paths.
struct grpc_place {
    std::string authority{};  // `host:port`, as SDKs dial it; empty: gRPC is not offered
    // How calls name the agent there: in front of the agent's own tenant, so that only callers of 1.0 reach it. Empty: they need not.
    std::string tenant{};
    bool own = false;  // the agent itself takes gRPC; else calls are translated
};

// The address for callers: `https://gateway/agents/<id>`, without a slash at the end.
struct public_address {
    std::string base;
    extended_card_flag extended_card = extended_card_flag::as_written;
    bool bridged = false;  // calls are translated: a card offers 1.0 and 0.3 over every served binding
    grpc_place grpc{};
};

// Where the agent is; must not be seen in a traffic URL. `card_url` may be empty.
struct upstream_address {
    std::string url;
    std::string card_url;
    bool reachable = false;  // the operator says what the agent speaks or where it takes gRPC, whatever its card names
};

// A binding that the gateway serves, at the public base followed by `suffix`, or by gRPC at the place for that. Interfaces of
// bindings that are not listed are dropped from cards. The first one is what a card offers when it names no binding. Each binding
// has an address of its own, which both generations share: a URL must not stand for two transports (0.3.0 section 5.6.4), and
// clients of 0.3 add `/v1` to that of HTTP+JSON themselves.
struct served_binding {
    std::string_view name;  // as the specification spells it
    std::string_view suffix;
    bool by_grpc = false;
};

inline constexpr std::array<served_binding, 3> served_bindings{
    {{"JSONRPC", ""}, {"HTTP+JSON", "/rest"}, {"GRPC", "", true}}
};

// The card as callers see it. Every traffic URL (`url`, `additionalInterfaces[].url`, `supportedInterfaces[].url`, the
// same in a nested `agentCard`) is the gateway's; identity URLs (provider, documentation, icon, security schemes,
// extensions, skills) are untouched; `signatures` are gone: they cannot hold for a changed card. One interface is left
// per binding, protocol version and tenant, 1.x before 0.x; there is always at least one endpoint. Those by gRPC are left where
// `at.grpc` is a place. With `at.bridged` the lists that the card has are complete: 1.0 before 0.3 over each served binding, that
// of the agent's first interface first, with each tenant of the agent in 1.0; by gRPC 1.0 alone if calls name the agent there. The `url` of a nested card is that of the card, unless the nested card says how it is
// called. `url` of a card of 0.2 that has an extended one ends with a slash, so that its callers find that below the agent.
// What the card says of an extended one is what `at` says.
// Fails with card_unrewritable if the card names only bindings that the gateway cannot reach (those that are URIs, and GRPC unless
// the upstream is reachable), which the detail names, or if a traffic position would still name the agent's address, which is checked by a walk of its own
// over the result.
core::result<core::json> rewrite_card(card source, const public_address& at, const upstream_address& upstream);

// The bytes that are served: compact JSON, equal for equal documents.
std::string render(const core::json& document);

// Facts about a card for agents/get and the audit line.
struct card_facts {
    std::string name;
    std::string description;
    std::string version;
    std::string protocol_version;  // the card's own, else its first interface's, else empty
    card_generation generation = card_generation::v03;
    std::size_t skills = 0;
    std::vector<std::string> capabilities;      // those of the specification that are true
    std::vector<std::string> security_schemes;  // names
    std::size_t errors = 0;                     // of the problems that were repaired
    std::size_t warnings = 0;
};

card_facts facts(const card& source);

// A strong entity tag of served bytes (RFC 9110 section 8.8.3), quotes included: the first 128 bits of the SHA-256 as 32 hex digits. Equal
// on every replica.
std::string strong_etag(std::string_view bytes);

}  // namespace a2a
