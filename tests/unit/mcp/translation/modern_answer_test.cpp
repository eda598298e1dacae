#include "mcp/protocol/raw_json.hpp"
#include "mcp/translation/modern_messages.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

TEST_SUITE_BEGIN("mcp/translation/modern_answer");

using mcp::client_method;
using mcp::modern_answer;

namespace {

std::string answer(std::string_view result, std::string_view behind = "")
{
    return R"({"jsonrpc":"2.0","result":)" + std::string{result} + std::string{behind} + R"(,"id":1})";
}

mcp::server_lists lists_of(std::size_t count, std::size_t size)
{
    mcp::server_lists lists;
    for (std::size_t i = 0; i < count; ++i) {
        auto name = std::to_string(i);
        lists.lists[0].push_back({name, R"({"name":")" + name + R"(","d":")" + std::string(size, 'x') + "\"}"});
    }
    return lists;
}

}  // namespace

TEST_CASE("A result gets what the modern era asks for, and every other byte stays")
{
    CHECK(
        modern_answer(client_method::tools_call, answer(R"({ "content" : [] ,"n":1.0e5})")) ==
        answer(R"({"resultType":"complete", "content" : [] ,"n":1.0e5})")
    );
    CHECK(modern_answer(client_method::tools_call, answer("{}")) == answer(R"({"resultType":"complete"})"));
    for (const auto method :
         {client_method::tools_list,
          client_method::prompts_list,
          client_method::resources_list,
          client_method::templates_list,
          client_method::resources_read,
          client_method::discover}) {
        CHECK(
            modern_answer(method, answer(R"({"tools":[]})")) ==
            answer(R"({"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[]})")
        );
    }
    CHECK(
        modern_answer(client_method::tools_list, answer(R"({"ttlMs":5,"result\u0054ype":"x"})")) ==
        answer(R"({"cacheScope":"private","ttlMs":5,"result\u0054ype":"x"})")
    );
}

TEST_CASE("Only the result itself is looked at")
{
    CHECK(
        modern_answer(
            client_method::tools_call,
            answer(R"({"content":[{"text":"\"result\":{","result":{},"error":{"code":-32002},"resultType":"x"}]})")
        ) ==
        answer(
            R"({"resultType":"complete","content":[{"text":"\"result\":{","result":{},"error":{"code":-32002},"resultType":"x"}]})"
        )
    );
    for (const std::string same : {
             R"({"jsonrpc":"2.0","id":1,"result":[1]})",
             R"({"jsonrpc":"2.0","id":1,"result":"{}"})",
             R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"result":{}}})",
             R"({"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required"}})",
             R"({"result":{)",
             R"([{"result":{}}])",
             "",
         }) {
        CAPTURE(same);
        CHECK(modern_answer(client_method::tools_call, same) == same);
    }
}

TEST_CASE("The error for a resource that is not found has the modern code, with its message and data")
{
    const std::string head = R"({"jsonrpc":"2.0","id":1,"error":{"message":"-32002","data":{"code":-32002}, "code" : )";
    CHECK(modern_answer(client_method::resources_read, head + "-32002 }}") == head + "-32602 }}");
    CHECK(modern_answer(client_method::resources_read, head + "-32603}}") == head + "-32603}}");
}

TEST_CASE("A server is described by what the gateway forwards of it")
{
    mcp::server_facts server;
    server.capabilities =
        R"({"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true,"x":1},"logging":{},"tasks":{"list":{}}})";
    server.info = R"({"name":"s","version":"1"})";
    CHECK(
        mcp::discover_answer(R"("a")", server, false) ==
        R"({"jsonrpc":"2.0","id":"a","result":{"supportedVersions":["2026-07-28"],)"
        R"("capabilities":{"tools":{},"resources":{"x":1},"logging":{}},)"
        R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}})"
    );
    server.instructions = "Say \"please\"";
    const auto told = mcp::discover_answer("1", server, true);
    CHECK(
        told.find(R"("capabilities":{"tools":{"listChanged":true},"resources":{"listChanged":true,"x":1},)") !=
        std::string::npos
    );
    CHECK(told.find(R"("instructions":"Say \"please\"",)") != std::string::npos);
}

TEST_CASE("A list comes in pages, each with the cursor of the next")
{
    const auto small = mcp::list_answer("7", mcp::list_kind::tools, lists_of(2, 1), "");
    CHECK(*small == R"({"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"0","d":"x"},{"name":"1","d":"x"}]}})");
    CHECK(
        *mcp::list_answer("7", mcp::list_kind::templates, {}, "") ==
        R"({"jsonrpc":"2.0","id":7,"result":{"resourceTemplates":[]}})"
    );
    const auto lists = lists_of(5, mcp::largest_page / 2);
    std::string names;
    std::string cursor;
    int pages = 0;
    do {
        const auto page = mcp::list_answer("1", mcp::list_kind::tools, lists, cursor);
        REQUIRE(page.has_value());
        const auto all = mcp::members_of(*page);
        const auto result = mcp::members_of(all.object("result"));
        for (std::size_t i = 0; i < 5; ++i) {
            names += result.find("tools").find(R"("name":")" + std::to_string(i)) == std::string_view::npos
                         ? ""
                         : std::to_string(i);
        }
        cursor = result.find("nextCursor");
        ++pages;
    } while (!cursor.empty() && pages < 9);
    CHECK(names == "01234");
    CHECK(pages == 5);
    CHECK(
        mcp::list_answer("1", mcp::list_kind::tools, lists, R"("cardea:9")")->find(R"("tools":[]})") !=
        std::string::npos
    );
    for (const auto* const wrong :
         {R"("cardea:0")", R"("cardea:-1")", R"("cardea:")", R"("")", R"("1")", "1", "null"}) {
        CAPTURE(wrong);
        CHECK(mcp::list_answer("1", mcp::list_kind::tools, lists, wrong).error().code == core::errc::invalid_params);
    }
}

TEST_CASE("A request that stays open ends with a result of its own and of its client's era")
{
    using mcp::client_method;
    CHECK(
        mcp::end_answer(client_method::events_stream, mcp::era::modern, R"("e")") ==
        R"({"jsonrpc":"2.0","id":"e","result":{"resultType":"complete"}})"
    );
    CHECK(
        mcp::end_answer(client_method::events_stream, mcp::era::legacy, "7") ==
        R"({"jsonrpc":"2.0","id":7,"result":{}})"
    );
    CHECK(
        mcp::end_answer(client_method::listen, mcp::era::modern, "7") ==
        R"({"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":7}}})"
    );
}

TEST_SUITE_END();
