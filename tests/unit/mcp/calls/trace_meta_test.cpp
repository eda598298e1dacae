#include "mcp/calls/text_edits.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("mcp/calls/trace_meta");

namespace {

// The message with the trace in it; empty: nothing is written.
std::string traced(const std::string& text, const std::string& state = {})
{
    const auto read = mcp::read_incoming(text);
    REQUIRE_FALSE(read.problem);
    const auto edit = mcp::trace_edit(read.message, text, {"00-a-b-01", state});
    if (!edit) {
        return {};
    }
    const auto out = mcp::edited(text, {&*edit, 1});
    // Its parts stand where they are said to stand.
    const auto again = mcp::read_incoming(out);
    CHECK_FALSE(again.problem);
    const auto there = mcp::moved(read.message, {&*edit, 1});
    CHECK(there[mcp::routed::params] == again.message[mcp::routed::params]);
    CHECK(there[mcp::routed::id] == again.message[mcp::routed::id]);
    CHECK(there[mcp::routed::name] == again.message[mcp::routed::name]);
    CHECK(there[mcp::routed::progress_token] == again.message[mcp::routed::progress_token]);
    return out;
}

std::string request(const std::string& params)
{
    return R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":)" + params + "}";
}

}  // namespace

TEST_CASE("A request gets its trace in _meta, and every other byte stays")
{
    CHECK(
        traced(request(R"({"name":"t", "_meta": {"progressToken":7}})"), "k=\"v\"") ==
        request(R"({"name":"t", "_meta": {"traceparent":"00-a-b-01","tracestate":"k=\"v\"","progressToken":7}})")
    );
    CHECK(traced(request(R"({"_meta":{}})")) == request(R"({"_meta":{"traceparent":"00-a-b-01"}})"));
    CHECK(traced(request(R"({"name":"t"})")) == request(R"({"_meta":{"traceparent":"00-a-b-01"},"name":"t"})"));
    CHECK(traced(request("{ }")) == request(R"({"_meta":{"traceparent":"00-a-b-01"} })"));
}

TEST_CASE("What the client says of its trace in _meta stays, and a request without params gets none")
{
    CHECK(traced(request(R"({"_meta":{"traceparent":"mine"}})")).empty());
    CHECK(traced(request(R"({"_meta":{"\u0074raceparent":"mine"}})")).empty());
    CHECK(traced(request(R"({"_meta":{"tracestate":"mine"}})"), "s").find(R"("s")") == std::string::npos);
    CHECK(traced(request(R"({"_meta":7})")).empty());
    CHECK(traced(request(R"({"_meta":{"x":1,"x":2}})")).empty());
    CHECK(traced(request(R"({"x":1,"x":2})")).empty());
    CHECK(traced(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})").empty());
}

TEST_SUITE_END();
