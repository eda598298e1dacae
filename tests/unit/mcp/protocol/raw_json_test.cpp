#include "mcp/protocol/raw_json.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <fstream>
#include <string>

TEST_SUITE_BEGIN("mcp/protocol/raw_json");

namespace {

// Bytes; `what`: a line of /proc/self/status.
std::size_t memory_of_process(const std::string& what)
{
    std::ifstream status{"/proc/self/status"};
    for (std::string word; status >> word;) {
        if (word == what) {
            std::size_t kib = 0;
            status >> kib;
            return kib * 1024;
        }
    }
    return 0;
}

void forget_most_memory()
{
    std::ofstream{"/proc/self/clear_refs"} << 5;
}

}  // namespace

TEST_CASE("an object's members come as they are written, in their order")
{
    const auto read = mcp::raw_object::read(R"( {"a": 1.50e+3 ,"\u0062":{"c":[1 , 2]},"n":null,"t":"\u00e9\n"} )");
    REQUIRE(read.has_value());
    REQUIRE(read->members().size() == 4);
    CHECK(read->find("a") == "1.50e+3");
    CHECK(read->find("b") == R"({"c":[1 , 2]})");
    CHECK(read->object("b") == read->find("b"));
    CHECK(read->object("a").empty());
    CHECK(read->find("n") == "null");
    CHECK(read->text("t") == "\xc3\xa9\n");
    CHECK(read->text("a").empty());
    CHECK(read->find("missing").empty());
}

TEST_CASE("what is no object, not JSON, too deep or has a name twice is refused")
{
    CHECK(mcp::raw_object::read("[1]").error().code == core::errc::invalid_request);
    CHECK(mcp::raw_object::read(R"({"a":1,"\u0061":2})").error().detail == "a member stands twice");
    for (const std::string text : {"", "{", "{}x", "{\"a\":01}", "{\"a\"}", "{\"a\":\"\xff\"}", "{\"a\":[[[]]]}"}) {
        CAPTURE(text);
        const auto read = mcp::raw_object::read(text, 3);
        REQUIRE(read.has_error());
        CHECK(read.error().code == core::errc::parse_error);
    }
    CHECK(mcp::raw_object::read(R"({"a":[[]]})", 3).has_value());
}

TEST_CASE("an object with as many members as may be is taken apart, and one with one more is not")
{
    std::string members;
    for (std::size_t i = 0; i < mcp::max_members; ++i) {
        members += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":0";
    }
    CHECK(mcp::raw_object::read("{" + members + "}")->members().size() == mcp::max_members);
    CHECK(mcp::raw_object::read("{" + members + ",\"x\":0}").error().detail == "an object with too many members");
    CHECK(mcp::raw_object::read("{" + members).error().code == core::errc::parse_error);
}

TEST_CASE("the compact form loses white space outside of strings and nothing else")
{
    CHECK(
        mcp::compact("{ \"a b\" :\r\n\t[ 1.0 , 1e400, 12345678901234567890123 ] , \"c\":\"x \\\" y\" }") ==
        R"({"a b":[1.0,1e400,12345678901234567890123],"c":"x \" y"})"
    );
    CHECK(mcp::compact(R"("\ud83d\ude00 \\ud800 \n")") == R"("\ud83d\ude00 \\ud800 \n")");
}

TEST_CASE("half a surrogate pair becomes the replacement character, wherever it stands")
{
    CHECK(
        mcp::compact(R"(["\ud83d","\ude00","\ud83dx","\ud83d\ud83d\ude00","\uD83D\u0041"])") ==
        R"(["\ufffd","\ufffd","\ufffdx","\ufffd\ud83d\ude00","\ufffd\u0041"])"
    );
}

TEST_CASE("a text of millions of small values is taken with little more memory than its copy")
{
    std::string text{"["};
    while (text.size() < std::size_t{4} * 1024 * 1024) {
        text += "[],[[]],0,{},";
    }
    text += "0]";
    forget_most_memory();
    const auto before = memory_of_process("VmRSS:");
    const auto taken = mcp::usable(text, 60);
    REQUIRE(taken.has_value());
    CHECK(*taken == text);
    const auto most = memory_of_process("VmHWM:");
    REQUIRE(before > 0);
    REQUIRE(most > 0);
    CHECK(most - before < 4 * text.size());
}

TEST_CASE("objects and lists are put together")
{
    std::string object{"{"};
    mcp::append_member(object, "a", "1");
    mcp::append_text_member(object, "b", "\"\n");
    mcp::close(object, '}');
    CHECK(object == R"({"a":1,"b":"\"\n"})");
    std::string empty{"["};
    mcp::close(empty, ']');
    CHECK(empty == "[]");
}

TEST_SUITE_END();
