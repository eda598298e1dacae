#include "mcp/translation/list_subscription.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

TEST_SUITE_BEGIN("mcp/translation/subscription");

using namespace mcp;

TEST_CASE("What is listened to is every resource of a client")
{
    CHECK(listen_params({"a:b", "c:\"d\""}) == R"({"notifications":{"resourceSubscriptions":["a:b","c:\"d\""]}})");
}

TEST_CASE("The resources that a server tells of are those that it acknowledges")
{
    const auto told = [](const std::string& members) {
        return acknowledged_resources(
            R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{)" +
            members + "}}}"
        );
    };
    CHECK(told(R"("resourceSubscriptions":["a:b","c\u003ad",7])") == std::vector<std::string>{"a:b", "c:d"});
    CHECK(told("").empty());
    CHECK(told(R"("resourceSubscriptions":"a:b")").empty());
    CHECK(acknowledged_resources("{}").empty());
}

TEST_CASE("A client hears nothing of the id of a subscription, and every other byte")
{
    CHECK(
        without_subscription(
            R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b","_meta":{"x":1.50, "io.modelcontextprotocol/subscriptionId":0},"n":1.0}})"
        ) ==
        R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b","_meta":{"x":1.50},"n":1.0}})"
    );
    const std::string plain = R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri": "a:b"}})";
    CHECK(without_subscription(plain) == plain);
}

TEST_CASE("A changed resource is told by its URI")
{
    CHECK(
        resource_updated("a:\"b\"") ==
        R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:\"b\""}})"
    );
}

TEST_SUITE_END();
