// The three tools of search: definitions, arguments at their limits, results.
#include "mcp/bundle/tool_search.hpp"

#include "core/json/json.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("mcp/bundle/tool_search");

namespace {

using core::errc;
using mcp::era;

core::json parsed(std::string_view text)
{
    auto read = core::parse_json(text, {.bytes = 16 * 1024 * 1024});
    REQUIRE_MESSAGE(read.has_value(), text);
    return std::move(*read);
}

// The object in the text of a result, which is `structuredContent` once more.
core::json structured(std::string_view result)
{
    auto read = parsed(result);
    REQUIRE(read["content"].size() == 1);
    CHECK(read["content"][0]["type"] == "text");
    CHECK(parsed(read["content"][0]["text"].get<std::string>()) == read["structuredContent"]);
    CHECK_FALSE(read.contains("isError"));
    return read["structuredContent"];
}

std::string definition(std::string_view name, std::size_t bytes)
{
    auto text = R"({"name":")" + std::string{name} + R"(","description":"It does. Then )";
    text += std::string(bytes - text.size() - 2, 'x');
    return text + "\"}";
}

void check_refused(std::string_view arguments)
{
    CAPTURE(arguments);
    const auto read = mcp::read_find(arguments);
    REQUIRE(read.has_error());
    CHECK(read.error().code == errc::invalid_params);
    CHECK_FALSE(read.error().detail.empty());
}

std::string query_of(const std::string& text, const std::string& more = {})
{
    return R"({"query":")" + text + "\"" + more + "}";
}

}  // namespace

TEST_CASE("The three definitions have their names, annotations and schemas")
{
    const std::vector<mcp::searched_member> members{{"files", "Secure Filesystem", 14}, {"git", "git", 1}};
    const auto all = mcp::search_definitions(members);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto tool = parsed(all[i]);
        CHECK(tool["name"] == std::string{mcp::search_tool_names[i]});
        CHECK(tool["inputSchema"]["type"] == "object");
        CHECK(tool["annotations"]["readOnlyHint"] == (i < 2));
        CHECK(mcp::search_tool_of(mcp::search_tool_names[i]) == static_cast<mcp::search_tool>(i));
    }
    CHECK(parsed(all[2])["annotations"]["destructiveHint"] == true);
    CHECK(parsed(all[2])["annotations"]["openWorldHint"] == true);
    CHECK_FALSE(mcp::search_tool_of("find_tool").has_value());
    const auto description = parsed(all[0])["description"].get<std::string>();
    CHECK(description.find("\n- files (Secure Filesystem): 14 tools\n- git: 1 tool") != std::string::npos);
}

TEST_CASE("The description names members as long as they have room, and counts the rest")
{
    std::vector<mcp::searched_member> members;
    for (int i = 0; i < 64; ++i) {
        members.push_back({"member" + std::to_string(i), std::string(500, 'T') + "\n", 3});
        const auto description = parsed(mcp::search_definitions(members)[0])["description"].get<std::string>();
        CHECK(description.size() <= mcp::longest_description);
    }
    const auto description = parsed(mcp::search_definitions(members)[0])["description"].get<std::string>();
    CHECK(description.find("\n- member0 (TTT") != std::string::npos);
    CHECK(description.find(std::string(mcp::longest_named_title + 1, 'T')) == std::string::npos);
    CHECK(description.ends_with(" more agents"));
}

TEST_CASE("A title is one line, whatever its server writes")
{
    const std::vector<mcp::searched_member> members{{"a", "one\n- b: 9 tools\x1b[2J", 2}};
    const auto description = parsed(mcp::search_definitions(members)[0])["description"].get<std::string>();
    CHECK(description.ends_with("\n- a (one - b: 9 tools [2J): 2 tools"));
}

TEST_CASE("The query has at most 512 bytes and 32 words")
{
    for (const std::size_t bytes : {511U, 512U}) {
        const auto read = mcp::read_find(query_of(std::string(bytes, 'q')));
        REQUIRE(read.has_value());
        CHECK(read->query.size() == bytes);
        CHECK(read->limit == 10);
        CHECK(read->agent.empty());
    }
    check_refused(query_of(std::string(513, 'q')));

    std::string words;
    for (int i = 1; i <= 33; ++i) {
        words += "w ";
        CHECK(mcp::read_find(query_of(words)).has_value() == (i <= 32));
    }
    check_refused(R"({})");
    check_refused("");
    check_refused(R"({"query":7})");
    check_refused(R"({"query":"a","query":"b"})");
    check_refused("[]");
    check_refused("{");
}

TEST_CASE("The limit is from 1 to 50")
{
    for (const auto* const limit : {"1", "2", "49", "50"}) {
        const auto read = mcp::read_find(query_of("a", std::string{R"(,"limit":)"} + limit));
        REQUIRE(read.has_value());
        CHECK(std::to_string(read->limit) == limit);
    }
    for (const auto* const limit : {"0", "51", "-1", "1.5", "\"5\"", "99999999999999999999", "[]", "true"}) {
        check_refused(query_of("a", std::string{R"(,"limit":)"} + limit));
    }
    CHECK(mcp::read_find(query_of("a", R"(,"limit":null,"agent":null)")).has_value());
    CHECK(mcp::read_find(query_of("a", R"(,"agent":"files")"))->agent == "files");
    check_refused(query_of("a", R"(,"agent":7)"));
}

TEST_CASE("From 1 to 50 tools are described at a time")
{
    const auto names = [](int count) {
        std::string list = R"({"names":[)";
        for (int i = 0; i < count; ++i) {
            list += i == 0 ? R"("a")" : R"(,"a\u0062")";
        }
        return list + "]}";
    };
    for (const int count : {1, 2, 49, 50}) {
        const auto read = mcp::read_describe(names(count));
        REQUIRE(read.has_value());
        CHECK(read->size() == static_cast<std::size_t>(count));
        CHECK(read->back() == (count == 1 ? "a" : "ab"));
    }
    for (const auto& arguments :
         {names(0),
          names(51),
          std::string{},
          std::string{R"({"names":"a"})"},
          std::string{R"({"names":[7]})"},
          std::string{R"({"names":["a",{}]})"}}) {
        CAPTURE(arguments);
        CHECK(mcp::read_describe(arguments).error().code == errc::invalid_params);
    }
}

TEST_CASE("A call has a name, and arguments that pass as they are written")
{
    const std::string arguments = R"({"arguments": {"n": 1.00, "x":[ ]} ,"name":"files__r\u0065ad"})";
    const auto read = mcp::read_call(arguments);
    REQUIRE(read.has_value());
    CHECK(read->name == "files__read");
    CHECK(read->arguments == R"({"n": 1.00, "x":[ ]})");
    CHECK(read->arguments.data() > arguments.data());

    CHECK(mcp::read_call(R"({"name":"a"})")->arguments == "{}");
    CHECK(mcp::read_call(R"({"name":"a","arguments":null})")->arguments == "{}");
    for (const auto* const wrong :
         {"", "{}", R"({"name":7})", R"({"name":"a","arguments":[]})", R"({"name":"a","arguments":"{}"})"}) {
        CAPTURE(wrong);
        CHECK(mcp::read_call(wrong).error().code == errc::invalid_params);
    }
}

TEST_CASE("Definitions are whole up to 16 KiB, then name and one sentence")
{
    const std::size_t half = mcp::whole_definitions / 2;
    const std::vector<std::string> texts{definition("a", half), definition("b", half), definition("c", 60)};
    const std::vector<mcp::found_tool> tools{{"a", texts[0]}, {"b", texts[1]}, {"c", texts[2]}};
    auto got = structured(mcp::find_result(tools, {}, era::modern))["tools"];
    CHECK(got[0] == parsed(texts[0]));
    CHECK(got[1] == parsed(texts[1]));
    CHECK(got[2] == parsed(R"({"name":"c","description":"It does"})"));

    const auto longer = definition("b", half + 1);
    const std::vector<mcp::found_tool> over{{"a", texts[0]}, {"b", longer}, {"c", texts[2]}};
    got = structured(mcp::find_result(over, {}, era::modern))["tools"];
    CHECK(got[1] == parsed(R"({"name":"b","description":"It does"})"));
    CHECK(got[2] == parsed(texts[2]));

    const auto shorter = definition("b", half - 1);
    const std::vector<mcp::found_tool> under{{"a", texts[0]}, {"b", shorter}};
    CHECK(structured(mcp::find_result(under, {}, era::legacy))["tools"][1] == parsed(shorter));
}

TEST_CASE("The first tool that is described is whole, however long it is")
{
    const auto huge = definition("a", mcp::whole_described + 1);
    const auto small = definition("b", 60);
    const std::vector<mcp::found_tool> tools{{"a", huge}, {"b", small}};
    const auto got = structured(mcp::describe_result(tools, era::modern))["tools"];
    CHECK(got[0] == parsed(huge));
    CHECK(got[1] == parsed(R"({"name":"b","description":"It does"})"));
}

TEST_CASE("Nothing found: the members")
{
    const std::vector<mcp::searched_member> members{{"files", "Secure Filesystem", 14}, {"git", "", 1}};
    const auto got = structured(mcp::find_result({}, members, era::modern));
    CHECK(
        got ==
        parsed(
            R"({"tools":[],"agents":[{"name":"files","title":"Secure Filesystem","tools":14},{"name":"git","tools":1}]})"
        )
    );
}

TEST_CASE("Results say that they are complete to clients of the modern era alone")
{
    const std::vector<std::string_view> nearest{"files__read", "files__write"};
    for (const auto speaks : {era::modern, era::legacy}) {
        const bool modern = speaks == era::modern;
        CHECK(parsed(mcp::find_result({}, {}, speaks)).contains("resultType") == modern);
        CHECK(parsed(mcp::describe_result({}, speaks)).contains("resultType") == modern);
        CHECK(parsed(mcp::refused_result("why", speaks)).contains("resultType") == modern);
        const auto unknown = parsed(mcp::unknown_result("reed", nearest, speaks));
        CHECK(unknown["isError"] == true);
        CHECK(
            unknown["content"][0]["text"] == "There is no tool 'reed'. The nearest names are files__read, files__write."
        );
    }
    CHECK(parsed(mcp::unknown_result("a\nb", {}, era::modern))["content"][0]["text"] == "There is no tool 'a b'.");
}

TEST_CASE("Names are as alike as their pairs of letters")
{
    CHECK(mcp::likeness("read_file", "readFile") == 1);
    CHECK(mcp::likeness("read_file", "reed_file") > mcp::likeness("read_file", "write_file"));
    CHECK(mcp::likeness("abc", "xyz") == 0);
    CHECK(mcp::likeness("", "abc") == 0);
    CHECK(mcp::likeness("a", "A") == 1);
    CHECK(mcp::likeness("", "") == 1);
}

TEST_SUITE_END();
