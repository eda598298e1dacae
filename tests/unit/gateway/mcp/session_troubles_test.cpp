#include "tests/support/scratch.hpp"
#include "tests/unit/gateway/mcp/sessions_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/mcp/session_troubles");

using namespace mcp_path_test;

namespace {

// A program in the shell's own words: it answers `initialize` and everything else by the id, says its process id on `pid`, does not
// answer `hang`, and ends at `crash`.
constexpr const char* shell_server = R"(
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"sh"}}}';;
    *'"hang"'*) ;;
    *'"crash"'*) kill -9 $$;;
    *'"pid"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":'$$'}';;
  esac
done
)";

void run_shell(rig& x, const std::string& script = shell_server)
{
    x.server.command = "sh";
    x.server.arguments = {"-c", script};
    x.reach = [&x](const gateway::model::agent_entry& agent) {
        const auto& record = agent.record;
        return mcp::stdio_factory(x.loop, *record.mcp, mcp::inherited_environment(), record.id, x.log);
    };
}

std::string received(rig& x, const reader& from)
{
    std::string text;
    x.wait_until([&] {
        text = text.empty() ? next(from) : text;
        return !text.empty();
    });
    return text;
}

bool is_there(const std::string& process)
{
    return std::filesystem::exists("/proc/" + process);
}

}  // namespace

TEST_CASE("A program that ends in a call fails the call, and the next request has another one, told what this one knew")
{
    rig x;
    x.server.warm = 1;
    const auto session = x.begin();
    const auto initialized = message("", "notifications/initialized");
    x.tell(session, initialized);
    x.request(session, message("1", "logging/setLevel", R"({"level":"debug"})"));
    x.request(session, message("2", "resources/subscribe", R"({"uri":"a:b"})"));
    x.request(session, message("3", "resources/subscribe", R"({"uri":"c:d"})"));
    x.request(session, message("4", "resources/unsubscribe", R"({"uri":"c:d"})"));
    const auto cut_off = x.request(session, message("5", "tools/call"));
    const auto listener = x.sessions->listen(x.key(session));
    x.programs.die();
    CHECK(next(cut_off) == "upstream_reset");
    x.poll();
    CHECK(x.programs.lines[1].empty());
    CHECK(x.sessions->size() == 1);

    const auto first = x.request(session, message("6", "tools/call"));
    REQUIRE(x.programs.lines.size() == 3);  // another one waits again
    const auto& lines = x.programs.lines[1];
    REQUIRE(lines.size() == 5);
    CHECK(lines[0] == opening);
    CHECK(lines[1].find("notifications/initialized") != std::string::npos);
    CHECK(lines[2].find(R"("method":"logging/setLevel","params":{"level":"debug"})") != std::string::npos);
    CHECK(lines[3].find(R"("method":"resources/subscribe","params":{"uri":"a:b"})") != std::string::npos);
    CHECK(lines[4] == message("6", "tools/call"));
    CHECK(next(*listener) == R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
    CHECK(next(*listener).empty());
    x.programs.say(answer_text("6"), 1);
    CHECK(next(first) == answer_text("6"));
    CHECK(x.sessions->counts().recovered == 1);
    CHECK(x.sink.text.find(R"("event":"mcp_recovered","agent":"a")") != std::string::npos);
}

TEST_CASE("Many requests that find the program gone have one new program")
{
    rig x;
    const auto session = x.begin();
    x.programs.die();
    x.poll();
    x.programs.opens = false;
    const auto first = x.request(session, message("1", "tools/call"));
    const auto second = x.request(session, message("1", "tools/call"));
    const auto third = x.request(session, message("3", "tools/call"));
    x.tell(session, message("", "notifications/cancelled", R"({"requestId":3})"));
    CHECK(next(third) == "over");
    REQUIRE(x.programs.started.size() == 2);
    CHECK(x.programs.lines[1].size() == 1);
    x.programs.say(opened, 1);
    REQUIRE(x.programs.lines[1].size() == 3);
    x.programs.say(answer_text("1000000000"), 1);
    x.programs.say(answer_text("1"), 1);
    CHECK(next(first) == answer_text("1"));
    CHECK(next(second) == answer_text("1"));
}

TEST_CASE("64 requests wait for the next program, and no more")
{
    rig x;
    const auto session = x.begin();
    x.programs.die();
    x.programs.opens = false;
    std::vector<reader> held;
    for (int each = 0; each < 64; ++each) {
        held.push_back(x.request(session, message(std::to_string(each), "tools/call")));
        REQUIRE(held.back() != nullptr);
    }
    const auto refused = x.sessions->request(x.key(session), client_text{message("64", "tools/call")});
    CHECK(refused.error().code == errc::overloaded);
    CHECK(x.sessions->end(x.key(session)).has_value());
    CHECK(next(held.front()) == "session_not_found");
}

TEST_CASE("A request that the program did not take is repeated on the next one, once")
{
    rig x;
    const auto session = x.begin();
    x.programs.refuses = core::upstream_error(errc::upstream_reset, "gone");
    auto asked = x.sessions->request(x.key(session), client_text{message("1", "tools/call")});
    REQUIRE(asked.has_value());
    x.programs.refuses.reset();
    x.poll();
    REQUIRE(x.programs.lines.size() == 2);
    CHECK(x.programs.lines[0].size() == 1);
    CHECK(x.programs.lines[1].back() == message("1", "tools/call"));
    x.programs.die(1);
    CHECK(next(*asked) == "upstream_reset");
    x.poll();
    CHECK(x.programs.started.size() == 2);
}

TEST_CASE("A program that does not read refuses the request and keeps its session")
{
    rig x;
    const auto session = x.begin();
    x.programs.refuses = core::upstream_error(errc::overloaded);
    CHECK(
        x.sessions->request(x.key(session), client_text{message("1", "tools/call")}).error().code == errc::overloaded
    );
    CHECK(
        x.sessions->tell(x.key(session), client_text{message("", "notifications/x")}).error().code == errc::overloaded
    );
    x.programs.refuses.reset();
    CHECK(x.request(session, message("1", "tools/call")) != nullptr);
    CHECK(x.sessions->size() == 1);
}

TEST_CASE("Where callers are told of a loss, the session is over with its program")
{
    rig x;
    x.server.on_lost = core::mcp_loss::tell;
    const auto session = x.begin();
    const auto asked = x.request(session, message("1", "tools/call"));
    const auto listener = x.sessions->listen(x.key(session));
    x.programs.die();
    CHECK(next(asked) == "upstream_reset");
    CHECK(next(*listener) == "over");
    CHECK(x.request(session, message("2", "tools/call")) == nullptr);
    CHECK(x.ended(session_end::lost) == 1);
    CHECK(x.programs.started.size() == 1);
}

TEST_CASE("A session that does not begin is over, and its client hears why")
{
    rig x;
    x.programs.opens = false;
    auto begun = x.sessions->begin(x.new_entry(), "p", client_text{opening});
    REQUIRE(begun.has_value());
    SUBCASE("the program ends")
    {
        x.poll();
        x.programs.die();
        CHECK(next(begun->answer) == "session_crashed");
    }
    SUBCASE("the program does not start")
    {
        x.programs.broken = true;
        x.poll();
        CHECK(next(begun->answer) == "session_misconfigured");
    }
    SUBCASE("the program says no")
    {
        x.poll();
        const std::string no = R"({"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"no"}})";
        x.programs.say(no);
        CHECK(next(begun->answer) == no);
        CHECK(next(begun->answer) == "over");
        CHECK(x.ended(session_end::refused) == 1);
    }
    SUBCASE("the answer is malformed")
    {
        x.poll();
        x.programs.say(R"({"jsonrpc":"2.0","id":0,"result":{},"error":{"code":1,"message":""}})");
        CHECK(next(begun->answer) == "upstream_protocol");
    }
    SUBCASE("the program speaks an unknown version, and the client gets no answer with it")
    {
        x.poll();
        x.programs.say(answer_text("0", R"({"protocolVersion":"2031-01-01","capabilities":{}})"));
        CHECK(next(begun->answer) == "upstream_protocol");
        CHECK(x.ended(session_end::lost) == 1);
    }
    SUBCASE("the answer does not come in time")
    {
        x.poll();
        x.after(x.server.initialize_timeout - 1ms);
        CHECK(next(begun->answer).empty());
        x.after(1ms);
        CHECK(next(begun->answer) == "upstream_timeout");
    }
    CHECK(x.sessions->size() == 0);
    x.poll();
    CHECK(x.programs.alive.empty());
}

TEST_CASE("A next program that does not begin, or speaks another version, is the end of the session")
{
    rig x;
    const auto session = x.begin();
    x.programs.die();
    x.poll();
    x.programs.opens = false;
    std::string expected;
    const auto begin_again = [&] { return x.request(session, message("1", "tools/call")); };
    reader asked;
    SUBCASE("it ends")
    {
        asked = begin_again();
        x.programs.die(1);
        expected = "session_crashed";
    }
    SUBCASE("it refuses")
    {
        asked = begin_again();
        x.programs.say(R"({"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"no"}})", 1);
        expected = "upstream_protocol";
    }
    SUBCASE("it speaks another version")
    {
        asked = begin_again();
        x.programs.say(answer_text("0", R"({"protocolVersion":"2025-06-18","capabilities":{}})"), 1);
        expected = "upstream_protocol";
    }
    SUBCASE("it is silent")
    {
        asked = begin_again();
        x.after(x.server.initialize_timeout);
        expected = "upstream_timeout";
    }
    CHECK(next(asked) == expected);
    CHECK(x.sessions->size() == 0);
    CHECK(x.ended(session_end::lost) == 1);
    x.poll();
    CHECK(x.programs.alive.empty());
}

TEST_CASE("Whoever listens hears of the next program without asking, if the one before has lived for 10 s")
{
    rig x;
    const auto session = x.begin();
    const auto listener = x.sessions->listen(x.key(session));
    x.now += 9'999ms;
    x.programs.die();
    x.poll();
    CHECK(x.programs.started.size() == 1);
    x.request(session, message("1", "tools/call"));
    REQUIRE(x.programs.started.size() == 2);
    CHECK(next(*listener).find("list_changed") != std::string::npos);
    x.now += 10s;
    x.programs.die(1);
    x.poll();
    CHECK(x.programs.started.size() == 3);
    CHECK(next(*listener).find("list_changed") != std::string::npos);
}

TEST_CASE("A question of a program that is gone is not asked any more")
{
    rig x;
    const auto session = x.begin();
    x.programs.say(message("0", "roots/list"));
    x.programs.die();
    x.poll();
    const auto listener = x.sessions->listen(x.key(session));
    CHECK(next(*listener).empty());
    const auto asked = x.request(session, message("1", "tools/call"));
    x.tell(session, answer_text("0"));
    CHECK(x.programs.lines[1].size() == 2);
}

TEST_CASE("A session is subscribed to 1,000 resources and no more")
{
    rig x;
    const auto session = x.begin();
    const auto subscribe = [&](int uri) {
        const auto id = std::to_string(uri + 1);
        auto asked = x.sessions->request(
            x.key(session),
            client_text{message(id, "resources/subscribe", R"({"uri":"u:)" + id + R"("})")}
        );
        x.programs.say(answer_text(id));
        return asked ? std::string{} : std::string{core::name(asked.error().code)};
    };
    for (int each = 0; each < 1000; ++each) {
        REQUIRE(subscribe(each).empty());
    }
    CHECK(subscribe(1000) == "overloaded");
    CHECK(subscribe(999).empty());
}

TEST_CASE("A real program is killed and reaped with its session, whatever it does")
{
    rig x;
    run_shell(x, std::string{"trap '' TERM\n"} + shell_server + "\nsleep 100\n");
    x.server.warm = 1;
    auto begun = x.sessions->begin(x.new_entry(), "p", client_text{opening});
    REQUIRE(begun.has_value());
    auto text = received(x, begun->answer);
    CAPTURE(text);
    CHECK(text.find("2025-11-25") != std::string::npos);
    const auto asked = x.request(begun->handle, message("1", "pid"));
    text = received(x, asked);
    const auto process = std::string{mcp::members_of(text).find("result")};
    CHECK(is_there(process));
    CHECK(x.sessions->end(x.key(begun->handle)).has_value());
    CHECK(x.wait_until([&] { return !x.sessions->busy(); }));
    CHECK_FALSE(is_there(process));
    CHECK(x.sessions->warm("a") == 1);
}

TEST_CASE("A real program that is killed in a call is replaced for the next one")
{
    rig x;
    run_shell(x);
    auto begun = x.sessions->begin(x.new_entry(), "p", client_text{opening});
    REQUIRE(begun.has_value());
    auto text = received(x, begun->answer);
    const auto hanging = x.request(begun->handle, message("1", "hang"));
    const auto crashing = x.request(begun->handle, message("2", "crash"));
    REQUIRE(x.wait_until([&] { return hanging->over() && crashing->over(); }));
    CHECK(next(hanging) == "upstream_reset");
    CHECK(next(crashing) == "upstream_reset");
    const auto asked = x.request(begun->handle, message("3", "pid"));
    text = received(x, asked);
    CAPTURE(text);
    CHECK(text.find(R"("id":3,"result":)") != std::string::npos);
    CHECK(x.sessions->counts().recovered == 1);
    x.sessions->stop();
    CHECK(x.wait_until([&] { return !x.sessions->busy(); }));
}

TEST_CASE("A session that ends in its turn gets no other program if its own ends before that")
{
    using gateway::mcp::table::ending_sessions;
    constexpr auto count = ending_sessions::most_at_once + 1;
    rig x;
    x.principal.clear();
    x.server.max_sessions = count;
    std::vector<reader> heard;
    for (std::size_t i = 0; i < count; ++i) {
        const auto session = x.begin();
        auto listener = x.sessions->listen(x.key(session));
        REQUIRE(listener.has_value());
        heard.push_back(std::move(*listener));
    }
    x.now += 10s;
    x.sessions->set_agent("a", nullptr);
    CHECK(x.sessions->size() == 0);
    CHECK(x.ended(session_end::withdrawn) == ending_sessions::most_at_once);
    const auto last = std::ranges::find_if(heard, [](const auto& each) { return next(each).empty(); });
    REQUIRE(last != heard.end());
    x.programs.die(static_cast<std::size_t>(last - heard.begin()));
    CHECK(next(*last) == "over");
    x.poll();
    CHECK(x.ended(session_end::withdrawn) + x.ended(session_end::lost) == count);
    CHECK(x.programs.started.size() == count);
    CHECK(x.programs.alive.empty());
}
