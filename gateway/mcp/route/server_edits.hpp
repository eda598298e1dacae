// Edits of the answers of MCP servers: lists of which callers see what their filter lets them, and what servers hand out, which is sealed
// for its caller. One thread, that of the caller's loop.
#pragma once

#include "gateway/access/task_index.hpp"
#include "gateway/model/control_services.hpp"
#include "gateway/model/program_port.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/relay/answer_edit.hpp"
#include "mcp/calls/handed_out.hpp"
#include "mcp/calls/list_edit.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::mcp::route {

// The filters of an agent; of one that has none, filters that let everything pass.
const ::mcp::name_filters& filters_of(const model::agent_entry& agent) noexcept;

// A list, of an agent that has filters or pins.
class list_edit final : public relay::text_edit {
public:
    // `scopes` as of name_filters::shows(); they outlive the edit. `control` hears of tools that nobody has approved.
    list_edit(
        std::shared_ptr<const model::agent_entry> agent,
        ::mcp::list_kind list,
        const std::vector<std::string>* scopes,
        const model::control_services& control,
        means with
    )
        : text_edit{std::move(with)},
          agent_{std::move(agent)},
          list_{list},
          scopes_{scopes},
          control_{control}
    {
    }

    // A stream begins with an event without data, so that it can be resumed (MCP 2025-11-25, basic/transports).
    bool concerns(std::string_view text) const override
    {
        return text.find_first_not_of(" \t\r\n") != std::string_view::npos;
    }

private:
    // Fails with upstream_protocol: the text is not an answer that can be read.
    core::result<model::edited_answer> edit_here(std::string text) const override;

    std::shared_ptr<const model::agent_entry> agent_;
    ::mcp::list_kind list_;
    const std::vector<std::string>* scopes_;
    const model::control_services& control_;
};

// The answer to `initialize` or `server/discover`, of an agent that has pins.
class opening_edit final : public relay::text_edit {
public:
    opening_edit(std::shared_ptr<const model::agent_entry> agent, means with)
        : text_edit{std::move(with)},
          agent_{std::move(agent)}
    {
    }

    bool concerns(std::string_view text) const override
    {
        return text.find_first_not_of(" \t\r\n") != std::string_view::npos;
    }

private:
    // Fails with upstream_protocol: the text is not an answer that can be read.
    core::result<model::edited_answer> edit_here(std::string text) const override;

    std::shared_ptr<const model::agent_entry> agent_;
};

// The receiver of ids that are handed out. Views and pointers hold as long as the request.
struct handed_out_owner {
    std::shared_ptr<const ::mcp::session_ids> ids;  // not null
    ::mcp::session_binding binding;
    access::task_index* tasks = nullptr;      // null: nobody keeps whose they are
    const core::principal* caller = nullptr;  // null: one without a credential

    ::mcp::handed_out_to client() const noexcept { return {ids.get(), binding}; }

    // Whether the task, as the server calls it, is known as the caller's. Any thread.
    bool owns(std::string_view task) const;

    // From now on it is, unless it is somebody else's. Any thread.
    void learn(std::string_view task) const;
};

class handed_out_edit final : public relay::text_edit {
public:
    handed_out_edit(handed_out_owner whose, ::mcp::handing what, means with)
        : relay::text_edit{std::move(with)},
          whose_{std::move(whose)},
          what_{what}
    {
    }

    bool concerns(std::string_view text) const override
    {
        return what_ == ::mcp::handing::task_list || ::mcp::may_hand_out(text);
    }

    bool passes(std::string_view beginning) const override
    {
        return what_ == ::mcp::handing::modern_request && ::mcp::hands_out_nothing(beginning);
    }

private:
    // Fails with upstream_protocol: a list of tasks that cannot be read.
    core::result<model::edited_answer> edit_here(std::string text) const override;

    handed_out_owner whose_;
    ::mcp::handing what_;
};

// The messages of a member of a bundle: URIs get the member's prefix, and the ids of what it asks name it.
class member_edit final : public relay::text_edit {
public:
    struct origin {
        std::string scheme;                  // of the member's URIs; empty: they stay
        std::string member;                  // the agent's id
        std::optional<std::string> session;  // of the member, which may ask in it; nullopt: it asks nothing
        bool has_uris = false;               // the client may use its URIs later
        bool has_tasks = false;              // ids of tasks are prefixed too
    };

    member_edit(origin from, means with)
        : relay::text_edit{std::move(with)},
          from_{std::move(from)}
    {
    }

    bool concerns(std::string_view text) const override;
    std::optional<std::string> event_id(std::string_view id) const override;

private:
    core::result<model::edited_answer> edit_here(std::string text) const override;

    origin from_;
};

// Edits the messages of a batch one by one. Those that the caller does not get leave it. If one cannot be edited, the failure is
// returned, and what follows leaves the batch too. Both outlive the routine.
net::routine<core::result<>> edit_each(relay::answer_edit& edit, model::program_batch& batch);

}  // namespace gateway::mcp::route
