#include "core/json/json_writer.hpp"

#include "core/json/json.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>

TEST_SUITE_BEGIN("core/json_writer");

TEST_CASE("The writer puts commas between members and items, and none after a bracket or a name")
{
    std::string text;
    core::json_writer to{text, '{'};
    to.member("a", "x");
    to.member("b", 1);
    to.name("c");
    to.open('[');
    to.value(true);
    to.value(-2);
    to.open('{');
    to.close('}');
    to.close(']');
    to.name("d");
    to.open('{');
    to.member("e", 0.5);
    to.close('}');
    to.close('}');
    CHECK(text == R"({"a":"x","b":1,"c":[true,-2,{}],"d":{"e":0.5}})");
}

TEST_CASE("The writer goes on behind texts of others, and other texts behind a name")
{
    std::string text = R"({"first":1)";
    core::json_writer to{text};
    to.raw("");
    to.raw(R"("second":2,"third":3)");
    to.name("fourth");
    text += "[4]";
    to.raw_member("fifth", "5");
    to.raw_member_if_any("absent", "");
    to.member_if_any("absent", "");
    to.close('}');
    CHECK(text == R"({"first":1,"second":2,"third":3,"fourth":[4],"fifth":5})");
}

TEST_CASE("A comma that stands there already is not written again")
{
    std::string text = "[1,";
    core::json_writer to{text};
    to.open('{');
    to.member("a", 1);
    to.close('}');
    to.close(']');
    CHECK(text == R"([1,{"a":1}])");
}

TEST_CASE("Texts and keys are escaped, and a string that ends with a bracket is no bracket")
{
    std::string text;
    core::json_writer to{text, '{'};
    to.key("\"[");
    to.value("{\n[:");
    to.key("next:");
    to.value(std::string{"{"});
    to.close('}');
    const auto read = core::parse_json(text);
    REQUIRE(read.has_value());
    CHECK((*read)["\"["] == "{\n[:");
    CHECK((*read)["next:"] == "{");
}

TEST_CASE("Numbers keep all their digits")
{
    std::string text;
    core::json_writer to{text, '['};
    to.value(std::numeric_limits<std::uint64_t>::max());
    to.value(std::numeric_limits<std::int64_t>::min());
    to.value(0.1);
    to.close(']');
    CHECK(text == "[18446744073709551615,-9223372036854775808,0.1]");
}

TEST_CASE("An object is empty until something is written")
{
    std::string text;
    core::json_writer to{text, '{'};
    CHECK(to.empty());
    to.member("a", false);
    CHECK_FALSE(to.empty());
}

TEST_SUITE_END();
