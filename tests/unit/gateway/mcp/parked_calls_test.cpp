#include "mcp/protocol/raw_json.hpp"
#include "tests/unit/gateway/mcp/modern_client_rig.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/mcp/parked_calls");

using namespace mcp_path_test;

namespace {

const std::string arguments = R"("name":"t","arguments":{})";

std::string state_of(const std::string& answer)
{
    const auto read = mcp::members_of(answer);
    return std::string{mcp::members_of(read.object("result")).find("requestState")};
}

std::string requests_of(const std::string& answer)
{
    const auto read = mcp::members_of(answer);
    return std::string{mcp::members_of(read.object("result")).find("inputRequests")};
}

// The client comes back with the state of an answer.
std::string
next_round(const std::string& id, const std::string& answer, const std::string& responses, const std::string& meta = "")
{
    return modern(
        id,
        "tools/call",
        arguments + R"(,"requestState":)" + state_of(answer) + R"(,"inputResponses":)" + responses,
        meta
    );
}

class parked_rig : public modern_client_rig {
public:
    // A call that the server asks these during, and the answer that asks the client.
    std::string park(const std::vector<std::string>& questions, const std::string& id = "1")
    {
        reading = call(mcp_path_test::modern(id, "tools/call", arguments));
        for (const auto& each : questions) {
            programs.say(each, programs.started.size() - 1);
        }
        poll();
        const auto answer = later(reading);
        CHECK(next(reading) == "over");
        return answer;
    }

    reader reading;
};

}  // namespace

TEST_CASE("What the server asks goes to the client in an answer, and what the client comes back with to the server")
{
    parked_rig x;
    const auto asked = x.park({
        message("0", "elicitation/create", R"({"message":"Sure?","n":1.0})"),
        R"({"jsonrpc":"2.0","id":"r","method":"roots/list"})",
    });
    CHECK(asked.starts_with(R"({"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required",)"));
    CHECK(
        requests_of(asked) ==
        R"({"input-1":{"method":"elicitation/create","params":{"message":"Sure?","n":1.0}},"input-2":{"method":"roots/list"}})"
    );
    CHECK(x.calls.parked() == 1);
    x.reading.reset();
    CHECK(x.sessions->size() == 1);
    const auto answer = x.call(
        next_round(R"("new")", asked, R"({"input-1":{"action":"accept","content":{"n":2.0}},"input-2":{"roots":[]}})")
    );
    CHECK(x.calls.parked() == 0);
    const auto count = x.lines().size();
    CHECK(x.lines()[count - 2] == answer_text("0", R"({"action":"accept","content":{"n":2.0}})"));
    CHECK(x.lines()[count - 1] == answer_text(R"("r")", R"({"roots":[]})"));
    x.programs.say(answer_text("1", R"({"id":1})"));
    x.poll();
    CHECK(next(answer) == answer_text(R"("new")", R"({"id":1})"));
    CHECK(next(answer) == "over");
    CHECK(x.sessions->size() == 0);
}

TEST_CASE("A question that the client has not answered is asked again, and so is what the server asks next")
{
    parked_rig x;
    const auto asked = x.park({message("0", "roots/list"), message("1", "elicitation/create")});
    auto answer = x.call(next_round("2", asked, R"({"input-2":{"action":"cancel"},"input-1":null,"input-9":{}})"));
    CHECK(x.lines().back() == answer_text("1", R"({"action":"cancel"})"));
    x.programs.say(message("2", "elicitation/create"));
    const auto again = x.later(answer);
    CHECK(
        requests_of(again) ==
        R"({"input-1":{"method":"roots/list","params":{}},"input-3":{"method":"elicitation/create","params":{}}})"
    );
    answer = x.call(next_round("3", again, R"({"input-1":{"roots":[]},"input-3":{"action":"accept"}})"));
    x.programs.say(answer_text("1"));
    x.poll();
    CHECK(next(answer) == answer_text("3"));
}

TEST_CASE("State that is used, forged, late or of another call, principal or agent is input_expired")
{
    parked_rig x;
    const auto asked = x.park({message("0", "roots/list")});
    const auto good = next_round("2", asked, "{}");
    auto of_another_principal = x.asked(good, "d");
    of_another_principal.principal = "q";
    CHECK(x.call(std::move(of_another_principal)) == nullptr);
    auto of_another_agent = x.asked(good, "d");
    of_another_agent.agent = "b";
    CHECK(x.call(std::move(of_another_agent)) == nullptr);
    CHECK(x.call(good, "other") == nullptr);
    CHECK(x.call(modern("2", "tools/call", arguments + R"(,"requestState":"x")")) == nullptr);
    CHECK(x.call(modern("2", "tools/call", arguments + R"(,"requestState":1)")) == nullptr);
    CHECK(x.call(modern("2", "tools/call", arguments + R"(,"inputResponses":{})")) == nullptr);
    CHECK(x.calls.parked() == 1);
    CHECK(x.call(good) != nullptr);
    CHECK(x.call(good) == nullptr);
    CHECK(x.troubles == std::vector(7, errc::input_expired));
    CHECK(x.programs.started.size() == 1);
}

TEST_CASE("A call that nobody comes back to within 5 min ends")
{
    parked_rig x;
    const auto asked = x.park({message("0", "roots/list")});
    x.now += 299'999ms;
    x.calls.sweep(x.now);
    CHECK(x.calls.parked() == 1);
    x.now += 1ms;
    x.calls.sweep(x.now);
    CHECK(x.calls.parked() == 0);
    CHECK(x.sessions->size() == 0);
    CHECK(x.call(next_round("2", asked, "{}")) == nullptr);
    CHECK(x.sink.text.find("mcp_input_expired") != std::string::npos);
}

TEST_CASE("What happens to a call while it is parked is told to the client that comes back")
{
    parked_rig x;
    const auto asked = x.park({message("0", "roots/list")});
    SUBCASE("it was answered all the same")
    {
        x.programs.say(answer_text("1", R"({"late":true})"));
        x.poll();
        CHECK(next(x.call(next_round("2", asked, R"({"input-1":{}})"))) == answer_text("2", R"({"late":true})"));
    }
    SUBCASE("its program has died")
    {
        x.programs.die();
        x.poll();
        CHECK(next(x.call(next_round("2", asked, R"({"input-1":{}})"))) == "upstream_reset");
    }
    CHECK(x.sessions->size() == 0);
}

TEST_CASE("Progress has the token of the request that the call was taken up with")
{
    parked_rig x;
    const auto token = [](const std::string& value) { return declares + R"("progressToken":)" + value + ","; };
    const auto said = [](const std::string& value) {
        return message("", "notifications/progress", R"({"progress":1.0,"progressToken":)" + value + "}");
    };
    x.reading = x.call(modern("1", "tools/call", arguments, token("5")));
    x.programs.say(said("5"));
    x.poll();
    CHECK(next(x.reading) == said("5"));
    x.programs.say(message("0", "roots/list"));
    auto asked = x.later(x.reading);
    x.reading = x.call(next_round("2", asked, "{}", token(R"("new")")));
    x.programs.say(said("5"));
    x.poll();
    CHECK(next(x.reading) == said(R"("new")"));
    asked = x.later(x.reading);
    x.reading = x.call(next_round("3", asked, R"({"input-1":{}})"));
    x.programs.say(said("5"));
    x.programs.say(answer_text("1"));
    x.poll();
    CHECK(next(x.reading) == answer_text("3"));
}

TEST_CASE("A question of a kind that is not asked of clients is answered at once")
{
    parked_rig x;
    const auto answer = x.call(modern("1", "tools/call", arguments));
    x.programs.say(message("0", "ping"));
    x.poll();
    CHECK(x.lines().back() == answer_text("0"));
    x.programs.say(message("1", "sampling/createMessage"));
    x.poll();
    CHECK(x.lines().back().find(R"("id":1,"error":{"code":-32601)") != std::string::npos);
    x.programs.say(message("2", "other/ask"));
    x.poll();
    CHECK(x.lines().back().find(R"("id":2,"error":{"code":-32601)") != std::string::npos);
    CHECK(next(answer).empty());
}

TEST_CASE("A server is answered its ping while a call is parked, and what else it says is kept for the client")
{
    parked_rig x;
    const auto asked = x.park({message("0", "roots/list")});
    x.programs.say(message("5", "ping"));
    x.programs.say(message("6", "other/ask"));
    x.programs.say(message("7", "elicitation/create"));
    x.poll();
    const auto count = x.lines().size();
    CHECK(x.lines()[count - 2] == answer_text("5"));
    CHECK(x.lines()[count - 1].find(R"("id":6,"error":{"code":-32601)") != std::string::npos);
    const auto again = x.call(next_round("2", asked, R"({"input-1":{}})"));
    CHECK(requests_of(x.later(again)).find("elicitation/create") != std::string::npos);
}

TEST_CASE("A client is not asked in a mode that it has not declared, nor for sampling with tools")
{
    parked_rig x;
    const auto answer = x.call(modern(
        "1",
        "tools/call",
        arguments,
        R"("io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}},"sampling":{}},)"
    ));
    x.programs.say(message("0", "elicitation/create", R"({"mode":"url","url":"https://a"})"));
    x.poll();
    CHECK(x.lines().back().find(R"("id":0,"error":{"code":-32601)") != std::string::npos);
    x.programs.say(message("1", "sampling/createMessage", R"({"messages":[],"tools":[]})"));
    x.programs.say(message("2", "elicitation/create", R"({"message":"Sure?"})"));
    x.programs.say(message("3", "sampling/createMessage", R"({"messages":[]})"));
    const auto asked = requests_of(x.later(answer));
    CHECK(x.lines().back().find(R"("id":1,"error":{"code":-32601)") != std::string::npos);
    CHECK(asked.find(R"("Sure?")") != std::string::npos);
    CHECK(asked.find("sampling/createMessage") != std::string::npos);
    CHECK(asked.find(R"("tools")") == std::string::npos);
}

TEST_CASE("An answer that the program does not take ends its call, which would wait for it")
{
    parked_rig x;
    const auto asked = x.park({message("0", "roots/list")});
    x.programs.refuses = core::gateway_error(errc::overloaded, "it does not read");
    CHECK(next(x.call(next_round("2", asked, R"({"input-1":{"roots":[]}})"))) == "overloaded");
    CHECK(x.sessions->size() == 0);
    CHECK(x.calls.parked() == 0);
}

TEST_CASE("A question that the server takes back is not asked, and one that the answer overtakes neither")
{
    parked_rig x;
    const auto answer = x.call(modern("1", "tools/call", arguments));
    x.programs.say(message("0", "roots/list"));
    x.programs.say(message("", "notifications/cancelled", R"({"requestId":0})"));
    x.programs.say(message("1", "elicitation/create"));
    const auto asked = x.later(answer);
    CHECK(requests_of(asked) == R"({"input-2":{"method":"elicitation/create","params":{}}})");
    const auto other = x.call(modern("1", "tools/call", arguments));
    x.programs.say(message("0", "roots/list"), 1);
    x.programs.say(answer_text("1"), 1);
    x.poll();
    CHECK(next(other) == answer_text("1"));
}

TEST_CASE("A round has at most 16 requests, a call 16 rounds, and what is beyond those is refused")
{
    parked_rig x;
    std::vector<std::string> questions;
    for (int i = 0; i < 17; ++i) {
        questions.push_back(message(std::to_string(i), "roots/list"));
    }
    auto asked = x.park(questions);
    CHECK(requests_of(asked).find("input-16") != std::string::npos);
    CHECK(requests_of(asked).find("input-17") == std::string::npos);
    for (int round = 2; round <= 16; ++round) {
        x.reading = x.call(next_round("2", asked, "{}"));
        asked = x.later(x.reading);
    }
    const auto count = x.lines().size();
    x.reading = x.call(next_round("2", asked, "{}"));
    CHECK(x.wait_until([&] { return x.lines().size() == count + 17; }));
    CHECK(x.lines().back().find("-32601") != std::string::npos);
    x.programs.say(message("99", "roots/list"));
    x.poll();
    CHECK(x.lines().size() == count + 18);
    x.programs.say(answer_text("1"));
    x.poll();
    CHECK(next(x.reading) == answer_text("2"));
}

TEST_CASE("Of one agent 100 calls are parked, and the next one's question is refused")
{
    parked_rig x;
    x.server.max_sessions = 200;
    std::vector<std::string> asked;
    for (std::size_t i = 0; i < modern_client_calls::most_parked_of_agent; ++i) {
        asked.push_back(x.park({message("0", "roots/list")}));
    }
    CHECK(x.calls.parked() == 100);
    const auto answer = x.call(modern("1", "tools/call", arguments));
    const auto last = x.programs.started.size() - 1;
    x.programs.say(message("0", "roots/list"), last);
    CHECK(x.wait_until([&] { return x.lines(last).back().find("-32601") != std::string::npos; }));
    x.programs.say(answer_text("1"), last);
    x.poll();
    CHECK(next(answer) == answer_text("1"));
    CHECK(x.call(next_round("2", asked[0], R"({"input-1":{}})")) != nullptr);
}

TEST_CASE("Of all agents 1,000 calls are parked, and the next one's question is refused")
{
    parked_rig x;
    x.server.max_sessions = 200;
    std::vector<reader> asking;
    const auto call_to = [&x, &asking](std::size_t agent) {
        auto what = parked_rig::asked(modern("1", "tools/call", arguments), "d");
        what.agent = "a" + std::to_string(agent);
        const auto entry = x.new_entry();
        entry->record.id = what.agent;
        auto begun = x.calls.request(entry, what);
        REQUIRE(begun.has_value());
        asking.push_back(std::move(*begun));
        x.poll();
        x.programs.say(message("0", "roots/list"), x.programs.started.size() - 1);
    };
    for (std::size_t i = 0; i < modern_client_calls::most_parked - 1; ++i) {
        call_to(i / modern_client_calls::most_parked_of_agent);
    }
    CHECK(x.wait_until([&x] { return x.calls.parked() == modern_client_calls::most_parked - 1; }));
    call_to(9);
    CHECK(x.wait_until([&x] { return x.calls.parked() == modern_client_calls::most_parked; }));
    call_to(10);
    const auto last = x.programs.started.size() - 1;
    CHECK(x.wait_until([&] { return x.lines(last).back().find("-32601") != std::string::npos; }));
    CHECK(x.calls.parked() == modern_client_calls::most_parked);
    x.programs.say(answer_text("1"), last);
    x.poll();
    CHECK(next(asking.back()) == answer_text("1"));
}

TEST_SUITE_END();
