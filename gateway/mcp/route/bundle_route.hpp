// /mcp and /mcp/<name>: a bundle of agents as one MCP server, in both eras. What concerns all members is answered here, from the catalog that
// the control loop publishes; a message for one of them goes on to it as at /agents/<id>/mcp. One thread, that of the worker.
#pragma once

#include "gateway/bundles/bundle_sight.hpp"
#include "gateway/bundles/tool_index.hpp"
#include "gateway/mcp/route/mcp_call.hpp"
#include "gateway/mcp/route/mcp_route.hpp"
#include "gateway/model/published_bundle.hpp"
#include "gateway/request/access_guard.hpp"
#include "gateway/request/agent_relay.hpp"
#include "gateway/request/route_base.hpp"
#include "gateway/telemetry/worker_metrics.hpp"
#include "mcp/bundle/bundle_catalog.hpp"
#include "mcp/bundle/origins.hpp"
#include "mcp/bundle/tool_search.hpp"
#include "mcp/calls/incoming.hpp"
#include "mcp/calls/incoming_check.hpp"
#include "mcp/calls/session_id.hpp"
#include "mcp/calls/text_edits.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::mcp::route {

// One message to a bundle on its way. Lives in the coroutine of its route.
struct bundle_call {
    mcp_call message;
    model::bundle_pointer bundle;  // not null
    bundles::bundle_caller caller{};
    std::string bound_to{};  // what ids of its sessions are sealed for: no agent has such an id
    std::optional<model::bundle_session> session{
    };  // of a client of the legacy era; nullopt: the message is part of none
    std::optional<posted_message> posted{};  // nullopt: it has no body
    std::string unwrapped_text{};            // the message that a call of call_tool stands for; empty: it is none
    std::string member_text{};               // the message as its member gets it
    std::shared_ptr<std::atomic<std::uint32_t>> counted{};  // it counts as a call of the session; null: it does not
    std::shared_ptr<bool> cancelled{};  // by its client; null: it is no call in a session that one may cancel
    bool has_waited = false;            // for members that are starting

    // These two are for a POST alone.
    const ::mcp::incoming& read() const noexcept
    {
        return posted->read.message;  // NOLINT(*-optional-access)
    }
    std::string_view body() const noexcept { return posted->body; }  // NOLINT(*-optional-access)
};

class bundle_route : public request::route_base {
public:
    struct parts {
        mcp_route& members;  // passes messages on
        const request::access_guard& guard;
        telemetry::worker_metrics& metrics;
        request::replica_relay& replicas;
    };

    // References outlive the route.
    bundle_route(
        model::control_services& control,
        const config::settings& settings,
        const request::local_snapshot& known,
        parts of
    )
        : route_base{control, settings, known},
          members_{of.members},
          guard_{of.guard},
          metrics_{of.metrics},
          replicas_{of.replicas}
    {
    }

    // Not null.
    void set_session_ids(std::shared_ptr<const ::mcp::session_ids> ids) { ids_ = std::move(ids); }
    void set_bundles(std::shared_ptr<const model::published_bundles> all) { bundles_ = std::move(all); }

    // What is known of this session does not hold any more; `ended`: its client has ended it.
    void forget(const ::mcp::session_digest& id, bool ended);

    net::routine<> serve(request::request_context& request);

private:
    static constexpr std::uint32_t most_calls = 64;    // of one session, in flight
    static constexpr std::size_t most_known = 10'000;  // sessions
    static constexpr core::duration touched_every = std::chrono::minutes{1};

    struct known_call {
        std::string agent;
        std::shared_ptr<bool> cancelled;  // bundle_call::cancelled
    };

    // What this worker knows of a session of the legacy era, so that the control loop is asked once for each member.
    struct known_session {
        model::string_map<model::member_place> members;             // by agent
        std::multimap<std::string, known_call, std::less<>> calls;  // by raw id of a request that is in flight here
        core::steady_time touched{};
    };

    // Where a message of a client leads.
    struct destination {
        std::size_t member = 0;
        std::vector<::mcp::text_edit> edits{};                          // of the body
        std::string name{};                                             // as bundle_target::name
        bool prefixed = true;                                           // so that the answer is too
        std::vector<std::pair<std::string, std::string>> parameters{};  // as bundle_target::parameters
    };

    model::bundle_pointer find(std::string_view path) const;
    net::routine<> refuse_caller(request::request_context& request) const;
    net::routine<> post(bundle_call& call);
    net::routine<> serve_bodiless(bundle_call& call);
    core::result<> open_session(bundle_call& call, const ::mcp::head_fields& fields) const;

    net::routine<> carry_out(bundle_call& call);
    net::routine<> answer_notification(bundle_call& call);
    net::routine<> return_answer(bundle_call& call);
    net::routine<> open(bundle_call& call);
    net::routine<> answer_list(bundle_call& call, ::mcp::list_kind list);
    net::routine<> listen(bundle_call& call);
    net::routine<> set_level(bundle_call& call);
    net::routine<> await_members(bundle_call& call);

    net::routine<> find_member(bundle_call& call);
    static std::optional<::mcp::search_tool> search_asked(const bundle_call& call);
    net::routine<> search(bundle_call& call, ::mcp::search_tool tool);
    net::routine<> answer_search(bundle_call& call, bundles::search_question question);
    static std::vector<std::pair<std::string, std::string>>
    parameters_of(const model::published_bundle& bundle, const destination& to, std::string_view arguments);

    core::result<destination> destination_of(const bundle_call& call) const;
    void note_rule(const bundle_call& call, const ::mcp::found_place& of, ::mcp::list_kind list) const;
    net::routine<> pass_on(bundle_call& call, destination to);
    net::routine<> resume(bundle_call& call, ::mcp::event_origin from);
    net::routine<core::result<>> enter(bundle_call& call, destination& to);
    net::routine<core::result<model::member_place>> find_place(bundle_call& call, const std::string& agent);
    void leave(bundle_call& call);
    void set_target(bundle_call& call, const destination& to, std::string session);
    void note_member(bundle_call& call, const destination& to);

    core::steady_time due_of(const request::request_context& request) const;
    static net::routine<> respond_result(bundle_call& call, std::string result, std::string fields = {});
    static net::routine<> respond_accepted(request::request_context& request);
    // An error about the call: a client of the legacy era would take 404 for the end of its session.
    static net::routine<> respond_call_refused(bundle_call& call, core::error why, std::string_view said = {});

    mcp_route& members_;
    const request::access_guard& guard_;
    telemetry::worker_metrics& metrics_;
    request::replica_relay& replicas_;
    std::shared_ptr<const ::mcp::session_ids> ids_;
    std::shared_ptr<const model::published_bundles> bundles_ = std::make_shared<const model::published_bundles>();
    std::set<::mcp::session_digest> ended_;
    std::map<::mcp::session_digest, known_session> known_sessions_;
};

}  // namespace gateway::mcp::route
