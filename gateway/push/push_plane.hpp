// Delivers the push notifications of agents to the URLs that callers named: at least once, those of one task in their order,
// again and again until timeouts.push_age or limits.push_attempts. A notification is in the store before its agent has an
// answer, and until it has ended. On the control loop's thread.
#pragma once

#include "config/settings.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "gateway/model/containments.hpp"
#include "gateway/model/plane.hpp"
#include "gateway/model/push_addresses.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/push/push_queue.hpp"
#include "gateway/push/push_request.hpp"
#include "gateway/telemetry/metric_family.hpp"
#include "gateway/threads/side_thread.hpp"
#include "gateway/threads/store_thread.hpp"
#include "jose/sealed_text.hpp"
#include "net/client/fetch.hpp"
#include "net/loop/deadlines.hpp"
#include "net/loop/types.hpp"
#include "store/engine.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::push {

// The part of the store that is needed here; each fails as the engine does.
struct delivery_store {
    std::function<net::task<core::result<std::optional<std::uint64_t>>>(store::kept_delivery delivery)> keep;
    std::function<net::task<core::result<std::optional<store::kept_delivery>>>(std::uint64_t number)> read;
    std::function<net::task<core::result<>>(std::uint64_t number)> drop;
    bool shared = false;  // another replica may have a delivery by the time it is read
};

// Functions of a store on its thread, which outlives them.
delivery_store deliveries_in(threads::store_thread& store);

// Everything referred to outlives the plane, the fetcher only until stop().
struct push_services {
    net::fetcher& fetcher;
    net::executor where;
    const core::logger& log;
    delivery_store store;
    std::function<core::steady_time()> now;
    std::function<core::wall_time()> clock;
    std::function<double()> random;  // from [0, 1)
    jose::random_source random_bytes;
    // The agent as it is served now; null: it is not.
    std::function<std::shared_ptr<const model::agent_entry>(const std::string& agent)> find;
    threads::side_thread* long_bodies = nullptr;  // where they are translated; null: here
};

class push_plane final : public net::timed, public model::plane {
public:
    // `by` calls on_sweep(), until the plane is destroyed. `settings` outlive the plane.
    push_plane(net::deadlines& by, push_services services, const config::settings& settings);

    // Loads what an earlier process has not delivered; before anything is accepted.
    core::result<> load(store::engine& records);

    // These are this process's to deliver from now on, of a store that is shared. Those that it has already stay as they are.
    void take_over(std::vector<store::delivery_facts> deliveries);

    // How addresses are opened. Nothing is delivered before.
    void set_addresses(std::shared_ptr<const model::push_addresses> addresses) { addresses_ = std::move(addresses); }

    // Deliveries of these agents, and those that these principals have asked for, wait from now on, and grow older. Null: none.
    void set_containments(const model::containments_pointer& now);

    // From now on each delivery has the signature that `sign` makes of its body and its id; one that fails is tried again.
    using signer = std::function<net::task<core::result<std::string>>(std::string body, std::string id)>;
    void set_signer(signer sign) { sign_ = std::move(sign); }

    // The id of the delivery, once it is in the store. Fails with overloaded, draining, store_full and store_failed.
    net::task<core::result<std::string>> accept(model::push_delivery delivery);

    void collect(telemetry::metrics& into) const override;

    // No attempt begins any more. What has not ended stays in the store.
    void stop() noexcept override { stopped_ = true; }

    // Something is under way that ends soon after stop() and the end of the fetcher.
    bool busy() const noexcept override { return under_way_ > 0 || dropping_; }

    void on_due() override {}
    void on_sweep(core::steady_time now) override;

private:
    void start_due(core::steady_time now);
    net::task<> deliver(store::delivery_facts delivery);
    net::task<> drop_again();
    net::task<push_verdict> attempt(store::delivery_facts delivery);
    net::task<push_verdict> send(store::kept_delivery delivery, model::push_receiver receiver);
    net::task<core::result<std::string>> body_for(store::kept_delivery delivery, ::a2a::generation version);
    net::task<core::result<outgoing_body>> make_there(std::string notification, ::a2a::generation version);
    net::task<core::result<std::string>> whole_task(std::string agent, std::string task);
    bool is_contained(const std::string& agent, std::string_view lane) const;
    bool is_too_old(const store::delivery_facts& delivery) const;
    void give_up_late(push_verdict& verdict, const store::delivery_facts& delivery) const;
    void note(push_end end, const push_verdict& verdict, const store::delivery_facts& delivery);
    std::string new_id() const;

    push_services services_;
    const config::settings& settings_;
    push_queue queue_;
    std::shared_ptr<const model::push_addresses> addresses_;
    signer sign_;
    model::containments_pointer contained_;
    std::set<std::string, std::less<>> contained_owners_;  // push_owner() of its principals
    telemetry::counter_family attempts_;                   // by push_end, or "retried"
    std::size_t under_way_ = 0;                            // coroutines
    std::vector<std::uint64_t> undropped_;                 // that have ended, and a store that is shared still has
    core::steady_time drop_at_{};
    bool dropping_ = false;
    bool stopped_ = false;
};

}  // namespace gateway::push
