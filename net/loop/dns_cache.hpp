// The names of agents' hosts and their addresses, for all loops of the process: each name is looked up once, again and again while a
// loop follows it, and without one name waiting for another: each lookup has a thread for as long as it takes. (Asio gives an
// io_context one thread for all names: one that hangs would stop the others.) Any thread; the lock is never held during a lookup.
#pragma once

#include "net/loop/dns_entry.hpp"
#include "net/loop/types.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace net {

struct name_answer {
    error_code ec;
    address_list addresses;  // at least one, or an error
};

// Blocks for as long as it takes.
using name_lookup = std::function<name_answer(const std::string& host)>;

// getaddrinfo(3).
name_answer system_lookup(const std::string& host);

// A loop that hears of names.
class dns_listener {
public:
    virtual ~dns_listener() = default;

    // Any thread, with a lock held: hands it over and returns. Without addresses: there are none, and why.
    virtual void tell(const std::string& host, error_code ec, const shared_addresses& addresses) = 0;
};

class dns_cache : public std::enable_shared_from_this<dns_cache> {
public:
    // Lookups at a time; others wait until one ends. Lookups of names that are known already leave room for those of new ones.
    static constexpr std::size_t most_lookups = 64;
    static constexpr std::size_t most_refreshes = 32;

    explicit dns_cache(const name_settings& settings = {}, name_lookup lookup = system_lookup);
    ~dns_cache();
    dns_cache(const dns_cache&) = delete;
    dns_cache& operator=(const dns_cache&) = delete;

    // Another way to look names up; before the first name.
    void set_lookup(name_lookup lookup) { lookup_ = std::move(lookup); }

    struct known_name {
        shared_addresses addresses;  // null: a lookup is under way, and the follower will hear how it ends
        std::shared_ptr<family_history> families;
        core::steady_time late_at{};  // without addresses: as that of the dns_entry
    };

    // From here to unfollow() or leave() the follower hears of each change of the name's addresses.
    known_name follow(const std::string& host, const std::shared_ptr<dns_listener>& follower, core::steady_time now);
    void unfollow(const std::string& host, const dns_listener& follower);
    void leave(const dns_listener& follower);

    // Begins what is due. To be called several times a second, by any number of threads.
    void tick(core::steady_time now);

    const name_settings& settings() const noexcept { return settings_; }

    // Lookups that failed or took longer than the timeout.
    std::uint64_t failures() const noexcept { return failures_.load(std::memory_order_relaxed); }

private:
    enum class stage : std::uint8_t { idle, queued, running };

    struct entry {
        explicit entry(const name_settings& settings)
            : record{settings}
        {
        }

        dns_entry record;
        std::vector<std::shared_ptr<dns_listener>> followers;
        std::shared_ptr<family_history> families = std::make_shared<family_history>();
        stage where = stage::idle;  // its lookup
    };
    using entries = std::unordered_map<std::string, entry>;

    // All of them with the lock held.
    void look_up(const std::string& host, entry& name, core::steady_time now);
    void refresh(const std::string& host, entry& name, core::steady_time now);
    void start_threads();
    bool has_work() const noexcept;
    std::string next_name(bool& refreshes);
    void ended(const std::string& host, name_answer answer);
    void publish(const std::string& host, const entry& name, error_code ec) const;
    void forget_if_unused(entries::iterator name);
    void expect(core::steady_time due) noexcept;

    void serve();  // a thread's life

    name_settings settings_;
    name_lookup lookup_;
    std::atomic<core::steady_time::rep> next_tick_;
    std::atomic<std::uint64_t> failures_{0};
    std::mutex mutex_;
    entries names_;
    std::deque<std::string> new_names_;    // whose lookups wait for a thread
    std::deque<std::string> known_names_;  // the same
    std::size_t threads_ = 0;
    std::size_t running_ = 0;    // lookups
    std::size_t refreshes_ = 0;  // of these
};

}  // namespace net
