#include "mcp/translation/list_subscription.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("mcp/translation/list_subscription");

using mcp::index_of;
using mcp::list_kind;

namespace {

mcp::list_set set_of(std::initializer_list<list_kind> lists)
{
    mcp::list_set set;
    for (const auto each : lists) {
        set.set(index_of(each));
    }
    return set;
}

}  // namespace

TEST_CASE("Changes of those lists are told that are asked for with true, and templates go with resources")
{
    CHECK(
        mcp::lists_listened_to(R"({"toolsListChanged":true,"promptsListChanged":false})") == set_of({list_kind::tools})
    );
    CHECK(
        mcp::lists_listened_to(R"({"resourcesListChanged":true,"promptsListChanged":true})") ==
        set_of({list_kind::prompts, list_kind::resources, list_kind::templates})
    );
    for (const auto* const none :
         {"", "[]", "{}", R"({"toolsListChanged":"true"})", R"({"resourceSubscriptions":["a"]})"}) {
        CHECK(mcp::lists_listened_to(none).none());
    }
}

TEST_CASE("What differs from lists that many know is looked at once")
{
    mcp::server_lists now;
    now.lists[index_of(list_kind::tools)] = {{.key = "t", .raw = "{}"}};
    mcp::list_differences to_now{now};
    const auto before = std::make_shared<mcp::server_lists>();
    CHECK(to_now.from(before) == set_of({list_kind::tools}));
    CHECK(to_now.from(std::make_shared<mcp::server_lists>(now)).none());
    before->lists[index_of(list_kind::prompts)] = {{.key = "p", .raw = "{}"}};
    CHECK(to_now.from(before) == set_of({list_kind::tools}));
    CHECK(to_now.from(std::make_shared<mcp::server_lists>(*before)) == set_of({list_kind::tools, list_kind::prompts}));
}

TEST_CASE("What is told names the subscription by the id of its request, as it was spelled")
{
    CHECK(
        mcp::acknowledged_text("1.0", set_of({list_kind::tools, list_kind::resources, list_kind::templates})) ==
        R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":)"
        R"({"_meta":{"io.modelcontextprotocol/subscriptionId":1.0},"notifications":{"toolsListChanged":true,"resourcesListChanged":true}}})"
    );
    CHECK(mcp::acknowledged_text("1", {}).find(R"("notifications":{}}})") != std::string::npos);
    const std::string changed =
        R"(/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"\u0061"}}})";
    CHECK(
        mcp::changed_texts(R"("\u0061")", set_of({list_kind::templates, list_kind::tools})) ==
        std::vector<std::string>{
            R"({"jsonrpc":"2.0","method":"notifications/tools)" + changed,
            R"({"jsonrpc":"2.0","method":"notifications/resources)" + changed,
        }
    );
    CHECK(mcp::changed_texts("1", {}).empty());
    CHECK(
        mcp::listened_answer("7") ==
        R"({"jsonrpc":"2.0","id":7,"result":{"_meta":{"io.modelcontextprotocol/subscriptionId":7}}})"
    );
}

TEST_CASE("A list has changed if an entry or their order has")
{
    mcp::server_lists before;
    before.lists[0] = {{"a", R"({"name":"a"})"}, {"b", R"({"name":"b"})"}};
    auto after = before;
    after.server.name = "other";
    CHECK(mcp::changed_lists(before, after).none());
    std::swap(after.lists[0][0], after.lists[0][1]);
    after.lists[index_of(list_kind::templates)].push_back({"t", "{}"});
    CHECK(mcp::changed_lists(before, after) == set_of({list_kind::tools, list_kind::templates}));
}

TEST_CASE("A client of the legacy era hears of each list that differs once, and of templates as resources")
{
    const auto told = [](std::initializer_list<list_kind> lists) { return mcp::changed_texts({}, set_of(lists)); };
    CHECK(told({}).empty());
    CHECK(
        told({list_kind::templates, list_kind::resources, list_kind::tools}) ==
        std::vector<std::string>{
            R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})",
            R"({"jsonrpc":"2.0","method":"notifications/resources/list_changed"})",
        }
    );
    CHECK(
        told({list_kind::prompts}) ==
        std::vector<std::string>{R"({"jsonrpc":"2.0","method":"notifications/prompts/list_changed"})"}
    );
}

TEST_SUITE_END();
