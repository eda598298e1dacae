// The cards that callers of each agent got in the past, in the store: when each was published, and what changed. On the control loop's
// thread; the card thread compares, the store's own writes.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "gateway/cards/served_card.hpp"
#include "gateway/model/plane.hpp"
#include "gateway/threads/store_thread.hpp"
#include "net/loop/loop.hpp"
#include "store/engine.hpp"

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gateway::cards {

// A card that has been published, and the one that it replaces.
struct noted_card {
    std::shared_ptr<const core::agent> agent;
    card_pair cards;     // without the previous one: that of the previous process counts
    std::string sha256;  // of the bytes
    core::wall_time at{};
};

class card_history final : public model::plane {
public:
    static constexpr std::size_t longest_patch = 16 * 1024;  // bytes; of a longer one only the fact is kept

    // References outlive this.
    card_history(net::loop& control, threads::store_thread& store, card_maker& maker, const core::logger& log);

    // Written soon, in the order of the calls. A card with the bytes of the latest one, or one that is only signed again by another
    // process, is no new version. A store that fails costs nothing but a line in the log.
    void note(noted_card card);

    // Works as store::engine::card_versions().
    net::task<core::result<std::vector<store::card_version>>> versions(std::string agent);

    // Something is not written yet.
    bool busy() const noexcept override { return writing_; }

private:
    net::task<> write();
    net::task<core::result<>> keep(noted_card card);

    net::loop& loop_;
    threads::store_thread& store_;
    card_maker& maker_;
    const core::logger& log_;
    std::deque<noted_card> waiting_;
    bool writing_ = false;
    bool failing_ = false;
};

}  // namespace gateway::cards
