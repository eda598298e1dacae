// What is found when names are looked up: a net::name_lookup that a test fills. Lookups may outlive the test, and share it. Any thread.
#pragma once

#include "net/loop/dns_cache.hpp"
#include "tests/support/script.hpp"

#include <boost/asio/error.hpp>

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace test_support {

class name_table {
public:
    void set(const std::string& host, const std::vector<std::string>& addresses)
    {
        const std::lock_guard guard{mutex_};
        addresses_[host].clear();
        for (const auto& each : addresses) {
            addresses_[host].push_back(boost::asio::ip::make_address(each));
        }
    }

    void fail_all()
    {
        const std::lock_guard guard{mutex_};
        addresses_.clear();
    }

    // Lookups do not end until this is undone.
    void hold(bool held)
    {
        const std::lock_guard guard{mutex_};
        held_ = held;
        changed_.notify_all();
    }

    bool wait_for_lookups(int more)
    {
        std::unique_lock lock{mutex_};
        const auto wanted = begun_ + more;
        return changed_.wait_for(lock, test_support::patience, [&] { return begun_ >= wanted; });
    }

    // While lookups are held: until one of this name is under way.
    bool wait_for_lookup_of(const std::string& host)
    {
        std::unique_lock lock{mutex_};
        return changed_.wait_for(lock, test_support::patience, [&] { return under_way_[host] > 0; });
    }

    // Of this name; of all names without it.
    int lookups(const std::string& host = {})
    {
        const std::lock_guard guard{mutex_};
        return host.empty() ? begun_ : of_name_[host];
    }

    net::name_answer answer(const std::string& host)
    {
        std::unique_lock lock{mutex_};
        ++begun_;
        ++of_name_[host];
        ++under_way_[host];
        changed_.notify_all();
        changed_.wait(lock, [&] { return !held_; });
        --under_way_[host];
        const auto found = addresses_.find(host);
        if (found == addresses_.end()) {
            return {boost::asio::error::host_not_found_try_again, {}};
        }
        return {{}, found->second};
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::string, net::address_list> addresses_;
    std::map<std::string, int> of_name_;
    std::map<std::string, int> under_way_;
    int begun_ = 0;
    bool held_ = false;
};

}  // namespace test_support
