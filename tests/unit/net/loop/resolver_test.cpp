#include "net/loop/resolver.hpp"

#include "net/loop/loop.hpp"

#include <boost/asio/error.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

using namespace std::chrono_literals;

TEST_SUITE_BEGIN("net/loop/resolver");

namespace {

struct outcome {
    int answers = 0;
    net::error_code ec;
};

auto keep(net::loop& loop, outcome& into, int last)
{
    return [&loop, &into, last](net::error_code ec) {
        ++into.answers;
        into.ec = ec;
        if (into.answers == last) {
            loop.stop();
        }
    };
}

net::resolver::ticket ask(net::loop& loop, const std::string& host, net::resolver::receiver answered)
{
    const auto now = loop.now();
    return loop.names().ask(loop.names().find(host, now), std::move(answered), now);
}

// A lookup that is open until the test says what it finds. Lookups under way outlive the test: they share this.
struct held_lookup {
    std::atomic<bool> open{false};
    std::atomic<int> begun{0};

    net::name_answer answer()
    {
        ++begun;
        open.wait(false);
        return {{}, {net::asio::ip::make_address("192.0.2.1")}};
    }

    void release()
    {
        open = true;
        open.notify_all();
    }
};

std::shared_ptr<net::dns_cache> book_of(const std::shared_ptr<held_lookup>& lookup, const net::name_settings& settings)
{
    return std::make_shared<net::dns_cache>(settings, [lookup](const std::string&) { return lookup->answer(); });
}

}  // namespace

TEST_CASE("A name becomes its addresses for all callers at the same time")
{
    net::loop loop;
    outcome both;
    const auto first = ask(loop, "localhost", keep(loop, both, 2));
    const auto second = ask(loop, "localhost", keep(loop, both, 2));
    CHECK(both.answers == 0);
    loop.run();
    CHECK(both.answers == 2);
    CHECK_FALSE(both.ec);
    const auto known = loop.names().find("localhost", loop.now());
    REQUIRE(known->addresses != nullptr);
    for (const auto& address : *known->addresses) {
        CHECK(address.is_loopback());
    }
}

TEST_CASE("A name that nobody has is an error")
{
    net::loop loop;
    outcome got;
    const auto question = ask(loop, "no-such-host.invalid", keep(loop, got, 1));
    loop.run();
    CHECK(got.ec);
    CHECK(got.ec != net::asio::error::timed_out);
}

TEST_CASE("A question that was withdrawn is not answered, and its asker may be gone")
{
    net::loop loop;
    outcome got;
    {
        outcome gone;
        const auto withdrawn = ask(loop, "localhost", keep(loop, gone, 1));
    }
    const auto question = ask(loop, "localhost", keep(loop, got, 1));
    loop.run();
    CHECK(got.answers == 1);
}

TEST_CASE("A loop may end while names are looked up")
{
    const auto lookup = std::make_shared<held_lookup>();
    {
        net::loop loop{book_of(lookup, {})};
        outcome got;
        const auto question = ask(loop, "slow.test", keep(loop, got, 1));
        loop.stop();
        CHECK(got.answers == 0);
    }
    lookup->release();
}

TEST_CASE("A question about a name whose lookup takes too long fails, and the late answer still counts")
{
    const auto lookup = std::make_shared<held_lookup>();
    const auto book = book_of(lookup, {.timeout = 100ms});
    {
        net::loop loop{book};
        outcome got;
        const auto question = ask(loop, "slow.test", keep(loop, got, 1));
        loop.run();
        CHECK(got.ec == net::asio::error::timed_out);
    }
    lookup->release();
    net::loop next{book};
    const auto is_known = [&] { return next.names().find("slow.test", next.now())->addresses != nullptr; };
    const auto by = std::chrono::steady_clock::now() + 10s;
    while (!is_known() && std::chrono::steady_clock::now() < by) {
        std::this_thread::sleep_for(5ms);
    }
    CHECK(is_known());
}

TEST_CASE("A question about a name whose lookup has taken its time already fails at once, on this loop and on another")
{
    using std::chrono::steady_clock;
    const auto lookup = std::make_shared<held_lookup>();
    const auto book = book_of(lookup, {.timeout = 2s});
    net::loop first{book};
    outcome got;
    const auto question = ask(first, "slow.test", keep(first, got, 1));
    first.run();
    CHECK(got.ec == net::asio::error::timed_out);
    net::loop second{book};
    outcome late;
    const auto begun = steady_clock::now();
    const auto another = ask(second, "slow.test", keep(second, late, 1));
    CHECK(late.answers == 0);  // never inside the call
    second.run();
    CHECK(late.ec == net::asio::error::timed_out);
    CHECK(steady_clock::now() - begun < 1500ms);
    lookup->release();
}

TEST_CASE("What one loop has asked another one knows at once")
{
    const auto lookup = std::make_shared<held_lookup>();
    lookup->release();
    const auto book = book_of(lookup, {});
    net::loop one{book};
    net::loop other{book};
    outcome got;
    const auto question = ask(one, "agent.test", keep(one, got, 1));
    one.run();
    CHECK(other.names().find("agent.test", other.now())->addresses != nullptr);
    CHECK(lookup->begun == 1);
}

TEST_CASE("A name is forgotten when nothing has used it for longer than its addresses may be old, and nobody holds it")
{
    const auto lookup = std::make_shared<held_lookup>();
    lookup->release();
    net::loop loop{book_of(lookup, {.stale = 5min})};
    outcome got;
    const auto question = ask(loop, "agent.test", keep(loop, got, 1));
    loop.run();
    const auto now = loop.now();
    auto held = loop.names().find("agent.test", now);
    const std::weak_ptr<net::resolver::name> seen{held};
    held.reset();
    loop.names().on_sweep(now + 5min);
    CHECK_FALSE(seen.expired());
    held = loop.names().find("agent.test", now);
    loop.names().on_sweep(now + 6min);
    CHECK(loop.names().find("agent.test", now) == held);
    held.reset();
    loop.names().on_sweep(now + 7min);
    CHECK(seen.expired());
}

TEST_SUITE_END();
