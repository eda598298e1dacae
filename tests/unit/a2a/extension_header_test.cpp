#include "a2a/extension_header.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("a2a/extension_header");

namespace {

using a2a::extension_list;
using a2a::generation;

std::vector<std::string_view> uris(const std::vector<std::string_view>& values)
{
    extension_list list;
    for (const auto value : values) {
        REQUIRE(list.add(value));
    }
    return {list.uris().begin(), list.uris().end()};
}

using texts = std::vector<std::string_view>;

}  // namespace

TEST_CASE("The field of each generation is known in whatever case, and no other field is")
{
    CHECK(a2a::extension_field("A2A-Extensions") == generation::v1);
    CHECK(a2a::extension_field("a2a-extensions") == generation::v1);
    CHECK(a2a::extension_field("X-A2A-Extensions") == generation::v03);
    CHECK(a2a::extension_field("x-a2a-EXTENSIONS") == generation::v03);
    for (const auto* other : {"", "A2A-Extension", "A2A-Extensions ", "X-A2A-Extension", "A2A-Version", "Extensions"}) {
        CAPTURE(other);
        CHECK_FALSE(a2a::extension_field(other).has_value());
    }
    for (const auto each : {generation::v1, generation::v03}) {
        CHECK(a2a::extension_field(a2a::extension_field_name(each)) == each);
    }
}

TEST_CASE("A list has each URI once, in order, as it is written")
{
    CHECK(uris({"https://a.test/x"}) == texts{"https://a.test/x"});
    CHECK(uris({"a, b ,\tc", "d"}) == texts{"a", "b", "c", "d"});
    CHECK(uris({"a,,b,", ",", "", " , a"}) == texts{"a", "b"});
    CHECK(uris({"HTTPS://A.test/%7e", "https://a.test/~"}) == texts{"HTTPS://A.test/%7e", "https://a.test/~"});
    CHECK(uris({}).empty());
}

TEST_CASE("Of so many URIs a list is read, and of one more it is not")
{
    for (const std::size_t count : {extension_list::most - 1, extension_list::most, extension_list::most + 1}) {
        CAPTURE(count);
        std::string value;
        for (std::size_t i = 0; i < count; ++i) {
            value += (i == 0 ? "u" : ",u") + std::to_string(i);
        }
        extension_list list;
        CHECK(list.add(value) == (count <= extension_list::most));
        // The same one counts again.
        extension_list same;
        bool added = true;
        for (std::size_t i = 0; i < count; ++i) {
            added = same.add("u") && added;
        }
        CHECK(added == (count <= extension_list::most));
    }
}

TEST_CASE("Of so many bytes a list is read, and of one more it is not")
{
    for (const std::size_t bytes :
         {extension_list::longest - 1, extension_list::longest, extension_list::longest + 1}) {
        CAPTURE(bytes);
        extension_list one;
        CHECK(one.add(std::string(bytes, 'u')) == (bytes <= extension_list::longest));
        extension_list two;
        REQUIRE(two.add(std::string(1000, 'u')));
        CHECK(two.add(std::string(bytes - 1000, ' ')) == (bytes <= extension_list::longest));
    }
}

TEST_CASE("An agent is not told of the gateway's own extensions")
{
    extension_list list;
    REQUIRE(list.add("urn:cardea:a2a:extension:gateway:v1, https://a.test/x"));
    REQUIRE(list.add("urn:cardea:a2a:extension:mcp:v1,urn:cardea:a2a:extensions:other"));
    CHECK(list.of_agent() == "https://a.test/x, urn:cardea:a2a:extensions:other");
    CHECK(list.contains(a2a::gateway_facts_extension));
    CHECK_FALSE(list.contains("https://a.test/"));
    extension_list own;
    REQUIRE(own.add("urn:cardea:a2a:extension:gateway:v1"));
    CHECK(own.of_agent().empty());
}

TEST_SUITE_END();
