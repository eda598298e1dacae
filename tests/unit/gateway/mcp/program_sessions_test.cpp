#include "gateway/mcp/programs/program_sessions.hpp"

#include "tests/unit/gateway/mcp/sessions_rig.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/mcp/programs/program_sessions");

using namespace mcp_path_test;

TEST_CASE("What a client and its program say to one another arrives as it was sent")
{
    rig x;
    const auto session = x.begin();
    REQUIRE(x.sent_initialize == opened);
    REQUIRE(x.programs.lines[0] == std::vector{opening});
    const auto initialized = message("", "notifications/initialized");
    x.tell(session, initialized);
    const auto call = message("1", "tools/call", R"({"name":"t","n":1.0,"_meta":{"progressToken":1}})");
    const auto answer = x.request(session, call);
    CHECK(x.programs.lines[0] == std::vector{opening, initialized, call});
    CHECK(next(answer).empty());
    const auto progress = message("", "notifications/progress", R"({"progressToken":1,"progress":1})");
    const auto question = message("0", "elicitation/create");
    x.programs.say(progress);
    x.programs.say(question);
    CHECK(next(answer) == progress);
    CHECK(next(answer) == question);
    x.tell(session, answer_text("0", R"({"action":"accept"})"));
    CHECK(x.programs.lines[0].back() == answer_text("0", R"({"action":"accept"})"));
    x.programs.say(answer_text("1", R"({"n":1.0})"));
    CHECK(next(answer) == answer_text("1", R"({"n":1.0})"));
    CHECK(next(answer) == "over");
    CHECK(x.troubles.empty());
}

TEST_CASE("A late answer to a question is dropped, and line ends within a message do not reach the program")
{
    rig x;
    const auto session = x.begin();
    x.tell(session, answer_text("0"));
    CHECK(x.programs.lines[0].size() == 1);
    CHECK(x.troubles.empty());
    const auto asked = x.request(session, "{\"jsonrpc\":\"2.0\",\n\"id\":1,\r\n\"method\":\"tools/list\"}");
    CHECK(x.programs.lines[0].back() == R"({"jsonrpc":"2.0", "id":1,  "method":"tools/list"})");
}

TEST_CASE("A session is found by its handle for its agent and its principal only, until it is ended")
{
    rig x;
    const auto session = x.begin();
    CHECK(session.size() == 16);
    CHECK(x.begin() != session);
    const client_text call{message("1", "tools/list")};
    for (const auto& key : {
             session_key{"", "a", "p"},
             session_key{session, "b", "p"},
             session_key{session, "a", "q"},
             session_key{session, "a", ""},
         }) {
        CHECK(x.sessions->request(key, call).error().code == errc::session_not_found);
        CHECK(x.sessions->tell(key, call).error().code == errc::session_not_found);
        CHECK(x.sessions->listen(key).error().code == errc::session_not_found);
        CHECK(x.sessions->end(key).error().code == errc::session_not_found);
    }
    const auto asked = x.request(session, message("1", "tools/list"));
    const auto listener = x.sessions->listen(x.key(session));
    REQUIRE(listener.has_value());
    CHECK(x.sessions->end(x.key(session)).has_value());
    CHECK(x.sessions->busy());
    CHECK(next(asked) == "session_not_found");
    CHECK(next(*listener) == "over");
    CHECK_FALSE(x.sessions->end(x.key(session)).has_value());
    x.poll();
    CHECK_FALSE(x.sessions->busy());
    CHECK_FALSE(x.programs.runs(0));
    CHECK(x.ended(session_end::deleted) == 1);
    CHECK(x.sessions->size() == 1);
}

TEST_CASE("Two clients with equal ids and tokens get what is theirs")
{
    rig x;
    const auto first = x.begin();
    const auto second = x.begin();
    const auto call = message("1", "tools/call", R"({"_meta":{"progressToken":1}})");
    const auto of_first = x.request(first, call);
    const auto of_second = x.request(second, call);
    x.programs.say(message("", "notifications/progress", R"({"progressToken":1,"progress":2})"), 1);
    x.programs.say(answer_text("1", R"({"of":2})"), 1);
    x.programs.say(answer_text("1", R"({"of":1})"), 0);
    CHECK(next(of_first) == answer_text("1", R"({"of":1})"));
    CHECK(next(of_second).find(R"("progress":2)") != std::string::npos);
    CHECK(next(of_second) == answer_text("1", R"({"of":2})"));
}

TEST_CASE("A client that leaves cancels nothing, and its session goes on")
{
    rig x;
    const auto session = x.begin();
    auto asked = x.request(session, message("1", "tools/call"));
    asked.reset();
    x.programs.say(message("", "notifications/message"));
    x.programs.say(answer_text("1"));
    CHECK(x.programs.lines[0].size() == 2);
    asked = x.request(session, message("2", "tools/call"));
    x.programs.say(answer_text("2"));
    CHECK(next(asked) == answer_text("2"));
}

TEST_CASE("A client that leaves before it has its session has none")
{
    rig x;
    x.programs.opens = false;
    {
        const auto begun = x.sessions->begin(x.new_entry(), "p", client_text{opening});
        REQUIRE(begun.has_value());
        x.poll();
        CHECK(x.sessions->size() == 1);
    }
    CHECK(x.sessions->size() == 0);
    x.poll();
    CHECK_FALSE(x.programs.runs(0));
}

TEST_CASE("A cancelled call is over at once, and the program is told in the words of the client")
{
    rig x;
    const auto session = x.begin();
    const auto asked = x.request(session, message("1", "tools/call"));
    const auto cancelled = message("", "notifications/cancelled", R"({"requestId":1,"reason":"why not"})");
    x.tell(session, cancelled);
    CHECK(x.programs.lines[0].back() == cancelled);
    CHECK(next(asked) == "over");
    x.tell(session, cancelled);
    CHECK(x.programs.lines[0].size() == 3);
}

TEST_CASE("What is said unasked waits for a listener, and a second listener takes the place of the first")
{
    rig x;
    const auto session = x.begin();
    const auto changed = message("", "notifications/tools/list_changed");
    x.programs.say(changed);
    auto first = x.sessions->listen(x.key(session));
    REQUIRE(first.has_value());
    CHECK(next(*first) == changed);
    x.programs.say(changed);
    const auto second = x.sessions->listen(x.key(session));
    REQUIRE(second.has_value());
    CHECK(next(*first) == "over");
    CHECK(next(*second) == changed);
    first->reset();
    x.programs.say(changed);
    CHECK(next(*second) == changed);
}

TEST_CASE("What a listener did not take is there for the next one")
{
    rig x;
    const auto session = x.begin();
    auto listener = x.sessions->listen(x.key(session));
    REQUIRE(listener.has_value());
    const auto changed = message("", "notifications/tools/list_changed");
    x.programs.say(changed);
    listener->reset();
    listener = x.sessions->listen(x.key(session));
    CHECK(next(*listener) == changed);
}

TEST_CASE("A question is refused if nobody has read it after 10 s")
{
    rig x;
    const auto session = x.begin();
    x.programs.say(message("5", "roots/list"));
    x.after(0ms);
    x.after(9'999ms);
    CHECK(x.programs.lines[0].size() == 1);
    x.after(1ms);
    REQUIRE(x.programs.lines[0].size() == 2);
    CHECK(x.programs.lines[0].back().find(R"("id":5)") != std::string::npos);
    CHECK(x.programs.lines[0].back().find("-32601") != std::string::npos);
}

TEST_CASE("When all places are taken, the session goes that is idle for longest, but for at least 10 s")
{
    rig x;
    x.principal.clear();
    x.server.max_sessions = 2;
    const auto first = x.begin();
    x.now += 1s;
    const auto second = x.begin();
    CHECK(x.begin() == "session_limit");
    x.now += 8'999ms;
    CHECK(x.begin() == "session_limit");
    const auto asked = x.request(second, message("1", "tools/call"));
    x.now += 1ms;
    const auto third = x.begin();
    CHECK(third.size() == 16);
    CHECK(x.ended(session_end::evicted) == 1);
    CHECK(x.request(first, message("1", "tools/list")) == nullptr);
    // One is used, and the other has a call.
    x.now += 9'999ms;
    CHECK(x.begin() == "session_limit");
    x.now += 1ms;
    CHECK(x.begin().size() == 16);
    CHECK(x.request(third, message("1", "tools/list")) == nullptr);
    CHECK(x.request(second, message("2", "tools/list")) != nullptr);
}

TEST_CASE("A session whose client listens or has just had an answer goes after one whose client does neither")
{
    rig x;
    x.principal.clear();
    x.server.max_sessions = 3;
    const auto listens = x.begin();
    const auto heard = x.sessions->listen(x.key(listens));
    REQUIRE(heard.has_value());
    const auto calls = x.begin();
    auto asked = x.request(calls, message("1", "tools/call"));
    x.now += 20s;
    const auto idle = x.begin();
    x.after(9s);
    x.programs.say(answer_text("1"), 1);
    CHECK(next(asked) == answer_text("1"));
    x.after(1s);
    CHECK(x.begin().size() == 16);
    CHECK(x.request(idle, message("1", "ping")) == nullptr);
    // The end of the call was seen 1 s ago at most, and the stream is open.
    x.now += 8s;
    CHECK(x.begin() == "session_limit");
    x.now += 1s;
    CHECK(x.begin().size() == 16);
    CHECK(x.request(calls, message("2", "ping")) == nullptr);
    // It has listened for a minute, and still the others go first.
    x.now += 60s;
    CHECK(x.begin().size() == 16);
    CHECK(x.begin().size() == 16);
    CHECK(next(*heard).empty());
    CHECK(x.begin().size() == 16);
    CHECK(next(*heard) == "over");
}

TEST_CASE("A session whose client only listens goes after a minute, if no other one may")
{
    rig x;
    x.server.max_sessions = 1;
    const auto session = x.begin();
    const auto heard = x.sessions->listen(x.key(session));
    REQUIRE(heard.has_value());
    x.now += 59'999ms;
    CHECK(x.begin() == "session_limit");
    x.now += 1ms;
    CHECK(x.begin().size() == 16);
    CHECK(next(*heard) == "over");
}

TEST_CASE("A principal has at most half of the sessions, and its own go first for a further one")
{
    rig x;
    x.server.max_sessions = 4;
    const auto first = x.begin();
    const auto second = x.begin();
    CHECK(x.begin() == "session_limit");
    const auto other = x.begin("q");
    CHECK(other.size() == 16);
    CHECK(x.begin("").size() == 16);
    CHECK(x.begin("r") == "session_limit");
    x.now += 5s;
    CHECK(x.request(first, message("1", "tools/call")) != nullptr);
    CHECK(x.begin() == "session_limit");
    x.now += 5s;
    CHECK(x.begin().size() == 16);
    CHECK(x.ended(session_end::evicted) == 1);
    CHECK(x.request(second, message("1", "ping")) == nullptr);
    CHECK(x.begin() == "session_limit");
    CHECK(x.sessions->request({other, "a", "q"}, client_text{message("1", "ping")}).has_value());
    CHECK(x.sessions->end(x.key(first)).has_value());
    CHECK(x.begin().size() == 16);
}

TEST_CASE("A principal that uses all of its sessions for ever leaves half of them to others, however often it asks")
{
    rig x;
    x.server.max_sessions = 16;
    std::vector<std::string> own;
    for (int i = 0; i < 16; ++i) {
        if (auto begun = x.begin(); begun.size() == 16) {
            own.push_back(std::move(begun));
        }
    }
    CHECK(own.size() == 8);
    for (int minute = 0; minute < 3; ++minute) {
        for (const auto& each : own) {
            CHECK(x.request(each, message("1", "ping")) != nullptr);
        }
        CHECK(x.begin("q" + std::to_string(minute)).size() == 16);
        x.after(60s);
    }
    CHECK(x.begin() == "session_limit");
}

TEST_CASE("Sessions that the limit leaves to nobody are given back by whatever ends them")
{
    rig x;
    x.server.max_sessions = 2;
    const auto is_free = [&] {
        const auto again = x.begin();
        return again.size() == 16 && x.sessions->end(x.key(again)).has_value();
    };
    CHECK(is_free());
    x.begin();
    x.programs.die(x.programs.started.size() - 1);
    x.after(30min);
    CHECK(is_free());
    x.begin();
    x.server.command = "another";
    x.sessions->set_agent("a", x.new_entry());
    CHECK(is_free());
    x.programs.broken = true;
    CHECK(x.begin().size() == 16);
    x.programs.broken = false;
    CHECK(is_free());
    const auto call = x.sessions->call(x.new_entry(), "p", {client_text{message("1", "ping")}, "2025-06-18", "{}"});
    REQUIRE(call.has_value());
    CHECK(x.begin() == "session_limit");
    x.poll();
    x.programs.say(answer_text("1"), x.programs.started.size() - 1);
    x.poll();
    CHECK(is_free());
}

TEST_CASE("Of an agent that does not say how many, 64 programs run at once")
{
    rig x;
    x.principal.clear();
    for (int each = 0; each < 64; ++each) {
        REQUIRE(x.begin().size() == 16);
    }
    CHECK(x.begin() == "session_limit");
    CHECK(x.programs.started.size() == 64);
}

TEST_CASE("A session ends after 30 min of silence, unless somebody listens, and after a day")
{
    rig x;
    const auto idle = x.begin();
    const auto heard = x.begin();
    const auto listener = x.sessions->listen(x.key(heard));
    x.after(30min - 1ms);
    CHECK(x.sessions->size() == 2);
    x.after(1ms);
    CHECK(x.sessions->size() == 1);
    CHECK(x.ended(session_end::idle) == 1);
    CHECK(x.request(idle, message("1", "tools/list")) == nullptr);
    x.after(23h + 30min - 1ms);
    CHECK(x.sessions->size() == 1);
    x.after(1ms);
    CHECK(x.ended(session_end::aged) == 1);
    CHECK(next(*listener) == "over");
    CHECK_FALSE(x.sessions->busy());
}

TEST_CASE("A call may be silent for timeouts.call and take an hour, then it is cancelled")
{
    rig x;
    x.server.call_timeout = 10min;
    const auto session = x.begin();
    // A method of the modern era only; a legacy program may not know it, and be silent.
    std::string method = "tools/call";
    SUBCASE("a tool") {}
    SUBCASE("what would be a subscription in the modern era")
    {
        method = "subscriptions/listen";
    }
    const auto silent = x.request(session, message("1", method));
    const auto busy = x.request(session, message("2", "tools/call", R"({"_meta":{"progressToken":2}})"));
    const auto progress = message("", "notifications/progress", R"({"progressToken":2,"progress":1})");
    x.after(5min);
    x.programs.say(progress);
    x.after(5min - 1ms);
    CHECK(next(silent).empty());
    x.after(1ms);
    CHECK(next(silent) == "upstream_timeout");
    CHECK(x.programs.lines[0].back().find(R"("requestId":1)") != std::string::npos);
    for (int minutes = 10; minutes < 59; ++minutes) {
        x.programs.say(progress);
        x.after(1min);
    }
    x.programs.say(progress);
    x.after(1min - 1ms);
    CHECK(busy->take() == progress);
    while (busy->take()) {
    }
    CHECK_FALSE(busy->over());
    x.after(1ms);
    CHECK(next(busy) == "upstream_timeout");
    CHECK(x.programs.lines[0].back().find(R"("requestId":2)") != std::string::npos);
    x.programs.say(answer_text("2"));
    CHECK(next(busy) == "upstream_timeout");
    CHECK(x.sessions->size() == 1);
}

TEST_CASE("A stream of events may be silent for any time, and goes on beside calls that are not answered")
{
    rig x;
    x.server.call_timeout = 10min;
    const auto session = x.begin();
    const auto stream = x.request(session, message("1", "events/stream"));
    const auto silent = x.request(session, message("2", "tools/call"));
    for (int hours = 0; hours < 23; ++hours) {
        x.after(1h);
    }
    CHECK(next(silent) == "upstream_timeout");
    CHECK(next(stream).empty());
    x.programs.say(answer_text("1"));
    CHECK(next(stream) == answer_text("1"));
}

TEST_CASE("A call without a session has one that declares what it declares, and that ends with it")
{
    rig x;
    const client_text call{message("7", "tools/call")};
    const auto begun = x.sessions->call(x.new_entry(), "p", {call, "2025-06-18", R"({"sampling":{}})"});
    REQUIRE(begun.has_value());
    const auto& asked = begun->answer;
    x.programs.opens = false;
    x.poll();
    REQUIRE(x.programs.lines[0].size() == 1);
    const auto sent = x.programs.lines[0][0];
    CHECK(
        sent.find(R"("params":{"protocolVersion":"2025-06-18","capabilities":{"sampling":{}},"clientInfo")") !=
        std::string::npos
    );
    x.programs.say(opened);
    REQUIRE(x.programs.lines[0].size() == 3);
    CHECK(x.programs.lines[0][1].find("notifications/initialized") != std::string::npos);
    CHECK(x.programs.lines[0][2] == message("7", "tools/call"));
    const auto question = message("0", "sampling/createMessage");
    x.programs.say(question);
    x.programs.say(answer_text("7"));
    CHECK(next(asked) == question);
    CHECK(next(asked) == answer_text("7"));
    CHECK(x.sessions->size() == 0);
    x.poll();
    CHECK(x.programs.alive.empty());
    CHECK(x.ended(session_end::done) == 1);
    CHECK(x.ended(session_end::lost) == 0);
}

TEST_CASE("The sessions of an agent that changes or goes end in order, those of one that means the same go on")
{
    rig x;
    x.server.warm = 1;
    const auto session = x.begin();
    const auto asked = x.request(session, message("1", "tools/call"));
    x.sessions->set_agent("a", x.new_entry());
    CHECK(x.sessions->size() == 1);
    SUBCASE("it is gone")
    {
        x.sessions->set_agent("a", nullptr);
    }
    SUBCASE("it is another program")
    {
        x.server.command = "other";
        x.sessions->set_agent("a", x.new_entry());
    }
    SUBCASE("a client brings it along")
    {
        x.server.command = "other";
        CHECK(x.begin().size() == 16);
        x.sessions->set_agent("a", nullptr);
    }
    CHECK(x.sessions->size() == 0);
    CHECK(next(asked) == "upstream_reset");
    x.poll();
    CHECK(x.programs.alive.empty());
}

TEST_CASE("A server with an inline card keeps its sessions when another one begins, or the same record is published")
{
    rig x;
    x.server.warm = 1;
    x.card = "{}";
    const auto session = x.begin();
    const auto asked = x.request(session, message("1", "tools/call"));
    CHECK(x.begin("q").size() == 16);
    x.card = R"({"name":"b"})";
    x.sessions->set_agent("a", x.new_entry());
    CHECK(x.sessions->size() == 2);
    x.programs.say(answer_text("1"));
    CHECK(next(asked) == answer_text("1"));
    x.server.command = "other";
    x.sessions->set_agent("a", x.new_entry());
    CHECK(x.sessions->size() == 0);
}

TEST_CASE("At the end all sessions end in order, and none begins")
{
    rig x;
    x.server.warm = 3;
    const auto session = x.begin();
    const auto asked = x.request(session, message("1", "tools/call"));
    x.sessions->stop();
    CHECK(x.sessions->busy());
    CHECK(next(asked) == "draining");
    CHECK(x.begin() == "draining");
    x.poll();
    CHECK_FALSE(x.sessions->busy());
    CHECK(x.programs.alive.empty());
    CHECK(x.programs.closed == 4);
}
