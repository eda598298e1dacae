// A table of containments, of which the tests have the clock, the disk and those who hear of it.
#pragma once

#include "gateway/management/containment.hpp"
#include "gateway/telemetry/metric_family.hpp"
#include "store/memory.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/co_spawn.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace containment_rig {

using namespace std::chrono_literals;  // NOLINT(google-global-names-in-headers): this is for two tests
using core::errc;
using gateway::management::contained_subject;
using gateway::management::containment_order;
using gateway::management::containment_table;
using gateway::model::containments_pointer;
using gateway::model::cut_counts;

inline constexpr core::wall_time noon{std::chrono::sys_days{std::chrono::year{2027} / 1 / 31} + 12h};

// A disk that refuses documents, or hangs, as the test says. It is asked on the store's thread.
class moody_store final : public store::engine {
public:
    bool durable() const noexcept override { return true; }
    store::feed* shared() noexcept override { return feed; }
    core::result<std::vector<store::record>> load() override { return below_->load(); }
    core::result<std::optional<store::record>> find(std::string id) override { return below_->find(std::move(id)); }
    core::result<store::record> put(std::string id, std::string definition, store::author by) override
    {
        return below_->put(std::move(id), std::move(definition), std::move(by));
    }
    core::result<std::uint64_t> remove(std::string id, store::author by) override
    {
        return below_->remove(std::move(id), std::move(by));
    }
    core::result<std::vector<store::change>> changes(std::uint64_t after, std::size_t most) override
    {
        return below_->changes(after, most);
    }
    core::result<> keep_tasks(std::vector<store::kept_task>) override { return {}; }
    core::result<> trim_tasks(core::wall_time, std::size_t) override { return {}; }
    core::result<std::vector<store::kept_task>> tasks() override { return std::vector<store::kept_task>{}; }
    core::result<> keep_cards(std::vector<store::kept_card>) override { return {}; }
    core::result<std::optional<store::kept_card>> card(std::string) override { return std::nullopt; }
    core::result<> keep_card_version(store::card_version) override { return {}; }
    core::result<std::vector<store::card_version>> card_versions(std::string) override
    {
        return std::vector<store::card_version>{};
    }
    core::result<> keep_document(store::kept_document document) override
    {
        if (auto refused = refusal(); !refused) {
            return refused;
        }
        return below_->keep_document(std::move(document));
    }
    core::result<> drop_document(std::string kind, std::string name) override
    {
        if (auto refused = refusal(); !refused) {
            return refused;
        }
        return below_->drop_document(std::move(kind), std::move(name));
    }
    core::result<std::vector<store::kept_document>> documents(std::string kind) override
    {
        if (unreadable) {
            return core::gateway_error(errc::store_failed, "the disk");
        }
        return below_->documents(std::move(kind));
    }
    core::result<core::secret> session_key(core::secret made) override { return made; }
    core::result<std::optional<std::uint64_t>> keep_delivery(store::kept_delivery) override { return 1; }
    core::result<std::vector<store::delivery_facts>> deliveries() override
    {
        return std::vector<store::delivery_facts>{};
    }
    core::result<std::optional<store::kept_delivery>> delivery(std::uint64_t) override { return std::nullopt; }
    core::result<> drop_delivery(std::uint64_t) override { return {}; }

    void set_fails(bool now)
    {
        const std::lock_guard guard{mutex_};
        fails_ = now;
    }

    // So many of the next writes, of those that wait too.
    void set_refused(std::size_t most)
    {
        const std::lock_guard guard{mutex_};
        refused_ = most;
    }

    // Until it is let go.
    void set_hangs(bool now)
    {
        const std::lock_guard guard{mutex_};
        hangs_ = now;
        changed_.notify_all();
    }

    std::vector<std::string> names()
    {
        std::vector<std::string> out;
        for (const auto& each : below_->documents(std::string{store::containment_document}).value()) {
            out.push_back(each.name);
        }
        return out;
    }

    bool unreadable = false;
    store::feed* feed = nullptr;  // before the store's thread has it

private:
    core::result<> refusal()
    {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [this] { return !hangs_; });
        const bool fails = fails_ || refused_ > 0;
        refused_ -= refused_ > 0 ? 1 : 0;
        return fails ? core::result<>{core::gateway_error(errc::store_full, "the disk is full")} : core::result<>{};
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    bool fails_ = false;
    std::size_t refused_ = 0;
    bool hangs_ = false;
    std::unique_ptr<store::engine> below_ = store::make_memory();
};

class lines final : public core::log_sink {
public:
    void write(std::string_view text) override { all += std::string{text} + '\n'; }
    std::size_t count(std::string_view what) const
    {
        std::size_t found = 0;
        for (auto at = all.find(what); at != std::string::npos; at = all.find(what, at + 1)) {
            ++found;
        }
        return found;
    }
    std::string all;
};

inline core::agent agent(std::string id)
{
    core::agent out;
    out.id = std::move(id);
    out.url = "http://agent/";
    return out;
}

inline contained_subject of_agent(std::string id)
{
    return {std::move(id), {}};
}

inline contained_subject of_principal(std::string provider, std::string id)
{
    return {{}, {std::move(provider), std::move(id)}};
}

struct fixture {
    explicit fixture(std::vector<core::agent> declared = {agent("words")}, std::unique_ptr<moody_store> with = nullptr)
    {
        settings.agents = std::move(declared);
        auto made = with == nullptr ? std::make_unique<moody_store>() : std::move(with);
        disk = made.get();
        thread.emplace(std::move(made));
        agents.emplace(settings, *thread, log, by);
        agents->set_audit(audit);
        agents->set_publisher([this](const std::string& id, const auto& entry) {
            const auto* const known = agents->find(id);
            told.push_back(id + (entry == nullptr ? " gone" : known->contained ? " contained" : " there"));
            if (known != nullptr && known->contained) {
                table->contain(id);
            }
        });
        table.emplace(
            loop.timers(),
            gateway::management::containment_services{
                loop.get_executor(),
                *agents,
                *thread,
                log,
                [this] { return wall; },
                [this] { return now; },
                [this](const containments_pointer& all) {
                    published = all;
                    return counted();
                },
                [this](const containments_pointer& all) {
                    asked = all;
                    return counted();
                }
            }
        );
    }
    ~fixture() { disk->set_hangs(false); }

    net::task<cut_counts> counted()
    {
        net::asio::basic_waitable_timer<
            std::chrono::steady_clock,
            net::asio::wait_traits<std::chrono::steady_clock>,
            net::executor>
            pause{loop.get_executor()};
        while (workers_hang) {
            pause.expires_after(1ms);
            auto waits = pause.async_wait(net::use_task);
            co_await std::move(waits);
        }
        co_return cuts;
    }

    core::result<> start(std::vector<store::kept_document> unwritten = {})
    {
        auto loaded = table->load(*disk, unwritten);
        if (loaded) {
            loaded = agents->load();
        }
        if (loaded) {
            table->set_agents(nullptr);
        }
        return loaded;
    }

    // The loop runs until `done`, or for `most`.
    bool run_until(const std::function<bool()>& done, std::chrono::milliseconds most = 10s)
    {
        const auto end = std::chrono::steady_clock::now() + most;
        loop.io().restart();
        while (!done() && std::chrono::steady_clock::now() < end) {
            loop.io().run_for(5ms);
            loop.io().restart();
        }
        return done();
    }

    using outcome = core::result<containment_table::outcome>;

    std::shared_ptr<std::optional<outcome>> begin(net::task<outcome> what)
    {
        auto out = std::make_shared<std::optional<outcome>>();
        net::asio::co_spawn(loop.get_executor(), std::move(what), [out](const std::exception_ptr& bug, outcome value) {
            CHECK_FALSE(bug);
            out->emplace(std::move(value));
        });
        return out;
    }

    outcome run(net::task<outcome> what)
    {
        const auto out = begin(std::move(what));
        REQUIRE(run_until([&] { return out->has_value(); }));
        return **out;
    }

    outcome contain(contained_subject subject, std::optional<core::wall_time> until = {}, std::string reason = "leak")
    {
        return run(table->contain(std::move(subject), order(until, std::move(reason))));
    }

    // A reload.
    bool reload(std::vector<core::agent> there, std::vector<std::string> gone)
    {
        std::optional<bool> done;
        auto declaring = agents->declare(std::move(there), std::move(gone));
        net::asio::co_spawn(
            loop.get_executor(),
            std::move(declaring),
            [&](const std::exception_ptr& bug, const core::result<>& how) {
                CHECK_FALSE(bug);
                done = how.has_value();
            }
        );
        return run_until([&] { return done.has_value(); }) && *done;
    }

    outcome release(contained_subject subject) { return run(table->release(std::move(subject), "bob")); }

    containment_order order(std::optional<core::wall_time> until = {}, std::string reason = "leak") const
    {
        return {wall, until, std::move(reason), "ann", "closed"};
    }

    bool holds(const std::string& id) const { return published != nullptr && published->find_agent(id) != nullptr; }
    bool holds(const std::string& provider, const std::string& id) const
    {
        core::principal who;
        who.provider = provider;
        who.id = id;
        return published != nullptr && published->find_principal(&who) != nullptr;
    }

    config::settings settings;
    lines sink;
    core::logger log{sink, core::log_level::debug};
    lines trail;
    gateway::model::audit_trail audit{&trail};
    core::wall_time wall = noon;
    core::steady_time now = std::chrono::steady_clock::now();
    cut_counts cuts{3, 2, 1};
    bool workers_hang = false;  // and say only later what they have cut
    net::loop loop;
    moody_store* disk = nullptr;
    std::optional<gateway::threads::store_thread> thread;
    gateway::threads::turns by{0us};
    std::optional<gateway::management::registry> agents;
    std::optional<containment_table> table;
    std::vector<std::string> told;
    containments_pointer published;
    containments_pointer asked;
};

inline std::unique_ptr<moody_store> with_document(const std::string& name, const std::string& text)
{
    auto made = std::make_unique<moody_store>();
    REQUIRE(made->keep_document({std::string{store::containment_document}, name, {}, text}).has_value());
    return made;
}

// The disk of a process that has ended, with what it had kept.
inline std::unique_ptr<moody_store> disk_of(fixture& before)
{
    auto made = std::make_unique<moody_store>();
    for (auto& each : before.disk->documents(std::string{store::containment_document}).value()) {
        REQUIRE(made->keep_document(std::move(each)).has_value());
    }
    return made;
}

using names = std::vector<std::string>;

}  // namespace containment_rig
