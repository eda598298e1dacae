#include "tests/support/scripted_agent.hpp"
#include "tests/support/test_ca.hpp"
#include "tests/unit/net/client/fetch_client.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace test_support;
using core::errc;

namespace {

agent_options with(const certificate& made)
{
    return {.cert_file = made.cert_file, .key_file = made.key_file};
}

handler always(script what)
{
    return [what = std::move(what)](const recorded_request&) { return what; };
}

net::fetch_request get_trusting(std::string url, std::string ca_file)
{
    auto request = get(std::move(url));
    request.tls.ca_file = std::move(ca_file);
    return request;
}

// A wakeup that is missed shall not be made good by a deadline.
net::fetch_request get_patiently(std::string url)
{
    auto request = get(std::move(url));
    request.timeout = 10 * patience;
    request.connect_timeout = 10 * patience;
    return request;
}

bool all_are(const fetch_client& client, errc what)
{
    return std::ranges::all_of(client.results, [&](const auto& got) {
        return got.has_error() && got.error().code == what;
    });
}

}  // namespace

TEST_CASE("https works with a certificate that the given authority signed for the name or address")
{
    test_ca ca;
    scripted_agent agent{always(answer(200, "secret")), with(ca.issue({"localhost", "127.0.0.1"}))};
    for (const auto* const host : {"localhost", "127.0.0.1"}) {
        CAPTURE(host);
        const auto url = std::string{"https://"} + host + ":" + std::to_string(agent.port()) + "/";
        const auto got = fetch(get_trusting(url, ca.ca_file()));
        REQUIRE(got.has_value());
        CHECK(got->body == "secret");
    }
}

TEST_CASE("a certificate that does not hold is upstream_tls, and nothing is sent")
{
    test_ca ca;
    test_ca other;
    struct row {
        const char* what;
        certificate offered;
        std::string trusted;
    };
    for (const auto& [what, offered, trusted] : {
             row{"expired", ca.issue_expired({"127.0.0.1"}), ca.ca_file()},
             row{"not yet valid", ca.issue_not_yet_valid({"127.0.0.1"}), ca.ca_file()},
             row{"for another name", ca.issue({"localhost", "127.0.0.2"}), ca.ca_file()},
             row{"signed by an authority that is not the given one", ca.issue({"127.0.0.1"}), other.ca_file()},
             row{"signed by an authority that the system does not know", ca.issue({"127.0.0.1"}), ""},
             row{"signed by itself", ca.self_signed({"127.0.0.1"}), ca.ca_file()},
             row{"with no file of trust to check it", ca.issue({"127.0.0.1"}), "/nonexistent/ca.pem"},
         }) {
        CAPTURE(what);
        scripted_agent agent{always(answer(200, "secret")), with(offered)};
        check_fails(fetch(get_trusting(agent.url(), trusted)), errc::upstream_tls);
        CHECK(agent.request_count() == 0);
    }
}

TEST_CASE("the authority given for one fetch does not count for another")
{
    test_ca ca;
    test_ca other;
    scripted_agent agent{always(answer(200, "secret")), with(ca.issue({"127.0.0.1"}))};
    fetch_client client;
    for (const auto& [trusted, good] : {std::pair{&ca, true}, {&other, false}, {&ca, true}}) {
        client.start(get_trusting(agent.url(), trusted->ca_file()));
        client.run_until_done(client.results.size() + 1);
        CHECK(client.results.back().has_value() == good);
    }
}

TEST_CASE("a peer that speaks no TLS, or leaves during the handshake, is upstream_tls")
{
    scripted_agent plain;
    check_fails(fetch(get("https://127.0.0.1:" + std::to_string(plain.port()) + "/")), errc::upstream_tls);
    scripted_agent leaving{{.accepts = on_accept::close}};
    check_fails(fetch(get("https://127.0.0.1:" + std::to_string(leaving.port()) + "/")), errc::upstream_tls);
}

TEST_CASE("silence is upstream_timeout, wherever it falls")
{
    const auto late = [](net::fetch_request request) {
        request.timeout = 100ms;
        return fetch(std::move(request));
    };
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n";
    for (const auto& what : {
             silence(),
             then(raw({"HTTP/1.1 200"}), silence()),
             then(raw({head}), silence()),
             then(raw({head + "half"}), silence()),
         }) {
        scripted_agent agent{always(what)};
        check_fails(late(get(agent.url())), errc::upstream_timeout);
        CHECK(agent.request_count() == 1);
        CHECK(agent.wait_until_peer_closed());
    }
    scripted_agent deaf{{.accepts = on_accept::silence}};
    check_fails(late(get(deaf.url())), errc::upstream_timeout);
    auto shaking = get("https://127.0.0.1:" + std::to_string(deaf.port()) + "/");
    check_fails(late(shaking), errc::upstream_timeout);
    shaking.connect_timeout = 100ms;
    check_fails(fetch(shaking), errc::upstream_timeout);
}

TEST_CASE("each fetch has the deadline it was given")
{
    gate held;
    scripted_agent agent;
    agent.next(raw({"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"}, held));
    agent.otherwise(always(silence()));
    fetch_client client;
    auto patient = get(agent.url("/patient"));
    patient.timeout = 10 * patience;
    client.start(patient);
    client.run_until([&] { return held.wait_until_reached(1, 0ms); });
    auto hasty = get(agent.url("/hasty"));
    hasty.timeout = 50ms;
    client.start(hasty);
    client.run_until_done(1);
    check_fails(client.results.front(), errc::upstream_timeout);
    held.release();
    client.run_until_done(2);
    CHECK(client.results.back().has_value());
}

TEST_CASE("a response that comes in pieces is read as they come")
{
    gate held;
    const std::vector<std::string> pieces{"HTTP/1.1 200 OK\r\nContent-", "Length: 4\r\n\r\n", "ab", "c", "d"};
    scripted_agent agent{always(raw(pieces, held))};
    agent.next(answer(200, "first"));
    fetch_client client;
    client.start(get_patiently(agent.url()));
    client.run_until_done(1);
    client.start(get_patiently(agent.url()));  // on the kept connection: no timer of connecting helps along
    for (std::size_t i = 1; i <= pieces.size(); ++i) {
        client.run_until([&] { return held.wait_until_reached(i, 0ms); });
        client.io.poll();  // the piece before this gate is there to be read
        held.release();
    }
    client.run_until_done(2);
    REQUIRE(client.results.back().has_value());
    CHECK(client.results.back()->body == "abcd");
}

TEST_CASE("a body that trickles does not outlive the deadline")
{
    scripted_agent agent{always(then(raw({"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"}), {events{}}))};
    fetch_client client;
    auto request = get(agent.url());
    request.timeout = 200ms;
    client.start(request);
    client.run_until([&] {
        agent.send_stream("x");
        return client.results.size() == 1;
    });
    check_fails(client.results.front(), errc::upstream_timeout);
}

TEST_CASE("fifty fetches are under way at the same time")
{
    constexpr std::size_t many = 50;
    gate all_here;
    std::size_t seen = 0;  // agent's thread only
    scripted_agent agent{[&](const recorded_request& request) {
        if (++seen == many) {
            all_here.release(many);
        }
        const auto length = std::to_string(request.target.size());
        return raw({"HTTP/1.1 200 OK\r\nContent-Length: " + length + "\r\n\r\n" + request.target}, all_here);
    }};
    fetch_client client;
    for (std::size_t i = 0; i < many; ++i) {
        client.start(get(agent.url("/" + std::to_string(i))));
    }
    client.run_until_done(many);

    std::vector<std::string> bodies;
    for (const auto& got : client.results) {
        REQUIRE(got.has_value());
        bodies.push_back(got->body);
    }
    std::ranges::sort(bodies);
    CHECK(std::ranges::unique(bodies).empty());
    CHECK(bodies.size() == many);
    CHECK(agent.most_open_connections() == many);
}

TEST_CASE("a connection is used again, and when it was closed meanwhile the fetch still succeeds")
{
    scripted_agent agent{always(answer(200, "again"))};
    fetch_client client;
    const auto request = get_patiently(agent.url());
    for (std::size_t i = 1; i <= 3; ++i) {
        client.start(request);
        client.run_until_done(i);
        CHECK(client.results.back().has_value());
    }
    CHECK(agent.accepted_connections() == 1);

    agent.otherwise(closing_on_reuse(answer(200, "fresh")));
    for (std::size_t i = 2; i <= 30; ++i) {
        client.start(request);
        client.run_until_done(i + 2);
        REQUIRE(client.results.back().has_value());
        CHECK(client.results.back()->body == "fresh");
        CHECK(agent.accepted_connections() == i);
    }
}

TEST_CASE("A connection whose last request this was is closed when it is answered, and others are kept")
{
    scripted_agent agent{always(answer(200, "x"))};
    fetch_client client;
    for (const bool last : {false, true}) {
        CAPTURE(last);
        auto request = get(agent.url());
        request.last_on_connection = last;
        client.start(std::move(request));
        client.run_until_done(client.results.size() + 1);
        CHECK(client.results.back().has_value());
        CHECK(agent.wait_for_open_connections(last ? 0 : 1));
        CHECK(agent.accepted_connections() == 1);
    }
}

TEST_CASE("A connection that has been there for long is closed, and another one is made for the next request")
{
    scripted_agent agent{always(answer(200, "x"))};
    fetch_client client;
    auto request = get_patiently(agent.url());
    request.reuse = std::chrono::seconds{1};
    const auto until = std::chrono::steady_clock::now() + patience;
    while (agent.accepted_connections() < 2 && std::chrono::steady_clock::now() < until) {
        client.start(request);
        client.run_until_done(client.results.size() + 1);
        REQUIRE(client.results.back().has_value());
    }
    CHECK(agent.accepted_connections() == 2);
    CHECK(agent.wait_for_open_connections(1));
}

TEST_CASE("A connection to an address that is allowed for one request is closed after it")
{
    scripted_agent agent{always(answer(200, "x"))};
    fetch_client client;
    auto request = get(agent.url());
    request.addresses = std::make_shared<const core::address_rule>(std::vector<std::string>{"127.0.0.0/8"});
    client.start(std::move(request));
    client.run_until_done(1);
    CHECK(client.results.back().has_value());
    CHECK(agent.wait_for_open_connections(0));
}

TEST_CASE("an idle fetcher leaves its loop nothing to wait for")
{
    scripted_agent agent{always(answer(200, "x"))};
    fetch_client client;
    for (std::size_t i = 1; i <= 2; ++i) {  // the second one on a kept connection
        client.start(get_patiently(agent.url()));
        client.io.restart();
        client.io.run_for(patience);
        CHECK(client.results.size() == i);
        CHECK(client.io.stopped());
    }
}

TEST_CASE("destroying the fetcher ends what is in flight, in whatever state")
{
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n";
    for (const auto& what : {silence(), then(raw({head + "half"}), silence())}) {
        scripted_agent agent{always(what)};
        fetch_client client;
        for (int i = 0; i < 3; ++i) {
            client.start(get(agent.url()));
        }
        client.run_until([&] { return agent.request_count() == 3; });
        client.fetcher.reset();
        client.run_until_done(3);
        CHECK(all_are(client, errc::caller_gone));
        CHECK(agent.wait_until_peer_closed(patience, 3));
    }
}

TEST_CASE("destroying the fetcher ends handshakes, name lookups and what has not begun")
{
    scripted_agent deaf{{.accepts = on_accept::silence}};
    const auto port = std::to_string(deaf.port());
    fetch_client client;
    client.start(get("https://127.0.0.1:" + port + "/"));
    client.run_until([&] { return deaf.accepted_connections() == 1; });
    client.start(get("http://localhost:" + port + "/"));
    client.io.poll_one();
    client.start(get("http://127.0.0.1:" + port + "/"));
    client.fetcher.reset();
    client.run_until_done(3);
    CHECK(all_are(client, errc::caller_gone));
    CHECK(deaf.wait_for_open_connections(0));
}

TEST_CASE("a loop that never runs again takes its waiting fetches with it")
{
    scripted_agent agent{always(silence())};
    {
        fetch_client client;
        client.start(get(agent.url()));
        client.run_until([&] { return agent.request_count() == 1; });
        client.fetcher.reset();
        CHECK(client.results.empty());
    }
    CHECK(agent.wait_until_peer_closed());
}

TEST_CASE("a cancelled fetch ends with caller_gone and closes its connection; the others go on")
{
    scripted_agent agent{[](const recorded_request& request) {
        return request.target == "/silent" ? silence() : answer(200, "fine");
    }};
    fetch_client client;
    boost::asio::cancellation_signal signal;
    client.start(get(agent.url("/silent")), signal.slot());
    client.run_until([&] { return agent.request_count() == 1; });
    signal.emit(boost::asio::cancellation_type::terminal);
    client.run_until_done(1);
    CHECK(all_are(client, errc::caller_gone));
    CHECK(agent.wait_until_peer_closed());

    client.start(get(agent.url("/other")));
    client.run_until_done(2);
    CHECK(client.results.back().has_value());
    signal.emit(boost::asio::cancellation_type::terminal);
    CHECK(client.results.size() == 2);
}
