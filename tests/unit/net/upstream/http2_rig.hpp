// Calls over HTTP/2 to an agent, as a routine of one loop makes them.
#pragma once

#include "net/loop/loop.hpp"
#include "net/loop/routine.hpp"
#include "net/upstream/upstream_pool.hpp"
#include "tests/support/http2_agent.hpp"
#include "tests/support/scripted_agent.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/post.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace http2_rig {

using namespace std::chrono_literals;
namespace h2 = test_support::h2;
using test_support::http2_agent;
using test_support::recorded_request;

using target = std::shared_ptr<const net::upstream_target>;

inline target target_of(const std::string& url, const std::string& ca_file = {})
{
    net::client_contexts contexts;
    auto made = net::make_target(url, {.ca_file = ca_file}, contexts);
    REQUIRE(made.has_value());
    return std::make_shared<const net::upstream_target>(net::over_http2(std::move(*made)));
}

// A loop with a pool. run() drives one routine to its end and lets both end as a worker does.
struct rig {
    explicit rig(net::pool_settings settings = {})
        : pool{loop, with_counters(settings)}
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

    net::pool_settings with_counters(net::pool_settings settings)
    {
        settings.counters = &counters;
        return settings;
    }

    net::http2::counters counters;
    net::loop loop;
    net::upstream_pool pool;
};

// As an exchange gets one: a stream that is there, or one of a new connection.
inline net::routine<net::agent_lease> begin(net::upstream_pool& pool, target to, net::signal& changed)
{
    auto lease = pool.take_idle(*to);
    if (lease == nullptr) {
        lease = pool.make(std::move(to));
        lease->connect(changed);
        while (lease->connecting()) {
            co_await changed.wait();
        }
    }
    lease->set_listener(&changed);
    co_return lease;
}

inline std::string head_of(std::string_view method, std::string_view path, std::string_view fields = {})
{
    std::string out{method};
    return out.append(" ").append(path).append(" HTTP/1.1\r\nHost: agent.test\r\n").append(fields).append("\r\n");
}

struct answer {
    unsigned status = 0;
    std::string body;
    std::string trailers;
    core::errc failure{};  // 0: none
    bool unprocessed = false;
};

// Reads the rest of an answer; the request is on its way.
inline net::routine<answer> finish(net::agent_side& side, net::signal& changed, net::http1::method verb)
{
    answer out;
    for (;;) {
        auto here = side.read_head(verb);
        if (!here) {
            out.failure = here.error().code;
            co_return out;
        }
        if (*here) {
            break;
        }
        if (side.ended()) {
            out.failure = core::errc::upstream_reset;
            out.unprocessed = side.unprocessed();
            co_return out;
        }
        side.arm();
        co_await changed.wait();
    }
    out.status = side.head().status;
    side.consume_head();
    while (!side.body_done()) {
        const auto piece = side.take();
        if (!piece) {
            out.failure = piece.error().code;
            co_return out;
        }
        out.body += *piece;
        side.release();
        if (!side.body_done() && !side.ready()) {
            side.arm();
            co_await changed.wait();
        }
    }
    out.trailers = side.trailers();
    co_return out;
}

inline void send(net::agent_side& side, std::string_view head, std::string_view body)
{
    net::agent_request request;
    request.head.add(head);
    request.body = body;
    side.send(request);
}

// One whole call.
inline net::routine<answer> call(net::upstream_pool& pool, target to, std::string path, std::string body)
{
    net::signal changed;
    auto lease = co_await begin(pool, std::move(to), changed);
    if (const auto& why = lease->failure()) {
        answer out;
        out.failure = why->code;
        co_return out;
    }
    const auto head =
        head_of(body.empty() ? "GET" : "POST", path, "Content-Length: " + std::to_string(body.size()) + "\r\n");
    send(*lease, head, body);
    while (lease->sending()) {
        co_await changed.wait();
    }
    auto out = co_await finish(*lease, changed, body.empty() ? net::http1::method::get : net::http1::method::post);
    if (lease->reusable()) {
        pool.give_back(std::move(lease));
    } else {
        pool.discard(std::move(lease));
    }
    co_return out;
}

inline net::routine<> a_moment(net::loop& loop, std::chrono::milliseconds time)
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

}  // namespace http2_rig
