#include "mcp/calls/list_edit.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("mcp/calls/list_edit");

using mcp::list_kind;

namespace {

mcp::name_filter example()
{
    core::mcp_filter words;
    words.deny = {"hidden*"};
    words.names = {{"old", "new"}};
    words.descriptions = {{"new", "Says \"so\""}, {"plain", "P"}};
    return mcp::name_filter{words};
}

const auto filter = example();

std::string answer(std::string_view entries, std::string_view rest = {})
{
    return R"({"jsonrpc":"2.0","id":1,"result":{"tools":)" + std::string{entries} + std::string{rest} + "}}";
}

std::string edited(std::string_view entries)
{
    const auto edit = mcp::edit_list(filter, list_kind::tools, answer(entries));
    REQUIRE(edit.has_value());
    const auto begin = answer("").size() - 2;
    return edit->text.substr(begin, edit->text.size() - begin - 2);
}

}  // namespace

TEST_CASE("hidden entries are left out and every other byte stays")
{
    CHECK(
        edited(R"([ {"name":"a"} ,	{"name":"hidden"}, {"name" : "b", "x":1.50 } ])") ==
        R"([ {"name":"a"}, {"name" : "b", "x":1.50 } ])"
    );
    CHECK(edited(R"([ {"name":"hidden"} , {"name":"a"}])") == R"([ {"name":"a"}])");
    CHECK(edited(R"([{"name":"a"},{"name":"hidden2"}
])") == "[{\"name\":\"a\"}\n]");
    CHECK(edited(R"([{"name":"hidden"},{"name":"h\u0069dden"}])") == "[]");
    CHECK(edited(R"([ ])") == "[ ]");
    CHECK(edited(R"([])") == "[]");
}

TEST_CASE("names and descriptions are replaced, and a description is added where there is none")
{
    CHECK(
        edited(R"([{"description":"x","name": "old" ,"d":{"name":"old"}}])") ==
        R"([{"description":"Says \"so\"","name": "new" ,"d":{"name":"old"}}])"
    );
    CHECK(edited(R"([{"name":"plain"}])") == R"([{"name":"plain","description":"P"}])");
    CHECK(edited(R"([{"name":"\u006fld","description":null}])") == R"([{"name":"new","description":"Says \"so\""}])");
    CHECK(
        edited(R"([{"description":1,"name":"plain","descr\u0069ption":2}])") ==
        R"([{"description":"P","name":"plain","descr\u0069ption":"P"}])"
    );
}

TEST_CASE("an entry whose name callers could read in two ways is hidden")
{
    CHECK(
        edited(R"([{"name":"a","name":"b"},{"name":7},{},"name",null,[],{"n\u0061me":"a","name":"a"},{"name":"c"}])") ==
        R"([{"name":"c"}])"
    );
}

TEST_CASE("of two entries with one name the later is left out and reported")
{
    const auto text = answer(R"([{"name":"a","x":1},{"name":"a","x":2},{"name":"new"},{"name":"old"},{"name":"a"}])");
    const auto edit = mcp::edit_list(filter, list_kind::tools, text);
    REQUIRE(edit.has_value());
    // `new` is given away by the configuration, wherever it stands.
    CHECK(edit->text == answer(R"([{"name":"a","x":1},{"name":"new","description":"Says \"so\""}])"));
    CHECK(edit->hidden == 3);
    CHECK(edit->repeated == std::vector<std::string>{"a", "a"});
    std::string many{"["};
    for (std::size_t i = 0; i < mcp::most_repeated_names + 2; ++i) {
        many += R"({"name":"a"},)";
    }
    const auto reported = mcp::edit_list(filter, list_kind::tools, answer(many + R"({"name":"b"}])"));
    REQUIRE(reported.has_value());
    CHECK(reported->hidden == mcp::most_repeated_names + 1);
    CHECK(reported->repeated.size() == mcp::most_repeated_names);
}

TEST_CASE("a page that ends up empty keeps its cursor")
{
    const auto edit =
        mcp::edit_list(filter, list_kind::tools, answer(R"([{"name":"hidden"}])", R"(,"nextCursor":"c")"));
    REQUIRE(edit.has_value());
    CHECK(edit->text == answer("[]", R"(,"nextCursor":"c")"));
    CHECK(edit->hidden == 1);
}

TEST_CASE("each list has its member and its key")
{
    const auto hidden = [](list_kind list, std::string_view result) {
        const auto text = R"({"result":)" + std::string{result} + "}";
        return mcp::edit_list(filter, list, text)->text;
    };
    CHECK(hidden(list_kind::prompts, R"({"prompts":[{"name":"hidden"}]})") == R"({"result":{"prompts":[]}})");
    CHECK(
        hidden(list_kind::resources, R"({"resources":[{"name":"hidden","uri":"x"},{"name":"y","uri":"hidden"}]})") ==
        R"({"result":{"resources":[{"name":"hidden","uri":"x"}]}})"
    );
    CHECK(
        hidden(list_kind::templates, R"({"resourceTemplates":[{"uri":"x","uriTemplate":"hidden{x}"}]})") ==
        R"({"result":{"resourceTemplates":[]}})"
    );
    CHECK(hidden(list_kind::tools, R"({"t\u006fols":[{"name":"hidden"}]})") == R"({"result":{"t\u006fols":[]}})");
    CHECK(
        hidden(list_kind::prompts, R"({"tools":[{"name":"hidden"}]})") == R"({"result":{"tools":[{"name":"hidden"}]}})"
    );
}

TEST_CASE("what is no list stays as it is")
{
    for (const std::string text : {
             R"({"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"tools","data":{"tools":[{"name":"hidden"}]}}})",
             R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"tools":[{"name":"hidden"}]}})",
             R"({"result":[],"tools":[{"name":"hidden"}]})",
             R"( {"result":{"tools":null}} )",
             R"({})",
         }) {
        CAPTURE(text);
        const auto edit = mcp::edit_list(filter, list_kind::tools, text);
        REQUIRE(edit.has_value());
        CHECK(edit->text == text);
        CHECK(edit->hidden == 0);
    }
}

TEST_CASE("an answer that is not JSON or could be read in two ways is refused")
{
    const auto whole = answer(R"([{"name":"a"},{"name":"hidden"}])");
    for (std::size_t size = 0; size < whole.size(); ++size) {
        CHECK(mcp::edit_list(filter, list_kind::tools, std::string_view{whole}.substr(0, size)).has_error());
    }
    for (const std::string& text : {
             std::string{"[]"},
             whole + "x",
             std::string{R"({"result":{"tools":[]},"r\u0065sult":{"tools":[{"name":"hidden"}]}})"},
             std::string{R"({"result":{"tools":[],"tools":[{"name":"hidden"}]}})"},
             std::string{R"({"result":{"tools":1,"tools":[{"name":"hidden"}]}})"},
             answer(std::string(63, '[') + std::string(63, ']')),
         }) {
        CAPTURE(text);
        const auto edit = mcp::edit_list(filter, list_kind::tools, text);
        REQUIRE(edit.has_error());
        CHECK(edit.error().code == core::errc::upstream_protocol);
    }
}

TEST_CASE("a page has at most 10,000 entries")
{
    const auto page = [](std::size_t count) {
        std::string entries{"["};
        for (std::size_t i = 0; i < count; ++i) {
            entries += (i == 0 ? R"({"name":")" : R"(,{"name":")") + std::to_string(i) + "\"}";
        }
        return answer(entries + "]");
    };
    for (const auto count : {mcp::most_entries - 1, mcp::most_entries}) {
        const auto text = page(count);
        CHECK(mcp::edit_list(filter, list_kind::tools, text)->text == text);
    }
    CHECK(mcp::edit_list(filter, list_kind::tools, page(mcp::most_entries + 1)).has_error());
}

TEST_CASE("A list has the tools and prompts that its caller's scopes show, by the names that callers use")
{
    core::mcp_server server;
    server.tools.names = {{"old", "gold"}};
    const mcp::name_filters rules{
        server,
        {{.id = "gold", .visibility = core::skill_visibility::extended, .required_scopes = {"x"}}}
    };
    const std::vector<std::string> none;
    const std::vector<std::string> some{"x"};
    const auto text = answer(R"([{"name":"a"},{"name":"old"}])");
    CHECK(mcp::edit_list(rules, list_kind::tools, text, nullptr)->text == answer(R"([{"name":"a"}])"));
    CHECK(mcp::edit_list(rules, list_kind::tools, text, &none)->text == answer(R"([{"name":"a"}])"));
    CHECK(mcp::edit_list(rules, list_kind::tools, text, &some)->text == answer(R"([{"name":"a"},{"name":"gold"}])"));
    const std::string prompts = R"({"result":{"prompts":[{"name":"gold"},{"name":"old"}]}})";
    CHECK(
        mcp::edit_list(rules, list_kind::prompts, prompts, &none)->text == R"({"result":{"prompts":[{"name":"old"}]}})"
    );
    const std::string resources = R"({"result":{"resources":[{"uri":"gold"}]}})";
    CHECK(mcp::edit_list(rules, list_kind::resources, resources, nullptr)->text == resources);
}

TEST_SUITE_END();
