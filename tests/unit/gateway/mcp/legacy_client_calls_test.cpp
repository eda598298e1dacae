#include "gateway/mcp/eras/legacy_client_calls.hpp"

#include "tests/unit/gateway/mcp/translated_rig.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("gateway/mcp/eras/legacy_client_calls");

using namespace mcp_path_test;
using gateway::mcp::eras::legacy_client_calls;

namespace {

constexpr std::string_view form = R"({"message":"sure?","requestedSchema":{"n":1.50}})";

// A call of a client that answers forms and lists its roots.
class input_rig : public translated_rig {
public:
    input_rig() { call(); }

    void call() { reader = open(asked(program_act::request, session, message("7", "tools/call", R"({"name":"t"})"))); }

    void need(const std::string& requests, const std::string& state = R"("s\u0031")")
    {
        say(answer_text(
            id_of_line(),
            R"({"resultType":"input_required","inputRequests":)" + requests +
                (state.empty() ? "" : R"(,"requestState":)" + state) + "}"
        ));
    }

    void tell(const std::string& text) { CHECK(all(asked(program_act::tell, session, text)) == "over"); }

    std::string session = begin_session();
    std::unique_ptr<program_reader> reader;
};

// Calls of one session, without the session, on a server that takes everything.
class kept_rig {
public:
    static std::string call(std::size_t bytes)
    {
        const auto text = message("7", "tools/call", R"({"name":""})");
        return message("7", "tools/call", R"({"name":")" + std::string(bytes - text.size(), 'x') + "\"}");
    }

    static legacy_client_calls::services services(kept_rig& x, std::size_t max_message)
    {
        return {
            .clock = [] { return core::steady_time{}; },
            .ask =
                [&x](const mcp::client_message& /*request*/) {
                    x.asked.push_back(std::make_shared<text_queue>(x.loop.get_executor()));
                    return core::result<reader>{x.asked.back()};
                },
            .max_message = max_message,
            .kept = &x.budget
        };
    }

    reader begin(legacy_client_calls& calls, std::size_t bytes)
    {
        auto made = std::make_shared<text_queue>(loop.get_executor());
        CHECK(calls.begin(client_text{call(bytes)}, made).has_value());
        return made;
    }

    // The server of the latest call wants to know something of these names.
    void need(const std::vector<std::string>& keys)
    {
        std::string requests;
        for (const auto& each : keys) {
            requests += (requests.empty() ? "\"" : ",\"") + each + R"(":{"method":"roots/list"})";
        }
        asked.back()->push(
            answer_text("7", R"({"resultType":"input_required","inputRequests":{)" + requests + "}}"),
            gateway::mcp::table::text_kind::answer
        );
        asked.back()->close();
        poll();
    }

    void poll()
    {
        loop.io().restart();
        loop.io().poll();
    }

    net::loop loop;
    net::shared_budget budget{10'000};
    mcp::client_terms terms{.capabilities = R"({"roots":{}})", .info = {}, .level = {}};
    std::vector<reader> asked;
};

// The answer to a question whose result has so many bytes.
std::string answer_of(int id, std::size_t bytes)
{
    return answer_text(std::to_string(id), R"({"x":")" + std::string(bytes - 8, 'x') + "\"}");
}

std::string one(std::string_view method, std::string_view params = form)
{
    return R"({"k":{"method":")" + std::string{method} + R"(","params":)" + std::string{params} + "}}";
}

}  // namespace

TEST_CASE("What a server wants to know is asked of the client, and the call goes up again with a new id")
{
    input_rig x;
    const auto first = x.id_of_line();
    x.need(
        R"({"a":{"method":"elicitation/create","params":)" + std::string{form} + R"(},"b":{"method":"roots/list"}})"
    );
    CHECK(
        x.all(*x.reader) == message("1", "elicitation/create", std::string{form}) + "\n" +
                                R"({"jsonrpc":"2.0","id":2,"method":"roots/list"})"
                                "\n"
    );
    x.tell(answer_text("2", R"({"roots":[1.0]})"));
    CHECK(x.programs.lines[0].size() == 1);
    x.tell(answer_text("1", R"({"action":"accept","content":{"n":2.50}})"));
    REQUIRE(x.programs.lines[0].size() == 2);
    const auto again = x.id_of_line();
    CHECK(again != first);
    CHECK(
        x.line() ==
        R"({"jsonrpc":"2.0","id":)" + again +
            R"(,"method":"tools/call","params":{"inputResponses":{"a":{"action":"accept","content":{"n":2.50}},"b":{"roots":[1.0]}},)"
            R"("requestState":"s\u0031","_meta":{)" +
            terms_meta() + R"(},"name":"t"}})"
    );
    x.say(answer_text(again, R"({"content":[]})"));
    CHECK(x.all(*x.reader) == answer_text("7", R"({"content":[]})") + "\nover");
}

TEST_CASE("A server that only wants the call again gets it at once, and a state that it does not send it does not get")
{
    input_rig x;
    SUBCASE("a state alone")
    {
        x.need("{}");
        CHECK(x.line().find(R"("params":{"requestState":"s\u0031","_meta")") != std::string::npos);
    }
    SUBCASE("no state")
    {
        x.need(one("roots/list"), "");
        x.tell(answer_text("1"));
        CHECK(x.line().find("requestState") == std::string::npos);
        CHECK(x.line().find(R"("inputResponses":{"k":{}})") != std::string::npos);
    }
    CHECK(x.programs.lines[0].size() == 2);
}

TEST_CASE("A client is not asked for what it has not declared, and its call fails")
{
    input_rig x;
    SUBCASE("sampling")
    {
        x.need(one("sampling/createMessage"));
    }
    SUBCASE("a URL")
    {
        x.need(one("elicitation/create", R"({"mode":"url","url":"https://a"})"));
    }
    SUBCASE("what nobody can be asked")
    {
        x.need(one("tools/call"));
    }
    SUBCASE("nothing that can be read")
    {
        x.need("[]");
    }
    CHECK(x.all(*x.reader) == "upstream_protocol");
    CHECK(x.programs.lines[0].size() == 1);
}

TEST_CASE("A translated call has an hour, and a stream of events goes on")
{
    input_rig x;
    auto stream = x.open(x.asked(program_act::request, x.session, message("8", "events/stream")));
    const auto id = x.id_of_line();
    x.pass(legacy_client_calls::longest);
    CHECK(x.all(*x.reader) == "upstream_timeout");
    CHECK(x.all(*stream).empty());
    x.say(answer_text(id, R"({"resultType":"complete"})"));
    CHECK(x.all(*stream).find(R"("id":8)") != std::string::npos);
}

TEST_CASE("16 rounds are the most")
{
    input_rig x;
    for (std::size_t round = 1; round <= mcp::most_input_rounds; ++round) {
        x.need("{}");
        CHECK(x.programs.lines[0].size() == round + 1);
    }
    CHECK(x.all(*x.reader).empty());
    x.need("{}");
    CHECK(x.all(*x.reader) == "upstream_protocol");
    CHECK(x.programs.lines[0].size() == mcp::most_input_rounds + 1);
}

TEST_CASE("A client that refuses what it is asked has its call answered with an error, and late answers are dropped")
{
    input_rig x;
    x.need(one("roots/list"));
    x.all(*x.reader);
    x.tell(R"({"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}})");
    const auto got = x.all(*x.reader);
    CHECK(got.find(R"("id":7,"error":{"code":-32603)") != std::string::npos);
    CHECK(got.ends_with("over"));
    x.tell(answer_text("1"));
    x.tell(answer_text("99"));
    CHECK(x.programs.lines[0].size() == 1);
}

TEST_CASE("Nobody else answers what a client is asked")
{
    input_rig x;
    x.need(one("roots/list"));
    x.all(*x.reader);
    const auto other = x.begin_session();
    CHECK(x.all(x.asked(program_act::tell, other, answer_text("1"))) == "over");
    CHECK(x.programs.lines[0].size() == 1);
    x.tell(answer_text("1"));
    CHECK(x.programs.lines[0].size() == 2);
}

TEST_CASE("A client that is silent for timeouts.call when it is asked loses its call")
{
    input_rig x;
    x.need(one("roots/list"));
    x.all(*x.reader);
    x.pass(x.server.call_timeout - 1ms);
    CHECK(x.all(*x.reader).empty());
    x.pass(1ms);
    CHECK(x.all(*x.reader) == "upstream_timeout");
}

TEST_CASE("A client that leaves before a question has reached it loses its call, and one that leaves behind it does not"
)
{
    input_rig x;
    x.need(one("roots/list"));
    SUBCASE("before")
    {
        x.reader.reset();
        x.poll();
        x.tell(answer_text("1"));
        CHECK(x.programs.lines[0].size() == 1);
    }
    SUBCASE("behind")
    {
        x.all(*x.reader);
        x.reader.reset();
        x.poll();
        x.tell(answer_text("1"));
        CHECK(x.programs.lines[0].size() == 2);
    }
}

TEST_CASE("A client that cancels while it is asked has no call any more, and the server hears nothing")
{
    input_rig x;
    x.need(one("roots/list"));
    x.all(*x.reader);
    x.tell(message("", "notifications/cancelled", R"({"requestId":7})"));
    CHECK(x.all(*x.reader) == "over");
    x.tell(answer_text("1"));
    CHECK(x.programs.lines[0].size() == 1);
}

TEST_CASE("A call that is too long to be kept beside others goes up, and fails only if the server asks for input")
{
    input_rig x;
    x.server.max_message = 2 * legacy_client_calls::most_kept;
    x.publish();
    x.session = x.begin_session();
    const auto number = x.programs.started.size();
    const std::string padding(legacy_client_calls::most_kept, 'x');
    x.reader = x.open(x.asked(
        program_act::request,
        x.session,
        message("7", "tools/call", R"({"name":"t","arguments":{"a":")" + padding + "\"}}")
    ));
    x.say(answer_text(x.id_of_line(0, number), R"({"resultType":"input_required","requestState":"s"})"), number);
    CHECK(x.all(*x.reader) == "overloaded");
}

TEST_CASE(
    "A call that would be over max_message with all its answers fails, and so does one with too many kept beside it"
)
{
    constexpr std::size_t max_message = 1000;
    for (const std::size_t more : {0U, 1U, 2U}) {
        CAPTURE(more);
        kept_rig x;
        legacy_client_calls calls{kept_rig::services(x, max_message), x.terms};
        const auto reader = x.begin(calls, 700);
        x.need({"a", "b"});
        CHECK(x.asked.size() == 1);
        calls.take_answer(client_text{answer_of(1, 100)});
        calls.take_answer(client_text{answer_of(2, max_message - 700 - 2 - 100 - 1 + more)});
        CHECK(x.asked.size() == (more < 2 ? 2 : 1));
        next(reader);
        next(reader);
        CHECK(next(reader) == (more < 2 ? "" : "body_too_large"));
        CHECK(x.budget.taken() == (more < 2 ? 700 : 0));
    }
}

TEST_CASE("What is kept of the calls of all sessions is bounded, and is given back when they are over")
{
    kept_rig x;
    {
        legacy_client_calls first{kept_rig::services(x, 9000), x.terms};
        legacy_client_calls second{kept_rig::services(x, 9000), x.terms};
        const auto held = x.begin(first, 9000);
        CHECK(x.budget.taken() == 9000);
        for (const std::size_t bytes : {997U, 998U, 999U, 1001U}) {
            CAPTURE(bytes);
            const auto reader = x.begin(second, bytes);
            x.asked.back()->push(
                answer_text("7", R"({"resultType":"input_required","requestState":""})"),
                gateway::mcp::table::text_kind::answer
            );
            x.asked.back()->close();
            x.poll();
            CHECK(next(reader) == (bytes <= 998 ? "" : "overloaded"));
            second.fail(core::gateway_error(errc::draining));
            CHECK(x.budget.taken() == 9000);
        }
    }
    CHECK(x.budget.taken() == 0);
}

TEST_SUITE_END();
