#include "a2a/gateway_facts.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

TEST_SUITE_BEGIN("a2a/gateway_facts");

namespace {

using a2a::generation;
using a2a::metadata_place;
using a2a::operation;

// The result with facts; "-": it has no place for them.
std::string with_facts(std::string_view result, metadata_place place = metadata_place::result)
{
    const std::string begin = R"({"jsonrpc":"2.0","id":1,"result":)";
    const auto answer = begin + std::string{result} + "}";
    const auto edited = a2a::add_facts(answer, place, "u:f", R"({"a":1})");
    if (!edited) {
        return "-";
    }
    REQUIRE(edited->starts_with(begin));
    REQUIRE(edited->ends_with("}"));
    return edited->substr(begin.size(), edited->size() - begin.size() - 1);
}

}  // namespace

TEST_CASE("Facts stand in the metadata of the result, beside what is there")
{
    CHECK(with_facts("{}") == R"({"metadata":{"u:f":{"a":1}}})");
    CHECK(with_facts(R"({ "id":"t","n":1.50})") == R"({"metadata":{"u:f":{"a":1}}, "id":"t","n":1.50})");
    CHECK(with_facts(R"({"metadata":{},"id":"t"})") == R"({"metadata":{"u:f":{"a":1}},"id":"t"})");
    CHECK(with_facts(R"({"metadata":{"x":[1.0]}})") == R"({"metadata":{"u:f":{"a":1},"x":[1.0]}})");
    CHECK(with_facts(R"({"metadata":null})") == R"({"metadata":{"u:f":{"a":1}}})");
    CHECK(with_facts(R"({"m\u0065tadata":{"x":1}})") == R"({"m\u0065tadata":{"u:f":{"a":1},"x":1}})");
}

TEST_CASE("What another gateway has said under the same URI goes")
{
    CHECK(with_facts(R"({"metadata":{"x":1,"u:f":{"a":2},"y":2}})") == R"({"metadata":{"x":1,"u:f":{"a":1},"y":2}})");
    CHECK(with_facts(R"({"metadata":{"u\u003af":"old"}})") == R"({"metadata":{"u\u003af":{"a":1}}})");
}

TEST_CASE("A result of 1.0 that wraps a task, a message or an event has them inside")
{
    for (const std::string name : {"task", "message", "statusUpdate", "artifactUpdate"}) {
        CHECK(
            with_facts("{\"" + name + R"(":{"id":"t"}})", metadata_place::inside) ==
            "{\"" + name + R"(":{"metadata":{"u:f":{"a":1}},"id":"t"}})"
        );
    }
    for (const auto* other :
         {R"({"id":"t"})", R"({"task":1})", R"({"task":{},"message":{}})", R"({"task":{},"task":{}})", "[]"}) {
        CAPTURE(other);
        CHECK(with_facts(other, metadata_place::inside) == "-");
    }
}

TEST_CASE("What has no place for them stays as it is")
{
    for (const auto* result :
         {"null",
          "[]",
          "\"x\"",
          R"({"metadata":1})",
          R"({"metadata":[]})",
          R"({"metadata":{},"metadata":{}})",
          R"({"metadata":{"u:f":1,"u:f":2}})"}) {
        CAPTURE(result);
        CHECK(with_facts(result) == "-");
    }
    CHECK(with_facts("{}", metadata_place::none) == "-");
    for (const auto* text :
         {"", "no JSON", "{}", R"({"jsonrpc":"2.0","id":1,"error":{"code":1}})", R"([{"result":{}}])"}) {
        CAPTURE(text);
        CHECK_FALSE(a2a::add_facts(text, metadata_place::result, "u:f", "{}").has_value());
    }
}

TEST_CASE("Only answers that are tasks, messages or events have a place for facts")
{
    for (const auto what : {operation::send, operation::stream, operation::subscribe}) {
        CHECK(a2a::place_of_metadata(what, generation::v1) == metadata_place::inside);
        CHECK(a2a::place_of_metadata(what, generation::v03) == metadata_place::result);
    }
    for (const auto of : {generation::v1, generation::v03}) {
        CHECK(a2a::place_of_metadata(operation::get, of) == metadata_place::result);
        CHECK(a2a::place_of_metadata(operation::cancel, of) == metadata_place::result);
        for (const auto what :
             {operation::list, operation::create_push, operation::list_push, operation::extended_card, operation::none
             }) {
            CHECK(a2a::place_of_metadata(what, of) == metadata_place::none);
        }
    }
}

TEST_SUITE_END();
