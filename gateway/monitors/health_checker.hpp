// The active checks of endpoints: each is asked now and then whether it lives, and gets no calls while it does not. The control
// loop's thread.
#pragma once

#include "core/endpoint_rules.hpp"
#include "core/log.hpp"
#include "gateway/balancing/endpoint_group.hpp"
#include "gateway/cards/card_source.hpp"
#include "gateway/model/plane.hpp"
#include "gateway/model/snapshot.hpp"
#include "net/client/fetch.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/signal.hpp"
#include "net/loop/types.hpp"
#include "net/upstream/upstream.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace gateway::monitors {

class health_checker final : public model::plane {
public:
    static constexpr std::size_t most_at_a_time = 32;

    // References outlive the checker.
    health_checker(net::loop& control, const core::health_settings& defaults, const core::logger& log);

    // Services of the checks; both may end after stop(). Before the first agent is set.
    void begin(net::fetcher& fetcher, cards::card_source& cards);

    // An agent that is described again and reached as before keeps what its checks came to.
    void set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent) override;

    // Checks no more. The loop has run to its end before the watch is destroyed.
    void stop() override;

private:
    struct check {
        std::shared_ptr<const model::agent_entry> at;  // of the endpoint
        core::health_settings settings;
        core::health_check how = core::health_check::none;
        balancing::health_verdict verdict{};
        bool gone = false;
        core::steady_time begun{};                               // of the one that runs
        std::unique_ptr<net::upstream_connection> connection{};  // of one by tcp that runs
    };
    using check_pointer = std::shared_ptr<check>;

    void plan(const check_pointer& of, double share_of_interval);
    void start(const check_pointer& of);
    void look_at_connections();
    net::task<> ask_http(check_pointer of);
    net::task<> ask_for_card(check_pointer of);
    void finish(const check_pointer& of, std::optional<bool> passed);
    void look();
    void wait_for_next();
    double any_share();

    using timer = net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::executor>;

    net::loop& control_;
    const core::health_settings& defaults_;
    const core::logger& log_;
    net::fetcher* fetcher_ = nullptr;
    cards::card_source* cards_ = nullptr;
    timer timer_;
    net::signal unheard_;                                       // the timer looks instead
    std::map<std::string, std::vector<check_pointer>> checks_;  // by agent
    std::multimap<core::steady_time, check_pointer> due_;
    std::vector<check_pointer> connecting_;
    std::size_t running_ = 0;
    std::minstd_rand random_{std::random_device{}()};
    bool stopped_ = false;
};

}  // namespace gateway::monitors
