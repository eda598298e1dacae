// Many callers at once against an agent that misbehaves in all ways, on several workers.
#include "tests/flow/relay_fixture.hpp"

#include <array>
#include <atomic>
#include <map>
#include <thread>

using namespace std::chrono_literals;
using flow::call_body;
using flow::call_text;
using flow::relayed;
using test_support::http_client;
using test_support::recorded_request;

TEST_SUITE_BEGIN("flow/relay");

namespace {

enum class behaviour : std::uint8_t { echo, echo_chunked, echo_and_close, refuse, leave, reset, half, count };

behaviour behaviour_of(std::size_t call)
{
    return static_cast<behaviour>(call % static_cast<std::size_t>(behaviour::count));
}

// The id of a call is its number, and says what the agent does with it.
test_support::script misbehave(const recorded_request& request)
{
    const auto at = request.body.find("\"id\":") + 5;
    switch (behaviour_of(std::stoul(request.body.substr(at)))) {
        case behaviour::echo_chunked:
            return test_support::chunked_byte_by_byte(request.body);
        case behaviour::echo_and_close:
            return test_support::answer_then_close(200, request.body);
        case behaviour::refuse:
            return test_support::answer(503, request.body);
        case behaviour::leave:
            return test_support::close_unanswered();
        case behaviour::reset:
            return test_support::reset();
        case behaviour::half:
            return test_support::half_body();
        case behaviour::echo:
        case behaviour::count:
            break;
    }
    return test_support::answer_json(request.body);
}

struct tally {
    std::atomic<std::size_t> whole = 0;   // with the bytes of this very call
    std::atomic<std::size_t> failed = 0;  // the gateway's error with this call's id
    std::atomic<std::size_t> cut = 0;
    std::atomic<std::size_t> wrong = 0;  // anything else
    std::atomic<std::size_t> left = 0;   // the caller did not wait
};

void call_once(std::optional<http_client>& caller, std::uint16_t port, std::size_t number, tally& counts)
{
    if (!caller) {
        caller.emplace(port);
    }
    const auto id = std::to_string(number);
    const auto body = call_body(id);
    caller->send(call_text(body));
    if (number % 11 == 0) {
        caller->reset();
        caller.reset();
        ++counts.left;
        return;
    }
    try {
        const auto got = caller->read_response();
        if (got.body == body) {
            ++counts.whole;
        } else if (got.body == flow::jsonrpc_body(flow::cut_off, id)) {
            ++counts.failed;
        } else {
            ++counts.wrong;
        }
    } catch (const std::runtime_error& cut) {
        ++(std::string_view{cut.what()} == flow::cut_answer ? counts.cut : counts.wrong);
        caller.reset();
    }
}

}  // namespace

TEST_CASE("in a storm of faults each caller gets its own answer or an error, and nothing stays behind")
{
    relayed x{misbehave, [](config::settings& s) { s.workers = 2; }};
    constexpr std::size_t callers = 6;
    constexpr std::size_t calls = 140;
    tally counts;
    std::vector<std::thread> threads;
    for (std::size_t thread = 0; thread < callers; ++thread) {
        threads.emplace_back([&, thread] {
            std::optional<http_client> caller;
            for (std::size_t i = 0; i < calls; ++i) {
                call_once(caller, x.port(), 1 + thread * calls + i, counts);
            }
        });
    }
    for (auto& thread : threads) {
        thread.join();
    }

    CHECK(counts.wrong == 0);
    CHECK(counts.whole + counts.failed + counts.cut + counts.left == callers * calls);
    CHECK(counts.whole > 0);
    CHECK(counts.failed > 0);
    CHECK(counts.cut > 0);
    std::map<std::string, std::size_t> seen;
    for (const auto& request : x.agent.requests()) {
        ++seen[request.body];
    }
    for (const auto& [body, times] : seen) {
        CAPTURE(body);
        CHECK(times == 1);  // message/send is never repeated once it may have been processed
    }
    CHECK(x.gateway.wait_for_metric("cardea_connections_open", 0));
    CHECK(x.agent.wait_for_open_connections(
        static_cast<std::size_t>(x.gateway.metric("cardea_upstream_connections_idle").value_or(-1))
    ));
    CHECK(flow::call(x.port(), call_body("7")).body == call_body("7"));
    CHECK(flow::access_lines(x.gateway, callers * calls + 1).size() == callers * calls + 1);
}

TEST_SUITE_END();
