// What a session's next program is told, and what the limits of a session keep from the memory and the machine.
#include "tests/unit/gateway/mcp/sessions_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/mcp/http/session_recovery");

using namespace mcp_path_test;
using gateway::mcp::programs::program_session;

namespace {

// An `initialize` of this many bytes.
std::string opening_of(std::size_t size)
{
    auto text = opening;
    text.insert(text.find("\"c\"") + 2, std::string(size - text.size(), 'c'));
    return text;
}

std::string subscription(int number)
{
    const auto id = std::to_string(number);
    return message(id, "resources/subscribe", R"({"uri":"u:)" + id + R"("})");
}

std::size_t count(const std::vector<std::string>& lines, const std::string& what)
{
    return static_cast<std::size_t>(std::ranges::count_if(lines, [&](const auto& each) {
        return each.find(what) != std::string::npos;
    }));
}

}  // namespace

TEST_CASE("A next program is told of 1,000 subscriptions, eight at a time, and held requests do not wait for it")
{
    rig x;
    const auto session = x.begin();
    for (int each = 0; each < 1000; ++each) {
        x.request(session, subscription(each));
        x.programs.say(answer_text(std::to_string(each)));
    }
    x.programs.die();
    x.poll();
    x.programs.opens = false;
    std::vector<reader> held;
    for (int each = 0; each < 64; ++each) {
        held.push_back(x.request(session, message(std::to_string(each), "tools/call")));
    }
    x.programs.say(opened, 1);
    auto& lines = x.programs.lines[1];
    CHECK(count(lines, "resources/subscribe") == program_session::most_own_calls);
    CHECK(count(lines, "tools/call") == 64);
    CHECK(std::ranges::all_of(held, [](const auto& each) { return next(each).empty(); }));
    const auto refused = x.sessions->request(x.key(session), client_text{message("64", "tools/call")});
    CHECK(refused.error().code == errc::overloaded);

    std::set<std::string> told;
    for (std::size_t at = 0; at < lines.size(); ++at) {
        const auto line = lines[at];
        if (line.find("resources/subscribe") != std::string::npos) {
            told.insert(mcp::members_of(mcp::members_of(line).find("params")).text("uri"));
            x.programs.say(answer_text(mcp_test::id_of(line)), 1);
        }
    }
    CHECK(told.size() == 1000);
    CHECK(std::ranges::all_of(held, [](const auto& each) { return next(each).empty(); }));
}

TEST_CASE("What the next program asks reaches the client, and not the requests that the gateway makes of it")
{
    rig x;
    const auto session = x.begin();
    SUBCASE("in the call that has waited for it")
    {
        for (int each = 0; each < 9; ++each) {
            x.request(session, subscription(each));
            x.programs.say(answer_text(std::to_string(each)));
        }
        x.programs.die();
        x.poll();
        const auto held = x.request(session, message("9", "tools/call"));
        auto& lines = x.programs.lines[1];
        const auto own = std::ranges::find_if(lines, [](const auto& each) {
            return each.find("resources/subscribe") != std::string::npos;
        });
        REQUIRE(own != lines.end());
        x.programs.say(answer_text(mcp_test::id_of(*own)), 1);
        REQUIRE(count(lines, "resources/subscribe") == 9);
        x.programs.say(message("5", "elicitation/create"), 1);
        CHECK(next(held).find("elicitation/create") != std::string::npos);
    }
    SUBCASE("over the stream that it listens to")
    {
        x.request(session, message("1", "logging/setLevel", R"({"level":"debug"})"));
        x.programs.say(answer_text("1"));
        const auto listener = x.sessions->listen(x.key(session));
        x.now += program_session::least_life;
        x.programs.die();
        x.poll();
        REQUIRE(count(x.programs.lines[1], "logging/setLevel") == 1);
        CHECK(next(*listener).find("list_changed") != std::string::npos);
        x.programs.say(message("5", "roots/list"), 1);
        CHECK(next(*listener).find("roots/list") != std::string::npos);
    }
}

TEST_CASE("A client that cancels a call of its own cancels nothing that the next program is told")
{
    rig x;
    const auto session = x.begin();
    x.request(session, message("1", "logging/setLevel", R"({"level":"debug"})"));
    x.programs.say(answer_text("1"));
    x.programs.die();
    x.poll();
    x.request(session, message("2", "tools/call"));
    x.tell(session, message("", "notifications/cancelled", R"({"requestId":0})"));
    CHECK(count(x.programs.lines[1], "notifications/cancelled") == 0);
    x.tell(session, message("", "notifications/cancelled", R"({"requestId":2})"));
    CHECK(count(x.programs.lines[1], "notifications/cancelled") == 1);
}

TEST_CASE("The next program hears nothing of a subscription that was ended meanwhile")
{
    rig x;
    const auto session = x.begin();
    for (int each = 10; each < 30; ++each) {
        x.request(session, subscription(each));
        x.programs.say(answer_text(std::to_string(each)));
    }
    x.programs.die();
    x.poll();
    x.request(session, message("1", "resources/unsubscribe", R"({"uri":"u:29"})"));
    auto& lines = x.programs.lines[1];
    for (std::size_t at = 0; at < lines.size(); ++at) {
        if (const auto line = lines[at]; line.find("resources/subscribe") != std::string::npos) {
            x.programs.say(answer_text(mcp_test::id_of(line)), 1);
        }
    }
    CHECK(count(lines, "resources/subscribe") == 19);
    CHECK(count(lines, R"({"uri":"u:29"})") == 1);
}

TEST_CASE("A subscription that did not go up is not told to the next program")
{
    rig x;
    const auto session = x.begin();
    x.programs.refuses = core::gateway_error(errc::overloaded);
    CHECK(x.request(session, subscription(1)) == nullptr);
    x.programs.refuses.reset();
    x.programs.die();
    x.poll();
    x.request(session, message("2", "tools/call"));
    CHECK(x.programs.lines[1] == std::vector{opening, message("2", "tools/call")});
}

TEST_CASE("An initialize of 8 KiB begins a session, and a longer one none")
{
    rig x;
    for (const auto size : {program_session::most_initialize - 1, program_session::most_initialize}) {
        CHECK(x.sessions->begin(x.new_entry(), "p", client_text{opening_of(size)}).has_value());
    }
    const auto refused =
        x.sessions->begin(x.new_entry(), "p", client_text{opening_of(program_session::most_initialize + 1)});
    CHECK(refused.error().code == errc::body_too_large);
}

TEST_CASE("Calls that wait for the next program have 16 MiB in all")
{
    rig x;
    x.server.max_message = 1024 * 1024 * 1024;
    const auto session = x.begin();
    x.programs.die();
    x.poll();
    x.programs.opens = false;
    const auto half = message("1", "tools/call", R"({"a":")" + std::string(8 * 1024 * 1024, 'a') + R"("})");
    const auto first = x.request(session, half);
    CHECK(next(first).empty());
    CHECK(x.sessions->request(x.key(session), client_text{half}).error().code == errc::overloaded);
    CHECK(x.request(session, message("2", "tools/call")) != nullptr);
}

TEST_CASE("What a reload says of losses and of times holds for the sessions that stay")
{
    rig x;
    const auto late = x.begin();
    const auto lost = x.begin();
    const auto asked = x.request(late, message("1", "tools/call"));
    x.server.on_lost = core::mcp_loss::tell;
    x.server.call_timeout = 10s;
    x.sessions->set_agent("a", x.new_entry());
    x.after(10s);
    CHECK(next(asked) == "upstream_timeout");
    x.programs.die(1);
    CHECK(x.ended(session_end::lost) == 1);
    CHECK(x.request(lost, message("1", "tools/call")) == nullptr);
}

TEST_CASE("New filters of resources end the sessions that are subscribed to any")
{
    rig x;
    const auto subscribed = x.begin();
    x.begin();
    x.request(subscribed, message("1", "resources/subscribe", R"({"uri":"u"})"));
    x.programs.say(answer_text("1"));
    x.server.resources.deny = {"u"};
    x.sessions->set_agent("a", x.new_entry());
    CHECK(x.sessions->size() == 1);
    CHECK(x.request(subscribed, message("2", "tools/call")) == nullptr);
    CHECK(x.ended(session_end::withdrawn) == 1);
}

TEST_SUITE_END();
