// The last good cards in the store, so that a gateway that starts again has cards of agents that are down; if the store is in memory,
// in here, for a process that takes this one's place. On the control
// loop's thread; the store's own does the work.
#pragma once

#include "core/clock.hpp"
#include "core/log.hpp"
#include "gateway/model/plane.hpp"
#include "gateway/threads/store_thread.hpp"
#include "net/loop/loop.hpp"
#include "store/engine.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gateway::cards {

struct recalled_card {
    store::kept_card card;
    core::duration age{};  // since it was fetched; never negative, whatever happened to the wall clock
};

class card_store final : public model::plane {
public:
    using clock = std::function<core::wall_time()>;

    // References outlive this.
    card_store(
        net::loop& control,
        threads::store_thread& store,
        const core::logger& log,
        clock now = std::chrono::system_clock::now
    );

    // Fetched now. Written with the next batch: at once, or when the one under way is on disk. A store that fails costs
    // nothing but a line in the log. `card.fetched` is set here.
    void keep(store::kept_card card);

    // Nothing: there is none, the store failed, or it ends with the process.
    net::task<std::optional<recalled_card>> recall(std::string agent);

    // Cards that other replicas keep are learnt.
    bool shared() const noexcept { return store_.shared(); }

    // The card that was fetched last, of this process if the store is in memory. Fails as the store does.
    net::task<core::result<std::optional<store::kept_card>>> kept(std::string agent);

    // Something is not written yet.
    bool busy() const noexcept override { return writing_; }

private:
    net::task<> write();
    recalled_card aged(store::kept_card card) const;

    net::loop& loop_;
    threads::store_thread& store_;
    const core::logger& log_;
    clock now_;
    std::map<std::string, store::kept_card> waiting_;
    bool writing_ = false;
    bool failing_ = false;
};

}  // namespace gateway::cards
