#include "gateway/wiring/task_keeper.hpp"

#include "net/loop/thrown.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace gateway::wiring {
namespace {

using namespace std::chrono_literals;

constexpr core::duration pause = 1s;
constexpr core::duration shared_pause = 50ms;  // so that each sweep writes
constexpr core::duration between_trims = 1min;
constexpr core::duration poll_interval = 2ms;

using poll_timer = net::asio::
    basic_waitable_timer<std::chrono::steady_clock, net::asio::wait_traits<std::chrono::steady_clock>, net::executor>;

access::task_index::entry entry_of(const store::kept_task& kept, core::wall_time now)
{
    // Whatever happened to the wall clock, a task is not younger than now.
    const auto age = std::max(std::chrono::duration_cast<core::duration>(now - kept.seen), core::duration{0});
    return {kept.name, kept.word, age};
}

}  // namespace

task_keeper::task_keeper(
    net::loop& control,
    threads::store_thread& store,
    const core::logger& log,
    const config::settings& settings,
    const core::secret& key,
    clock now
)
    : loop_{control},
      store_{store},
      log_{log},
      now_{std::move(now)},
      keep_{settings.timeouts.task},
      most_{static_cast<std::size_t>(settings.limits.tasks)},
      index_{{settings.limits.tasks, settings.timeouts.task, store.shared()}, access::task_index::key_of(key)}
{
    if (store_.durable()) {
        load(store_.engine());
        loop_.timers().add(*this);
    }
}

void task_keeper::load(store::engine& records)
{
    const auto kept = records.tasks();
    if (!kept) {
        log_.write(
            core::log_level::warn,
            "tasks_load_failed",
            {{"code", core::name(kept.error().code)}, {"detail", kept.error().detail}}
        );
        return;
    }
    const auto wall = now_();
    const auto now = std::chrono::steady_clock::now();
    for (const auto& each : *kept) {
        index_.restore(entry_of(each, wall), now);
    }
}

void task_keeper::learn(const model::known_tasks& known)
{
    if (known.key != index_.owner_of(nullptr)) {
        return;
    }
    const auto wall = now_();
    const auto now = std::chrono::steady_clock::now();
    for (const auto& each : known.tasks) {
        index_.learn(entry_of(each, wall), now);
    }
}

void task_keeper::correct(const std::vector<store::kept_task>& kept)
{
    const auto wall = now_();
    const auto now = std::chrono::steady_clock::now();
    for (const auto& each : kept) {
        index_.correct(entry_of(each, wall), now);
    }
}

void task_keeper::set_heir(heir next)
{
    heir_ = std::move(next);
    if (!store_.durable()) {
        loop_.timers().add(*this);
    }
}

net::task<> task_keeper::flush()
{
    if (!store_.durable()) {
        co_return;
    }
    if (!writing_) {
        begin();
    }
    poll_timer timer{loop_.get_executor()};
    while (writing_) {
        net::error_code ignored;  // nothing cancels it
        timer.expires_after(poll_interval);
        co_await timer.async_wait(net::asio::redirect_error(net::use_task, ignored));
    }
}

void task_keeper::on_sweep(core::steady_time now)
{
    if (writing_ || stopping_ || now < again_at_) {
        return;
    }
    again_at_ = now + (store_.shared() ? shared_pause : pause);
    begin();
}

void task_keeper::finish()
{
    if (!writes() || std::exchange(stopping_, true)) {
        return;
    }
    if (!writing_) {
        begin();
    }
}

void task_keeper::begin()
{
    writing_ = true;
    // Not at once: a sweep may resume no coroutine.
    net::asio::post(loop_.get_executor(), [this] {
        net::asio::co_spawn(loop_.get_executor(), write(), [this](const std::exception_ptr& bug) {
            writing_ = false;
            written_ = stopping_;
            net::log_thrown(bug, log_, "task_keeper");
        });
    });
}

// What fails is tried again with the next batch, and given up at the end.
net::task<> task_keeper::write()
{
    for (bool more = true; more;) {
        const auto now = std::chrono::steady_clock::now();
        const auto wall = now_();
        if (waiting_.empty()) {
            for (const auto& each : index_.take_changed(batch, now)) {
                waiting_.push_back({each.name, each.word, wall - each.age});
            }
        }
        if (waiting_.empty()) {
            break;
        }
        const auto kept = co_await keep(waiting_);
        note(kept, waiting_.size());
        if (kept) {
            waiting_.clear();
            untrimmed_ = true;
        }
        more = kept.has_value();
    }
    const auto now = std::chrono::steady_clock::now();
    if (untrimmed_ && !stopping_ && !heir_ && now >= trim_at_) {
        untrimmed_ = false;
        trim_at_ = now + between_trims;
        co_await trim();
    }
}

net::task<core::result<>> task_keeper::keep(std::vector<store::kept_task> tasks)
{
    if (heir_) {
        heir_({index_.owner_of(nullptr), std::move(tasks)});
        co_return core::result<>{};
    }
    std::function work = [all = std::move(tasks)](store::engine& engine) { return engine.keep_tasks(all); };
    co_return co_await store_.write(std::move(work));
}

net::task<> task_keeper::trim()
{
    const auto since = now_() - keep_;
    std::function work = [since, most = most_](store::engine& engine) { return engine.trim_tasks(since, most); };
    const auto trimmed = co_await store_.write(std::move(work));
    note(trimmed, 0);
}

void task_keeper::note(const core::result<>& outcome, std::size_t tasks)
{
    const bool handed_over = !outcome && outcome.error().code == core::errc::draining;
    if (!outcome && !failing_ && !handed_over) {
        log_.write(
            core::log_level::warn,
            "tasks_persist_failed",
            {{"code", core::name(outcome.error().code)}, {"detail", outcome.error().detail}, {"tasks", tasks}}
        );
    }
    failing_ = !outcome;
}

}  // namespace gateway::wiring
