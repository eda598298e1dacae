#include "net/upstream/upstream_pool.hpp"

#include "net/loop/loop.hpp"
#include "net/loop/routine.hpp"
#include "tests/support/scripted_agent.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/post.hpp>

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <utility>

using namespace std::chrono_literals;
using test_support::scripted_agent;

TEST_SUITE_BEGIN("net/upstream_pool");

namespace {

std::shared_ptr<const net::upstream_target> target_of(const std::string& url)
{
    net::client_contexts contexts;
    auto target = net::make_target(url, {}, contexts);
    REQUIRE(target.has_value());
    return std::make_shared<const net::upstream_target>(std::move(*target));
}

net::stream& side_of(const net::agent_lease& lease)
{
    return lease->to_keep()->side();
}

// A loop with a pool and an agent to connect to. run() drives one coroutine to its end and lets both end as a worker does.
struct rig {
    explicit rig(net::pool_settings settings = {}, test_support::agent_options options = {})
        : agent{std::move(options)},
          pool{loop, settings}
    {
    }

    void run(net::routine<> work)
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
        if (failure) {
            std::rethrow_exception(failure);
        }
    }

    scripted_agent agent;
    net::loop loop;
    net::upstream_pool pool;
};

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

net::routine<> take_the_latest(rig& r)
{
    const auto target = target_of(r.agent.url());
    const auto other = target_of("http://127.0.0.1:1/");
    auto first = co_await connected(r.pool, target);
    auto second = co_await connected(r.pool, target);
    CHECK_FALSE(first->failure().has_value());
    CHECK_FALSE(first->reused());
    const auto* second_address = second.get();
    r.pool.give_back(std::move(first));
    r.pool.give_back(std::move(second));
    CHECK(r.pool.idle() == 2);
    CHECK(r.pool.take_idle(*other) == nullptr);
    auto taken = r.pool.take_idle(*target);
    CHECK(taken.get() == second_address);
    CHECK(taken->reused());
    r.pool.discard(std::move(taken));
    CHECK(r.pool.idle() == 1);
}

net::routine<> keep_two(rig& r, std::size_t expected)
{
    const auto target = target_of(r.agent.url());
    auto first = co_await connected(r.pool, target);
    auto second = co_await connected(r.pool, target);
    const auto* const latest = second.get();
    r.pool.give_back(std::move(first));
    r.pool.give_back(std::move(second));
    CHECK(r.pool.idle() == expected);
    const auto kept = r.pool.take_idle(*target);
    CHECK(kept.get() == (expected > 0 ? latest : nullptr));
}

net::routine<> fail_to_connect(rig& r)
{
    const auto nobody = target_of("http://127.0.0.1:" + std::to_string(test_support::unused_port()));
    auto refused = co_await connected(r.pool, nobody);
    CHECK(refused->failure().value().code == core::errc::upstream_refused);
    CHECK(refused->failure().value().from == core::side::upstream);

    auto unknown = co_await connected(r.pool, target_of("http://no-such-host.invalid/"));
    CHECK(unknown->failure().value().code == core::errc::upstream_unresolved);
}

net::routine<> give_up_while_connecting(rig& r)
{
    net::signal changed;
    auto lease = r.pool.make(target_of(r.agent.url()));
    lease->connect(changed);
    CHECK(lease->connecting());
    r.pool.discard(std::move(lease));
    CHECK(r.pool.idle() == 0);
    co_return;
}

net::routine<> a_moment(net::loop& loop, std::chrono::milliseconds time)
{
    net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::executor>
        timer{loop.get_executor()};
    net::signal tick;
    timer.expires_after(time);
    timer.async_wait([&](net::error_code) { tick.set(); });
    co_await tick.wait();
}

// Until the condition holds: the sweep of the pool changes it, and tells nobody.
net::routine<> until_nothing_is_idle(rig& r)
{
    while (r.pool.idle() > 0) {
        co_await a_moment(r.loop, 5ms);
    }
}

// An idle connection on which bytes arrive that no call of the pool's asked for: the answer to a request that was written
// on it before.
net::routine<net::upstream_connection*> surplus_under_way(rig& r)
{
    auto lease = co_await connected(r.pool, target_of(r.agent.url()));
    auto* const there = lease->to_keep();
    net::pieces request;
    request.add("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    there->side().write(request);
    CHECK_FALSE(there->side().writing());
    r.pool.give_back(std::move(lease));
    CHECK(r.pool.idle() == 1);
    co_return there;
}

net::routine<> drop_what_has_surplus(rig& r)
{
    co_await surplus_under_way(r);
    co_await until_nothing_is_idle(r);
}

net::routine<> refuse_what_has_surplus(rig& r)
{
    auto* const there = co_await surplus_under_way(r);
    const auto target = there->target();
    while (r.pool.idle() > 0 && there->side().received().empty()) {
        co_await a_moment(r.loop, 1ms);
    }
    CHECK(r.pool.take_idle(target) == nullptr);
    CHECK(r.pool.idle() == 0);
}

net::routine<> come_back_late(rig& r)
{
    auto lease = co_await connected(r.pool, target_of(r.agent.url()));
    r.pool.close();
    r.pool.give_back(std::move(lease));
    CHECK(r.pool.idle() == 0);
    CHECK(r.agent.wait_until_peer_closed());
}

net::routine<> outlive_the_keep(rig& r)
{
    auto lease = co_await connected(r.pool, target_of(r.agent.url()));
    r.pool.give_back(std::move(lease));
    CHECK(r.pool.idle() == 1);
    co_await until_nothing_is_idle(r);
    CHECK(r.agent.wait_until_peer_closed());
}

net::routine<> drop_one_target(rig& r)
{
    const auto target = target_of(r.agent.url());
    auto busy = co_await connected(r.pool, target);
    auto idle = co_await connected(r.pool, target);
    r.pool.give_back(std::move(idle));
    r.pool.drop_idle(target_of("http://127.0.0.1:1/")->key);
    CHECK(r.pool.idle() == 1);
    r.pool.drop_idle(target->key);
    CHECK(r.pool.idle() == 0);
    CHECK(r.pool.take_idle(*target) == nullptr);
    CHECK(r.agent.wait_until_peer_closed());
    CHECK_FALSE(side_of(busy).closed());
    r.pool.give_back(std::move(busy));
    CHECK(r.pool.idle() == 1);
}

net::routine<> fail_to_write(rig& r)
{
    auto lease = co_await connected(r.pool, target_of(r.agent.url()));
    side_of(lease).shutdown_send();
    net::pieces request;
    request.add("POST / HTTP/1.1\r\n");
    side_of(lease).write(request);
    CHECK(side_of(lease).write_error());
    r.pool.give_back(std::move(lease));
    CHECK(r.pool.idle() == 0);
}

net::routine<> lose_the_agent(rig& r)
{
    auto lease = co_await connected(r.pool, target_of(r.agent.url()));
    r.pool.give_back(std::move(lease));
    co_await until_nothing_is_idle(r);
}

// An agent that says something of its own accord. Blocking sockets: what is written is there before the loop looks.
struct talkative_agent {
    talkative_agent()
    {
        ::sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        ::socklen_t size = sizeof address;
        auto* const any = reinterpret_cast<::sockaddr*>(&address);
        REQUIRE(::bind(listener.number(), any, size) == 0);
        REQUIRE(::listen(listener.number(), 8) == 0);
        REQUIRE(::getsockname(listener.number(), any, &size) == 0);
        url = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    }

    core::descriptor accept() const { return core::descriptor{::accept(listener.number(), nullptr, nullptr)}; }

    core::descriptor listener{::socket(AF_INET, SOCK_STREAM, 0)};
    std::string url;
};

// How the loop has come to know of what happened on an idle connection when the next call wants it.
enum class known : std::uint8_t { looked_at, in_the_same_turn };

void disturb(const core::descriptor& agent_side, bool ends)
{
    if (ends) {
        REQUIRE(::shutdown(agent_side.number(), SHUT_WR) == 0);
    } else {
        REQUIRE(::send(agent_side.number(), "x", 1, 0) == 1);
    }
}

net::routine<> ask_after(rig& r, known how, bool ends)
{
    const talkative_agent agent;
    const auto target = target_of(agent.url);
    auto idle = co_await connected(r.pool, target);
    const auto idle_there = agent.accept();
    auto busy = co_await connected(r.pool, target);
    const auto busy_there = agent.accept();
    r.pool.give_back(std::move(idle));
    net::signal changed;
    busy->set_listener(&changed);
    side_of(busy).arm();
    // The loop looks at what happened first first; the next call comes with what happens on the busy connection.
    if (how == known::looked_at) {
        disturb(idle_there, ends);
    }
    disturb(busy_there, false);
    if (how == known::in_the_same_turn) {
        disturb(idle_there, ends);
    }
    while (side_of(busy).received().empty()) {
        co_await changed.wait();
    }
    CHECK(r.pool.take_idle(*target) == nullptr);
    CHECK(r.pool.idle() == 0);
    r.pool.give_back(std::move(busy));  // with a byte that nobody asked for
    CHECK(r.pool.idle() == 0);
}

// The agent is seen to end a connection early. Whether the next one is still taken after a rest that is longer than that.
net::routine<> distrust_and_forget(rig& r, core::duration unused, bool expected)
{
    const talkative_agent agent;
    const auto target = target_of(agent.url);
    auto ended = co_await connected(r.pool, target);
    const auto ended_there = agent.accept();
    auto busy = co_await connected(r.pool, target);
    const auto busy_there = agent.accept();
    net::signal changed;
    busy->set_listener(&changed);
    side_of(busy).arm();
    const auto used = r.loop.now();
    auto& side = side_of(ended);
    r.pool.give_back(std::move(ended));
    // The loop sees both in one turn, before its next sweep.
    disturb(ended_there, true);
    disturb(busy_there, false);
    while (side_of(busy).received().empty()) {
        co_await changed.wait();
    }
    side.look();
    CHECK(side.ended());
    r.pool.discard(std::move(busy));
    r.pool.on_sweep(used + net::keepalive_estimate::shortest_known);
    CHECK(r.pool.idle() == 0);
    r.pool.on_sweep(used + unused);
    auto next = co_await connected(r.pool, target);
    const auto next_there = agent.accept();
    r.pool.give_back(std::move(next));
    co_await a_moment(r.loop, net::keepalive_estimate::shortest_known - net::keepalive_estimate::margin + 200ms);
    CHECK((r.pool.take_idle(*target) != nullptr) == expected);
}

}  // namespace

TEST_CASE("a connection that was given back is taken again for the same target, the latest first")
{
    rig r;
    r.run(take_the_latest(r));
}

TEST_CASE("no more connections are kept than the limit says, and the latest are")
{
    for (std::size_t limit : {0U, 1U, 2U, 3U}) {
        CAPTURE(limit);
        rig r{{.head_limit = 1024, .idle_connections = limit}};
        r.run(keep_two(r, std::min<std::size_t>(limit, 2)));
    }
}

TEST_CASE("a refused connection says so, and so does a name that does not resolve")
{
    rig r;
    r.run(fail_to_connect(r));
}

TEST_CASE("a connection that is given up while it connects is closed and forgotten")
{
    rig r;
    r.run(give_up_while_connecting(r));
}

TEST_CASE("an idle connection is closed when its time is up")
{
    rig r{{.head_limit = 1024, .idle_connections = 4, .life = {.keep = 50ms, .max_age = 1h}}};
    r.run(outlive_the_keep(r));
}

TEST_CASE("A target that is dropped loses its idle connections, and no other target does")
{
    rig r;
    r.run(drop_one_target(r));
}

TEST_CASE("an idle connection that the agent closes is dropped without being asked for")
{
    rig r{{}, {.accepts = test_support::on_accept::close}};
    r.run(lose_the_agent(r));
}

TEST_CASE("the very next call does not get a connection on which bytes that nobody asked for, or the end, have come")
{
    for (const auto how : {known::looked_at, known::in_the_same_turn}) {
        for (const bool ends : {false, true}) {
            CAPTURE((how == known::looked_at));
            CAPTURE(ends);
            rig r;
            r.run(ask_after(r, how, ends));
        }
    }
}

TEST_CASE("An idle connection on which bytes arrive that nobody asked for is dropped")
{
    rig r;
    r.agent.otherwise([](const auto&) { return test_support::answer_json("{}"); });
    SUBCASE("by the sweep")
    {
        r.run(drop_what_has_surplus(r));
    }
    SUBCASE("by the next call, if that comes first")
    {
        r.run(refuse_what_has_surplus(r));
    }
}

TEST_CASE("A connection whose last request could not be written whole is not kept for another")
{
    rig r;
    r.run(fail_to_write(r));
}

TEST_CASE("What connections of an agent have shown is forgotten when none was given back for the longest life of one")
{
    for (const auto beyond : {0ms, 1ms}) {
        CAPTURE(beyond.count());
        rig r{{.life = {.max_age = 10min}}};
        r.run(distrust_and_forget(r, 10min + beyond, beyond > 0ms));
    }
}

TEST_CASE("A connection that is given back after the pool was closed is closed too")
{
    rig r;
    r.run(come_back_late(r));
}

TEST_CASE("Connections with old certificates are not used after these were renewed")
{
    net::client_contexts contexts;
    const auto key_of = [&](const std::string& url) { return net::make_target(url, {}, contexts).value().key; };
    const auto secure = key_of("https://agent.test/");
    const auto plain = key_of("http://agent.test/");
    CHECK(key_of("https://agent.test/other") == secure);
    contexts.renew();
    CHECK(key_of("https://agent.test/") != secure);
    CHECK(key_of("http://agent.test/") == plain);
}

TEST_SUITE_END();
