// What tests of a store in PostgreSQL share: one server for the program, a database for each case, and engines on it.
#pragma once

#include "core/log.hpp"
#include "store/feed.hpp"
#include "store/postgres.hpp"
#include "tests/support/postgres_cluster.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace store::testing {

using namespace std::chrono_literals;

inline constexpr core::wall_time noon{std::chrono::milliseconds{1'700'000'000'123}};

// Started by the first case that needs it. A case that breaks it mends it.
inline test_support::postgres_cluster& cluster()
{
    static test_support::postgres_cluster only;
    return only;
}

inline std::string fresh_database()
{
    return cluster().url(cluster().make_database());
}

// Lines that were logged.
class kept_lines : public core::log_sink {
public:
    void write(std::string_view lines) override
    {
        const std::lock_guard guard{mutex_};
        text_.append(lines).append("\n");
    }
    std::string text() const
    {
        const std::lock_guard guard{mutex_};
        return text_;
    }
    std::size_t count(std::string_view of) const
    {
        const auto all = text();
        std::size_t found = 0;
        for (auto at = all.find(of); at != std::string::npos; at = all.find(of, at + 1)) {
            ++found;
        }
        return found;
    }

private:
    mutable std::mutex mutex_;
    std::string text_;
};

// A replica: its engine on a database, or on whatever a URL leads to.
struct replica {
    explicit replica(std::string url, core::duration timeout = 3s, replica_id id = next_id())
    {
        options.url = std::move(url);
        options.timeout = timeout;
        options.self = id;
        options.log = &log;
        auto opened = open_postgres(options);
        REQUIRE_MESSAGE(opened.has_value(), opened.error().detail);
        engine = std::move(*opened);
        at = feed().start();
    }

    static replica_id next_id()
    {
        static replica_id latest = 100;
        return ++latest;
    }

    store::feed& feed() const { return *engine->shared(); }

    feed_batch poll()
    {
        auto batch = feed().poll(at);
        REQUIRE_MESSAGE(batch.has_value(), batch.error().detail);
        at = batch->reached;
        return std::move(*batch);
    }

    core::result<> beat() const
    {
        return feed().beat({options.self, "r" + std::to_string(options.self), "http://r", "1.0", "0a", at.agents});
    }

    core::result<record> put(std::string id, std::string definition = "{}") const
    {
        return engine->put(std::move(id), std::move(definition), {"test", noon, {}});
    }

    kept_lines lines;
    core::logger log{lines, core::log_level::info};
    postgres_options options;
    std::unique_ptr<store::engine> engine;
    feed_position at;
};

inline bool eventually(const std::function<bool()>& there, std::chrono::milliseconds within = 10s)
{
    const auto until = std::chrono::steady_clock::now() + within;
    while (!there()) {
        if (std::chrono::steady_clock::now() > until) {
            return false;
        }
        std::this_thread::sleep_for(10ms);
    }
    return true;
}

}  // namespace store::testing
