// Calls that wait for a stream: whose turn it is, and that an agent which takes nothing has none.
#include "core/descriptor.hpp"
#include "tests/support/http2_frames.hpp"
#include "tests/support/listening_socket.hpp"
#include "tests/unit/net/upstream/http2_rig.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

using namespace http2_rig;

TEST_SUITE_BEGIN("net/http2_waiting");

namespace {

h2::script say_nothing(const recorded_request&)
{
    return {};
}

struct open_call {
    net::signal changed;
    net::agent_lease lease;
};

// Whose calls wait, and who waits again whenever its call has had its turn.
struct line_of_calls {
    std::vector<std::uint64_t> callers;
    std::uint64_t again;
    std::size_t turns;
};

// Gives the callers in the order in which they get the one stream.
net::routine<> take_turns(rig& r, http2_agent& agent, line_of_calls line, std::vector<std::uint64_t>& order)
{
    const auto to = target_of(agent.url());
    net::signal changed;
    auto first = co_await begin(r.pool, to, changed);
    send(*first, head_of("GET", "/"), {});
    std::vector<std::unique_ptr<open_call>> waiting;
    const auto wait_for = [&](std::uint64_t whose) {
        auto& each = *waiting.emplace_back(std::make_unique<open_call>());
        each.lease = r.pool.make(to, whose);
        each.lease->connect(each.changed);
    };
    std::ranges::for_each(line.callers, wait_for);
    first.reset();
    while (order.size() < line.turns) {
        co_await a_moment(r.loop, 1ms);
        const auto next = std::ranges::find_if(waiting, [](const auto& each) {
            return each->lease != nullptr && !each->lease->connecting();
        });
        if (next == waiting.end()) {
            continue;
        }
        const auto place = static_cast<std::size_t>(next - waiting.begin());
        order.push_back(line.callers[place]);
        if (order.back() == line.again) {
            line.callers.push_back(line.again);
            wait_for(line.again);
        }
        waiting[place]->lease.reset();
    }
    CHECK(agent.accepted_connections() == 1);
}

constexpr std::size_t many_calls = 3'000;

// Calls with a large head that are given up at once, until one finds no stream. The agent says its SETTINGS and reads nothing.
net::routine<> give_up_many(rig& r, const test_support::listening_socket& deaf, std::size_t& calls)
{
    const auto to = target_of("http://127.0.0.1:" + deaf.port_text() + "/");
    const auto head = head_of("GET", "/", "X-Large: " + std::string(30'000, '~') + "\r\n");
    core::descriptor agent;
    for (; calls < many_calls; ++calls) {
        open_call each;
        each.lease = r.pool.take_idle(*to);
        if (each.lease == nullptr) {
            each.lease = r.pool.make(to);
            each.lease->connect(each.changed);
            if (agent.number() < 0) {
                agent = core::descriptor{::accept4(deaf.number(), nullptr, nullptr, SOCK_CLOEXEC)};
                const auto said = test_support::http2::settings_frame();
                REQUIRE(::send(agent.number(), said.data(), said.size(), 0) == static_cast<ssize_t>(said.size()));
            }
            co_await a_moment(r.loop, 30ms);
            if (each.lease->connecting()) {
                co_return;
            }
        }
        send(*each.lease, head, {});
    }
}

}  // namespace

TEST_CASE("an agent that takes no bytes gets no heads of further calls, also when those before are given up")
{
    const test_support::listening_socket deaf;
    net::pool_settings settings;
    settings.http2_connections = 1;
    rig r{settings};
    std::size_t calls = 0;
    r.run(give_up_many(r, deaf, calls));
    CHECK(calls > 4);
    CHECK(calls < many_calls);  // as many as the system's buffers hold
}

TEST_CASE("callers take turns for the streams of an agent that has too few, also with one that comes again at once")
{
    const auto order_of = [](const line_of_calls& line) {
        http2_agent agent{say_nothing, {.streams = 1}};
        net::pool_settings settings;
        settings.http2_connections = 1;
        rig r{settings};
        std::vector<std::uint64_t> order;
        r.run(take_turns(r, agent, line, order));
        return order;
    };
    CHECK(order_of({{1, 1, 1, 2, 0}, 9, 5}) == std::vector<std::uint64_t>{1, 2, 0, 1, 1});
    CHECK(order_of({{1, 1, 1, 2}, 2, 6}) == std::vector<std::uint64_t>{1, 2, 1, 2, 1, 2});
}

TEST_SUITE_END();
