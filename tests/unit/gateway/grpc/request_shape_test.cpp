#include "gateway/grpc/request_shape.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace gateway::grpc;
using a2a::operation;

namespace {

const a2a::protobuf::service_method& old_method(operation what)
{
    return *a2a::protobuf::service_method_for(what, a2a::generation::v03);
}

std::string named(operation what, std::string_view verb, std::string_view target, std::string_view body = {})
{
    const auto made = named_request(old_method(what), verb, target, body);
    return made ? *made : std::string{made.error().why};
}

}  // namespace

TEST_CASE("a resource name of a message becomes ids and a query")
{
    rest_request out;
    REQUIRE(read_named_request(operation::get, R"({"name":"tasks/t-1","historyLength":3})", out).has_value());
    CHECK(out.target.task_id == "t-1");
    CHECK(out.target.query == "historyLength=3");
    CHECK(out.body.empty());
    rest_request config;
    REQUIRE(
        read_named_request(operation::get_push, R"({"name":"tasks/t/pushNotificationConfigs/c"})", config).has_value()
    );
    CHECK(config.target.task_id == "t");
    CHECK(config.target.config_id == "c");
    rest_request list;
    REQUIRE(read_named_request(operation::list_push, R"({"parent":"tasks/t","pageSize":2,"pageToken":"a b"})", list)
                .has_value());
    CHECK(list.target.task_id == "t");
    CHECK(list.target.query == "pageSize=2&pageToken=a%20b");
}

TEST_CASE("a name that names no task is refused with its member")
{
    for (const auto* const json :
         {R"({})", R"({"name":""})", R"({"name":"t-1"})", R"({"name":"tasks/"})", R"({"name":"Tasks/t"})"}) {
        CAPTURE(json);
        rest_request out;
        const auto read = read_named_request(operation::cancel, json, out);
        REQUIRE_FALSE(read.has_value());
        CHECK(read.error().code == a2a::rpc_code::invalid_params);
        CHECK(read.error().member == "name");
    }
}

TEST_CASE("a name with more in it than readers agree on is refused")
{
    const auto reads = [](operation what, std::string_view name) {
        rest_request out;
        return read_named_request(what, R"({"name":")" + std::string{name} + "\"}", out).has_value();
    };
    for (const auto* const name :
         {"x/t", "/tasks/t", "x/tasks/t", "tasks//t", "tasks/n/t", "tasks/n/tasks/t", "tasks/t/"}) {
        CAPTURE(name);
        CHECK_FALSE(reads(operation::get, name));
        CHECK_FALSE(reads(operation::delete_push, name));
    }
    CHECK_FALSE(reads(operation::cancel, "tasks/n/pushNotificationConfigs/t"));
    CHECK_FALSE(reads(operation::subscribe, "tasks/n/pushNotificationConfigs"));
    CHECK_FALSE(reads(operation::get_push, "tasks/n/pushNotificationConfigs/t/u"));
    CHECK_FALSE(reads(operation::get_push, "tasks/n/pushNotificationConfigsx"));
    CHECK(reads(operation::get_push, "tasks/t"));
    CHECK(reads(operation::get_push, "tasks/t/pushNotificationConfigs"));
    CHECK(reads(operation::get_push, "tasks/t/pushNotificationConfigs/"));
}

TEST_CASE("an id with a slash has no name")
{
    constexpr std::string_view why = "has a slash, which a resource name cannot say";
    CHECK(named(operation::get, "GET", "/v1/tasks/x%2Ft") == why);
    CHECK(named(operation::delete_push, "DELETE", "/v1/tasks/t/pushNotificationConfigs/c%2Fd") == why);
}

TEST_CASE("a message that is sent is its own body")
{
    rest_request out;
    constexpr std::string_view json = R"({"message":{"messageId":"m"}})";
    REQUIRE(read_named_request(operation::send, json, out).has_value());
    CHECK(out.body == json);
}

TEST_CASE("path and query become a resource name and lengths")
{
    CHECK(
        named(operation::get, "GET", "/v1/tasks/t%2D1?historyLength=3") == R"({"name":"tasks/t-1","historyLength":"3"})"
    );
    CHECK(named(operation::cancel, "POST", "/v1/tasks/t:cancel", "{}") == R"({"name":"tasks/t"})");
    CHECK(named(operation::subscribe, "POST", "/v1/tasks/t:subscribe") == R"({"name":"tasks/t"})");
    CHECK(named(operation::list_push, "GET", "/v1/tasks/t/pushNotificationConfigs") == R"({"parent":"tasks/t"})");
    CHECK(
        named(operation::delete_push, "DELETE", "/v1/tasks/t/pushNotificationConfigs/c") ==
        R"({"name":"tasks/t/pushNotificationConfigs/c"})"
    );
    CHECK(named(operation::extended_card, "GET", "/v1/card") == "{}");
}

TEST_CASE("the message of a call of 1.0 is its params")
{
    const auto& method = *a2a::protobuf::service_method_for(operation::get, a2a::generation::v1);
    CHECK(
        *named_request(method, "POST", {}, R"({"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}})") ==
        R"({"id":"t"})"
    );
    CHECK(*named_request(method, "POST", {}, R"({"jsonrpc":"2.0","id":1,"method":"GetTask"})") == "{}");
    CHECK_FALSE(named_request(method, "POST", {}, "{").has_value());
}
