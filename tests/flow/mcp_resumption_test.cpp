// Clients of the legacy era that lose their connection, and come back for what they have missed.
#include "tests/flow/mcp_program_fixture.hpp"
#include "tests/flow/mcp_shared_fixture.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("flow/mcp_resumption");

using namespace flow;
using namespace flow::mcp_programs;

namespace {

constexpr std::string_view stream_end = "\r\n0\r\n\r\n";

const std::string asks_for_roots = event_of(R"({"jsonrpc":"2.0","id":77,"method":"roots/list"})");

field_list behind(field_list session, const std::string& event)
{
    session.emplace_back("Last-Event-ID", event);
    return session;
}

// A client in whose session it happens.
class client {
public:
    explicit client(const program_gateway& of, std::string_view version = "2025-11-25")
        : of_{of},
          session_{of.begin()}
    {
        session_.back().second = version;
    }

    http_response post(std::string_view body) const { return of_.post(body, session_); }
    http_response resume(const std::string& event) const { return of_.send("GET", behind(session_, event)); }

    http_client open(std::string_view method, std::string_view body = {}) const
    {
        http_client caller{of_.port()};
        caller.send(program_gateway::text(method, session_, body));
        return caller;
    }

    // A stream that goes on.
    http_client reopen(const std::string& event) const
    {
        http_client caller{of_.port()};
        caller.send(program_gateway::text("GET", behind(session_, event)));
        return caller;
    }

    const field_list& session() const noexcept { return session_; }

private:
    const program_gateway& of_;
    field_list session_;
};

std::string first_id(http_client& stream)
{
    return ids_in(stream.read_until("data:\n\n")).at(0);
}

}  // namespace

TEST_CASE("A client that loses its connection during a call gets the answer on the stream that it resumes")
{
    const program_gateway x;
    const client me{x};
    auto lost = me.open("POST", call_of("wait"));
    const auto begun = first_id(lost);
    lost.close();
    auto back = me.reopen(begun);
    CHECK(back.read_head().header("Content-Type") == "text/event-stream");
    x.touch("go");
    const auto rest = back.read_until(event_of(done_of("1")) + std::string{stream_end});
    CHECK(ids_in(rest).size() == 2);
    CHECK(ids_in(rest)[0] == begun);
    CHECK(x.got("wait").find("cancelled") == std::string::npos);
}

TEST_CASE("What was sent comes again behind each event of a stream, and 204 behind the last one")
{
    const program_gateway x;
    const client me{x};
    const auto sent = me.post(call_of("talk")).body;
    const auto ids = ids_in(sent);
    REQUIRE(ids.size() == 3);
    CHECK(me.resume(ids[0]).body == sent);
    CHECK(me.resume(ids[0]).body == sent);
    const auto last = sent.substr(sent.find("id: " + ids[2]));
    CHECK(me.resume(ids[1]).body == "id: " + ids[1] + "\nretry: 5000\ndata:\n\n" + last);
    const auto over = me.resume(ids[2]);
    CHECK(over.status == 204);
    CHECK(over.body.empty());
}

TEST_CASE("An event that is none of the session's streams is 400, and the session goes on")
{
    const program_gateway x;
    const client me{x};
    const client other{x};
    const auto ids = ids_in(other.post(call_of("talk")).body);
    REQUIRE(ids.size() == 3);
    const auto stream = ids[0].substr(0, ids[0].find('-'));
    for (const auto& wrong : {ids[0], ids[2], std::string{"x"}, std::string{}, stream}) {
        CAPTURE(wrong);
        check_error(me.resume(wrong), 400, -31400, "events_gone");
    }
    check_error(other.resume(stream + "-3"), 400, -31400, "events_gone");
    CHECK(me.post(call_of("one")).status == 200);
    CHECK(x.send("DELETE", other.session()).status == 200);
    check_error(other.resume(ids[0]), 404, -32001, "session_not_found");
}

TEST_CASE("What a program says unasked comes once, whether the client was there, away, or did not get it")
{
    const program_gateway x;
    const client me{x};
    const auto changed = event_of(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
    auto listener = me.open("GET");
    const auto begun = first_id(listener);
    CHECK(me.post(call_of("tell")).status == 200);
    const auto told = ids_in(listener.read_until(changed));
    REQUIRE(told.size() == 1);
    listener.close();
    CHECK(me.post(call_of("tell", "2")).status == 200);
    auto back = me.reopen(told[0]);
    const auto second = ids_in(back.read_until(changed));
    REQUIRE(second.size() == 2);
    CHECK(second[0] == told[0]);
    back.close();
    // The client has got neither.
    auto again = me.reopen(begun);
    const auto both = ids_in(again.read_until(changed) + again.read_until(changed));
    CHECK(both == std::vector{begun, told[0], second[1]});
    CHECK(me.post(call_of("tell", "3")).status == 200);
    again.read_until(changed);
    CHECK(x.send("DELETE", me.session()).status == 200);
    again.read_until(stream_end);
}

TEST_CASE("A stream that is resumed twice is read by the second client only, and one still read goes to who resumes it")
{
    const program_gateway x{[](config::settings& settings) { settings.workers = 2; }};
    const client me{x};
    auto first = me.open("POST", call_of("wait"));
    const auto begun = first_id(first);
    auto second = me.reopen(begun);
    second.read_head();
    first.read_until(stream_end);
    auto third = me.reopen(begun);
    third.read_head();
    second.read_until(stream_end);
    x.touch("go");
    third.read_until(event_of(done_of("1")) + std::string{stream_end});
}

TEST_CASE("A question that did not arrive is asked again on the stream that is resumed, and answered there")
{
    const program_gateway x;
    const client me{x};
    auto lost = me.open("POST", call_of("ask"));
    const auto begun = first_id(lost);
    lost.read_until(asks_for_roots);
    lost.close();
    auto back = me.reopen(begun);
    back.read_until(asks_for_roots);
    CHECK(me.post(R"({"jsonrpc":"2.0","id":77,"result":{"roots":[]}})").status == 202);
    CHECK(back.read_until(stream_end).find(R"("text":"asked")") != std::string::npos);
}

TEST_CASE("A call that failed while its client was away fails on the stream that is resumed")
{
    const program_gateway x;
    const client me{x};
    auto lost = me.open("POST", call_of("hang", "5"));
    const auto begun = first_id(lost);
    lost.close();
    CHECK(me.post(call_of("crash", "6")).header("Cardea-Error") == "upstream_reset");
    const auto back = me.resume(begun);
    CHECK(ids_in(back.body).size() == 2);
    CHECK(back.body.find(R"({"jsonrpc":"2.0","id":5,"error":)") != std::string::npos);
    CHECK(back.body.find(R"("code":"upstream_reset")") != std::string::npos);
}

TEST_CASE("Events have ids from 2025-03-26 on, and the event that begins a stream from 2025-11-25 on")
{
    const program_gateway x;
    for (const std::string_view version : {"2025-03-26", "2025-06-18"}) {
        CAPTURE(version);
        const client me{x, version};
        const auto sent = me.post(call_of("talk")).body;
        const auto ids = ids_in(sent);
        REQUIRE(ids.size() == 2);
        CHECK(sent.starts_with("id: " + ids[0] + "\nevent: message\n"));
        CHECK(me.resume(ids[0]).body == sent.substr(sent.find("id: " + ids[1])));
    }
    auto oldest = initialize_body;
    oldest.replace(oldest.find("2025-11-25"), 10, "2024-11-05");
    const auto id = x.post(oldest).header("Mcp-Session-Id");
    CHECK(x.post(call_of("talk"), {{"Mcp-Session-Id", id}}).body.starts_with("event: message\n"));
}

TEST_CASE("Events beyond the limits are gone, which the client is told")
{
    const program_gateway one{[](config::settings& settings) { settings.mcp.replay_events = 1; }};
    const client me{one};
    const auto ids = ids_in(me.post(call_of("talk")).body);
    REQUIRE(ids.size() == 3);
    check_error(me.resume(ids[0]), 400, -31400, "events_gone");
    CHECK(me.resume(ids[1]).body.find(event_of(done_of("1"))) != std::string::npos);

    const program_gateway none{[](config::settings& settings) { settings.mcp.replay_memory = 0; }};
    const client nobody{none};
    CHECK(nobody.post(call_of("talk")).body.starts_with("retry: 5000\ndata:\n\nevent: message\n"));
    check_error(nobody.resume(ids[1]), 400, -31400, "events_gone");
}

TEST_CASE("With hidden tools a call can be resumed, and a stream with an edited list cannot")
{
    const program_gateway x{[](config::settings& settings) {
        auto& server = *settings.agents[0].mcp;
        server.tools.deny = {"secret"};
        std::string script = shell_server;
        const std::string before = "*'\"tools/list\"'*)";
        script.insert(
            script.find(before) + before.size(),
            R"( echo '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}'; )"
        );
        server.arguments = {"-c", script};
    }};
    const client me{x};
    const auto called = me.post(call_of("talk")).body;
    CHECK(me.resume(ids_in(called).at(0)).body == called);
    const auto listed = me.post(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})").body;
    CAPTURE(listed);
    CHECK(listed.find("notifications/message") != std::string::npos);
    CHECK(listed.find("secret") == std::string::npos);
    CHECK(ids_in(listed).empty());
}

TEST_CASE("Streams of a session that is shared can be resumed, each by its own client")
{
    const mcp_shared::shared_gateway x;
    const client me{x, "2025-06-18"};
    const client other{x, "2025-06-18"};
    const auto sent = me.post(mcp_shared::marked_call("report", "mine")).body;
    const auto ids = ids_in(sent);
    REQUIRE(ids.size() == 2);
    CHECK(me.resume(ids[0]).body == sent.substr(sent.find("id: " + ids[1])));
    check_error(other.resume(ids[0]), 400, -31400, "events_gone");
}

TEST_SUITE_END();
