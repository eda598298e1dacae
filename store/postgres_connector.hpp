// The thread that connects to a PostgreSQL, because libpq resolves names synchronously, and the sessions that its connections serve: one for
// the thread of the engine, one for that of the feed.
#pragma once

#include "core/clock.hpp"
#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "store/postgres_link.hpp"

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace store {

struct postgres_options;

// Where a URL leads, with what Cardea adds to it.
struct pg_target {
    using options = std::vector<std::pair<std::string, std::string>>;
    std::vector<options> hosts;  // what libpq needs for each, in the order in which they are tried
    std::string password_file;
    core::duration connect_timeout{};  // of one host
    std::string unverified;            // the sslmode, if a server across the network is not verified
};

// Fails with config_invalid.
core::result<pg_target> read_target(const postgres_options& from);

// Logs a reason once, until it changes. Any thread.
class pg_journal {
public:
    enum class about : std::uint8_t { connection, feed, writes };

    // Nothing is logged before.
    void begin(const core::logger* log);

    void trouble(about what, std::string_view reason, std::string_view detail);
    void healed(about what);

private:
    std::mutex mutex_;
    const core::logger* log_ = nullptr;
    std::array<std::string, 3> reasons_;
};

// How a failure is called: its code, and a word for the log.
struct pg_meaning {
    core::errc code;
    std::string_view reason;
};
pg_meaning meaning_of(const pg_failure& why);
core::error error_of(const pg_failure& why);

class pg_connector {
public:
    enum class use : std::uint8_t { store, feed };

    explicit pg_connector(pg_target target);
    ~pg_connector();
    pg_connector(const pg_connector&) = delete;
    pg_connector& operator=(const pg_connector&) = delete;

    // A new connection, asked for now or before; the failure of the latest attempt if there is none by then. `once`: also as soon as an
    // attempt has failed.
    pg_result<std::unique_ptr<pg_link>> take(use what, core::steady_time by, bool once);
    void want(use what);

    // A connection has served: the next one that is needed is tried at once.
    void proved();

    pg_journal& journal() noexcept { return journal_; }

    // Readable once a connection for the feed was made, or by wake(). Reading it is up to the feed.
    int signal() const noexcept { return signal_.number(); }
    void wake() noexcept;

    static constexpr core::duration first_pause{100};
    static constexpr core::duration longest_pause{5000};
    static constexpr core::duration short_wait{8};     // for a connection, of what fails without one
    static constexpr core::duration longer_wait{250};  // instead of one that has ended

private:
    struct place {
        bool wanted = false;
        std::unique_ptr<pg_link> made;
        core::steady_time next{};  // not before: the latest one has not served
        bool is_open() const noexcept { return wanted && made == nullptr; }
    };
    void work();
    pg_result<std::unique_ptr<pg_link>> attempt();
    place* next_place();

    const pg_target target_;
    pg_journal journal_;
    core::descriptor signal_;
    core::descriptor cancel_;  // becomes readable at the end
    std::mutex mutex_;
    std::condition_variable changed_;
    std::array<place, 2> places_;
    pg_failure latest_{pg_failure::kind::unsent, {}, "not connected yet"};
    std::size_t failed_ = 0;    // attempts so far
    unsigned unproved_ = 0;     // connections and attempts since one has served
    core::steady_time next_{};  // not before: the latest attempt has failed
    bool ends_ = false;
    std::minstd_rand random_;
    std::thread thread_;
};

// The statements of one thread, on a connection that is replaced when it is lost.
class pg_session {
public:
    pg_session(pg_connector& connector, pg_connector::use what)
        : connector_{connector},
          use_{what}
    {
    }

    // Without a connection it fails within 10 ms, or at `connected_by` if that is later.
    pg_result<pg_rows>
    run(const char* sql, const pg_values& values, core::steady_time deadline, core::steady_time connected_by = {});

    // The connection, tried for until `by`; its owner stays this session.
    pg_result<pg_link*> connection(core::steady_time by, bool once);

    pg_link* link() noexcept { return link_.get(); }
    std::uint64_t generation() const noexcept { return generation_; }  // another one: another connection
    void drop() noexcept;
    bool is_up() const noexcept { return up_.load(std::memory_order_relaxed); }  // any thread

    // Looks after a connection on which a statement was run.
    void note(const pg_failure* failure);

private:
    pg_connector& connector_;
    const pg_connector::use use_;
    std::unique_ptr<pg_link> link_;
    std::uint64_t generation_ = 0;
    std::atomic<bool> up_ = false;
};

}  // namespace store
