// The data plane of one worker: what happens to a caller's request. Frame and route, look at the method, relay or answer
// from memory, account: one access line and one set of counters per request, whatever happened to it. One thread.
#pragma once

#include "config/settings.hpp"
#include "core/jsonrpc_scan.hpp"
#include "core/log.hpp"
#include "gateway/access_log.hpp"
#include "gateway/answer.hpp"
#include "gateway/control_services.hpp"
#include "gateway/directory_page.hpp"
#include "gateway/forwarded.hpp"
#include "gateway/host_policy.hpp"
#include "gateway/published_card.hpp"
#include "gateway/relay.hpp"
#include "gateway/request_record.hpp"
#include "gateway/router.hpp"
#include "gateway/snapshot.hpp"
#include "gateway/worker_metrics.hpp"
#include "net/server_connection.hpp"
#include "net/upstream.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gateway {

// Why an agent without an upstream is not called.
inline constexpr std::string_view no_calls = "calls to MCP servers are not passed on yet";

class traffic_handler final : public net::http_handler, private stream_observer {
public:
    // References outlive the handler.
    traffic_handler(
        control_services& control,
        net::upstream_pool& pool,
        const config::settings& settings,
        access_log& lines,
        const core::logger& log
    );

    // For which names of Host requests are taken; all until it is said.
    void set_hosts(host_policy hosts) { hosts_ = std::move(hosts); }

    net::routine<> handle(net::server_connection& caller) override;
    net::routine<> refuse(net::server_connection& caller, core::error why) override;
    void failed(std::string_view what) noexcept override;
    void shaken(net::handshake how, std::string_view peer, std::string_view why) noexcept override;

    // What the control loop publishes; requests in flight keep what they began with.
    void set_snapshot(const std::shared_ptr<const snapshot>& now);

    // One agent that has come or changed; null: it is gone. Requests in flight keep what they have.
    void set_agent(const std::string& id, std::shared_ptr<const agent_entry> agent);
    void set_card(const std::string& agent_id, std::shared_ptr<const published_card> card);

    // Streams of events that are open are cut.
    void end_streams();

    const worker_metrics& metrics() const noexcept { return metrics_; }

private:
    bool stream_began(relay& which) override;
    void stream_ended() override { --open_streams_; }

    struct known_agent {
        std::shared_ptr<const agent_entry> entry;
        std::shared_ptr<const published_card> card;
    };

    // One request on its way through the handler; lives in handle() and outlives everything it is lent to.
    struct exchange {
        net::server_connection& caller;
        request_record record;
        std::shared_ptr<const agent_entry> agent;  // what record.agent points into
        std::string detail;                        // what record.detail points into
        std::string head;                          // what a relayed request begins with, if not a call
        std::string client;                        // what record.client points into
    };

    net::routine<> card(exchange& x, destination to);
    net::routine<> send_card(exchange& x, card_answer found, bool legacy);
    net::routine<> key_set(exchange& x);
    net::routine<> call(exchange& x, destination to);
    net::routine<> show_directory(exchange& x, destination to);
    net::routine<> send_page(exchange& x, std::shared_ptr<const directory_page> page);
    net::routine<> describe_agent(exchange& x, destination to);
    net::routine<> refuse_agent(exchange& x, destination to);
    net::routine<> refuse_card_of_nobody(exchange& x);
    net::routine<> relay_opaquely(exchange& x, destination to);
    net::routine<> extended_card(exchange& x, destination to);
    net::routine<> refuse_target(exchange& x, core::errc code, bool ends_connection);
    net::routine<core::scan_outcome> read_long_call(exchange& x, std::string_view body);
    net::routine<> pass_on(exchange& x, std::string_view body);
    net::routine<> await_card(exchange& x);
    net::routine<> relay_to_agent(exchange& x, relay_call call, std::string_view id);
    std::optional<core::error> objection_to_way(const exchange& x) const;
    net::routine<> management(exchange& x);
    static std::optional<core::errc> objection_to_post(const net::http1::request_head& head);
    net::routine<> refuse_post(exchange& x, core::errc code, std::string_view allowed = "POST");
    net::routine<> answer_with(exchange& x, answer what);
    net::routine<> answer_error(exchange& x, core::error why, answer what);
    static void note_failure(exchange& x, core::error why);
    void note_client(exchange& x);
    void account(exchange& x);
    void forget_pages();
    bool relays_root(net::http1::method verb, std::string_view id);
    known_agent* find(std::string_view id);

    control_services& control_;
    net::upstream_pool& pool_;
    const config::settings& settings_;
    proxy_trust proxies_;
    access_log& lines_;
    const core::logger& log_;
    std::optional<host_policy> hosts_;
    worker_metrics metrics_;
    string_map<known_agent> agents_;
    std::shared_ptr<const card_bytes> key_set_;  // null: no card is signed
    std::string public_base_;                    // of the snapshot
    struct kept_page {
        std::shared_ptr<const directory_page> page;
        core::steady_time until{};
    };
    std::array<kept_page, directory_kinds> pages_;  // the plain one of each kind, until something has changed
    std::uint64_t pages_forgotten_ = 0;             // how often
    std::uint64_t open_streams_ = 0;
    bool ending_streams_ = false;
    boost::intrusive::list<relay, boost::intrusive::constant_time_size<false>> streams_;
};

}  // namespace gateway
