#include "core/base64.hpp"
#include "core/json/json.hpp"
#include "mcp/bundle/answers.hpp"
#include "tests/unit/mcp/bundle/bundle_example.hpp"

#include <doctest/doctest.h>

TEST_SUITE_BEGIN("mcp/bundle/pages");

using mcp::bundle_catalog;
using mcp::list_kind;
using tests::catalog_of;
using tests::tools_of;

namespace {

const mcp::bundle_sight everything;

std::string page(const bundle_catalog& bundle, mcp::page_question question, const mcp::page_additions& additions = {})
{
    std::string out;
    REQUIRE(mcp::append_page(out, bundle, question, everything, additions).has_value());
    return out;
}

// Tools of so many bytes that four fill a page.
mcp::server_lists long_tools(const std::vector<std::string>& names)
{
    mcp::server_lists lists;
    for (const auto& name : names) {
        tests::add_item(
            lists,
            list_kind::tools,
            name,
            R"({"name":")" + name + R"(","d":")" + std::string(250'000, 'd') + R"("})"
        );
    }
    return lists;
}

struct read_page {
    std::vector<std::string> names;
    std::optional<std::string> next;
};

read_page read(const std::string& result)
{
    const auto parsed = core::parse_json(result, {.bytes = result.size()});
    REQUIRE(parsed.has_value());
    read_page all;
    for (const auto& each : (*parsed)["tools"]) {
        all.names.push_back(each["name"].get<std::string>());
    }
    if (parsed->contains("nextCursor")) {
        all.next = (*parsed)["nextCursor"].get<std::string>();
    }
    return all;
}

using names = std::vector<std::string>;

}  // namespace

TEST_CASE("a page has the words of its era")
{
    const bundle_catalog bundle{{catalog_of("a", tools_of({"x"})), catalog_of("b", tools_of({"y"}))}};
    CHECK(
        page(bundle, {.speaks = mcp::era::legacy}) == R"({"tools":[{"name":"a__x","x":1.50},{"name":"b__y","x":1.50}]})"
    );
    const names down{"team.files"};
    CHECK(
        page(
            bundle,
            {},
            {.front = R"({"name":"find_tools"})", .unavailable = down, .server_info = R"({"name":"c"})"}
        ) ==
        R"({"tools":[{"name":"find_tools"},{"name":"a__x","x":1.50},{"name":"b__y","x":1.50}],"resultType":"complete","ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"c"},"cardea/unavailable":["team.files"]}})"
    );
    CHECK(page(bundle, {.list = list_kind::templates, .speaks = mcp::era::legacy}) == R"({"resourceTemplates":[]})");
    CHECK(page(bundle_catalog{{}}, {.list = list_kind::prompts, .speaks = mcp::era::legacy}) == R"({"prompts":[]})");
}

TEST_CASE("pages of 1 MiB have every entry once, in order")
{
    const bundle_catalog bundle{
        {catalog_of("a", long_tools({"1", "2", "3"})), catalog_of("b", long_tools({"1", "2", "3", "4", "5", "6"}))}
    };
    const auto one = read(page(bundle, {}));
    CHECK(one.names == names{"a__1", "a__2", "a__3", "b__1"});
    REQUIRE(one.next);
    const auto two = read(page(bundle, {.cursor = *one.next}));
    CHECK(two.names == names{"b__2", "b__3", "b__4", "b__5"});
    REQUIRE(two.next);
    const auto three = read(page(bundle, {.cursor = *two.next}));
    CHECK(three.names == names{"b__6"});
    CHECK_FALSE(three.next);
}

TEST_CASE("an entry that is longer than a page has one of its own")
{
    mcp::server_lists lists = tools_of({"a"});
    tests::add_item(lists, list_kind::tools, "b", R"({"name":"b","d":")" + std::string(2'000'000, 'd') + R"("})");
    tests::add_tool(lists, "c");
    const bundle_catalog bundle{{catalog_of("m", lists)}};
    const auto one = read(page(bundle, {}));
    CHECK(one.names == names{"m__a"});
    const auto two = read(page(bundle, {.cursor = *one.next}));
    CHECK(two.names == names{"m__b"});
    CHECK(read(page(bundle, {.cursor = *two.next})).names == names{"m__c"});
}

TEST_CASE("the first entry is on the first page, whatever stands in front of it")
{
    mcp::server_lists lists;
    const auto longest = R"({"name":"a","d":")" + std::string(mcp::largest_bundle_page - 100, 'd') + R"("})";
    tests::add_item(lists, list_kind::tools, "a", longest);
    tests::add_tool(lists, "b");
    const bundle_catalog bundle{{catalog_of("m", lists)}};
    const auto front = R"({"name":"f","d":")" + std::string(200, 'f') + R"("})";
    const auto one = read(page(bundle, {}, {.front = front}));
    CHECK(one.names == names{"f", "m__a"});
    REQUIRE(one.next);
    CHECK(read(page(bundle, {.cursor = *one.next})).names == names{"m__b"});
}

TEST_CASE("a list goes on where it was after the entry or the member of the cursor has gone")
{
    const auto first = catalog_of("a", long_tools({"1", "2", "3", "4", "5"}));
    const auto last = catalog_of("z", long_tools({"1"}));
    const auto one = read(page(bundle_catalog{{first, last}}, {}));
    REQUIRE(one.names.back() == "a__4");
    const auto without_entry = catalog_of("a", long_tools({"1", "2", "3", "5"}));
    CHECK(read(page(bundle_catalog{{without_entry, last}}, {.cursor = *one.next})).names == names{"a__5", "z__1"});
    CHECK(read(page(bundle_catalog{{last}}, {.cursor = *one.next})).names == names{"z__1"});
    CHECK(read(page(bundle_catalog{{}}, {.cursor = *one.next})).names.empty());
    const auto before = catalog_of("0", long_tools({"1"}));
    CHECK(read(page(bundle_catalog{{before, first, last}}, {.cursor = *one.next})).names == names{"a__5", "z__1"});
}

TEST_CASE("a cursor that no page of the list had is refused, and nothing is written")
{
    const bundle_catalog bundle{{catalog_of("a", long_tools({"1", "2", "3", "4", "5"}))}};
    const auto cursor = *read(page(bundle, {})).next;
    using namespace std::string_literals;
    const std::vector<std::string> bad{
        "",
        "x",
        "=",
        cursor + "=",
        "cardea:3",
        core::base64url("0\0000\0"s),
        core::base64url("9\0000\0000\000a\000x"s),
        core::base64url("0\000-1\0000\000a\000x"s),
        core::base64url("0\0000\0000\000a\000"s),
        core::base64url("0\00099999999999999999999\0000\000a\000x"s)
    };
    for (const auto& each : bad) {
        CAPTURE(each);
        std::string out = "before";
        const auto written = mcp::append_page(out, bundle, {.cursor = each}, everything);
        REQUIRE_FALSE(written.has_value());
        CHECK(written.error().code == core::errc::invalid_params);
        CHECK(out == "before");
    }
    std::string out;
    CHECK_FALSE(mcp::append_page(out, bundle, {.list = list_kind::prompts, .cursor = cursor}, everything).has_value());
    // Places that never were are beyond the end.
    const auto far = core::base64url("0\00018446744073709551615\00018446744073709551615\000q\000x"s);
    CHECK(read(page(bundle, {.cursor = far})).names.empty());
    const auto far_entry = core::base64url("0\0000\00018446744073709551615\000a\000gone"s);
    CHECK(read(page(bundle, {.cursor = far_entry})).names.empty());
}

TEST_SUITE_END();
