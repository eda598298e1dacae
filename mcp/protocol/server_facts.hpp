// The facts that a server states when a session begins. Pure; any thread.
#pragma once

#include "core/error.hpp"
#include "mcp/protocol/message.hpp"
#include "mcp/protocol/version.hpp"

#include <cstddef>
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

}  // namespace mcp
