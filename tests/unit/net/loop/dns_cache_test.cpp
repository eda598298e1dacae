#include "net/loop/dns_cache.hpp"

#include <boost/asio/error.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

TEST_SUITE_BEGIN("net/loop/dns_cache");

namespace {

// What a test knows and decides about lookups. Threads of lookups may outlive the test: they share this.
class scripted_names {
public:
    net::name_answer answer(const std::string& host)
    {
        std::unique_lock lock{mutex_};
        ++begun_[host];
        ++under_way_;
        changed_.notify_all();
        changed_.wait(lock, [&] { return !held_; });
        --under_way_;
        const auto found = names_.find(host);
        if (found == names_.end()) {
            return {boost::asio::error::host_not_found, {}};
        }
        return {{}, {boost::asio::ip::make_address(found->second)}};
    }

    void set(const std::string& host, const std::string& address)
    {
        const std::lock_guard guard{mutex_};
        names_[host] = address;
    }

    void fail_all()
    {
        const std::lock_guard guard{mutex_};
        names_.clear();
    }

    void hold(bool held)
    {
        const std::lock_guard guard{mutex_};
        held_ = held;
        changed_.notify_all();
    }

    bool wait_for_lookups(const std::string& host, int count)
    {
        std::unique_lock lock{mutex_};
        return changed_.wait_for(lock, 10s, [&] { return begun_[host] >= count; });
    }

    bool wait_until_under_way(std::size_t count)
    {
        std::unique_lock lock{mutex_};
        return changed_.wait_for(lock, 10s, [&] { return under_way_ == count; });
    }

    int lookups(const std::string& host)
    {
        const std::lock_guard guard{mutex_};
        return begun_[host];
    }

    std::size_t under_way()
    {
        const std::lock_guard guard{mutex_};
        return under_way_;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::string, std::string> names_;
    std::map<std::string, int> begun_;
    std::size_t under_way_ = 0;
    bool held_ = false;
};

class listener final : public net::dns_listener {
public:
    void tell(const std::string& host, net::error_code ec, const net::shared_addresses& addresses) override
    {
        const std::lock_guard guard{mutex_};
        heard_.push_back(host + '=' + (addresses ? addresses->front().to_string() : ec.message()));
        changed_.notify_all();
    }

    // What has been told, once it is so much.
    std::vector<std::string> heard(std::size_t count)
    {
        std::unique_lock lock{mutex_};
        changed_.wait_for(lock, 10s, [&] { return heard_.size() >= count; });
        return heard_;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::string> heard_;
};

struct rig {
    std::shared_ptr<scripted_names> names = std::make_shared<scripted_names>();
    std::shared_ptr<net::dns_cache> book =
        std::make_shared<net::dns_cache>(net::name_settings{}, [names = names](const std::string& host) {
            return names->answer(host);
        });
    std::shared_ptr<listener> one = std::make_shared<listener>();
    std::shared_ptr<listener> other = std::make_shared<listener>();
    core::steady_time now = std::chrono::steady_clock::now();

    ~rig() { names->hold(false); }

    // Time goes on; the book notes the end of lookups by the true clock, which is behind.
    void pass(core::duration time)
    {
        now += time;
        book->tick(now);
    }
};

const std::string not_found = net::error_code{boost::asio::error::host_not_found}.message();
const std::string try_again = net::error_code{boost::asio::error::host_not_found_try_again}.message();

}  // namespace

TEST_CASE("All who follow a name share its one lookup, and hear how it ends")
{
    rig x;
    x.names->set("a.test", "192.0.2.1");
    x.names->hold(true);
    CHECK(x.book->follow("a.test", x.one, x.now).addresses == nullptr);
    CHECK(x.book->follow("a.test", x.other, x.now).addresses == nullptr);
    x.names->hold(false);
    CHECK(x.one->heard(1) == std::vector<std::string>{"a.test=192.0.2.1"});
    CHECK(x.other->heard(1) == std::vector<std::string>{"a.test=192.0.2.1"});
    CHECK(x.names->lookups("a.test") == 1);
    CHECK(x.book->follow("a.test", x.one, x.now).addresses != nullptr);
    CHECK(x.names->lookups("a.test") == 1);
}

TEST_CASE("A name is looked up again in the background, and who follows it hears of a change only")
{
    rig x;
    x.names->set("a.test", "192.0.2.1");
    static_cast<void>(x.book->follow("a.test", x.one, x.now));
    CHECK(x.one->heard(1).size() == 1);
    x.names->hold(true);
    x.pass(31s);
    REQUIRE(x.names->wait_for_lookups("a.test", 2));
    x.names->set("a.test", "192.0.2.2");
    x.names->hold(false);
    const std::vector<std::string> both{"a.test=192.0.2.1", "a.test=192.0.2.2"};
    CHECK(x.one->heard(2) == both);
    x.pass(31s);
    REQUIRE(x.names->wait_for_lookups("a.test", 3));
    REQUIRE(x.names->wait_until_under_way(0));
    CHECK(x.one->heard(2) == both);
}

TEST_CASE("A name that nobody follows any more is not looked up again")
{
    rig x;
    x.names->set("a.test", "192.0.2.1");
    x.names->set("b.test", "192.0.2.2");
    static_cast<void>(x.book->follow("a.test", x.one, x.now));
    static_cast<void>(x.book->follow("b.test", x.one, x.now));
    CHECK(x.one->heard(2).size() == 2);
    SUBCASE("because they said so of the name")
    {
        x.book->unfollow("a.test", *x.one);
    }
    SUBCASE("because they have left")
    {
        x.book->leave(*x.one);
        static_cast<void>(x.book->follow("b.test", x.other, x.now));
        CHECK(x.other->heard(1).size() == 1);
    }
    const auto before = x.names->lookups("b.test");
    x.pass(31s);
    REQUIRE(x.names->wait_for_lookups("b.test", before + 1));
    CHECK(x.names->lookups("a.test") == 1);
}

TEST_CASE("The last addresses stay while all lookups fail, and are gone when their time is over")
{
    rig x;
    x.names->set("a.test", "192.0.2.1");
    static_cast<void>(x.book->follow("a.test", x.one, x.now));
    CHECK(x.one->heard(1).size() == 1);
    x.names->fail_all();
    x.pass(31s);
    REQUIRE(x.names->wait_for_lookups("a.test", 2));
    CHECK(x.book->follow("a.test", x.other, x.now).addresses != nullptr);
    while (x.one->heard(1).size() == 1) {
        x.pass(31s);
        REQUIRE(x.now < std::chrono::steady_clock::now() + 15min);
    }
    CHECK(x.one->heard(2)[1] == "a.test=" + try_again);
    CHECK(x.now >= std::chrono::steady_clock::now() + 4min);
    CHECK(x.book->failures() >= 1);
}

TEST_CASE("Who asks for a name that has no address hears of each failure")
{
    rig x;
    CHECK(x.book->follow("a.test", x.one, x.now).addresses == nullptr);
    CHECK(x.one->heard(1) == std::vector<std::string>{"a.test=" + not_found});
    CHECK(x.book->follow("a.test", x.one, x.now).addresses == nullptr);
    CHECK(x.one->heard(2).size() == 2);
    CHECK(x.names->lookups("a.test") == 2);
    CHECK(x.book->failures() == 2);
}

TEST_CASE("At most 64 lookups are under way, and the others follow")
{
    for (const std::size_t names : {63U, 64U, 65U}) {
        CAPTURE(names);
        rig x;
        x.names->hold(true);
        for (std::size_t i = 0; i < names; ++i) {
            static_cast<void>(x.book->follow("a" + std::to_string(i) + ".test", x.one, x.now));
        }
        const auto most = std::min(names, net::dns_cache::most_lookups);
        REQUIRE(x.names->wait_until_under_way(most));
        CHECK(x.names->under_way() == most);
        x.names->hold(false);
        CHECK(x.one->heard(names).size() == names);
    }
}

TEST_CASE("Lookups of known names leave room for those of new ones")
{
    rig x;
    for (int i = 0; i < 40; ++i) {
        const auto host = "a" + std::to_string(i) + ".test";
        x.names->set(host, "192.0.2.1");
        static_cast<void>(x.book->follow(host, x.one, x.now));
    }
    CHECK(x.one->heard(40).size() == 40);
    x.names->hold(true);
    x.pass(31s);
    REQUIRE(x.names->wait_until_under_way(net::dns_cache::most_refreshes));
    static_cast<void>(x.book->follow("new.test", x.one, x.now));
    CHECK(x.names->wait_for_lookups("new.test", 1));
    CHECK(x.names->under_way() == net::dns_cache::most_refreshes + 1);
}

TEST_CASE("A lookup over its time counts as a failure before it ends")
{
    rig x;
    x.names->hold(true);
    static_cast<void>(x.book->follow("a.test", x.one, x.now));
    x.pass(2s - 1ms);
    CHECK(x.book->failures() == 0);
    x.pass(1s);
    CHECK(x.book->failures() == 1);
    x.names->hold(false);
    CHECK(x.one->heard(1).size() == 1);
    CHECK(x.book->failures() == 1);
}

TEST_SUITE_END();
