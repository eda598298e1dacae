#include "a2a/dialect/task_list.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

TEST_SUITE_BEGIN("a2a/task_list");

namespace {

// With the tasks whose ids begin with "my".
std::string mine(std::string_view result)
{
    return a2a::kept_tasks(result, [](std::string_view id) { return id.starts_with("my"); });
}

}  // namespace

TEST_CASE("A list has the caller's tasks alone, in their order and with their bytes, and says how many they are")
{
    CHECK(
        mine(
            R"( {"tasks": [{"id":"my 1" , "x":1.50},{"id":"other"},{"contextId":"c","id":"m\u0079 2"}],"nextPageToken":"t","pageSize":50,"totalSize": 99 }
)"
        ) ==
        R"( {"tasks": [{"id":"my 1" , "x":1.50},{"contextId":"c","id":"m\u0079 2"}],"nextPageToken":"t","pageSize":50,"totalSize": 2 }
)"
    );
    CHECK(mine(R"({"totalSize":1,"tasks":[{"id":"other"}]})") == R"({"totalSize":0,"tasks":[]})");
    CHECK(mine(R"([{"id":"other"},{"id":"my"}])") == R"([{"id":"my"}])");
    CHECK(mine(R"({"tasks":[]})") == R"({"tasks":[]})");
}

TEST_CASE(
    "What has no id that is a text is no task of the caller's, nor what has an id of another one in some reader's eyes"
)
{
    CHECK(mine(R"({"tasks":[{},{"id":7},{"id":null},"my",["my"],{"ID":"my"}]})") == R"({"tasks":[{"ID":"my"}]})");
    CHECK(mine(R"({"tasks":[{"id":"my","id":"other"},{"id":"other","I_d":"my"}]})") == R"({"tasks":[]})");
    CHECK(mine(R"({"tasks":[{"status":{"id":"my"}}]})") == R"({"tasks":[]})");
}

TEST_CASE("A list in another spelling, one that stands twice, and one that is no list tell nothing either")
{
    CHECK(
        mine(R"({"Tasks":[{"id":"other"}],"t\u0061sks":[{"id":"my"}],"tasks":{"0":{"id":"other"}},"total_size":3})") ==
        R"({"Tasks":[],"t\u0061sks":[{"id":"my"}],"tasks":[],"total_size":1})"
    );
}

TEST_CASE("What is no list of tasks stays as it is")
{
    for (const auto* text : {"", "null", "7", R"("tasks")", R"({})", R"({"task":{"id":"other"}})"}) {
        CHECK(mine(text) == text);
    }
}

TEST_SUITE_END();
