// Replicas whose PostgreSQL is away, or comes late: calls go on, writes say so, and everything heals by itself.
#include "tests/flow/restart_load.hpp"
#include "tests/replicas/faults.hpp"
#include "tests/replicas/rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>

TEST_SUITE_BEGIN("replicas/outage");

using namespace replicas;

namespace {

constexpr auto back_in = 6s;

struct timed {
    std::string code;
    std::chrono::milliseconds took{0};
};

timed ask(const replica& at, std::string_view method, std::string_view params)
{
    const auto begin = std::chrono::steady_clock::now();
    const auto answer = manager{at.admin()}.ask(method, params);
    return {
        answer.code,
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin)
    };
}

void check_unreachable(const replica& at)
{
    for (const auto& each :
         {ask(at, "agents/upsert", write_of("x")),
          ask(at, "agents/delete", R"({"id":"steady"})"),
          ask(at, "agents/get", R"({"id":"steady","fresh":true})"),
          ask(at, "agents/list", R"({"fresh":true})"),
          ask(at, "agents/health", R"({"fresh":true})"),
          ask(at, "agents/changes", R"({"fresh":true})")}) {
        CHECK(each.code == "store_unreachable");
        CHECK(each.took < store_timeout + 500ms);
    }
    CHECK(ask(at, "agents/get", R"({"id":"steady"})").code == "");
    CHECK(at.status_of("/healthz") == 200);
    CHECK(at.status_of("/readyz") == 200);
}

test_support::http_response get(std::uint16_t port, const std::string& target)
{
    return test_support::request(port, "GET", target);
}

// It waits for the store, and says so.
void check_waiting(const replica& at)
{
    REQUIRE(wait_until([&] { return at.status_of("/healthz") == 200; }, 10s));
    CHECK(at.status_of("/readyz") == 503);
    for (const auto& [port, target] :
         {std::pair{at.traffic(), "/agents/plain"}, {at.traffic(), "/agents"}, {at.admin(), "/metrics"}}) {
        const auto answer = get(port, target);
        CHECK(answer.status == 503);
        CHECK(answer.header("Cardea-Error") == "store_unreachable");
        CHECK(answer.header("Retry-After") == "1");
    }
    CHECK(ask(at, "agents/list", "{}").code == "store_unreachable");
}

}  // namespace

TEST_CASE("calls do not notice that PostgreSQL is away; writes say so, and replicas are back within six seconds")
{
    const std::chrono::seconds length{flow::number_from("CARDEA_OUTAGE_SECONDS", 5)};
    constexpr unsigned calls_a_second = 1500;  // of three replicas, so that two of them carry a thousand
    shared_store store{3};
    rig x{3, [&](auto i) { return store.url(i); }};
    x.set_truth([&] { return store.versions(); });
    steady_load load{x.members, {"plain", "steady"}, calls_a_second};
    std::this_thread::sleep_for(500ms);
    const auto begin = std::chrono::steady_clock::now();
    store.database.kill();
    x.members[2]->kill();
    x.members[2]->start();
    check_unreachable(*x.members[0]);
    check_unreachable(*x.members[1]);
    check_waiting(*x.members[2]);
    std::this_thread::sleep_until(begin + length);
    const auto before = load.calls();
    store.database.start();
    const auto back = x.until_all_write(back_in);
    CHECK(back);
    CHECK(x.members[2]->wait_until_ready(2s));
    CHECK(wait_until([&] { return x.agree(); }, 2s));
    load.stop();
    check_calls(load);
    CHECK(before > static_cast<std::uint64_t>(length.count()) * (sanitized ? 30 : 600));
    MESSAGE(
        length.count() << " s without PostgreSQL: " << load.calls() << " calls, " << load.failed() << " failed, "
                       << load.excused() << " of a killed replica; all write again after "
                       << back.value_or(-1ms).count() << " ms"
    );
}

TEST_CASE("a PostgreSQL that is frozen is as one that is away")
{
    shared_store store{3};
    rig x{3, [&](auto i) { return store.url(i); }};
    x.set_truth([&] { return store.versions(); });
    steady_load load{x.members, {"plain", "steady"}};
    std::this_thread::sleep_for(500ms);
    store.database.freeze();
    const auto written = ask(*x.members[0], "agents/upsert", write_of("x"));
    CHECK((written.code == "write_unknown" || written.code == "store_unreachable"));
    CHECK(written.took < 2 * store_timeout);
    CHECK(ask(*x.members[1], "agents/get", R"({"id":"steady","fresh":true})").code == "store_unreachable");
    CHECK(x.members[1]->status_of("/readyz") == 200);
    store.database.thaw();
    const auto back = x.until_all_write(back_in);
    CHECK(back);
    CHECK(wait_until([&] { return x.agree(); }, 2s));
    load.stop();
    check_calls(load);
    MESSAGE("a frozen PostgreSQL: all write again after " << back.value_or(-1ms).count() << " ms");
}

TEST_SUITE_END();
