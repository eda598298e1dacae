// A gateway's own binary that is told to stop while something holds it up for ever.
#include "tests/flow/handover_fixture.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <string>

TEST_SUITE_BEGIN("flow/bounded_end");

using namespace std::chrono_literals;
using flow::succession;
using test_support::http_client;

TEST_CASE("A gateway whose disk does not answer ends with 0 at most 5 s after the longest time of its drain")
{
    const test_support::scratch_directory here;
    const auto hang = here.file("hang");
    succession gateway{
        "timeouts: {drain: 500ms, drain_streams: 300ms, drain_idle: 100ms}\n",
        {{"LD_PRELOAD=" CARDEA_HANGING_DISK, "CARDEA_TEST_HANG=" + hang}, {}}
    };
    CHECK(gateway.rpc("agents/upsert", {{"id", "a"}, {"agent", {{"url", "http://127.0.0.1:1/"}}}}).at("version") == 1);
    test_support::write_whole(hang, "");
    http_client writing{gateway.admin_port()};
    writing.send(test_support::request_text(
        "POST",
        "/rpc",
        {{"Content-Type", "application/json"}},
        R"({"jsonrpc":"2.0","id":1,"method":"agents/delete","params":{"id":"a"}})"
    ));
    CHECK_FALSE(writing.closed_by_peer(200ms));
    const auto begun = std::chrono::steady_clock::now();
    gateway.first().signal(SIGTERM);
    CHECK(gateway.first().wait() == 0);
    const auto took = std::chrono::steady_clock::now() - begun;
    CHECK(took >= 4500ms);
    CHECK(took <= 5500ms);
    CHECK(gateway.first().err().find(R"("event":"shutdown_timed_out")") != std::string::npos);
}

TEST_CASE("A second SIGTERM shortens the time of the drain, and not what follows it")
{
    const test_support::scratch_directory here;
    const auto hang = here.file("hang");
    succession gateway{
        "timeouts: {drain: 1h, drain_streams: 1h, drain_idle: 1h}\n",
        {{"LD_PRELOAD=" CARDEA_HANGING_DISK, "CARDEA_TEST_HANG=" + hang}, {}}
    };
    test_support::write_whole(hang, "");
    http_client writing{gateway.admin_port()};
    writing.send(test_support::request_text(
        "POST",
        "/rpc",
        {{"Content-Type", "application/json"}},
        R"({"jsonrpc":"2.0","id":1,"method":"agents/upsert","params":{"id":"a","agent":{"url":"http://127.0.0.1:1/"}}})"
    ));
    http_client idle{gateway.port()};
    idle.send(test_support::request_text("GET", "/nothing"));
    CHECK(idle.read_response().status == 404);
    gateway.first().signal(SIGTERM);
    CHECK(gateway.logs(R"("event":"draining")"));
    const auto begun = std::chrono::steady_clock::now();
    gateway.first().signal(SIGTERM);
    CHECK(gateway.first().wait() == 0);
    CHECK(std::chrono::steady_clock::now() - begun <= 5s);
}

TEST_SUITE_END();
