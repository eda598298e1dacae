// Connections to agents whose addresses are bound.
#include "net/loop/loop.hpp"
#include "net/loop/routine.hpp"
#include "net/upstream/upstream_pool.hpp"
#include "tests/support/scripted_agent.hpp"

#include <boost/asio/post.hpp>

#include <doctest/doctest.h>

#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("net/upstream_addresses");

namespace {

using rule = std::shared_ptr<const core::address_rule>;

rule public_and(std::vector<std::string> blocks)
{
    return std::make_shared<const core::address_rule>(blocks);
}

// Null: the URL is none.
std::shared_ptr<const net::upstream_target> target_of(const std::string& url, rule addresses)
{
    net::client_contexts contexts;
    auto target = net::make_target(url, {}, contexts, std::move(addresses));
    return target ? std::make_shared<const net::upstream_target>(std::move(*target)) : nullptr;
}

net::routine<net::agent_lease> connected(net::upstream_pool& pool, std::shared_ptr<const net::upstream_target> target)
{
    net::signal changed;
    auto lease = pool.make(std::move(target));
    lease->connect(changed);
    while (lease->connecting()) {
        co_await changed.wait();
    }
    lease->set_listener(nullptr);
    co_return lease;
}

net::routine<> refuse_this_machine(net::upstream_pool& pool, test_support::scripted_agent& agent)
{
    const auto end = ':' + std::to_string(agent.port()) + '/';
    for (const std::string host :
         {"127.0.0.1",
          "localhost",
          "127.1",
          "0x7f.1",
          "2130706433",
          "0177.0.0.1",
          "0",
          "[::1]",
          "[::ffff:127.0.0.1]",
          "[::]"}) {
        CAPTURE(host);
        const auto target = target_of("http://" + host + end, public_and({}));
        if (target == nullptr) {
            continue;
        }
        const auto refused = co_await connected(pool, target);
        REQUIRE(refused->failure().has_value());
        CHECK(refused->failure()->code == core::errc::upstream_forbidden);
        CHECK(refused->failure()->from == core::side::upstream);
    }
    CHECK(agent.accepted_connections() == 0);
    const auto url = "http://localhost" + end;
    auto allowed = co_await connected(pool, target_of(url, public_and({"127.0.0.0/8"})));
    CHECK_FALSE(allowed->failure().has_value());
    // What another agent has kept open is not for one whose addresses are bound.
    auto other = co_await connected(pool, target_of(url, nullptr));
    CHECK_FALSE(other->failure().has_value());
    pool.give_back(std::move(other));
    CHECK(pool.take_idle(*target_of(url, public_and({}))) == nullptr);
    CHECK(pool.idle() == 1);
    pool.discard(std::move(allowed));
}

// Of what the name has, only what the rule allows is connected to, whatever is tried first.
net::routine<> connect_where_it_may(net::upstream_pool& pool, test_support::scripted_agent& agent)
{
    const auto url = "http://agent.test:" + std::to_string(agent.port()) + '/';
    auto allowed = co_await connected(pool, target_of(url, public_and({"127.0.0.0/8"})));
    CHECK_FALSE(allowed->failure().has_value());
    const auto other_rule = target_of(url, public_and({"127.0.0.2"}));
    const auto refused = co_await connected(pool, target_of(url, public_and({})));
    REQUIRE(refused->failure().has_value());
    CHECK(refused->failure()->code == core::errc::upstream_forbidden);
    CHECK(agent.wait_for_open_connections(1));
    CHECK(agent.accepted_connections() == 1);
    // The same name and kind of target, and another rule.
    pool.give_back(std::move(allowed));
    CHECK(pool.idle() == 1);
    CHECK(pool.take_idle(*other_rule) == nullptr);
}

void run_to_the_end(net::loop& loop, net::upstream_pool& pool, net::routine<> work)
{
    std::exception_ptr failure;
    net::asio::post(loop.get_executor(), [&] {
        net::start(std::move(work), [&](std::exception_ptr e) {
            failure = std::move(e);
            pool.close();
            loop.stop();
        });
    });
    loop.run();
    CHECK(failure == nullptr);
}

}  // namespace

TEST_CASE("a target that is bound to public addresses is connected to at no other one, however it is written")
{
    test_support::scripted_agent agent;
    net::loop loop;
    net::upstream_pool pool{loop, {}};
    run_to_the_end(loop, pool, refuse_this_machine(pool, agent));
}

TEST_CASE("Every address of a name has to be allowed before it is connected to, and before its connection is used again"
)
{
    test_support::scripted_agent agent;
    const auto names = [](const std::string&) {
        net::name_answer out;
        for (const auto* const each : {"::1", "10.255.255.1", "127.0.0.1", "fd00::1"}) {
            out.addresses.push_back(net::asio::ip::make_address(each));
        }
        return out;
    };
    net::loop loop{std::make_shared<net::dns_cache>(net::name_settings{}, names)};
    net::upstream_pool pool{loop, {}};
    run_to_the_end(loop, pool, connect_where_it_may(pool, agent));
}

TEST_SUITE_END();
