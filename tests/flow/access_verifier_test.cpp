// Tokens that a service of the operator's is asked about. over 400 lines: the cases share one verifier.
#include "gateway/access/failure_limit.hpp"
#include "tests/flow/deadline_fixture.hpp"
#include "tests/support/scratch.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("flow/access verifier");

namespace {

using namespace flow;
namespace access = gateway::access;
using namespace std::chrono_literals;

constexpr const char* alice = R"({"active":true,"principal":"alice","scopes":["words:call"]})";

config::settings verified(const std::string& url, const std::string& verifier)
{
    auto settings = quick_settings();
    settings.limits.failed_credentials = 100'000;
    settings.access.providers = {
        token("reader", "reader-token-0123456789", {core::scope_read}),
        {"check", core::http_verifier_provider{.url = verifier, .timeout = 300ms, .cache = 60s}},
    };
    settings.agents = {
        agent("a", url, everybody_known, only({.scopes = {"words:call"}})),
        agent("open", url, anyone, anyone),
    };
    return settings;
}

struct verified_gateway {
    unsigned status(std::string_view text, std::string_view id = "a")
    {
        return call(gateway.port(), id, bearer(text)).status;
    }

    test_support::scripted_agent upstream{answer_of_agent};
    test_support::scripted_agent verifier{[](const auto&) { return test_support::answer_json(alice); }};
    running_gateway gateway{verified(upstream.url("/rpc"), verifier.url("/v?key=s3cr3t"))};
};

}  // namespace

TEST_CASE("a token that the verifier accepts lets its principal call, and is asked about once")
{
    verified_gateway with;
    for (int i = 0; i < 3; ++i) {
        CHECK(with.status("token-of-alice") == 200);
    }
    REQUIRE(with.verifier.request_count() == 1);
    const auto asked = with.verifier.request(0);
    CHECK(asked.method == "POST");
    CHECK(asked.target == "/v?key=s3cr3t");
    CHECK(asked.header("Content-Type") == "application/json");
    CHECK(asked.body == R"({"token":"token-of-alice"})");
    CHECK(with.gateway.metric(R"(cardea_access_total{provider="check",outcome="accepted"})") == 3);
    const auto line = with.gateway.log().wait_for([](std::string_view text) {
        return text.find("\"principal\":\"alice\",\"provider\":\"check\"") != text.npos;
    });
    CHECK(line.has_value());
    for (const auto& each : with.gateway.log().all()) {
        CHECK(each.find("token-of-alice") == std::string::npos);
        CHECK(each.find("s3cr3t") == std::string::npos);
    }
}

TEST_CASE("a token that a provider in front knows is not shown to the verifier")
{
    verified_gateway with;
    CHECK(with.status("reader-token-0123456789") == 403);
    CHECK(with.verifier.request_count() == 0);
    const auto got = call(with.gateway.port(), "a", nobody);
    CHECK(got.status == 401);
    CHECK(got.count("WWW-Authenticate") == 2);
    CHECK(with.verifier.request_count() == 0);
}

TEST_CASE("a token that the verifier refuses gets 401, on agents that are open to anyone too")
{
    verified_gateway with;
    with.verifier.otherwise([](const auto&) { return test_support::answer_json(R"({"active":false})"); });
    CHECK(with.status("bad-token") == 401);
    CHECK(with.status("bad-token", "open") == 401);
    for (const unsigned status : {401U, 403U, 404U}) {
        with.verifier.otherwise([status](const auto&) { return test_support::answer(status, ""); });
        CHECK(with.status("bad-token", "open") == 401);
    }
    CHECK(with.verifier.request_count() == 5);
    CHECK(with.upstream.request_count() == 0);
}

TEST_CASE("while the verifier does not answer clearly its tokens get 503, and never the place of no credential")
{
    verified_gateway with;
    const std::vector<std::pair<const char*, test_support::script>> troubles{
        {"500", test_support::answer(500, alice)},
        {"302", test_support::redirect("http://127.0.0.1:9/")},
        {"another status", test_support::answer(201, alice)},
        {"silence", test_support::silence()},
        {"an end", test_support::close_unanswered()},
        {"a reset", test_support::reset()},
        {"half a head", test_support::half_head()},
        {"half a body", test_support::half_body()},
        {"html", test_support::html()},
        {"json of another type", test_support::answer(200, alice, {{"Content-Type", "text/plain"}})},
        {"garbage", test_support::answer_json("active=true")},
        {"no principal", test_support::answer_json(R"({"active":true})")},
        {"too much", test_support::answer_json(std::string(65 * 1024, ' ') + alice)},
        {"endless", test_support::huge(1 << 20, true)},
        {"too slow", test_support::raw({"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"})},
    };
    for (const auto& [name, script] : troubles) {
        CAPTURE(name);
        with.verifier.otherwise([script](const auto&) { return script; });
        const auto got = call(with.gateway.port(), "open", bearer("token-of-alice"));
        CHECK(got.status == 503);
        CHECK(got.header("Cardea-Error") == "access_unavailable");
    }
    CHECK(with.upstream.request_count() == 0);
    with.verifier.otherwise([](const auto&) { return test_support::answer_json(alice); });
    CHECK(with.status("token-of-alice", "open") == 200);
    CHECK(
        with.gateway.metric(R"(cardea_access_total{provider="none",outcome="unavailable"})") ==
        static_cast<double>(troubles.size())
    );
}

TEST_CASE(
    "a credential that was good lately is looked at however many others of its address fail, until it fails itself"
)
{
    test_support::scripted_agent upstream{answer_of_agent};
    test_support::scripted_agent verifier{[](const auto& asked) {
        return test_support::answer_json(asked.body.find("good") == std::string::npos ? R"({"active":false})" : alice);
    }};
    auto settings = verified(upstream.url("/rpc"), verifier.url("/v"));
    settings.limits.failed_credentials = 2;
    // Forgotten at once, and remembered all the same.
    std::get<core::http_verifier_provider>(settings.access.providers[1].type).cache = 0ms;
    running_gateway gateway{settings};
    const auto status = [&](std::string_view text) { return call(gateway.port(), "a", bearer(text)).status; };
    const auto fail_until_limited = [&] {
        for (int i = 0; i < 1000; ++i) {
            if (status("bad-" + std::to_string(i)) == 429) {
                return true;
            }
        }
        return false;
    };
    // Unless the second ends in between.
    const auto is_kept_out = [&](const std::string& text) {
        for (int i = 0; i < 20; ++i) {
            if (fail_until_limited() && status(text) == 429) {
                return true;
            }
        }
        return false;
    };
    const auto questions = [&] {
        return std::ranges::count_if(verifier.requests(), [](const auto& asked) {
            return asked.body.find("good-token") != std::string::npos;
        });
    };
    CHECK(status("good-token") == 200);
    // Other credentials fail in between, and a second may begin.
    for (int i = 0; i < 100 && questions() < 3; ++i) {
        REQUIRE(fail_until_limited());
        CHECK(status("good-token") == 200);
    }
    CHECK(questions() >= 3);
    verifier.otherwise([](const auto&) { return test_support::answer_json(R"({"active":false})"); });
    CHECK(is_kept_out("good-stranger"));
    unsigned last = 200;
    for (int i = 0; i < 1000 && last == 200; ++i) {
        last = status("good-token");
    }
    CHECK(last == 401);
    CHECK(is_kept_out("good-token"));
}

TEST_CASE("a verifier that nobody can connect to makes its tokens 503")
{
    test_support::scripted_agent upstream{answer_of_agent};
    const auto nowhere = "http://127.0.0.1:" + std::to_string(test_support::unused_port()) + "/";
    running_gateway gateway{verified(upstream.url("/rpc"), nowhere)};
    CHECK(call(gateway.port(), "open", bearer("token-of-alice")).status == 503);
    CHECK(call(gateway.port(), "open", nobody).status == 200);
    CHECK(call(gateway.port(), "open", reader).status == 200);
}

TEST_SUITE_END();

TEST_CASE("calls with one token that come at once share one question, and none is taken for a guess")
{
    test_support::scripted_agent upstream{answer_of_agent};
    test_support::gate held;
    const std::string answer{
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
        std::to_string(std::string_view{alice}.size()) + "\r\n\r\n" + alice
    };
    test_support::scripted_agent verifier{[&](const auto&) { return test_support::raw({answer}, held); }};
    auto settings = verified(upstream.url("/rpc"), verifier.url("/v"));
    std::get<core::http_verifier_provider>(settings.access.providers[1].type).timeout = 30s;
    running_gateway gateway{settings};
    std::list<test_support::http_client> callers;
    // More than one address may ask about at a time.
    for (unsigned i = 0; i < 2 * access::failure_limit::questions; ++i) {
        callers.emplace_back(gateway.port())
            .send(
                "POST /agents/a HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer token-of-alice\r\n"
                "Content-Type: application/json\r\nContent-Length: 60\r\n\r\n"
                R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{}})"
            );
    }
    REQUIRE(gateway.wait_for_metric("cardea_connections_open", static_cast<double>(callers.size())));
    held.release(callers.size());
    for (auto& each : callers) {
        CHECK(each.read_response().status == 200);
    }
    CHECK(verifier.request_count() == 1);
}

namespace {

// A verifier that answers each question when the gate lets it.
struct slow_verifier {
    explicit slow_verifier(std::string answer = alice)
        : server{[this, text = std::move(answer)](const auto&) {
              return test_support::then({test_support::pass_gate{gate.shared()}}, test_support::answer_json(text));
          }}
    {
    }

    config::settings settings() const
    {
        auto out = verified(upstream.url("/rpc"), server.url("/v"));
        std::get<core::http_verifier_provider>(out.access.providers[1].type).timeout = 30s;
        return out;
    }

    test_support::gate gate;
    test_support::scripted_agent upstream{answer_of_agent};
    test_support::scripted_agent server;
};

const auto alice_in_haste = with_deadline(bearer("token-of-alice"), 200ms);

}  // namespace

TEST_CASE("a caller's deadline ends its own wait for the verifier, and the question goes on for those who wait longer")
{
    slow_verifier with;
    running_gateway gateway{with.settings()};
    std::unique_ptr<test_support::http_client> hasty;
    std::unique_ptr<test_support::http_client> patient;
    SUBCASE("the caller who asked first gives up")
    {
        hasty = begin_call(gateway.port(), "a", alice_in_haste);
        REQUIRE(with.server.wait_for_requests(1));
        patient = begin_call(gateway.port(), "a", bearer("token-of-alice"));
    }
    SUBCASE("a caller who shares the question gives up")
    {
        patient = begin_call(gateway.port(), "a", bearer("token-of-alice"));
        REQUIRE(with.server.wait_for_requests(1));
        hasty = begin_call(gateway.port(), "a", alice_in_haste);
    }
    check_deadline(gateway, *hasty);
    CHECK(gateway.wait_for_metric(R"(cardea_access_total{provider="none",outcome="unavailable"})", 1));
    hasty.reset();
    CHECK(gateway.wait_for_metric("cardea_connections_open", 1));
    with.gate.release();
    CHECK(patient->read_response().status == 200);
    CHECK(call(gateway.port(), "a", alice_in_haste).status == 200);
    CHECK(with.server.request_count() == 1);
    CHECK(with.upstream.request_count() == 2);
}

TEST_CASE("a verifier that answers after every caller has given up answers for the next one")
{
    slow_verifier with;
    running_gateway gateway{with.settings()};
    const std::string card =
        "GET /agents/a/.well-known/agent-card.json HTTP/1.1\r\nHost: localhost\r\n"
        "Authorization: Bearer token-of-alice\r\nX-Request-Timeout-Ms: 200\r\n\r\n";
    auto hasty = std::make_unique<test_support::http_client>(gateway.port());
    hasty->send(card);
    check_deadline(gateway, *hasty);
    SUBCASE("the same connection is good for the next request") {}
    SUBCASE("the connection has ended")
    {
        hasty->reset();
        CHECK(gateway.wait_for_metric("cardea_connections_open", 0));
        hasty = std::make_unique<test_support::http_client>(gateway.port());
    }
    with.gate.release();
    CHECK(becomes_true([&] { return call(gateway.port(), "a", alice_in_haste).status == 200; }));
    hasty->send(card);
    CHECK(hasty->read_response().status == 200);
    CHECK(with.server.request_count() == 1);
}

TEST_CASE("a refused credential counts as a failure of its address although its caller has given up")
{
    slow_verifier with{R"({"active":false})"};
    auto settings = with.settings();
    settings.limits.failed_credentials = 1;
    running_gateway gateway{settings};
    const auto counts = [&] {
        const auto before = with.server.request_count();
        auto hasty = begin_call(gateway.port(), "a", with_deadline(bearer("guess"), 1ms));
        check_deadline(gateway, *hasty);
        const auto asked = with.server.wait_for_requests(before + 1);
        with.gate.release();
        // A second may begin in between.
        return asked && becomes_true([&] {
                   auto next = begin_call(gateway.port(), "a", with_deadline(bearer("another guess"), 1ms));
                   const auto status = next->read_response().status;
                   with.gate.release();
                   return status == 429;
               });
    };
    CHECK(counts());
}

TEST_CASE(
    "a credential that is refused after its caller's deadline is denied once more, in the metrics and in the audit"
)
{
    constexpr std::string_view unavailable = R"(cardea_denied_total{reason="unavailable"})";
    constexpr std::string_view refused = R"(cardea_denied_total{reason="refused"})";
    slow_verifier with{R"({"active":false})"};
    const test_support::scratch_directory scratch;
    auto settings = with.settings();
    settings.audit = "file:" + scratch.file("audit");
    {
        running_gateway gateway{settings};
        std::unique_ptr<test_support::http_client> hasty;
        std::unique_ptr<test_support::http_client> patient;
        double expected = 1;
        SUBCASE("nobody else has it")
        {
            hasty = begin_call(gateway.port(), "a", with_deadline(bearer("guess"), 200ms));
        }
        SUBCASE("the caller who asked first has given up")
        {
            hasty = begin_call(gateway.port(), "a", with_deadline(bearer("guess"), 200ms));
            REQUIRE(with.server.wait_for_requests(1));
            patient = begin_call(gateway.port(), "a", bearer("guess"));
            expected = 2;
        }
        SUBCASE("a caller who shares the question has given up")
        {
            patient = begin_call(gateway.port(), "a", bearer("guess"));
            REQUIRE(with.server.wait_for_requests(1));
            hasty = begin_call(gateway.port(), "a", with_deadline(bearer("guess"), 200ms));
        }
        check_deadline(gateway, *hasty);
        CHECK(gateway.wait_for_metric(unavailable, 1));
        CHECK_FALSE(gateway.metric(refused).has_value());
        with.gate.release();
        if (patient) {
            CHECK(patient->read_response().status == 401);
        }
        CHECK(gateway.wait_for_metric(refused, expected));
        CHECK(gateway.metric(unavailable) == 1.0);
    }
    const auto audit = test_support::read_whole(scratch.file("audit"));
    CHECK(audit.find(R"("reason":"unavailable")") != std::string::npos);
    const auto line = audit.find(R"("reason":"refused")");
    REQUIRE(line != std::string::npos);
    CHECK(audit.find(R"("address":"127.0.0.1")", line) != std::string::npos);
}

TEST_CASE("a token that was accepted lately is good while the verifier hangs, and one that is new is not")
{
    slow_verifier with;
    auto settings = with.settings();
    auto& check = std::get<core::http_verifier_provider>(settings.access.providers[1].type);
    check.cache = 2s;
    check.timeout = 1s;
    running_gateway gateway{settings};
    with.gate.release();
    CHECK(call(gateway.port(), "a", bearer("token-of-alice")).status == 200);
    const auto until = std::chrono::steady_clock::now() + 2s;
    const auto is_asked_again = [&] { return with.server.request_count() > 1; };
    while (!is_asked_again() && std::chrono::steady_clock::now() < until + 1s) {
        CHECK(call(gateway.port(), "a", bearer("token-of-alice")).status == 200);
        std::this_thread::sleep_for(10ms);
    }
    CHECK(is_asked_again());
    const auto begun = std::chrono::steady_clock::now();
    CHECK(call(gateway.port(), "a", bearer("token-of-alice")).status == 200);
    CHECK(std::chrono::steady_clock::now() - begun < 900ms);
    CHECK(call(gateway.port(), "a", bearer("token-of-bob")).status == 503);
}

TEST_CASE("a token that is withdrawn is refused as soon as the verifier says so")
{
    slow_verifier with;
    auto settings = with.settings();
    std::get<core::http_verifier_provider>(settings.access.providers[1].type).cache = 1s;
    running_gateway gateway{settings};
    with.gate.release();
    CHECK(call(gateway.port(), "a", bearer("token-of-alice")).status == 200);
    with.server.otherwise([](const auto&) { return test_support::answer_json(R"({"active":false})"); });
    const auto until = std::chrono::steady_clock::now() + 3s;
    unsigned last = 200;
    while (last == 200 && std::chrono::steady_clock::now() < until) {
        last = call(gateway.port(), "a", bearer("token-of-alice")).status;
        std::this_thread::sleep_for(10ms);
    }
    CHECK(last == 401);
    CHECK(with.server.request_count() == 2);
}

TEST_CASE("a gateway with questions that nobody waits for ends in order")
{
    slow_verifier with;
    running_gateway gateway{with.settings()};
    auto hasty = begin_call(gateway.port(), "a", alice_in_haste);
    check_deadline(gateway, *hasty);
    gateway.stop();
    CHECK(gateway.wait_until_stopped());
}
