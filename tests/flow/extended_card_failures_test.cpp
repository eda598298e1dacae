// Answers with a card that cannot be served: each failure is told with the caller's id, and of the agent's address nothing.
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/relay_fixture.hpp"

#include <chrono>

using flow::call_body;
using flow::call_text;
using flow::error_answer;
using flow::relayed;
using test_support::http_client;

TEST_SUITE_BEGIN("flow/extended_card");

namespace {

constexpr error_answer no_json{502, -32603, "card_not_json", "The agent's card is not a JSON object.", false};
constexpr error_answer unusable{502, -32603, "card_invalid", "The agent's card is not usable.", false};
constexpr error_answer
    revealing{502, -32603, "card_unrewritable", "The agent's card cannot be made to point at this gateway.", false};
constexpr error_answer too_large{502, -32603, "card_too_large", "The agent's card is over the limit.", false};

constexpr std::string_view method = "GetExtendedAgentCard";
constexpr std::string_view id = R"("\u0041-1")";

struct failure {
    std::string name;
    test_support::script answer;
    error_answer what;
};

std::string result(const std::string& card)
{
    return R"({"jsonrpc":"2.0","id":1,"result":)" + card + "}";
}

std::string card_with(const std::string& members)
{
    return R"({"name":"n","url":"http://10.1.2.3:9000/",)" + members + "}";
}

std::string leaking_card(const std::string& agent)
{
    return R"({"name":"n","supportedInterfaces":[{"url":")" + agent +
           R"(","protocolBinding":"JSONRPC","protocolVersion":"1.0","tenant":")" + agent + R"("}]})";
}

std::string gzip_head(std::size_t size)
{
    return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: " +
           std::to_string(size) + "\r\n\r\n";
}

const relayed::adjustment small = [](config::settings& s) {
    s.cards.max_size = 2000;
    s.timeouts.upstream_head = std::chrono::milliseconds{300};
};

// What goes wrong on the way, whatever is in the answer.
std::vector<failure> faults()
{
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
    const std::string chunks = head + "Transfer-Encoding: chunked\r\n\r\n";
    const auto announced = [](const std::string& text) {
        return test_support::then(test_support::raw({text}), {test_support::hold{}});
    };
    return {
        {"cut with a length", test_support::half_body(), flow::cut_off},
        {"cut in chunks", test_support::half_chunked(), flow::cut_off},
        {"cut in the head", test_support::half_head(), flow::cut_off},
        {"reset", test_support::reset(), flow::cut_off},
        {"silence", test_support::silence(), flow::late},
        {"silence in the body",
         test_support::then(test_support::raw({head + "Content-Length: 10\r\n\r\n{"}), {test_support::hold{}}),
         flow::late},
        {"silence until the end",
         test_support::then(test_support::raw({head + "\r\n{}"}), {test_support::hold{}}),
         flow::late},
        {"no HTTP", test_support::raw({"HTTP/1.1 200 OK\nContent-Length: 2\n\n{}"}), flow::not_http},
        {"no chunk", test_support::raw({head + "Transfer-Encoding: chunked\r\n\r\nx\r\n"}), flow::not_http},
        {"a redirection", test_support::redirect("http://10.1.2.3/"), flow::bad_status},
        {"not modified", test_support::raw({"HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n"}), flow::bad_status},
        {"too long by its length", test_support::raw({head + "Content-Length: 67537\r\n\r\n"}), too_large},
        {"too long in chunks", test_support::huge(100'000, true), too_large},
        {"too long by the size of its first chunk", announced(chunks + "107D1\r\n"), too_large},
        {"too long by the size of a chunk", announced(chunks + "4\r\n    \r\n107CD\r\n"), too_large},
        {"as long as it may be by the size of a chunk", announced(chunks + "4\r\n    \r\n107CC\r\n"), flow::late},
        {"in a coding", test_support::raw({gzip_head(4) + "\x1f\x8b\x08\x01"}), revealing},
        {"a page", test_support::html(200), no_json},
        {"no JSON", test_support::not_json(), no_json},
    };
}

void check_no_leak(const relayed& x, const test_support::http_response& got)
{
    CHECK(got.body.find("10.1.2.3") == std::string::npos);
    CHECK(got.body.find(std::to_string(x.agent.port())) == std::string::npos);
}

}  // namespace

TEST_CASE("every failure on the way to a card in a result is a JSON-RPC error with the caller's id")
{
    for (const auto& each : faults()) {
        CAPTURE(each.name);
        relayed x{test_support::answer(404, ""), small};
        // Once more: a connection that failed is not used again.
        for (const int round : {1, 2}) {
            CAPTURE(round);
            // What only reads may be asked again when a used connection fails, which takes a second answer.
            x.agent.otherwise([answer = each.answer](const auto&) { return answer; });
            const auto got = flow::call(x.port(), call_body(id, method));
            flow::check_jsonrpc_error(got, each.what, id);
            check_no_leak(x, got);
        }
    }
}

TEST_CASE("every failure on the way to a card that a GET asks for is a JSON error")
{
    for (const auto& each : faults()) {
        CAPTURE(each.name);
        relayed x{each.answer, small};
        for (const std::string path :
             {"/agent/authenticatedExtendedCard", "/rest/v1/card", "/rest/extendedAgentCard"}) {
            CAPTURE(path);
            const auto got = test_support::request(x.port(), "GET", "/agents/a" + path);
            if (path.starts_with("/rest")) {
                flow::check_rest_error(got, each.what, /*of_1=*/path.ends_with("extendedAgentCard"), "a");
            } else {
                flow::check_plain_error(got, each.what, "a");
            }
            check_no_leak(x, got);
        }
    }
}

TEST_CASE("an answer with a card takes its room from that of all bodies, and is refused beyond it")
{
    const auto answer = result(card_with(R"("x":")" + std::string(5000, 'x') + '"'));
    for (const bool streamed : {false, true}) {
        for (const int more : {-1, 0}) {
            CAPTURE(streamed);
            CAPTURE(more);
            const auto body = streamed ? "data: " + answer + "\n\n" : answer;
            const auto call = call_body(id, method);
            relayed x{
                test_support::answer(
                    200,
                    body,
                    {{"Content-Type", streamed ? "text/event-stream" : "application/json"}}
                ),
                [&](config::settings& s) {
                    s.limits.body_memory = call.size() + body.size() + static_cast<std::size_t>(more + 1) - 1;
                }
            };
            const auto got = flow::call(x.port(), call);
            if (more < 0) {
                constexpr error_answer overloaded{503, -31503, "overloaded", "The gateway is at its limit.", true};
                flow::check_jsonrpc_error(got, overloaded, id);
            } else {
                CHECK(got.status == 200);
            }
        }
    }
}

TEST_CASE("an answer that holds no card, more than one, or one that cannot be served is refused")
{
    struct row {
        std::string name;
        std::string body;
        error_answer what;
    };
    const std::string card = card_with(R"("version":"1")");
    const row rows[] = {
        {"nothing in chunks", " ", no_json},
        {"a batch", "[" + result(card) + "]", unusable},
        {"a bare card", card, unusable},
        {"two results", R"({"result":)" + card + R"(,"result":)" + card + "}", unusable},
        {"two results in two spellings", R"({"result":)" + card + R"(,"res\u0075lt":)" + card + "}", unusable},
        {"two results in two cases", R"({"result":)" + card + R"(,"Result":)" + card + "}", unusable},
        {"a result and an error", R"({"error":{},"result":)" + card + "}", unusable},
        {"no object", result("[" + card + "]"), unusable},
        {"null", result("null"), unusable},
        {"no name", result(R"({"url":"http://10.1.2.3:9000/"})"), unusable},
        {"not closed", R"({"result":)" + card, no_json},
        {"a comma too many", R"({"result":)" + card + ",}", no_json},
        {"not UTF-8", result(card_with("\"version\":\"\xff\"")), no_json},
        {"UTF-16", std::string{"\xff\xfe{\0}\0", 6}, no_json},
        {"a byte order mark", "\xef\xbb\xbf" + result(card), no_json},
        {"nested deeply", result(card_with(R"("x":)" + std::string(63, '[') + std::string(63, ']'))), no_json},
        {"nested without end", R"({"result":)" + std::string(60'000, '['), no_json},
        {"a card over its limit", result(card_with(R"("x":")" + std::string(2000, 'x') + '"')), too_large},
    };
    for (const auto& each : rows) {
        CAPTURE(each.name);
        relayed x{test_support::answer_json(each.body), small};
        const auto got = flow::call(x.port(), call_body(id, method));
        flow::check_jsonrpc_error(got, each.what, id);
        check_no_leak(x, got);
        CHECK(x.gateway.wait_for_metric(
            R"(cardea_agent_requests_total{agent="a",protocol="a2a",rpc_method="GetExtendedAgentCard",outcome="upstream_error"})",
            1
        ));
    }
}

TEST_CASE("an answer with a card may be as long as the limit and no longer, however it is framed")
{
    constexpr std::size_t limit = 2000 + 64 * 1024;  // of a card, and for what is around it
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
    const std::string answer = result(card_with(R"("version":"1")"));
    for (const auto size : {limit - 1, limit, limit + 1}) {
        CAPTURE(size);
        const auto body = answer + std::string(size - answer.size(), ' ');
        const test_support::script framed[] = {
            test_support::raw({head + "Content-Length: " + std::to_string(size) + "\r\n\r\n" + body}),
            test_support::raw({head + "Transfer-Encoding: chunked\r\n\r\n" + flow::chunked(body, 1000)}),
            test_support::then(test_support::raw({head + "\r\n" + body}), {test_support::close_now{}}),
        };
        for (const auto& each : framed) {
            relayed x{each, [](config::settings& s) { s.cards.max_size = 2000; }};
            const auto got = flow::call(x.port(), call_body(id, method));
            if (size <= limit) {
                CHECK(got.status == 200);
                CHECK(flow::parsed(got.body).at("result").at("name") == "n");
            } else {
                flow::check_jsonrpc_error(got, too_large, id);
            }
        }
    }
}

TEST_CASE("members that stand twice in a card leave one of them, which points at the gateway")
{
    relayed x{test_support::answer_json(result(
        R"({"name":"n","url":"http://10.1.2.3:9000/","url":"http://10.1.2.3:9001/","URL":"http://10.1.2.3:9002/","version":"1"})"
    ))};
    const auto got = flow::call(x.port(), call_body(id, "agent/getAuthenticatedExtendedCard"));
    CHECK(got.status == 200);
    check_no_leak(x, got);
    CHECK(flow::parsed(got.body).at("result").at("url") == x.gateway.base() + "/agents/a");
}

TEST_CASE("a card that would still name the agent's address is refused, and the log says where")
{
    relayed x{test_support::answer(404, "")};
    const auto card = leaking_card(x.agent.url("/rpc"));
    for (const std::string name : {"agent/getAuthenticatedExtendedCard", "GetExtendedAgentCard"}) {
        CAPTURE(name);
        x.agent.next(test_support::answer_json(result(card)));
        const auto got = flow::call(x.port(), call_body(id, name));
        flow::check_jsonrpc_error(got, revealing, id);
        check_no_leak(x, got);
    }
    x.agent.next(test_support::answer_json(card));
    const auto got = test_support::request(x.port(), "GET", "/agents/a/rest/extendedAgentCard");
    flow::check_rest_error(got, revealing, /*of_1=*/true, "a");
    const auto lines = flow::access_lines(x.gateway, 3);
    REQUIRE(lines.size() == 3);
    for (const auto& line : lines) {
        CAPTURE(line);
        CHECK(
            line.find(R"("code":"card_unrewritable","from":"upstream","detail":"supportedInterfaces[0].tenant")") !=
            std::string::npos
        );
    }
}

TEST_CASE("a notification has no id to answer to: its failure is told in plain, and an empty answer passes")
{
    relayed x{test_support::answer(404, "")};
    const std::string body = R"({"jsonrpc":"2.0","method":"GetExtendedAgentCard"})";
    x.agent.next(test_support::not_json());
    flow::check_plain_error(flow::call(x.port(), body), no_json, "a");
    for (const unsigned status : {200U, 202U, 204U}) {
        CAPTURE(status);
        x.agent.next(test_support::answer(status, ""));
        const auto got = flow::call(x.port(), body);
        CHECK(got.status == status);
        CHECK(got.body.empty());
    }
}

TEST_CASE("a caller that leaves while its card is read ends the exchange with the agent")
{
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{";
    relayed x{test_support::then(test_support::raw({head}), {test_support::hold{}})};
    http_client caller{x.port()};
    caller.send(call_text(call_body("1", method)));
    CHECK(x.agent.wait_for_requests(1));
    caller.reset();
    CHECK(x.agent.wait_until_peer_closed());
    const auto lines = flow::access_lines(x.gateway, 1);
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].find(R"("status":499,"code":"caller_gone")") != std::string::npos);
}

TEST_SUITE_END();
