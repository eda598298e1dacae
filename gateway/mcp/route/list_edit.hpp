// A list of an MCP server, of which callers see what its filter lets them. One thread, that of the caller's loop.
#pragma once

#include "gateway/model/snapshot.hpp"
#include "gateway/relay/answer_edit.hpp"
#include "gateway/threads/side_thread.hpp"
#include "mcp/calls/list_edit.hpp"
#include "net/loop/types.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gateway::mcp::route {

class list_edit final : public relay::answer_edit {
public:
    // The agent has filters. `scopes` as of name_filters::shows(); they and `side` outlive the edit; `here`: of the caller's loop.
    list_edit(
        std::shared_ptr<const model::agent_entry> agent,
        ::mcp::list_kind list,
        const std::vector<std::string>* scopes,
        threads::side_thread& side,
        net::executor here
    );

    // Fails with upstream_protocol: it is no answer that can be read.
    net::routine<core::result<model::edited_answer>> edit(std::string text) override;

private:
    core::result<model::edited_answer> edit_here(const std::string& text) const;

    std::shared_ptr<const model::agent_entry> agent_;
    ::mcp::list_kind list_;
    const std::vector<std::string>* scopes_;
    threads::side_thread& side_;
    net::executor here_;
};

}  // namespace gateway::mcp::route
