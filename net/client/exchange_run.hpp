// One exchange from its request to the end of its answer. Only exchange.cpp includes this header. One thread.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "net/client/exchange.hpp"
#include "net/http1/head.hpp"
#include "net/loop/deadlines.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/routine.hpp"
#include "net/loop/shared_budget.hpp"
#include "net/loop/signal.hpp"
#include "net/upstream/agent_side.hpp"
#include "net/upstream/upstream_pool.hpp"

#include <boost/intrusive/list.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace net {

using exchange_target = std::shared_ptr<const upstream_target>;

// The targets of the gateway's own requests, kept from one request to the next.
class exchange_targets {
public:
    static constexpr std::size_t most = 1024;  // one more drops all of them
    static constexpr core::duration longest_trust =
        std::chrono::minutes{5};  // in an authority that was read from a file

    // Fails with upstream_protocol: no http or https URL; and with upstream_tls: a file that cannot be used.
    core::result<exchange_target> find(const exchange_request& request);

    // Finds the target of a connection that is made next: reads the files again if they have changed.
    core::result<exchange_target> find_for_new(const exchange_request& request, core::steady_time now);

private:
    struct known {
        tls_client_files tls;
        std::shared_ptr<const core::address_rule> addresses;
        core::secret proxy;
        exchange_target target;
    };

    struct reading {
        std::string files;  // differs when a file has changed
        core::steady_time at;
    };

    core::result<exchange_target> find_within(const exchange_request& request, std::string name);
    exchange_target keep(const exchange_request& request, std::string name, upstream_target made);

    std::unordered_map<std::string, known> known_;       // by URL with all its parameters, or by `dialled_key` and URL
    std::unordered_map<std::string, reading> readings_;  // by the names of the files
    client_contexts contexts_;
};

struct exchange_means {
    loop& on;
    std::string user_agent;
    exchange_targets targets{};
    upstream_pool pool;
};

struct exchange_list_tag;
using exchange_hook = boost::intrusive::list_base_hook<
    boost::intrusive::tag<exchange_list_tag>,
    boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

// Shared by its client and the routine that drives it.
class exchange_run final : public exchange_hook, private timed, public std::enable_shared_from_this<exchange_run> {
public:
    // References are not used after abandon() and the end.
    exchange_run(exchange_means& means, exchange_request request, exchange_observer& observer);
    exchange_run(const exchange_run&) = delete;
    exchange_run& operator=(const exchange_run&) = delete;

    // Called once; the observer is not called inside.
    void begin();

    // Closes the connection; the observer hears nothing more.
    void abandon();

private:
    static routine<> drive(std::shared_ptr<exchange_run> self);

    void on_due() override;

    bool may_share() const noexcept;
    void connect(bool fresh);
    void send();
    bool may_repeat() const noexcept;
    void forget_request();
    void go_on();
    bool look_at_connection();
    void read();
    bool read_head();
    void take_head();
    bool read_body();
    void tell(std::string_view piece);
    void lost();
    void await(core::duration patience);
    void fail(core::errc code, std::string why);
    void finish();
    void end_with(core::result<> how);
    void drop();

    loop& loop_;
    exchange_means* means_;        // null after the end
    exchange_observer* observer_;  // null after abandon()
    exchange_request request_;
    http1::method verb_ = http1::method::get;
    std::string head_;                    // of the request
    std::optional<core::error> refusal_;  // it is not sent at all
    exchange_target target_;
    agent_lease lease_;
    core::steady_time head_due_{};
    bool going_on_ = false;
    bool connecting_ = false;
    bool again_ = false;   // it was sent a second time
    bool headed_ = false;  // the final head is there
    bool streams_ = false;
    bool rests_ = false;
    std::uint64_t taken_ = 0;
    fair_share share_;
    signal woken_;
};

}  // namespace net
