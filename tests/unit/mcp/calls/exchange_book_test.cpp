#include "mcp/calls/exchange_book.hpp"

#include "mcp/protocol/server_facts.hpp"
#include "tests/unit/mcp/calls/client_texts.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("mcp/calls/exchange_book");

namespace {

using core::errc;
using mcp::destination;
using mcp::exchange_book;
using mcp_test::answer;
using mcp_test::call;
using mcp_test::cancelled;
using mcp_test::client_text;
using mcp_test::id_of;
using mcp_test::notification;
using mcp_test::question;
using mcp_test::result;
using mcp_test::with_token;

mcp::book_settings all_declared()
{
    mcp::book_settings settings;
    settings.declared = {"sampling", "elicitation", "roots"};
    return settings;
}

mcp::book_settings shared_settings()
{
    auto settings = all_declared();
    settings.shared = true;
    return settings;
}

}  // namespace

TEST_CASE("A principal has its share of the calls and no more, until one is answered, cancelled or malformed")
{
    auto settings = shared_settings();
    settings.most_calls = 6;
    settings.most_of_principal = 3;
    settings.most_listens = 2;
    exchange_book book{settings};
    const auto begin = [&book](const std::string& principal, const std::string& method = "tools/call") {
        const client_text text{R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":{}})"};
        mcp::client_message request = text;
        request.principal = principal;
        return book.begin(request);
    };
    const auto first = begin("p");
    const auto second = begin("p");
    const auto third = begin("p");
    REQUIRE((first && second && third));
    CHECK(book.in_flight_of("p") == 3);
    const auto fourth = begin("p");
    REQUIRE_FALSE(fourth.has_value());
    CHECK(fourth.error().code == errc::overloaded);
    CHECK(begin("p", "subscriptions/listen").has_value());
    CHECK_FALSE(begin("p", "subscriptions/listen").has_value());
    CHECK(begin("q", "subscriptions/listen").has_value());
    CHECK(begin("q").has_value());
    for (int i = 0; i < 2; ++i) {
        CHECK(begin("").has_value());
    }
    CHECK_FALSE(begin("").has_value());
    CHECK(book.in_flight_of("") == 0);
    SUBCASE("answered")
    {
        CHECK(book.take(result(id_of(first->text))).last);
    }
    SUBCASE("cancelled")
    {
        CHECK_FALSE(book.cancel(second->call, "left").empty());
    }
    SUBCASE("malformed")
    {
        const auto told = book.take(R"({"jsonrpc":"2.0","id":)" + id_of(third->text) + R"(,"result":{},"error":{}})");
        CHECK(told.failure.has_value());
    }
    CHECK(book.in_flight_of("p") == 2);
    CHECK(begin("p").has_value());
    CHECK(book.in_flight_of("p") == 3);
    CHECK_FALSE(begin("p").has_value());
}

TEST_CASE("A request goes up byte by byte, and its answer comes back so, while nobody else has its id")
{
    for (const std::string id : {"0", "7", R"("a")", "999999999"}) {
        CAPTURE(id);
        exchange_book book{{}};
        const std::string text = R"({ "id" : )" + id + R"(,"method":"tools/call", "x":1.50e3,"jsonrpc":"2.0"})";
        const auto begun = book.begin(client_text{text});
        REQUIRE(begun.has_value());
        CHECK(begun->text == text);
        const std::string back = R"({"result":{"n":1.50e3},  "id":)" + id + R"(,"jsonrpc":"2.0","more":[]})";
        const auto told = book.take(back);
        CHECK(told.to == destination::call);
        CHECK(told.call == begun->call);
        CHECK(told.last);
        CHECK_FALSE(told.refused);
        CHECK(told.text == back);
        CHECK(book.in_flight() == 0);
    }
}

TEST_CASE("Clients that use one id for several calls at once get the right answers in its own type and spelling")
{
    exchange_book book{{}};
    std::vector<mcp::call_number> calls;
    std::vector<std::string> upstream;
    for (int each = 0; each < 3; ++each) {
        const auto begun = book.begin(call("1"));
        REQUIRE(begun.has_value());
        calls.push_back(begun->call);
        upstream.push_back(id_of(begun->text));
    }
    CHECK(upstream[0] == "1");
    CHECK(upstream[1] == "1000000000");
    CHECK(upstream[2] == "1000000001");
    for (const auto each : {2U, 0U, 1U}) {
        const auto told = book.take(result(upstream[each], std::to_string(each)));
        CHECK(told.call == calls[each]);
        CHECK(told.text == result("1", std::to_string(each)));
    }
}

TEST_CASE("An id that another reader may spell in another way goes up as a new one")
{
    for (const std::string id :
         {"1.0",
          "1e2",
          "-1",
          "-0",
          "1000000000",
          "9007199254740993",
          "123456789012345678901234567890",
          R"("\u0061")",
          R"("")",
          R"("a\/b")"}) {
        CAPTURE(id);
        exchange_book book{{}};
        const auto begun = book.begin(call(id));
        REQUIRE(begun.has_value());
        CHECK(id_of(begun->text) == "1000000000");
        CHECK(book.take(result("1000000000")).text == result(id));
    }
}

TEST_CASE("The number 1 and the string of it are two ids")
{
    exchange_book book{{}};
    const auto number = book.begin(call("1"));
    const auto string = book.begin(call(R"("1")"));
    REQUIRE((number && string));
    CHECK(id_of(string->text) == R"("1")");
    CHECK(book.take(result(R"("1")")).call == string->call);
    CHECK(book.take(result("1")).call == number->call);
}

TEST_CASE("A server may escape an id in another way")
{
    exchange_book book{{}};
    const auto begun = book.begin(call(R"("a/b")"));
    REQUIRE(begun.has_value());
    CHECK(book.take(result(R"("a\/b")")).text == result(R"("a/b")"));
}

TEST_CASE(
    "An answer that comes twice, late or for an unknown id reaches nobody, also where the client uses its id again"
)
{
    exchange_book book{{}};
    REQUIRE(book.begin(call("1")).has_value());
    CHECK(book.take(result("1")).to == destination::call);
    CHECK(book.take(result("1")).to == destination::nobody);
    const auto again = book.begin(call("1"));
    REQUIRE(again.has_value());
    CHECK(book.take(result("1")).to == destination::nobody);
    CHECK(book.take(result("77")).to == destination::nobody);
    CHECK(book.dropped() == 3);
    CHECK(book.take(result(id_of(again->text))).call == again->call);
}

TEST_CASE("An error is an answer, and a malformed answer fails its call")
{
    exchange_book book{{}};
    const auto first = book.begin(call("1"));
    const auto second = book.begin(call("2"));
    const auto third = book.begin(call("3"));
    REQUIRE((first && second && third));
    const std::string error = R"({"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"m","data":{"a":1.0}}})";
    auto told = book.take(error);
    CHECK(told.refused);
    CHECK(told.text == error);
    told = book.take(R"({"jsonrpc":"2.0","id":2,"result":{},"error":{"code":1,"message":""}})");
    CHECK(told.call == second->call);
    REQUIRE(told.failure);
    CHECK(told.failure->code == errc::upstream_protocol);
    told = book.take_too_long(R"({"jsonrpc":"2.0","id":3,"result":{"text":"aaaa)", 20);
    CHECK(told.call == third->call);
    REQUIRE(told.failure);
    CHECK(told.failure->code == errc::message_too_large);
    CHECK(book.take("nonsense").to == destination::nobody);
    CHECK(book.in_flight() == 0);
}

TEST_CASE("An answer to initialize may have 256 KiB, and a longer one fails it; answers to calls may be longer")
{
    for (const auto size : {mcp::longest_handshake - 1, mcp::longest_handshake, mcp::longest_handshake + 1}) {
        CAPTURE(size);
        exchange_book book{{}};
        const client_text initialize{R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{}})"};
        REQUIRE(book.begin(initialize).has_value());
        REQUIRE(book.begin(call("2")).has_value());
        const auto padded = [size](const std::string& id) {
            return result(id, '"' + std::string(size - result(id, "\"\"").size(), 'x') + '"');
        };
        const auto opened = book.take(padded("1"));
        CHECK(opened.call == 1);
        CHECK(opened.last);
        CHECK(opened.failure.has_value() == (size > mcp::longest_handshake));
        CHECK(opened.text.empty() == opened.failure.has_value());
        if (opened.failure) {
            CHECK(opened.failure->code == errc::message_too_large);
        }
        CHECK_FALSE(book.take(padded("2")).failure.has_value());
        CHECK(book.in_flight() == 0);
    }
}

TEST_CASE("Progress reaches the call whose token it has, in its spelling, and nobody once that is over")
{
    exchange_book book{{}};
    const auto first = book.begin(call("1", with_token(R"("p")")));
    const auto second = book.begin(call("2", with_token(R"("p")")));
    REQUIRE((first && second));
    CHECK(
        second->text == R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":)" + with_token("1000000000") + "}"
    );
    const auto progress = [](const std::string& token) {
        return notification("progress", R"({"progressToken":)" + token + R"(,"progress":1.0})");
    };
    auto told = book.take(progress("1000000000"));
    CHECK(told.call == second->call);
    CHECK(told.text == progress(R"("p")"));
    CHECK_FALSE(told.last);
    told = book.take(progress(R"("p")"));
    CHECK(told.call == first->call);
    CHECK(book.take(result("2")).last);
    CHECK(book.take(progress("1000000000")).to == destination::nobody);
    CHECK(book.take(progress("3")).to == destination::nobody);
    CHECK(book.take(notification("progress")).to == destination::nobody);
    CHECK(book.dropped() == 3);
}

TEST_CASE(
    "A token that stands before the id is replaced as well, and one of another type goes up for the server to refuse"
)
{
    exchange_book book{shared_settings()};
    const auto begun = book.begin(
        client_text{R"({"params":{"_meta":{"progressToken":1}},"method":"tools/call","id":1,"jsonrpc":"2.0"})"}
    );
    REQUIRE(begun.has_value());
    CHECK(
        begun->text ==
        R"({"params":{"_meta":{"progressToken":1000000000}},"method":"tools/call","id":1000000000,"jsonrpc":"2.0"})"
    );
    const auto odd = book.begin(call("2", with_token("{}")));
    REQUIRE(odd.has_value());
    CHECK(odd->text.find(R"("progressToken":{}})") != std::string::npos);
}

TEST_CASE("A client cancels its call by its own id, of several with that id the last, and never initialize")
{
    exchange_book book{{}};
    const auto first = book.begin(call("1"));
    const auto second = book.begin(call("1"));
    REQUIRE((first && second));
    auto told = book.cancel(cancelled("1"));
    REQUIRE(told);
    CHECK(told->call == second->call);
    CHECK(told->text == R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1000000000}})");
    CHECK(book.take(result("1000000000")).to == destination::nobody);
    CHECK_FALSE(book.cancel(cancelled("2")));
    CHECK_FALSE(book.cancel(cancelled(R"("1")")));
    told = book.cancel(cancelled("1"));
    REQUIRE(told);
    CHECK(told->call == first->call);
    CHECK_FALSE(book.cancel(cancelled("1")));

    const auto opening = book.begin(client_text{R"({"jsonrpc":"2.0","id":9,"method":"initialize","params":{}})"});
    REQUIRE(opening.has_value());
    CHECK_FALSE(book.cancel(cancelled("9")));
    CHECK(book.cancel(opening->call, "late").empty());
}

TEST_CASE("A call that the gateway ends is cancelled under the id that the server knows")
{
    exchange_book book{shared_settings()};
    const auto begun = book.begin(call(R"("x")"));
    REQUIRE(begun.has_value());
    CHECK(
        book.cancel(begun->call, "it took too long") ==
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1000000000,"reason":"it took too long"}})"
    );
    CHECK(book.cancel(begun->call, "again").empty());
    CHECK(book.take(result("1000000000")).to == destination::nobody);
}

TEST_CASE("Nobody cancels the call of another client of a shared connection")
{
    exchange_book book{shared_settings()};
    const auto mine = book.begin(call("1", "{}", 1));
    const auto other = book.begin(call("1", "{}", 2));
    REQUIRE((mine && other));
    CHECK_FALSE(book.cancel(cancelled("1", 3)));
    const auto told = book.cancel(cancelled("1", 1));
    REQUIRE(told);
    CHECK(told->call == mine->call);
    CHECK(book.take(result("1000000001")).call == other->call);
}

TEST_CASE("A session has 64 calls in flight and no more")
{
    exchange_book book{{}};
    for (int each = 0; each < 64; ++each) {
        REQUIRE(book.begin(call(std::to_string(each))).has_value());
    }
    const auto refused = book.begin(call("64"));
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == errc::overloaded);
    CHECK(book.take(result("0")).last);
    CHECK(book.begin(call("65")).has_value());
}

TEST_CASE("What the server asks reaches the only call, else whoever listens, else the latest call that is read")
{
    exchange_book book{all_declared()};
    CHECK(book.take(question("0", "roots/list")).to == destination::unasked);
    const auto first = book.begin(call("1"));
    REQUIRE(first.has_value());
    book.set_listening(true);
    auto told = book.take(question("1", "sampling/createMessage"));
    CHECK(told.call == first->call);
    CHECK(told.question);
    CHECK(told.text == question("1", "sampling/createMessage"));
    const auto second = book.begin(call("2"));
    REQUIRE(second.has_value());
    CHECK(book.take(question("2", "elicitation/create")).to == destination::unasked);
    book.set_listening(false);
    CHECK(book.take(question("3", "elicitation/create")).call == second->call);
    book.detach(second->call);
    CHECK(book.take(question("4", "elicitation/create")).call == first->call);
    CHECK(book.take(notification("message")).call == first->call);
    book.attach(second->call);
    CHECK(book.take(question("5", "elicitation/create")).call == second->call);
    CHECK(book.take(result("2")).call == second->call);
}

TEST_CASE("What a client did not declare is refused, and so is everything where several clients share")
{
    exchange_book none{{}};
    exchange_book shared{shared_settings()};
    REQUIRE(none.begin(call("1")).has_value());
    REQUIRE(shared.begin(call("1")).has_value());
    for (const std::string method : {"sampling/createMessage", "elicitation/create", "roots/list", "tasks/get"}) {
        CAPTURE(method);
        for (auto* book : {&none, &shared}) {
            const auto told = book->take(question(R"("q")", method));
            CHECK(told.to == destination::server);
            CHECK(told.text.find(R"("id":"q")") != std::string::npos);
            CHECK(told.text.find("-32601") != std::string::npos);
        }
    }
    CHECK(none.take(question("1", "vendor/ask")).to == destination::call);
    CHECK(shared.take(question("1", "vendor/ask")).to == destination::server);
    CHECK(shared.take(question("2", "ping")).text.find(R"("result":{})") != std::string::npos);
    CHECK(shared.take(notification("message")).to == destination::nobody);
    CHECK(shared.take(notification("tools/list_changed")).to == destination::unasked);
}

TEST_CASE("A ping of the server is the client's while it has a stream open, else it is answered here")
{
    exchange_book book{{}};
    CHECK(book.take(question("1", "ping")).to == destination::server);
    book.set_listening(true);
    CHECK(book.take(question("2", "ping")).to == destination::unasked);
    book.set_listening(false);
    const auto begun = book.begin(call("1"));
    REQUIRE(begun.has_value());
    CHECK(book.take(question("3", "ping")).call == begun->call);
    book.detach(begun->call);
    CHECK(book.take(question("4", "ping")).to == destination::server);
}

TEST_CASE("A question is answered once, by its id, also after its call is over")
{
    exchange_book book{all_declared()};
    const auto begun = book.begin(call("5"));
    REQUIRE(begun.has_value());
    REQUIRE(book.take(question("0", "elicitation/create")).question);
    REQUIRE(book.take(question(R"("0")", "elicitation/create")).question);
    CHECK_FALSE(book.take_answer(answer("1")));
    const auto answered = book.take_answer(answer("0"));
    REQUIRE(answered);
    CHECK(answered->asked_in == begun->call);
    CHECK(answered->text == result("0"));
    CHECK_FALSE(book.take_answer(answer("0")));
    REQUIRE(book.take(question("1", "elicitation/create")).question);
    CHECK(book.take(result("5")).last);
    const auto late = book.take_answer(answer(R"("0")"));
    REQUIRE(late);
    CHECK(late->asked_in == 0);
    CHECK(late->text == result(R"("0")"));
    // What the server takes back now is in no call.
    const auto back = book.take(notification("cancelled", R"({"requestId":1})"));
    CHECK(back.to == destination::unasked);
    CHECK_FALSE(book.take_answer(answer("1")));
}

TEST_CASE("A question of a call that its client has cancelled is still the client's to answer, and counts as open")
{
    auto settings = all_declared();
    settings.most_questions = 1;
    exchange_book book{settings};
    REQUIRE(book.begin(call("5")).has_value());
    REQUIRE(book.take(question("0", "elicitation/create")).question);
    REQUIRE(book.cancel(cancelled("5")));
    CHECK(book.take(question("1", "roots/list")).to == destination::server);
    CHECK(book.take_answer(answer("0")));
    CHECK(book.take(question("1", "roots/list")).question);
}

TEST_CASE("A question that nobody answers is refused once it has been seen for the time that it has, and not before")
{
    using namespace std::chrono_literals;
    exchange_book book{all_declared()};
    const core::steady_time now{1h};
    REQUIRE(book.take(question("0", "roots/list")).question);
    CHECK(book.expire_questions(now, 10s).empty());
    REQUIRE(book.take(question(R"("b")", "roots/list")).question);
    CHECK(book.expire_questions(now + 10s - 1ms, 10s).empty());
    const auto refused = book.expire_questions(now + 10s, 10s);
    REQUIRE(refused.size() == 1);
    CHECK(refused[0].find(R"("id":0,)") != std::string::npos);
    CHECK(refused[0].find("-32603") != std::string::npos);
    CHECK_FALSE(book.take_answer(answer("0")));
    CHECK(book.take_answer(answer(R"("b")")));
}

TEST_CASE("A question whose id has 1,024 bytes is asked, and a longer one is refused")
{
    for (const std::size_t size : {1023U, 1024U, 1025U}) {
        CAPTURE(size);
        exchange_book book{all_declared()};
        const auto told = book.take(question('"' + std::string(size - 2, 'q') + '"', "roots/list"));
        CHECK(told.question == (size <= mcp::server_questions::longest_id));
        if (!told.question) {
            CHECK(told.to == destination::server);
            CHECK(told.text.find(R"("id":null,"error":{"code":-32600)") != std::string::npos);
        }
    }
}

TEST_CASE("A server that asks without end, or twice with one id, is told so")
{
    exchange_book book{all_declared()};
    REQUIRE(book.begin(call("5")).has_value());
    for (int each = 0; each < 64; ++each) {
        REQUIRE(book.take(question(std::to_string(each), "roots/list")).question);
    }
    const auto refused = book.take(question("64", "roots/list"));
    CHECK(refused.to == destination::server);
    CHECK(refused.text.find("-32603") != std::string::npos);
    REQUIRE(book.take_answer(answer("0")));
    CHECK(book.take(question("1", "roots/list")).text.find("-32600") != std::string::npos);
    CHECK(book.take(question("64", "roots/list")).question);
    CHECK(book.refuse_question(question("64", "roots/list")).find("-32601") != std::string::npos);
    CHECK(book.refuse_question(question("64", "roots/list")).empty());
}

TEST_CASE("A server takes its question back where it asked it")
{
    exchange_book book{all_declared()};
    const auto begun = book.begin(call("5"));
    REQUIRE(begun.has_value());
    REQUIRE(book.take(question("0", "elicitation/create")).question);
    const auto back = notification("cancelled", R"({"requestId":0})");
    const auto told = book.take(back);
    CHECK(told.call == begun->call);
    CHECK(told.text == back);
    CHECK_FALSE(book.take_answer(answer("0")));
    CHECK(book.take(back).to == destination::nobody);
}

TEST_CASE("What is about lists and resources goes to whoever listens, also during a call")
{
    exchange_book book{{}};
    REQUIRE(book.begin(call("5")).has_value());
    for (const std::string method : {"tools/list_changed", "resources/updated", "tasks/status"}) {
        CHECK(book.take(notification(method)).to == destination::unasked);
    }
    CHECK(book.take(notification("message")).to == destination::call);
}

TEST_CASE("Subscriptions have the caller's own id")
{
    exchange_book book{shared_settings()};
    const auto begun = book.begin(call(R"("s")"));
    REQUIRE(begun.has_value());
    const auto text = [](const std::string& id) {
        return notification("tools/list_changed", R"({"_meta":{"io.modelcontextprotocol/subscriptionId":)" + id + "}}");
    };
    const auto told = book.take(text("1000000000"));
    CHECK(told.call == begun->call);
    CHECK(told.text == text(R"("s")"));
    CHECK(book.take(text("4")).to == destination::nobody);
}
