// A hand-over of a gateway whose store is a PostgreSQL: nothing is closed meanwhile, and both processes are replicas.
#include "tests/flow/handover_fixture.hpp"
#include "tests/support/postgres_cluster.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <string>
#include <thread>

TEST_SUITE_BEGIN("flow/shared_handover");

namespace {

using namespace std::chrono_literals;
using core::json;
using test_support::request;

std::string configuration_for(const std::string& url)
{
    return "store: \"" + url + "\"\nreplica: {name: r1}\ntimeouts: {drain: 10s}\n";
}

// Calls without a pause until the object ends.
class steady_calls {
public:
    explicit steady_calls(std::uint16_t port)
        : thread_{[this, port] {
              while (!over_) {
                  try {
                      const auto body = R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{}})";
                      const auto answer =
                          request(port, "POST", "/agents/words", {{"Content-Type", "application/json"}}, body);
                      (answer.status == 200 ? good_ : bad_) += 1;
                  } catch (const std::exception&) {
                      ++bad_;
                  }
              }
          }}
    {
    }
    ~steady_calls() { end(); }
    steady_calls(const steady_calls&) = delete;
    steady_calls& operator=(const steady_calls&) = delete;

    void end()
    {
        over_ = true;
        if (thread_.joinable()) {
            thread_.join();
        }
    }
    int good() const noexcept { return good_; }
    int bad() const noexcept { return bad_; }

private:
    std::atomic<bool> over_ = false;
    std::atomic<int> good_ = 0;
    std::atomic<int> bad_ = 0;
    std::thread thread_;
};

json upsert(const flow::succession& gateways, const std::string& id, const std::string& url)
{
    return gateways.rpc("agents/upsert", {{"id", id}, {"agent", {{"url", url}}}});
}

std::string ids(const flow::succession& gateways)
{
    std::string all;
    const auto found = gateways.rpc("agents/list", {{"fresh", true}});
    for (const auto& each : found.at("agents")) {
        all += each.at("id").get<std::string>() + ' ';
    }
    return all;
}

}  // namespace

TEST_CASE("A shared store goes through hand-overs one after the other, with calls and writes going on")
{
    test_support::postgres_cluster cluster;
    const test_support::scripted_agent agent{[](const auto&) { return test_support::answer_json("{}"); }};
    flow::succession gateways{configuration_for(cluster.url(cluster.make_database()))};
    CHECK(upsert(gateways, "words", agent.url()).contains("version"));
    steady_calls calls{gateways.port()};
    std::atomic<bool> over = false;
    std::atomic<int> written = 0;
    std::string failed;
    std::thread writer{[&] {
        while (!over) {
            try {
                const auto done = upsert(gateways, "w", "http://127.0.0.1:1/" + std::to_string(written.load()));
                if (done.contains("version")) {
                    ++written;
                } else {
                    failed += done.dump() + '\n';
                }
            } catch (const std::exception& why) {
                failed += std::string{why.what()} + '\n';
            }
        }
    }};
    for (int turn = 0; turn < 3; ++turn) {
        CAPTURE(turn);
        const auto before = gateways.now();
        const auto now = gateways.hand_over();
        CHECK(now != before);
        const auto info = gateways.rpc("gateway/info");
        CHECK(info.at("process").get<pid_t>() == now);
        CHECK(info.at("store").at("kind") == "postgresql");
        CHECK(ids(gateways) == "w words ");
        const auto so_far = calls.good();
        const auto latest = std::chrono::steady_clock::now() + 10s;
        while (calls.good() < so_far + 50 && std::chrono::steady_clock::now() < latest) {
            std::this_thread::sleep_for(5ms);
        }
        CHECK(calls.good() >= so_far + 50);
    }
    over = true;
    writer.join();
    calls.end();
    CHECK(calls.bad() == 0);
    CHECK(calls.good() > 0);
    CAPTURE(failed);
    CHECK(failed.empty());
    CHECK(written > 0);
}

TEST_CASE("A hand-over without the database fails, and the old process goes on from memory and writes again later")
{
    test_support::postgres_cluster cluster;
    const test_support::scripted_agent agent{[](const auto&) { return test_support::answer_json("{}"); }};
    flow::succession gateways{
        configuration_for(cluster.url(cluster.make_database())) + "store_options: {timeout: 2s}\n"
    };
    CHECK(upsert(gateways, "words", agent.url()).contains("version"));
    const auto first = gateways.now();
    steady_calls calls{gateways.port()};
    cluster.kill();
    CHECK(gateways.refusal().find("store") != std::string::npos);
    CHECK(gateways.now() == first);
    CHECK(upsert(gateways, "late", agent.url()).contains("code"));
    cluster.start();
    json wrote;
    for (int i = 0; i < 100 && !wrote.contains("version"); ++i) {
        wrote = upsert(gateways, "late", agent.url());
        std::this_thread::sleep_for(100ms);
    }
    CHECK(wrote.contains("version"));
    CHECK(gateways.hand_over() != first);
    CHECK(ids(gateways) == "late words ");
    calls.end();
    CHECK(calls.bad() == 0);
}
