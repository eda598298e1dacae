// A gateway's own binary that is told to stop while something holds it up for ever.
#include "tests/flow/handover_fixture.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <string>

TEST_SUITE_BEGIN("flow/bounded_end");

using namespace std::chrono_literals;
using flow::succession;
using test_support::http_client;

namespace {

// A gateway whose disk answers until hang() is called, and with it whoever writes.
struct hanging {
    explicit hanging(const std::string& times)
        : gateway{
              "timeouts: {" + times + "}\n",
              {{"LD_PRELOAD=" CARDEA_HANGING_DISK, "CARDEA_TEST_HANG=" + here.file("hang")}, {}}
          }
    {
    }

    // From now on nothing is written, and an operator waits for that.
    void hang(const std::string& method, const std::string& params)
    {
        test_support::write_whole(here.file("hang"), "");
        writing.emplace(gateway.admin_port());
        writing->send(test_support::request_text(
            "POST",
            "/rpc",
            {{"Content-Type", "application/json"}},
            R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":)" + params + "}"
        ));
        CHECK_FALSE(writing->closed_by_peer(200ms));
    }

    // How long the gateway, which ends with 0, takes from a SIGTERM on.
    std::chrono::steady_clock::duration time_to_end()
    {
        const auto begun = std::chrono::steady_clock::now();
        gateway.first().signal(SIGTERM);
        CHECK(gateway.first().wait() == 0);
        return std::chrono::steady_clock::now() - begun;
    }

    test_support::scratch_directory here;
    succession gateway;
    std::optional<http_client> writing;
};

}  // namespace

TEST_CASE("A gateway whose disk does not answer ends with 0 at most 5 s after the longest time of its drain")
{
    hanging x{"drain: 500ms, drain_streams: 300ms, drain_idle: 100ms"};
    CHECK(
        x.gateway.rpc("agents/upsert", {{"id", "a"}, {"agent", {{"url", "http://127.0.0.1:1/"}}}}).at("version") == 1
    );
    x.hang("agents/delete", R"({"id":"a"})");
    const auto took = x.time_to_end();
    CHECK(took >= 4500ms);
    CHECK(took <= 5500ms);
    CHECK(x.gateway.first().err().find(R"("event":"shutdown_timed_out")") != std::string::npos);
}

TEST_CASE("A second SIGTERM shortens the time of the drain, and not what follows it")
{
    hanging x{"drain: 1h, drain_streams: 1h, drain_idle: 1h"};
    x.hang("agents/upsert", R"({"id":"a","agent":{"url":"http://127.0.0.1:1/"}})");
    http_client idle{x.gateway.port()};
    idle.send(test_support::request_text("GET", "/nothing"));
    CHECK(idle.read_response().status == 404);
    x.gateway.first().signal(SIGTERM);
    CHECK(x.gateway.logs(R"("event":"draining")"));
    CHECK(x.time_to_end() <= 5s);
}

TEST_SUITE_END();
