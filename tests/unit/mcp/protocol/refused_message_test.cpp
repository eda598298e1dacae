#include "mcp/protocol/read_text.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("mcp/protocol/refused_message");

namespace {

// "no answer", "answer", "answer 7", "answer to another".
std::string words_of(std::string_view text, bool whole)
{
    const auto found = mcp::addressee_of(text, whole);
    if (!found.answer) {
        return "no answer";
    }
    return found.id ? "answer " + std::to_string(*found.id) : found.other ? "answer to another" : "answer";
}

struct row {
    std::string text;
    std::string_view expected;
};

}  // namespace

TEST_CASE("what is no message is an answer if it was to be one, to the id that can be read")
{
    const std::vector<row> rows{
        {R"({"jsonrpc":"2.0","id":7,"result":{"a":Infinity}})", "answer 7"},
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"a\":\"\xff\\\"]}\"}}", "answer 7"},
        {R"({"result":{"tools":[{"a":[[{"b":"}]"}]]}]},"jsonrpc":"2.0","id":7})", "answer 7"},
        {R"( { "jsonrpc" : "2.0" , "id" : 7 , "error" : "no" } )", "answer 7"},
        {R"({"jsonrpc":"2.0","id":7.0,"result":{}})", "answer 7"},
        {R"({"jsonrpc":"2.0","id":"7","result":{}})", "answer 7"},
        {R"([{"jsonrpc":"2.0","id":7,"result":{}}])", "answer 7"},
        {R"({"jsonrpc":"2.0","id":7,"result":{"tools":[{"na)", "answer 7"},
        {R"({"jsonrpc":"2.0","id":null,"result":{}})", "answer"},
        {R"({"jsonrpc":"2.0","result":{}})", "answer"},
        {R"({"jsonrpc":"2.0","id":"seven","result":{}})", "answer to another"},
        {R"({"jsonrpc":"2.0","id":7.5,"result":{}})", "answer to another"},
        {R"({"jsonrpc":"2.0","id":99999999999999999999,"result":{}})", "answer to another"},
        {R"({"jsonrpc":"2.0","id":7,"method":"ping","result":{}})", "no answer"},
        {R"({"jsonrpc":"2.0","id":7})", "answer 7"},
        {R"({"jsonrpc":"2.0","id":7,"params":{"result":1}})", "answer 7"},
        {R"({"jsonrpc":"2.0","id":7,"params":{"result":1})", "no answer"},
        {R"({"jsonrpc":"2.0","id":"","result":{}})", "answer"},
        {R"({"id":7})", "no answer"},
        {R"({"id":7,"result":{}})", "answer 7"},
        {R"({"error":{"code":1,"message":"m"},"id":"7"})", "answer 7"},
        {R"({"id":7e0,"result":{}})", "answer 7"},
        {R"({"result":{}})", "no answer"},
        {R"({"id":7,"method":"ping","result":{}})", "no answer"},
        {R"({"level":30,"id":7,"error":"a line of somebody's log"})", "no answer"},
        {"Server listening on stdio", "no answer"},
        {"[[[[{", "no answer"},
        {"{", "no answer"},
        {"\"", "no answer"},
        {R"({"jsonrpc)", "no answer"},
        {R"({"jsonrpc":"2.0","id":7,"result\)", "no answer"},
        {"", "no answer"},
    };
    for (const auto& each : rows) {
        CAPTURE(each.text);
        CHECK(words_of(each.text, true) == each.expected);
    }
}

TEST_CASE("the beginning of what was too long says whom it answers, unless that comes later")
{
    const std::vector<row> rows{
        {R"({"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"xxx)", "answer 7"},
        {R"({"result":{"tools":[{"name":"xxx)", "answer"},
        {R"({"jsonrpc":"2.0","method":"notifications/message","params":{"data":"xxx)", "no answer"},
        {R"({"result":{},"jsonrpc":"2.0","id":1)", "answer"},
        {"xxxxxxxx", "no answer"},
    };
    for (const auto& each : rows) {
        CAPTURE(each.text);
        CHECK(words_of(each.text, false) == each.expected);
    }
}

TEST_CASE("each message of a batch has its own addressee")
{
    const auto ids = [](std::string_view text) {
        std::vector<std::uint64_t> all;
        for (const auto& each : mcp::addressees_of(text)) {
            all.push_back(each.answer ? each.id.value_or(0) : 1000);
        }
        return all;
    };
    using numbers = std::vector<std::uint64_t>;
    const std::string one = R"({"jsonrpc":"2.0","id":1,"result":{}})";
    CHECK(ids(one) == numbers{1});
    CHECK(
        ids(" [" + one + R"(,{"jsonrpc":"2.0","method":"m"},{"jsonrpc":"2.0","id":"7","error":{}}])") ==
        numbers{1, 1000, 7}
    );
    CHECK(ids("[" + one + ",") == numbers{1});
    CHECK(ids("[]") == numbers{1000});
    CHECK(ids("") == numbers{1000});
}

TEST_SUITE_END();
