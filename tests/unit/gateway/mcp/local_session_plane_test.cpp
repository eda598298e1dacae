#include "gateway/mcp/local_session_plane.hpp"

#include "net/loop/signal.hpp"
#include "tests/unit/gateway/mcp/sessions_rig.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/mcp/local_session_plane");

using namespace mcp_path_test;
using gateway::model::program_act;
using gateway::model::program_batch;
using gateway::model::program_reader;
using gateway::model::program_request;

namespace {

class plane_rig : public rig {
public:
    plane_rig() { plane.set_agent("a", new_entry()); }
    ~plane_rig()
    {
        plane.stop();
        poll();
    }

    static program_request asked(program_act act, const std::string& handle, const std::string& text = {})
    {
        program_request out;
        out.act = act;
        out.agent = "a";
        out.principal = "p";
        out.handle = handle;
        out.version = "2025-06-18";
        if (!text.empty()) {
            const client_text read{text};
            const mcp::client_message& view = read;
            out.message = mcp::kept_message{view};
        }
        return out;
    }

    std::unique_ptr<program_reader> open(program_request what)
    {
        auto reader = plane.open(std::move(what), loop.get_executor(), wake);
        poll();
        return reader;
    }

    std::string begin_session()
    {
        const auto reader = open(asked(program_act::begin, "", opening));
        auto batch = reader->take();
        REQUIRE(batch.has_value());
        CHECK(batch->texts == std::vector{opened});
        CHECK(batch->over);
        reader->next();
        poll();
        return batch->handle;
    }

    std::string failure_of(program_request what)
    {
        const auto reader = open(std::move(what));
        const auto batch = reader->take();
        return batch && batch->over && batch->failure ? std::string{core::name(batch->failure->code)} : "none";
    }

    gateway::mcp::table::local_session_services services()
    {
        gateway::mcp::table::local_session_services out{
            loop,
            turns,
            [this](const gateway::model::agent_entry&) { return programs.factory(); },
            [this](const core::agent&) { return modern; },
            [this] { return now; },
            log,
            [](const std::string&) -> core::result<std::shared_ptr<const mcp::server_facts>> {
                auto facts = std::make_shared<mcp::server_facts>();
                facts->protocol_version = "2025-11-25";
                return facts;
            },
            [this](const std::string&) { return programs.factory(); },
        };
        out.bridged = [this](const std::string& id) { return id == "b" ? bridged : nullptr; };
        return out;
    }

    net::signal wake;
    std::shared_ptr<const gateway::model::agent_entry> bridged;
    gateway::mcp::local_session_plane plane{services()};
};

}  // namespace

TEST_CASE("A session begins, is called, told, and ends by its handle, for its principal only")
{
    plane_rig x;
    const auto session = x.begin_session();
    CHECK(session.size() == 16);
    CHECK(x.failure_of(x.asked(program_act::tell, session, message("", "notifications/initialized"))) == "none");
    const auto reader = x.open(x.asked(program_act::request, session, message("1", "tools/list")));
    CHECK_FALSE(reader->take().has_value());
    x.programs.say(answer_text("1"));
    x.poll();
    const auto batch = reader->take();
    REQUIRE(batch.has_value());
    CHECK(batch->texts == std::vector{answer_text("1")});
    CHECK(batch->over);
    CHECK_FALSE(batch->failure.has_value());
    for (const auto act : {program_act::request, program_act::tell, program_act::listen, program_act::end}) {
        auto of_another = x.asked(act, session, message("2", "tools/list"));
        of_another.principal = "q";
        CHECK(x.failure_of(std::move(of_another)) == "session_not_found");
        CHECK(x.failure_of(x.asked(act, "0123456789abcdef", message("2", "tools/list"))) == "session_not_found");
    }
    CHECK(x.failure_of(x.asked(program_act::end, session)) == "none");
    CHECK(x.failure_of(x.asked(program_act::end, session)) == "session_not_found");
}

TEST_CASE("A contained agent has no sessions here, and gets no requests until it is set again")
{
    plane_rig x;
    const auto session = x.begin_session();
    CHECK(x.plane.ending("a") == 1);
    x.plane.contain("a");
    x.poll();
    CHECK(x.plane.ending("a") == 0);
    CHECK(x.plane.is_contained("a"));
    CHECK(x.plane.keeps("a"));
    for (const auto act : {program_act::request, program_act::tell, program_act::listen, program_act::end}) {
        CHECK(x.failure_of(x.asked(act, session, message("2", "tools/list"))) == "agent_contained");
    }
    CHECK(x.failure_of(x.asked(program_act::begin, "", opening)) == "agent_contained");
    x.plane.set_agent("a", x.new_entry());
    CHECK_FALSE(x.plane.is_contained("a"));
    CHECK(x.failure_of(x.asked(program_act::request, session, message("2", "tools/list"))) == "session_not_found");
    CHECK(x.begin_session().size() == 16);
}

TEST_CASE("A bridged agent is kept from the time when a caller asks for it until it is gone")
{
    plane_rig x;
    auto begins = x.asked(program_act::begin, "", opening);
    begins.agent = "b";
    CHECK(x.failure_of(begins) == "agent_not_found");
    CHECK_FALSE(x.plane.has_agent("b"));
    const auto entry = x.new_entry();
    entry->record.id = "b";
    x.bridged = entry;
    CHECK_FALSE(x.plane.keeps("b"));
    CHECK_FALSE(x.plane.live("b").has_value());
    CHECK(x.failure_of(begins) == "none");
    CHECK(x.plane.keeps("b"));
    REQUIRE(x.plane.live("b").has_value());
    CHECK(x.plane.live("b")->sessions == 1);

    x.bridged = nullptr;
    CHECK(x.plane.has_agent("b"));
    x.plane.set_agent("b", nullptr);
    CHECK_FALSE(x.plane.has_agent("b"));
    CHECK(x.failure_of(begins) == "agent_not_found");
}

TEST_CASE("What comes while a caller writes is one batch, which comes when it is asked for, and no longer than a queue")
{
    plane_rig x;
    const auto session = x.begin_session();
    const auto reader = x.open(x.asked(program_act::request, session, message("1", "tools/call")));
    const auto said = message("", "notifications/message");
    x.programs.say(said);
    x.poll();
    auto batch = reader->take();
    REQUIRE(batch.has_value());
    CHECK(batch->texts.size() == 1);
    CHECK_FALSE(batch->over);
    for (std::size_t i = 0; i <= text_queue::most_texts; ++i) {
        x.programs.say(said);
    }
    x.poll();
    CHECK_FALSE(reader->take().has_value());
    reader->next();
    x.poll();
    batch = reader->take();
    REQUIRE(batch.has_value());
    CHECK(batch->texts.size() == text_queue::most_texts);
    reader->next();
    x.poll();
    CHECK_FALSE(reader->take().has_value());
    x.programs.die();
    x.poll();
    batch = reader->take();
    REQUIRE(batch.has_value());
    CHECK(batch->over);
    CHECK(batch->failure->code == errc::upstream_reset);
}

TEST_CASE("A listener hears at once that it listens, and then what is said unasked")
{
    plane_rig x;
    const auto session = x.begin_session();
    const auto reader = x.open(x.asked(program_act::listen, session));
    auto batch = reader->take();
    REQUIRE(batch.has_value());
    CHECK(batch->texts.empty());
    CHECK_FALSE(batch->over);
    reader->next();
    const auto changed = message("", "notifications/tools/list_changed");
    x.programs.say(changed);
    x.poll();
    batch = reader->take();
    REQUIRE(batch.has_value());
    CHECK(batch->texts == std::vector{changed});
    const auto second = x.open(x.asked(program_act::listen, session));
    reader->next();
    x.poll();
    CHECK(reader->take()->over);
}

TEST_CASE("A caller that leaves while its session begins has none, and one that leaves a call cancels nothing")
{
    plane_rig x;
    x.programs.opens = false;
    auto reader = x.open(x.asked(program_act::begin, "", opening));
    CHECK(x.programs.runs(0));
    reader.reset();
    x.poll();
    CHECK_FALSE(x.programs.runs(0));
    x.programs.opens = true;
    const auto session = x.begin_session();
    reader = x.open(x.asked(program_act::request, session, message("1", "tools/call")));
    reader.reset();
    x.poll();
    CHECK(x.programs.lines[1].size() == 2);
    x.programs.say(answer_text("1"), 1);
    CHECK(x.failure_of(x.asked(program_act::end, session)) == "none");
}

TEST_CASE("Sessions with programs end when the agent begins to share its own session")
{
    plane_rig x;
    const auto session = x.begin_session();
    CHECK(x.programs.runs(0));
    x.server.sessions = core::mcp_sessions::shared;
    x.plane.set_agent("a", x.new_entry());
    x.poll();
    CHECK_FALSE(x.programs.runs(0));
    CHECK(x.failure_of(x.asked(program_act::request, session, message("1", "tools/list"))) == "session_not_found");
}

TEST_CASE("A call whose caller leaves before its program has begun ends with its program")
{
    plane_rig x;
    x.programs.opens = false;
    auto reader = x.open(x.asked(program_act::call, "", message("1", "tools/call")));
    CHECK(x.programs.runs(0));
    reader.reset();
    x.poll();
    CHECK_FALSE(x.programs.runs(0));
}

TEST_CASE("A session whose answer has not reached its caller ends when the caller leaves")
{
    plane_rig x;
    SUBCASE("it was not taken")
    {
        x.open(x.asked(program_act::begin, "", opening));
    }
    SUBCASE("it was not sent")
    {
        const auto reader = x.open(x.asked(program_act::begin, "", opening));
        CHECK(reader->take()->texts == std::vector{opened});
    }
    SUBCASE("the first of two was sent")
    {
        x.programs.opens = false;
        const auto reader = x.open(x.asked(program_act::begin, "", opening));
        x.programs.say(message("", "notifications/message"));
        x.poll();
        CHECK_FALSE(reader->take()->handle.empty());
        reader->next();
        x.programs.say(opened);
        x.poll();
        CHECK(reader->take()->over);
    }
    CHECK(x.programs.closed == 0);
    x.poll();
    CHECK(x.programs.closed == 1);
    CHECK_FALSE(x.programs.runs(0));
    x.programs.opens = true;
    x.begin_session();
    x.poll();
    CHECK(x.programs.runs(1));
}

TEST_CASE("A question in a batch that has not reached the caller is refused when the caller leaves")
{
    plane_rig x;
    const auto session = x.begin_session();
    auto reader = x.open(x.asked(program_act::request, session, message("1", "tools/call")));
    x.programs.say(message("5", "elicitation/create"));
    x.poll();
    CHECK(reader->take()->texts == std::vector{message("5", "elicitation/create")});
    SUBCASE("it has not")
    {
        reader.reset();
        x.poll();
        CHECK(x.programs.lines[0].back().find("-32601") != std::string::npos);
    }
    SUBCASE("it has")
    {
        reader->next();
        reader.reset();
        x.poll();
        CHECK(x.programs.lines[0].size() == 2);
    }
}

TEST_CASE("An answer that comes after its caller has left wakes nobody")
{
    plane_rig x;
    const auto session = x.begin_session();
    auto wake = std::make_unique<net::signal>();
    auto reader =
        x.plane.open(x.asked(program_act::request, session, message("1", "tools/call")), x.loop.get_executor(), *wake);
    x.poll();
    x.programs.say(answer_text("1"));
    reader.reset();
    wake.reset();
    x.poll();
    CHECK(x.failure_of(x.asked(program_act::end, session)) == "none");
}

TEST_CASE("A changed or removed agent ends its sessions, and no session begins with one that is gone")
{
    plane_rig x;
    const auto session = x.begin_session();
    const auto reader = x.open(x.asked(program_act::request, session, message("1", "tools/call")));
    x.server.arguments = {"changed"};
    x.plane.set_agent("a", x.new_entry());
    x.poll();
    CHECK(reader->take()->failure->code == errc::upstream_reset);
    CHECK(x.failure_of(x.asked(program_act::request, session, message("2", "tools/list"))) == "session_not_found");
    x.begin_session();
    x.plane.set_agent("a", nullptr);
    CHECK(x.failure_of(x.asked(program_act::begin, "", opening)) == "agent_not_found");
    CHECK(x.failure_of(x.asked(program_act::call, "", message("1", "tools/list"))) == "agent_not_found");
    x.server.transport = core::mcp_transport::unsupported;
    x.plane.set_agent("a", x.new_entry());
    CHECK(x.failure_of(x.asked(program_act::begin, "", opening)) == "agent_not_found");
}

TEST_CASE("A session counts with its agent until the plane's own timer finds it idle, whatever serves it")
{
    plane_rig x;
    SUBCASE("a program of its own") {}
    SUBCASE("the control session")
    {
        x.server.sessions = core::mcp_sessions::shared;
        x.plane.set_agent("a", x.new_entry());
    }
    const auto reader = x.open(x.asked(program_act::begin, "", opening));
    const auto batch = reader->take();
    REQUIRE(batch.has_value());
    reader->next();
    x.poll();
    const auto idle = [&] { return x.plane.counts().ended[static_cast<std::size_t>(session_end::idle)]; };
    CHECK(x.plane.live("a")->sessions == 1);
    CHECK(x.plane.live("b") == std::nullopt);
    x.now += gateway::mcp::table::session_table::longest_idle;
    CHECK(idle() == 0);
    x.loop.timers().start();
    CHECK(idle() == 1);
    CHECK(x.plane.live("a")->sessions == 0);
    CHECK(x.failure_of(x.asked(program_act::request, batch->handle, message("1", "ping"))) == "session_not_found");
    x.loop.timers().stop();
}

TEST_CASE("Callers on a loop of their own are told there")
{
    plane_rig x;
    net::loop callers;
    net::signal wake;
    const auto reader = x.plane.open(x.asked(program_act::begin, "", opening), callers.get_executor(), wake);
    callers.io().poll();
    std::thread control{[&] { x.poll(); }};
    control.join();
    CHECK_FALSE(reader->take().has_value());
    callers.io().poll();
    const auto batch = reader->take();
    REQUIRE(batch.has_value());
    CHECK(batch->texts.size() == 1);
}

TEST_SUITE_END();
