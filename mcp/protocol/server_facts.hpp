// The facts that a server states when a session begins, and those that its answers reveal: its era, also that it is another one
// by now, and that it has forgotten a session. Pure; any thread.
#pragma once

#include "core/error.hpp"
#include "mcp/protocol/message.hpp"
#include "mcp/protocol/version.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcp {

// Strings are the server's own words: any text; empty: it did not say.
struct server_facts {
    era speaks = era::legacy;
    std::string protocol_version;
    std::string name;
    std::string title;
    std::string version;
    std::string description;
    std::string website;
    std::string instructions;
    std::vector<std::string> icons;   // addresses
    std::string info = "{}";          // `serverInfo` as JSON on one line
    std::string capabilities = "{}";  // as JSON on one line
    list_set offers;                  // by capabilities; templates go with resources
    list_set undeclared;              // of these the capabilities say nothing that can be read; asking tells
    list_set announces;               // changes of these, by capabilities

    friend bool operator==(const server_facts&, const server_facts&) = default;
};

inline constexpr unsigned deepest_fact = 56;  // of nested containers: a card puts more around it

// Bytes of an answer to `initialize` or `server/discover`, and of its result: it is read more than once, on a loop.
inline constexpr std::size_t longest_handshake = 256 * 1024;

// The lists whose changes a server announces, by its raw capabilities; templates go with resources.
list_set announced_lists(std::string_view capabilities);

// The result of `initialize`. Fails with upstream_protocol if it is over longest_handshake or not an object, has a version that the gateway does not
// speak or that has no `initialize`, or capabilities that are not usable(). Other members of a wrong type are absent.
core::result<server_facts> read_initialize_result(std::string_view raw);

// The result of `server/discover`: the newest version of the modern era that both speak. Fails as above.
core::result<server_facts> read_discover_result(std::string_view raw);

// Judges the answer to `server/discover` on a connection that carried nothing before (2026-07-28, basic/versioning): the
// modern era if it is a result that names a version of it or an error that only that era has; legacy if it is anything
// else, also a result or error that names versions of ours in the legacy era only.
era era_of_answer(const message& answer);

// Whether an answer to `initialize` is what a server says that does not speak the legacy era: an error of the modern one, or
// that it knows no such method (MCP 2026-07-28, basic/versioning).
bool says_modern_only(std::string_view answer);

// Judges it over HTTP; `answer` is null if the body was no message. Nothing: 401, 403, 408, 425, 429, 3xx and 5xx say nothing
// about the era.
std::optional<era> era_of_http_answer(unsigned status, const message* answer);

// Judges the answer to a request in a session that speaks `spoken`: the other era, if only a server of that one answers so. To the legacy
// era an error that only the modern one has; to the modern one an error that speaks of sessions, of `initialize` or of the protocol's
// version with another code than -32022. Nothing: a server of the same era may answer so.
std::optional<era> other_era(const message& answer, era spoken);

// Whether the answer to a request that named a session says that there is none: 404 but for an error about the method or
// its parameters, or 400 with an error that speaks of sessions, as widely used servers have it.
bool says_session_lost(unsigned status, const message* answer) noexcept;

}  // namespace mcp
