// The gateway's own requests find hosts in the process's book of names, as calls do.
#include "net/client/exchange.hpp"
#include "net/client/fetch.hpp"
#include "net/loop/loop.hpp"
#include "tests/support/name_table.hpp"
#include "tests/support/scripted_agent.hpp"
#include "tests/unit/net/client/exchange_recorder.hpp"
#include "tests/unit/net/client/fetch_client.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using core::errc;
using test_support::recorded_request;
using test_support::scripted_agent;

TEST_SUITE_BEGIN("net/client/names");

namespace {

test_support::handler saying(std::string text)
{
    return [text = std::move(text)](const recorded_request&) { return test_support::answer(200, text); };
}

// A loop whose names are those of a table, driven by the test.
struct rig {
    explicit rig(net::name_settings settings = {})
        : book{std::make_shared<net::dns_cache>(
              settings,
              [names = names](const std::string& host) { return names->answer(host); }
          )},
          loop{book},
          fetcher{std::in_place, loop, "cardea/1.2.3"}
    {
        loop.timers().start();
        loop.ready().start();
    }
    ~rig()
    {
        names->hold(false);
        loop.timers().stop();
    }

    void start(net::fetch_request request)
    {
        boost::asio::co_spawn(
            loop.io(),
            fetcher->fetch(std::move(request)),
            [this](std::exception_ptr bug, fetch_result got) {
                REQUIRE(bug == nullptr);
                results.push_back(std::move(got));
            }
        );
    }

    void run_until(const std::function<bool()>& condition)
    {
        const auto by = std::chrono::steady_clock::now() + test_support::patience;
        while (!condition()) {
            REQUIRE(std::chrono::steady_clock::now() < by);
            loop.io().run_one_for(5ms);
        }
    }

    fetch_result fetch(net::fetch_request request)
    {
        const auto before = results.size();
        start(std::move(request));
        run_until([&] { return results.size() > before; });
        return results.back();
    }

    std::string body(const std::string& url)
    {
        const auto got = fetch(get(url));
        return got ? got->body : got.error().detail;
    }

    std::shared_ptr<test_support::name_table> names = std::make_shared<test_support::name_table>();
    std::shared_ptr<net::dns_cache> book;
    net::loop loop;
    std::optional<net::curl_fetcher> fetcher;
    std::vector<fetch_result> results;
};

std::string url_of(const std::string& host, std::uint16_t port)
{
    return "http://" + host + ':' + std::to_string(port) + "/x";
}

}  // namespace

TEST_CASE("A name is looked up once, however many fetches and exchanges ask for it, and the Host is the name")
{
    scripted_agent agent{saying("one")};
    rig x;
    x.names->set("agent.test", {"127.0.0.1"});
    const auto url = url_of("agent.test", agent.port());
    CHECK(x.body(url) == "one");
    CHECK(x.body(url_of("AGENT.test", agent.port())) == "one");
    net::exchange_client client{x.loop, "cardea/1.2.3"};
    exchange_recorder told;
    net::exchange_request asked;
    asked.url = url;
    const auto running = client.start(std::move(asked), told);
    x.run_until([&] { return !told.ends.empty(); });
    CHECK(told.ends[0].has_value());
    CHECK(told.body == "one");
    CHECK(x.names->lookups() == 1);
    CHECK(agent.request(0).header("Host") == "agent.test:" + std::to_string(agent.port()));
    CHECK(agent.accepted_connections() == 2);  // one of the fetcher, one of the exchanges
}

TEST_CASE("A proxy is found by its name, and the server's name is left to the proxy")
{
    scripted_agent agent{saying("by proxy")};
    rig x;
    x.names->set("proxy.test", {"127.0.0.1"});
    const core::secret proxy{"http://Proxy.test:" + std::to_string(agent.port())};
    for (int i = 0; i < 2; ++i) {
        auto request = get("http://agent.test/x");
        request.proxy = proxy;
        const auto got = x.fetch(std::move(request));
        REQUIRE(got.has_value());
        CHECK(got->body == "by proxy");
    }
    net::exchange_client client{x.loop, "cardea/1.2.3"};
    exchange_recorder told;
    net::exchange_request asked;
    asked.url = "http://agent.test/x";
    asked.proxy = proxy;
    const auto running = client.start(std::move(asked), told);
    x.run_until([&] { return !told.ends.empty(); });
    CHECK(told.body == "by proxy");
    for (const auto& each : agent.requests()) {
        CHECK(each.target == "http://agent.test/x");
        CHECK(each.header("Host") == "agent.test");
    }
    CHECK(agent.accepted_connections() == 2);
    CHECK(x.names->lookups("proxy.test") == 1);
    CHECK(x.names->lookups("agent.test") == 0);
    x.names->fail_all();
    auto lost = get("http://agent.test/x");
    lost.proxy = core::secret{"http://other.test:1"};
    const auto failed = x.fetch(std::move(lost));
    REQUIRE(failed.has_error());
    CHECK(failed.error().code == errc::upstream_unresolved);
    CHECK(failed.error().detail.find("other.test") != std::string::npos);
}

TEST_CASE("After its name has changed its address no fetch goes to the old one, kept connection or not")
{
    scripted_agent before{saying("before")};
    scripted_agent after{saying("after"), {.address = "127.0.0.2", .port = before.port()}};
    rig x{{.refresh = 20ms}};
    x.names->set("agent.test", {"127.0.0.1"});
    const auto url = url_of("agent.test", before.port());
    CHECK(x.body(url) == "before");
    CHECK(x.body(url) == "before");
    CHECK(before.accepted_connections() == 1);
    x.names->set("agent.test", {"127.0.0.2"});
    x.run_until([&] { return x.body(url) == "after"; });
    const auto calls = before.request_count();
    CHECK(x.body(url) == "after");
    CHECK(before.request_count() == calls);
    CHECK(after.accepted_connections() == 1);
}

TEST_CASE("The last addresses hold while lookups fail, and are gone after dns.stale")
{
    scripted_agent agent{saying("one")};
    rig x{{.refresh = 20ms, .stale = 600ms}};
    x.names->set("agent.test", {"127.0.0.1"});
    const auto url = url_of("agent.test", agent.port());
    CHECK(x.body(url) == "one");
    x.names->fail_all();
    const auto lookups = x.names->lookups();
    x.run_until([&] { return x.names->lookups() >= lookups + 2; });
    CHECK(x.body(url) == "one");
    x.run_until([&] { return x.body(url) != "one"; });
    check_fails(x.results.back(), errc::upstream_unresolved);
}

TEST_CASE("A name that is not found, and addresses that refuse, say so with the name as it was asked for")
{
    const auto port = test_support::unused_port();
    rig x;
    x.names->set("agent.test", {"127.0.0.1", "::1"});
    for (const auto& [host, code] :
         {std::pair{"nobody.test", errc::upstream_unresolved}, std::pair{"agent.test", errc::upstream_refused}}) {
        const auto got = x.fetch(get(url_of(host, port)));
        check_fails(got, code);
        CHECK(got.error().detail.find(host) != std::string::npos);
        CHECK(got.error().detail.find(".invalid") == std::string::npos);
    }
}

TEST_CASE("An address that refuses leaves the others of its name to be tried")
{
    scripted_agent agent{saying("one")};
    rig x;
    x.names->set("agent.test", {"::1", "127.0.0.9", "127.0.0.1"});
    CHECK(x.body(url_of("agent.test", agent.port())) == "one");
}

TEST_CASE("A lookup that hangs ends by timeouts.dns, and nobody waits for that name once more")
{
    rig x{{.timeout = 1s}};
    x.names->hold(true);
    auto request = get("http://agent.test/");
    check_fails(x.fetch(request), errc::upstream_unresolved);
    request.timeout = 700ms;
    check_fails(x.fetch(request), errc::upstream_unresolved);
    CHECK(x.names->lookups() == 1);
    x.names->hold(false);
}

TEST_CASE("A lookup that hangs ends by the request's own time if that is shorter than timeouts.dns")
{
    rig x{{.timeout = 10min}};
    x.names->hold(true);
    auto request = get("http://second.test/");
    request.timeout = 100ms;
    check_fails(x.fetch(request), errc::upstream_timeout);
    request.url = "http://third.test/";
    request.timeout = 10min;
    request.connect_timeout = 100ms;
    check_fails(x.fetch(request), errc::upstream_timeout);

    net::exchange_client client{x.loop, "cardea/1.2.3"};
    exchange_recorder told;
    net::exchange_request asked;
    asked.url = "http://fourth.test/";
    asked.head_timeout = 100ms;
    const auto running = client.start(asked, told);
    x.run_until([&] { return !told.ends.empty(); });
    check_fails(fetch_result{told.ends[0].error()}, errc::upstream_timeout);
    exchange_recorder silent;
    asked.head_timeout = 10min;
    auto left = client.start(std::move(asked), silent);
    left.reset();
    x.start(get("http://fifth.test/"));
    x.loop.io().poll();
    x.fetcher.reset();
    x.run_until([&] { return x.results.size() == 3; });
    CHECK(x.results[2].error().code == errc::caller_gone);
    x.names->hold(false);
    CHECK(silent.ends.empty());
}

TEST_CASE("The time of a lookup is part of the time that a fetch has")
{
    scripted_agent agent{[](const recorded_request&) { return test_support::silence(); }};
    rig x;
    x.names->set("agent.test", {"127.0.0.1"});
    x.names->hold(true);
    auto request = get(url_of("agent.test", agent.port()));
    request.timeout = 600ms;
    const auto begun = std::chrono::steady_clock::now();
    x.start(request);
    x.run_until([&] { return std::chrono::steady_clock::now() - begun >= 400ms; });
    x.names->hold(false);
    x.run_until([&] { return x.results.size() == 1; });
    check_fails(x.results[0], errc::upstream_timeout);
    CHECK(std::chrono::steady_clock::now() - begun >= 600ms);
    CHECK(std::chrono::steady_clock::now() - begun < 950ms);
    CHECK(agent.request_count() == 1);
}

TEST_CASE("Each address of a name has to be one that the request may connect to")
{
    scripted_agent agent{saying("one")};
    rig x;
    x.names->set("private.test", {"127.0.0.1", "::1", "10.0.0.1"});
    x.names->set("mixed.test", {"10.255.255.1", "127.0.0.1"});
    CHECK(x.body(url_of("mixed.test", agent.port())) == "one");
    auto request = get(url_of("private.test", agent.port()));
    request.addresses = std::make_shared<const core::address_rule>(std::vector<std::string>{});
    check_fails(x.fetch(request), errc::upstream_forbidden);
    request.url = url_of("mixed.test", agent.port());
    check_fails(x.fetch(request), errc::upstream_forbidden);
    request.addresses = std::make_shared<const core::address_rule>(std::vector<std::string>{"127.0.0.0/8"});
    const auto got = x.fetch(request);
    REQUIRE(got.has_value());
    CHECK(got->body == "one");
    CHECK(agent.request_count() == 2);
}

TEST_SUITE_END();
