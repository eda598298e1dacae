#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

TEST_SUITE_BEGIN("flow/threads");

namespace {

using namespace std::chrono_literals;
using flow::a2a_agent;
using flow::quick_settings;
using flow::running_gateway;
using test_support::answer_json;
using test_support::http_client;
using test_support::recorded_request;
using test_support::request_text;
using test_support::scripted_agent;

constexpr int callers = 4;
constexpr int rounds = 60;

// What went wrong in threads, where doctest's macros do not belong.
class findings {
public:
    void expect(bool good, const std::string& what)
    {
        if (!good) {
            const std::lock_guard guard{mutex_};
            wrong_.push_back(what);
        }
    }
    std::vector<std::string> wrong() const
    {
        const std::lock_guard guard{mutex_};
        return wrong_;
    }

private:
    mutable std::mutex mutex_;
    std::vector<std::string> wrong_;
};

// A card with another name every time; calls answer with the id of the request.
test_support::script changing(std::atomic<int>& version, const recorded_request& request)
{
    if (request.method == "GET") {
        return answer_json(flow::card_text("Version " + std::to_string(++version), "http://x/"));
    }
    return answer_json(request.body);
}

void ask_for_cards(const running_gateway& gateway, const std::string& agent, findings& found)
{
    http_client caller{gateway.port()};
    std::map<std::string, std::string> bodies;  // by ETag
    std::string etag;
    for (int i = 0; i < rounds; ++i) {
        const bool conditional = i % 3 == 2;
        caller.send(request_text(
            "GET",
            flow::card_target(agent),
            conditional ? test_support::field_list{{"If-None-Match", etag}} : test_support::field_list{}
        ));
        const auto got = caller.read_response();
        const auto now = got.header("ETag");
        found.expect(
            got.status == 200 || (conditional && got.status == 304),
            "card: status " + std::to_string(got.status)
        );
        found.expect(!now.empty(), "card without ETag");
        found.expect(got.status != 304 || now == etag, "304 with another ETag");
        if (got.status == 200) {
            const auto known = bodies.emplace(now, got.body);
            found.expect(known.first->second == got.body, "two bodies with one ETag");
            found.expect(!conditional || now != etag, "200 though the caller had it");
            found.expect(core::parse_json(got.body).has_value(), "card that is not JSON");
        }
        etag = now;
    }
}

void make_calls(const running_gateway& gateway, const std::string& agent, int number, findings& found)
{
    http_client caller{gateway.port()};
    for (int i = 0; i < rounds; ++i) {
        const auto id = std::to_string(number * 1000 + i);
        const auto body = R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"message/send","params":{}})";
        caller.send(request_text("POST", "/agents/" + agent, {{"Content-Type", "application/json"}}, body));
        const auto got = caller.read_response();
        found.expect(got.status == 200, "call: status " + std::to_string(got.status) + " " + got.body);
        found.expect(got.body == body, "call: another one's answer");
    }
}

// A connection per request, until none is taken any more. What is answered is a whole card.
void ask_until_refused(const running_gateway& gateway, std::atomic<int>& answers, findings& found)
{
    try {
        for (;;) {
            http_client caller{gateway.port()};
            if (!caller.try_send(request_text("GET", flow::card_target("a"), {{"Connection", "close"}}))) {
                return;
            }
            const auto text = caller.read_until_closed();
            if (text.empty()) {
                return;
            }
            const auto head_end = text.find("\r\n\r\n");
            const auto body = head_end == std::string::npos ? std::string{} : text.substr(head_end + 4);
            found.expect(text.starts_with("HTTP/1.1 200 "), "not a card: " + text);
            found.expect(core::parse_json(body).has_value(), "not a whole card: " + text);
            ++answers;
        }
    } catch (const std::system_error&) {
        // No connection is taken any more.
    }
}

void operate(const running_gateway& gateway, const std::string& agent, findings& found)
{
    for (int i = 0; i < rounds; ++i) {
        const auto refreshed = flow::manage(gateway, "agents/refreshCard", {{"id", agent}});
        found.expect(refreshed["id"] == agent, "refresh of another agent");
        found.expect(gateway.metric("cardea_ready") == 1, "not ready");
        found.expect(flow::manage(gateway, "agents/list", core::json::object())["agents"].size() == 2, "list");
    }
}

}  // namespace

TEST_CASE("cards change under callers of several workers, and every answer is whole")
{
    std::atomic<int> version{0};
    scripted_agent one{[&](const auto& request) { return changing(version, request); }};
    scripted_agent two{[&](const auto& request) { return changing(version, request); }};
    auto settings = quick_settings();
    settings.workers = 3;
    settings.cards.ttl = 3ms;
    settings.agents.push_back(a2a_agent("one", one.url()));
    settings.agents.push_back(a2a_agent("two", two.url()));
    const running_gateway gateway{std::move(settings)};
    findings found;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < callers; ++i) {
            const std::string agent = i % 2 == 0 ? "one" : "two";
            threads.emplace_back([&, agent] { ask_for_cards(gateway, agent, found); });
            threads.emplace_back([&, agent, i] { make_calls(gateway, agent, i, found); });
        }
        threads.emplace_back([&] { operate(gateway, "one", found); });
        threads.emplace_back([&] { operate(gateway, "two", found); });
    }
    for (const auto& each : found.wrong()) {
        FAIL_CHECK(each);
    }
    CHECK(version > 2);
    CHECK(gateway.metric(R"(cardea_http_requests_total{route="call",method="POST",code="200"})") == callers * rounds);
}

TEST_CASE("a gateway of several workers can be told to end while all of them work")
{
    for (int round = 0; round < 5; ++round) {
        std::atomic<int> version{0};
        scripted_agent agent{[&](const auto& request) { return changing(version, request); }};
        auto settings = quick_settings();
        settings.workers = 3;
        settings.cards.ttl = 1ms;
        settings.agents.push_back(a2a_agent("a", agent.url()));
        running_gateway gateway{std::move(settings)};
        std::atomic<int> answers{0};
        findings found;
        std::vector<std::jthread> threads;
        for (int i = 0; i < callers; ++i) {
            threads.emplace_back([&] { ask_until_refused(gateway, answers, found); });
        }
        CHECK(flow::becomes_true([&] { return answers > 20; }));
        gateway.stop();
        CHECK(gateway.wait_until_stopped(5s));
        threads.clear();
        for (const auto& each : found.wrong()) {
            FAIL_CHECK(each);
        }
    }
}

TEST_SUITE_END();
