// The approvals of all agents. On one thread at a time, which is not a loop: to compare four megabytes takes a tenth of a second.
#pragma once

#include "core/error.hpp"
#include "gateway/model/pin_judges.hpp"
#include "mcp/pins/lock_file.hpp"
#include "mcp/pins/pin_ledger.hpp"
#include "mcp/pins/pinned_server.hpp"
#include "mcp/protocol/discovery.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::management {

// The approvals of an agent as the control loop knows them.
struct pin_view {
    std::shared_ptr<const ::mcp::pinned_server> pins;  // of an MCP server with pin: enforce; null: no other has any
    bool waits = true;                                 // nothing of the agent is approved, as far as it is known
    std::array<std::size_t, 3> held{};                 // by ::mcp::pin_kind
    std::string source{};                              // as of ::mcp::pin_ledger
};

// The approvals of one agent after something was compared, and the changes that were found.
struct pin_outcome {
    pin_view view;
    std::vector<::mcp::pin_change> changes{};
    std::optional<std::string> text{};  // for the store; nothing: it has not changed
};

class pin_desk {
public:
    // The document of an agent in the store. If it cannot be read, everything of the agent waits to be approved again.
    core::result<> load(const std::string& id, std::string_view text);

    struct locked {
        pin_outcome outcome;
        bool card;  // another one is approved, or none
    };
    // Likewise, for a document that another replica wrote: the outcome is not written. Nothing: the document is the one last known.
    core::result<std::optional<locked>>
    learn(const std::string& id, std::string_view text, const ::mcp::pin_terms& terms);

    // The store has this of the agent now.
    void note_kept(const std::string& id, std::string_view text);

    void set_lock(std::shared_ptr<const ::mcp::lock_file> lock) { lock_ = std::move(lock); }

    // The agent's part of the lock file, which may be empty; nothing: there is no file, or it does not concern an agent with this mode.
    std::optional<::mcp::locked_agent> lock_of(const std::string& id, core::pin_mode mode) const;

    struct judged_lists {
        pin_outcome outcome;
        std::shared_ptr<const ::mcp::server_lists> lists;  // as callers get them
    };
    judged_lists
    take_lists(const std::string& id, std::shared_ptr<const ::mcp::server_lists> seen, ::mcp::pin_terms terms);

    struct judged_card {
        pin_outcome outcome;
        model::card_verdict verdict;
    };
    judged_card take_card(const std::string& id, const std::string& text, std::size_t most, ::mcp::pin_terms terms);

    pin_outcome take_tools(const std::string& id, const std::vector<::mcp::listed_item>& tools, ::mcp::pin_terms terms);

    // Fails as pin_ledger::approve().
    core::result<pin_outcome>
    approve(const std::string& id, const std::vector<::mcp::pin_key>& items, const ::mcp::pin_terms& terms);

    // The lock file, and the agent's addresses, count from now on as they are.
    locked apply_lock(const std::string& id, const ::mcp::pin_terms& terms);

    pin_view view(const std::string& id, const ::mcp::pin_terms& terms);

    core::json shown(const std::string& id, bool with_diff) const;
    void forget(const std::string& id);

private:
    struct desk_entry {
        ::mcp::pin_ledger ledger;
        std::size_t bytes = 0;
        std::string kept{};                                // digest of what the store has, if replicas share it
        std::uint64_t shown = 0;                           // the ledger's revision of these
        std::shared_ptr<const ::mcp::pinned_server> pins;  // null: not made
    };

    desk_entry& entry_of(const std::string& id, ::mcp::pin_terms& terms);
    pin_outcome settled(desk_entry& entry, const ::mcp::pin_terms& terms, std::uint64_t before);
    pin_view view_of(desk_entry& entry, const ::mcp::pin_terms& terms);

    std::map<std::string, desk_entry, std::less<>> entries_;
    std::size_t bytes_ = 0;                         // of all
    std::shared_ptr<const ::mcp::lock_file> lock_;  // null: there is none
};

}  // namespace gateway::management
