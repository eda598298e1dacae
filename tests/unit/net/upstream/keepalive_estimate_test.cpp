#include "net/upstream/connection_life.hpp"

#include <doctest/doctest.h>

#include <chrono>

using namespace std::chrono_literals;

TEST_SUITE_BEGIN("net/upstream/keepalive_estimate");

TEST_CASE("Of an agent that nothing is known of, connections carry a call for less than four seconds")
{
    const net::keepalive_estimate trust;
    CHECK(trust.holds(0ms));
    CHECK(trust.holds(4s - 1ms));
    CHECK_FALSE(trust.holds(4s));
}

TEST_CASE("An agent that is seen to keep connections longer is trusted with all but the last second of that")
{
    net::keepalive_estimate trust;
    trust.record_kept(5s);
    CHECK_FALSE(trust.holds(4s));
    trust.record_kept(60s);
    trust.record_kept(10s);
    CHECK(trust.holds(59s - 1ms));
    CHECK_FALSE(trust.holds(59s));
}

TEST_CASE("An agent that is seen to end an idle connection is trusted with a second less than that")
{
    net::keepalive_estimate trust;
    trust.record_kept(60s);
    trust.record_ended(5s);
    CHECK(trust.holds(4s - 1ms));
    CHECK_FALSE(trust.holds(4s));
    trust.record_ended(2s);
    CHECK(trust.holds(1s - 1ms));
    CHECK_FALSE(trust.holds(1s));
    trust.record_ended(3s);
    CHECK_FALSE(trust.holds(1s));
}

TEST_CASE("An end soon after a call says nothing of the agent's time")
{
    net::keepalive_estimate trust;
    trust.record_ended(0ms);
    trust.record_ended(1499ms);
    CHECK(trust.holds(4s - 1ms));
    trust.record_ended(1500ms);
    CHECK(trust.holds(499ms));
    CHECK_FALSE(trust.holds(500ms));
}

TEST_SUITE_END();
