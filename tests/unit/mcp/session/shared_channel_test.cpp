#include "mcp/session/shared_channel.hpp"

#include "tests/unit/mcp/session/runner_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("mcp/session/shared_channel");

namespace {

using mcp::session_state;
using mcp_test::result;
using mcp_test::rig;

class far_end final : public mcp::transport_observer {
public:
    explicit far_end(const mcp::transport_factory& make)
        : wire{make(*this)}
    {
        wire->open();
    }

    void connected() override { events.emplace_back("connected"); }
    void received(std::string_view text) override { events.emplace_back(text); }
    void refused(std::string_view /*beginning*/, std::size_t /*limit*/) override { events.emplace_back("too long"); }
    void failed(std::uint64_t request, core::error why, std::optional<mcp::era> /*says*/) override
    {
        events.push_back("failed " + std::to_string(request) + " " + std::string{core::name(why.code)});
    }
    void session_lost() override {}
    void stream_changed(mcp::stream_news /*news*/) override {}
    void lost(core::error why) override { events.push_back("lost " + std::string{core::name(why.code)}); }
    void closed() override { events.emplace_back("closed"); }

    bool send(std::uint64_t id)
    {
        mcp::outgoing message{request(id), id, "tools/call"};
        message.of_caller = true;
        return wire->send(std::move(message)).has_value();
    }

    static std::string request(std::uint64_t id)
    {
        return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"tools/call"})";
    }

    std::vector<std::string> events;
    std::unique_ptr<mcp::transport> wire;
};

std::string answer_to(const std::string& id)
{
    return R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{}})";
}

std::string notification(const std::string& method, const std::string& params = "{}")
{
    return R"({"jsonrpc":"2.0","method":"notifications/)" + method + R"(","params":)" + params + "}";
}

using events = std::vector<std::string>;

}  // namespace

TEST_CASE("Callers are connected while the session is ready, and get what does not answer the session")
{
    rig x;
    x.start();
    far_end end{x.runner->lane()};
    CHECK_FALSE(end.send(1'000'000'000));
    REQUIRE(x.wait_until([&] { return !end.events.empty(); }));
    CHECK(x.runner->state() == session_state::ready);
    const auto sent = x.runner->counts().sent;
    CHECK(end.send(1'000'000'000));
    CHECK(x.server.sent.back().text == far_end::request(1'000'000'000));
    CHECK(x.runner->counts().sent == sent + 1);
    const auto answer = answer_to("1000000000");
    const auto progress = notification("progress", R"({"progressToken":1000000000,"progress":1})");
    x.server.say(progress);
    x.server.say(answer);
    CHECK(end.events == events{"connected", progress, answer});
    // The server's own questions are answered by the session.
    x.server.say(R"({"jsonrpc":"2.0","id":"q","method":"roots/list"})");
    CHECK(x.server.sent.back().text.find("-32601") != std::string::npos);
    CHECK(end.events.size() == 3);
}

TEST_CASE("A change of lists is told to callers, and walked by the session over requests that callers do not see")
{
    rig x;
    x.start();
    far_end end{x.runner->lane()};
    REQUIRE(x.wait_until([&] { return !end.events.empty(); }));
    const auto changed = notification("tools/list_changed");
    x.server.say(changed);
    REQUIRE(x.wait_until([&] { return x.runner->counts().walks == 2; }));
    CHECK(end.events == events{"connected", changed});
}

TEST_CASE("An answer that cannot be read, or is too long, is told to callers unless the session waits for it")
{
    rig x;
    x.start();
    far_end end{x.runner->lane()};
    REQUIRE(x.wait_until([&] { return !end.events.empty(); }));
    const std::string broken = R"({"jsonrpc":"2.0","id":1000000000,"result":{},"result":{}})";
    x.server.say(broken);
    x.server.wires.back()->observer().refused(R"({"jsonrpc":"2.0","id":1000000000,"result":{)", 64);
    x.server.wires.back()->observer().failed(
        1'000'000'000,
        core::upstream_error(core::errc::upstream_status, "status 500"),
        std::nullopt
    );
    CHECK(end.events == events{"connected", broken, "too long", "failed 1000000000 upstream_status"});
    // The session's own.
    x.server.answer = {};
    const auto before = x.server.sent.size();
    x.runner->refresh();
    REQUIRE(x.wait_until([&] { return x.server.sent.size() > before; }));
    const auto own = x.server.sent.back().id;
    x.server.say(R"({"jsonrpc":"2.0","id":)" + own + R"(,"result":{},"result":{}})");
    CHECK(end.events.size() == 4);
    CHECK(x.runner->state() == session_state::degraded);
}

TEST_CASE("Callers lose the session when it is lost, and one who waits gets the next one")
{
    rig x;
    x.start();
    far_end end{x.runner->lane()};
    REQUIRE(x.wait_until([&] { return !end.events.empty(); }));
    x.server.wires.back()->observer().lost(core::upstream_error(core::errc::session_crashed, "signal 9"));
    CHECK(end.events == events{"connected", "lost upstream_reset"});
    CHECK_FALSE(end.send(1'000'000'001));
    far_end next{x.runner->lane()};
    REQUIRE(x.wait_until([&] { return !next.events.empty(); }));
    CHECK(x.runner->counts().connections == 2);
    CHECK(next.send(1'000'000'000));
    end.wire->close(false);
    REQUIRE(x.wait_until([&] { return end.events.size() == 3; }));
    CHECK(end.events.back() == "closed");
    CHECK(next.send(1'000'000'001));
}

TEST_CASE("A server that answers no ping during a call is not lost, unless it says nothing for timeouts.call")
{
    for (const bool hangs : {false, true}) {
        CAPTURE(hangs);
        rig x;
        x.settings.states.ping_interval = core::duration{20};
        x.settings.states.ping_timeout = core::duration{10};
        x.settings.call_timeout = core::duration{hangs ? 60 : 60'000};
        x.start();
        far_end end{x.runner->lane()};
        REQUIRE(x.wait_until([&] { return !end.events.empty(); }));
        x.server.answer = {};
        CHECK(end.send(1'000'000'000));
        CHECK(end.send(1'000'000'001));
        const auto pings = [&] { return std::ranges::count(x.server.methods(), "ping"); };
        const auto before = pings();
        const auto since = std::chrono::steady_clock::now();
        if (!hangs) {
            REQUIRE(x.wait_until([&] {
                return std::chrono::steady_clock::now() - since > std::chrono::milliseconds{100};
            }));
            CHECK(pings() == before);
            CHECK(x.runner->state() == session_state::ready);
            x.server.say(answer_to("1000000000"));
            // One that is given up is not waited for.
            mcp::outgoing cancels{
                R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1000000001,"x":1,"x":2}})",
                0,
                "notifications/cancelled"
            };
            cancels.cancels = 1'000'000'001;
            CHECK(end.wire->send(cancels).has_value());
        }
        REQUIRE(x.wait_until([&] { return end.events.back() == "lost upstream_reset"; }));
        CHECK(pings() > before);
    }
}

TEST_CASE(
    "A server is not at work for a call whose answer cannot be read, is too long or has its id in another spelling"
)
{
    for (const std::string answer :
         {R"({"jsonrpc":"2.0","id":1000000000,"result":{},"result":{}})",
          R"({"jsonrpc":"2.0","id":1000000000.0,"result":{}})",
          ""}) {
        CAPTURE(answer);
        rig x;
        x.settings.states.ping_interval = core::duration{20};
        x.settings.states.ping_timeout = core::duration{10};
        x.settings.call_timeout = core::duration{60'000};
        x.start();
        far_end end{x.runner->lane()};
        REQUIRE(x.wait_until([&] { return !end.events.empty(); }));
        x.server.answer = {};
        CHECK(end.send(1'000'000'000));
        if (answer.empty()) {
            x.server.wires.back()->observer().refused(R"({"jsonrpc":"2.0","id":1000000000,"result":{)", 64);
        } else {
            x.server.say(answer);
        }
        CHECK(x.wait_until([&] { return end.events.back() == "lost upstream_reset"; }));
    }
}

TEST_CASE("A second one takes the place of the first, and both hear that the session is gone for good")
{
    rig x;
    x.start();
    far_end first{x.runner->lane()};
    REQUIRE(x.wait_until([&] { return !first.events.empty(); }));
    const auto make = x.runner->lane();
    far_end second{make};
    REQUIRE(x.wait_until([&] { return first.events.size() == 2 && !second.events.empty(); }));
    CHECK(first.events == events{"connected", "lost upstream_reset"});
    CHECK_FALSE(first.send(1'000'000'000));
    x.runner.reset();
    REQUIRE(x.wait_until([&] { return second.events.size() == 2; }));
    CHECK(second.events == events{"connected", "lost upstream_reset"});
    CHECK_FALSE(second.send(1'000'000'000));
    far_end late{make};
    REQUIRE(x.wait_until([&] { return !late.events.empty(); }));
    CHECK(late.events == events{"lost upstream_reset"});
}

TEST_SUITE_END();
