#include "mcp/pins/lock_file.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

TEST_SUITE_BEGIN("mcp/pins/lock_file");

namespace {

const std::string print(64, 'a');

std::string why(std::string_view text)
{
    const auto read = mcp::read_lock_file(text);
    return read ? "" : read.error().detail;
}

}  // namespace

TEST_CASE("A lock file that was written is read as it was, and is sorted")
{
    mcp::lock_file file;
    file["b"].card = print;
    file["a"].instructions = std::string(64, '0');
    file["a"].tools = {{"z", print}, {"y", print}};
    const auto text = mcp::lock_file_text(file);
    const auto read = mcp::read_lock_file(text);
    REQUIRE(read.has_value());
    CHECK(*read == file);
    CHECK(text.find("\"a\"") < text.find("\"b\""));
    CHECK(text.find("\"y\"") < text.find("\"z\""));
    CHECK(text.ends_with("}\n"));
}

TEST_CASE("What is not JSON is told by line and column, and all else by its member")
{
    CHECK(why("{\n \"version\": 1,\n \"agents\": {,}}") == "line 3, column 13: is not JSON");
    CHECK(why("") == "line 1, column 1: is not JSON");
    CHECK(why("[]") == "expected an object with version and agents");
    CHECK(why("{}") == "version: is missing; expected 1");
    CHECK(why(R"({"version":2})") == "version: expected 1");
    CHECK(why(R"({"version":1,"x":1})") == "x: is not known; expected version or agents");
    CHECK(why(R"({"version":1,"agents":[]})") == "agents: expected an object of ids");
    CHECK(
        why(R"({"version":1,"agents":{"q":{"tools":[]}}})") ==
        "agents.q.tools: expected an object of names and fingerprints"
    );
    CHECK(
        why(R"({"version":1,"agents":{"q":{"tool":{}}}})") ==
        "agents.q.tool: is not known; expected card, instructions or tools"
    );
    CHECK(
        why(R"({"version":1,"agents":{"q":{"card":"A"}}})") ==
        "agents.q.card: expected 64 hexadecimal digits in small letters, or null"
    );
    CHECK(
        why(R"({"version":1,"agents":{"q":{"tools":{"t":7}}}})") ==
        "agents.q.tools.t: expected 64 hexadecimal digits in small letters, or null"
    );
    CHECK_FALSE(why(R"({"version":1,"agents":{},"agents":{}})").empty());
    CHECK_FALSE(why(R"({"version":1,"agents":{"q":{},"q":{}}})").empty());
    CHECK_FALSE(why(R"({"version":1,"agents":{"q":{"tools":{"a":null,"\u0061":null}}}})").empty());
    CHECK(why(R"({"version":1})").empty());
}

TEST_CASE("A fingerprint has 64 digits, not one more or less")
{
    const auto with = [](std::size_t size) {
        return R"({"version":1,"agents":{"q":{"card":")" + std::string(size, 'b') + "\"}}}";
    };
    CHECK_FALSE(why(with(63)).empty());
    CHECK(why(with(64)).empty());
    CHECK_FALSE(why(with(65)).empty());
}

TEST_CASE("A document that is nested deeply is refused without harm")
{
    CHECK_FALSE(why(std::string(1'000'000, '[')).empty());
    CHECK_FALSE(why(std::string(100, '[') + std::string(100, ']')).empty());
}

TEST_SUITE_END();
