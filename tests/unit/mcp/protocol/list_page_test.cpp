#include "mcp/protocol/list_page.hpp"

#include <doctest/doctest.h>

#include <string>

using mcp::header_problem;

TEST_SUITE_BEGIN("mcp/protocol/list_page");

namespace {

std::string object_of(const std::string& properties, const std::string& more = {})
{
    return R"({"type":"object","properties":{)" + properties + "}" + more + "}";
}

// A parameter `p` that is annotated with `name`, raw.
std::string annotated(const std::string& name, const std::string& type = R"("string")")
{
    return object_of(R"("p":{"type":)" + type + R"(,"x-mcp-header":)" + name + "}");
}

std::string why_not(const std::string& schema)
{
    return header_problem(schema).value_or("");
}

constexpr const char* elsewhere = "stands where properties alone do not lead to";
const std::string good = R"({"type":"string","x-mcp-header":"Region"})";

}  // namespace

TEST_CASE("an annotation is a token, on an integer, a string or a boolean")
{
    CHECK(why_not(annotated(R"("Region")")).empty());
    CHECK(why_not(annotated(R"("!#$%&'*+-.^_`|~09azAZ")")).empty());
    CHECK(why_not(annotated(R"("R\u0065gion")")).empty());
    CHECK(why_not(annotated(R"("Count")", R"("integer")")).empty());
    CHECK(why_not(annotated(R"("Sure")", R"("boolean")")).empty());

    CHECK(why_not(annotated(R"("")")) == "p: x-mcp-header is empty");
    for (const auto* name :
         {R"("My Region")",
          R"("Region:Primary")",
          R"("Région")",
          R"("Region\t1")",
          R"("Region\r\nX: 1")",
          R"("Region\u0000")",
          R"("a\u007f")",
          R"("a/b")",
          R"("a\\b")",
          R"("a\"b")",
          R"-("(a)")-",
          R"("a,b")",
          R"("a;b")",
          R"("a=b")",
          R"("a?b")",
          R"("a@b")",
          R"("[a]")",
          R"("{a}")",
          R"("<a>")",
          R"(" a")"}) {
        CAPTURE(name);
        CHECK(why_not(annotated(name)) == "p: x-mcp-header is not a token");
    }
    for (const auto* name : {"null", "true", "5", "[]", "{}", R"(["Region"])"}) {
        CAPTURE(name);
        CHECK(why_not(annotated(name)) == "p: x-mcp-header is not a string");
    }
    for (const auto* type :
         {R"("number")", R"("object")", R"("array")", R"("null")", R"("String")", R"(["string","null"])", "null", "5"
         }) {
        CAPTURE(type);
        CHECK(why_not(annotated(R"("A")", type)) == "p: x-mcp-header is not of an integer, a string or a boolean");
    }
    CHECK(
        why_not(object_of(R"("p":{"enum":["a"],"x-mcp-header":"A"})")) ==
        "p: x-mcp-header is not of an integer, a string or a boolean"
    );
}

TEST_CASE("no two annotations of a schema are the same, whatever their case")
{
    const auto two = [](const std::string& a, const std::string& b) {
        return object_of(
            R"("p":{"type":"string","x-mcp-header":")" + a + R"("},"q":{"type":"object","properties":{"r":)" +
            R"({"type":"string","x-mcp-header":")" + b + R"("}}})"
        );
    };
    CHECK(why_not(two("A", "B")).empty());
    CHECK(why_not(two("Region", "Region")) == "q.r: x-mcp-header stands twice");
    CHECK(why_not(two("MyField", "myfield")) == "q.r: x-mcp-header stands twice");
}

TEST_CASE("an annotation stands only where properties alone lead to")
{
    CHECK(why_not(object_of(R"("p":)" + good)).empty());
    CHECK(why_not(object_of(R"("p":{"properties":{"q":{"properties":{"r":)" + good + "}}}}")).empty());

    const auto inside = [](const std::string& keyword, const std::string& value) {
        return object_of(R"("p":{")" + keyword + R"(":)" + value + "}");
    };
    for (const auto* keyword :
         {"items",
          "prefixItems",
          "contains",
          "additionalItems",
          "unevaluatedItems",
          "additionalProperties",
          "unevaluatedProperties",
          "propertyNames",
          "oneOf",
          "anyOf",
          "allOf",
          "not",
          "if",
          "then",
          "else",
          "$ref",
          "contentSchema",
          "anything"}) {
        CAPTURE(keyword);
        const auto place = std::string{"p."} + keyword;
        CHECK(why_not(inside(keyword, good)) == place + ": x-mcp-header " + elsewhere);
        CHECK(why_not(inside(keyword, "[{}," + good + "]")) == place + ": x-mcp-header " + elsewhere);
        CHECK(why_not(inside(keyword, object_of(R"("q":)" + good))) == place + ".q: x-mcp-header " + elsewhere);
    }
    for (const auto* keyword : {"patternProperties", "dependentSchemas", "$defs", "definitions", "dependencies"}) {
        CAPTURE(keyword);
        const auto schema = inside(keyword, R"({"q":)" + good + "}");
        CHECK(why_not(schema) == std::string{"p."} + keyword + ".q: x-mcp-header " + elsewhere);
    }
    CHECK(why_not(R"({"type":"string","x-mcp-header":"A"})") == std::string{"the schema: x-mcp-header "} + elsewhere);
    CHECK(why_not("[" + good + "]") == std::string{"the schema: x-mcp-header "} + elsewhere);
    CHECK(
        why_not(object_of("", R"(,"$defs":{"x":)" + good + "}")) == std::string{"$defs.x: x-mcp-header "} + elsewhere
    );
    CHECK(why_not(R"({"properties":[)" + good + "]}") == std::string{"the schema: x-mcp-header "} + elsewhere);
}

TEST_CASE("what only looks like an annotation is none: names of parameters, and values")
{
    CHECK(why_not(object_of(R"("x-mcp-header":{"type":"object"})")).empty());
    CHECK(why_not(object_of(R"("p":{"$defs":{"x-mcp-header":{"type":"object"}}})")).empty());
    CHECK(why_not(object_of(R"("p":{"dependentRequired":{"x-mcp-header":["q"]},"required":["x-mcp-header"]})")).empty()
    );
    for (const auto* keyword : {"default", "const", "enum", "examples"}) {
        CHECK(why_not(object_of(R"("p":{")" + std::string{keyword} + R"(":[{"x-mcp-header":""}]})")).empty());
    }
    CHECK(why_not(object_of(R"("p":{"type":"object","X-MCP-Header":"a b"})")).empty());
    CHECK(why_not(object_of(R"("p":{"description":"x-mcp-header: \"a b\""})")).empty());
}

TEST_CASE("an annotation counts in every spelling of its name, and what has none is not looked at")
{
    CHECK(why_not(object_of(R"("p":{"type":"string","\u0078-mcp-header":""})")) == "p: x-mcp-header is empty");
    for (const auto* schema : {"{}", "true", "5", "null", R"("x-mcp-header")", "[]", ""}) {
        CHECK(why_not(schema).empty());
    }
}

TEST_SUITE_END();
