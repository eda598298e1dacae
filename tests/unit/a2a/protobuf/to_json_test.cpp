#include "a2a/protobuf/codec.hpp"
#include "a2a/protobuf/tables.hpp"
#include "tests/unit/a2a/protobuf/wire_text.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace a2a::protobuf;
using tests::delimited;
using tests::varint;

namespace {

std::string json(const message_type& type, std::string_view bytes, const codec_options& options = {})
{
    return tests::converted(to_json, type, bytes, options);
}

// `value` as metadata.x of a part.
std::string metadata(std::string_view value)
{
    return delimited(5, tests::structure("x", value));
}

std::string value_json(std::string_view value)
{
    return json(v1::part, metadata(value));
}

std::string number_json(double number)
{
    const auto text = value_json(tests::number(number));
    REQUIRE(text.starts_with(R"({"metadata":{"x":)"));
    return text.substr(17, text.size() - 19);
}

// A Value with so many containers around null.
std::string nested(unsigned depth)
{
    std::string value = varint(1, 0);
    for (unsigned i = 0; i < depth; ++i) {
        value = i % 2 == 0 ? delimited(6, delimited(1, value)) : delimited(5, tests::structure("k", value));
    }
    return value;
}

}  // namespace

TEST_CASE("A message of 1.0 becomes the JSON of its bindings")
{
    const auto part = delimited(1, "Hi \"you\"\n") + delimited(7, "text/plain");
    const auto message = delimited(1, "m1") + delimited(3, "t1") + varint(4, 1) + delimited(5, part) +
                         delimited(5, delimited(2, "\xFF\xFE")) + delimited(7, "urn:x") + delimited(7, "urn:y");
    const auto request = delimited(1, "ten") + delimited(2, message) + delimited(3, varint(3, 0) + varint(4, 1));
    CHECK(
        json(v1::send_message_request, request) ==
        R"({"tenant":"ten","message":{"messageId":"m1","taskId":"t1","role":"ROLE_USER","parts":[)"
        R"({"text":"Hi \"you\"\n","mediaType":"text/plain"},{"raw":"//4="}],"extensions":["urn:x","urn:y"]},)"
        R"("configuration":{"historyLength":0,"returnImmediately":true}})"
    );
}

TEST_CASE("A message of 0.3 has the names that its file gives for JSON")
{
    const auto message =
        delimited(1, "m1") + delimited(5, delimited(2, delimited(2, "abc") + delimited(3, "text/plain")));
    CHECK(
        json(v03::send_message_request, delimited(1, message)) ==
        R"({"message":{"messageId":"m1","content":[{"file":{"fileWithBytes":"YWJj","mimeType":"text/plain"}}]}})"
    );
    CHECK(
        json(v03::stream_response, delimited(3, delimited(3, varint(1, 5)) + varint(4, 1))) ==
        R"({"statusUpdate":{"status":{"state":"TASK_STATE_CANCELLED"},"final":true}})"
    );
}

TEST_CASE("Default values are left out unless their presence counts")
{
    CHECK(json(v1::send_message_configuration, varint(4, 0) + varint(3, 0)) == R"({"historyLength":0})");
    CHECK(json(v1::part, delimited(1, "") + delimited(6, "")) == R"({"text":""})");
    CHECK(json(v1::agent_capabilities, varint(1, 0)) == R"({"streaming":false})");
    CHECK(json(v1::task, delimited(3, "") + delimited(6, "")) == R"({"status":{},"metadata":{}})");
    CHECK(json(google::empty, "") == "{}");
}

TEST_CASE("Numbers of a Struct are written as short as they read back")
{
    CHECK(number_json(3) == "3");
    CHECK(number_json(-3) == "-3");
    CHECK(number_json(0.1) == "0.1");
    CHECK(number_json(1e5) == "100000");
    CHECK(number_json(9007199254740994.0) == "9007199254740994");
    CHECK(number_json(12345678901234567168.0) == "12345678901234567168");
    CHECK(number_json(1e21) == "1e+21");
    CHECK(number_json(-0.0) == "-0");
    CHECK(number_json(5e-324) == "5e-324");
    CHECK(number_json(std::numeric_limits<double>::max()) == "1.7976931348623157e+308");
}

TEST_CASE("Numbers that are not finite are refused with their path")
{
    for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
        CHECK(value_json(tests::number(bad)) == "-32602 metadata.x: is not a finite number");
    }
    const codec_options answer{.from_agent = true};
    CHECK(json(v1::part, metadata(tests::number(HUGE_VAL)), answer).starts_with("-32006 metadata.x: "));
}

TEST_CASE("Values of a Struct become the JSON that they mean")
{
    CHECK(value_json(varint(1, 0)) == R"({"metadata":{"x":null}})");
    CHECK(value_json("") == R"({"metadata":{"x":null}})");
    CHECK(value_json(varint(4, 1)) == R"({"metadata":{"x":true}})");
    CHECK(
        value_json(delimited(3, "\x01\x7F\xF0\x9F\x98\x80")) == "{\"metadata\":{\"x\":\"\\u0001\x7F\xF0\x9F\x98\x80\"}}"
    );
    CHECK(value_json(delimited(6, "")) == R"({"metadata":{"x":[]}})");
    CHECK(value_json(delimited(5, "")) == R"({"metadata":{"x":{}}})");
    CHECK(value_json(nested(2)) == R"({"metadata":{"x":{"k":[null]}}})");
}

TEST_CASE("Times have as many digits as they need and lie in the years 1 to 9999")
{
    const auto time = [](std::int64_t seconds, std::int64_t nanos) {
        const auto bytes =
            varint(1, static_cast<std::uint64_t>(seconds)) + varint(2, static_cast<std::uint64_t>(nanos));
        return json(v1::task_status, delimited(3, bytes));
    };
    CHECK(time(0, 0) == R"({"timestamp":"1970-01-01T00:00:00Z"})");
    CHECK(time(1700000000, 120000000) == R"({"timestamp":"2023-11-14T22:13:20.120Z"})");
    CHECK(time(-1, 1000) == R"({"timestamp":"1969-12-31T23:59:59.000001Z"})");
    CHECK(time(0, 1) == R"({"timestamp":"1970-01-01T00:00:00.000000001Z"})");
    CHECK(time(-62135596800, 0) == R"({"timestamp":"0001-01-01T00:00:00Z"})");
    CHECK(time(253402300799, 999999999) == R"({"timestamp":"9999-12-31T23:59:59.999999999Z"})");
    for (const auto& [seconds, nanos] :
         {std::pair<std::int64_t, std::int64_t>{-62135596801, 0}, {253402300800, 0}, {0, -1}, {0, 1000000000}}) {
        CHECK(time(seconds, nanos) == "-32602 timestamp: is not a time of the years 1 to 9999");
    }
}

TEST_CASE("Text that is not UTF-8 is refused with its path, also as a key")
{
    CHECK(
        json(v1::send_message_request, delimited(2, delimited(5, "") + delimited(5, delimited(1, "\xC3")))) ==
        "-32602 message.parts[1].text: is not UTF-8"
    );
    CHECK(json(v1::part, delimited(5, tests::structure("\xFF", varint(1, 0)))) == "-32602 metadata: is not UTF-8");
    CHECK(json(v1::message, delimited(7, "a") + delimited(7, "\xED\xA0\x80")) == "-32602 extensions[1]: is not UTF-8");
}

TEST_CASE("Containers nest 64 deep and no deeper")
{
    // The part and its metadata are two of them.
    for (const unsigned limit : {64U, 65U}) {
        const codec_options options{.depth = limit};
        CHECK(json(v1::part, metadata(nested(61)), options).starts_with("{"));
        CHECK(json(v1::part, metadata(nested(62)), options).starts_with("{"));
        CHECK(json(v1::part, metadata(nested(63)), options).ends_with(": is nested too deep"));
    }
    CHECK(json(v1::part, metadata(nested(2)), {.depth = 4}).starts_with("{"));
    CHECK(json(v1::part, metadata(nested(2)), {.depth = 3}) == "-32700 metadata.x.k: is nested too deep");
}

TEST_CASE("A message that is nested without end is refused while it is merged")
{
    std::string value = varint(1, 0);
    for (unsigned i = 0; i < 1000; ++i) {
        value = delimited(6, delimited(1, value));
    }
    CHECK(value_json(value + value).ends_with(": is nested too deep"));
}

TEST_CASE("Varints have ten bytes at most, tags and lengths five")
{
    const std::string nine(9, '\x80');
    CHECK(json(v1::send_message_configuration, "\x20" + nine.substr(1) + "\x01") == R"({"returnImmediately":true})");
    CHECK(json(v1::send_message_configuration, "\x20" + nine + "\x01") == R"({"returnImmediately":true})");
    CHECK(json(v1::send_message_configuration, "\x20" + nine + "\x80\x01") == "-32700 : has a varint that is too long");
    CHECK(json(v1::task, std::string{"\x8A\x80\x80\x80\x00\x01x", 7}) == R"({"id":"x"})");
    CHECK(json(v1::task, std::string{"\x8A\x80\x80\x80\x80\x00\x01x", 8}) == "-32700 : has a varint that is too long");
    CHECK(json(v1::task, std::string{"\x0A\x81\x80\x80\x80\x00x", 7}) == R"({"id":"x"})");
    CHECK(json(v1::task, std::string{"\x0A\x81\x80\x80\x80\x80\x00x", 8}) == "-32700 : has a varint that is too long");
}

TEST_CASE("Bytes that are no message are refused")
{
    CHECK(json(v1::task, "\x0B") == "-32700 : has a group");
    CHECK(json(v1::task, "\x0C") == "-32700 : has a group");
    CHECK(json(v1::task, "\x0E") == "-32700 : has an unknown wire type");
    CHECK(json(v1::task, std::string{"\x02\x00", 2}) == "-32700 : has a field number that does not exist");
    CHECK(json(v1::task, "\x80\x80\x80\x80\x10") == "-32700 : has a field number that does not exist");
    CHECK(json(v1::task, "\x0A") == "-32700 : is cut off");
    CHECK(json(v1::task, "\x0A\x02x") == "-32700 : is cut off");
    CHECK(json(v1::task, "\x18\x80") == "-32700 : is cut off");
    CHECK(json(v1::task, "\x19") == "-32700 : is cut off");
    CHECK(
        json(
            v1::task,
            "\x1D"
            "abc"
        ) == "-32700 : is cut off"
    );
    CHECK(json(v1::task, delimited(3, delimited(2, "\x0A"))) == "-32700 status.message: is cut off");
    CHECK(json(v1::task, delimited(1, "a") + delimited(1, "b") + "\x0A") == "-32700 : is cut off");
}

TEST_CASE("Fields that are unknown or have another wire type are dropped and counted")
{
    std::string out;
    const auto bytes = delimited(1, "a") + varint(1, 7) + delimited(99, "x") +
                       "\x9D\x06"
                       "abcd" +
                       delimited(3, varint(77, 1)) + delimited(2, "c");
    const auto done = to_json(v1::task, bytes, {}, out);
    REQUIRE(done.has_value());
    CHECK(out == R"({"id":"a","status":{},"contextId":"c"})");
    CHECK(done->lost == 4);

    // Also in the bytes that are written once more.
    out.clear();
    const auto merged = to_json(v1::task, bytes + delimited(1, "b"), {}, out);
    REQUIRE(merged.has_value());
    CHECK(out == R"({"id":"b","contextId":"c","status":{}})");
    CHECK(merged->lost == 4);
}

TEST_CASE("Repeated elements that stand apart come together, what is written twice counts as protocol buffers have it")
{
    CHECK(
        json(v1::message, delimited(7, "a") + delimited(1, "m") + delimited(7, "b")) ==
        R"({"messageId":"m","extensions":["a","b"]})"
    );
    CHECK(json(v1::task, delimited(1, "a") + delimited(1, "")) == "{}");
    CHECK(
        json(v1::task, delimited(3, varint(1, 2)) + delimited(3, delimited(2, delimited(1, "m")))) ==
        R"({"status":{"state":"TASK_STATE_WORKING","message":{"messageId":"m"}}})"
    );
    CHECK(json(v1::part, delimited(1, "a") + delimited(3, "http://a")) == R"({"url":"http://a"})");
    // Another member of the oneof in between ends the first one.
    CHECK(
        json(
            v1::stream_response,
            delimited(1, delimited(1, "t")) + delimited(2, "") + delimited(1, delimited(2, "c"))
        ) == R"({"task":{"contextId":"c"}})"
    );
}

TEST_CASE("A known field of another wire type is dropped, and refused of a request with one tenant")
{
    const auto other = varint(2, 4) + delimited(2, "t");
    CHECK(json(v1::get_task_request, other) == R"({"id":"t"})");
    CHECK(json(v1::get_task_request, other, {.tenant_once = true}) == "-32602 id: has another wire type");
    CHECK(json(v1::get_task_request, varint(20, 4) + delimited(2, "t"), {.tenant_once = true}) == R"({"id":"t"})");
}

TEST_CASE("A second tenant is refused if the options say so")
{
    const auto twice = delimited(1, "a") + delimited(1, "b");
    CHECK(json(v1::get_task_request, twice) == R"({"tenant":"b"})");
    CHECK(json(v1::get_task_request, twice, {.tenant_once = true}) == "-32602 tenant: is given twice");
    CHECK(
        json(v1::get_task_request, delimited(1, "") + delimited(1, ""), {.tenant_once = true}) ==
        "-32602 tenant: is given twice"
    );
    CHECK(
        json(v1::get_task_request, delimited(1, "a") + delimited(2, "i") + delimited(2, "j"), {.tenant_once = true}) ==
        R"({"tenant":"a","id":"j"})"
    );
}

TEST_CASE("The text is as long as the limit at most")
{
    const auto bytes = delimited(1, "abc");
    const std::string whole = R"({"id":"abc"})";
    CHECK(json(v1::task, bytes, {.bytes = whole.size() + 1}) == whole);
    CHECK(json(v1::task, bytes, {.bytes = whole.size()}) == whole);
    CHECK(json(v1::task, bytes, {.bytes = whole.size() - 1}) == "-32600 : is larger than the limit");
}

TEST_CASE("Enumerations without a name are numbers, flags are any varint but 0")
{
    CHECK(json(v1::task_status, varint(1, 99)) == R"({"state":99})");
    CHECK(json(v1::task_status, varint(1, ~0ULL)) == R"({"state":-1})");
    CHECK(json(v1::task_status, varint(1, 1ULL << 32U)) == "{}");
    CHECK(json(v1::send_message_configuration, varint(4, 1ULL << 40U)) == R"({"returnImmediately":true})");
    CHECK(json(v1::send_message_configuration, varint(3, static_cast<std::uint64_t>(-5))) == R"({"historyLength":-5})");
}
