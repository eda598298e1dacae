#include "tests/flow/relay_fixture.hpp"
#include "tests/support/test_ca.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <poll.h>

#include <array>

using namespace std::chrono_literals;
using flow::call;
using flow::call_body;
using flow::call_text;
using flow::relayed;
using test_support::bytes;
using test_support::http_client;
using test_support::script;

TEST_SUITE_BEGIN("flow/relay");

namespace {

struct fault {
    std::string what;
    script does;
    flow::error_answer expected;
};

script text(std::string answer)
{
    return {test_support::bytes{std::move(answer)}, test_support::close_now{}};
}

std::vector<fault> faults_before_the_head_is_whole()
{
    using flow::cut_off;
    using flow::not_http;
    const std::string ok = "HTTP/1.1 200 OK\r\n";
    std::string interim;
    for (int i = 0; i < 9; ++i) {
        interim += "HTTP/1.1 103 Early Hints\r\n\r\n";
    }
    std::string fields;
    for (int i = 0; i < 257; ++i) {
        fields += "X-N: 1\r\n";
    }
    return {
        {"closes unanswered", test_support::close_unanswered(), cut_off},
        {"resets", test_support::reset(), cut_off},
        {"half a head", test_support::half_head(), cut_off},
        {"half a status line", text("HTTP/1.1 2"), cut_off},
        {"an interim answer and no more", text("HTTP/1.1 100 Continue\r\n\r\n"), cut_off},
        {"garbage", text("220 mail.example ESMTP\r\n"), not_http},
        {"a TLS alert in plain", text(std::string("\x15\x03\x01\x00\x02\x02\x46", 7)), not_http},
        {"HTTP/2 settings", text(std::string("\0\0\0\4\0\0\0\0\0", 9)), not_http},
        {"HTTP/3.1", text("HTTP/3.1 200 OK\r\nContent-Length: 0\r\n\r\n"), not_http},
        {"ICY", text("ICY 200 OK\r\n\r\n"), not_http},
        {"status 99", text("HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n"), not_http},
        {"status 600", text("HTTP/1.1 600 High\r\nContent-Length: 0\r\n\r\n"), not_http},
        {"status 1000", text("HTTP/1.1 1000 Wide\r\nContent-Length: 0\r\n\r\n"), not_http},
        {"no space after the status", text("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n"), not_http},
        {"unasked 101", text("HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n"), not_http},
        {"nine interim answers", text(interim + ok + "Content-Length: 0\r\n\r\n"), not_http},
        {"both framings", text(ok + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), not_http},
        {"two lengths", text(ok + "Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc"), not_http},
        {"a negative length", text(ok + "Content-Length: -1\r\n\r\n"), not_http},
        {"an unknown coding", text(ok + "Transfer-Encoding: gzip\r\n\r\nabc"), not_http},
        {"chunked twice", text(ok + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"), not_http},
        {"chunked in HTTP/1.0", text("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), not_http},
        {"a folded field", text(ok + "X: a\r\n b\r\nContent-Length: 0\r\n\r\n"), not_http},
        {"a space before the colon", text(ok + "X : a\r\nContent-Length: 0\r\n\r\n"), not_http},
        {"a bare LF", text(ok + "X: a\nContent-Length: 0\r\n\r\n"), not_http},
        {"a bare CR", text(ok + "X: a\rb\r\nContent-Length: 0\r\n\r\n"), not_http},
        {"a NUL", text(ok + std::string("X: a\0b\r\n", 8) + "Content-Length: 0\r\n\r\n"), not_http},
        {"257 fields", text(ok + fields + "\r\n"), not_http},
        {"a redirect", test_support::redirect("http://127.0.0.1:1/"), flow::bad_status},
        {"a permanent redirect", test_support::redirect("/elsewhere", 301), flow::bad_status},
        {"304", text("HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n"), flow::bad_status},
        {"silence", test_support::silence(), flow::late},
    };
}

}  // namespace

TEST_CASE("what fails before the agent's head is whole has one mapped answer, and the caller's connection goes on")
{
    for (const auto& row : faults_before_the_head_is_whole()) {
        CAPTURE(row.what);
        relayed x{test_support::answer_json("{}"), [](config::settings& s) { s.timeouts.upstream_head = 150ms; }};
        x.agent.next(row.does);
        http_client caller{x.port()};

        caller.send(call_text(call_body("7")));
        const auto failed = caller.read_response();
        caller.send(call_text(call_body("8")));
        const auto next = caller.read_response();

        flow::check_jsonrpc_error(failed, row.expected, "7");
        CHECK(failed.count("Location") == 0);
        CHECK(failed.count("Connection") == 0);
        CHECK(next.status == 200);
        CHECK(next.body == "{}");
        REQUIRE(x.agent.request_count() == 2);
        CHECK(x.agent.request(1).connection == 2);  // the broken connection is not used again
    }
}

TEST_CASE("an answer's head is taken up to its limit in bytes and not beyond")
{
    const std::string first = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Long: ";
    const std::string last = "\r\n\r\n";
    constexpr std::size_t limit = 4096;
    for (const std::size_t size : {limit - 1, limit, limit + 1}) {
        CAPTURE(size);
        const std::string value(size - first.size() - last.size(), 'x');
        const relayed x{script{test_support::bytes{first + value + last}}, [](config::settings& s) {
                            s.limits.upstream_header = limit;
                        }};
        const auto got = call(x.port(), call_body());
        if (size <= limit) {
            CHECK(got.status == 200);
            CHECK(got.header("X-Long") == value);
        } else {
            flow::check_jsonrpc_error(got, flow::not_http, "1");
        }
    }
}

TEST_CASE("eight interim answers are skipped")
{
    std::string interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n";
    for (int i = 0; i < 6; ++i) {
        interim += "HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n";
    }
    const relayed x{test_support::then({test_support::bytes{interim}}, test_support::answer_json("{\"a\":1}"))};
    http_client caller{x.port()};
    caller.send(call_text(call_body()));
    const auto head = caller.read_head();  // a 1xx would be a head of its own here
    CHECK(head.status == 200);
    CHECK(head.count("Link") == 0);
    CHECK(caller.read_until("}") == "{\"a\":1}");
}

TEST_CASE("an agent that cannot be reached is told apart by how")
{
    const test_support::scripted_agent alive;
    auto settings = flow::quick_settings();
    settings.agents.push_back(flow::a2a_agent("a", "http://127.0.0.1:" + std::to_string(test_support::unused_port())));
    settings.agents.push_back(flow::a2a_agent("b", "http://no-such-host.invalid/rpc"));
    const flow::running_gateway gateway{std::move(settings)};
    http_client caller{gateway.port()};
    const std::string id = "123456789012345678901234567890";

    caller.send(call_text(call_body(id)));
    flow::check_jsonrpc_error(caller.read_response(), flow::refused, id);
    caller.send(test_support::request_text("POST", "/agents/b/", {}, call_body(id)));
    flow::check_jsonrpc_error(caller.read_response(), flow::unresolved, id, "b");
    caller.send(call_text(call_body(id)));
    flow::check_jsonrpc_error(caller.read_response(), flow::refused, id);

    CHECK(gateway.metric(R"(cardea_upstream_errors_total{agent="a",reason="upstream_refused"})") == 2);
    CHECK(gateway.metric(R"(cardea_upstream_errors_total{agent="b",reason="upstream_unresolved"})") == 1);
}

TEST_CASE("an agent that accepts and then closes before the call is a reset")
{
    const relayed x{test_support::answer_json("{}"), {}, {.accepts = test_support::on_accept::close}};
    flow::check_jsonrpc_error(call(x.port(), call_body("\"x\"")), flow::cut_off, "\"x\"");
}

TEST_CASE("an agent that accepts and then resets was not reached, or reset the call")
{
    const relayed x{test_support::answer_json("{}"), {}, {.accepts = test_support::on_accept::reset}};
    for (int i = 0; i < 20; ++i) {
        const auto got = call(x.port(), call_body("\"x\""));
        // Whether the reset comes before the connection is seen to be there is up to the kernel.
        const bool before = got.header("Cardea-Error") == "upstream_refused";
        flow::check_jsonrpc_error(got, before ? flow::refused : flow::cut_off, "\"x\"");
    }
}

TEST_CASE("the caller's id comes back digit for digit, and escape for escape")
{
    const relayed x{test_support::close_unanswered()};
    const std::string ids[] = {
        "0",
        "-1",
        "1.5",
        "1e2",
        "9007199254740993",
        "123456789012345678901234567890",
        "\"\"",
        "\"a\"",
        R"("\u0041\/\"\\\n")",
        R"("é😀")",
        R"("\ud83d\ude00")",
        '"' + std::string(10'000, 'i') + '"',
    };
    for (const auto& id : ids) {
        CAPTURE(id);
        flow::check_jsonrpc_error(call(x.port(), call_body(id)), flow::cut_off, id);
    }
}

TEST_CASE("a failed notification has an answer without an id")
{
    const relayed x{test_support::close_unanswered()};
    const auto got = call(x.port(), R"({"jsonrpc":"2.0","method":"message/send"})");
    flow::check_plain_error(got, flow::cut_off, "a");
}

TEST_CASE("a slow agent within the time is no failure, and its own timeout goes before the common one")
{
    test_support::gate late;
    relayed x{test_support::raw({"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n", "\r\n{}"}, late), [](config::settings& s) {
                  s.timeouts.upstream_head = 1ms;
                  s.agents[0].timeout = 10s;
              }};
    http_client caller{x.port()};
    caller.send(call_text(call_body()));
    REQUIRE(late.wait_until_reached(1));
    CHECK_FALSE(caller.closed_by_peer(250ms));  // more than a sweep beyond the common timeout: nothing came
    late.release(2);
    const auto got = caller.read_response();
    CHECK(got.status == 200);
    CHECK(got.body == "{}");
}

TEST_CASE("A call that only reads has its own, shorter time, and one that may start work has the agent's")
{
    const auto body = [](std::string_view method) {
        return R"({"jsonrpc":"2.0","id":1,"method":")" + std::string{method} + R"(","params":{"id":"t"}})";
    };
    for (const std::string method : {"tasks/get", "GetTask", "ListTasks"}) {
        CAPTURE(method);
        const relayed x{test_support::silence(), [](config::settings& s) {
                            s.timeouts.upstream_head = 1h;
                            s.timeouts.upstream_read = 1h;
                            s.agents[0].read_timeout = 50ms;
                        }};
        flow::check_jsonrpc_error(call(x.port(), body(method)), flow::late, "1");
    }
    for (const std::string method : {"message/send", "SendMessage", "tasks/cancel", "x/other"}) {
        CAPTURE(method);
        const relayed x{test_support::silence(), [](config::settings& s) {
                            s.timeouts.upstream_read = 1h;
                            s.agents[0].read_timeout = 1ms;
                            s.agents[0].timeout = 10s;
                        }};
        http_client caller{x.port()};
        caller.send(call_text(body(method)));
        CHECK_FALSE(caller.closed_by_peer(250ms));
    }
}

TEST_CASE("an agent that stops in the middle of a head is late")
{
    test_support::gate never;
    const relayed x{
        test_support::then({test_support::bytes{"HTTP/1.1 200 OK\r\n"}}, test_support::raw({"\r\n"}, never)),
        [](config::settings& s) { s.timeouts.upstream_head = 100ms; }
    };
    flow::check_jsonrpc_error(call(x.port(), call_body()), flow::late, "1");
}

TEST_CASE("whatever an agent answers of its own, its status, type and bytes pass")
{
    struct row {
        unsigned status;
        std::string body;
        test_support::field_list fields;
    };
    const row rows[] = {
        {200, "{\"name\": ", {{"Content-Type", "application/json"}}},
        {200, "<!doctype html><p>Hi", {{"Content-Type", "text/plain"}}},
        {200, "", {}},
        {202, "", {}},
        {400,
         R"({"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"no"}})",
         {{"Content-Type", "application/json"}}},
        {401, "who?", {{"WWW-Authenticate", "Bearer realm=\"x\", error=\"invalid_token\""}}},
        {404, "gone", {{"Content-Type", "text/plain"}}},
        {429, "{}", {{"Retry-After", "17"}}},
        {500,
         R"({"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"x"}})",
         {{"Content-Type", "application/json"}}},
        {502, "bad", {}},
        {503, "busy", {{"Retry-After", "1"}}},
        {599, std::string("\0\xff\r\n0\r\n\r\n", 9), {{"Content-Type", "application/octet-stream"}}},
    };
    for (const auto& row : rows) {
        CAPTURE(row.status);
        CAPTURE(row.body);
        const relayed x{test_support::answer(row.status, row.body, row.fields)};
        const auto got = call(x.port(), call_body());
        CHECK(got.status == row.status);
        CHECK(got.body == row.body);
        CHECK(got.header("Content-Length") == std::to_string(row.body.size()));
        CHECK(got.count("Cardea-Error") == 0);
        for (const auto& [name, value] : row.fields) {
            CHECK(got.header(name) == value);
        }
    }
}

TEST_CASE("204 passes without a body and without a length")
{
    relayed x{test_support::answer(204, "")};
    http_client caller{x.port()};
    for (int i = 0; i < 2; ++i) {
        caller.send(call_text(call_body()));
        const auto got = caller.read_response();
        CHECK(got.status == 204);
        CHECK(got.count("Content-Length") == 0);
        CHECK(got.body.empty());
    }
    CHECK(x.agent.accepted_connections() == 1);
}

TEST_CASE("a 204 that announces a body ends its connection, and its bytes are no answer to anybody")
{
    relayed x{test_support::answer_json("{}")};
    x.agent.next({test_support::bytes{"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nHTTP/"}});
    http_client caller{x.port()};
    caller.send(call_text(call_body()));
    CHECK(caller.read_response().status == 204);
    caller.send(call_text(call_body()));
    CHECK(caller.read_response().body == "{}");
    CHECK(x.agent.request(1).connection == 2);
}

TEST_CASE("a large call whose stream breaks at once is answered with its id, though its body has been let go")
{
    relayed x{test_support::script{
        bytes{"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}
    }};
    const auto body = R"({"jsonrpc":"2.0","method":"message/stream","params":{"text":")" + std::string(200'000, 'x') +
                      R"("},"id":"the one at the end"})";
    for (int i = 0; i < 3; ++i) {
        const auto answer = flow::call(x.port(), body);
        CHECK(answer.status == 502);
        CHECK(answer.body.find(R"("id":"the one at the end")") != std::string::npos);
        CHECK(answer.body.find("upstream_protocol") != std::string::npos);
    }
}

TEST_CASE("A writing call is made once more when its used connection ends before the agent's system has a byte of it")
{
    namespace asio = boost::asio;
    using asio::ip::tcp;
    asio::io_context io;
    tcp::acceptor agent{io};
    agent.open(tcp::v4());
    agent.set_option(asio::socket_base::receive_buffer_size{4096});  // of its connections
    agent.bind({asio::ip::address_v4::loopback(), 0});
    agent.listen();
    const auto answer = [](tcp::socket& connection) {
        std::array<char, 16> begin{};
        asio::read(connection, asio::buffer(begin));
        asio::write(connection, asio::buffer(std::string{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"}));
    };
    auto settings = flow::quick_settings();
    settings.agents.push_back(flow::a2a_agent("a", "http://127.0.0.1:" + std::to_string(agent.local_endpoint().port()))
    );
    const flow::running_gateway gateway{std::move(settings)};

    // The agent answers and reads no more, so that the end of the first call fills what its system takes.
    http_client caller{gateway.port()};
    caller.send(call_text(call_body("\"" + std::string(60'000, 'i') + "\"")));
    auto used = agent.accept();
    answer(used);
    CHECK(caller.read_response().body == "{}");
    REQUIRE(gateway.wait_for_metric("cardea_upstream_connections_idle", 1));
    caller.send(call_text(call_body("2")));
    REQUIRE(gateway.wait_for_metric("cardea_upstream_connections_idle", 0));
    used.shutdown(tcp::socket::shutdown_send);
    ::pollfd next{agent.native_handle(), POLLIN, 0};
    REQUIRE(::poll(&next, 1, static_cast<int>(test_support::patience.count())) == 1);
    auto fresh = agent.accept();
    answer(fresh);
    CHECK(caller.read_response().body == "{}");
}

TEST_SUITE_END();
