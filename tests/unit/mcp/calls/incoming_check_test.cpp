#include "mcp/calls/incoming_check.hpp"

#include "core/error.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("mcp/calls/incoming_check");

using core::errc;

namespace {

constexpr std::string_view full_meta =
    R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";

mcp::head_fields legacy(std::string_view version = {})
{
    mcp::head_fields head;
    head.accept.add("application/json, text/event-stream");
    if (!version.empty()) {
        head.version.add(version);
    }
    return head;
}

mcp::head_fields modern(std::string_view method, std::string_view name = {})
{
    auto head = legacy("2026-07-28");
    head.method.add(method);
    if (!name.empty()) {
        head.name.add(name);
    }
    return head;
}

std::string call(std::string_view method, std::string_view members = {}, std::string_view meta = full_meta)
{
    auto body =
        R"({"jsonrpc":"2.0","id":1,"method":")" + std::string{method} + R"(","params":{)" + std::string{members};
    if (!meta.empty()) {
        body += (members.empty() ? R"("_meta":)" : R"(,"_meta":)") + std::string{meta};
    }
    return body + "}}";
}

std::optional<mcp::refusal> check(const mcp::head_fields& head, std::string_view body)
{
    return mcp::check_post(head, mcp::read_incoming(body), body);
}

// "400 -32020"; empty: it may go on.
std::string verdict(const mcp::head_fields& head, std::string_view body)
{
    const auto found = check(head, body);
    return found
               ? std::to_string(core::http_status(found->code)) + " " + std::to_string(core::jsonrpc_code(found->code))
               : std::string{};
}

mcp::era era_of(const mcp::head_fields& head, std::string_view body)
{
    return mcp::era_of_post(head, mcp::read_incoming(body));
}

}  // namespace

TEST_CASE("a request is modern by its _meta or by a version from 2026-07-28 on")
{
    using mcp::era;
    const auto plain = call("ping", {}, {});
    CHECK(era_of(legacy(), plain) == era::legacy);
    CHECK(era_of(legacy(), call("ping")) == era::modern);
    CHECK(era_of(legacy(), call("ping", {}, R"({"io.modelcontextprotocol/protocolVersion":1})")) == era::modern);
    CHECK(era_of(legacy(), call("ping", {}, R"({"progressToken":1})")) == era::legacy);
    for (const std::string version : {"2026-07-28", "2026-07-29", "2099-01-01"}) {
        CHECK(era_of(legacy(version), plain) == era::modern);
    }
    for (const std::string version :
         {"2026-07-27", "2025-11-25", "x", "3", "2026-07-2x", "DRAFT-2027", "2027-01-011"}) {
        CHECK(era_of(legacy(version), plain) == era::legacy);
    }
}

TEST_CASE("a modern call whose header and body agree may go on")
{
    CHECK(verdict(modern("tools/call", "read"), call("tools/call", R"("name":"read")")).empty());
    CHECK(verdict(modern("prompts/get", "p"), call("prompts/get", R"("name":"p")")).empty());
    CHECK(verdict(modern("resources/read", "a:b"), call("resources/read", R"("uri":"a:b")")).empty());
    CHECK(verdict(modern("tasks/get", "t"), call("tasks/get", R"("taskId":"t")")).empty());
    CHECK(verdict(modern("tasks/get"), call("tasks/get", R"("taskId":"t")")).empty());
    CHECK_FALSE(verdict(modern("tasks/get", "u"), call("tasks/get", R"("taskId":"t")")).empty());
    for (const std::string method :
         {"server/discover",
          "tools/list",
          "subscriptions/listen",
          "completion/complete",
          "events/list",
          "events/poll",
          "events/stream",
          "events/subscribe",
          "events/unsubscribe"}) {
        CHECK(verdict(modern(method), call(method)).empty());
    }
    CHECK(verdict(modern("tools/call", "=?base64?w6k=?="), call("tools/call", "\"name\":\"\xC3\xA9\"")).empty());
    CHECK(verdict(modern("tools/call", "=?base64?w6k=?="), call("tools/call", R"("name":"\u00e9")")).empty());
    CHECK(verdict(modern("tools/list", "ignored"), call("tools/list")).empty());
}

TEST_CASE("An initialize that is a notification is -32600 in either era")
{
    const std::string notification =
        R"({"jsonrpc":"2.0","method":"initialize","params":{"protocolVersion":"2025-11-25"}})";
    CHECK(verdict(legacy(), notification) == "400 -32600");
    CHECK(verdict(legacy("2025-11-25"), notification) == "400 -32600");
    CHECK(verdict(modern("initialize"), notification) == "400 -32600");
    CHECK(verdict(legacy(), call("initialize", R"("protocolVersion":"2025-11-25")", {})).empty());
}

TEST_CASE("header fields that are missing, doubled or unlike the body are -32020")
{
    const auto body = call("tools/call", R"("name":"read")");
    const auto all = modern("tools/call", "read");
    CHECK(verdict(modern("tools/list", "read"), body) == "400 -32020");
    CHECK(verdict(modern("Tools/call", "read"), body) == "400 -32020");
    CHECK(verdict(modern("tools/call", "Read"), body) == "400 -32020");
    CHECK(verdict(modern("tools/call"), body) == "400 -32020");
    for (const auto field : {&mcp::head_fields::version, &mcp::head_fields::method, &mcp::head_fields::name}) {
        auto missing = all;
        missing.*field = {};
        CHECK(verdict(missing, body) == "400 -32020");
        auto doubled = all;
        (doubled.*field).add((all.*field).value);
        CHECK(verdict(doubled, body) == "400 -32020");
        auto empty = all;
        (empty.*field).value = "";
        CHECK(verdict(empty, body) == "400 -32020");
    }
    auto older = all;
    older.version.value = "2025-11-25";
    CHECK(verdict(older, body) == "400 -32020");
    CHECK(verdict(modern("tools/call", "=?base64?cmVhZA?="), body) == "400 -32020");
    CHECK(verdict(modern("tools/call", "read"), call("tools/call", R"("name":7)")) == "400 -32020");
    CHECK(verdict(modern("tools/call", "\xC3\xA9"), call("tools/call", "\"name\":\"\xC3\xA9\"")) == "400 -32020");
}

TEST_CASE("a modern request whose _meta is incomplete is -32602")
{
    const auto head = modern("tools/list");
    CHECK(verdict(head, call("tools/list", {}, {})) == "400 -32602");
    CHECK(verdict(head, R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})") == "400 -32602");
    for (const std::string meta : {
             R"({})",
             R"([])",
             R"({"io.modelcontextprotocol/clientCapabilities":{}})",
             R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28"})",
             R"({"io.modelcontextprotocol/protocolVersion":1,"io.modelcontextprotocol/clientCapabilities":{}})",
             R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":[]})",
         }) {
        CAPTURE(meta);
        CHECK(verdict(head, call("tools/list", {}, meta)) == "400 -32602");
    }
    CHECK(verdict(modern("tools/call"), call("tools/call")) == "400 -32602");
}

TEST_CASE("a modern version that is unknown is -32022 with what is supported")
{
    auto head = modern("tools/list");
    head.version.value = "2099-01-01";
    const auto refusal =
        check(head, call("tools/list", {}, R"({"io.modelcontextprotocol/protocolVersion":"2099-01-01"})"));
    REQUIRE(refusal);
    CHECK(refusal->code == errc::version_unsupported);
    CHECK(refusal->data == R"({"supported":["2026-07-28"],"requested":"2099-01-01"})");
    head.version.value = "2025-11-25";
    CHECK(
        verdict(head, call("tools/list", {}, R"({"io.modelcontextprotocol/protocolVersion":"2025-11-25"})")) ==
        "400 -32022"
    );
    const std::string longer(70, '"');
    head.version.value = longer;
    std::string escaped;
    for (std::size_t i = 0; i < longer.size(); ++i) {
        escaped += "\\\"";
    }
    const auto cut =
        check(head, call("tools/list", {}, R"({"io.modelcontextprotocol/protocolVersion":")" + escaped + "\"}"));
    REQUIRE(cut);
    CHECK(cut->data == R"({"supported":["2026-07-28"],"requested":")" + escaped.substr(0, 128) + "\"}");
}

TEST_CASE("an unknown method of the modern era, or one of the legacy era, is 404")
{
    for (const std::string method :
         {"ping", "initialize", "logging/setLevel", "resources/subscribe", "tasks/list", "mine/own"}) {
        CAPTURE(method);
        CHECK(verdict(modern(method), call(method)) == "404 -32601");
        CHECK(verdict(legacy(), call(method, {}, {})).empty());
    }
}

TEST_CASE("a modern notification may lack all that a request has, and may not contradict itself")
{
    const std::string body = R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})";
    CHECK(verdict(legacy("2026-07-28"), body).empty());
    CHECK(verdict(modern("notifications/cancelled"), body).empty());
    CHECK(verdict(modern("tools/call"), body) == "400 -32020");
    CHECK(verdict(legacy("2026-08-01"), body) == "400 -32022");
    const auto with_version =
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"_meta":)" + std::string{full_meta} + "}}";
    CHECK(verdict(legacy(), with_version).empty());
    CHECK(verdict(legacy("2025-11-25"), with_version) == "400 -32020");
}

TEST_CASE("The modern era has no answers of clients")
{
    CHECK(verdict(legacy("2026-07-28"), R"({"jsonrpc":"2.0","id":1,"result":{}})") == "400 -32600");
    CHECK(verdict(legacy("2025-11-25"), R"({"jsonrpc":"2.0","id":1,"result":{}})").empty());
}

TEST_CASE("an unknown legacy version is a plain 400")
{
    const auto body = call("tools/list", {}, {});
    for (const std::string version : {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}) {
        CHECK(verdict(legacy(version), body).empty());
    }
    for (const std::string version : {"2025-01-01", "x", "1.0", "2025-11-25 ", "2024-10-07"}) {
        CAPTURE(version);
        const auto refusal = check(legacy(version), body);
        REQUIRE(refusal);
        CHECK(refusal->code == errc::bad_request);
        CHECK(refusal->data.empty());
        CHECK(verdict(legacy(version), call("initialize", {}, {})).empty());
    }
    auto empty = legacy();
    empty.version.add("");
    CHECK(check(empty, body)->code == errc::bad_request);
}

TEST_CASE("a doubled field of a legacy request is a plain 400")
{
    const auto body = call("tools/list", {}, {});
    for (const auto field : {&mcp::head_fields::version, &mcp::head_fields::session, &mcp::head_fields::event}) {
        auto head = legacy("2025-11-25");
        (head.*field) = {};
        (head.*field).add("2025-11-25");
        CHECK(!check(head, body));
        (head.*field).add("2025-11-25");
        CHECK(check(head, body)->code == errc::bad_request);
    }
}

TEST_CASE("A batch is refused in every version")
{
    const auto body = "[" + call("tools/list", {}, {}) + "]";
    CHECK(verdict(legacy(), body) == "400 -32600");
    for (const auto* const version : {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}) {
        CAPTURE(version);
        CHECK(verdict(legacy(version), body) == "400 -32600");
    }
}

TEST_CASE("what read_incoming() has found is said with its code")
{
    CHECK(verdict(legacy(), "{") == "400 -32700");
    CHECK(verdict(legacy(), "{}") == "400 -32600");
    CHECK(verdict(modern("x"), "[]") == "400 -32600");
    mcp::head_fields head;
    head.accept.add("text/html");
    CHECK(verdict(head, "{") == "406 -31406");
}

TEST_CASE("A request is refused if its Accept excludes both types of answers")
{
    const auto said = [](std::string_view value) {
        auto head = legacy();
        head.accept = {};
        head.accept.add(value);
        return verdict(head, call("tools/list", {}, {}));
    };
    CHECK(said("application/json").empty());
    CHECK(said("text/event-stream").empty());
    CHECK(said("text/html") == "406 -31406");
    CHECK(said("application/json;q=0") == "406 -31406");
}

TEST_CASE("A subscription needs a client that takes events")
{
    for (const std::string method : {"subscriptions/listen", "events/stream"}) {
        auto head = modern(method);
        CHECK(verdict(head, call(method)).empty());
        head.accept = {};
        head.accept.add("application/json");
        CHECK(verdict(head, call(method)) == "406 -31406");
    }
    auto poll = modern("events/poll");
    poll.accept.add("application/json");
    CHECK(verdict(poll, call("events/poll")).empty());
}

TEST_CASE("An initialize is of the legacy era whatever version its _meta names")
{
    const auto body = call("initialize", R"("protocolVersion":"2025-11-25")");
    CHECK(verdict(legacy(), body).empty());
    CHECK(verdict(legacy("2025-06-18"), body).empty());
    CHECK(mcp::era_of_post(legacy(), mcp::read_incoming(body)) == mcp::era::legacy);
    CHECK(mcp::era_of_post(legacy(), mcp::read_incoming(call("tools/list"))) == mcp::era::modern);
}

TEST_CASE("An initialize with a version field of the modern era hears which versions have it")
{
    for (const auto* const version : {"2026-07-28", "2031-01-01"}) {
        CAPTURE(version);
        const auto found = check(legacy(version), call("initialize", R"("protocolVersion":"2025-11-25")", {}));
        REQUIRE(found);
        CHECK(core::jsonrpc_code(found->code) == -32022);
        CHECK(core::http_status(found->code) == 400);
        CHECK(
            found->data == R"({"supported":["2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":")" +
                               std::string{version} + R"("})"
        );
    }
}

TEST_CASE("A request whose version is the problem is refused with a sentence that names it")
{
    auto head = legacy("2026-07-28");
    const auto body = call("tools/list", {}, {});
    CHECK(
        check(head, body)->said ==
        "MCP-Protocol-Version is 2026-07-28, whose requests name their version in params._meta."
    );
    head.session.add("s");
    CHECK(
        check(head, body)->said ==
        "MCP-Protocol-Version is 2026-07-28, but a session speaks the version that its initialize agreed on."
    );
    CHECK(
        check(legacy("2024-01-01"), body)->said ==
        "MCP-Protocol-Version is '2024-01-01', which is no version that Cardea speaks."
    );
    CHECK(check(legacy(), "{")->said.empty());
}

TEST_CASE("GET and DELETE are checked by their fields alone")
{
    mcp::head_fields head;
    CHECK(!mcp::check_get(head));
    CHECK(!mcp::check_delete(head));
    head.accept.add("application/json");
    CHECK(mcp::check_get(head)->code == errc::not_acceptable);
    CHECK(!mcp::check_delete(head));
    head.accept.add("text/event-stream");
    head.version.add("2025-11-25");
    CHECK(!mcp::check_get(head));
    CHECK(!mcp::check_delete(head));
    head.version.value = "2025-01-01";
    CHECK(mcp::check_get(head)->code == errc::bad_request);
    CHECK(mcp::check_delete(head)->code == errc::bad_request);
    head.version.value = "2026-07-28";
    CHECK(mcp::check_get(head)->code == errc::method_not_allowed);
    CHECK(mcp::check_delete(head)->code == errc::method_not_allowed);
    head.version.value = "2025-11-25";
    head.session.add("a");
    head.session.add("b");
    CHECK(mcp::check_get(head)->code == errc::bad_request);
    CHECK(mcp::check_delete(head)->code == errc::bad_request);
}

TEST_CASE("a field's value is plain or encoded, and each text has one way")
{
    for (const std::string text :
         {"", "a", "a b", "read_file", " a", "a ", "\xC3\xA9", "a\nb", "=?base64?YQ==?=", "=?base64?", "\x7F", "\t"}) {
        CAPTURE(text);
        const auto value = mcp::header_value(text);
        CHECK(mcp::header_text(value) == text);
        CHECK(value.find_first_of("\r\n\t") == std::string::npos);
    }
    CHECK(mcp::header_value("a b") == "a b");
    CHECK(mcp::header_value(" a") == "=?base64?IGE=?=");
    for (const std::string value :
         {" a",
          "a ",
          "\xC3\xA9",
          "a\nb",
          "=?base64?YQ?=",
          "=?base64?YQ=?=",
          "=?base64?YR==?=",
          "=?base64?_w==?=",
          "=?base64?/w==?=",
          "=?base64?Y===?=",
          "=?base64?Y Q=?="}) {
        CAPTURE(value);
        CHECK(!mcp::header_text(value));
    }
    CHECK(mcp::header_text("=?BASE64?YQ==?=") == "=?BASE64?YQ==?=");
    CHECK(
        mcp::header_text("=?base64?"
                         "?=") == ""
    );
}

TEST_SUITE_END();
