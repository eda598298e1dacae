// /agents/<id>/mcp: messages to an MCP server (MCP, basic/transports). They pass as bytes, in the era that the caller speaks. The
// id of a session is sealed (mcp/calls/session_id.hpp): the server's own over streamable HTTP, so that any worker can serve it, or
// what a session with a program is found by (program_call.hpp). One thread.
#pragma once

#include "gateway/mcp/route/era_choice.hpp"
#include "gateway/request/endpoint.hpp"
#include "mcp/calls/incoming.hpp"
#include "mcp/calls/incoming_check.hpp"
#include "mcp/calls/session_id.hpp"
#include "mcp/calls/text_edits.hpp"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::mcp::route {

class mcp_endpoint : public request::endpoint {
public:
    using endpoint::endpoint;

    // What session ids are sealed and opened with from now on; not null.
    void set_session_ids(std::shared_ptr<const ::mcp::session_ids> ids) { ids_ = std::move(ids); }

    // Of an agent that is an MCP server.
    net::routine<> look(request::request_context& request);

    // The methods that it has, whatever the agent; without credentials.
    net::routine<> answer_options(request::request_context& request) const;

    // What its record says of a message to an MCP server and of the session that it is part of, when it is answered.
    void account(request::request_context& request);

    // Where this session is known of which its id does not say enough: from now on, or not any more.
    void ask_about(const ::mcp::session_digest& id, bool ask);

private:
    net::routine<> post(request::request_context& request);
    net::routine<::mcp::incoming_body> read_long_message(request::request_context& request, std::string_view body);
    std::optional<net::routine<>>
    prepare(request::request_context& request, const ::mcp::incoming_body& read, std::string_view body);
    void write_call(
        request::request_context& request,
        const ::mcp::incoming_body& read,
        std::string_view passed,
        ::mcp::answer_form form
    ) const;
    net::routine<> pass_bodiless(request::request_context& request);
    core::result<std::string_view> open_session(request::request_context& request, const ::mcp::head_fields& fields)
        const;
    net::routine<> find_session(request::request_context& request) const;
    relay::relay_call& set_server_call(
        request::request_context& request,
        std::string_view body,
        bool listens,
        bool replayed,
        ::mcp::answer_form form
    ) const;
    static net::routine<> refuse(request::request_context& request, const ::mcp::refusal& why);
    void write_head(request::request_context& request) const;
    std::string metadata_address(const request::request_context& request) const;

    std::shared_ptr<const ::mcp::session_ids> ids_;
    std::set<::mcp::session_digest> asked_about_;
    relay::moved_paths moved_;
    era_choice eras_{settings_.deadlines.fields};
};

}  // namespace gateway::mcp::route
