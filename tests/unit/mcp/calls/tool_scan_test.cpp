#include "mcp/calls/tool_scan.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace {

enum class end { ok, tool_error, failed };

end end_of(const mcp::tool_scan& scan)
{
    CHECK_FALSE((scan.tool_error() && scan.failed()));
    return scan.tool_error() ? end::tool_error : scan.failed() ? end::failed : end::ok;
}

// In one piece, byte by byte, and in two pieces cut at each place: all agree.
end scanned(std::string_view body)
{
    mcp::tool_scan whole;
    whole.feed(body);
    const auto how = end_of(whole);
    mcp::tool_scan bytes;
    for (const char each : body) {
        bytes.feed({&each, 1});
    }
    CHECK(end_of(bytes) == how);
    for (std::size_t at = 0; at <= body.size(); ++at) {
        CAPTURE(at);
        mcp::tool_scan halves;
        halves.feed(body.substr(0, at));
        halves.feed(body.substr(at));
        CHECK(end_of(halves) == how);
    }
    return how;
}

TEST_SUITE("mcp tool scan")
{
    TEST_CASE("A result with isError: true is a tool's error, wherever the member is")
    {
        CHECK(scanned(R"({"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}})") == end::tool_error);
        CHECK(
            scanned(R"({"result":{"isError" : true,"content":[{"type":"text","text":"\"}]"}]},"id":1})") ==
            end::tool_error
        );
        CHECK(scanned("\n {\"id\":\"\\\\\",\"result\":{\"a\":\"\\\\\\\"\",\"isError\":\n true}}") == end::tool_error);
        CHECK(scanned(R"({"result":{"isError":false,"content":[]}})") == end::ok);
        CHECK(scanned(R"({"result":{"content":[]}})") == end::ok);
        CHECK(scanned(R"({"result":{"isError":"true"}})") == end::ok);
    }

    TEST_CASE("The same words elsewhere are not")
    {
        CHECK(scanned(R"({"result":{"structuredContent":{"isError":true},"content":[]}})") == end::ok);
        CHECK(scanned(R"({"result":[{"isError":true}]})") == end::ok);
        CHECK(scanned(R"({"isError":true,"result":{}})") == end::ok);
        CHECK(scanned(R"({"params":{"isError":true},"result":{}})") == end::ok);
        CHECK(scanned(R"({"result":{"content":[{"text":"\"isError\":true"}]}})") == end::ok);
        CHECK(scanned(R"({"result":{"a":"isError","b":true}})") == end::ok);
        CHECK(scanned(R"({"result":{"isErrors":true,"xisError":true,"isErro":true}})") == end::ok);
        CHECK(scanned(R"({"result":{"":{},"isError":null}})") == end::ok);
        CHECK(scanned(R"({"result":{},"other":{"isError":true}})") == end::ok);
    }

    TEST_CASE("An error of JSON-RPC is a failure")
    {
        CHECK(scanned(R"({"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"unknown tool"}})") == end::failed);
        CHECK(scanned(R"({"error":null,"result":{"isError":true}})") == end::tool_error);
        CHECK(scanned(R"({"result":{"error":{"isError":true}}})") == end::ok);
    }

    TEST_CASE("The answer in a stream of events counts, with other messages before it")
    {
        const std::string note =
            "event: message\ndata: "
            "{\"method\":\"notifications/progress\",\"params\":{\"result\":{\"isError\":true}}}\n\n";
        CHECK(scanned(note + "data: {\"result\":{\"isError\":true}}\n\n") == end::tool_error);
        CHECK(
            scanned(note + ": isError\r\nid: 1\r\ndata:{\"result\":\r\ndata: {\"isError\":true}}\r\n\r\n") ==
            end::tool_error
        );
        CHECK(scanned("id: p\rdata: \r\rid: q\rdata: {\"error\":{\"code\":1}}\r\r") == end::failed);
        CHECK(
            scanned(note + "data: {\"result\":{\"isError\":false}}\n\ndata: {\"result\":{\"isError\":true}}\n\n") ==
            end::ok
        );
        CHECK(scanned(note + "date: {\"result\":{\"isError\":true}}\n\n") == end::ok);
        CHECK(scanned(note) == end::ok);
        // The end of another line ends no event.
        CHECK(scanned("data: {\"result\":\nid: 1\ndata: {\"isError\":true}}\n\n") == end::tool_error);
    }

    TEST_CASE("Once the answer is known nothing more need be seen")
    {
        mcp::tool_scan scan;
        CHECK(scan.feed("  "));
        CHECK(scan.feed(R"({"id":1,"result":{"content":[])"));
        CHECK_FALSE(scan.feed(R"(,"isError":true,"more":)"));
        CHECK_FALSE(scan.feed(R"({}}})"));
        CHECK(scan.tool_error());
        mcp::tool_scan batch;
        CHECK_FALSE(batch.feed(R"([{"result":{"isError":true}}])"));
        CHECK_FALSE(batch.tool_error());
    }

    TEST_CASE("What is no JSON is over, or changes nothing")
    {
        for (const auto* text :
             {"", "}}}}", "<html>\"", "{\"", "{]}:{:", "\x1f\x8b\x08", "{\"result\":{\"isError\":", "data"}) {
            CAPTURE(text);
            CHECK(scanned(text) == end::ok);
        }
    }
}

}  // namespace
