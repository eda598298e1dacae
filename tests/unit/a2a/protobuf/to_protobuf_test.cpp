#include "a2a/protobuf/codec.hpp"
#include "a2a/protobuf/tables.hpp"
#include "tests/unit/a2a/protobuf/wire_text.hpp"

#include <doctest/doctest.h>

using namespace a2a::protobuf;
using tests::delimited;
using tests::varint;

namespace {

std::string bytes(const message_type& type, std::string_view json, const codec_options& options = {})
{
    return tests::converted(to_protobuf, type, json, options);
}

std::string metadata(std::string_view value)
{
    return delimited(5, tests::structure("x", value));
}

std::string value_bytes(std::string_view json, const codec_options& options = {})
{
    return bytes(v1::part, R"({"metadata":{"x":)" + std::string{json} + "}}", options);
}

std::string nested(unsigned depth)
{
    std::string json = "null";
    for (unsigned i = 0; i < depth; ++i) {
        json = i % 2 == 0 ? "[" + json + "]" : R"({"k":)" + json + "}";
    }
    return json;
}

constexpr codec_options answer{.from_agent = true};

}  // namespace

TEST_CASE("JSON of a binding becomes a message, whatever spelling its names have")
{
    const auto expected = delimited(1, "ten") +
                          delimited(2, delimited(1, "m1") + varint(4, 1) + delimited(5, delimited(1, "Hi \"you\"\n"))) +
                          delimited(3, varint(3, 0) + varint(4, 1));
    CHECK(
        bytes(
            v1::send_message_request,
            R"({"tenant":"ten","message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"Hi \"you\"\n"}]},)"
            R"("configuration":{"historyLength":0,"returnImmediately":true}})"
        ) == expected
    );
    CHECK(
        bytes(
            v1::send_message_request,
            " {\"tenant\" : \"ten\",\n\"message\":{\"message_id\":\"m1\",\"role\":1,\"parts\":[ {\"text\":\"Hi "
            "\\\"you\\\"\\n\"} ]},"
            "\"configuration\":{\"history_length\":\"0\",\"return_immediately\":true}} "
        ) == expected
    );
    CHECK(bytes(v1::message, R"({"message\u0049d":"m"})") == delimited(1, "m"));
    CHECK(
        bytes(v03::send_message_request, R"({"message":{"content":[{"text":"a"}]}})") ==
        delimited(1, delimited(5, delimited(1, "a")))
    );
    CHECK(
        bytes(v03::send_message_request, R"({"request":{"content":[{"text":"a"}]}})") ==
        delimited(1, delimited(5, delimited(1, "a")))
    );
}

TEST_CASE("Null is unset, but for a Value")
{
    CHECK(bytes(v1::task, R"({"id":null,"status":null,"artifacts":null,"metadata":null})").empty());
    CHECK(bytes(v1::part, R"({"text":"a","url":null})") == delimited(1, "a"));
    CHECK(bytes(v1::part, R"({"data":null})") == delimited(4, varint(1, 0)));
    CHECK(bytes(v1::task, R"({"artifacts":[null]})") == "-32602 artifacts[0]: must be an object");
    CHECK(bytes(v1::message, R"({"extensions":["a",null]})") == "-32602 extensions[1]: must be a string");
}

TEST_CASE("Default values are left out unless their presence counts")
{
    CHECK(bytes(v1::send_message_configuration, R"({"returnImmediately":false,"historyLength":0})") == varint(3, 0));
    CHECK(bytes(v1::part, R"({"text":"","filename":""})") == delimited(1, ""));
    CHECK(bytes(v1::task_status, R"({"state":"TASK_STATE_UNSPECIFIED"})").empty());
    CHECK(bytes(google::empty, "{}").empty());
}

TEST_CASE("Base64 comes in both alphabets, with and without padding")
{
    for (const auto* const text : {"-_-_Pg", "+/+/Pg==", "-_-_Pg==", "+/+/Pg"}) {
        CAPTURE(text);
        CHECK(bytes(v1::part, std::string{R"({"raw":")"} + text + "\"}") == delimited(2, "\xFB\xFF\xBF\x3E"));
    }
    CHECK(bytes(v1::part, R"({"raw":"+\/+\/Pg=="})") == delimited(2, "\xFB\xFF\xBF\x3E"));
    CHECK(bytes(v1::part, R"({"raw":""})") == delimited(2, ""));
    for (const auto* const text : {"A", "AAAAA", "AA=", "A===", "AA=A", "A A=", "=", "AAAA=", "\xC3\xA9"}) {
        CAPTURE(text);
        CHECK(bytes(v1::part, std::string{R"({"raw":")"} + text + "\"}") == "-32602 raw: must be base64");
    }
    CHECK(bytes(v1::part, R"({"raw":[1]})") == "-32602 raw: must be a string of base64");
}

TEST_CASE("A number that no double equals is refused in requests with its path, and rounded and counted in answers")
{
    for (const auto* const good :
         {"0",
          "-0",
          "3",
          "3.0",
          "0.1",
          "1e2",
          "9007199254740992",
          "9007199254740994",
          "12345678901234567168",
          "1e23",
          "4.4675303483594312e+18",
          "5.684341886080802E-14",
          "0.30000000000000004",
          "5e-324",
          "1.7976931348623157e308",
          "1000000000000000000000000",
          "0.000000000000000000000000",
          "0e999999",
          "123456789012345680000"}) {
        CAPTURE(good);
        std::string out;
        const auto done = to_protobuf(v1::part, R"({"data":)" + std::string{good} + "}", {}, out);
        REQUIRE(done.has_value());
        CHECK(out == delimited(4, tests::number(std::strtod(good, nullptr))));
    }
    for (const auto* const bad :
         {"12345678901234567891", "9007199254740993", "0.1000000000000000000001", "3.14159265358979323846", "1e-400"}) {
        CAPTURE(bad);
        CHECK(value_bytes(bad) == "-32602 metadata.x: is a number that no double equals");
        std::string out;
        const auto done = to_protobuf(v1::part, R"({"metadata":{"x":)" + std::string{bad} + "}}", answer, out);
        REQUIRE(done.has_value());
        CHECK(done->rounded == 1);
        CHECK(out == metadata(tests::number(std::strtod(bad, nullptr))));
    }
    CHECK(value_bytes("1e400") == "-32602 metadata.x: is a number that is too large");
    CHECK(value_bytes("-1e400", answer) == "-32006 metadata.x: is a number that is too large");
    CHECK(value_bytes("NaN") == "-32700 metadata.x: is not JSON");
    CHECK(value_bytes("-Infinity") == "-32700 metadata.x: is not JSON");
}

TEST_CASE("Whole numbers come as numbers or texts, and fit 32 bits")
{
    const auto length = [](std::string_view json) {
        return bytes(v1::get_task_request, R"({"historyLength":)" + std::string{json} + "}");
    };
    CHECK(length("7") == varint(3, 7));
    CHECK(length("\"7\"") == varint(3, 7));
    CHECK(length("7.0") == varint(3, 7));
    CHECK(length("7e1") == varint(3, 70));
    CHECK(length("-1") == varint(3, ~0ULL));
    CHECK(length("2147483647") == varint(3, 2147483647));
    CHECK(length("-2147483648") == varint(3, static_cast<std::uint64_t>(-2147483648LL)));
    CHECK(length("2147483648") == "-32602 historyLength: is a number that is too large");
    CHECK(length("-2147483649") == "-32602 historyLength: is a number that is too large");
    for (const auto* const bad : {"7.5", "\"\"", "\"7 \"", "\"0x7\"", "true", "[7]", "\"+7\""}) {
        CAPTURE(bad);
        CHECK(length(bad) == "-32602 historyLength: must be a whole number");
    }
}

TEST_CASE("Unknown names of enumerations are refused in requests, and dropped and counted in answers")
{
    CHECK(bytes(v1::list_tasks_request, R"({"status":"working"})") == "-32602 status: is a name that does not exist");
    std::string out;
    const auto done =
        to_protobuf(v1::task_status, R"({"state":"working","timestamp":"2024-01-01T00:00:00Z"})", answer, out);
    REQUIRE(done.has_value());
    CHECK(done->lost == 1);
    CHECK(out == delimited(3, varint(1, 1704067200)));
    CHECK(bytes(v1::task_status, R"({"state":99})") == varint(1, 99));
    CHECK(bytes(v1::task_status, R"({"state":"TASK_STATE_CANCELED"})") == varint(1, 5));
    CHECK(bytes(v03::task_status, R"({"state":"TASK_STATE_CANCELLED"})") == varint(1, 5));
}

TEST_CASE("Unknown members are dropped and counted")
{
    std::string out;
    const auto done =
        to_protobuf(v1::task, R"({"kind":"task","id":"a","more":{"x":[1,{}]},"status":{"y":null}})", {}, out);
    REQUIRE(done.has_value());
    CHECK(done->lost == 3);
    CHECK(out == delimited(1, "a") + delimited(3, ""));
}

TEST_CASE("A member that is given twice and two members of one oneof are refused")
{
    CHECK(bytes(v1::task, R"({"id":"a","id":"a"})") == "-32602 id: is given twice");
    CHECK(bytes(v1::task, R"({"contextId":"a","context_id":"b"})") == "-32602 contextId: is given twice");
    CHECK(bytes(v1::message, R"({"parts":[],"parts":[]})") == "-32602 parts: is given twice");
    CHECK(
        bytes(v1::message, R"({"parts":[{"text":"a"},{"text":"a","url":"b"}]})") ==
        "-32602 parts[1].url: is one of two contents"
    );
    CHECK(bytes(v1::part, R"({"data":null,"raw":""})") == "-32602 raw: is one of two contents");
}

TEST_CASE("Times are read in any zone")
{
    const auto time = [](std::string_view text) {
        return bytes(v1::task_status, R"({"timestamp":")" + std::string{text} + "\"}");
    };
    CHECK(time("1970-01-01T00:00:00Z") == delimited(3, ""));
    CHECK(time("2023-11-14T22:13:20.12Z") == delimited(3, varint(1, 1700000000) + varint(2, 120000000)));
    CHECK(time("2023-11-14T23:13:20.000000001+01:00") == delimited(3, varint(1, 1700000000) + varint(2, 1)));
    CHECK(time("1969-12-31T23:59:59.5Z") == delimited(3, varint(1, ~0ULL) + varint(2, 500000000)));
    for (const auto* const bad :
         {"", "yesterday", "2023-02-30T00:00:00Z", "2023-11-14", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59-01:00"}) {
        CAPTURE(bad);
        CHECK(time(bad) == "-32602 timestamp: must be a time of RFC 3339 in the years 1 to 9999");
    }
    CHECK(
        bytes(v1::task_status, R"({"timestamp":7})") ==
        "-32602 timestamp: must be a time of RFC 3339 in the years 1 to 9999"
    );
}

TEST_CASE("Text is unescaped, and half a surrogate pair is refused")
{
    CHECK(
        value_bytes(R"("\"\\\/\b\f\n\r\t\u0000\u00e9\u6F22\uD83D\ude00.")") ==
        metadata(delimited(3, std::string_view{"\"\\/\b\f\n\r\t\0\u00e9\u6F22\U0001F600.", 19}))
    );
    for (const auto* const bad : {R"("\uD83D")", R"("\uDE00")", R"("\uD83D\uD83D")", R"("\uD83Dx")", R"("\uD83D\n")"}) {
        CAPTURE(bad);
        CHECK(value_bytes(bad) == "-32602 metadata.x: has half a surrogate pair");
    }
    CHECK(bytes(v1::part, R"({"metadata":{"\uD83D":1}})") == "-32602 metadata: has half a surrogate pair");
    CHECK(bytes(v1::part, R"({"metadata":{"a\nb":1}})") == delimited(5, tests::structure("a\nb", tests::number(1))));
}

TEST_CASE("Text that is not JSON is refused")
{
    for (const auto* const bad :
         {"",
          " ",
          "{",
          "{]",
          R"({"id")",
          R"({"id":)",
          R"({"id":"a)",
          R"({"id":"a",})",
          R"({"id":"a"}x)",
          R"({"id":tru})",
          "{\"id\":\"\xFF\"}",
          R"({"more":[})",
          R"({"history":[{},]})"}) {
        CAPTURE(bad);
        CHECK(bytes(v1::task, bad).ends_with(": is not JSON"));
        CHECK(bytes(v1::task, bad).starts_with("-32700 "));
    }
    CHECK(bytes(v1::task, "[]") == "-32602 : must be an object");
    CHECK(bytes(v1::task, "null") == "-32602 : must be an object");
    CHECK(bytes(v1::task, R"({"history":{}})") == "-32602 history: must be an array");
    CHECK(bytes(v1::task, R"({"metadata":[]})") == "-32602 metadata: must be an object");
    CHECK(bytes(v1::task, R"({"id":7})") == "-32602 id: must be a string");
    CHECK(
        bytes(v1::send_message_configuration, R"({"returnImmediately":"true"})") ==
        "-32602 returnImmediately: must be true or false"
    );
}

TEST_CASE("Containers nest 64 deep and no deeper")
{
    for (const unsigned limit : {64U, 65U}) {
        const codec_options options{.depth = limit};
        CHECK(!value_bytes(nested(61), options).starts_with("-"));
        CHECK(!value_bytes(nested(62), options).starts_with("-"));
        CHECK(value_bytes(nested(63), options).ends_with(": is nested too deep"));
    }
    CHECK(!value_bytes(nested(2), {.depth = 4}).starts_with("-"));
    CHECK(value_bytes(nested(2), {.depth = 3}) == "-32700 metadata.x.k: is nested too deep");
    CHECK(bytes(v1::part, R"({"more":)" + nested(64) + "}") == "-32700 : is nested too deep");
}

TEST_CASE("Lengths over 127 are put in at any depth")
{
    for (const std::size_t size : {126U, 127U, 128U, 129U, 16382U, 16383U, 16384U, 2097151U, 2097152U}) {
        CAPTURE(size);
        const std::string text(size, 'x');
        const auto part = delimited(1, text) + delimited(5, tests::structure("k", delimited(3, text)));
        const auto expected = delimited(2, delimited(5, part) + delimited(5, delimited(1, "y")) + delimited(5, part));
        const auto json = R"({"text":")" + text + R"(","metadata":{"k":")" + text + "\"}}";
        CHECK(
            bytes(v1::send_message_request, R"({"message":{"parts":[)" + json + R"(,{"text":"y"},)" + json + "]}}") ==
            expected
        );
    }
}

TEST_CASE("The message is as long as the limit at most")
{
    const auto whole = delimited(2, delimited(1, std::string(200, 'm')));
    const auto json = R"({"message":{"messageId":")" + std::string(200, 'm') + "\"}}";
    CHECK(bytes(v1::send_message_request, json, {.bytes = whole.size() + 1}) == whole);
    CHECK(bytes(v1::send_message_request, json, {.bytes = whole.size()}) == whole);
    CHECK(bytes(v1::send_message_request, json, {.bytes = whole.size() - 1}) == "-32600 : is larger than the limit");
}

TEST_CASE("A path has long keys cut, and is cut as a whole")
{
    const std::string key(40, 'k');
    CHECK(bytes(v1::part, R"({"metadata":{")" + key + R"(":1e400}})")
              .starts_with("-32602 metadata." + key.substr(0, 32) + ": "));
    std::string json = "1e400";
    for (int i = 0; i < 20; ++i) {
        json = "{\"" + key + "\":" + json + "}";
    }
    std::string out;
    const auto done = to_protobuf(v1::part, R"({"data":)" + json + "}", {}, out);
    REQUIRE(done.has_error());
    CHECK(done.error().member.size() == 256);
}
