// The gateway's own binary while its system refuses memory: what is asked for is answered, refused or cut, and nothing is left behind.
// The long form goes through more of it: CARDEA_FAULTS_FULL in the environment (./dev faults).
#include "tests/flow/mcp_fixture.hpp"
#include "tests/flow/own_faults_fixture.hpp"
#include "tests/support/test_ca.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <exception>
#include <fstream>
#include <mutex>
#include <random>
#include <set>
#include <thread>

using namespace flow;
using namespace flow::own_faults;

TEST_SUITE_BEGIN("flow/failing_memory" * doctest::skip(!flow::system_can_fail));

namespace {

test_support::script a2a_answer(const test_support::recorded_request& asked)
{
    if (asked.method == "GET") {
        return test_support::answer_json(flow::card_text("Words", "http://127.0.0.1/rpc"));
    }
    if (asked.body.find("message/stream") != std::string::npos) {
        return test_support::answer(
            200,
            "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n",
            {{"Content-Type", "text/event-stream"}}
        );
    }
    return test_support::answer_json(R"({"jsonrpc":"2.0","id":1,"result":{}})");
}

// Agents over TCP, over TLS, and an MCP server, behind a gateway that has a store.
struct starved {
    explicit starved(const std::string& more = {})
        : gateway{
              more + quiet() + "store: 'sqlite:" + disk.file("records.db") + "'\nworkers: 2\n" +
              "agents:\n  a: {url: '" + plain.url("/rpc") + "', timeout: 2s}\n  s: {url: '" + secure.url("/rpc") +
              "', tls: {ca_file: '" + ca.ca_file() + "'}, timeout: 2s}\n" + "  m: {protocol: mcp, url: '" +
              server.url("/mcp") + "', timeout: 2s}\n"
          }
    {
    }

    test_support::test_ca ca;
    test_support::certificate shown = ca.issue({"127.0.0.1"});
    scripted_agent plain{a2a_answer};
    scripted_agent secure{a2a_answer, {.cert_file = shown.cert_file, .key_file = shown.key_file}};
    scripted_agent server{flow::mcp_calls::listing_server};
    test_support::scratch_directory disk;
    faulty_gateway gateway;
};

std::string managed(std::string_view method, std::string_view params)
{
    const auto body = flow::managing(method, params);
    return test_support::request_text("POST", "/rpc", {{"Content-Type", "application/json"}}, body);
}

std::string call_to(std::string_view agent, std::string_view body)
{
    const auto target = "/agents/" + std::string{agent};
    return test_support::request_text("POST", target, {{"Content-Type", "application/json"}}, body);
}

struct asked {
    std::string what;
    std::uint16_t port;
    std::string request;
};

std::vector<asked> everything(const faulty_gateway& gateway)
{
    auto mcp_fields = flow::mcp_calls::usual_fields();
    mcp_fields.emplace_back("Content-Type", "application/json");
    const auto traffic = gateway.port();
    const auto admin = gateway.admin_port();
    const auto get = [](std::string_view target) { return test_support::request_text("GET", target); };
    return {
        {"call", traffic, call_to("a", call_body())},
        {"long call", traffic, call_to("a", call_body('"' + std::string(100'000, 'i') + '"'))},
        {"stream", traffic, call_to("a", call_body("1", "message/stream"))},
        {"call over TLS", traffic, call_to("s", call_body())},
        {"MCP call",
         traffic,
         test_support::request_text("POST", "/agents/m/mcp", mcp_fields, flow::mcp_calls::initialize_body)},
        {"card", traffic, get(flow::card_target("a"))},
        {"card of the MCP server", traffic, get(flow::card_target("m"))},
        {"directory", traffic, get("/agents")},
        {"nothing", traffic, get("/nothing")},
        {"refresh of a card", admin, managed("agents/refreshCard", R"({"id":"a"})")},
        {"refresh of a card over TLS", admin, managed("agents/refreshCard", R"({"id":"s"})")},
        {"write", admin, managed("agents/upsert", R"({"id":"w","agent":{"url":"http://127.0.0.1:9/"}})")},
        {"list", admin, managed("agents/list", "{}")},
        {"health", admin, managed("agents/health", "{}")},
        {"metrics", admin, get("/metrics")},
        {"readiness", admin, get("/readyz")},
    };
}

// What became of it: the status and the code of a refusal, or "cut".
std::string outcome_of(const asked& what)
{
    try {
        http_client caller{what.port, 5s};
        caller.send(what.request);
        const auto got = caller.read_response();
        const std::string name = "\"data\":{\"code\":\"";
        const auto at = got.body.find(name);
        auto code = got.header("Cardea-Error");
        if (code.empty() && at != std::string::npos) {
            code = got.body.substr(at + name.size(), got.body.find('"', at + name.size()) - at - name.size());
        }
        return std::to_string(got.status) + ' ' + code;
    } catch (const std::exception&) {
        return "cut";
    }
}

// What it is when nothing fails.
std::string usual(const asked& what)
{
    return what.what == "nothing" ? "404 not_found" : "200 ";
}

// As it always is, refused or cut; of what reads files, asks the store or looks names up, what that said.
bool acceptable(const asked& what, const std::string& outcome)
{
    const std::set<std::string> refusals{"503 overloaded", "cut", "502 upstream_reset", "200 store_failed"};
    return outcome == usual(what) || refusals.contains(outcome);
}

bool all_as_usual(const faulty_gateway& gateway)
{
    return std::ranges::all_of(everything(gateway), [](const asked& each) { return outcome_of(each) == usual(each); });
}

// Asks for all of it, again and again; what it gets has to be acceptable.
class traffic {
public:
    traffic(const faulty_gateway& gateway, int callers)
    {
        for (int i = 0; i < callers; ++i) {
            threads_.emplace_back([this, i, all = everything(gateway)] { run(all, static_cast<std::size_t>(i) * 5); });
        }
    }
    ~traffic() { stop(); }
    traffic(const traffic&) = delete;
    traffic& operator=(const traffic&) = delete;

    void stop()
    {
        over_ = true;
        for (auto& each : threads_) {
            each.join();
        }
        threads_.clear();
    }

    int asked_for() const { return asked_for_; }

    // What was none of what may come; after stop().
    const std::set<std::string>& surprises() const { return surprises_; }
    std::string surprises_text() const
    {
        std::string all;
        for (const auto& each : surprises_) {
            all += each + '\n';
        }
        return all;
    }

private:
    void run(const std::vector<asked>& all, std::size_t at)
    {
        while (!over_) {
            const auto& each = all[at++ % all.size()];
            const auto outcome = outcome_of(each);
            ++asked_for_;
            if (!acceptable(each, outcome)) {
                const std::lock_guard lock{mutex_};
                surprises_.insert(each.what + ": " + outcome);
            }
        }
    }

    std::atomic<bool> over_ = false;
    std::atomic<int> asked_for_ = 0;
    std::mutex mutex_;
    std::set<std::string> surprises_;
    std::vector<std::thread> threads_;
};

std::uint64_t mapped_bytes(const flow::child_process& of)
{
    std::ifstream file{"/proc/" + std::to_string(of.id()) + "/statm"};
    std::uint64_t pages = 0;
    file >> pages;
    return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void limit_memory(const flow::child_process& of, rlim_t bytes)
{
    const rlimit limit{.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};
    REQUIRE(::prlimit(of.id(), RLIMIT_AS, &limit, nullptr) == 0);
}

}  // namespace

TEST_CASE("Whichever allocation of a request fails, it is answered, refused or cut, and soon answered again")
{
    starved all;
    auto& gateway = all.gateway;
    REQUIRE(flow::becomes_true([&] { return all_as_usual(gateway); }));
    for (const auto& each : everything(gateway)) {
        CAPTURE(each.what);
        for (const std::uint64_t width : {1U, 100U}) {
            CAPTURE(width);
            gateway.faults().set(failing::allocation, {.first = UINT64_MAX, .error = ENOMEM});
            CHECK(outcome_of(each) == usual(each));
            const auto most = gateway.faults().calls(failing::allocation) + 4;
            const auto step = in_full() || width == 1 ? 1 : std::max<std::uint64_t>(most / 8, 1);
            for (std::uint64_t n = 1; n <= most; n += step) {
                CAPTURE(n);
                gateway.faults().set(failing::allocation, {.first = n, .last = n + width - 1, .error = ENOMEM});
                const auto outcome = outcome_of(each);
                gateway.faults().heal();
                CAPTURE(outcome);
                CHECK(acceptable(each, outcome));
                // The level of overload, if the reserve could not be filled, falls after a second.
                REQUIRE(faulty_gateway::time_until([&] { return outcome_of(each) == usual(each); }) <= 3s);
            }
        }
    }
    gateway.end();
}

TEST_CASE("Allocations that fail one by one and in bursts under load leave nothing behind")
{
    starved all;
    auto& gateway = all.gateway;
    REQUIRE(flow::becomes_true([&] { return all_as_usual(gateway); }));
    std::mt19937_64 dice{16};
    const auto fail_often = [&](int rounds) {
        traffic callers{gateway, 3};
        for (int round = 0; round < rounds; ++round) {
            const auto first = 1 + dice() % 300;
            const auto last = first + (round % 2 == 0 ? 0 : dice() % 150);
            gateway.faults().set(failing::allocation, {.first = first, .last = last, .error = ENOMEM});
            REQUIRE(flow::becomes_true([&] { return gateway.faults().calls(failing::allocation) > last; }));
        }
        gateway.faults().heal();
        callers.stop();
        CHECK(callers.asked_for() > 0);
        CHECK(callers.surprises_text() == "");
        CHECK(flow::becomes_true([&] { return gateway.metric("cardea_requests_in_flight") == 0; }));
        CHECK(faulty_gateway::time_until([&] { return all_as_usual(gateway); }) <= 3s);
    };
    const int rounds = in_full() ? 4000 : 150;
    fail_often(rounds);
    constexpr double idle = 8;  // connections to agents that were not open at the time
    const auto descriptors = gateway.metric("process_open_fds");
    const auto memory = gateway.process().private_memory().value_or(0);
    fail_often(rounds);
    CHECK(flow::becomes_true([&] { return gateway.metric("process_open_fds") <= descriptors + idle; }));
    CHECK(gateway.process().private_memory().value_or(0) <= memory + 4 * 1024 * 1024);
    gateway.end();
}

TEST_CASE("While there is no memory at all calls wait, nothing spins, and they are answered when there is some")
{
    starved all;
    auto& gateway = all.gateway;
    REQUIRE(flow::becomes_true([&] { return all_as_usual(gateway); }));
    for (int round = 0; round < 3; ++round) {
        const auto before = gateway.metric("process_cpu_seconds_total");
        const auto begun = std::chrono::steady_clock::now();
        gateway.faults().set(failing::allocation, {.error = ENOMEM});
        http_client waits{gateway.port()};
        waits.send(call_to("a", call_body()));
        CHECK_FALSE(waits.closed_by_peer(200ms));
        CHECK(gateway.faults().failed(failing::allocation) > 0);
        gateway.faults().heal();
        const auto answer = waits.read_response();
        CHECK((answer.status == 200 || answer.header("Cardea-Error") == "overloaded"));
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
        CHECK(gateway.metric("process_cpu_seconds_total") - before <= 0.2 * took.count() + 0.02);
        CHECK(faulty_gateway::time_until([&] { return all_as_usual(gateway); }) <= 3s);
    }
    gateway.end();
}

TEST_CASE("A gateway whose system gives it no more memory serves, refuses or cuts, and serves all when it gives more")
{
    starved all{"limits: {body: 4MiB}\n"};
    auto& gateway = all.gateway;
    REQUIRE(flow::becomes_true([&] { return all_as_usual(gateway); }));
    for (int round = 0; round < 3; ++round) {
        traffic callers{gateway, 4};
        limit_memory(gateway.process(), mapped_bytes(gateway.process()) + 64 * 1024);
        const asked large{
            "large call",
            gateway.port(),
            call_to("a", call_body('"' + std::string(3'000'000, 'i') + '"'))
        };
        for (int i = 0; i < 10; ++i) {
            const auto outcome = outcome_of(large);
            CAPTURE(outcome);
            CHECK(acceptable(large, outcome));
            CHECK(test_support::request(gateway.admin_port(), "GET", "/readyz").status == 200);
        }
        callers.stop();
        CHECK(callers.surprises() == std::set<std::string>{});
        limit_memory(gateway.process(), RLIM_INFINITY);
        CHECK(faulty_gateway::time_until([&] { return all_as_usual(gateway); }) <= 3s);
    }
    gateway.end();
}

TEST_SUITE_END();
