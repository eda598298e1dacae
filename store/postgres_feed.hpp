// The feed of a PostgreSQL: store/feed.hpp.
#pragma once

#include "store/feed.hpp"
#include "store/postgres.hpp"
#include "store/postgres_connector.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace store {

// A feed as it was seen last: its number, and the token of the write that raised it. Another history has another token.
struct feed_mark {
    std::string feed;
    std::int64_t number = 0;
    std::string token;
};

std::string random_bytes(std::size_t count);

inline constexpr auto sql_key = "SELECT text FROM cardea.keys WHERE name = 'session'";

class postgres_feed final : public feed {
public:
    // `connector` outlives it.
    postgres_feed(const postgres_options& options, pg_connector& connector)
        : options_{options},
          connector_{connector},
          session_{connector, pg_connector::use::feed}
    {
    }

    // Connects: everything behind the position is still to come. The marks are those of the same moment.
    core::result<> begin(feed_position position, std::vector<feed_mark> marks, core::steady_time by);

    // The latest change of agents that this replica knows of. Any thread.
    std::uint64_t applied() const noexcept { return applied_.load(std::memory_order_relaxed); }

    // Times in the database are in its time. Records and the trail stay so: they are the same on all replicas. Any thread.
    void see_clock(core::wall_time of_store) noexcept;
    core::wall_time to_store(core::wall_time here) const noexcept { return here + clock_ahead(); }
    core::wall_time to_here(core::wall_time of_store) const noexcept { return of_store - clock_ahead(); }
    template <class T>
    void bring_here(std::vector<T>& all, core::wall_time T::* member) const noexcept
    {
        for (auto& each : all) {
            each.*member = to_here(each.*member);
        }
    }
    core::duration clock_ahead() const noexcept override
    {
        return core::duration{ahead_.load(std::memory_order_relaxed)};
    }

    // The key that this replica seals with. A database that lost it gets it back, with the next reload. Any thread.
    void set_key(core::secret key);

    replica_id self() const noexcept override { return options_.self; }
    feed_position start() const override { return start_; }
    core::result<feed_batch> poll(feed_position from) override;
    void wait(core::duration at_most) override;
    void wake() noexcept override { connector_.wake(); }
    core::result<> beat(replica_facts own) override;
    core::result<> leave() override;
    bool is_up() const noexcept override { return session_.is_up() && polls_ && beats_; }
    bool is_notified() const noexcept override { return notified_.load(std::memory_order_relaxed); }

private:
    core::result<pg_rows> run(const char* sql, const pg_values& values, pg_journal::about what, core::duration timeout);
    core::result<feed_batch> ask(const feed_position& from, bool everything, core::duration timeout);
    void listen(core::steady_time deadline);
    std::int64_t patience() const noexcept { return options_.timeout.count() * 2 / 3; }
    bool hears(bool from_others);
    void give_key_back();
    void look_for_silence();

    const postgres_options& options_;
    pg_connector& connector_;
    pg_session session_;
    std::mutex key_mutex_;
    core::secret key_;
    bool key_unsure_ = false;  // the database is not the one that had it
    feed_position start_;
    std::vector<feed_mark> marks_;  // of all feeds but that of agents, which the position has
    std::uint64_t listens_ = 0;     // the generation of the connection that was told to; 0: none
    core::steady_time heard_{};     // the latest notification, or the beginning
    int beats_unheard_ = 0;
    bool direct_ = false;  // not by a pooler, which passes on what a statement's own session notifies, and nothing else
    bool told_ = false;    // that they are silent
    std::atomic<bool> notified_ = false;
    std::atomic<bool> polls_ = true;  // the latest one succeeded
    std::atomic<bool> beats_ = true;
    core::wall_time clock_{};  // of the database, in the latest answer
    std::atomic<core::duration::rep> ahead_ = 0;
    std::uint64_t reached_ = 0;  // of agents, by the latest batch; applied once wait() is called, or poll() from there
    std::atomic<std::uint64_t> applied_ = 0;
};

}  // namespace store
