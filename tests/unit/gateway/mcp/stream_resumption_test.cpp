// Streams of sessions that clients of the legacy era resume, as the workers reach them.
#include "tests/unit/gateway/mcp/translated_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

TEST_SUITE_BEGIN("gateway/mcp/stream_resumption");

using namespace mcp_path_test;
using gateway::model::resumption;

namespace {

// What a batch brings: the numbers of its events with their texts, then texts without a number; behind them "over", or the
// failure's name.
std::string shown(const std::optional<program_batch>& batch)
{
    if (!batch) {
        return "nothing";
    }
    std::string text;
    for (const auto& each : batch->events) {
        text += each.id.substr(each.id.find('-') + 1) + ":" + *each.text + " ";
    }
    for (const auto& each : batch->texts) {
        text += each + " ";
    }
    if (batch->failure) {
        return text + std::string{core::name(batch->failure->code)};
    }
    return text + (batch->over ? "over" : "");
}

// A client that knows how to resume, in a session with a program.
class resumption_rig : public translated_rig {
public:
    explicit resumption_rig(core::mcp_era era = core::mcp_era::legacy)
    {
        server.era = era;
        publish();
    }

    void begin()
    {
        const auto reader = open(asked(program_act::begin, "", opening));
        const auto batch = reader->take();
        REQUIRE(batch.has_value());
        session = batch->handle;
        reader->next();
        poll();
    }

    std::unique_ptr<program_reader> ask(program_act act, const std::string& text = {})
    {
        auto what = asked(act, session, text);
        what.resumes = resumption::at_once;
        return open(std::move(what));
    }

    std::unique_ptr<program_reader> call(const std::string& id = "1")
    {
        return ask(program_act::request, message(id, "tools/call"));
    }

    std::unique_ptr<program_reader> resume(const std::string& place, const std::string& handle = {})
    {
        auto what = asked(program_act::resume, handle.empty() ? session : handle);
        what.last = mcp::event_position::read(place);
        return open(std::move(what));
    }

    // The place where the stream of this call begins, which its caller has written.
    std::string begin_stream(program_reader& of)
    {
        of.stream();
        poll();
        const auto batch = of.take();
        REQUIRE(batch.has_value());
        CHECK(shown(batch).empty());
        took(of);
        return batch->place;
    }

    std::string next(program_reader& from)
    {
        const auto text = shown(from.take());
        took(from);
        return text;
    }

    void took(program_reader& of)
    {
        of.next();
        poll();
    }

    void leave(std::unique_ptr<program_reader>& caller)
    {
        caller.reset();
        poll();
    }

    bool has_refused(const std::string& id) const
    {
        return std::ranges::any_of(programs.lines[0], [&](const std::string& line) {
            return line.find("-32601") != std::string::npos && line.find("\"id\":" + id) != std::string::npos;
        });
    }

    std::string session;
    const std::string note = message("", "notifications/message");
    const std::string question = message("5", "elicitation/create");
    const std::string answer = answer_text("1");
};

std::string place_behind(const std::string& place, int number)
{
    return place.substr(0, place.find('-') + 1) + std::to_string(number);
}

}  // namespace

TEST_CASE("An answer that comes first has no id, and what comes before one makes a stream of ids")
{
    resumption_rig x;
    x.begin();
    const auto whole = x.call();
    x.say(x.answer);
    const auto batch = whole->take();
    CHECK(shown(batch) == x.answer + " over");
    CHECK(batch->place.empty());
    const auto stream = x.call("2");
    x.say(x.note);
    const auto first = stream->take();
    CHECK(shown(first) == "1:" + x.note + " ");
    CHECK(first->place.ends_with("-0"));
    x.took(*stream);
    x.say(answer_text("2"));
    const auto rest = "2:" + answer_text("2") + " over";
    CHECK(x.next(*stream) == rest);
    CHECK(x.next(*x.resume(first->place)) == "1:" + x.note + " " + rest);
    CHECK(x.next(*x.resume(place_behind(first->place, 1))) == rest);
    CHECK(x.next(*x.resume(place_behind(first->place, 2))) == "over");
    CHECK(x.next(*x.resume(place_behind(first->place, 3))) == "events_gone");
}

TEST_CASE("A caller that does not resume gets no ids, and none is kept for it")
{
    resumption_rig x;
    x.begin();
    const auto reader = x.open(x.asked(program_act::request, x.session, message("1", "tools/call")));
    x.say(x.note);
    const auto batch = reader->take();
    CHECK(shown(batch) == x.note + " ");
    CHECK(batch->place.empty());
}

TEST_CASE("A stream that begins in silence has a place at once, unless its answer is on its way")
{
    resumption_rig x;
    x.begin();
    const auto silent = x.call();
    CHECK(x.begin_stream(*silent).ends_with("-0"));
    x.say(x.answer);
    CHECK(x.next(*silent) == "1:" + x.answer + " over");
    const auto crossed = x.call("2");
    x.say(answer_text("2"));
    crossed->stream();
    x.poll();
    CHECK(shown(crossed->take()) == answer_text("2") + " over");
    CHECK_FALSE(crossed->take().has_value());
}

TEST_CASE("A call whose client has left goes on, and its client gets the rest once it is back")
{
    resumption_rig x;
    x.begin();
    auto lost = x.call();
    const auto begun = x.begin_stream(*lost);
    x.leave(lost);
    x.say(x.note);
    SUBCASE("after the answer")
    {
        x.say(x.answer);
        CHECK(x.next(*x.resume(begun)) == "1:" + x.note + " 2:" + x.answer + " over");
    }
    SUBCASE("before it")
    {
        const auto back = x.resume(begun);
        CHECK(x.next(*back) == "1:" + x.note + " ");
        x.say(x.answer);
        CHECK(x.next(*back) == "2:" + x.answer + " over");
    }
    SUBCASE("after the program has ended")
    {
        x.programs.die();
        x.poll();
        const auto told = x.next(*x.resume(begun));
        CHECK(told.find(R"( 2:{"jsonrpc":"2.0","id":1,"error":)") != std::string::npos);
        CHECK(told.find(R"("code":"upstream_reset")") != std::string::npos);
        CHECK(told.ends_with(" over"));
    }
    SUBCASE("after its session has ended")
    {
        CHECK(x.next(*x.open(x.asked(program_act::end, x.session))) == "over");
        CHECK(x.next(*x.resume(begun)) == "session_not_found");
    }
    SUBCASE("and nobody else does")
    {
        const auto mine = x.session;
        x.begin();
        CHECK(x.next(*x.resume(begun)) == "events_gone");
        auto of_another = x.asked(program_act::resume, mine);
        of_another.principal = "q";
        CHECK(x.next(*x.open(std::move(of_another))) == "session_not_found");
    }
}

TEST_CASE("A call whose client has left before its stream began is nobody's, as for clients that do not resume")
{
    resumption_rig x;
    x.begin();
    auto lost = x.call();
    x.leave(lost);
    x.say(x.question);
    // It waits for a listener, not in the stream.
    CHECK_FALSE(x.has_refused("5"));
    const auto listener = x.ask(program_act::listen);
    CHECK(x.next(*listener).empty());
    CHECK(x.next(*listener) == "1:" + x.question + " ");
}

TEST_CASE("A stream that is resumed while it is read goes to the second reader, and the first one's ends")
{
    resumption_rig x;
    x.begin();
    const auto first = x.call();
    const auto begun = x.begin_stream(*first);
    x.say(x.note);
    const auto second = x.resume(begun);
    CHECK(x.next(*second) == "1:" + x.note + " ");
    CHECK(shown(first->take()) == "over");
    const auto third = x.resume(place_behind(begun, 1));
    CHECK(x.next(*third).empty());
    CHECK(shown(second->take()) == "over");
    x.say(x.answer);
    CHECK(x.next(*third) == "2:" + x.answer + " over");
    CHECK(shown(first->take()) == "nothing");
}

TEST_CASE("A question waits 15 s for a client that is away, and then goes elsewhere until it is back")
{
    resumption_rig x;
    x.begin();
    auto lost = x.call();
    const auto begun = x.begin_stream(*lost);
    x.leave(lost);
    x.say(x.question);
    x.pass(gateway::mcp::table::resumable_streams::patience - 1ms);
    CHECK_FALSE(x.has_refused("5"));
    SUBCASE("it comes in time")
    {
        const auto back = x.resume(begun);
        CHECK(x.next(*back) == "1:" + x.question + " ");
        CHECK(x.next(*x.ask(program_act::tell, answer_text("5"))) == "over");
        CHECK(x.programs.lines[0].back() == answer_text("5"));
    }
    SUBCASE("it is late")
    {
        x.pass(1ms);
        CHECK(x.has_refused("5"));
        const auto listener = x.ask(program_act::listen);
        CHECK(x.next(*listener).empty());
        x.say(message("6", "elicitation/create"));
        CHECK(x.next(*listener).find(R"("id":6)") != std::string::npos);
        const auto back = x.resume(begun);
        x.next(*back);
        x.say(message("7", "elicitation/create"));
        CHECK(x.next(*back).find(R"("id":7)") != std::string::npos);
    }
}

TEST_CASE("A listener that comes back gets what it has missed, and each question once")
{
    resumption_rig x;
    x.begin();
    auto lost = x.ask(program_act::listen);
    const auto batch = lost->take();
    REQUIRE(batch.has_value());
    const auto begun = batch->place;
    CHECK(begun.ends_with("-0"));
    x.took(*lost);
    const auto changed = message("", "notifications/tools/list_changed");
    x.say(changed);
    CHECK(x.next(*lost) == "1:" + changed + " ");
    x.say(x.question);
    CHECK(shown(lost->take()) == "2:" + x.question + " ");
    SUBCASE("it has left")
    {
        x.leave(lost);
    }
    SUBCASE("nobody has noticed that it left") {}
    x.say(changed);
    const auto back = x.resume(begun);
    std::string all;
    for (auto more = x.next(*back); more != "nothing"; more = x.next(*back)) {
        all += more;
    }
    CHECK(all.starts_with("1:" + changed + " "));
    CHECK(all.find(x.question) != std::string::npos);
    CHECK(all.find(x.question) == all.rfind(x.question));
    CHECK(all.find(changed, changed.size()) != std::string::npos);
    if (lost != nullptr) {
        CHECK(shown(lost->take()) == "over");
    }
    x.pass(1h);
    CHECK_FALSE(x.has_refused("5"));
}

TEST_CASE("A second listener has the same stream, and goes on with its numbers")
{
    resumption_rig x;
    x.begin();
    const auto first = x.ask(program_act::listen);
    x.took(*first);
    x.say(x.note);
    CHECK(x.next(*first) == "1:" + x.note + " ");
    const auto second = x.ask(program_act::listen);
    const auto batch = second->take();
    REQUIRE(batch.has_value());
    CHECK(batch->place.ends_with("-1"));
    CHECK(x.next(*first) == "over");
    x.took(*second);
    x.say(x.note);
    CHECK(x.next(*second) == "2:" + x.note + " ");
}

TEST_CASE("A translated call whose client does not come back for a question fails, which it hears of")
{
    resumption_rig x{core::mcp_era::modern};
    x.session = x.begin_session();
    auto lost = x.ask(program_act::request, message("7", "tools/call", R"({"name":"t"})"));
    const auto begun = x.begin_stream(*lost);
    x.leave(lost);
    x.say(answer_text(
        x.id_of_line(),
        R"({"resultType":"input_required","inputRequests":{"k":{"method":"roots/list"}},"requestState":"s"})"
    ));
    x.poll();
    SUBCASE("it comes in time")
    {
        x.pass(gateway::mcp::table::resumable_streams::patience - 1ms);
        CHECK(x.next(*x.resume(begun)) == R"(1:{"jsonrpc":"2.0","id":1,"method":"roots/list"} )");
    }
    SUBCASE("it is late")
    {
        x.pass(gateway::mcp::table::resumable_streams::patience);
        const auto told = x.next(*x.resume(begun));
        CHECK(told.find(R"({"jsonrpc":"2.0","id":7,"error":)") != std::string::npos);
        CHECK(told.find(R"("code":"upstream_timeout")") != std::string::npos);
        CHECK(told.ends_with(" over"));
    }
}

TEST_SUITE_END();
