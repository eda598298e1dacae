#include "mcp/calls/name_filter.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("mcp/calls/name_filter");

using mcp::name_filter;

namespace {

using pairs = std::vector<std::pair<std::string, std::string>>;

core::mcp_filter words(std::vector<std::string> allow, std::vector<std::string> deny, pairs names = {})
{
    core::mcp_filter filter;
    filter.allow = std::move(allow);
    filter.deny = std::move(deny);
    filter.names = std::move(names);
    return filter;
}

core::mcp_filter renames(pairs names)
{
    return words({}, {}, std::move(names));
}

core::mcp_filter example()
{
    auto filter = words({"read_*", "list_directory"}, {"read_secret*"}, {{"read_text_file", "read"}});
    filter.descriptions = {{"read", "Reads a text file"}};
    return filter;
}

mcp::name_filters filters()
{
    core::mcp_server server;
    server.tools = example();
    server.prompts.names = {{"p", "shown"}};
    server.resources.deny = {"file:///etc/*"};
    return mcp::name_filters{server};
}

std::string request(std::string_view method, std::string_view params)
{
    return R"({"jsonrpc":"2.0","id":1,"method":")" + std::string{method} + R"(","params":)" + std::string{params} + "}";
}

// The request as the server gets it, or the error's code.
std::string admitted(std::string_view method, std::string_view params)
{
    const auto body = request(method, params);
    const auto read = mcp::read_incoming(body);
    REQUIRE(!read.problem);
    const auto edit = mcp::admit(filters(), read.message, body);
    if (!edit) {
        return std::string{core::name(edit.error().code)};
    }
    if (!*edit) {
        return "as it is";
    }
    const std::vector<mcp::text_edit> edits{**edit};
    const auto sent = mcp::edited(body, edits);
    const auto begin = request(method, "").size() - 1;
    return sent.substr(begin, sent.size() - begin - 1);
}

}  // namespace

TEST_CASE("allow and deny use the server's names, and deny wins")
{
    const name_filter filter{example()};
    CHECK(!filter.passes_all());
    CHECK(filter.exposed("read_text_file") == "read");
    CHECK(filter.exposed("read_media") == "read_media");
    CHECK(filter.exposed("list_directory") == "list_directory");
    CHECK(!filter.exposed("read_secrets"));
    CHECK(!filter.exposed("write_file"));
    CHECK(!filter.exposed("list_directory_with_sizes"));
    CHECK(!filter.exposed(""));
    CHECK(filter.description("read") == "Reads a text file");
    CHECK(!filter.description("read_text_file"));
}

TEST_CASE("only exposed names lead to the server's")
{
    const name_filter filter{example()};
    CHECK(filter.original("read") == "read_text_file");
    CHECK(filter.original("read_media") == "read_media");
    CHECK(!filter.original("read_text_file"));
    CHECK(!filter.original("read_secrets"));
    CHECK(!filter.original("write_file"));
    CHECK(!filter.original(""));
}

TEST_CASE("a filter without words passes all")
{
    const name_filter filter{core::mcp_filter{}};
    CHECK(filter.passes_all());
    CHECK(filter.exposed("x") == "x");
    CHECK(filter.original("x") == "x");
    CHECK(name_filter{}.passes_all());
}

TEST_CASE("a name that the configuration gives away is that one's, and names can be swapped")
{
    const name_filter taken{renames({{"a", "b"}})};
    CHECK(taken.exposed("a") == "b");
    CHECK(!taken.exposed("b"));
    CHECK(taken.original("b") == "a");
    CHECK(!taken.original("a"));
    const name_filter swapped{renames({{"a", "b"}, {"b", "a"}})};
    CHECK(swapped.exposed("a") == "b");
    CHECK(swapped.exposed("b") == "a");
    CHECK(swapped.original("a") == "b");
    CHECK(swapped.original("b") == "a");
    const name_filter same{renames({{"a", "a"}})};
    CHECK(same.exposed("a") == "a");
    CHECK(same.original("a") == "a");
}

TEST_CASE("a renamed tool that is hidden has no name at all")
{
    const name_filter filter{words({}, {"a"}, {{"a", "b"}})};
    CHECK(!filter.exposed("a"));
    CHECK(!filter.original("b"));
    CHECK(!filter.original("a"));
    CHECK(!filter.exposed("b"));
}

TEST_CASE("exposed and original names are inverse, whatever the configuration")
{
    const std::vector<std::string> names{"a", "b", "c", "d", ""};
    for (const auto& one : names) {
        for (const auto& other : names) {
            for (const auto& hidden : names) {
                const name_filter filter{words({}, {hidden}, {{"a", one + "x"}, {"b", other}, {"ax", "c"}})};
                for (const auto& name : {"a", "b", "c", "d", "ax", "bx", "cx", "dx", "x", ""}) {
                    if (const auto seen = filter.exposed(name)) {
                        CHECK(filter.original(*seen) == name);
                    }
                    if (const auto original = filter.original(name)) {
                        CHECK(filter.exposed(*original) == name);
                    }
                }
            }
        }
    }
}

TEST_CASE("a name of 2,048 bytes is matched, and a longer one is hidden where there are patterns")
{
    const name_filter filter{words({"a*"}, {})};
    const std::string longest(mcp::longest_matched_name, 'a');
    CHECK(filter.exposed(longest.substr(1)));
    CHECK(filter.exposed(longest));
    CHECK(!filter.exposed(longest + "a"));
    const name_filter renamed{renames({{"x", "y"}})};
    CHECK(renamed.exposed(longest + "a"));
}

TEST_CASE("What is hidden says why")
{
    core::mcp_filter given;
    given.allow = {"read_*"};
    given.deny = {"read_secret"};
    given.names = {{"read_text", "read_it"}};
    const name_filter filter{given};
    CHECK_FALSE(filter.why_hidden("read_text"));
    CHECK(filter.why_hidden("read_secret") == mcp::hiding::denied);
    CHECK(filter.why_hidden("write") == mcp::hiding::not_allowed);
    CHECK(filter.why_hidden(std::string(mcp::longest_matched_name + 1, 'r')) == mcp::hiding::too_long);
    CHECK(filter.why_hidden("read_it") == mcp::hiding::displaced);
}

TEST_CASE("a call goes to the server under the server's name")
{
    CHECK(
        admitted("tools/call", R"({"name":"read","arguments":{"name":"read"}})") ==
        R"({"name":"read_text_file","arguments":{"name":"read"}})"
    );
    CHECK(
        admitted("tools/call", R"({"arguments":{}, "name" : "r\u0065ad"})") ==
        R"({"arguments":{}, "name" : "read_text_file"})"
    );
    CHECK(admitted("tools/call", R"({"name":"read_media"})") == "as it is");
    CHECK(admitted("prompts/get", R"({"name":"shown"})") == R"({"name":"p"})");
    CHECK(admitted("resources/read", R"({"uri":"file:///x"})") == "as it is");
    CHECK(admitted("tools/list", R"({"name":"read"})") == "as it is");
    CHECK(admitted("mine/own", R"({"name":"write_file"})") == "as it is");
}

TEST_CASE("a call of what is hidden or unknown is refused")
{
    for (const std::string params :
         {R"({"name":"write_file"})",
          R"({"name":"read_text_file"})",
          R"({"name":"read_secret"})",
          R"({"name":"re\u0061d_secret"})",
          R"({"name":7})",
          R"({"name":null})",
          R"({})",
          R"({"uri":"read"})"}) {
        CAPTURE(params);
        CHECK(admitted("tools/call", params) == "invalid_params");
    }
    CHECK(admitted("prompts/get", R"({"name":"p"})") == "invalid_params");
    for (const std::string method : {"resources/read", "resources/subscribe", "resources/unsubscribe"}) {
        CHECK(admitted(method, R"({"uri":"file:///etc/passwd"})") == "invalid_params");
        CHECK(admitted(method, R"({})") == "invalid_params");
    }
}

TEST_CASE("the reference of a completion is filtered as what it refers to")
{
    const std::string method = "completion/complete";
    CHECK(
        admitted(method, R"({"ref":{"type":"ref/prompt","name":"shown"},"argument":{}})") ==
        R"({"ref":{"type":"ref/prompt","name":"p"},"argument":{}})"
    );
    CHECK(admitted(method, R"({"ref":{"type":"ref/prompt","name":"p"}})") == "invalid_params");
    CHECK(admitted(method, R"({"ref":{"type":"ref/resource","uri":"file:///x/{y}"}})") == "as it is");
    CHECK(admitted(method, R"({"ref":{"type":"ref/resource","uri":"file:///etc/{y}"}})") == "invalid_params");
    CHECK(admitted(method, R"({"ref":{"type":"ref/other","name":"p"}})") == "invalid_params");
    CHECK(admitted(method, R"({"ref":{"name":"shown"}})") == "invalid_params");
    CHECK(admitted(method, R"({"ref":7})") == "invalid_params");
    const auto body = request(method, R"({"ref":7})");
    CHECK(!*mcp::admit(mcp::name_filters{}, mcp::read_incoming(body).message, body));
}

TEST_CASE("A file that is denied is denied whatever of its name is escaped")
{
    const name_filter filter{words({}, {"file:///R/a,b", "file:///R/c%40d", "file:///R/e f"})};
    for (const auto* uri :
         {"file:///R/a,b", "file:///R/a%2Cb", "file:///R/c@d", "file:///R/c%40d", "file:///R/e%20f"}) {
        CAPTURE(uri);
        CHECK(filter.why_hidden(uri) == mcp::hiding::denied);
    }
    CHECK(filter.exposed("file:///R/a;b"));
    CHECK(filter.exposed("x:///R/a%2Cb"));
}

TEST_CASE("Rules for skills hide tools and prompts by the name that callers use, and nothing else")
{
    core::mcp_server server;
    server.tools.names = {{"gold", "silver"}};
    const mcp::name_filters rules{
        server,
        {{.id = "free", .visibility = core::skill_visibility::everyone, .required_scopes = {}},
         {.id = "si*", .visibility = core::skill_visibility::extended, .required_scopes = {"x", "y"}},
         {.id = "known", .visibility = core::skill_visibility::extended, .required_scopes = {}}}
    };
    using scopes = std::vector<std::string>;
    const scopes none;
    const scopes one{"x"};
    const scopes both{"y", "z", "x"};
    const auto shown = [&](std::string_view method, std::string_view params, const scopes* whose) {
        const auto body = request(method, params);
        return mcp::shows_named(rules, mcp::read_incoming(body).message, body, whose);
    };
    for (const auto& [method, params] :
         {std::pair{"tools/call", R"({"name":"silver"})"},
          std::pair{"tools/call", R"({"name":"s\u0069lver"})"},
          std::pair{"prompts/get", R"({"name":"simple"})"},
          std::pair{"completion/complete", R"({"ref":{"type":"ref/prompt","name":"simple"}})"}}) {
        CAPTURE(params);
        CHECK_FALSE(shown(method, params, nullptr));
        CHECK_FALSE(shown(method, params, &none));
        CHECK_FALSE(shown(method, params, &one));
        CHECK(shown(method, params, &both));
    }
    CHECK_FALSE(shown("tools/call", R"({"name":"known"})", nullptr));
    CHECK(shown("tools/call", R"({"name":"known"})", &none));
    CHECK(shown("tools/call", R"({"name":"free"})", nullptr));
    CHECK(shown("tools/call", R"({"name":"gold"})", nullptr));
    CHECK_FALSE(shown("tools/call", R"({"name":["silver"]})", &both));
    CHECK_FALSE(shown("tools/call", "{}", &both));
    CHECK(shown("resources/read", R"({"uri":"silver"})", nullptr));
    CHECK(shown("tools/list", R"({"name":"silver"})", nullptr));
    CHECK(rules.edits(mcp::list_kind::prompts));
    CHECK_FALSE(rules.edits(mcp::list_kind::resources));
    const auto strange = request("completion/complete", R"({"ref":{"type":"ref/x","name":"simple"}})");
    CHECK(mcp::admit(rules, mcp::read_incoming(strange).message, strange).has_error());
}

TEST_SUITE_END();
