// Connections to agents whose addresses are bound.
#include "net/loop/loop.hpp"
#include "net/loop/routine.hpp"
#include "net/upstream/upstream.hpp"
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

net::routine<net::upstream_lease>
connected(net::upstream_pool& pool, std::shared_ptr<const net::upstream_target> target)
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

}  // namespace

TEST_CASE("a target that is bound to public addresses is connected to at no other one, however it is written")
{
    test_support::scripted_agent agent;
    net::loop loop;
    net::upstream_pool pool{loop, {}};
    std::exception_ptr failure;
    net::asio::post(loop.get_executor(), [&] {
        net::start(refuse_this_machine(pool, agent), [&](std::exception_ptr e) {
            failure = std::move(e);
            pool.close();
            loop.stop();
        });
    });
    loop.run();
    CHECK(failure == nullptr);
}

TEST_SUITE_END();
