#include "core/json/jsonrpc_scan.hpp"

#include <doctest/doctest.h>

#include <string>

using core::errc;
using core::scan_jsonrpc;

TEST_SUITE_BEGIN("core/json/jsonrpc_scan");

namespace {

std::string repeated(std::string_view text, std::size_t times)
{
    std::string out;
    out.reserve(text.size() * times);
    for (std::size_t i = 0; i < times; ++i) {
        out += text;
    }
    return out;
}

// A valid request around `params`.
std::string with_params(std::string_view params)
{
    return R"({"jsonrpc":"2.0","id":1,"method":"m","params":)" + std::string(params) + "}";
}

// A valid request with the id written as given.
std::string with_id(std::string_view id)
{
    return R"({"jsonrpc":"2.0","method":"m","id":)" + std::string(id) + "}";
}

struct refusal_case {
    std::string body;
    errc problem;
    std::string_view id;
};

void check_refusals(const std::vector<refusal_case>& cases)
{
    for (const auto& c : cases) {
        CAPTURE(c.body);
        const auto found = scan_jsonrpc(c.body);
        REQUIRE(found.problem.has_value());
        CHECK(core::name(*found.problem) == core::name(c.problem));
        CHECK(found.call.id == c.id);
        CHECK(found.call.method.empty());
        CHECK(!found.why.empty());
    }
}

}  // namespace

TEST_CASE("a request is read in any order and with any white space")
{
    for (const std::string body :
         {R"({"jsonrpc":"2.0","id":7,"method":"message/send","params":{"a":[1,{"id":2}]}})",
          "\r\n\t {\n \"params\" : {\"a\":[1,{\"id\":2}]} , \"method\"\t:\"message/send\",\"id\"\r:7 "
          ",\"jsonrpc\":\"2.0\" } \n"}) {
        CAPTURE(body);
        const auto found = scan_jsonrpc(body);
        REQUIRE(!found.problem.has_value());
        CHECK(found.call.method == "message/send");
        CHECK(!found.call.method_escaped);
        CHECK(found.call.id == "7");
        CHECK(found.call.params == R"({"a":[1,{"id":2}]})");
    }
}

TEST_CASE("the views point into the body")
{
    const std::string body = R"({"jsonrpc":"2.0","id":"x","method":"m","params":[]})";
    const auto found = scan_jsonrpc(body);
    REQUIRE(!found.problem.has_value());
    CHECK(found.call.id.data() == body.data() + body.find(R"("x")"));
    CHECK(found.call.params.data() == body.data() + body.find("[]"));
}

TEST_CASE("ids keep their spelling")
{
    for (const std::string id :
         {R"("")",
          R"("a")",
          R"("\u0061\"\\")",
          "0",
          "-0",
          "-1",
          "1.5",
          "1.50",
          "1e2",
          "1E+400",
          "9007199254740993",
          "123456789012345678901234567890",
          "null"}) {
        CAPTURE(id);
        const auto body = with_id(id);
        const auto found = scan_jsonrpc(body);
        REQUIRE(!found.problem.has_value());
        CHECK(found.call.id == id);
    }
    const auto long_id = '"' + std::string(10240, 'i') + '"';
    const auto long_body = with_id(long_id);
    CHECK(scan_jsonrpc(long_body).call.id == long_id);
}

TEST_CASE("without an id it is a notification, without params it has none")
{
    const auto found = scan_jsonrpc(R"({"jsonrpc":"2.0","method":"m"})");
    REQUIRE(!found.problem.has_value());
    CHECK(found.call.id.empty());
    CHECK(found.call.params.empty());
}

TEST_CASE("what is JSON but not a request is refused and keeps its id")
{
    check_refusals({
        {R"({})", errc::invalid_request, ""},
        {R"(1)", errc::invalid_request, ""},
        {R"("a")", errc::invalid_request, ""},
        {R"(null)", errc::invalid_request, ""},
        {R"({"id":1,"method":"m"})", errc::invalid_request, "1"},
        {R"({"jsonrpc":"1.0","id":1,"method":"m"})", errc::invalid_request, "1"},
        {R"({"jsonrpc":2.0,"id":1,"method":"m"})", errc::invalid_request, "1"},
        {R"({"jsonrpc":"2.00","id":1,"method":"m"})", errc::invalid_request, "1"},
        {R"({"jsonrpc":null,"id":1,"method":"m"})", errc::invalid_request, "1"},
        {R"({"jsonrpc":["2.0"],"id":1,"method":"m"})", errc::invalid_request, "1"},
        {R"({"jsonrpc":"2.0","id":1})", errc::invalid_request, "1"},
        {R"({"jsonrpc":"2.0","id":1,"method":null})", errc::invalid_request, "1"},
        {R"({"jsonrpc":"2.0","id":1,"method":1})", errc::invalid_request, "1"},
        {R"({"jsonrpc":"2.0","id":1,"method":{}})", errc::invalid_request, "1"},
        {R"({"jsonrpc":"2.0","id":1,"method":""})", errc::invalid_request, "1"},
        {R"({"jsonrpc":"2.0","id":true,"method":"m"})", errc::invalid_request, ""},
        {R"({"jsonrpc":"2.0","id":false,"method":"m"})", errc::invalid_request, ""},
        {R"({"jsonrpc":"2.0","id":[],"method":"m"})", errc::invalid_request, ""},
        {R"({"jsonrpc":"2.0","id":{},"method":"m"})", errc::invalid_request, ""},
        {R"({"jsonrpc":"2.0","id":"x","method":"m","params":"p"})", errc::invalid_request, R"("x")"},
        {R"({"jsonrpc":"2.0","id":"x","method":"m","params":null})", errc::invalid_request, R"("x")"},
        {R"({"jsonrpc":"2.0","id":"x","method":"m","params":1})", errc::invalid_request, R"("x")"},
        {R"({"jsonrpc":"2.0","id":"x","method":"m","params":true})", errc::invalid_request, R"("x")"},
        {R"({"jsonrpc":"2.0","id":1,"result":{}})", errc::invalid_request, "1"},
        {R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}})", errc::invalid_request, "1"},
    });
}

TEST_CASE("the reason says when it is a batch or an answer")
{
    CHECK(scan_jsonrpc("[]").why == "batch");
    CHECK(scan_jsonrpc("[]").problem == errc::invalid_request);
    CHECK(scan_jsonrpc(R"( [{"jsonrpc":"2.0","id":1,"method":"m"}])").why == "batch");
    CHECK(scan_jsonrpc(R"([{"jsonrpc":"2.0","id":1,"method":"m"})").problem == errc::parse_error);
    CHECK(scan_jsonrpc(R"({"jsonrpc":"2.0","id":1,"result":{}})").why == "an answer, not a request");
}

TEST_CASE("a routed member given twice is refused in every spelling")
{
    check_refusals({
        {R"({"jsonrpc":"2.0","id":1,"method":"a","method":"a"})", errc::invalid_request, "1"},
        {R"({"jsonrpc":"2.0","id":1,"method":"a","meth\u006fd":"b"})", errc::invalid_request, "1"},
        {R"({"jsonrpc":"2.0","id":1,"\u006d\u0065\u0074\u0068\u006F\u0064":"b","method":"a"})",
         errc::invalid_request,
         "1"},
        {R"({"jsonrpc":"2.0","id":1,"method":"a","id":2})", errc::invalid_request, ""},
        {R"({"jsonrpc":"2.0","id":1,"method":"a","i\u0064":1})", errc::invalid_request, ""},
        {R"({"jsonrpc":"2.0","id":1,"method":"a","params":{},"params":{}})", errc::invalid_request, "1"},
        {R"({"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"a"})", errc::invalid_request, "1"},
    });
    CHECK(!scan_jsonrpc(R"({"jsonrpc":"2.0","id":1,"method":"a","x":1,"x":{"id":1,"id":2}})").problem.has_value());
}

TEST_CASE("an escaped member name is the member")
{
    const auto found = scan_jsonrpc(R"({"\u006asonrpc":"2\u002e0","\u0069d":3,"meth\u006fd":"m","par\u0061ms":[]})");
    REQUIRE(!found.problem.has_value());
    CHECK(found.call.method == "m");
    CHECK(found.call.id == "3");
    CHECK(found.call.params == "[]");
}

TEST_CASE("case twins of routed members are refused, or ignored where they mean the standard member")
{
    for (const auto* name :
         {"Method",
          "METHOD",
          "Id",
          "iD",
          "ID",
          "Params",
          "PARAMS",
          "JsonRpc",
          "M\\u0065thod",
          "param\xC5\xBF",
          "j\\u017Fonrpc"}) {
        const auto body = R"({"jsonrpc":"2.0","id":1,"method":"a",")" + std::string(name) + R"(":"b"})";
        CAPTURE(body);
        CHECK(scan_jsonrpc(body).problem == errc::invalid_request);
        CHECK(scan_jsonrpc(body).call.id == "1");
        const auto found = scan_jsonrpc(body, {.refuse_case_twins = false});
        REQUIRE(!found.problem.has_value());
        CHECK(found.call.method == "a");
        CHECK(found.call.id == "1");
        CHECK(found.call.params.empty());
    }
    for (const auto* name : {"methods", "metho", "Name", "ids", "__proto__", "m\xC3\xA9thod", "", "ID\xC5"}) {
        const auto body = R"({"jsonrpc":"2.0","id":1,"method":"a",")" + std::string(name) + R"(":"b"})";
        CAPTURE(body);
        CHECK(
            scan_jsonrpc(body).problem ==
            (std::string_view{name} == "ID\xC5" ? std::optional{errc::parse_error} : std::nullopt)
        );
    }
}

TEST_CASE("a method with escapes is marked and unescapes to its name")
{
    const auto found = scan_jsonrpc(R"({"jsonrpc":"2.0","id":1,"method":"message\/s\u0065nd"})");
    REQUIRE(!found.problem.has_value());
    CHECK(found.call.method_escaped);
    CHECK(found.call.method == R"(message\/s\u0065nd)");
    CHECK(core::unescape_json(found.call.method) == "message/send");
}

TEST_CASE("escapes stand for what the standard says")
{
    CHECK(core::unescape_json(R"(plain)") == "plain");
    CHECK(core::unescape_json(R"(\"\\\/\b\f\n\r\t)") == "\"\\/\b\f\n\r\t");
    CHECK(core::unescape_json(R"(a\u0000b)") == std::string("a\0b", 3));
    CHECK(core::unescape_json(R"(\u00e9\u20AC\uD83D\uDE00)") == "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
    CHECK(core::unescape_json(R"(\uD800)") == "\xEF\xBF\xBD");
    CHECK(core::unescape_json(R"(\uDC00\uD800x)") == "\xEF\xBF\xBD\xEF\xBF\xBDx");
    CHECK(
        core::unescape_json(R"(\uD800\u0041)") ==
        "\xEF\xBF\xBD"
        "A"
    );
    CHECK(core::unescape_json(R"(\uD800\uFFFF)") == "\xEF\xBF\xBD\xEF\xBF\xBF");
    CHECK(core::unescape_json(R"(\uDC00\uDC00)") == "\xEF\xBF\xBD\xEF\xBF\xBD");
    CHECK(core::unescape_json(R"(\uDBFF\uDFFF)") == "\xF4\x8F\xBF\xBF");
}

TEST_CASE("depth is limited exactly, counted from the outermost object")
{
    const auto nested = [](std::size_t depth) {
        return with_params(repeated("[", depth - 1) + repeated("]", depth - 1));
    };
    const auto nested_objects = [](std::size_t depth) {
        return with_params(repeated(R"({"a":)", depth - 2) + "{}" + repeated("}", depth - 2));
    };
    CHECK(!scan_jsonrpc(nested(63)).problem.has_value());
    CHECK(!scan_jsonrpc(nested(64)).problem.has_value());
    CHECK(scan_jsonrpc(nested(65)).problem == errc::parse_error);
    CHECK(!scan_jsonrpc(nested_objects(64)).problem.has_value());
    CHECK(scan_jsonrpc(nested_objects(65)).problem == errc::parse_error);
    CHECK(!scan_jsonrpc(nested(4), {.depth = 4}).problem.has_value());
    CHECK(scan_jsonrpc(nested(5), {.depth = 4}).problem == errc::parse_error);
    CHECK(scan_jsonrpc(nested(65), {.depth = 1000}).problem == errc::parse_error);
    const auto arrays = [](std::size_t depth) { return repeated("[", depth) + repeated("]", depth); };
    CHECK(core::count_members(arrays(64), {.depth = 1000}).has_value());
    CHECK(core::count_members(arrays(65), {.depth = 1000}).has_error());
    CHECK(scan_jsonrpc("{}", {.depth = 0}).problem == errc::parse_error);
}

TEST_CASE("depth goes down again, so that many shallow values pass")
{
    CHECK(!scan_jsonrpc(with_params("[" + repeated("[[]],{},", 100000) + "0]")).problem.has_value());
}

TEST_CASE("nesting bombs are refused")
{
    CHECK(scan_jsonrpc(repeated("[", 1024 * 1024)).problem == errc::parse_error);
    CHECK(scan_jsonrpc(repeated("[", 1000000) + repeated("]", 1000000)).problem == errc::parse_error);
    CHECK(scan_jsonrpc(with_params(repeated("[", 1000000) + repeated("]", 1000000))).problem == errc::parse_error);
    CHECK(scan_jsonrpc(repeated(R"({"a":)", 100000)).problem == errc::parse_error);
}

TEST_CASE("large flat bodies pass")
{
    const std::string long_text(1024 * 1024, 'a');
    CHECK(!scan_jsonrpc(with_params(R"([")" + long_text + R"("])")).problem.has_value());
    CHECK(!scan_jsonrpc(with_params(R"({")" + long_text + R"(":1})")).problem.has_value());
    CHECK(!scan_jsonrpc(with_params("[" + repeated("1,", 1000000) + "1]")).problem.has_value());
    CHECK(!scan_jsonrpc(with_params("{" + repeated(R"("k":1,)", 1000000) + R"("k":1})")).problem.has_value());
}

TEST_CASE("a request cut anywhere is refused")
{
    const std::string body =
        R"({"jsonrpc":"2.0","id":-1.5e+3,"method":"a\u00e9","params":{"k":[true,false,null,"é€😀",{}]}})";
    REQUIRE(!scan_jsonrpc(body).problem.has_value());
    for (std::size_t length = 0; length < body.size(); ++length) {
        CAPTURE(length);
        CHECK(scan_jsonrpc(std::string_view{body}.substr(0, length)).problem == errc::parse_error);
    }
    for (const std::string_view more : {"}", "{}", "x", "1", ",", "\"", "\xEF\xBB\xBF", "/"}) {
        CAPTURE(more);
        CHECK(scan_jsonrpc(body + std::string(more)).problem == errc::parse_error);
    }
    CHECK(scan_jsonrpc(body + std::string(1, '\0')).problem == errc::parse_error);
    CHECK(scan_jsonrpc("\xEF\xBB\xBF" + body).problem == errc::parse_error);
}

TEST_CASE("the elements of an array come out as they were written")
{
    const std::string text = R"( [ 1.50 ,{"a" : [ ]}, "x" ,[[]] ] )";
    const auto all = core::scan_elements(text, 10);
    REQUIRE(all.has_value());
    CHECK(all->count == 4);
    REQUIRE(all->raw.size() == 4);
    CHECK(all->raw[0] == "1.50");
    CHECK(all->raw[1] == R"({"a" : [ ]})");
    CHECK(all->raw[2] == R"("x")");
    CHECK(all->raw[3] == "[[]]");

    const auto some = core::scan_elements(text, 1);
    REQUIRE(some.has_value());
    CHECK(some->count == 4);
    CHECK(some->raw.size() == 1);
    CHECK(core::scan_elements("[]", 1)->count == 0);

    for (const auto* broken : {"[", "[1", "[1,", "[1,]", "[1}", "[1]]", "[1 2]", "[x]", "x", "", "[[]", "[],"}) {
        CAPTURE(broken);
        CHECK(core::scan_elements(broken, 10).error().code == errc::parse_error);
    }
    CHECK(core::scan_elements("{}", 10).error().code == errc::invalid_request);
    CHECK(core::scan_elements("[[]]", 10, {.depth = 2}).has_value());
    CHECK(core::scan_elements("[[]]", 10, {.depth = 1}).error().code == errc::parse_error);
}

TEST_CASE("members are counted at every depth, names given twice too")
{
    CHECK(*core::count_members("{}") == 0);
    CHECK(*core::count_members(R"([{"a":1,"a":{"b":[{"c":"{"}]}},7])") == 4);
    CHECK(core::count_members(R"({"a"})").error().code == errc::parse_error);
}

TEST_SUITE_END();
