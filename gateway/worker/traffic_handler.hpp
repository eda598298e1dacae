// The data plane of one worker: leads each request of a caller through its phases. Whatever happens to a request, it is
// accounted for once, by one access line and one set of counters. One thread.
#pragma once

#include "core/clock.hpp"
#include "gateway/model/containments.hpp"
#include "gateway/model/replicas.hpp"
#include "net/server/caller_exchange.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace config {
struct settings;
}

namespace core {
class logger;
}

namespace mcp {
class session_ids;
using session_digest = std::array<unsigned char, 16>;
}  // namespace mcp

namespace net {
class upstream_pool;
}

namespace gateway::access {
struct access_plans;
class rate_limiter;
}  // namespace gateway::access

namespace gateway::model {
struct control_services;
class push_addresses;
struct agent_entry;
struct published_bundles;
struct published_card;
struct request_record;
struct snapshot;
}  // namespace gateway::model

namespace gateway::telemetry {
class access_log;
class worker_metrics;
}  // namespace gateway::telemetry

namespace gateway::request {
class agent_relay;
enum class origin_verdict : std::uint8_t;
struct request_context;
struct trace_plan;
}  // namespace gateway::request

namespace gateway::worker {

class traffic_handler final : public net::http_handler {
public:
    // References outlive the handler.
    traffic_handler(
        model::control_services& control,
        net::upstream_pool& pool,
        const config::settings& settings,
        telemetry::access_log& lines,
        const core::logger& log
    );
    ~traffic_handler() override;

    net::routine<> handle(net::caller_exchange& caller) override;
    net::routine<> refuse(net::caller_exchange& caller, core::error failure) override;
    void failed(std::string_view problem) noexcept override;
    void on_handshake(net::handshake how, std::string_view peer, std::string_view why) noexcept override;
    void on_abuse(std::string_view peer, net::http2::limit which) noexcept override;

    // Takes what the control loop publishes; requests in flight keep what they began with.
    void set_snapshot(const model::snapshot& snapshot);
    void set_agent(const std::string& id, std::shared_ptr<const model::agent_entry> agent);  // null: it is gone
    void set_card(const std::string& agent_id, std::shared_ptr<const model::published_card> card);

    // Sets the credentials that callers need from now on.
    void set_access(access::access_plans plans);

    // Sets which agents and principals are contained from now on, and cuts what these have under way here: what no answer has begun to
    // gets 403 at once, streams end in turns. What it has cut.
    model::cut_counts set_containments(model::containments_pointer now);

    // The work that set_containments() would cut.
    model::cut_counts would_cut(const model::containments& then) const;

    // Sets where the rules of policies are in the configuration's file, for lines about denials; null: there is none.
    void set_rules(std::shared_ptr<const config::rule_places> rules);

    // How much they may send, together with those of the other workers; null: anything.
    void set_rate_limits(std::shared_ptr<access::rate_limiter> limits);

    // Sets the ids of sessions with MCP servers; before the first request.
    void set_session_ids(std::shared_ptr<const ::mcp::session_ids> ids);
    void set_push_addresses(std::shared_ptr<const model::push_addresses> addresses);  // the same

    // Sets the replicas that share the store, to which requests of their sessions are forwarded; null: it is not shared.
    void set_replicas(const model::replicas_pointer& now);

    // How they take part in traces from now on; at first not at all.
    void set_trace_plan(const request::trace_plan& plan) noexcept;

    // Not null.
    void set_bundles(std::shared_ptr<const model::published_bundles> all);
    void forget_bundle_session(const ::mcp::session_digest& id, bool ended);

    // Calls mcp_route::ask_about().
    void ask_about(const ::mcp::session_digest& id, bool ask);

    // Gives away spans, what the audit has to know and how calls ended, now and then.
    void hand_over(core::steady_time now);

    // The relay phase, which knows the event streams that are open.
    request::agent_relay& relays() noexcept;

    telemetry::worker_metrics& metrics() noexcept;

private:
    struct parts;

    // The phases of handle() that need nothing but the request.
    void find_sender(request::request_context& request) const;
    void find_destination(request::request_context& request) const;
    std::optional<net::routine<>> admit(request::request_context& request, request::origin_verdict page) const;
    void note_call(request::request_context& request) const;
    void account(request::request_context& request);
    void note_name(request::request_context& request) const;

    telemetry::access_log& lines_;
    const core::logger& log_;
    std::unique_ptr<parts> parts_;
};

}  // namespace gateway::worker
