#include "net/client/exchange.hpp"

#include "tests/support/scratch.hpp"
#include "tests/support/scripted_agent.hpp"
#include "tests/support/test_ca.hpp"
#include "tests/unit/net/client/exchange_recorder.hpp"
#include "tests/unit/net/loop/few_descriptors.hpp"

#include <algorithm>
#include <chrono>
#include <string>

using namespace std::chrono_literals;
using namespace test_support;
using core::errc;

namespace {

struct one_exchange : exchange_driver {
    exchange_recorder told;
    std::unique_ptr<net::exchange> running;

    void start(net::exchange_request request) { running = client->start(std::move(request), told); }
    void run_to_end()
    {
        run_until([&] { return !told.ends.empty(); });
    }
    void check_ends_with(errc code)
    {
        run_to_end();
        REQUIRE(told.ends.front().has_error());
        CAPTURE(told.ends.front().error().detail);
        CHECK(core::name(told.ends.front().error().code) == core::name(code));
        CHECK(told.ends.size() == 1);
    }
};

net::exchange_request get(std::string url)
{
    net::exchange_request made;
    made.url = std::move(url);
    return made;
}

net::exchange_request with_method(std::string url, std::string method, std::optional<std::string> body = {})
{
    auto made = get(std::move(url));
    made.method = std::move(method);
    made.body = body ? std::make_shared<const std::string>(*std::move(body)) : nullptr;
    return made;
}

void check_fails(net::exchange_request request, errc code)
{
    one_exchange it;
    it.start(std::move(request));
    it.check_ends_with(code);
}

handler always(script what)
{
    return [what = std::move(what)](const recorded_request&) { return what; };
}

}  // namespace

TEST_CASE("no connection is made with the descriptors that are kept for callers")
{
    const scripted_agent agent{always(answer(200, "there"))};
    one_exchange it;
    {
        const net_test::few_descriptors few;
        it.start(get(agent.url("/")));
        it.check_ends_with(errc::overloaded);
    }
    one_exchange later;
    later.start(get(agent.url("/")));
    later.run_to_end();
    CHECK(later.told.ends.front().has_value());
}

TEST_CASE("an exchange sends any method with its fields and body, and tells head, body and end")
{
    for (const auto* const method : {"GET", "POST", "PUT", "DELETE"}) {
        CAPTURE(method);
        scripted_agent agent{always(answer_json("{\"a\":1}", {{"Mcp-Session-Id", "s1"}}))};
        one_exchange it;
        const bool bodied = std::string_view{method}.starts_with('P');
        auto request =
            with_method(agent.url("/mcp"), method, bodied ? std::optional{std::string(100, 'x')} : std::nullopt);
        request.headers = {{"X-One", "1"}, {"Accept", "text/event-stream"}};
        it.start(std::move(request));
        CHECK(it.told.ends.empty());
        it.run_to_end();
        CHECK(it.told.ends.front().has_value());
        REQUIRE(it.told.head);
        CHECK(it.told.head->status == 200);
        CHECK(it.told.head->field("mcp-session-id") == "s1");
        CHECK(it.told.head->has_type("application/json"));
        CHECK(it.told.body == "{\"a\":1}");
        const auto sent = agent.request(0);
        CHECK(sent.method == method);
        CHECK(sent.target == "/mcp");
        CHECK(sent.header("x-one") == "1");
        CHECK(sent.header("accept") == "text/event-stream");
        CHECK(sent.count("accept-encoding") == 0);
        CHECK(sent.body == (bodied ? std::string(100, 'x') : ""));
    }
}

TEST_CASE("a request names the gateway in Via, unless its own Via is empty")
{
    scripted_agent agent{always(answer(200, "there"))};
    for (const bool named : {true, false}) {
        one_exchange it;
        auto request = get(agent.url("/"));
        if (!named) {
            request.headers = {{"via", ""}};
        }
        it.start(std::move(request));
        it.run_to_end();
    }
    CHECK(agent.request(0).header("via").starts_with("1.1 cardea"));
    CHECK(agent.request(1).count("via") == 0);
}

TEST_CASE("head and events are told when they come, and a silent stream has no end")
{
    scripted_agent agent{always(event_stream())};
    one_exchange it;
    auto request = get(agent.url());
    request.idle_timeout = 1ms;
    it.start(std::move(request));
    it.run_until([&] { return it.told.head.has_value(); });
    CHECK(it.told.head->has_type("text/event-stream"));
    REQUIRE(agent.wait_for_streams(1));
    agent.send_event("one");
    it.run_until([&] { return it.told.body == "data: one\n\n"; });
    agent.send_event("two");
    it.run_until([&] { return it.told.body == "data: one\n\ndata: two\n\n"; });
    CHECK(it.told.ends.empty());
    agent.end_streams();
    it.run_to_end();
    CHECK(it.told.ends.front().has_value());
}

TEST_CASE("every way in which an exchange fails has the code that a fetch would have")
{
    check_fails(get("http://127.0.0.1:" + std::to_string(unused_port()) + "/"), errc::upstream_refused);
    check_fails(get("ftp://127.0.0.1/"), errc::upstream_protocol);
    check_fails(get("http://host.invalid/"), errc::upstream_unresolved);
    struct row {
        const char* what;
        script answered;
        errc code;
    };
    for (const auto& [what, answered, code] : {
             row{"closed unanswered", close_unanswered(), errc::upstream_reset},
             row{"reset", reset(), errc::upstream_reset},
             row{"half a head", half_head(), errc::upstream_reset},
             row{"half a body", half_body(), errc::upstream_reset},
             row{"half of a chunked body", half_chunked(), errc::upstream_reset},
             row{"no HTTP", raw({"hello\r\n\r\n"}), errc::upstream_protocol},
             row{"a coding", answer(200, "x", {{"Content-Encoding", "gzip"}}), errc::upstream_protocol},
         }) {
        CAPTURE(what);
        scripted_agent agent{always(answered)};
        check_fails(get(agent.url()), code);
    }
}

TEST_CASE("a request that cannot be sent ends as internal, not from within start()")
{
    one_exchange it;
    auto request = get("http://127.0.0.1:1/");
    request.headers = {{"X", "a\r\nb"}};
    it.start(std::move(request));
    CHECK(it.told.ends.empty());
    it.check_ends_with(errc::internal);
}

TEST_CASE("connection, head and body have each their time")
{
    scripted_agent deaf{agent_options{.accepts = on_accept::silence}};
    auto waits = get(deaf.url());
    waits.head_timeout = 30ms;
    check_fails(waits, errc::upstream_timeout);

    scripted_agent silent{always(silence())};
    waits.url = silent.url();
    check_fails(waits, errc::upstream_timeout);

    scripted_agent stuck{always(then(raw({"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n12"}), {hold{}}))};
    auto idles = get(stuck.url());
    idles.idle_timeout = 30ms;
    check_fails(idles, errc::upstream_timeout);

    scripted_agent streams{always(event_stream())};
    idles.url = streams.url();
    idles.stream_timeout = 30ms;
    check_fails(idles, errc::upstream_timeout);
}

TEST_CASE("a body over the limit ends the exchange, whether its length was told or not; a stream has no such limit")
{
    scripted_agent agent;
    agent.next(huge(101));
    agent.next(huge(101, true));
    auto request = get(agent.url());
    request.max_size = 100;
    check_fails(request, errc::message_too_large);
    check_fails(request, errc::message_too_large);
    agent.next(answer(500, std::string(101, 'x'), {{"Content-Type", "text/event-stream"}}));
    check_fails(request, errc::message_too_large);

    agent.next(answer(200, std::string(200, 'x'), {{"Content-Type", "Text/Event-Stream;charset=utf-8"}}));
    agent.next(huge(100));
    for (const std::size_t size : {200U, 100U}) {
        one_exchange it;
        it.start(request);
        it.run_to_end();
        CHECK(it.told.ends.front().has_value());
        CHECK(it.told.body.size() == size);
    }
}

TEST_CASE("a body comes whole in pieces of bounded size, and one that takes long to hear leaves time for others")
{
    scripted_agent agent;
    constexpr std::size_t size = 20'000'000;
    agent.next(huge(size, true));
    auto request = get(agent.url());
    request.max_size = size;
    one_exchange it;
    std::size_t heard = 0;
    std::size_t largest = 0;
    auto last = std::chrono::steady_clock::now();
    std::chrono::steady_clock::duration longest_rest{};
    it.told.on_piece = [&] {
        const auto now = std::chrono::steady_clock::now();
        longest_rest = std::max(longest_rest, now - last);
        largest = std::max(largest, it.told.body.size() - heard);
        // As a message that is worked at for long.
        while (heard == 0 && std::chrono::steady_clock::now() - now < 400ms) {
        }
        heard = it.told.body.size();
        last = std::chrono::steady_clock::now();
    };
    it.start(request);
    it.run_to_end();
    CHECK(it.told.ends.front().has_value());
    REQUIRE(it.told.body.size() == size);
    for (std::size_t i = 0; i < size; i += 997) {
        REQUIRE(it.told.body[i] == pattern_byte(i));
    }
    CHECK(largest < 300 * 1024);
    CHECK(longest_rest > 150ms);
}

TEST_CASE("an exchange may be destroyed while it rests")
{
    scripted_agent agent;
    agent.next(huge(20'000'000, true));
    one_exchange it;
    it.told.on_piece = [&] { it.running.reset(); };
    auto request = get(agent.url());
    request.max_size = 20'000'000;
    it.start(request);
    it.run_until([&] { return it.running == nullptr; });
    CHECK(agent.wait_until_peer_closed());
    it.run_ready();
    CHECK(it.told.ends.empty());
}

TEST_CASE("a destroyed exchange tells nothing more and closes its connection")
{
    scripted_agent agent{always(event_stream())};
    one_exchange it;
    it.start(get(agent.url()));
    it.run_until([&] { return it.told.head.has_value(); });
    it.running.reset();
    CHECK(agent.wait_until_peer_closed());
    it.run_ready();
    CHECK(it.told.ends.empty());
}

TEST_CASE("whatever an observer does from within what it is told is safe")
{
    scripted_agent agent{always(answer(200, std::string(100, 'x')))};
    SUBCASE("it destroys the exchange at the head")
    {
        one_exchange it;
        it.told.on_head = [&] { it.running.reset(); };
        it.start(get(agent.url()));
        it.run_until([&] { return it.told.head.has_value(); });
        it.run_ready();
        CHECK(it.told.body.empty());
        CHECK(it.told.ends.empty());
    }
    SUBCASE("it destroys the exchange and the client in the body")
    {
        one_exchange it;
        it.told.on_piece = [&] {
            it.running.reset();
            it.client.reset();
        };
        it.start(get(agent.url()));
        it.run_until([&] { return !it.told.body.empty(); });
        it.run_ready();
        CHECK(it.told.ends.empty());
    }
    SUBCASE("it starts the next one at the end")
    {
        one_exchange it;
        exchange_recorder second;
        std::unique_ptr<net::exchange> next;
        it.told.on_end = [&] { next = it.client->start(get(agent.url()), second); };
        it.start(get(agent.url()));
        it.run_until([&] { return !second.ends.empty(); });
        CHECK(second.body.size() == 100);
        CHECK(agent.accepted_connections() == 1);
    }
}

TEST_CASE("the client may end before its exchanges, which are told nothing more")
{
    scripted_agent agent{always(silence())};
    one_exchange it;
    auto request = get(agent.url());
    request.head_timeout = 20ms;
    it.start(std::move(request));
    it.client.reset();
    it.io.restart();
    it.io.run_for(60ms);
    CHECK(it.told.ends.empty());
    it.running.reset();
}

TEST_CASE("a request goes a second time over a connection that was gone only if it may")
{
    for (const bool repeatable : {true, false}) {
        CAPTURE(repeatable);
        scripted_agent agent{closing_on_reuse(answer_json("1"))};
        exchange_driver driver;
        exchange_recorder first;
        const auto one = driver.client->start(with_method(agent.url(), "POST", "{}"), first);
        driver.run_until([&] { return !first.ends.empty(); });
        auto again = with_method(agent.url(), "POST", "{}");
        again.repeatable = repeatable;
        exchange_recorder second;
        const auto two = driver.client->start(std::move(again), second);
        driver.run_until([&] { return !second.ends.empty(); });
        CHECK(second.ends.front().has_value() == repeatable);
        if (!repeatable) {
            CHECK(core::name(second.ends.front().error().code) == core::name(errc::upstream_reset));
        }
    }
}

TEST_CASE("https is verified, with the authority and for the name that were asked for")
{
    test_ca ca;
    const auto offered = ca.issue({"127.0.0.1"});
    scripted_agent agent{always(answer(200, "secret")), {.cert_file = offered.cert_file, .key_file = offered.key_file}};
    check_fails(get(agent.url()), errc::upstream_tls);
    CHECK(agent.request_count() == 0);
    one_exchange it;
    auto request = get(agent.url());
    request.tls.ca_file = ca.ca_file();
    it.start(std::move(request));
    it.run_to_end();
    CHECK(it.told.body == "secret");
}

TEST_CASE("authorities that have changed in their file count for the next connection")
{
    test_ca ca;
    test_ca other;
    const auto offered = ca.issue({"127.0.0.1"});
    const scratch_directory folder;
    const auto file = folder.file("ca.pem");
    write_whole(file, read_whole(ca.ca_file()));
    scripted_agent agent{always(answer(200, "x")), {.cert_file = offered.cert_file, .key_file = offered.key_file}};
    exchange_driver driver;
    driver.client->close();  // none is kept
    const auto outcome = [&] {
        exchange_recorder told;
        auto request = get(agent.url());
        request.tls.ca_file = file;
        const auto running = driver.client->start(std::move(request), told);
        driver.run_until([&] { return !told.ends.empty(); });
        return told.ends.front() ? "taken" : std::string{core::name(told.ends.front().error().code)};
    };
    CHECK(outcome() == "taken");
    write_whole(file, read_whole(other.ca_file()) + '\n');
    CHECK(outcome() == "upstream_tls");
    write_whole(file, read_whole(ca.ca_file()));
    CHECK(outcome() == "taken");
    write_whole(file, "nothing");
    CHECK(outcome() == "upstream_tls");
}

TEST_CASE("connections are kept for the next exchange, but not by a client that is closed")
{
    scripted_agent agent{always(answer(200, "x"))};
    exchange_driver driver;
    const auto ask = [&] {
        exchange_recorder told;
        const auto running = driver.client->start(get(agent.url()), told);
        driver.run_until([&] { return !told.ends.empty(); });
        CHECK(told.ends.front().has_value());
    };
    ask();
    ask();
    CHECK(agent.accepted_connections() == 1);
    driver.client->close();
    CHECK(agent.wait_until_peer_closed());
    ask();
    ask();
    CHECK(agent.accepted_connections() == 3);
}

TEST_CASE("eight interim answers are passed over, and a ninth ends the exchange")
{
    for (const int count : {7, 8, 9}) {
        CAPTURE(count);
        std::string text;
        for (int i = 0; i < count; ++i) {
            text += "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
        }
        scripted_agent agent{always(raw({text + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"}))};
        one_exchange it;
        it.start(get(agent.url()));
        if (count <= 8) {
            it.run_to_end();
            CHECK(it.told.body == "{}");
        } else {
            it.check_ends_with(errc::upstream_protocol);
        }
    }
}

TEST_CASE("what an answer says about its length is taken as strictly as an agent's")
{
    for (const std::string fields : {
             "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
             "Content-Length: 2\r\nContent-Length: 3\r\n",
             "Content-Length: -2\r\n",
             "Transfer-Encoding: gzip, chunked\r\n",
             "Transfer-Encoding : chunked\r\n",
         }) {
        CAPTURE(fields);
        scripted_agent agent{always(raw({"HTTP/1.1 200 OK\r\n" + fields + "\r\n{}"}))};
        check_fails(get(agent.url()), errc::upstream_protocol);
    }
    scripted_agent broken{always(raw({"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}))};
    check_fails(get(broken.url()), errc::upstream_protocol);
}

TEST_CASE("a large body is sent at once, without asking first")
{
    scripted_agent agent{always(answer(202, ""))};
    one_exchange it;
    it.start(with_method(agent.url(), "POST", std::string(3 * 1024 * 1024, 'x')));
    it.run_to_end();
    CHECK(it.told.ends.front().has_value());
    CHECK(agent.request(0).count("expect") == 0);
    CHECK(agent.request(0).body.size() == 3 * 1024 * 1024);
}

TEST_CASE("an exchange that is bound to public addresses connects to no other one")
{
    scripted_agent agent{always(answer(200, "{}"))};
    for (const std::string host : {"127.0.0.1", "localhost", "127.1", "[::1]"}) {
        CAPTURE(host);
        auto request = get("http://" + host + ':' + std::to_string(agent.port()) + '/');
        request.addresses = std::make_shared<const core::address_rule>(std::vector<std::string>{});
        check_fails(std::move(request), errc::upstream_forbidden);
    }
    CHECK(agent.accepted_connections() == 0);
}
