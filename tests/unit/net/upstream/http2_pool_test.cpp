// Connections of HTTP/2 that calls share: how many there are, who waits for what, and how they end.
#include "tests/unit/net/upstream/http2_rig.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

using namespace http2_rig;
using core::errc;

TEST_SUITE_BEGIN("net/http2_pool");

namespace {

constexpr errc fine{};
constexpr std::uint32_t refused_stream = 7;
constexpr std::uint32_t cancel = 8;

h2::script ok(const recorded_request&)
{
    return h2::answer(200, "ok");
}

h2::script say_nothing(const recorded_request&)
{
    return {};
}

// Calls that stay open, each with what wakes it.
struct open_call {
    net::signal changed;
    net::agent_lease lease;
};

net::routine<> hold(rig& r, target to, std::vector<std::unique_ptr<open_call>>& calls)
{
    auto& call = *calls.emplace_back(std::make_unique<open_call>());
    call.lease = co_await begin(r.pool, std::move(to), call.changed);
    if (!call.lease->failure()) {
        send(*call.lease, head_of("GET", "/"), {});
    }
}

// The loop goes on meanwhile.
net::routine<> arrive(rig& r, http2_agent& agent, std::size_t requests)
{
    while (!agent.wait_for_requests(requests, 0ms)) {
        co_await a_moment(r.loop, 1ms);
    }
}

void begin_beside(net::routine<> work)
{
    net::start(std::move(work), [](const std::exception_ptr& bug) {
        if (bug) {
            std::rethrow_exception(bug);
        }
    });
}

std::size_t placed(const std::vector<std::unique_ptr<open_call>>& calls)
{
    return static_cast<std::size_t>(std::ranges::count_if(calls, [](const auto& each) {
        return each->lease != nullptr;
    }));
}

net::routine<> fill(rig& r, http2_agent& agent, std::size_t calls, std::size_t expected, std::size_t connections)
{
    const auto to = target_of(agent.url());
    std::vector<std::unique_ptr<open_call>> open;
    for (std::size_t i = 0; i < calls; ++i) {
        begin_beside(hold(r, to, open));
    }
    while (placed(open) < expected) {
        co_await a_moment(r.loop, 1ms);
    }
    co_await a_moment(r.loop, 20ms);
    CHECK(placed(open) == expected);
    co_await arrive(r, agent, expected);
    CHECK(agent.accepted_connections() <= connections);
    CHECK(r.counters.streams == expected);
    // Whoever waits gets the stream of one that ends.
    std::size_t ended = 0;
    for (; placed(open) + ended < calls; ++ended) {
        open[ended]->lease.reset();
        co_await arrive(r, agent, expected + ended + 1);
        co_await a_moment(r.loop, 1ms);
    }
    CHECK(ended == calls - expected);
    for (auto& each : open) {
        each->lease.reset();
    }
    co_await a_moment(r.loop, 5ms);
    CHECK(r.counters.streams == 0);
}

net::routine<> call_many(rig& r, target to, std::size_t times)
{
    for (std::size_t i = 0; i < times; ++i) {
        const auto got = co_await call(r.pool, to, "/", "x");
        CHECK(got.failure == fine);
    }
}

net::routine<> call_one(rig& r, target to, answer& got)
{
    got = co_await call(r.pool, std::move(to), "/", "x");
}

net::routine<> refuse_two(rig& r, http2_agent& agent)
{
    const auto to = target_of(agent.url());
    const auto first = co_await call(r.pool, to, "/", "x");
    CHECK(first.failure == errc::upstream_reset);
    CHECK(first.unprocessed);
    const auto second = co_await call(r.pool, to, "/", "x");
    CHECK(second.failure == errc::upstream_reset);
    CHECK_FALSE(second.unprocessed);
}

// The agent ends the connection with three calls on it: the first is below the last stream that it names.
net::routine<> go_away(rig& r, http2_agent& agent)
{
    const auto to = target_of(agent.url());
    co_await call(r.pool, to, "/", "x");
    std::vector<std::unique_ptr<open_call>> open;
    for (int i = 0; i < 3; ++i) {
        co_await hold(r, to, open);
    }
    co_await arrive(r, agent, 4);
    agent.say(1, {h2::goaway{.last = -1}});
    for (std::size_t i = 1; i < 3; ++i) {
        const auto got = co_await finish(*open[i]->lease, open[i]->changed, net::http1::method::get);
        CHECK(got.failure == errc::upstream_reset);
        CHECK(got.unprocessed);
    }
    // A new call has a connection of its own; the one that was processed goes on.
    const auto later = co_await call(r.pool, to, "/later", "x");
    CHECK(later.failure == fine);
    CHECK(agent.accepted_connections() == 2);
    agent.say(1, h2::answer(200, "late"));
    const auto got = co_await finish(*open[0]->lease, open[0]->changed, net::http1::method::get);
    CHECK(got.body == "late");
    open.clear();
    CHECK(r.pool.idle() == 1);
}

net::routine<> drop_and_go_on(rig& r, http2_agent& agent)
{
    const auto to = target_of(agent.url());
    std::vector<std::unique_ptr<open_call>> open;
    co_await hold(r, to, open);
    co_await arrive(r, agent, 1);
    open.clear();
    co_await a_moment(r.loop, 1ms);
    CHECK(agent.wait_for_resets(1));
    CHECK(agent.resets() == std::vector<std::uint32_t>{cancel});
    agent.say(0, h2::answer(200, "nobody reads this"));
    const auto got = co_await call(r.pool, to, "/next", "x");
    CHECK(got.body == "ok");
    CHECK(agent.accepted_connections() == 1);
}

// 300 KB for one who does not read, and calls beside it.
net::routine<> stall_one(rig& r, http2_agent& agent)
{
    const auto to = target_of(agent.url());
    std::vector<std::unique_ptr<open_call>> open;
    co_await hold(r, to, open);
    auto& slow = *open.front();
    while (!slow.lease->full()) {
        slow.lease->arm();
        co_await slow.changed.wait();
        CHECK_FALSE(slow.lease->ended());
    }
    co_await call_many(r, to, 50);
    CHECK(slow.lease->full());
    const auto got = co_await finish(*slow.lease, slow.changed, net::http1::method::get);
    CHECK(got.body.size() == 300'000);
    CHECK(agent.accepted_connections() == 1);
}

net::routine<> wait_beside_silence(rig& r, http2_agent& silent)
{
    const auto to = target_of(silent.url());
    std::vector<std::unique_ptr<open_call>> open;
    net::signal changed;
    auto lease = r.pool.make(to);
    lease->connect(changed);
    co_await a_moment(r.loop, 30ms);
    CHECK(lease->connecting());
    CHECK_FALSE(lease->failure().has_value());
    CHECK(silent.accepted_connections() == 1);
    lease.reset();  // its time is over
    CHECK(silent.wait_for_open_connections(0));
}

net::routine<> full_for_too_long(rig& r, http2_agent& agent)
{
    const auto to = target_of(agent.url());
    std::vector<std::unique_ptr<open_call>> open;
    co_await hold(r, to, open);
    net::signal changed;
    auto lease = r.pool.make(to);
    lease->connect(changed);
    co_await a_moment(r.loop, 5ms);
    CHECK(lease->connecting());
    CHECK(lease->failure().value().code == errc::overloaded);
    lease.reset();
}

net::routine<> retire_in_use(rig& r, http2_agent& agent)
{
    const auto to = target_of(agent.url());
    std::vector<std::unique_ptr<open_call>> open;
    co_await hold(r, to, open);
    co_await arrive(r, agent, 1);
    r.pool.drop_idle(to->key);
    const auto got = co_await call(r.pool, to, "/", "x");
    CHECK(got.failure == fine);
    CHECK(agent.accepted_connections() == 2);
    CHECK(r.pool.idle() == 1);
    r.pool.drop_idle(to->key);
    CHECK(r.pool.idle() == 0);
    open.clear();
    co_await a_moment(r.loop, 5ms);
    CHECK(agent.wait_for_open_connections(0));
    CHECK(agent.goaways() == 2);
}

// One that has rested for longer than its agent is known to keep it makes room for a new one.
net::routine<> rest_too_long(rig& r, http2_agent& agent)
{
    const auto to = target_of(agent.url());
    co_await call(r.pool, to, "/", "x");
    co_await a_moment(r.loop, net::keepalive_estimate::at_first + 200ms);
    const auto got = co_await call(r.pool, to, "/", "x");
    CHECK(got.failure == fine);
    CHECK(agent.accepted_connections() == 2);
    CHECK(agent.wait_for_open_connections(1));
}

net::routine<> until_closed(rig& r, http2_agent& agent)
{
    co_await call(r.pool, target_of(agent.url()), "/", "x");
    CHECK(r.pool.idle() == 1);
    while (r.pool.idle() > 0) {
        co_await a_moment(r.loop, 5ms);
    }
    CHECK(agent.wait_for_open_connections(0));
}

// More than the connection's window of 16 MiB.
net::routine<> take_much(rig& r, http2_agent& agent)
{
    const auto to = target_of(agent.url());
    for (int i = 0; i < 320; ++i) {
        const auto got = co_await call(r.pool, to, "/", "x");
        CHECK(got.body.size() == 64 * 1024);
    }
    // What nobody reads is credited, too.
    for (int i = 0; i < 320; ++i) {
        std::vector<std::unique_ptr<open_call>> open;
        co_await hold(r, to, open);
        while (!open.front()->lease->ended()) {
            open.front()->lease->arm();
            co_await open.front()->changed.wait();
        }
    }
    const auto got = co_await call(r.pool, to, "/", "x");
    CHECK(got.body.size() == 64 * 1024);
    CHECK(agent.accepted_connections() == 1);
}

net::routine<> call_the_forbidden(rig& r, http2_agent& agent)
{
    net::client_contexts contexts;
    const auto public_only = std::make_shared<const core::address_rule>(std::vector<std::string>{});
    auto made = net::make_target(agent.url(), {}, contexts, public_only);
    REQUIRE(made.has_value());
    const auto to = std::make_shared<const net::upstream_target>(net::over_http2(std::move(*made)));
    for (int i = 0; i < 3; ++i) {
        const auto got = co_await call(r.pool, to, "/", "x");
        CHECK(got.failure == errc::upstream_forbidden);
    }
    std::vector<std::unique_ptr<open_call>> open;
    for (int i = 0; i < 20; ++i) {
        begin_beside(hold(r, to, open));
    }
    while (placed(open) < 20) {
        co_await a_moment(r.loop, 1ms);
    }
    for (const auto& each : open) {
        CHECK(each->lease->failure().value().code == errc::upstream_forbidden);
    }
}

// Each connection takes no more calls, but has one that does not end.
net::routine<> retire_each(rig& r, http2_agent& agent)
{
    const auto to = target_of(agent.url());
    std::vector<std::unique_ptr<open_call>> open;
    for (std::size_t i = 0; i < 4; ++i) {
        co_await hold(r, to, open);
        co_await arrive(r, agent, i + 1);
        r.pool.drop_idle(to->key);
    }
    CHECK(agent.accepted_connections() == 4);
    begin_beside(hold(r, to, open));
    co_await a_moment(r.loop, 20ms);
    CHECK(open.back()->lease == nullptr);
    CHECK(agent.accepted_connections() == 4);
    open.front()->lease.reset();
    co_await arrive(r, agent, 5);
    CHECK(agent.accepted_connections() == 5);
}

// A call that began before the pool was closed.
net::routine<> close_beside(rig& r, http2_agent& agent)
{
    const auto to = target_of(agent.url());
    net::signal changed;
    auto lease = r.pool.make(to);
    lease->connect(changed);
    r.pool.close();
    while (lease->connecting()) {
        co_await changed.wait();
    }
    send(*lease, head_of("POST", "/"), {});
    const auto got = co_await finish(*lease, changed, net::http1::method::post);
    CHECK(got.body == "ok");
    r.pool.give_back(std::move(lease));
    CHECK(agent.wait_for_open_connections(0));
    CHECK(agent.accepted_connections() == 1);
}

// The agent's end crosses the next call.
net::routine<> meet_the_end(rig& r, http2_agent& agent)
{
    const auto to = target_of(agent.url());
    co_await call(r.pool, to, "/", "x");
    CHECK(agent.wait_for_open_connections(0));
    const auto got = co_await call(r.pool, to, "/", "x");
    // The loop may have heard of it, or may not.
    CHECK((got.failure == fine || got.unprocessed));
    CHECK(agent.requests().size() == (got.failure == fine ? 2 : 1));
}

}  // namespace

TEST_CASE("streams of one connection are the agent's limit at most, and then calls wait")
{
    for (const std::size_t calls : {2U, 3U, 4U}) {
        CAPTURE(calls);
        http2_agent agent{say_nothing, {.streams = 3}};
        net::pool_settings settings;
        settings.http2_connections = 1;
        rig r{settings};
        r.run(fill(r, agent, calls, std::min<std::size_t>(calls, 3), 1));
    }
}

TEST_CASE("a connection has 100 streams at most, whatever its agent allows")
{
    for (const std::size_t calls : {99U, 100U, 101U}) {
        CAPTURE(calls);
        http2_agent agent{say_nothing, {.streams = 1000}};
        net::pool_settings settings;
        settings.http2_connections = 1;
        rig r{settings};
        r.run(fill(r, agent, calls, std::min<std::size_t>(calls, 100), 1));
    }
}

TEST_CASE("connections to one agent are up to the limit")
{
    for (const std::size_t calls : {7U, 8U, 9U}) {
        CAPTURE(calls);
        http2_agent agent{say_nothing, {.streams = 1}};
        rig r;
        r.run(fill(r, agent, calls, std::min<std::size_t>(calls, 8), 8));
        CHECK(agent.accepted_connections() == std::min<std::size_t>(calls, 8));
    }
}

TEST_CASE("calls one after the other go over one connection, which gets no PING")
{
    http2_agent agent{ok};
    rig r;
    r.run(call_many(r, target_of(agent.url()), 300));
    CHECK(agent.accepted_connections() == 1);
    CHECK(agent.pings() == 0);
    CHECK(agent.resets().empty());
}

TEST_CASE("a call that is refused was not processed, and one that is reset may have been")
{
    int calls = 0;
    http2_agent agent{[&](const recorded_request&) { return h2::script{h2::reset{++calls == 1 ? refused_stream : 2U}}; }
    };
    rig r;
    r.run(refuse_two(r, agent));
}

TEST_CASE("calls above the last stream of a GOAWAY were not processed, and those below go on")
{
    http2_agent agent{[](const recorded_request& request) {
        return request.method == "POST" ? h2::answer(200, "ok") : h2::script{};
    }};
    rig r;
    r.run(go_away(r, agent));
}

TEST_CASE("a call that is dropped is reset with CANCEL, and its connection goes on")
{
    http2_agent agent{[](const recorded_request& request) {
        return request.method == "POST" ? h2::answer(200, "ok") : h2::script{};
    }};
    rig r;
    r.run(drop_and_go_on(r, agent));
}

TEST_CASE("a reader that does not read stalls its own stream alone")
{
    http2_agent agent{[](const recorded_request& request) {
        return request.method == "POST" ? h2::answer(200, "ok") : h2::answer(200, std::string(300'000, 'x'));
    }};
    rig r;
    r.run(stall_one(r, agent));
}

TEST_CASE("a connection without SETTINGS is not used, and ends with the call that it was made for")
{
    http2_agent agent{ok, {.tells_settings = false}};
    rig r;
    r.run(wait_beside_silence(r, agent));
    CHECK(agent.requests().empty());
}

TEST_CASE("an agent that ends each connection before a call is not asked again and again")
{
    using namespace std::string_literals;
    const auto settings = "\0\0\0\x04\0\0\0\0\0"s;
    const auto goaway = "\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0\0"s;
    http2_agent agent{ok, {.instead = settings + goaway}};
    rig r;
    answer got;
    r.run(call_one(r, target_of(agent.url()), got));
    CHECK(got.failure == errc::upstream_refused);
    CHECK(agent.accepted_connections() == 1);
}

TEST_CASE("a call for which no stream was free has met an agent that is busy, not one that is gone")
{
    http2_agent agent{say_nothing, {.streams = 1}};
    net::pool_settings settings;
    settings.http2_connections = 1;
    rig r{settings};
    r.run(full_for_too_long(r, agent));
}

TEST_CASE("a target that is dropped gets new connections, and the old ones end with their calls")
{
    http2_agent agent{[](const recorded_request& request) {
        return request.method == "POST" ? h2::answer(200, "ok") : h2::script{};
    }};
    rig r;
    r.run(retire_in_use(r, agent));
}

TEST_CASE("a connection that is not trusted any more makes room for a new one")
{
    http2_agent agent{ok};
    net::pool_settings settings;
    settings.http2_connections = 1;
    rig r{settings};
    r.run(rest_too_long(r, agent));
}

TEST_CASE("a connection without a call closes after its time, and so does one that is too old")
{
    for (const bool old : {false, true}) {
        CAPTURE(old);
        http2_agent agent{ok};
        net::pool_settings settings;
        (old ? settings.life.max_age : settings.life.keep) = core::duration{150};
        rig r{settings};
        r.run(until_closed(r, agent));
    }
}

TEST_CASE("connections that take no more calls are as many again at most")
{
    http2_agent agent{say_nothing};
    net::pool_settings settings;
    settings.http2_connections = 2;
    rig r{settings};
    r.run(retire_each(r, agent));
}

TEST_CASE("a connection passes many times its window, whether or not answers are read")
{
    http2_agent agent{[](const recorded_request&) { return h2::answer(200, std::string(64 * 1024, 'x')); }};
    rig r;
    r.run(take_much(r, agent));
}

TEST_CASE("an agent at an address that it may not have is not connected to, however many call it")
{
    http2_agent agent{ok};
    rig r;
    r.run(call_the_forbidden(r, agent));
    CHECK(agent.accepted_connections() == 0);
}

TEST_CASE("a call for which a connection was being made when the pool was closed gets it, and ends it")
{
    http2_agent agent{ok};
    rig r;
    r.run(close_beside(r, agent));
}

TEST_CASE("a call that meets the end of an idle connection was not processed")
{
    http2_agent agent{[](const recorded_request&) {
        auto said = h2::answer(200, "ok");
        said.push_back(h2::close_now{});
        return said;
    }};
    rig r;
    r.run(meet_the_end(r, agent));
}

TEST_CASE("an agent that cannot be reached fails the call that wanted the connection")
{
    rig r;
    answer got;
    const auto nobody = "http://127.0.0.1:" + std::to_string(test_support::unused_port());
    r.run(call_one(r, target_of(nobody), got));
    CHECK(got.failure == errc::upstream_refused);
}

TEST_SUITE_END();
