// The data plane of one worker: what happens to a caller's request. Frame and route, look at the method, relay or answer
// from memory, account: one access line and one set of counters per request, whatever happened to it. One thread.
#pragma once

#include "config/settings.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "core/log.hpp"
#include "gateway/model/answer.hpp"
#include "gateway/model/control_services.hpp"
#include "gateway/model/directory_page.hpp"
#include "gateway/model/host_policy.hpp"
#include "gateway/model/published_card.hpp"
#include "gateway/model/request_record.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/telemetry/access_log.hpp"
#include "gateway/telemetry/worker_metrics.hpp"
#include "gateway/traffic/forwarded.hpp"
#include "gateway/traffic/relay.hpp"
#include "gateway/traffic/router.hpp"
#include "net/server/server_connection.hpp"
#include "net/upstream/upstream.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::traffic {

// Why an agent without an upstream is not called.
inline constexpr std::string_view no_calls = "calls to MCP servers are not passed on yet";

class traffic_handler final : public net::http_handler, private stream_observer {
public:
    // References outlive the handler.
    traffic_handler(
        model::control_services& control,
        net::upstream_pool& pool,
        const config::settings& settings,
        telemetry::access_log& lines,
        const core::logger& log
    );

    // For which names of Host requests are taken; all until it is said.
    void set_hosts(model::host_policy hosts) { hosts_ = std::move(hosts); }

    net::routine<> handle(net::server_connection& caller) override;
    net::routine<> refuse(net::server_connection& caller, core::error why) override;
    void failed(std::string_view what) noexcept override;
    void on_handshake(net::handshake how, std::string_view peer, std::string_view why) noexcept override;

    // What the control loop publishes; requests in flight keep what they began with.
    void set_snapshot(const std::shared_ptr<const model::snapshot>& now);

    // One agent that has come or changed; null: it is gone. Requests in flight keep what they have.
    void set_agent(const std::string& id, std::shared_ptr<const model::agent_entry> agent);
    void set_card(const std::string& agent_id, std::shared_ptr<const model::published_card> card);

    // Streams of events that are open are cut.
    void end_streams();

    const telemetry::worker_metrics& metrics() const noexcept { return metrics_; }

private:
    bool stream_began(relay& which) override;
    void stream_ended() override { --open_streams_; }

    struct known_agent {
        std::shared_ptr<const model::agent_entry> entry;
        std::shared_ptr<const model::published_card> card;
    };

    // One request on its way through the handler; lives in handle() and outlives everything it is lent to.
    struct request_context {
        net::server_connection& caller;
        model::request_record record;
        std::shared_ptr<const model::agent_entry> agent;  // what record.agent points into
        std::string detail;                               // what record.detail points into
        std::string head;                                 // what a relayed request begins with, if not a call
        std::string client;                               // what record.client points into
    };

    net::routine<> card(request_context& request, destination to);
    net::routine<> send_card(request_context& request, model::card_answer found, bool legacy);
    net::routine<> key_set(request_context& request);
    net::routine<> call(request_context& request, destination to);
    net::routine<> show_directory(request_context& request, destination to);
    net::routine<> send_page(request_context& request, std::shared_ptr<const model::directory_page> page);
    net::routine<> describe_agent(request_context& request, destination to);
    net::routine<> refuse_agent(request_context& request, destination to);
    net::routine<> refuse_card_of_nobody(request_context& request);
    net::routine<> relay_opaquely(request_context& request, destination to);
    net::routine<> extended_card(request_context& request, destination to);
    net::routine<> refuse_target(request_context& request, core::errc code, bool ends_connection);
    net::routine<core::scan_outcome> read_long_call(request_context& request, std::string_view body);
    net::routine<> pass_on(request_context& request, std::string_view body);
    net::routine<> await_card(request_context& request);
    net::routine<> relay_to_agent(request_context& request, relay_call call, std::string_view id);
    std::optional<core::error> objection_to_way(const request_context& request) const;
    net::routine<> management(request_context& request);
    static std::optional<core::errc> objection_to_post(const net::http1::request_head& head);
    net::routine<> refuse_post(request_context& request, core::errc code, std::string_view allowed = "POST");
    net::routine<> answer_with(request_context& request, model::answer what);
    net::routine<> answer_error(request_context& request, core::error why, model::answer what);
    static void note_failure(request_context& request, core::error why);
    void note_client(request_context& request);
    void account(request_context& request);
    void forget_pages();
    bool relays_root(net::http1::method verb, std::string_view id);
    known_agent* find(std::string_view id);

    model::control_services& control_;
    net::upstream_pool& pool_;
    const config::settings& settings_;
    proxy_trust proxies_;
    telemetry::access_log& lines_;
    const core::logger& log_;
    std::optional<model::host_policy> hosts_;
    telemetry::worker_metrics metrics_;
    model::string_map<known_agent> agents_;
    std::shared_ptr<const model::card_bytes> key_set_;  // null: no card is signed
    std::string public_base_;                           // of the snapshot
    struct kept_page {
        std::shared_ptr<const model::directory_page> page;
        core::steady_time until{};
    };
    std::array<kept_page, model::directory_kinds> pages_;  // the plain one of each kind, until something has changed
    std::uint64_t pages_forgotten_ = 0;                    // how often
    std::uint64_t open_streams_ = 0;
    bool ending_streams_ = false;
    boost::intrusive::list<relay, boost::intrusive::constant_time_size<false>> streams_;
};

}  // namespace gateway::traffic
