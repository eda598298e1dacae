#include "gateway/relay/forwarding.hpp"

#include "gateway/access/credential_reader.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/model/version.hpp"
#include "tests/unit/gateway/relay/field_lines.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/forwarding");

namespace {

using namespace relay_rig;
using gateway::relay::body_care;
using net::http1::framing;
using net::http1::method;

std::string
request_with(const lines& written, const gateway::relay::outgoing_body& body = {}, method verb = method::get)
{
    net::http1::request_head head;
    head.verb = verb;
    head.fields = fields_of(written);
    std::string text;
    gateway::relay::write_request_fields(text, head, body, stranger);
    return text;
}

std::string answer_with(const lines& written, body_care body = body_care::passes)
{
    net::http1::response_head head;
    head.status = 200;
    head.fields = fields_of(written);
    std::string text = "what was here before";
    gateway::relay::write_answer_fields(text, head, body);
    return text;
}

using names = std::vector<std::string>;

}  // namespace

TEST_CASE("A request keeps the caller's own fields and their order")
{
    const auto text = request_with({{"Accept", "a"}, {"X-One", "1"}, {"accept", "b"}, {"A2A-Version", "1.0"}});
    CHECK(text.find("\r\nAccept: a\r\nX-One: 1\r\naccept: b\r\nA2A-Version: 1.0\r\n") != std::string::npos);
    CHECK(text.ends_with("\r\n\r\n"));
}

TEST_CASE("A request loses credentials, fields of this hop, our own names and names with an underscore")
{
    for (const auto& name : names{
             "Authorization",
             "Cookie",
             "X-API-Key",
             "x-api-key",
             "Api-Key",
             "ApiKey",
             "X-Auth-Token",
             "X-Access-Token",
             "X-Goog-Api-Key",
             "Ocp-Apim-Subscription-Key",
             "X-Amz-Security-Token",
             "X-Goog-IAP-JWT-Assertion",
             "Host",
             "Expect",
             "Connection",
             "Keep-Alive",
             "Proxy-Authorization",
             "Proxy-Authenticate",
             "Proxy-Connection",
             "HTTP2-Settings",
             "TE",
             "Trailer",
             "Transfer-Encoding",
             "Content-Length",
             "Upgrade",
             "Cardea-Error",
             "cardea-anything",
             "Forwarded",
             "X-Real-IP",
             "X-Forwarded-Anything",
             "X_Forwarded_For",
             "Content_Length",
             "_",
         }) {
        CAPTURE(name);
        const auto text = request_with({{"Before", "1"}, {name, "planted"}, {"Behind", "2"}});
        CHECK(text.find("planted") == std::string::npos);
        CHECK(values(text, "before") == names{"1"});
        CHECK(values(text, "behind") == names{"2"});
    }
}

TEST_CASE("A field that Connection names ends at the gateway, in both directions")
{
    const lines written{{"X-Hop", "planted"}, {"Connection", "close, x-hop"}, {"X-Hops", "1"}, {"x-HOP", "planted"}};
    for (const auto& text : {request_with(written), answer_with(written)}) {
        CHECK(text.find("planted") == std::string::npos);
        CHECK(values(text, "x-hops") == names{"1"});
    }
}

TEST_CASE(
    "An agent gets what is left of a deadline in the field that said it, and nothing of one that is not understood"
)
{
    const std::vector<std::string> fields{"X-Wait-Ms", "X-Other-Ms", "X-Third-Ms"};
    const lines written{{"x-wait-ms", "900"}, {"X-Other-Ms", "soon"}, {"X-Third-Ms", "0"}, {"X-Fourth-Ms", "900"}};
    auto hop = stranger;
    hop.deadlines = fields;
    hop.left = core::duration{250};
    net::http1::request_head head;
    head.fields = fields_of(written);
    std::string text;
    gateway::relay::write_request_fields(text, head, {}, hop);
    CHECK(values(text, "x-wait-ms") == names{"250"});
    CHECK(values(text, "x-other-ms").empty());
    CHECK(values(text, "x-third-ms").empty());
    CHECK(values(text, "x-fourth-ms") == names{"900"});
}

TEST_CASE("Max-Forwards counts down in OPTIONS alone, and only where it is a number")
{
    CHECK(values(request_with({{"Max-Forwards", "5"}}, {}, method::options), "max-forwards") == names{"4"});
    CHECK(values(request_with({{"max-forwards", "1"}}, {}, method::options), "max-forwards") == names{"0"});
    CHECK(values(request_with({{"Max-Forwards", "5"}}, {}, method::get), "max-forwards") == names{"5"});
    CHECK(values(request_with({{"Max-Forwards", "5x"}}, {}, method::options), "max-forwards") == names{"5x"});
}

TEST_CASE("OPTIONS of the gateway itself ends here, and so does one whose Max-Forwards is used up")
{
    net::http1::request_head head;
    head.verb = method::options;
    head.target = "*";
    CHECK(gateway::relay::ends_here(head));
    head.target = "/agents/a";
    CHECK_FALSE(gateway::relay::ends_here(head));
    const lines used_up{{"Other", "0"}, {"Max-Forwards", "0"}};
    const lines one_left{{"Max-Forwards", "1"}};
    const lines no_number{{"Max-Forwards", ""}};
    head.fields = fields_of(used_up);
    CHECK(gateway::relay::ends_here(head));
    head.fields = fields_of(one_left);
    CHECK_FALSE(gateway::relay::ends_here(head));
    head.fields = fields_of(no_number);
    CHECK_FALSE(gateway::relay::ends_here(head));
    head.verb = method::get;
    head.fields = fields_of(used_up);
    CHECK_FALSE(gateway::relay::ends_here(head));
}

TEST_CASE("A request has the framing of the body as it goes out, and no other")
{
    const lines written{{"Content-Length", "7"}, {"Transfer-Encoding", "chunked"}};
    const auto none = request_with(written);
    CHECK(values(none, "content-length").empty());
    CHECK(values(none, "transfer-encoding").empty());
    const auto length = request_with(written, {framing::length, 0});
    CHECK(values(length, "content-length") == names{"0"});
    CHECK(values(length, "transfer-encoding").empty());
    const auto chunked = request_with(written, {framing::chunked, 12});
    CHECK(values(chunked, "content-length").empty());
    CHECK(values(chunked, "transfer-encoding") == names{"chunked"});
}

TEST_CASE("An answer that will be edited is asked for whole and without a coding")
{
    const lines written{
        {"Accept-Encoding", "gzip"},
        {"If-Match", "\"a\""},
        {"If-Modified-Since", "Sun, 22 Nov 2026 06:00:00 GMT"},
        {"If-None-Match", "\"a\""},
        {"If-Range", "\"a\""},
        {"If-Unmodified-Since", "Sun, 22 Nov 2026 06:00:00 GMT"},
        {"range", "bytes=0-1"},
        {"Want-Content-Digest", "sha-256=1"},
        {"Want-Digest", "sha-256"},
        {"Want-Repr-Digest", "sha-256=1"},
    };
    const auto edited = request_with(written, {framing::none, 0, body_care::edited});
    CHECK(values(edited, "accept-encoding") == names{"identity"});
    for (const auto& [name, value] : written) {
        CAPTURE(name);
        CHECK((name == "Accept-Encoding" || edited.find(name + ": ") == std::string::npos));
        CHECK(request_with(written).find(name + ": " + value) != std::string::npos);
    }
}

TEST_CASE("An answer loses cookies, fields of this hop and our own names, and replaces what was there")
{
    const auto text = answer_with({
        {"Set-Cookie", "planted"},
        {"Connection", "planted"},
        {"Keep-Alive", "planted"},
        {"Transfer-Encoding", "planted"},
        {"Content-Length", "99"},
        {"Proxy-Authenticate", "planted"},
        {"Cardea-Error", "planted"},
        {"X-Powered-By", "Express"},
        {"WWW-Authenticate", "Bearer"},
        {"ETag", "\"a\""},
    });
    CHECK(text == "HTTP/1.1 200 OK\r\nX-Powered-By: Express\r\nWWW-Authenticate: Bearer\r\nETag: \"a\"\r\n");
}

TEST_CASE("An answer loses what would act on the origin that all agents share, or command a proxy in front")
{
    for (const auto& name : names{
             "Service-Worker-Allowed",
             "Clear-Site-Data",
             "Strict-Transport-Security",
             "NEL",
             "Report-To",
             "Reporting-Endpoints",
             "Alt-Svc",
             "Set-Cookie2",
             "Set-Login",
             "IdP-SignIn-Status",
             "Alternate-Protocol",
             "Sec-Session-Challenge",
             "Observe-Browsing-Topics",
             "Activate-Storage-Access",
             "Attribution-Reporting-Register-Source",
             "Accept-CH",
             "Critical-CH",
             "Expect-CT",
             "Public-Key-Pins",
             "Origin-Agent-Cluster",
             "Use-As-Dictionary",
             "Sec-Session-Registration",
             "Secure-Session-Registration",
             "CDN-Cache-Control",
             "Surrogate-Control",
             "X-Accel-Redirect",
             "X-Accel-Expires",
             "x-accel-buffering",
             "X-Sendfile",
             "X-Sendfile2",
             "X-LIGHTTPD-send-file",
             "X-LiteSpeed-Location",
             "X-Reproxy-URL",
             "Access-Control-Allow-Origin",
             "access-control-allow-credentials",
             "Access-Control-Expose-Headers",
             "Server",
         }) {
        CAPTURE(name);
        for (const auto care : {body_care::passes, body_care::edited, body_care::translated}) {
            const auto text = answer_with({{"Before", "1"}, {name, "planted"}, {"Behind", "2"}}, care);
            CHECK(text.find("planted") == std::string::npos);
            CHECK(values(text, "before") == names{"1"});
            CHECK(values(text, "behind") == names{"2"});
        }
    }
    // Of a request the same names say nothing of the origin.
    CHECK(
        values(request_with({{"Access-Control-Request-Method", "PUT"}}), "access-control-request-method").size() == 1
    );
}

TEST_CASE("The caller's version of A2A passes, unless the agent's stands in its place")
{
    net::http1::request_head head;
    head.verb = method::post;
    const lines written{{"a2a-version", "1.0.3"}, {"X-One", "1"}};
    head.fields = fields_of(written);
    auto hop = stranger;
    std::string text;
    gateway::relay::write_request_fields(text, head, {}, hop);
    CHECK(values(text, "a2a-version") == names{"1.0.3"});
    hop.other_version = true;
    text = "A2A-Version: 1.0\r\n";
    gateway::relay::write_request_fields(text, head, {}, hop);
    CHECK(values(text, "a2a-version") == names{"1.0"});
    CHECK(values(text, "x-one") == names{"1"});
}

TEST_CASE("An edited answer keeps nothing that speaks of the agent's bytes, and nobody may store it")
{
    const names of_bytes{
        "Accept-Ranges",
        "Age",
        "Cache-Control",
        "Content-Digest",
        "content-encoding",
        "Content-Location",
        "Content-MD5",
        "Content-Range",
        "Digest",
        "ETag",
        "Expires",
        "Last-Modified",
        "Pragma",
        "Repr-Digest",
        "Signature",
        "Signature-Input",
    };
    for (const auto& name : of_bytes) {
        CAPTURE(name);
        CHECK(answer_with({{name, "planted"}}).find(name + ": planted\r\n") != std::string::npos);
        const auto edited = answer_with({{name, "planted"}, {"X-Kept", "1"}}, body_care::edited);
        CHECK(edited == "HTTP/1.1 200 OK\r\nX-Kept: 1\r\nCache-Control: private, no-store\r\n");
    }
}

TEST_CASE("A translated message keeps nothing that holds of one dialect, in both directions")
{
    for (const std::string name :
         {"A2A-Extensions",
          "a2a-version",
          "Content-Digest",
          "Content-Encoding",
          "Content-Type",
          "Location",
          "Repr-Digest",
          "Signature",
          "Signature-Input",
          "X-A2A-Extensions"}) {
        CAPTURE(name);
        const auto request =
            request_with({{name, "planted"}, {"X-Kept", "1"}}, {framing::length, 2, body_care::translated});
        CHECK(request.find("planted") == std::string::npos);
        CHECK(values(request, "x-kept") == names{"1"});
        CHECK(values(request, "content-length") == names{"2"});
        const auto answer = answer_with({{name, "planted"}, {"X-Kept", "1"}}, body_care::translated);
        CHECK(answer == "HTTP/1.1 200 OK\r\nX-Kept: 1\r\nCache-Control: private, no-store\r\n");
    }
    const auto accepts = request_with({{"Accept", "planted"}}, {framing::none, 0, body_care::translated});
    CHECK(accepts.find("planted") == std::string::npos);
    CHECK(values(accepts, "accept-encoding") == names{"identity"});
}

TEST_CASE("The caller's fields of extensions pass, unless others go in their place")
{
    net::http1::request_head head;
    head.verb = method::post;
    const lines written{{"A2A-Extensions", "a"}, {"x-a2a-extensions", "b"}, {"X-One", "1"}};
    head.fields = fields_of(written);
    auto hop = stranger;
    std::string text;
    gateway::relay::write_request_fields(text, head, {}, hop);
    CHECK(values(text, "a2a-extensions") == names{"a"});
    CHECK(values(text, "x-a2a-extensions") == names{"b"});
    hop.other_extensions = true;
    text = "A2A-Extensions: c\r\n";
    gateway::relay::write_request_fields(text, head, {}, hop);
    CHECK(values(text, "a2a-extensions") == names{"c"});
    CHECK(values(text, "x-a2a-extensions").empty());
    CHECK(values(text, "x-one") == names{"1"});
}

TEST_CASE("The caller's trace passes unchanged, unless another stands in its place")
{
    net::http1::request_head head;
    head.verb = method::post;
    const lines written{{"TraceParent", "not valid"}, {"tracestate", "a=1"}, {"tracestate", "b=2"}, {"X-One", "1"}};
    head.fields = fields_of(written);
    auto hop = stranger;
    std::string text;
    gateway::relay::write_request_fields(text, head, {}, hop);
    CHECK(values(text, "traceparent") == names{"not valid"});
    CHECK(values(text, "tracestate") == names{"a=1", "b=2"});
    hop.trace = gateway::relay::told_trace{{{1, 2}, 3, true}, true};
    text.clear();
    gateway::relay::write_request_fields(text, head, {}, hop);
    CHECK(values(text, "traceparent") == names{"00-00000000000000010000000000000002-0000000000000003-01"});
    CHECK(values(text, "tracestate") == names{"a=1", "b=2"});
    CHECK(values(text, "x-one") == names{"1"});
    hop.trace->keeps_state = false;
    text.clear();
    gateway::relay::write_request_fields(text, head, {}, hop);
    CHECK(values(text, "traceparent").size() == 1);
    CHECK(values(text, "tracestate").empty());
}

TEST_CASE("What the agent says of extensions has the caller's name for it")
{
    net::http1::response_head head;
    head.status = 200;
    const lines written{{"a2a-extensions", "u:a"}, {"X-One", "1"}};
    head.fields = fields_of(written);
    std::string text;
    gateway::relay::write_answer_fields(
        text,
        head,
        body_care::passes,
        gateway::relay::answer_of::agent,
        "X-A2A-Extensions"
    );
    CHECK(text == "HTTP/1.1 200 OK\r\nX-A2A-Extensions: u:a\r\nX-One: 1\r\n");
    gateway::relay::write_answer_fields(text, head);
    CHECK(text == "HTTP/1.1 200 OK\r\na2a-extensions: u:a\r\nX-One: 1\r\n");
}

TEST_CASE("An agent gets application/json for another name of JSON, where the gateway has taken the body for JSON")
{
    using gateway::relay::outgoing_body;
    for (const auto& type : names{"application/json-rpc", "Application/JSONRequest; charset=utf-8"}) {
        CAPTURE(type);
        const lines written{{"Content-Type", type}};
        CHECK(values(request_with(written), "content-type") == names{type});
        const outgoing_body json{framing::length, 2, body_care::passes, true};
        CHECK(values(request_with(written, json), "content-type") == names{"application/json"});
        CHECK(
            values(request_with({{"Content-Type", "application/a2a+json"}}, json), "content-type") ==
            names{"application/a2a+json"}
        );
    }
}

TEST_CASE("An MCP server is told that both forms of an answer are taken, whatever the caller takes")
{
    gateway::model::agent_entry server;
    server.record.mcp.emplace();
    auto hop = stranger;
    hop.agent = &server;
    const auto sent = [&](const lines& written, method verb) {
        net::http1::request_head head;
        head.verb = verb;
        head.fields = fields_of(written);
        std::string text;
        gateway::relay::write_request_fields(text, head, {}, hop);
        return values(text, "accept");
    };
    const names both{"application/json, text/event-stream"};
    CHECK(sent({}, method::post) == both);
    CHECK(sent({{"Accept", "application/json"}, {"accept", "*/*"}}, method::post) == both);
    CHECK(sent({{"Accept", "*/*"}}, method::get) == names{"text/event-stream"});
    server.own_fields = {"accept"};  // the agent's `headers` have one
    CHECK(sent({{"Accept", "*/*"}}, method::post).empty());
}

TEST_CASE("An MCP server gets the caller's User-Agent, or the gateway's if the caller names none")
{
    gateway::model::agent_entry server;
    server.record.mcp.emplace();
    auto hop = stranger;
    hop.agent = &server;
    const auto sent = [&](const lines& written) {
        net::http1::request_head head;
        head.fields = fields_of(written);
        std::string text;
        gateway::relay::write_request_fields(text, head, {}, hop);
        return values(text, "user-agent");
    };
    const auto own = "cardea/" + std::string{gateway::model::version()};
    CHECK(sent({{"user-agent", "client/1"}}) == names{"client/1"});
    CHECK(sent({}) == names{own});
    CHECK(sent({{"User-Agent", "client/1"}, {"Connection", "user-agent"}}) == names{own});
    server.own_fields = {"User-Agent"};  // the agent's `headers` have one
    CHECK(sent({{"User-Agent", "client/1"}}).empty());
    server.record.mcp.reset();
    server.own_fields.clear();
    CHECK(sent({}).empty());
}

TEST_CASE(
    "An MCP server gets a key of the caller's that its record names, unless a provider reads it or the gateway sets it"
)
{
    gateway::model::agent_entry server;
    server.record.mcp.emplace();
    auto hop = stranger;
    hop.agent = &server;
    const auto sent = [&] {
        net::http1::request_head head;
        const lines written{{"X-API-Key", "k"}, {"X-Auth-Token", "t"}};
        head.fields = fields_of(written);
        std::string text;
        gateway::relay::write_request_fields(text, head, {}, hop);
        CHECK(values(text, "x-auth-token").empty());
        return values(text, "x-api-key");
    };
    CHECK(sent().empty());
    server.record.mcp->forward_headers = {"x-api-key"};
    CHECK(sent() == names{"k"});
    const gateway::access::credential_reader others{{{core::credential_place::header, "X-Team-Key"}}};
    hop.credentials = &others;
    CHECK(sent() == names{"k"});
    const gateway::access::credential_reader reader{{{core::credential_place::header, "X-API-Key"}}};
    hop.credentials = &reader;
    CHECK(sent().empty());
    hop.credentials = nullptr;
    server.own_fields = {"X-API-Key"};
    CHECK(sent().empty());
}

TEST_CASE("A field passes as it came, with one space behind its colon if it came with none or several")
{
    constexpr std::string_view received =
        "POST / HTTP/1.1\r\nHost: gw.test\r\n"
        "X-One: 1\r\nX-Two:2\r\nX-Three:  3 \r\nX-Four:\t4\r\nX-Five: \r\nX-Six: a: b\r\n\r\n";
    net::http1::request_parser parser{{}};
    REQUIRE(parser.parse(received).value() == received.size());
    std::string text;
    gateway::relay::write_request_fields(text, parser.head(), {}, stranger);
    CHECK(
        text.find("X-One: 1\r\nX-Two: 2\r\nX-Three: 3\r\nX-Four: 4\r\nX-Five: \r\nX-Six: a: b\r\n") != std::string::npos
    );
}

TEST_CASE("What Connection names beside keep-alive ends here, in any number of its fields")
{
    net::http1::request_head head;
    head.verb = net::http1::method::post;
    const auto written_with = [&](const lines& fields) {
        head.fields = fields_of(fields);
        std::string text;
        gateway::relay::write_request_fields(text, head, {}, stranger);
        return text;
    };
    CHECK(written_with({{"Connection", "Keep-Alive"}, {"X-Hop", "1"}}).find("X-Hop: 1") != std::string::npos);
    CHECK(written_with({{"Connection", "keep-alive, x-hop"}, {"X-Hop", "1"}}).find("X-Hop") == std::string::npos);
    CHECK(
        written_with({{"Connection", "keep-alive"}, {"X-Hop", "1"}, {"Connection", "x-hop"}}).find("X-Hop") ==
        std::string::npos
    );
}

TEST_SUITE_END();
