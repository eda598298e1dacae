// One row for every place that callers share: principal A takes all that it can, and B is served as if it were alone. Prints a table;
// `tests/load/isolation.py greedy` measures calls and streams under load.
#include "core/url.hpp"
#include "tests/flow/access_fixture.hpp"
#include "tests/flow/mcp_program_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("flow/fairness");

namespace {

using namespace std::chrono_literals;
using core::json;
using flow::running_gateway;
using test_support::answer;
using test_support::answer_json;
using test_support::field_list;
using test_support::http_client;
using test_support::http_response;
using test_support::recorded_request;
using test_support::scripted_agent;

const field_list a = flow::bearer("token-of-a");
const field_list b = flow::bearer("token-of-b");

// Some ports answer at once, some never.
test_support::script by_method(const recorded_request& asked)
{
    if (asked.body.find("hang") != std::string::npos) {
        return test_support::silence();
    }
    if (asked.body.find("message/stream") != std::string::npos) {
        return test_support::event_stream();
    }
    const auto call = json::parse(asked.body, nullptr, false);
    const auto params = call.is_object() && call.contains("params") ? call["params"] : json::object();
    return answer_json(json{{"jsonrpc", "2.0"}, {"id", 1}, {"result", params}}.dump());
}

config::settings two_principals(const std::string& url)
{
    auto settings = flow::quick_settings();
    settings.access.providers = {flow::token("a", "token-of-a", {}), flow::token("b", "token-of-b", {})};
    if (!url.empty()) {
        settings.agents = {flow::agent("x", url, flow::everybody_known, flow::everybody_known)};
    }
    return settings;
}

std::string call_text(const field_list& who, std::string_view method, std::string_view params = "{}")
{
    auto fields = who;
    fields.emplace_back("Content-Type", "application/json");
    const auto body =
        R"({"jsonrpc":"2.0","id":1,"method":")" + std::string{method} + R"(","params":)" + std::string{params} + "}";
    return test_support::request_text("POST", "/agents/x", fields, body);
}

std::unique_ptr<http_client> begin(const running_gateway& gateway, const std::string& text)
{
    auto caller = std::make_unique<http_client>(gateway.port());
    caller->send(text);
    return caller;
}

// How many of B's requests succeed, and the time of all but the slowest of a hundred.
struct served {
    int tried = 0;
    int succeeded = 0;
    std::chrono::microseconds p99{};
};

served serve(int times, const std::function<bool(int)>& request)
{
    served out{.tried = times};
    std::vector<std::chrono::microseconds> took;
    for (int i = 0; i < times; ++i) {
        const auto begun = std::chrono::steady_clock::now();
        out.succeeded += request(i) ? 1 : 0;
        took.push_back(std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begun));
    }
    std::ranges::sort(took);
    out.p99 = took[(took.size() - 1) * 99 / 100];
    return out;
}

// `held`: of `places` by A.
void report(std::string_view place, std::size_t held, std::size_t places, const served& alone, const served& beside)
{
    std::printf(
        "%-44s A holds %3zu of %3zu   B %3d of %3d   p99 %7.2f ms, alone %7.2f ms\n",
        std::string{place}.c_str(),
        held,
        places,
        beside.succeeded,
        beside.tried,
        static_cast<double>(beside.p99.count()) / 1000,
        static_cast<double>(alone.p99.count()) / 1000
    );
    CHECK(held == places / 2);
    CHECK(alone.succeeded == alone.tried);
    CHECK(beside.succeeded == beside.tried);
}

}  // namespace

TEST_CASE("A principal whose calls hang leaves half of an agent's places to others")
{
    scripted_agent agent{by_method};
    auto settings = two_principals(agent.url("/rpc"));
    settings.defaults.calls = {.in_flight = 8, .queue = 8, .streams = 8, .wait = 2s};
    settings.timeouts.upstream_head = test_support::patience;
    settings.workers = 2;
    const running_gateway gateway{settings};
    const auto request = [&](int) {
        return begin(gateway, call_text(b, "message/send"))->read_response().status == 200;
    };
    const auto alone = serve(100, request);
    std::vector<std::unique_ptr<http_client>> flood;
    for (int i = 0; i < 24; ++i) {
        flood.push_back(begin(gateway, call_text(a, "message/send", R"({"hang":1})")));
    }
    CHECK(agent.wait_for_requests(104));
    CHECK(gateway.wait_for_metric(R"(cardea_shed_total{reason="queue_share"})", 16));
    CHECK(gateway.wait_for_metric(R"(cardea_queue_length{agent="x"})", 4));
    const auto beside = serve(100, request);
    report("limits.in_flight of an agent", agent.request_count() - 200, 8, alone, beside);
    const auto why = gateway.log().wait_for([](std::string_view line) {
        return line.find("queue_timeout, the principal has half of limits.in_flight") != std::string_view::npos;
    });
    CHECK(why.has_value());
    flood.clear();
    CHECK(gateway.wait_for_metric(R"(cardea_queue_length{agent="x"})", 0));
    // All places are free again, also for A.
    CHECK(serve(20, [&](int) {
              return begin(gateway, call_text(a, "message/send"))->read_response().status == 200;
          }).succeeded == 20);
}

TEST_CASE("A principal that opens all streams leaves half of them to others")
{
    struct row {
        std::string_view place;
        std::uint64_t of_agent;
        std::uint64_t of_worker;
    };
    for (const auto& [place, of_agent, of_worker] : std::vector<row>{
             {"limits.streams of an agent", 8, 100},
             {"limits.streams of a worker", 100, 8},
         }) {
        CAPTURE(place);
        scripted_agent agent{by_method};
        auto settings = two_principals(agent.url("/rpc"));
        settings.defaults.calls.streams = of_agent;
        settings.limits.streams = of_worker;
        const running_gateway gateway{settings};
        const auto request = [&](int) {
            const auto stream = begin(gateway, call_text(b, "message/stream"));
            const bool opened = stream->read_head().status == 200;
            stream->reset();
            return opened;
        };
        const auto alone = serve(20, request);
        CHECK(gateway.wait_for_metric(R"(cardea_streams_active{agent="x"})", 0));
        std::vector<std::unique_ptr<http_client>> held;
        std::size_t refused = 0;
        for (int i = 0; i < 16; ++i) {
            auto stream = begin(gateway, call_text(a, "message/stream"));
            const auto head = stream->read_head();
            if (head.status == 200) {
                held.push_back(std::move(stream));
            } else {
                ++refused;
                CHECK(head.status == 503);
                CHECK(test_support::first_value(head.headers, "Cardea-Error") == "overloaded");
            }
        }
        CHECK(refused == 12);
        report(place, held.size(), 8, alone, serve(20, request));
        const auto taken = held.size();
        held.clear();
        CHECK(gateway.wait_for_metric(R"(cardea_streams_active{agent="x"})", 0));
        CHECK(begin(gateway, call_text(a, "message/stream"))->read_head().status == 200);
        CHECK(taken == 4);
    }
}

TEST_CASE("A principal that begins sessions and keeps them in use leaves half of max_sessions to others")
{
    using flow::mcp_programs::call_of;
    using flow::mcp_programs::initialize_body;
    using flow::mcp_programs::program_gateway;
    for (const bool shared : {false, true}) {
        const auto* const place = shared ? "max_sessions of a shared session" : "max_sessions of a program";
        CAPTURE(place);
        const program_gateway x{[&](config::settings& settings) {
            settings.access.providers = {flow::token("a", "token-of-a", {}), flow::token("b", "token-of-b", {})};
            settings.agents[0].discover = flow::everybody_known;
            settings.agents[0].call = flow::everybody_known;
            settings.agents[0].mcp->max_sessions = 8;
            settings.agents[0].mcp->sessions = shared ? core::mcp_sessions::shared : core::mcp_sessions::own;
        }};
        const auto request = [&](int) {
            const auto got = x.post(initialize_body, b);
            if (got.status != 200) {
                return false;
            }
            auto session = b;
            session.emplace_back("Mcp-Session-Id", got.header("Mcp-Session-Id"));
            session.emplace_back("MCP-Protocol-Version", "2025-11-25");
            return x.post(call_of("one"), session).status == 200 && x.send("DELETE", session).status == 200;
        };
        if (shared) {
            CHECK(flow::becomes_true([&] { return x.post(initialize_body, b).status == 200; }));
        }
        const auto alone = serve(10, request);
        std::vector<field_list> held;
        std::vector<std::unique_ptr<http_client>> calls;
        for (int i = 0; i < 16; ++i) {
            const auto got = x.post(initialize_body, a);
            if (got.status == 200) {
                auto session = a;
                session.emplace_back("Mcp-Session-Id", got.header("Mcp-Session-Id"));
                session.emplace_back("MCP-Protocol-Version", "2025-11-25");
                calls.push_back(std::make_unique<http_client>(x.port()));
                calls.back()->send(program_gateway::text("POST", session, call_of("hang")));
                held.push_back(std::move(session));
            } else {
                flow::mcp_programs::check_error(got, 503, -31503, "session_limit");
            }
        }
        report(place, held.size(), 8, alone, serve(10, request));
        CHECK(x.send("DELETE", held.front()).status == 200);
        CHECK(x.post(initialize_body, a).status == 200);
        CHECK(x.post(initialize_body, a).status == 503);
    }
}

namespace {

// A gateway that delivers notifications to hooks which answer as their path says.
struct pushing {
    explicit pushing(const std::function<void(config::settings&)>& adjust = {})
        : gateway{[&] {
              auto settings = two_principals(agent.url("/rpc"));
              settings.agents[0].push = core::push_mode::mediate;
              settings.push_allow = {"127.0.0.0/8"};
              settings.timeouts.push = test_support::patience;
              if (adjust) {
                  adjust(settings);
              }
              return settings;
          }()}
    {
    }

    // What the agent gets of a configuration for this path.
    json hook(const field_list& who, std::string_view path, const std::string& task)
    {
        const json params{{"taskId", task}, {"pushNotificationConfig", {{"url", receiver.url(path)}}}};
        const auto text = call_text(who, "tasks/pushNotificationConfig/set", params.dump());
        const auto before = agent.request_count();
        CHECK(begin(gateway, text)->read_response().status == 200);
        REQUIRE(agent.request_count() > before);
        return json::parse(agent.requests().back().body)["params"]["pushNotificationConfig"];
    }

    unsigned notify(const json& config, const std::string& task)
    {
        const auto body = R"({"kind":"task","id":")" + task + R"(","contextId":"c","status":{"state":"working"}})";
        const auto target = core::http_url::parse(config["url"].get<std::string>()).value().path;
        const field_list fields{
            {"Content-Type", "application/json"},
            {"X-A2A-Notification-Token", config["token"].get<std::string>()}
        };
        return test_support::request(gateway.port(), "POST", target, fields, body).status;
    }

    std::size_t came(std::string_view path)
    {
        const auto all = receiver.requests();
        return static_cast<std::size_t>(std::ranges::count(all, path, &recorded_request::target));
    }

    scripted_agent agent{by_method};
    scripted_agent receiver{[](const recorded_request& asked) {
        return asked.target == "/never"   ? test_support::silence()
               : asked.target == "/fails" ? answer(503, "")
                                          : answer(204, "");
    }};
    running_gateway gateway;
};

}  // namespace

TEST_CASE("A principal whose hooks fail leaves half of an agent's push queue to others")
{
    pushing x{[](config::settings& settings) { settings.limits.push_queue_agent = 8; }};
    std::size_t told = 0;
    const auto request = [&](int) {
        const auto task = "b" + std::to_string(told);
        ++told;
        return x.notify(x.hook(b, "/ok", task), task) == 202 &&
               flow::becomes_true([&] { return x.came("/ok") >= told; });
    };
    const auto alone = serve(5, request);
    std::size_t held = 0;
    for (int i = 0; i < 16; ++i) {
        const auto task = "a" + std::to_string(i);
        const auto status = x.notify(x.hook(a, "/fails", task), task);
        CHECK((status == 202 || status == 503));
        held += status == 202 ? 1 : 0;
    }
    report("limits.push_queue_agent", held, 8, alone, serve(5, request));
    CHECK(x.came("/ok") == told);
}

TEST_CASE(
    "A principal whose hooks never answer leaves half of an agent's attempts to others, whose first one does not wait"
)
{
    pushing x;
    std::size_t told = 0;
    const auto request = [&](int) {
        const auto task = "b" + std::to_string(told);
        ++told;
        return x.notify(x.hook(b, "/ok", task), task) == 202 &&
               flow::becomes_true([&] { return x.came("/ok") >= told; });
    };
    const auto alone = serve(5, request);
    for (int i = 0; i < 24; ++i) {
        const auto task = "a" + std::to_string(i);
        CHECK(x.notify(x.hook(a, "/never", task), task) == 202);
    }
    CHECK(flow::becomes_true([&] { return x.came("/never") >= 8; }));
    const auto beside = serve(5, request);
    report("attempts to deliver of an agent", x.came("/never"), 16, alone, beside);
}

TEST_SUITE_END();
