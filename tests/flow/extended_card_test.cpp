// Cards inside answers: JSON-RPC results, events, and the addresses that a GET may ask for them. What else goes through the
// gateway is not touched.
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/relay_fixture.hpp"

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

using core::json;
using flow::call_body;
using flow::call_text;
using flow::parsed;
using flow::relayed;
using test_support::http_client;

TEST_SUITE_BEGIN("flow/extended_card");

namespace {

constexpr std::string_view of_03 = "agent/getAuthenticatedExtendedCard";
constexpr std::string_view of_02 = "agent/authenticatedExtendedCard";
constexpr std::string_view of_1 = "GetExtendedAgentCard";

// What both generations have, with what no version knows and a signature.
std::string card_of(const std::string& members)
{
    return R"({"name":"n","description":"d","version":"1","capabilities":{"streaming":true},"defaultInputModes":["text/plain"],)"
           R"("defaultOutputModes":["text/plain"],"skills":[],"x-own":[1.50,"\u00e9"],)"
           R"("signatures":[{"protected":"p","signature":"s"}],)" +
           members + "}";
}

std::string old_card(const std::string& agent)
{
    return card_of(
        R"("protocolVersion":"0.3.0","preferredTransport":"GRPC","url":"10.1.2.3:9001","additionalInterfaces":[)"
        R"({"url":"10.1.2.3:9001","transport":"GRPC"},{"url":")" +
        agent + R"(","transport":"JSONRPC"}],"agentCard":{"url":")" + agent + R"("})"
    );
}

std::string new_card(const std::string& agent, const std::string& tenant = "t")
{
    return card_of(
        R"("supportedInterfaces":[{"url":"10.1.2.3:9001","protocolBinding":"GRPC","protocolVersion":"1.0"},{"url":")" +
        agent + R"(","protocolBinding":"JSONRPC","protocolVersion":"1.0","tenant":")" + tenant + R"("}])"
    );
}

json served_old(const relayed& x)
{
    const auto base = x.gateway.base() + "/agents/a";
    return parsed(
        R"({"name":"n","description":"d","version":"1","capabilities":{"streaming":true,"extensions":[)" +
        flow::own_extension("a") +
        R"(]},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],)"
        R"("skills":[],"x-own":[1.50,"é"],"protocolVersion":"0.3.0","preferredTransport":"JSONRPC","url":")" +
        base + R"(","additionalInterfaces":)" + flow::both_bindings(base) + R"(,"agentCard":{"url":")" + base +
        R"(/.well-known/agent-card.json"}})"
    );
}

json served_new(const relayed& x)
{
    const auto base = x.gateway.base() + "/agents/a";
    const auto host = x.gateway.base().substr(x.gateway.base().find("//") + 2);
    return parsed(
        R"({"name":"n","description":"d","version":"1","capabilities":{"streaming":true,"extensions":[)" +
        flow::own_extension("a") +
        R"(]},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],)"
        R"("skills":[],"x-own":[1.50,"é"],"supportedInterfaces":[{"url":")" +
        base + R"(","protocolBinding":"JSONRPC","protocolVersion":"1.0","tenant":"t"},{"url":")" + base +
        R"(/rest","protocolBinding":"HTTP+JSON","tenant":"t","protocolVersion":"1.0"},{"url":")" + host +
        R"(","protocolBinding":"GRPC","tenant":"a/t","protocolVersion":"1.0"},{"url":")" + base +
        R"(","protocolBinding":"JSONRPC","protocolVersion":"0.3"},{"url":")" + base +
        R"(/rest","protocolBinding":"HTTP+JSON","protocolVersion":"0.3"}]})"
    );
}

const test_support::script nothing = test_support::answer(404, "");

test_support::http_response ask(const relayed& x, std::string_view method, const test_support::field_list& further = {})
{
    http_client caller{x.port()};
    caller.send(call_text(call_body(R"("a\/\u00e9")", method), further));
    return caller.read_response();
}

const test_support::field_list fields_of_bytes{
    {"ETag", "\"agent\""},
    {"Last-Modified", "Sat, 21 Nov 2026 00:00:00 GMT"},
    {"Cache-Control", "public, max-age=600"},
    {"Expires", "Sat, 21 Nov 2037 00:00:00 GMT"},
    {"Content-Digest", "sha-256=:AAAA:"},
    {"Repr-Digest", "sha-256=:AAAA:"},
    {"Digest", "sha-256=AAAA"},
    {"Content-MD5", "AAAA"},
    {"Content-Location", "http://10.1.2.3/card"},
    {"X-Own", "stays"},
};

void check_fields(const test_support::http_response& got)
{
    CHECK(got.status == 200);
    CHECK(got.count("Cache-Control") == 1);
    CHECK(got.header("Cache-Control") == "private, no-store");
    CHECK(got.header("X-Own") == "stays");
    for (const auto* name :
         {"ETag",
          "Last-Modified",
          "Expires",
          "Content-Digest",
          "Repr-Digest",
          "Digest",
          "Content-MD5",
          "Content-Location"}) {
        CAPTURE(name);
        CHECK(got.count(name) == 0);
    }
}

}  // namespace

TEST_CASE("a card in the result of a call points at the gateway, and the envelope stays as it was written")
{
    struct row {
        std::string_view method;
        bool modern;
    };
    for (const auto& each : {row{of_03, false}, row{of_02, false}, row{of_1, true}}) {
        CAPTURE(each.method);
        relayed x{nothing};
        const auto card = each.modern ? new_card(x.agent.url("/rpc")) : old_card(x.agent.url("/rpc"));
        const std::string before = "{ \"jsonrpc\":\"2.0\",\t\"id\" : \"a\\/\\u00e9\",\"x\":1.50e+1,\"result\": ";
        const std::string after = " ,\"y\":{\"result\":12345678901234567890}}\r\n ";
        x.agent.next(test_support::answer_json(before + card + after, fields_of_bytes));
        const auto got = ask(x, each.method);
        check_fields(got);
        REQUIRE(got.body.size() > before.size() + after.size());
        CHECK(got.body.substr(0, before.size()) == before);
        CHECK(got.body.substr(got.body.size() - after.size()) == after);
        const auto served = got.body.substr(before.size(), got.body.size() - before.size() - after.size());
        CHECK(parsed(served) == (each.modern ? served_new(x) : served_old(x)));
        CHECK(got.body.find(std::to_string(x.agent.port())) == std::string::npos);
        CHECK(got.header("Content-Length") == std::to_string(got.body.size()));
    }
}

TEST_CASE("the agent is asked for a whole answer in no coding, and what the caller has of it does not matter")
{
    relayed x{nothing};
    x.agent.next(test_support::answer_json(R"({"result":)" + old_card(x.agent.url("/rpc")) + "}"));
    const test_support::field_list further{
        {"Accept-Encoding", "gzip, br"},
        {"If-None-Match", "\"agent\""},
        {"If-Modified-Since", "Sat, 21 Nov 2026 00:00:00 GMT"},
        {"Range", "bytes=0-1"},
        {"Want-Content-Digest", "sha-256=1"},
        {"A2A-Version", "0.3"},
    };
    CHECK(ask(x, of_03, further).status == 200);
    const auto seen = x.agent.requests().back();
    CHECK(seen.method == "POST");
    CHECK(seen.body == call_body(R"("a\/\u00e9")", of_03));
    CHECK(seen.count("Accept-Encoding") == 1);
    CHECK(seen.header("Accept-Encoding") == "identity");
    for (const auto* name : {"If-None-Match", "If-Modified-Since", "Range", "Want-Content-Digest"}) {
        CAPTURE(name);
        CHECK(seen.count(name) == 0);
    }
    CHECK(seen.header("A2A-Version") == "0.3");
}

TEST_CASE("of a card with both generations a caller gets the one that its method belongs to, never both")
{
    relayed x{nothing};
    const auto at = x.agent.url("/rpc");
    const auto card = card_of(
        R"("url":")" + at + R"(","protocolVersion":"0.3.0","supportedInterfaces":[{"url":")" + at +
        R"(","protocolBinding":"JSONRPC","protocolVersion":"1.0"}])"
    );
    x.agent.otherwise([card](const auto&) { return test_support::answer_json(R"({"result":)" + card + "}"); });
    const auto old = parsed(ask(x, of_03).body).at("result");
    CHECK(old.contains("url"));
    CHECK(!old.contains("supportedInterfaces"));
    const auto now = parsed(ask(x, of_1).body).at("result");
    CHECK(now.contains("supportedInterfaces"));
    CHECK(!now.contains("url"));
    CHECK(!now.contains("protocolVersion"));
}

TEST_CASE("an answer that is edited may come in any framing, and the connections go on")
{
    relayed x{nothing};
    const auto body = R"({"jsonrpc":"2.0","id":1,"result":)" + old_card(x.agent.url("/rpc")) + "}";
    const std::string type = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
    const test_support::script framings[] = {
        test_support::answer_json(body),
        test_support::chunked_byte_by_byte(body),
        test_support::raw({type + "Transfer-Encoding: chunked\r\n\r\n" + flow::chunked(body, 7)}),
        test_support::byte_by_byte(type + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body),
        test_support::then(test_support::raw({type + "\r\n", body}), {test_support::close_now{}}),
    };
    http_client caller{x.port()};
    for (const auto& each : framings) {
        x.agent.next(each);
        caller.send(call_text(call_body("1", of_03)));
        const auto got = caller.read_response();
        CHECK(got.status == 200);
        CHECK(got.count("Transfer-Encoding") == 0);
        CHECK(parsed(got.body).at("result") == served_old(x));
    }
    const auto lines = flow::access_lines(x.gateway, 5);
    REQUIRE(lines.size() == 5);
    CHECK(
        lines[0].find(R"("method":"POST","agent":"a","rpc":"agent/getAuthenticatedExtendedCard","status":200,)") !=
        std::string::npos
    );
    CHECK(
        x.gateway.metric(
            R"(cardea_agent_requests_total{agent="a",protocol="a2a",rpc_method="agent/getAuthenticatedExtendedCard",outcome="ok"})"
        ) == 5
    );
    CHECK(x.agent.most_open_connections() <= 2);
}

TEST_CASE("what the agent answers instead of a card comes as it is")
{
    struct row {
        unsigned status;
        std::string body;
    };
    const row rows[] = {
        {200, R"({"jsonrpc":"2.0", "id":1,"error":{"code":-32004,"message":"no http://10.1.2.3/"}})"},
        {200, R"({"jsonrpc":"2.0","id":1,"result":null,"error":{"code":-32007,"message":"m","data":[1.0]}} )"},
        {400, R"({"jsonrpc":"2.0","id":null,"error":{"code":-32007,"message":"m"}})"},
        {401, "<html>who?</html>"},
        {403, R"({"result":1})"},
        {404, ""},
        {500, "\xff\xfe"},
    };
    relayed x{nothing};
    auto fields = fields_of_bytes;
    fields.emplace_back("WWW-Authenticate", "Bearer");
    fields.emplace_back("Content-Type", "text/x-own");
    for (const auto& each : rows) {
        CAPTURE(each.body);
        x.agent.next(test_support::answer(each.status, each.body, fields));
        const auto got = ask(x, of_1);
        CHECK(got.status == each.status);
        CHECK(got.body == each.body);
        CHECK(got.header("ETag") == "\"agent\"");
        CHECK(got.header("Cache-Control") == "public, max-age=600");
        CHECK(got.header("Content-Digest") == "sha-256=:AAAA:");
        CHECK(got.header("WWW-Authenticate") == "Bearer");
        CHECK(got.header("Content-Type") == "text/x-own");
        CHECK(got.count("Cardea-Error") == 0);
    }
}

TEST_CASE("the answer to any other method passes byte for byte, cards and codings included")
{
    relayed x{nothing};
    const auto body = R"({"jsonrpc":"2.0","id":1,"result":)" + old_card(x.agent.url("/rpc")) + "}";
    auto fields = fields_of_bytes;
    fields.emplace_back("Content-Encoding", "x-own");
    x.agent.otherwise([=](const auto&) { return test_support::answer_json(body, fields); });
    for (const std::string method : {"message/send", "GetTask", "agent/getCard", "getextendedagentcard"}) {
        CAPTURE(method);
        const auto got = ask(x, method, {{"Accept-Encoding", "x-own"}, {"If-None-Match", "\"x\""}});
        CHECK(got.body == body);
        CHECK(got.header("ETag") == "\"agent\"");
        CHECK(got.header("Cache-Control") == "public, max-age=600");
        CHECK(x.agent.requests().back().header("Accept-Encoding") == "x-own");
        CHECK(x.agent.requests().back().header("If-None-Match") == "\"x\"");
    }
    // The method's name, spelt with an escape, is that of an extended card all the same.
    const auto got = ask(x, R"(GetExtended\u0041gentCard)");
    CHECK(got.status == 502);
}

TEST_CASE("a GET asks for the extended card at the addresses of each version")
{
    struct row {
        std::string target;
        std::string url;
        std::string upstream;
        bool modern;
    };
    const row rows[] = {
        {"/agent/authenticatedExtendedCard", "/a2a/v1", "/a2a/agent/authenticatedExtendedCard", false},
        {"/agent/authenticatedExtendedCard", "/a2a/", "/a2a/agent/authenticatedExtendedCard", false},
        {"/agent/authenticatedExtendedCard", "/rpc?x=/y", "/agent/authenticatedExtendedCard", false},
        {"/agent/authenticatedExtendedCard", "", "/agent/authenticatedExtendedCard", false},
        {"/rest/v1/card", "/a2a/", "/a2a/v1/card", false},
        {"/rest/v1/card?a=b", "", "/v1/card?a=b", false},
        {"/rest/extendedAgentCard", "/a2a", "/a2a/extendedAgentCard", true},
    };
    for (const auto& each : rows) {
        CAPTURE(each.target);
        CAPTURE(each.url);
        relayed x{nothing, [&](config::settings& s) {
                      s.agents[0].url.replace(s.agents[0].url.find("/rpc"), 4, each.url);
                      s.agents[0].bearer = core::secret{"token"};
                      s.agents[0].extended_card = core::extended_card_access::proxy;
                  }};
        const auto card = each.modern ? new_card(x.agent.url("/a2a")) : old_card(x.agent.url("/a2a"));
        x.agent.otherwise([=](const auto&) { return test_support::answer_json(card, fields_of_bytes); });
        for (const std::string verb : {"GET", "HEAD"}) {
            http_client caller{x.port()};
            caller.send(test_support::request_text(
                verb,
                "/agents/a" + each.target,
                {{"Accept-Encoding", "gzip"}, {"Authorization", "Bearer caller"}}
            ));
            const auto got = caller.read_response(verb == "HEAD");
            check_fields(got);
            const auto seen = x.agent.requests().back();
            CHECK(seen.method == verb);
            CHECK(seen.target == each.upstream);
            CHECK(seen.header("Accept-Encoding") == "identity");
            CHECK(seen.header("Authorization") == "Bearer token");
            if (verb == "GET") {
                CHECK(parsed(got.body) == (each.modern ? served_new(x) : served_old(x)));
            } else {
                CHECK(got.count("Content-Length") == 0);
            }
            caller.send(test_support::request_text("GET", "/nothing"));  // the connection goes on
            CHECK(caller.read_response().status == 404);
        }
    }
}

TEST_CASE("an extended card that is made for the gateway's own credentials is nobody's, unless the agent says so")
{
    constexpr flow::error_answer withheld{
        200,
        -32007,
        "extended_card_not_configured",
        "No extended card of this agent is configured to be shown.",
        false
    };
    relayed x{nothing, [](config::settings& s) { s.agents[0].bearer = core::secret{"token"}; }};
    const auto asked_before = x.agent.request_count();
    for (const std::string method :
         {"agent/authenticatedExtendedCard", "agent/getAuthenticatedExtendedCard", "GetExtendedAgentCard"}) {
        CAPTURE(method);
        const auto got = flow::call(x.port(), call_body("7", method));
        if (method == "GetExtendedAgentCard") {
            const auto error = nlohmann::json::parse(got.body).at("error");
            CHECK(error.at("code") == withheld.code);
            CHECK(error.at("message") == withheld.message);
            CHECK(error.at("data").at(0).at("reason") == "EXTENDED_AGENT_CARD_NOT_CONFIGURED");
        } else {
            flow::check_jsonrpc_error(got, withheld, "7");
        }
    }
    for (const std::string target : {"/agent/authenticatedExtendedCard", "/rest/v1/card", "/rest/extendedAgentCard"}) {
        CAPTURE(target);
        const auto got = test_support::request(x.port(), "GET", "/agents/a" + target);
        // HTTP+JSON has statuses of its own for the errors of A2A.
        const unsigned status = target.starts_with("/rest") ? 400 : 404;
        CHECK(got.status == status);
        CHECK(got.header("Cardea-Error") == "extended_card_not_configured");
        http_client to_head{x.port()};
        to_head.send(test_support::request_text("HEAD", "/agents/a" + target));
        CHECK(to_head.read_response(/*to_head=*/true).status == status);
    }
    CHECK(x.agent.request_count() == asked_before);
    x.agent.next(test_support::answer_json("{}"));
    CHECK(flow::call(x.port(), call_body("7")).body == "{}");  // any other call passes
}

TEST_CASE("at the addresses of extended cards there is nothing to be written, unless relay_paths let it through")
{
    relayed x{nothing, [](config::settings& s) {
                  s.agents.push_back(s.agents[0]);
                  s.agents.back().id = "b";
                  s.agents.back().relay_paths = {"/rest/**"};
              }};
    const auto card = old_card(x.agent.url("/rpc"));
    x.agent.otherwise([card](const auto&) { return test_support::answer_json(card); });
    for (const std::string target : {"/agent/authenticatedExtendedCard", "/rest/v1/card", "/rest/extendedAgentCard"}) {
        CAPTURE(target);
        const auto refused = test_support::request(x.port(), "POST", "/agents/a" + target, {}, "{}");
        const flow::error_answer
            other_method{405, 0, "method_not_allowed", "This address does not take this method.", false};
        const auto unknown = test_support::request(x.port(), "GET", "/agents/c" + target);
        if (target.starts_with("/rest")) {
            const bool newer = target.ends_with("extendedAgentCard");
            flow::check_rest_error(refused, other_method, newer);
            flow::check_rest_error(unknown, flow::no_agent, newer, "c");
        } else {
            flow::check_plain_error(refused, other_method);
            flow::check_plain_error(unknown, flow::no_agent, "c");
        }
        CHECK(refused.header("Allow") == "GET, HEAD");
    }
    CHECK(x.agent.request_count() == 0);
    const auto relayed_post = test_support::request(x.port(), "POST", "/agents/b/rest/v1/card", {}, "{}");
    CHECK(relayed_post.body == card);
    CHECK(x.agent.requests().back().target == "/rpc/rest/v1/card");
    const auto got = test_support::request(x.port(), "GET", "/agents/b/rest/v1/card");
    CHECK(x.agent.requests().back().target == "/rpc/rest/v1/card");
    CHECK(parsed(got.body).at("url") == x.gateway.base() + "/agents/b");
}

TEST_CASE("a card that has to be fetched does not wait for long cards in the answers to calls")
{
    constexpr int callers = 12;
    test_support::scripted_agent other{[](const auto&) { return test_support::answer_json(R"({"name":"b"})"); }};
    relayed x{nothing, [&](config::settings& s) {
                  s.agents.push_back(s.agents[0]);
                  s.agents.back().id = "b";
                  s.agents.back().url = other.url("/rpc");
              }};
    std::string skills;
    for (int i = 0; i < 10'000; ++i) {
        skills += (i == 0 ? R"({"id":"s)" : R"(,{"id":"s)") + std::to_string(i) +
                  R"(","name":"n","description":"what it does","tags":["t"]})";
    }
    auto card = old_card(x.agent.url("/rpc"));
    card.replace(card.find(R"("skills":[])"), 11, R"("skills":[)" + skills + "]");
    x.agent.otherwise([card](const auto&) { return test_support::answer_json(R"({"id":1,"result":)" + card + "}"); });
    std::atomic<int> answered = 0;
    std::atomic<int> good = 0;
    std::latch first{1};
    std::vector<std::jthread> asking;
    for (int i = 0; i < callers; ++i) {
        asking.emplace_back([&] {
            http_client caller{x.port()};
            caller.send(call_text(call_body("1", of_03)));
            good += caller.read_head().status == 200 ? 1 : 0;
            if (answered++ == 0) {
                first.count_down();
            }
        });
    }
    first.wait();  // the others have come, and wait
    const int before = answered;
    CHECK(test_support::request(x.port(), "GET", "/agents/b/.well-known/agent-card.json").status == 200);
    CHECK(answered - before <= 3);
    asking.clear();
    CHECK(good == callers);
}

TEST_SUITE_END();
