#pragma once

#include "net/client/fetch.hpp"
#include "tests/support/script.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using fetch_result = core::result<net::fetch_response>;

// A fetcher and the loop it lives on, driven by the test.
struct fetch_client {
    boost::asio::io_context io{1};
    std::optional<net::curl_fetcher> fetcher{std::in_place, io, "cardea/1.2.3"};
    std::vector<fetch_result> results;  // in the order of completion

    void start(net::fetch_request request, boost::asio::cancellation_slot slot = {})
    {
        auto done = [this](std::exception_ptr bug, fetch_result got) {
            REQUIRE(bug == nullptr);
            results.push_back(std::move(got));
        };
        boost::asio::co_spawn(
            io,
            fetcher->fetch(std::move(request)),
            boost::asio::bind_cancellation_slot(slot, std::move(done))
        );
    }

    void run_until(const std::function<bool()>& condition)
    {
        const auto by = std::chrono::steady_clock::now() + test_support::patience;
        while (!condition()) {
            REQUIRE(std::chrono::steady_clock::now() < by);
            io.restart();
            io.run_one_for(std::chrono::milliseconds{5});
        }
    }

    void run_until_done(std::size_t count)
    {
        run_until([&] { return results.size() == count; });
    }
};

inline fetch_result fetch(net::fetch_request request)
{
    fetch_client one;
    one.start(std::move(request));
    one.run_until_done(1);
    return one.results.front();
}

inline net::fetch_request get(std::string url)
{
    net::fetch_request made;
    made.url = std::move(url);
    return made;
}

inline void check_fails(const fetch_result& got, core::errc with)
{
    REQUIRE(got.has_error());
    CAPTURE(got.error().detail);
    CHECK(core::name(got.error().code) == core::name(with));
    CHECK(got.error().from == (with == core::errc::internal ? core::side::gateway : core::side::upstream));
    CHECK_FALSE(got.error().detail.empty());
}
