// The parts of an agent record that are more than one value, and its addresses. Each reader reports what is wrong and goes on.
#pragma once

#include "config/fields.hpp"
#include "config/problem.hpp"
#include "core/agent.hpp"
#include "core/json/json.hpp"
#include "core/secret.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace config {

// A bearer is visible ASCII, at most 16 KiB. Empty is none. `text` never reaches a problem.
core::secret bearer_of(const field& f, const std::string& text, problem_list& problems);

// The messages that carry header fields: fetches of cards, calls (and these fetches), or messages to an MCP server. Some fields are the
// caller's, the gateway's or the protocol's own.
enum class header_use : std::uint8_t { cards, calls, mcp };

// Whether a header field of this name frames or routes the message, so that it cannot carry anything else.
bool routes_message(std::string_view name);

// Whether the operator may not set a header field of this name, because it is somebody else's in such use.
bool is_reserved(std::string_view name, header_use use);

// The reason why `value` cannot be a header field's value, or nothing.
std::string_view wrong_header_value(std::string_view value);

// A map of header fields. Names are tokens (RFC 9110 section 5.6.2), each once, none that frames or routes the message or is
// the gateway's in such use; values are one line.
std::vector<std::pair<std::string, core::secret>>
read_headers(const field& f, problem_list& problems, header_use use = header_use::cards);

// `speaks`: each dialect once.
std::vector<core::a2a_dialect> read_dialects(const field& f, problem_list& problems);

// `grpc_url`. Empty after a problem.
std::string read_grpc_url(const field& f, problem_list& problems);

// `relay_services`: names of services with their package, each once.
std::vector<std::string> read_relay_services(const field& f, problem_list& problems);

// Checks what `url`, `grpc_url`, `http` and `speaks` of an A2A agent say together; `given` has those that the agent has.
void check_grpc(const core::agent& agent, const members& given, problem_list& problems);

// `relay_paths`: each begins with '/' and has no query, no dot segment and no control character.
std::vector<std::string> read_relay_paths(const field& f, problem_list& problems);

// `card`: a map with a name, as JSON text.
std::string read_card(const field& f, problem_list& problems);

// `metadata`, and what its member `agentCard` says of the card (SuperX): with a non-empty name it is an inline card and
// leaves the metadata; else its `url` is the card's address.
struct metadata_parts {
    core::json members = core::json::object();
    std::string card;
    std::string card_url;
};
metadata_parts read_metadata_parts(const field& f, problem_list& problems);

// Takes `url` or `upstreams` of an A2A agent out of `given`. `path`, `at`: of the agent.
void read_upstreams(members& given, std::string_view path, place at, core::agent& into, problem_list& problems);

// Whether a key is for A2A agents alone, of those of this file.
void refuse_upstreams_of_mcp(const members& given, problem_list& problems);

// `acts_as`: names of principals, each once.
std::vector<core::principal_name> read_acts_as(const field& f, problem_list& problems);
core::json shown_acts_as(const std::vector<core::principal_name>& all);

// `pin`: a mode, or a map with `mode` and `except`.
core::pin_settings read_pin(const field& f, problem_list& problems);
core::json shown_pin(const core::pin_settings& pin);

// An absolute path, with a query if it has one.
std::optional<std::string> read_health_path(const field& f, problem_list& problems);

// Makes a number of milliseconds a duration with a unit; the new node is in `made`. Other text stays, and is refused as no
// duration.
field with_milliseconds(field f, std::deque<node>& made, problem_list& problems);

}  // namespace config
