// What other replicas have written, and which of them are alive (docs/operations/replicas.md): asks the feed of the store on a thread of its
// own, hands on what it gives, and says that this replica lives. Calls never wait for it. The store itself says in the log why it does not
// answer. On the control loop's thread.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "gateway/model/plane.hpp"
#include "gateway/model/replicas.hpp"
#include "gateway/telemetry/metric_family.hpp"
#include "gateway/threads/side_thread.hpp"
#include "gateway/threads/turns.hpp"
#include "net/loop/deadlines.hpp"
#include "net/loop/types.hpp"
#include "net/loop/waiting_tasks.hpp"
#include "net/tls/tls_context.hpp"
#include "store/engine.hpp"
#include "store/feed.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::replicas {

// Where what the store says goes; each outlives the plane. What this process wrote comes too.
struct feed_audience {
    // A change of an agent; `now` is what it is behind the latest of its changes in the store, null: gone. `own`: this process made it.
    std::function<void(const store::feed_change& change, const store::record* now, bool own)> agent;
    // These are all agents.
    std::function<net::task<>(std::shared_ptr<const std::vector<store::record>> all)> agents;
    // Those of one kind; with a reload there are no others. False: something of them has changed here since `began`, so that they are wanted
    // again.
    std::function<bool(
        std::string_view kind,
        std::vector<store::document_change> documents,
        store::feed_reload why,
        core::steady_time began
    )>
        documents;
    std::function<void(store::kept_card card)> card;
    std::function<void(const std::vector<store::kept_task>& tasks)> tasks;
    std::function<void(std::vector<store::delivery_facts> deliveries)> deliveries;
    // The replicas that live are others than before.
    std::function<void(model::replicas_pointer now)> live;
};

// References outlive the plane.
struct replica_services {
    net::executor where;
    store::feed& feed;
    threads::turns& turns;
    const core::logger& log;
    std::function<core::steady_time()> now;
    core::duration timeout;  // of an operation of the store
    core::duration poll;
    store::replica_facts own;  // without the hash and the change
    net::tls_context tls;      // for model::replicas
    // A hash of the configuration in use.
    std::function<net::task<std::string>()> configuration;
};

class replica_plane final : public model::plane, public net::timed {
public:
    // `by` calls on_due().
    replica_plane(net::deadlines& by, replica_services services, feed_audience audience);

    // From now on the store is asked.
    void start();

    // Returns once all that was committed before has been applied. Fails with store_unreachable, within the store's timeout.
    net::task<core::result<>> fresh();

    // Returns once this change of agents has been applied, or after the store's timeout.
    net::task<> applied(std::uint64_t version);

    // Those that live, as far as the store has said, at this moment.
    model::replicas listed() const;

    // The store answers.
    bool up() const noexcept { return services_.feed.is_up(); }

    // After stop(), when nothing more is delivered: others take over what this one has not delivered.
    net::task<> leave();

    void apply(const config::settings& now, const model::changed_settings& changed) override;
    void collect(telemetry::metrics& into) const override;
    void stop() override;
    bool busy() const noexcept override { return running_ || leaving_; }
    void on_due() override { waiting_.wake(); }

private:
    net::task<> run();
    net::task<bool> poll();
    net::task<bool> apply_batch(store::feed_batch batch, core::steady_time began);
    net::task<> apply_agents(store::feed_batch& batch);
    net::task<bool> apply_documents(std::string_view kind, store::feed_batch& batch, core::steady_time began);
    net::task<> apply_cards(std::vector<store::kept_card> cards);
    net::task<> beat();
    void take_live(std::vector<store::live_replica> live);
    void note_reload(store::feed_reload why);

    replica_services services_;
    feed_audience audience_;
    store::feed_position position_;
    model::replicas_pointer live_;
    core::steady_time live_at_{};           // when the store said so
    core::steady_time complete_list_at_{};  // until then the list may lack some who live
    bool missed_ = false;                   // the latest poll has failed
    net::waiting_tasks waiting_;
    std::uint64_t polls_ = 0;     // begun
    std::uint64_t complete_ = 0;  // the latest that was applied, with nothing behind it
    std::uint64_t failed_ = 0;    // the latest that failed
    core::error failure_;         // its
    core::steady_time current_;   // when the latest complete one began
    core::steady_time beat_at_{};
    std::string configuration_;
    bool configuration_changed_ = true;
    std::uint64_t trimmed_ = 0;  // everything was read again, for this reason
    std::uint64_t regressed_ = 0;
    bool running_ = false;
    bool leaving_ = false;
    bool stopped_ = false;
    threads::side_thread thread_;  // last: what it still does uses the feed
};

}  // namespace gateway::replicas
