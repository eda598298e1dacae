#include "mcp/calls/incoming.hpp"

#include "mcp/calls/text_edits.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

TEST_SUITE_BEGIN("mcp/calls/incoming");

using mcp::client_method;
using mcp::incoming_kind;
using mcp::routed;

namespace {

// What is wrong with a body; empty: nothing.
std::string problem(std::string_view body, mcp::incoming_limits limits = {})
{
    const auto read = mcp::read_incoming(body, limits);
    return read.problem ? std::string{core::name(*read.problem)} + ": " + std::string{read.why} : std::string{};
}

std::string call(std::string_view params)
{
    return R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":)" + std::string{params} + "}";
}

std::string nested(unsigned levels)
{
    return std::string(levels, '[') + std::string(levels, ']');
}

}  // namespace

TEST_CASE("the places of a modern call's members are found")
{
    const std::string body =
        R"( { "params" : {"name":"re\u0061d", "arguments" : {"name":"x"}, "requestState":"s","inputResponses":{"a":{}},)"
        R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"a":{}},)"
        R"("io.modelcontextprotocol/clientInfo":{"name":"c"},"io.modelcontextprotocol/logLevel":"info",)"
        R"("progressToken": 1.50, "trace\u0070arent":"00-1-2-00" }}, "method":"tools\/call","id": "\u0031", "jsonrpc":"2.0","more":[1] } )";
    const auto read = mcp::read_incoming(body);
    REQUIRE(!read.problem);
    const auto& message = read.message;
    CHECK(message.kind == incoming_kind::request);
    CHECK(message.method == client_method::tools_call);
    CHECK(message.whole.of(body) == std::string_view{body}.substr(1, body.size() - 2));
    CHECK(message.raw(routed::id, body) == R"("\u0031")");
    CHECK(read.id.of(body) == R"("\u0031")");
    CHECK(message.raw(routed::name, body) == R"("re\u0061d")");
    std::string room;
    CHECK(message.text(routed::name, body, room) == "read");
    CHECK(message.text(routed::request_state, body, room) == "s");
    CHECK(!message.text(routed::arguments, body, room));
    CHECK(!message.text(routed::uri, body, room));
    CHECK(message.raw(routed::arguments, body) == R"({"name":"x"})");
    CHECK(message.raw(routed::input_responses, body) == R"({"a":{}})");
    CHECK(message.raw(routed::meta_version, body) == R"("2026-07-28")");
    CHECK(message.raw(routed::meta_capabilities, body) == R"({"a":{}})");
    CHECK(message.raw(routed::meta_client_info, body) == R"({"name":"c"})");
    CHECK(message.raw(routed::meta_level, body) == R"("info")");
    CHECK(message.raw(routed::progress_token, body) == "1.50");
    CHECK(message.text(routed::meta_trace, body, room) == "00-1-2-00");
    CHECK(message[routed::progressed_token].empty());
    CHECK(message[routed::uri].empty());
}

TEST_CASE("the members of other methods are found")
{
    struct row {
        std::string_view method;
        client_method known;
        std::string_view params;
        routed member;
        std::string_view raw;
    };
    const std::vector<row> rows{
        {"initialize", client_method::initialize, R"({"protocolVersion":"x"})", routed::version, R"("x")"},
        {"initialize", client_method::initialize, R"({"capabilities":{"a":1}})", routed::capabilities, R"({"a":1})"},
        {"initialize", client_method::initialize, R"({"clientInfo":{}})", routed::client_info, "{}"},
        {"resources/read", client_method::resources_read, R"({"uri":"a:b"})", routed::uri, R"("a:b")"},
        {"tasks/get", client_method::tasks_get, R"({"taskId":"t"})", routed::task, R"("t")"},
        {"notifications/cancelled", client_method::cancelled, R"({"requestId":7e0})", routed::request_id, "7e0"},
        {"notifications/progress", client_method::progress, R"({"progressToken":5})", routed::progressed_token, "5"},
        {"logging/setLevel", client_method::set_level, R"({"level":"info"})", routed::level, R"("info")"},
        {"tools/list", client_method::tools_list, R"({"cursor":""})", routed::cursor, R"("")"},
        {"subscriptions/listen", client_method::listen, R"({"notifications":{}})", routed::listen_to, "{}"},
        {"completion/complete", client_method::complete, R"({"ref":{"type":"t"}})", routed::reference_type, R"("t")"},
        {"completion/complete", client_method::complete, R"({"ref":{"name":"n"}})", routed::reference_name, R"("n")"},
        {"completion/complete", client_method::complete, R"({"ref":{"uri":"u"}})", routed::reference_uri, R"("u")"},
        {"events/subscribe", client_method::events_subscribe, R"({"delivery":[1]})", routed::delivery, "[1]"},
        {"events/subscribe",
         client_method::events_subscribe,
         R"({"url":"a","delivery":{"mode":"webhook","url":"b"}})",
         routed::webhook,
         R"("b")"},
        {"mine/own", client_method::other, R"({"name":{"name":1}})", routed::name, R"({"name":1})"},
    };
    for (const auto& each : rows) {
        CAPTURE(each.params);
        const auto body = R"({"jsonrpc":"2.0","method":")" + std::string{each.method} + R"(","params":)" +
                          std::string{each.params} + "}";
        const auto read = mcp::read_incoming(body);
        REQUIRE(!read.problem);
        CHECK(read.message.kind == incoming_kind::notification);
        CHECK(read.message.method == each.known);
        CHECK(read.message.raw(each.member, body) == each.raw);
        CHECK(read.id.empty());
    }
}

TEST_CASE("every method has one name and is found by it")
{
    for (unsigned i = 0; i < static_cast<unsigned>(client_method::other); ++i) {
        const auto method = static_cast<client_method>(i);
        CHECK(mcp::client_method_of(mcp::name(method)) == method);
    }
    CHECK(mcp::client_method_of("Tools/call") == client_method::other);
    CHECK(mcp::client_method_of("") == client_method::other);
    CHECK(mcp::name(client_method::other).empty());
    CHECK(mcp::is_modern(client_method::tools_call));
    CHECK(!mcp::is_modern(client_method::ping));
    CHECK(!mcp::is_modern(client_method::other));
}

TEST_CASE("a request, a notification and an answer are told apart")
{
    const auto kind = [](std::string_view body) {
        const auto read = mcp::read_incoming(body);
        CAPTURE(read.why);
        REQUIRE(!read.problem);
        return read.message.kind;
    };
    CHECK(kind(R"({"jsonrpc":"2.0","id":0,"method":"x"})") == incoming_kind::request);
    CHECK(kind(R"({"jsonrpc":"2.0","method":"x"})") == incoming_kind::notification);
    CHECK(kind(R"({"jsonrpc":"2.0","id":0,"result":null})") == incoming_kind::answer);
    CHECK(kind(R"({"jsonrpc":"2.0","id":0,"result":{},"error":null})") == incoming_kind::answer);
    CHECK(kind(R"({"jsonrpc":"2.0","id":0,"error":{}})") == incoming_kind::answer);
    CHECK(kind(R"({"jsonrpc":"2.0","id":null,"error":{}})") == incoming_kind::answer);
    CHECK(kind(R"({"jsonrpc":"2.0","error":{}})") == incoming_kind::answer);
}

TEST_CASE("what is no message is refused")
{
    for (const std::string body : {
             R"(1)",
             R"("x")",
             R"({})",
             R"({"jsonrpc":"2.0"})",
             R"({"jsonrpc":"2.0","id":1})",
             R"({"jsonrpc":"1.0","id":1,"method":"x"})",
             R"({"jsonrpc":2.0,"id":1,"method":"x"})",
             R"({"id":1,"method":"x"})",
             R"({"jsonrpc":"2.0","id":1,"method":""})",
             R"({"jsonrpc":"2.0","id":1,"method":7})",
             R"({"jsonrpc":"2.0","id":null,"method":"x"})",
             R"({"jsonrpc":"2.0","id":true,"method":"x"})",
             R"({"jsonrpc":"2.0","id":[1],"method":"x"})",
             R"({"jsonrpc":"2.0","id":1,"method":"x","params":[]})",
             R"({"jsonrpc":"2.0","id":1,"method":"x","params":null})",
             R"({"jsonrpc":"2.0","id":1,"method":"x","result":{}})",
             R"({"jsonrpc":"2.0","id":1,"result":{},"error":{}})",
             R"({"jsonrpc":"2.0","result":{}})",
             R"({"jsonrpc":"2.0","id":null,"result":{}})",
             R"({"jsonrpc":"2.0","id":{},"error":{}})",
         }) {
        CAPTURE(body);
        CHECK(problem(body).starts_with("invalid_request: "));
    }
}

TEST_CASE("what is not JSON is a parse error, whatever else is wrong with it")
{
    const std::string whole =
        R"({"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call","params":{"name":"x","_meta":{"a":[1]}}})";
    REQUIRE(problem(whole).starts_with("invalid_request: "));
    for (std::size_t size = 0; size < whole.size(); ++size) {
        CAPTURE(size);
        const auto read = mcp::read_incoming(std::string_view{whole}.substr(0, size));
        CHECK(read.problem == core::errc::parse_error);
        CHECK(!read.why.empty());
        CHECK(read.id.empty());
    }
    CHECK(problem(whole + "x").starts_with("parse_error: "));
    CHECK(problem(whole + "{}").starts_with("parse_error: "));
    CHECK(problem("\xEF\xBB\xBF" + whole).starts_with("parse_error: "));
    CHECK(problem(call("{\"name\":\"\xFF\"}")).starts_with("parse_error: "));
    CHECK(problem(call("{\"name\":01}")).starts_with("parse_error: "));
}

TEST_CASE("a routed member that stands twice is refused, in any spelling and at any place")
{
    for (const std::string& body : {
             std::string{R"({"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"x"})"},
             std::string{R"({"jsonrpc":"2.0","id":1,"method":"x","m\u0065thod":"y"})"},
             std::string{R"({"jsonrpc":"2.0","id":1,"method":"x","params":{},"params":{}})"},
             std::string{R"({"jsonrpc":"2.0","id":1,"result":{},"result":{}})"},
             call(R"({"name":"a","name":"b"})"),
             call(R"({"name":"a","\u006eame":"b"})"),
             call(R"({"uri":"a","uri":"b"})"),
             call(R"({"arguments":{},"arguments":{}})"),
             call(R"({"_meta":{},"_meta":{}})"),
             call(R"({"_meta":{"progressToken":1,"progressToken":1}})"),
             call(
                 R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"a","io.modelcontextprotocol\/protocolVersion":"b"}})"
             ),
             call(R"({"requestState":"a","requestState":"b"})"),
             call(R"({"ref":{"name":"a","name":"b"}})"),
         }) {
        CAPTURE(body);
        CHECK(problem(body) == "invalid_request: a routed member stands twice");
    }
    CHECK(mcp::read_incoming(R"({"jsonrpc":"2.0","id":1,"id":2,"method":"x"})").id.empty());
    CHECK(mcp::read_incoming(R"({"jsonrpc":"2.0","id":1,"method":"x","method":"x"})").id.size == 1);
    CHECK(problem(call(R"({"name":"a","arguments":{"name":1,"name":2},"other":1,"other":2})")).empty());
}

TEST_CASE("a member that differs from a routed one in case only is refused, but not in _meta")
{
    for (const std::string& body : {
             std::string{R"({"jsonrpc":"2.0","id":1,"method":"x","Method":"y"})"},
             std::string{R"({"jsonrpc":"2.0","id":1,"method":"x","PARAMS":{}})"},
             call(R"({"name":"a","Name":"b"})"),
             call(R"({"request_state":"a"})"),
             call(R"({"Request_State":"a"})"),
             call(R"({"name":"a","\u004eame":"b"})"),
             call("{\"name\":\"a\",\"ta\xC5\xBFkid\":\"b\"}"),
             call("{\"name\":\"a\",\"tas\xE2\x84\xAAId\":\"b\"}"),
             call(R"({"ref":{"TYPE":"b"}})"),
         }) {
        CAPTURE(body);
        CHECK(problem(body) == "invalid_request: a member differs from a routed one in case only");
    }
    CHECK(problem(call(R"({"_meta":{"ProgressToken":1},"arguments":{"Name":1}})")).empty());
}

TEST_CASE("the id of a refused request is known if there is one")
{
    const auto id = [](std::string_view body) { return mcp::read_incoming(body).id.of(body); };
    CHECK(id(R"({"jsonrpc":"1.0","id":"a","method":"x"})") == R"("a")");
    CHECK(id(R"({"jsonrpc":"2.0","id":{},"method":"x"})").empty());
    CHECK(id(R"({"jsonrpc":"2.0","id":1,"result":{}})").empty());
    CHECK(id(R"([{"jsonrpc":"2.0","id":1,"method":"x"}])").empty());
}

TEST_CASE("64 nested containers are read, and 65 are not")
{
    CHECK(problem(call(R"({"arguments":)" + nested(62) + "}")).empty());
    CHECK(problem(call(R"({"arguments":)" + nested(63) + "}")) == "parse_error: nested too deep");
    CHECK(problem(call(nested(63))) == "invalid_request: params is not an object");
    CHECK(problem(call(R"({"_meta":{"x":)" + nested(2) + "}}"), {.depth = 5}).empty());
    CHECK(problem(call(R"({"_meta":{"x":)" + nested(3) + "}}"), {.depth = 5}) == "parse_error: nested too deep");
}

TEST_CASE("A batch is refused, and one that is not JSON is a parse error")
{
    for (const auto* const body : {"[]", R"( [{"jsonrpc":"2.0","id":1,"method":"tools/list"}] )", "[1,[2]]"}) {
        CAPTURE(body);
        CHECK(problem(body) == "invalid_request: batches are not supported");
    }
    CHECK(problem("[1,]").starts_with("parse_error: "));
    CHECK(problem("1") == "invalid_request: not an object");
}

TEST_CASE("places are replaced in a copy, in any order, and every other byte stays")
{
    const std::string body =
        R"({"jsonrpc":"2.0", "id":"x","method":"tools/call","params":{"name":"a","_meta":{"progressToken":9}}})";
    const auto read = mcp::read_incoming(body).message;
    const std::vector<mcp::text_edit> edits{
        {read[routed::progress_token], "\"long token\""},
        {read[routed::id], "12"},
        {read[routed::name], "\"b\""},
    };
    CHECK(
        mcp::edited(body, edits) ==
        R"({"jsonrpc":"2.0", "id":12,"method":"tools/call","params":{"name":"b","_meta":{"progressToken":"long token"}}})"
    );
    CHECK(mcp::edited(body, {}) == body);
    const std::vector<mcp::text_edit> insertion{{{1, 2}, ""}, {{1, 0}, "x"}, {{4, 0}, "y"}};
    CHECK(mcp::edited("abcd", insertion) == "axdy");
}

TEST_SUITE_END();
