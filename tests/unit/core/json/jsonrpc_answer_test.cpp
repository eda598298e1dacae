#include "core/json/jsonrpc_scan.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using core::answer_kind;
using core::scan_answer;

TEST_SUITE_BEGIN("core/json/jsonrpc_answer");

TEST_CASE("the result of an answer is found wherever it stands, and everything around it is kept as text")
{
    struct row {
        std::string before;
        std::string result;
        std::string after;
    };
    const row rows[] = {
        {R"({"result":)", "{}", "}"},
        {R"({"jsonrpc":"2.0","id":123456789012345678901234567890,"result":)", R"({"a":[1,{"result":2}]})", "}"},
        {" \r\n{ \"id\" : 1.50e+1 ,\t\"result\" : ", "[1]", " ,\n\"x\" : \"\\u00e9\\/\" } \n"},
        {R"({"error":null,"result":)", "17", R"(,"id":null})"},
        {R"({"re\u0073ult":)", R"("text")", R"(,"method":"m"})"},
        {R"({"x":{"result":1,"error":2},"result":)", "true", "}"},
        {R"({"result":)", "null", R"(,"id":1})"},
        {R"({"x":1,"x":2,"result":)", "{}", R"(,"":3})"},
    };
    for (const auto& each : rows) {
        const auto text = each.before + each.result + each.after;
        CAPTURE(text);
        const auto found = scan_answer(text);
        REQUIRE(found.has_value());
        CHECK(found->kind == answer_kind::result);
        CHECK(found->before == each.before);
        CHECK(found->result == each.result);
        CHECK(found->after == each.after);
    }
}

TEST_CASE("an error, and what is no answer but a call, stay whole")
{
    struct row {
        std::string text;
        answer_kind kind;
    };
    const row rows[] = {
        {R"({"jsonrpc":"2.0","id":1,"error":{"code":-32004,"message":"m"}})", answer_kind::error},
        {R"( {"error":"x","result":null} )", answer_kind::error},
        {R"({"error":{},"method":"m"})", answer_kind::error},
        {R"({"jsonrpc":"2.0","method":"m","params":{"result":1}})", answer_kind::call},
        {R"({"method":"m","error":null})", answer_kind::call},
    };
    for (const auto& each : rows) {
        CAPTURE(each.text);
        const auto found = scan_answer(each.text);
        REQUIRE(found.has_value());
        CHECK(found->kind == each.kind);
        CHECK(found->before == each.text);
        CHECK(found->result.empty());
        CHECK(found->after.empty());
    }
}

TEST_CASE("what two readers could take for different answers is refused")
{
    for (const std::string text :
         {R"({})",
          R"([])",
          R"([{"result":{}}])",
          R"("result")",
          "null",
          R"({"id":1})",
          R"({"error":null})",
          R"({"method":7})",
          R"({"result":1,"result":2})",
          R"({"result":1,"res\u0075lt":2})",
          R"({"result":1,"Result":2})",
          R"({"RESULT":1})",
          "{\"re\xC5\xBFult\":1}",
          R"({"re\u017fult":1})",
          R"({"error":{},"error":null})",
          R"({"error":{},"Error":null})",
          R"({"method":"m","Result":{}})",
          R"({"result":{},"error":{}})",
          R"({"result":{},"error":false})"}) {
        CAPTURE(text);
        const auto found = scan_answer(text);
        REQUIRE(found.has_error());
        CHECK(found.error().code == core::errc::invalid_request);
        CHECK(!found.error().detail.empty());
    }
}

TEST_CASE("what is not JSON, not UTF-8 or nested too deep is no answer at all")
{
    const std::string deep = R"({"result":)" + std::string(64, '[') + std::string(64, ']') + "}";
    for (const std::string& text :
         {std::string{},
          std::string{"{"},
          std::string{R"({"result":)"},
          std::string{R"({"result":1,})"},
          std::string{R"({"result":1} {})"},
          std::string{R"({"result":01})"},
          std::string{"{\"result\":\"\xff\"}"},
          std::string{"{\"result\":\"\xed\xa0\x80\"}"},
          std::string{"\xef\xbb\xbf{\"result\":1}"},
          std::string{"{\"result\":1}\0", 13},
          deep}) {
        CAPTURE(text);
        const auto found = scan_answer(text);
        REQUIRE(found.has_error());
        CHECK(found.error().code == core::errc::parse_error);
    }
    CHECK(scan_answer(R"({"result":)" + std::string(63, '[') + std::string(63, ']') + "}").has_value());
    CHECK(scan_answer(R"({"result":[]})", 1).has_error());
}

TEST_CASE("an answer that is cut at any byte is no answer")
{
    const std::string text = R"({"jsonrpc":"2.0","id":"a\"b","result":{"a":[1,null,-2.5e3]},"x":"é"})";
    for (std::size_t size = 0; size < text.size(); ++size) {
        CAPTURE(size);
        CHECK(scan_answer(std::string_view{text}.substr(0, size)).has_error());
    }
    CHECK(scan_answer(text).has_value());
}

TEST_SUITE_END();
