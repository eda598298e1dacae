// Sessions over HTTP that begin again: how many at a time, for whom, and for how long.
#include "tests/unit/gateway/mcp/http_rig.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/mcp/http_recovery");

using namespace mcp_path_test;
using gateway::mcp::http::recovery_turns;
using gateway::mcp::http::session_recovery;
using nlohmann::json;

namespace {

using asked = std::shared_ptr<http_rig::asked>;

constexpr auto most_of_agent = static_cast<unsigned>(recovery_turns::most_of_agent + recovery_turns::most_waiting);

// The code of a failure; "ok", or "waits".
std::string outcome_of(const asked& who)
{
    if (!who->outcome) {
        return "waits";
    }
    return *who->outcome ? "ok" : std::string{core::name(who->outcome->error().code)};
}

// A server that begins a session, and does not answer what it is told for it.
test_support::script begins_only(const test_support::recorded_request& request)
{
    const auto body = json::parse(request.body);
    if (!body.contains("id")) {
        return test_support::answer(202, "");
    }
    if (body["method"] != "initialize") {
        return test_support::silence();
    }
    return test_support::answer_json(
        R"({"jsonrpc":"2.0","id":)" + body["id"].dump() +
            R"(,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}})",
        {{"Mcp-Session-Id", "s-1"}}
    );
}

}  // namespace

TEST_CASE("Sessions of an agent whose server does not answer keep no other agent's from beginning again")
{
    test_support::scripted_agent silent{{.accepts = test_support::on_accept::silence}};
    test_support::scripted_agent server{begins_only};
    http_rig x;
    x.urls = {{"a", silent.url("/mcp")}, {"b", server.url("/mcp")}};
    std::vector<asked> waiting;
    for (unsigned each = 0; each < most_of_agent; ++each) {
        waiting.push_back(x.recover(each));
    }
    const auto other = x.recover(0, "b");
    REQUIRE(x.wait_until([&] { return other->outcome.has_value(); }));
    CHECK((**other->outcome).id == "s-1");
    CHECK(outcome_of(waiting.front()) == "waits");
    x.sessions.stop();
    x.poll();
}

TEST_CASE("A session that begins again is not subscribed to what its agent hides since a reload")
{
    test_support::scripted_agent server{begins_only};
    http_rig x;
    x.urls["a"] = server.url("/mcp");
    for (const std::string uri : {"a:hidden", "a:shown"}) {
        x.note(1, R"({"uri":")" + uri + R"("})");
    }
    x.resources.deny = {"a:hid*"};
    const auto waiting = x.recover(1);
    const auto told = [&](const std::string& uri) {
        return std::ranges::any_of(server.requests(), [&](const auto& each) {
            return each.body.find(uri) != std::string::npos;
        });
    };
    REQUIRE(x.wait_until([&] { return told("a:shown"); }));
    CHECK_FALSE(told("a:hidden"));
    x.sessions.stop();
    x.poll();
}

TEST_CASE("A contained agent hears nothing, and its sessions begin again after the release")
{
    test_support::scripted_agent silent{{.accepts = test_support::on_accept::silence}};
    test_support::scripted_agent server{begins_only};
    http_rig x;
    x.urls["a"] = silent.url("/mcp");
    const auto waiting = x.recover(1);
    x.poll();
    CHECK(outcome_of(waiting) == "waits");
    x.contained.insert("a");
    x.sessions.contain("a");
    x.poll();
    CHECK(outcome_of(waiting) == "agent_contained");
    x.urls["a"] = server.url("/mcp");
    CHECK(outcome_of(x.recover(1)) == "agent_contained");
    x.sessions.cancel(call_in(1), "7");
    x.sessions.answer(call_in(1), R"({"jsonrpc":"2.0","id":1,"result":{}})");
    for (int i = 0; i < 20; ++i) {
        x.poll();
    }
    CHECK(server.request_count() == 0);
    CHECK(x.sessions.known("a") == 1);
    x.contained.clear();
    const auto again = x.recover(1);
    REQUIRE(x.wait_until([&] { return again->outcome.has_value(); }));
    CHECK((**again->outcome).id == "s-1");
    x.sessions.stop();
    x.poll();
}

TEST_CASE("16 sessions of an agent begin again at a time, 1,024 wait, and one more is refused")
{
    test_support::scripted_agent server{{.accepts = test_support::on_accept::silence}};
    http_rig x;
    x.urls["a"] = server.url("/mcp");
    std::vector<asked> all;
    for (unsigned each = 0; each < most_of_agent; ++each) {
        all.push_back(x.recover(each));
        REQUIRE(outcome_of(all.back()) == "waits");
    }
    CHECK(outcome_of(x.recover(most_of_agent)) == "overloaded");
    all.push_back(x.recover(0));  // shares the attempt under way
    all.push_back(x.recover(100));
    CHECK(outcome_of(all.back()) == "waits");
    x.sessions.stop();
    x.poll();
    CHECK(std::ranges::all_of(all, [](const auto& each) { return outcome_of(each) == "draining"; }));
    CHECK(outcome_of(x.recover(1)) == "draining");
}

TEST_CASE("A caller that leaves waits no more, and an attempt that nobody waits for gives up its place")
{
    test_support::scripted_agent server{{.accepts = test_support::on_accept::silence}};
    http_rig x;
    x.urls["a"] = server.url("/mcp");
    std::vector<asked> all;
    for (unsigned each = 0; each < most_of_agent; ++each) {
        all.push_back(x.recover(each));
    }
    const auto joins = x.recover(most_of_agent - 1);
    all.back()->leaving.request_stop();
    x.poll();
    CHECK(outcome_of(all.back()) == "caller_gone");
    CHECK(outcome_of(joins) == "waits");
    CHECK(outcome_of(x.recover(most_of_agent)) == "overloaded");
    joins->leaving.request_stop();
    x.poll();
    CHECK(outcome_of(joins) == "caller_gone");
    CHECK(outcome_of(x.recover(most_of_agent)) == "waits");
    // One under way goes on without callers.
    all.front()->leaving.request_stop();
    x.poll();
    CHECK(outcome_of(all.front()) == "caller_gone");
    CHECK(outcome_of(x.recover(most_of_agent + 1)) == "overloaded");
    x.sessions.stop();
    x.poll();
}

TEST_CASE("A session that its client ends while it begins again is over, and the server hears of that")
{
    const test_support::gate held;
    test_support::scripted_agent server{[held](const test_support::recorded_request& request) {
        if (request.method == "DELETE") {
            return test_support::answer(200, "");
        }
        const bool begins = request.body.find("initialize\"") != std::string::npos;
        auto answer = begins_only(request);
        return begins ? test_support::then({test_support::pass_gate{held.shared()}}, std::move(answer)) : answer;
    }};
    http_rig x;
    x.urls["a"] = server.url("/mcp");
    const auto caller = x.recover(1);
    REQUIRE(x.wait_until([&] { return server.request_count() == 1; }));
    CHECK(x.run(x.sessions.end("a", digest(1))));
    test_support::gate{held}.release();
    REQUIRE(x.wait_until([&] { return server.request_count() == 3; }));
    CHECK(outcome_of(caller) == "session_not_found");
    const auto last = server.requests().back();
    CHECK(last.method == "DELETE");
    CHECK(last.header("Mcp-Session-Id") == "s-1");
    CHECK(x.is_over(1));
    CHECK(x.sessions.recovered() == 0);
}

TEST_CASE("A session that its client ends while it waits for its turn does not begin again")
{
    test_support::scripted_agent server{{.accepts = test_support::on_accept::silence}};
    http_rig x;
    x.urls["a"] = server.url("/mcp");
    std::vector<asked> all;
    for (unsigned each = 0; each < most_of_agent; ++each) {
        all.push_back(x.recover(each));
    }
    CHECK(x.run(x.sessions.end("a", digest(most_of_agent - 1))));
    CHECK(outcome_of(all.back()) == "session_not_found");
    CHECK(outcome_of(x.recover(most_of_agent)) == "waits");
    x.sessions.stop();
    x.poll();
}

TEST_CASE("Attempts end with their agent, and their places are free")
{
    test_support::scripted_agent server{{.accepts = test_support::on_accept::silence}};
    http_rig x;
    std::vector<asked> of_a;
    std::vector<asked> of_others;
    for (const std::string agent : {"a", "b", "c", "d", "e"}) {
        x.urls[agent] = server.url("/mcp");
        for (unsigned each = 0; each < recovery_turns::most_of_agent; ++each) {
            (agent == "a" ? of_a : of_others).push_back(x.recover(each, agent));
        }
    }
    REQUIRE(server.wait_for_connections(recovery_turns::most_running));
    x.sessions.forget("a");
    x.poll();
    CHECK(std::ranges::all_of(of_a, [](const auto& each) { return outcome_of(each) == "upstream_reset"; }));
    CHECK(std::ranges::all_of(of_others, [](const auto& each) { return outcome_of(each) == "waits"; }));
    CHECK(x.sessions.known("a") == 0);
    CHECK(x.wait_until([&] {
        return server.accepted_connections() == recovery_turns::most_running + recovery_turns::most_of_agent;
    }));
    x.sessions.stop();
    x.poll();
}

TEST_CASE("A session begins again in time, also if the server does not take what it is told for it")
{
    test_support::scripted_agent server{begins_only};
    net::loop loop;
    loop.timers().start();
    loop.ready().start();
    net::exchange_client client{loop, "test"};
    auto settings = std::make_shared<mcp::http_settings>();
    settings->url = server.url("/mcp");
    session_recovery::terms terms{
        .version = mcp::latest(mcp::era::legacy),
        .declared = {},
        .client = {},
        .requests = {}
    };
    terms.requests = {2, {"resources/subscribe", R"({"uri":"a:b"})"}};
    terms.longest_telling = 50ms;
    std::optional<core::result<mcp::upstream_session>> outcome;
    session_recovery recovery{loop, client, settings, terms, [&](auto got) { outcome = std::move(got); }};
    recovery.begin();
    const auto by = std::chrono::steady_clock::now() + test_support::patience;
    while (!outcome && std::chrono::steady_clock::now() < by) {
        loop.io().restart();
        loop.io().run_for(2ms);
    }
    REQUIRE(outcome);
    CHECK((**outcome).id == "s-1");
}

TEST_SUITE_END();
