// To whom tasks belong, in the store, so that a gateway that starts again knows it, and replicas that share the store. Written at most once
// a second, ten times a second with replicas, off the way of requests: a gateway that is killed loses what the last second or two brought. On the control loop's thread.
#pragma once

#include "config/settings.hpp"
#include "core/clock.hpp"
#include "core/log.hpp"
#include "core/secret.hpp"
#include "gateway/access/task_index.hpp"
#include "gateway/model/plane.hpp"
#include "gateway/model/upgrade.hpp"
#include "gateway/threads/store_thread.hpp"
#include "net/loop/deadlines.hpp"
#include "net/loop/loop.hpp"
#include "store/engine.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

namespace gateway::wiring {

class task_keeper final : public net::timed, public model::plane {
public:
    using clock = std::function<core::wall_time()>;

    static constexpr std::size_t batch = 8192;  // tasks in one write, about

    // References outlive the keeper. `key`: a secret that outlives the process as the store does; the tasks of another one are not
    // known. Reads the store, which nobody has asked yet; if that fails, says so in the log and knows no tasks.
    task_keeper(
        net::loop& control,
        threads::store_thread& store,
        const core::logger& log,
        const config::settings& settings,
        const core::secret& key,
        clock now = std::chrono::system_clock::now
    );

    // For the workers, from any thread.
    access::task_index& index() noexcept { return index_; }

    // Writes new tasks to the store now, if that outlives the process. Returns when they are there, or could not be written.
    net::task<> flush();

    // After a hand-over: tasks that are learnt from now on go to the process that took this one's place, instead of the store, which is
    // closed.
    using heir = std::function<void(model::known_tasks tasks)>;
    void set_heir(heir next);

    // Tasks that the old process has learnt of during its drain.
    void learn(const model::known_tasks& known);

    // Tasks as the store has them that replicas share; it knows whose they were first.
    void correct(const std::vector<store::kept_task>& kept);

    // When there is nothing more to come: writes what is left.
    void finish();

    // Something is not written yet.
    bool busy() const noexcept override { return writing_ || (stopping_ && !written_); }

    void on_due() override {}
    void on_sweep(core::steady_time now) override;

private:
    void load(store::engine& records);
    bool writes() const noexcept { return store_.durable() || heir_; }
    void begin();
    net::task<> write();
    net::task<core::result<>> keep(std::vector<store::kept_task> tasks);
    net::task<> trim();
    void note(const core::result<>& outcome, std::size_t tasks);

    net::loop& loop_;
    threads::store_thread& store_;
    const core::logger& log_;
    clock now_;
    core::duration keep_;
    std::size_t most_;
    access::task_index index_;
    heir heir_;                              // empty: the store keeps them
    std::vector<store::kept_task> waiting_;  // that were not written
    core::steady_time again_at_{};
    core::steady_time trim_at_{};
    bool writing_ = false;
    bool untrimmed_ = false;  // something was written since the latest trim
    bool failing_ = false;
    bool stopping_ = false;
    bool written_ = false;  // all of it, after finish()
};

}  // namespace gateway::wiring
