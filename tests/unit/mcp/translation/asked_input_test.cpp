#include "mcp/translation/input_questions.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>

TEST_SUITE_BEGIN("mcp/translation/asked_input");

using namespace mcp;

namespace {

std::string answer(const std::string& members)
{
    return R"({"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required")" + members + "}}";
}

std::string requests(std::size_t count)
{
    std::string all;
    for (std::size_t i = 0; i < count; ++i) {
        all.append(i == 0 ? "" : ",") += R"("k)" + std::to_string(i) + R"(":{"method":"roots/list"})";
    }
    return R"(,"inputRequests":{)" + all + "}";
}

bool fails(const std::string& text)
{
    const auto read = read_asked_input(text);
    return !read && read.error().code == core::errc::upstream_protocol;
}

}  // namespace

TEST_CASE("What a server wants to know is read with the bytes of its params and its state")
{
    const auto text = answer(
        R"(,"inputRequests":{"c\u0061":{"method":"elicitation/create","params":{"message":"a","n":1.50}},"r":{"method":"roots/list"}},"requestState":"v1.\u0061")"
    );
    const auto read = read_asked_input(text);
    REQUIRE(read.has_value());
    REQUIRE(read->has_value());
    const auto& asked = **read;
    REQUIRE(asked.requests.size() == 2);
    CHECK(asked.requests[0].key == "ca");
    CHECK(asked.requests[0].method == "elicitation/create");
    CHECK(asked.requests[1].params.empty());
    CHECK(asked.state == R"("v1.\u0061")");
    CHECK(
        question_text(7, asked.requests[0]) ==
        R"({"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"a","n":1.50}})"
    );
    CHECK(question_text(8, asked.requests[1]) == R"({"jsonrpc":"2.0","id":8,"method":"roots/list"})");
}

TEST_CASE("A final answer asks for nothing, whatever words are in it")
{
    for (const std::string text : {
             R"({"jsonrpc":"2.0","id":1,"result":{"content":[]}})",
             R"({"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"input_required"}]}})",
             R"({"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"input_required"}})",
         }) {
        CAPTURE(text);
        const auto read = read_asked_input(text);
        REQUIRE(read.has_value());
        CHECK_FALSE(read->has_value());
    }
}

TEST_CASE("A state alone is enough, and neither is nothing")
{
    const auto text = answer(R"(,"requestState":"s")");
    const auto read = read_asked_input(text);
    REQUIRE(read.has_value());
    CHECK((*read)->requests.empty());
    CHECK(fails(answer("")));
    CHECK(fails(answer(R"(,"inputRequests":{})")));
}

TEST_CASE("Questions that are no requests are refused")
{
    CHECK(fails(answer(R"(,"inputRequests":[1])")));
    CHECK(fails(answer(R"(,"inputRequests":{"a":1})")));
    CHECK(fails(answer(R"(,"inputRequests":{"a":{"params":{}}})")));
    CHECK(fails(answer(R"(,"inputRequests":{"a":{"method":"roots/list","params":[]}})")));
    CHECK(fails(answer(R"(,"requestState":7)")));
}

TEST_CASE("16 requests at once and a state of 64 KiB are the most")
{
    CHECK(read_asked_input(answer(requests(most_input_requests - 1))).has_value());
    CHECK(read_asked_input(answer(requests(most_input_requests))).has_value());
    CHECK(fails(answer(requests(most_input_requests + 1))));
    const auto state = [](std::size_t size) { return answer(R"(,"requestState":")" + std::string(size, 's') + '"'); };
    const auto escaped = [](std::size_t size) {
        std::string text;
        for (std::size_t i = 0; i < size; ++i) {
            text += R"(\u0073)";
        }
        return answer(R"(,"requestState":")" + text + '"');
    };
    CHECK(read_asked_input(escaped(longest_request_state)).has_value());
    CHECK(fails(escaped(longest_request_state + 1)));
    CHECK(read_asked_input(state(longest_request_state - 1)).has_value());
    CHECK(read_asked_input(state(longest_request_state)).has_value());
    CHECK(fails(state(longest_request_state + 1)));
}

TEST_CASE("A client is asked only for what it has declared")
{
    const auto asked = [](const std::string& declared, const std::string& method, const std::string& params = "{}") {
        return may_be_asked(client_capabilities::read(declared), {.key = "k", .method = method, .params = params});
    };
    CHECK(asked(R"({"roots":{}})", "roots/list"));
    CHECK_FALSE(asked("{}", "roots/list"));
    CHECK(asked(R"({"sampling":{}})", "sampling/createMessage"));
    CHECK_FALSE(asked(R"({"sampling":{}})", "sampling/createMessage", R"({"tools":[]})"));
    CHECK(asked(R"({"sampling":{"tools":{}}})", "sampling/createMessage", R"({"tools":[]})"));
    CHECK(asked(R"({"elicitation":{}})", "elicitation/create"));
    CHECK_FALSE(asked(R"({"elicitation":{}})", "elicitation/create", R"({"mode":"url"})"));
    CHECK_FALSE(asked(R"({"elicitation":{"url":{}}})", "elicitation/create"));
    CHECK(asked(R"({"elicitation":{"form":{},"url":{}}})", "elicitation/create", R"({"mode":"url"})"));
    CHECK_FALSE(asked(R"({"roots":{},"sampling":{},"elicitation":{}})", "tools/call"));
}

TEST_SUITE_END();
