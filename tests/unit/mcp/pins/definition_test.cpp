#include "mcp/pins/definition.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

TEST_SUITE_BEGIN("mcp/pins/definition");

namespace {

mcp::tool_print print(std::string_view raw)
{
    const auto read = mcp::print_of_tool(raw);
    REQUIRE(read.has_value());
    return *read;
}

std::string card(std::string_view text)
{
    const auto read = mcp::print_of_card(text, 1024);
    REQUIRE(read.has_value());
    return *read;
}

// How the second differs from the first.
enum class difference { none, words, shape };

difference between(std::string_view a, std::string_view b)
{
    const auto one = print(a);
    const auto other = print(b);
    if (one == other) {
        return difference::none;
    }
    return one.shape == other.shape ? difference::words : difference::shape;
}

}  // namespace

TEST_CASE("Order, white space outside and runs of it within texts, and the order of sets do not count")
{
    CHECK(
        between(
            R"({"name":"a","description":"Finds  it.\n Now.","inputSchema":{"type":["string","null"],"required":["b","a"],"enum":[2,1]}})",
            R"({ "inputSchema": {"enum":[1,2],"required":["a","b"],"type":["null","string"]}, "description":" Finds it. Now. ","name":"a"})"
        ) == difference::none
    );
    CHECK(between(R"({"name":"a","outputSchema":null})", R"({"name":"a"})") == difference::none);
}

TEST_CASE("Titles and descriptions are words, also in schemas and annotations")
{
    CHECK(between(R"({"name":"a","description":"x"})", R"({"name":"a","description":"y"})") == difference::words);
    CHECK(between(R"({"name":"a"})", R"({"name":"a","title":"y"})") == difference::words);
    CHECK(
        between(R"({"name":"a","annotations":{"title":"x"}})", R"({"name":"a","annotations":{"title":"y"}})") ==
        difference::words
    );
    for (const std::string where :
         {R"({"properties":{"p":%}})",
          R"({"$defs":{"p":%}})",
          R"({"items":%})",
          R"({"allOf":[%]})",
          R"({"properties":{"title":%}})",
          R"({"if":%})",
          R"({"patternProperties":{"^x":{"additionalProperties":%}}})"}) {
        CAPTURE(where);
        const auto with = [&](std::string_view schema) {
            auto text = where;
            text.replace(text.find('%'), 1, schema);
            return R"({"name":"a","inputSchema":)" + text + '}';
        };
        CHECK(between(with(R"({"description":"x"})"), with(R"({"description":"y"})")) == difference::words);
        CHECK(between(with(R"({"type":"string"})"), with(R"({"type":"number"})")) == difference::shape);
    }
}

TEST_CASE("What is called title or description and is no text of a schema is its shape")
{
    const auto schema = [](std::string_view properties) {
        return R"({"name":"a","inputSchema":{"properties":)" + std::string{properties} + "}}";
    };
    CHECK(between(schema(R"({"title":{"type":"string"}})"), schema("{}")) == difference::shape);
    CHECK(
        between(schema(R"({"description":{"type":"string"}})"), schema(R"({"x":{"type":"string"}})")) ==
        difference::shape
    );
    CHECK(
        between(schema(R"({"x":{"default":{"title":"a"}}})"), schema(R"({"x":{"default":{"title":"b"}}})")) ==
        difference::shape
    );
    CHECK(
        between(schema(R"({"x":{"enum":[{"title":"a"}]}})"), schema(R"({"x":{"enum":[{"title":"b"}]}})")) ==
        difference::shape
    );
    CHECK(between(R"({"name":"a","title":"x"})", R"({"name":"a","title":["x"]})") == difference::shape);
}

TEST_CASE("Name, annotations, execution and _meta.ui are shape, and other members do not count")
{
    CHECK(between(R"({"name":"a"})", R"({"name":"b"})") == difference::shape);
    CHECK(
        between(R"({"name":"a","annotations":{"readOnlyHint":true}})", R"({"name":"a","annotations":{}})") ==
        difference::shape
    );
    CHECK(between(R"({"name":"a","execution":{"taskSupport":"required"}})", R"({"name":"a"})") == difference::shape);
    CHECK(
        between(R"({"name":"a","_meta":{"ui":{"resourceUri":"ui://x"}}})", R"({"name":"a","_meta":{}})") ==
        difference::shape
    );
    CHECK(
        between(R"({"name":"a","_meta":{"x":1},"icons":[{"src":"https://x"}],"x":2})", R"({"name":"a"})") ==
        difference::none
    );
}

TEST_CASE("Values other than texts keep their order and their white space")
{
    CHECK(
        between(
            R"({"name":"a","inputSchema":{"properties":{"x":{"default":[1,2]}}}})",
            R"({"name":"a","inputSchema":{"properties":{"x":{"default":[2,1]}}}})"
        ) == difference::shape
    );
    CHECK(
        between(
            R"({"name":"a","inputSchema":{"properties":{"x":{"const":"a  b"}}}})",
            R"({"name":"a","inputSchema":{"properties":{"x":{"const":"a b"}}}})"
        ) == difference::shape
    );
}

TEST_CASE("The fingerprint is SHA-256 over RFC 8785, so that others can make it")
{
    // printf '%s' '{"description":"d","inputSchema":{"required":["a","b"]},"name":"n"}' | sha256sum
    CHECK(
        print(R"({"name":"n","inputSchema":{"required":["b","a"]},"description":" d "})").whole ==
        "dd7c65143bdca35a9047aec6b3c346852b85d57d788ffae61ff96c3615c428ad"
    );
    // printf '%s' '"Be kind."' | sha256sum
    CHECK(mcp::print_of_words("Be \n kind. ") == mcp::print_of_words("Be kind."));
}

TEST_CASE("Version, signatures and the order of lists of a card do not count, and all else does")
{
    const auto usual = card(R"({"name":"a","version":"1","skills":[{"id":"x","tags":["p","q"]},{"id":"y"}]})");
    CHECK(
        card(R"({"skills":[{"id":"y"},{"tags":["q","p"],"id":"x"}],"name":"a","version":"2","signatures":[{}]})") ==
        usual
    );
    CHECK(card(R"({"name":"a","skills":[{"id":"x","tags":["p"]},{"id":"y"}]})") != usual);
    CHECK(card(R"({"name":"b","skills":[{"id":"x","tags":["p","q"]},{"id":"y"}]})") != usual);
    CHECK(
        card(R"({"name":"a","skills":[{"id":"x","tags":["p","q"]},{"id":"y"}],"x":{"version":"1"}})") !=
        card(R"({"name":"a","skills":[{"id":"x","tags":["p","q"]},{"id":"y"}],"x":{"version":"2"}})")
    );
    CHECK(card("[1,1]") != card("[1]"));
}

TEST_CASE("A tool at the limit of size is read, and one beyond it is not, nor is what is no tool")
{
    const auto of = [](std::size_t size) {
        const std::string begin = R"({"name":"a","description":")";
        return begin + std::string(size - begin.size() - 2, 'x') + "\"}";
    };
    CHECK(mcp::print_of_tool(of(mcp::longest_definition - 1)).has_value());
    CHECK(mcp::print_of_tool(of(mcp::longest_definition)).has_value());
    CHECK_FALSE(mcp::print_of_tool(of(mcp::longest_definition + 1)).has_value());
    const auto with_members = [](std::size_t count) {
        std::string all = R"({"name":"a","inputSchema":{)";
        for (std::size_t i = 0; i < count; ++i) {
            all.append(i == 0 ? "\"" : ",\"").append(std::to_string(i)).append("\":1");
        }
        return all + "}}";
    };
    CHECK(mcp::print_of_tool(with_members(999)).has_value());
    CHECK(mcp::print_of_tool(with_members(1000)).has_value());
    CHECK_FALSE(mcp::print_of_tool(with_members(1001)).has_value());
    CHECK_FALSE(mcp::print_of_tool("[]").has_value());
    CHECK_FALSE(mcp::print_of_tool("{").has_value());
    CHECK_FALSE(mcp::print_of_card("{}  ", 3).has_value());
    CHECK(mcp::print_of_card("{} ", 3).has_value());
}

TEST_SUITE_END();
