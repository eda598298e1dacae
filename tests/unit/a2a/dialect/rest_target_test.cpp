#include "a2a/dialect/rest_target.hpp"

#include <doctest/doctest.h>

#include <string>

using a2a::generation;
using a2a::operation;

TEST_SUITE_BEGIN("a2a/dialect REST targets");

namespace {

struct found_row {
    std::string_view verb;
    std::string_view target;
    generation version;
    operation what;
    std::string_view tenant;
    std::string_view task;
    std::string_view config;
    std::string_view query;
};

constexpr auto v03 = generation::v03;
constexpr auto v1 = generation::v1;

const found_row found_rows[]{
    {"POST", "/v1/message:send", v03, operation::send, "", "", "", ""},
    {"POST", "/v1/message:stream", v03, operation::stream, "", "", "", ""},
    {"GET", "/v1/tasks/t-1?historyLength=2", v03, operation::get, "", "t-1", "", "historyLength=2"},
    {"GET", "/v1/tasks", v03, operation::list, "", "", "", ""},
    {"POST", "/v1/tasks/t-1:cancel", v03, operation::cancel, "", "t-1", "", ""},
    {"POST", "/v1/tasks/t-1:subscribe", v03, operation::subscribe, "", "t-1", "", ""},
    {"GET", "/v1/tasks/t-1:subscribe", v03, operation::subscribe, "", "t-1", "", ""},
    {"POST", "/v1/tasks/t/pushNotificationConfigs", v03, operation::create_push, "", "t", "", ""},
    {"GET", "/v1/tasks/t/pushNotificationConfigs", v03, operation::list_push, "", "t", "", ""},
    {"GET", "/v1/tasks/t/pushNotificationConfigs/p", v03, operation::get_push, "", "t", "p", ""},
    {"DELETE", "/v1/tasks/t/pushNotificationConfigs/p", v03, operation::delete_push, "", "t", "p", ""},
    {"GET", "/v1/card", v03, operation::extended_card, "", "", "", ""},
    {"POST", "/message:send", v1, operation::send, "", "", "", ""},
    {"POST", "/message:stream", v1, operation::stream, "", "", "", ""},
    {"GET", "/tasks/t-1", v1, operation::get, "", "t-1", "", ""},
    {"GET", "/tasks?", v1, operation::list, "", "", "", ""},
    {"POST", "/tasks/t-1:cancel", v1, operation::cancel, "", "t-1", "", ""},
    {"GET", "/tasks/t-1:subscribe", v1, operation::subscribe, "", "t-1", "", ""},
    {"DELETE", "/tasks/t/pushNotificationConfigs/p", v1, operation::delete_push, "", "t", "p", ""},
    {"GET", "/extendedAgentCard", v1, operation::extended_card, "", "", "", ""},
    {"POST", "/acme/message:send?a=b?c", v1, operation::send, "acme", "", "", "a=b?c"},
    {"GET", "/acme/tasks", v1, operation::list, "acme", "", "", ""},
    {"GET", "/tasks/tasks", v1, operation::get, "", "tasks", "", ""},
    {"GET", "/tasks/tasks/t", v1, operation::get, "tasks", "t", "", ""},
    {"POST", "/tasks/message:send", v1, operation::send, "tasks", "", "", ""},
    {"GET", "/acme/extendedAgentCard", v1, operation::extended_card, "acme", "", "", ""},
    {"GET", "/tasks/a%20b%3Acancel", v1, operation::get, "", "a b:cancel", "", ""},
    {"GET", "/%C3%A9/tasks/%F0%9F%98%80%01", v1, operation::get, "\xC3\xA9", "\xF0\x9F\x98\x80\x01", "", ""},
    {"POST", "/tasks/a:b:cancel", v1, operation::cancel, "", "a:b", "", ""},
    {"GET", "/tasks/a:b", v1, operation::get, "", "a:b", "", ""},
};

std::string shown(std::string_view verb, std::string_view target)
{
    return std::string{verb}.append(" ").append(target);
}

}  // namespace

TEST_CASE("every route of both generations is found with its ids, and written as it was read")
{
    for (const auto& row : found_rows) {
        CAPTURE(shown(row.verb, row.target));
        const auto read = a2a::read_rest_target(row.verb, row.target);
        REQUIRE(read.has_value());
        CHECK(read->version == row.version);
        CHECK(read->what == row.what);
        CHECK(read->tenant == row.tenant);
        CHECK(read->task_id == row.task);
        CHECK(read->config_id == row.config);
        CHECK(read->query == row.query);
        std::string path = "x";
        REQUIRE(a2a::append_rest_path(path, *read));
        const auto again = a2a::read_rest_target(row.verb, std::string_view{path}.substr(1), row.version);
        REQUIRE(again.has_value());
        CHECK(again->what == row.what);
        CHECK(again->tenant == row.tenant);
        CHECK(again->task_id == row.task);
        CHECK(again->config_id == row.config);
    }
}

TEST_CASE("what a caller says of its version decides whose path it is")
{
    const auto tenant = a2a::read_rest_target("POST", "/v1/message:send", v1);
    REQUIRE(tenant.has_value());
    CHECK(tenant->version == v1);
    CHECK(tenant->tenant == "v1");
    CHECK(a2a::read_rest_target("POST", "/message:send", v03).error().code == core::errc::not_found);
}

TEST_CASE("no other path is found, and no other verb is allowed")
{
    for (const std::string_view path :
         {"",
          "tasks",
          "/",
          "/v1",
          "/v1/",
          "/v1/acme/message:send",
          "/tasks/",
          "/tasks//pushNotificationConfigs",
          "/acme/b/tasks",
          "//tasks",
          "/tasks/%FF",
          "/tasks/a%C3",
          "/%C0%AF/tasks",
          "/message:sent",
          "/tasks/t%3Asubscribe",
          "/v1/tasks/t%3asubscribe",
          "/tasks/t:subscribe;x",
          "/tasks/t;x:subscribe",
          "/tasks/t;x",
          "/acme;x/tasks",
          "/tasks/t/pushNotificationConfigs/p/q",
          "/tasks/t/pushNotificationConfigs/"}) {
        CAPTURE(path);
        CHECK(a2a::read_rest_target("GET", path).error().code == core::errc::not_found);
    }
    for (const auto& [verb, path] : {
             std::pair{"GET", "/message:send"},
             std::pair{"PUT", "/tasks/t"},
             std::pair{"DELETE", "/v1/tasks/t"},
             std::pair{"GET", "/tasks/t:cancel"},
             std::pair{"POST", "/v1/card"},
             std::pair{"DELETE", "/acme/tasks/t:subscribe"},
             std::pair{"get", "/tasks/t"},
         }) {
        CAPTURE(shown(verb, path));
        CHECK(a2a::read_rest_target(verb, path).error().code == core::errc::method_not_allowed);
    }
}

TEST_CASE("a path is not written around an id that it cannot hold")
{
    a2a::rest_target target;
    target.what = operation::get;
    target.version = v1;
    for (const std::string_view id :
         {std::string_view{},
          std::string_view{"."},
          std::string_view{".."},
          std::string_view{"../.well-known"},
          std::string_view{"t/pushNotificationConfigs/p"},
          std::string_view{"..\\x"},
          std::string_view{"t\0", 2},
          std::string_view{"t:subscribe"}}) {
        CAPTURE(id);
        std::string path = "kept";
        target.task_id = id;
        CHECK_FALSE(a2a::append_rest_path(path, target));
        CHECK(path == "kept");
    }
    target.task_id = "t";
    target.tenant = "a/b";
    std::string with_tenant;
    CHECK_FALSE(a2a::append_rest_path(with_tenant, target));
    target.tenant = "tasks";
    CHECK(a2a::append_rest_path(with_tenant, target));
    CHECK(with_tenant == "/tasks/tasks/t");
    for (const auto what : {operation::list, operation::extended_card}) {
        target.what = what;
        CHECK_FALSE(a2a::append_rest_path(with_tenant, target));
    }
    target.what = operation::get;
    target.tenant.clear();
    target.task_id = "...";
    std::string path;
    CHECK(a2a::append_rest_path(path, target));
    CHECK(path == "/tasks/...");
    CHECK_FALSE(a2a::append_rest_path(path, a2a::rest_target{}));
}

TEST_SUITE_END();
