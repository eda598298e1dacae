#include "mcp/calls/incoming_check.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("mcp/calls/accepted_types");

TEST_CASE("A client takes what its most specific ranges say, and anything if it says nothing")
{
    const auto accepts = [](std::vector<std::string_view> values) {
        mcp::accepted_types types;
        for (const auto value : values) {
            types.add(value);
        }
        return std::string{types.json() ? "json " : ""} + (types.events() ? "events" : "");
    };
    CHECK(accepts({}) == "json events");
    CHECK(accepts({"", ",", " , "}) == "json events");
    CHECK(accepts({"*/*"}) == "json events");
    CHECK(accepts({"application/json, text/event-stream"}) == "json events");
    CHECK(accepts({"text/event-stream;q=0.5 ,Application/JSON; charset=utf-8"}) == "json events");
    CHECK(accepts({"application/*", "text/*"}) == "json events");
    CHECK(accepts({"application/json"}) == "json ");
    CHECK(accepts({"text/event-stream"}) == "events");
    CHECK(accepts({"application/json;q=0, text/event-stream;q=0.0"}).empty());
    CHECK(accepts({"application/*"}) == "json ");
    CHECK(accepts({"text/html, */*;q=0.1"}) == "json events");
    CHECK(accepts({"application/json; Q=0.000;a=b, */*;q=0.001"}) == "events");
    CHECK(accepts({"*/*", "text/*;q=0"}) == "json ");
    CHECK(accepts({"text/*;q=0, text/event-stream"}) == "events");
    CHECK(accepts({"application/json;q=0"}).empty());
    CHECK(accepts({"application/jsonx, text/html, xtext/event-stream", "", ",", ";", ";q=0,"}).empty());
}

TEST_SUITE_END();
