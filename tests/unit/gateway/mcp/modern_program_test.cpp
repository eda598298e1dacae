#include "gateway/mcp/eras/modern_program.hpp"

#include "tests/unit/gateway/mcp/sessions_rig.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/mcp/eras/modern_program");

using namespace mcp_path_test;
using gateway::mcp::eras::modern_program;
using gateway::mcp::eras::modern_programs;

namespace {

class modern_rig : public rig {
public:
    ~modern_rig()
    {
        serving.stop();
        poll();
    }

    reader ask(const std::string& text)
    {
        auto asked = serving.request(new_entry(), client_text{text});
        poll();
        return asked ? *asked : nullptr;
    }

    reader ask_as(const std::string& principal, const std::string& text)
    {
        const client_text whole{text};
        mcp::client_message request = whole;
        request.principal = principal;
        auto asked = serving.request(new_entry(), request);
        poll();
        return asked ? *asked : nullptr;
    }

    // What the program was sent as the call that is `number` from the last.
    std::string id_of_line(std::size_t line) const
    {
        const auto& text = programs.lines[0][line];
        const auto at = text.find(R"("id":)") + 5;
        return text.substr(at, text.find(',', at) - at);
    }

    gateway::mcp::table::local_session_services services{
        loop,
        turns,
        [this](const gateway::model::agent_entry&) { return programs.factory(); },
        [](const core::agent&) { return true; },
        [this] { return now; },
        log,
    };
    modern_programs serving{services, *sessions};
};

}  // namespace

TEST_CASE("One program serves callers with equal ids, and each gets its own answer")
{
    modern_rig x;
    const auto first = x.ask(message("1", "tools/call"));
    const auto second = x.ask(message("1", "tools/call"));
    REQUIRE(x.programs.started.size() == 1);
    REQUIRE(x.programs.lines[0].size() == 2);
    CHECK(x.id_of_line(0) != x.id_of_line(1));
    x.programs.say(answer_text(x.id_of_line(1), R"({"of":2})"));
    x.programs.say(answer_text(x.id_of_line(0), R"({"of":1})"));
    CHECK(next(first) == answer_text("1", R"({"of":1})"));
    CHECK(next(second) == answer_text("1", R"({"of":2})"));
    CHECK(next(first) == "over");
}

TEST_CASE("A caller that leaves cancels its call and nobody else's")
{
    modern_rig x;
    auto first = x.ask(message("1", "tools/call"));
    const auto second = x.ask(message("1", "tools/call"));
    first.reset();
    x.poll();
    REQUIRE(x.programs.lines[0].size() == 3);
    const auto& told = x.programs.lines[0].back();
    CHECK(told.find("notifications/cancelled") != std::string::npos);
    CHECK(told.find(R"("requestId":)" + x.id_of_line(0)) != std::string::npos);
    x.programs.say(answer_text(x.id_of_line(1)));
    CHECK(next(second) == answer_text("1"));
}

TEST_CASE("Calls fail with a program that ends, and the next one starts another")
{
    modern_rig x;
    const auto asked = x.ask(message("1", "tools/call"));
    x.programs.say(message("", "notifications/message"));
    x.programs.die();
    CHECK(next(asked) == "upstream_reset");
    x.ask(message("1", "tools/call"));
    CHECK(x.programs.started.size() == 2);
    CHECK_FALSE(x.programs.runs(0));
}

TEST_CASE("A silent call fails and the program is told, a subscription may be silent, and an idle program ends")
{
    modern_rig x;
    x.server.call_timeout = 1min;
    const auto call = x.ask(message("1", "tools/call"));
    std::string method = "subscriptions/listen";
    SUBCASE("to lists and resources") {}
    SUBCASE("to events")
    {
        method = "events/stream";
    }
    auto subscription = x.ask(message("2", method));
    x.now += 1min - 1ms;
    x.serving.sweep(x.now);
    CHECK(next(call).empty());
    x.now += 1ms;
    x.serving.sweep(x.now);
    CHECK(next(call) == "upstream_timeout");
    CHECK(x.programs.lines[0].back().find("notifications/cancelled") != std::string::npos);
    x.now += 24h;
    x.serving.sweep(x.now);
    CHECK(next(subscription).empty());
    subscription.reset();
    x.now += modern_program::longest_idle - 1ms;
    x.serving.sweep(x.now);
    x.poll();
    CHECK(x.programs.runs(0));
    x.now += 1ms;
    x.serving.sweep(x.now);
    x.poll();
    CHECK_FALSE(x.programs.runs(0));
}

TEST_CASE("A changed timeouts.call holds for calls in flight too, and keeps the program")
{
    modern_rig x;
    const auto call = x.ask(message("1", "tools/call"));
    x.server.call_timeout = 1min;
    x.serving.set_agent("a", x.new_entry());
    x.now += 1min - 1ms;
    x.serving.sweep(x.now);
    CHECK(next(call).empty());
    x.now += 1ms;
    x.serving.sweep(x.now);
    CHECK(next(call) == "upstream_timeout");
    CHECK(x.programs.runs(0));
}

TEST_CASE("New filters of resources end what listens, and no other call")
{
    modern_rig x;
    const auto call = x.ask(message("1", "tools/call"));
    const auto listening = x.ask(message("2", "subscriptions/listen"));
    x.server.tools.deny = {"t"};
    x.serving.set_agent("a", x.new_entry());
    CHECK(next(listening).empty());
    x.server.resources.deny = {"u"};
    x.serving.set_agent("a", x.new_entry());
    CHECK(next(listening) == "upstream_reset");
    CHECK(x.programs.lines[0].back().find(R"("requestId":)" + x.id_of_line(1)) != std::string::npos);
    CHECK(next(call).empty());
    x.programs.say(answer_text(x.id_of_line(0)));
    CHECK(next(call) == answer_text("1"));
}

TEST_CASE("1024 calls are in flight, and no more")
{
    modern_rig x;
    std::vector<reader> calls;
    for (std::size_t i = 0; i < modern_program::most_calls; ++i) {
        calls.push_back(x.ask(message(std::to_string(i), "tools/call")));
        REQUIRE(calls.back() != nullptr);
    }
    CHECK(x.ask(message("1", "tools/call")) == nullptr);
    calls.pop_back();
    x.poll();
    CHECK(x.ask(message("1", "tools/call")) != nullptr);
}

TEST_CASE(
    "A principal has 512 of the calls in flight and no more, though nobody else calls, and subscriptions beside them"
)
{
    modern_rig x;
    const auto call = message("1", "tools/call");
    std::vector<reader> calls;
    for (std::size_t i = 0; i < modern_program::most_calls_of_principal; ++i) {
        calls.push_back(x.ask_as("p", call));
        REQUIRE(calls.back() != nullptr);
    }
    CHECK(x.ask_as("p", call) == nullptr);
    CHECK(x.ask_as("p", message("1", "subscriptions/listen")) != nullptr);
    CHECK(x.ask_as("q", call) != nullptr);
    CHECK(x.ask(call) != nullptr);
    calls.pop_back();
    x.poll();
    calls.push_back(x.ask_as("p", call));
    CHECK(calls.back() != nullptr);
    CHECK(x.ask_as("p", call) == nullptr);
    x.programs.say(answer_text(x.id_of_line(0)));
    CHECK(x.ask_as("p", call) != nullptr);
}

TEST_CASE("20000 subscriptions are there, and no more, beside the calls")
{
    modern_rig x;
    const auto listens = [&x] {
        return x.serving.request(x.new_entry(), client_text{message("1", "subscriptions/listen")});
    };
    x.ask(message("1", "tools/call"));
    x.programs.say(message("", "notifications/message"));
    std::vector<reader> all;
    for (std::size_t i = 0; i < modern_program::most_listens; ++i) {
        auto begun = listens();
        REQUIRE(begun.has_value());
        all.push_back(std::move(*begun));
    }
    CHECK(listens().error().code == errc::overloaded);
    CHECK(x.ask(message("2", "tools/call")) != nullptr);
    all.pop_back();
    CHECK(listens().has_value());
}

TEST_CASE("A changed agent ends its program, one that means the same keeps it, and none starts at the end")
{
    modern_rig x;
    const auto asked = x.ask(message("1", "tools/call"));
    x.serving.set_agent("a", x.new_entry());
    CHECK(next(asked).empty());
    x.server.arguments = {"changed"};
    x.serving.set_agent("a", x.new_entry());
    CHECK(next(asked) == "upstream_reset");
    const auto again = x.ask(message("1", "tools/call"));
    x.serving.stop();
    CHECK(next(again) == "draining");
    CHECK(x.ask(message("1", "tools/call")) == nullptr);
    x.poll();
    CHECK_FALSE(x.programs.runs(1));
}

TEST_SUITE_END();
