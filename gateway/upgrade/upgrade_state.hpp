// The state that a gateway passes to its successor at a hand-over, as messages: never on disk. Pure.
#pragma once

#include "gateway/model/upgrade.hpp"
#include "gateway/reload/configuration.hpp"
#include "gateway/sessions/passed_lists.hpp"
#include "gateway/upgrade/upgrade_messages.hpp"
#include "store/engine.hpp"
#include "store/memory.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::upgrade {

// The lists of an MCP server.
std::string content_of(const sessions::passed_lists& lists);

// Nothing: it is not whole.
std::optional<sessions::passed_lists> lists_in(std::string_view content);

struct handover_counts {
    std::uint64_t completed = 0;  // that led to this process
    std::uint64_t failed = 0;
    std::uint64_t refused = 0;

    friend bool operator==(const handover_counts&, const handover_counts&) = default;
};

struct upgrade_state {
    std::string tickets;                           // net::ticket_keys; empty: none
    std::optional<store::memory_contents> memory;  // nothing: the store is on disk
    handover_counts counts;
    std::vector<sessions::passed_lists> lists;
    std::vector<store::kept_document> unwritten;  // containments that hold, and that the store has not taken
};

// Fails with too_large: more than `most` bytes in all, or one content is over largest_handover_content. Lists that would be too much
// are left out: the servers give them again.
core::result<std::vector<std::string>> frames_of(const upgrade_state& state, std::size_t most = largest_handover);

// Adds what a message says. One of another kind, or that is not whole, changes nothing.
void add_to(upgrade_state& state, const handover_message& message);

// Messages about tasks that a process learns during its drain, each of which is read without the others.
std::vector<std::string> frames_of(const model::known_tasks& tasks);
std::optional<model::known_tasks> tasks_in(std::string_view content);

// A document that a process could not write.
std::string frame_of_unwritten(const store::kept_document& document);
std::optional<store::kept_document> document_in(std::string_view content);

// The first message: for which addresses of the configuration the sockets are.
struct handover_hello {
    static constexpr std::uint64_t protocol = 1;

    std::uint64_t speaks = protocol;
    // The addresses of the configuration; nothing: the service manager passed the socket, whatever the configuration says.
    reload::inherited_addresses configured;
};

std::string content_of(const handover_hello& hello);

// Nothing: it is not whole.
std::optional<handover_hello> hello_in(std::string_view content);

// The answer of the next gateway when its configuration is valid.
struct handover_prepared {
    std::uint64_t schema = 0;  // of a store on disk, store::sqlite_schema()
    std::string version;
};

std::string content_of(const handover_prepared& prepared);
std::optional<handover_prepared> prepared_in(std::string_view content);

}  // namespace gateway::upgrade
