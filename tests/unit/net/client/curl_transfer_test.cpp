#include "net/client/curl_transfer.hpp"

#include "net/client/curl_driver.hpp"
#include "tests/support/scripted_agent.hpp"
#include "tests/support/test_ca.hpp"
#include "tests/unit/net/failing_allocations.hpp"

#include <boost/asio/io_context.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace {

using core::errc;

const std::string agent_name{"cardea/1.2.3"};

net::curl_request request_to(const std::string& url, const std::string& ca_file = {})
{
    net::curl_request made{.url = url, .headers = {}, .tls = {}};
    made.tls.ca_file = ca_file;
    made.timeout = std::chrono::milliseconds{500};
    return made;
}

// For what libcurl brings of the answer there is no memory, once it is `full`.
class starved_transfer final : public net::curl_transfer {
public:
    enum class place : std::uint8_t { head, body, nowhere };

    starved_transfer(net::curl_request request, place full)
        : curl_transfer{std::move(request), agent_name},
          full_{full}
    {
    }

    using curl_transfer::prepare;

    void over(CURLcode code) override
    {
        outcome = failure(code);
        ended = true;
    }

    std::optional<core::error> outcome;
    bool ended = false;

private:
    void set_options() override { set(CURLOPT_HTTPGET, 1L); }
    bool take_head() override { return take(place::head); }
    bool take_body(std::string_view) override { return take(place::body); }

    bool take(place now) const
    {
        if (now == full_) {
            throw std::bad_alloc{};
        }
        return true;
    }

    place full_;
};

using place = starved_transfer::place;

struct rig {
    std::shared_ptr<starved_transfer> begin(net::curl_request request, place full = place::nowhere)
    {
        auto made = std::make_shared<starved_transfer>(std::move(request), full);
        REQUIRE_FALSE(made->prepare().has_value());
        return made;
    }

    void run(const starved_transfer& until_it_ends)
    {
        const auto by = std::chrono::steady_clock::now() + test_support::patience;
        while (!until_it_ends.ended && std::chrono::steady_clock::now() < by) {
            io.restart();
            io.run_one_for(std::chrono::milliseconds{5});
        }
    }

    boost::asio::io_context io{1};
    net::curl_driver driver{io, nullptr};
};

TEST_SUITE("net/curl_transfer")
{
    TEST_CASE("A transfer for whose answer there is no memory ends with overloaded, and the next one goes on")
    {
        test_support::scripted_agent agent{[](const auto&) { return test_support::answer(200, "some text"); }};
        rig x;
        for (const auto full : {place::head, place::body}) {
            CAPTURE(static_cast<int>(full));
            const auto starved = x.begin(request_to(agent.url()), full);
            REQUIRE(x.driver.add(starved) == CURLM_OK);
            x.run(*starved);
            REQUIRE(starved->ended);
            REQUIRE(starved->outcome.has_value());
            CHECK(starved->outcome->code == errc::overloaded);
            const auto next = x.begin(request_to(agent.url()));
            REQUIRE(x.driver.add(next) == CURLM_OK);
            x.run(*next);
            CHECK(next->ended);
            CHECK_FALSE(next->outcome.has_value());
        }
    }

    TEST_CASE(
        "Whichever allocation fails during a transfer, it ends or whoever runs it hears of it, and the next goes on" *
        doctest::skip(!tests::allocations_can_fail)
    )
    {
        test_support::test_ca ca;
        const auto shown = ca.issue({"127.0.0.1"});
        const auto answer = [](const auto&) { return test_support::answer(200, "some text"); };
        test_support::scripted_agent agent{answer, {.cert_file = shown.cert_file, .key_file = shown.key_file}};
        int failed = 0;
        bool has_failed = true;
        for (int number = 1; has_failed; ++number) {
            CAPTURE(number);
            rig x;
            const auto starved = x.begin(request_to(agent.url(), ca.ca_file()));
            bool heard = false;
            tests::fail_allocation(number);
            try {
                heard = x.driver.add(starved) != CURLM_OK;
                if (!heard) {
                    x.run(*starved);
                }
            } catch (const std::bad_alloc&) {
                heard = true;
            }
            has_failed = tests::stop_failing();
            CHECK((heard || starved->ended));
            failed += starved->outcome ? 1 : 0;
            const auto next = x.begin(request_to(agent.url(), ca.ca_file()));
            REQUIRE(x.driver.add(next) == CURLM_OK);
            x.run(*next);
            CHECK(next->ended);
            CHECK_FALSE(next->outcome.has_value());
        }
        CHECK(failed > 0);
    }
}

}  // namespace
