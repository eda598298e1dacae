#include "mcp/bundle/result_edit.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("mcp/bundle/result_edit");

using mcp::exposed_message;
using mcp::may_name_uris;

namespace {

std::string exposed(const std::string& message, bool tasks = false)
{
    return exposed_message(message, {.scheme = "m", .tasks = tasks}).value_or("unchanged");
}

std::string answer(std::string_view result)
{
    return R"({"jsonrpc":"2.0","id":1,"result":)" + std::string{result} + "}";
}

}  // namespace

TEST_CASE("links and embedded resources of a tool's result are exposed, whatever the order of members")
{
    CHECK(
        exposed(answer(
            R"({ "content" : [{"uri" :"file:///a","x":1.50, "type":"resource_link"},{"resource":{"text":"uri","\u0075ri":"ui://v"},"type":"resource"},{"type":"text","text":"\"uri\"","uri":"file:///t"}],"structuredContent":{"uri":"file:///s"}})"
        )) ==
        answer(
            R"({ "content" : [{"uri" :"m+file:///a","x":1.50, "type":"resource_link"},{"resource":{"text":"uri","\u0075ri":"ui://m+v"},"type":"resource"},{"type":"text","text":"\"uri\"","uri":"file:///t"}],"structuredContent":{"uri":"file:///s"}})"
        )
    );
}

TEST_CASE("a block says by its type which of its URIs counts")
{
    const auto text = answer(
        R"({"content":[{"type":"resource","uri":"a:1","resource":"a:2"},{"type":"resource_link","resource":{"uri":"a:3"},"uri":7},{"uri":"a:4"},{"type":1,"uri":"a:5"},"uri",null,[{"uri":"a:6"}]]})"
    );
    CHECK(exposed(text) == "unchanged");
}

TEST_CASE("contents of resources, messages of prompts and results of tools within questions are exposed")
{
    CHECK(
        exposed(
            answer(R"({"contents":[{"text":"","uri":"a:\/1"},{"uri":"a:2","_meta":{"ui":{"resourceUri":"ui://v"}}}]})")
        ) ==
        answer(R"({"contents":[{"text":"","uri":"m+a:/1"},{"uri":"m+a:2","_meta":{"ui":{"resourceUri":"ui://m+v"}}}]})")
    );
    CHECK(
        exposed(answer(R"({"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"a:1"}}}]})")) ==
        answer(R"({"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"m+a:1"}}}]})")
    );
    CHECK(
        exposed(answer(
            R"({"resultType":"input_required","inputRequests":{"q":{"params":{"uri":"a:0","messages":[{"content":[{"type":"tool_result","content":[{"type":"resource_link","uri":"a:1"}]}]}]},"method":"sampling/createMessage"}}})"
        )) ==
        answer(
            R"({"resultType":"input_required","inputRequests":{"q":{"params":{"uri":"a:0","messages":[{"content":[{"type":"tool_result","content":[{"type":"resource_link","uri":"m+a:1"}]}]}]},"method":"sampling/createMessage"}}})"
        )
    );
}

TEST_CASE("an update of a resource is exposed, and no other notification with a URI")
{
    CHECK(
        exposed(R"({"params":{"uri":"a:1"},"method":"notifications\/resources\/updated"})") ==
        R"({"params":{"uri":"m+a:1"},"method":"notifications\/resources\/updated"})"
    );
    CHECK(exposed(R"({"method":"notifications/message","params":{"uri":"a:1"}})") == "unchanged");
    CHECK(
        exposed(
            R"([{"method":"notifications/resources/updated","params":{"uri":"a:1"}},{"id":1,"result":{"contents":[{"uri":"a:2"}]}}])"
        ) ==
        R"([{"method":"notifications/resources/updated","params":{"uri":"m+a:1"}},{"id":1,"result":{"contents":[{"uri":"m+a:2"}]}}])"
    );
}

TEST_CASE("ids of tasks have a prefix where they are asked for")
{
    const auto created = answer(R"({"resultType":"task","taskId":"7","task":{"taskId":"8","result":{"taskId":"9"}}})");
    CHECK(exposed(created) == "unchanged");
    CHECK(
        exposed(created, true) ==
        answer(R"({"resultType":"task","taskId":"m+7","task":{"taskId":"m+8","result":{"taskId":"m+9"}}})")
    );
    CHECK(
        exposed(
            R"({"method":"notifications/tasks","params":{"taskId":"7","result":{"contents":[{"uri":"a:1"}]}}})",
            true
        ) == R"({"method":"notifications/tasks","params":{"taskId":"m+7","result":{"contents":[{"uri":"m+a:1"}]}}})"
    );
    CHECK(exposed(R"({"method":"notifications/message","params":{"taskId":"7"}})", true) == "unchanged");
}

TEST_CASE("what is no JSON, or without a prefix, stays as it is")
{
    const auto good = answer(R"({"contents":[{"uri":"a:1"}]})");
    CHECK(exposed(good.substr(0, good.size() - 1)) == "unchanged");
    CHECK(exposed(good + "x") == "unchanged");
    CHECK(exposed("") == "unchanged");
    CHECK(exposed("\"uri\"") == "unchanged");
    CHECK(exposed(answer(R"({"contents":{"uri":"a:1"},"content":"uri","messages":{}})")) == "unchanged");
    CHECK_FALSE(exposed_message(good, {.scheme = ""}));
    std::string deep = R"({"result":{"content":)";
    for (int i = 0; i < 100'000; ++i) {
        deep += R"({"content":)";
    }
    CHECK(exposed(deep + "\"uri\"") == "unchanged");
}

TEST_CASE("a message without the words is not read")
{
    CHECK_FALSE(may_name_uris(answer(R"({"content":[{"type":"text","text":"caf\u00e9 \u0026"}]})")));
    CHECK(may_name_uris(R"({"uri":1})"));
    CHECK(may_name_uris(R"({"ur\u0069":1})"));
    CHECK(may_name_uris(R"({"ui\/resourceUri":1})"));
}

TEST_CASE("the URI of an update is read and replaced")
{
    const std::string update = R"({ "method":"notifications/resources/updated","params":{"x":1.0,"uri":"a:\/1"}})";
    CHECK(mcp::updated_uri(update) == "a:/1");
    CHECK(
        mcp::updated_with_uri(update, "b:\"2") ==
        R"({ "method":"notifications/resources/updated","params":{"x":1.0,"uri":"b:\"2"}})"
    );
    CHECK_FALSE(mcp::updated_uri(R"({"method":"notifications/resources/updated","params":{"uri":1}})"));
    CHECK_FALSE(mcp::updated_with_uri(R"({"method":"x","params":{"uri":"a:1"}})", "b:2"));
    CHECK_FALSE(mcp::updated_uri("nothing"));
}

TEST_SUITE_END();
