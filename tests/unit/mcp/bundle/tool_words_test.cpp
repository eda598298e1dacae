// Words of names and questions.
#include "mcp/bundle/tool_search.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("mcp/bundle/tool_words");

namespace {

using words = std::vector<std::string_view>;

bool shares_meaning(std::string_view word, std::string_view other)
{
    const auto one = mcp::asked_things(word);
    const auto two = mcp::asked_things(other);
    REQUIRE(one.size() == 1);
    REQUIRE(two.size() == 1);
    return std::any_of(one[0].begin() + 1, one[0].end(), [&](const auto& meaning) {
        return std::find(two[0].begin() + 1, two[0].end(), meaning) != two[0].end();
    });
}

}  // namespace

TEST_CASE("Names are split into words, however they are written")
{
    CHECK(mcp::words_of("read_text_file") == words{"read", "text", "file"});
    CHECK(mcp::words_of("get-tiny-image") == words{"get", "tiny", "image"});
    CHECK(mcp::words_of("DNS_getDNSRecordsV1") == words{"DNS", "get", "DNS", "Records", "V1"});
    CHECK(mcp::words_of("sha256Sum") == words{"sha256", "Sum"});
    CHECK(mcp::words_of("a.b/c:d  e") == words{"a", "b", "c", "d", "e"});
    CHECK(
        mcp::words_of("gr\xC3\xB6\xC3\x9F"
                      "e") == words{"gr\xC3\xB6\xC3\x9F"
                                    "e"}
    );
    CHECK(mcp::words_of("X") == words{"X"});
    CHECK(mcp::words_of("").empty());
    CHECK(mcp::words_of("--- ?!").empty());
}

TEST_CASE("So many words are read, and no more")
{
    CHECK(mcp::words_of("a b c", 2) == words{"a", "b"});
    CHECK(mcp::words_of("a b c", 3).size() == 3);
    CHECK(mcp::words_of("a b c", 4).size() == 3);
    CHECK(mcp::words_of("a b c", 0).empty());
}

TEST_CASE("Names that differ in their manner are equal in plain words")
{
    CHECK(mcp::plain_words("readTextFile") == "read text file");
    CHECK(mcp::plain_words("Read_Text-File") == "read text file");
    CHECK(mcp::plain_words(" read  text file! ") == "read text file");
    CHECK(mcp::plain_words("?") == "");
}

TEST_CASE("Words of one meaning share it, in the plural and in forms of verbs too")
{
    CHECK(shares_meaning("folder", "directory"));
    CHECK(shares_meaning("Folders", "DIR"));
    CHECK(shares_meaning("creating", "make"));
    CHECK(shares_meaning("deleted", "remove"));
    CHECK(shares_meaning("purchased", "buy"));
    CHECK_FALSE(shares_meaning("folder", "buy"));
    CHECK_FALSE(shares_meaning("quokka", "directory"));
}

TEST_CASE("A question asks for each of its words once, without those that say nothing")
{
    const auto things = mcp::asked_things("what is in the Zebra zebra of the quokka");
    REQUIRE(things.size() == 2);
    CHECK(things[0] == std::vector<std::string>{"zebra"});
    CHECK(things[1] == std::vector<std::string>{"quokka"});

    CHECK(mcp::asked_things("what is it").size() == 3);  // nothing else is left to look for
    CHECK(mcp::asked_things("").empty());
    CHECK(mcp::asked_things("?!").empty());
}

TEST_CASE("A tool is indexed by name, prefix, title, description and parameters")
{
    const auto texts = mcp::indexed_tool(
        "zebraCount",
        "zoo_animals",
        R"({"name":"x","title":"Quokka","description":"Lemur.","inputSchema":{"type":"object","properties":{)"
        R"("okapiSize":{"type":"array","description":"Tapir","items":{"properties":{"ibisName":{}}}}}}})"
    );
    CHECK(texts[0] == "zebra count ");
    CHECK(texts[1] == "zoo animals ");
    CHECK(texts[2] == "quokka ");
    CHECK(texts[3] == "lemur ");
    CHECK(texts[4].starts_with("okapi size tapir ibis name "));
}

TEST_CASE("The title of the annotations stands in for a title")
{
    CHECK(mcp::indexed_tool("a", "b", R"({"annotations":{"title":"Quokka"}})")[2] == "quokka ");
    CHECK(mcp::indexed_tool("a", "b", R"({"title":"Ibis","annotations":{"title":"Quokka"}})")[2] == "ibis ");
}

TEST_CASE("Long descriptions and deep schemas are indexed in part")
{
    std::string deep = "{}";
    for (int i = 0; i < 30; ++i) {
        deep = R"({"properties":{"level)" + std::to_string(30 - i) + R"(":)" + deep + "}}";
    }
    const auto texts = mcp::indexed_tool(
        "a",
        "b",
        R"({"description":")" + std::string(5000, 'x') + R"(","inputSchema":)" + deep + "}"
    );
    CHECK(texts[3].size() == mcp::text_share + 1);
    CHECK(texts[4].find("level4") != std::string::npos);
    CHECK(texts[4].find("level5") == std::string::npos);
}

TEST_CASE("A definition that is no object has the words of its name")
{
    for (const std::string_view definition :
         {"", "[]", "7", "{", R"({"inputSchema":[],"title":1})", R"({"inputSchema":{"properties":{"a":1}}})"}) {
        CAPTURE(definition);
        CHECK(mcp::indexed_tool("zebra", "b", definition)[0] == "zebra ");
    }
}

TEST_SUITE_END();
