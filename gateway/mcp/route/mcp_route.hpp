// /agents/<id>/mcp: messages to an MCP server (MCP, basic/transports). They pass as bytes, in the era that the caller speaks. The
// id of a session is sealed (mcp/calls/session_id.hpp): the server's own over streamable HTTP, so that any worker can serve it, or
// what a session with a program is found by (program_call.hpp). One thread.
#pragma once

#include "gateway/mcp/route/era_choice.hpp"
#include "gateway/relay/redirects.hpp"
#include "gateway/request/agent_relay.hpp"
#include "gateway/request/replica_relay.hpp"
#include "gateway/request/route_base.hpp"
#include "mcp/calls/incoming.hpp"
#include "mcp/calls/incoming_check.hpp"
#include "mcp/calls/session_id.hpp"
#include "mcp/calls/text_edits.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::mcp::route {

struct mcp_call;
struct program_message;

// A message as it was posted. The body holds until the request has been answered.
struct posted_message {
    std::string_view body;
    ::mcp::incoming_body read;

    // Has the places of `read` those of the message in an edited copy of the body.
    void set_edited(std::span<const ::mcp::text_edit> edits)
    {
        read.message = ::mcp::moved(read.message, edits);
        read.id = read.message[::mcp::routed::id];
    }
};

class mcp_route : public request::route_base {
public:
    // References outlive the route.
    mcp_route(
        model::control_services& control,
        const config::settings& settings,
        const request::local_snapshot& known,
        request::agent_relay& relays,
        request::replica_relay& replicas
    )
        : route_base{control, settings, known},
          relays_{relays},
          replicas_{replicas}
    {
    }

    // Sets what session ids are sealed and opened with from now on; not null.
    void set_session_ids(std::shared_ptr<const ::mcp::session_ids> ids) { ids_ = std::move(ids); }

    // Answers a message to an agent that is an MCP server.
    net::routine<> serve(request::request_context& request);

    // The message of the request, of at most so many bytes, with what was read of it; sets errors.call_id. Nothing: the request has been
    // answered.
    net::routine<std::optional<posted_message>> read_message(mcp_call& call, std::uint64_t most);

    // Passes a message on to a member of a bundle, which is the agent of the request and allowed to the caller, and has passed check_post();
    // or a GET that goes on with a stream of the member, which is no message.
    net::routine<> serve_member(mcp_call& call, const ::mcp::incoming_body& read, std::string_view body);

    // Passes a request on to mcp_call::port.
    net::routine<> serve_stream(mcp_call& call);

    static net::routine<> refuse(request::request_context& request, const ::mcp::refusal& why);

    // Answers with the methods of the route, whatever the agent; without credentials.
    net::routine<> serve_options(request::request_context& request) const;

    // The control loop knows more of this session than its id says: from now on, or not any more.
    void ask_about(const ::mcp::session_digest& id, bool ask);

private:
    net::routine<> look(mcp_call& call);
    [[gnu::noinline]] net::routine<> pass_to_program(mcp_call& call);
    void account(mcp_call& call);
    net::routine<> post(mcp_call& call);
    net::routine<> pass_message(mcp_call& call, const ::mcp::incoming_body& read, std::string_view body);
    net::routine<::mcp::incoming_body> read_long_message(mcp_call& call, std::string_view body);
    void expect_session(mcp_call& call, const ::mcp::incoming& initialize, std::string_view body) const;
    std::optional<net::routine<>> prepare(mcp_call& call, const ::mcp::incoming_body& read, std::string_view body);
    std::optional<net::routine<>> set_local_call(mcp_call& call, const program_message& what) const;
    void write_call(mcp_call& call, const ::mcp::incoming_body& read, std::string_view passed, ::mcp::answer_form form)
        const;
    net::routine<> pass_bodiless(mcp_call& call);
    core::result<std::string_view> open_session(mcp_call& call, const ::mcp::head_fields& fields) const;
    net::routine<> find_session(mcp_call& call) const;
    void set_server_call(mcp_call& call, std::string_view body, bool listens, bool replayed, ::mcp::answer_form form)
        const;
    void write_head(mcp_call& call) const;
    std::string metadata_address(const request::request_context& request) const;

    request::agent_relay& relays_;
    request::replica_relay& replicas_;
    std::shared_ptr<const ::mcp::session_ids> ids_;
    std::set<::mcp::session_digest> asked_about_;
    relay::redirect_cache moved_;
    era_choice eras_{settings_.deadlines.fields};
};

}  // namespace gateway::mcp::route
