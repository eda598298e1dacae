// What an MCP server's answer to one message has to be, and what its head says to the caller: the session's id as the gateway
// seals it, and what lets a page of another origin read it (Fetch standard, "CORS protocol"). One thread.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/traffic/relay_call.hpp"
#include "mcp/calls/session_id.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::traffic {

class mcp_answer final : public answer_terms {
public:
    // `origin`: of the page that asks and may read the answer; empty: no page of another origin.
    mcp_answer(std::string_view origin, bool forbidden)
        : origin_{origin},
          forbidden_{forbidden}
    {
    }

    // The page that asks may not.
    bool is_forbidden() const noexcept { return forbidden_; }

    // The message belongs to a session: 404 says that the server has lost it.
    void expect_session() noexcept { in_session_ = true; }

    // The message is `initialize`. The session that the answer names is `begins` but for its place; `ids` seal it for the
    // binding, whose views outlive the answer.
    void
    expect_begin(mcp::sealed_session begins, mcp::session_binding binding, std::shared_ptr<const mcp::session_ids> ids);

    // The same of a session that lives in this process, whose id it returns: visible ASCII.
    std::string begin_here(mcp::local_handle place);

    // Fails with upstream_status (the server asks who the gateway is), session_not_found, and upstream_protocol (what cannot be
    // a session's id).
    core::result<> accept(const net::http1::response_head& head) override;

    void add_fields(std::string& fields) const override;

    std::string_view origin() const noexcept { return origin_; }

private:
    std::string origin_;
    mcp::sealed_session begins_;
    mcp::session_binding binding_;
    std::shared_ptr<const mcp::session_ids> ids_;  // null: it is no `initialize`
    std::string sealed_;
    bool forbidden_;
    bool in_session_ = false;
    bool lacks_no_buffering_ = false;
};

// The fields that answers to a page of this origin have; nothing for none.
void add_cross_origin_fields(std::string& fields, std::string_view origin);

}  // namespace gateway::traffic
