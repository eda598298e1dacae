#include "net/loop/deadlines.hpp"
#include "net/server/timed_ask.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scripted_agent.hpp"
#include "tests/support/test_ca.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

TEST_SUITE_BEGIN("flow/cards/failures");

namespace {

using namespace std::chrono_literals;
using flow::a2a_agent;
using flow::card_target;
using flow::card_text;
using flow::check_refusal;
using flow::get_card;
using flow::quick_settings;
using flow::running_gateway;
using test_support::agent_options;
using test_support::on_accept;
using test_support::script;
using test_support::scripted_agent;

running_gateway gateway_for(const std::string& url, config::settings settings = quick_settings())
{
    settings.agents.push_back(a2a_agent("a", url));
    return running_gateway{std::move(settings)};
}

test_support::handler always(script what)
{
    return [what = std::move(what)](const auto&) { return what; };
}

script raw_answer(std::string text)
{
    return {test_support::bytes{std::move(text)}, test_support::close_now{}};
}

}  // namespace

TEST_CASE("what an agent answers instead of a card is a 502 that names the reason")
{
    struct row {
        const char* what;
        script answer;
        const char* code;
        std::size_t asked;  // how many of its four places
    };
    using namespace test_support;
    const std::vector<row> rows{
        {"404 everywhere", answer(404, "no"), "upstream_status", 4},
        {"401", answer(401, "", {{"WWW-Authenticate", "Bearer"}}), "upstream_status", 4},
        {"403", answer(403, ""), "upstream_status", 4},
        {"500", answer(500, "broken"), "upstream_status", 4},
        {"503", answer(503, "", {{"Retry-After", "1"}}), "upstream_status", 4},
        {"204", answer(204, ""), "upstream_status", 4},
        {"304 unasked", answer(304, ""), "upstream_status", 4},
        {"201 with a card", answer(201, R"({"name":"a"})"), "upstream_status", 4},
        {"HTML", html(), "card_not_json", 4},
        {"not JSON", not_json(), "card_not_json", 4},
        {"an empty body", answer_json(""), "card_not_json", 4},
        {"JSON of too many levels", answer_json(std::string(10000, '[')), "card_not_json", 4},
        {"a JSON array", answer_json(R"([{"name":"a"}])"), "card_invalid", 4},
        {"a JSON string", answer_json(R"("name")"), "card_invalid", 4},
        {"null", answer_json("null"), "card_invalid", 4},
        {"no name", answer_json(R"({"url":"http://x/"})"), "card_invalid", 4},
        {"a name that is a number", answer_json(R"({"name":1})"), "card_invalid", 4},
        {"a blank name", answer_json(R"({"name":" "})"), "card_invalid", 4},
        {"half a head", half_head(), "upstream_reset", 1},
        {"half a body", half_body(), "upstream_reset", 1},
        {"half a chunked body", half_chunked(), "upstream_reset", 1},
        {"nothing, then FIN", close_unanswered(), "upstream_reset", 1},
        {"nothing, then RST", test_support::reset(), "upstream_reset", 1},
        {"garbage", raw_answer("\x01\x02garbage\r\n\r\n"), "upstream_protocol", 1},
        {"another protocol", raw_answer("SSH-2.0-OpenSSH_9.2\r\n"), "upstream_protocol", 1},
    };
    for (const auto& each : rows) {
        CAPTURE(each.what);
        scripted_agent agent{always(each.answer)};
        const auto gateway = gateway_for(agent.url("/rpc"));
        const auto answer = get_card(gateway, "a");
        check_refusal(answer, 502, each.code, "a");
        CHECK(answer.body.find(std::to_string(agent.port())) == std::string::npos);
        CHECK(agent.request_count() == each.asked);
    }
}

TEST_CASE("an agent that cannot be reached is a 502 that says how")
{
    struct row {
        std::string url;
        const char* code;
    };
    scripted_agent closing{agent_options{.accepts = on_accept::close}};
    for (const auto& each : std::vector<row>{
             {"http://127.0.0.1:" + std::to_string(test_support::unused_port()), "upstream_refused"},
             {"http://no-such-agent.invalid", "upstream_unresolved"},
             {closing.url(), "upstream_reset"},
             {"https://127.0.0.1:" + std::to_string(closing.port()), "upstream_tls"},
         }) {
        CAPTURE(each.url);
        const auto gateway = gateway_for(each.url);
        check_refusal(get_card(gateway, "a"), 502, each.code, "a");
    }
}

TEST_CASE("an agent that resets connections as they are made was reset or refused, as the race goes")
{
    scripted_agent resetting{agent_options{.accepts = on_accept::reset}};
    const auto gateway = gateway_for(resetting.url());
    const auto answer = get_card(gateway, "a");
    const auto code = answer.header("Cardea-Error");
    CHECK((code == "upstream_reset" || code == "upstream_refused"));
    check_refusal(answer, 502, code, "a");
}

TEST_CASE("an agent whose certificate cannot be trusted is a 502, one with its own authority is served")
{
    test_support::test_ca trusted;
    test_support::test_ca other;
    struct row {
        const char* what;
        test_support::certificate shown;
        std::string ca_file;
        bool good;
    };
    for (const auto& each : std::vector<row>{
             {"no authority given", trusted.issue({"127.0.0.1"}), "", false},
             {"another authority", other.issue({"127.0.0.1"}), trusted.ca_file(), false},
             {"another name", trusted.issue({"agent.example"}), trusted.ca_file(), false},
             {"expired", trusted.issue_expired({"127.0.0.1"}), trusted.ca_file(), false},
             {"self-signed", trusted.self_signed({"127.0.0.1"}), trusted.ca_file(), false},
             {"good", trusted.issue({"127.0.0.1"}), trusted.ca_file(), true},
         }) {
        CAPTURE(each.what);
        scripted_agent agent{
            always(test_support::answer_json(R"({"name":"Safe"})")),
            {.cert_file = each.shown.cert_file, .key_file = each.shown.key_file}
        };
        auto settings = quick_settings();
        settings.agents.push_back(a2a_agent("a", agent.url()));
        settings.agents.back().ca_file = each.ca_file;
        const running_gateway gateway{std::move(settings)};
        const auto answer = get_card(gateway, "a");
        if (each.good) {
            CHECK(answer.status == 200);
            CHECK(flow::parsed(answer.body)["name"] == "Safe");
        } else {
            check_refusal(answer, 502, "upstream_tls", "a");
            CHECK(agent.request_count() == 0);
        }
    }
}

TEST_CASE("an agent that does not answer within cards.timeout is a 504")
{
    struct row {
        const char* what;
        script answer;
    };
    for (const auto& each : std::vector<row>{
             {"silent", test_support::silence()},
             {"silent after half a head", {test_support::bytes{"HTTP/1.1 200 OK\r\nConte"}, test_support::hold{}}},
             {"silent after half a body",
              {test_support::bytes{"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"}, test_support::hold{}}},
         }) {
        CAPTURE(each.what);
        scripted_agent agent{always(each.answer)};
        auto settings = quick_settings();
        settings.cards.timeout = 200ms;
        const auto gateway = gateway_for(agent.url(), std::move(settings));
        const auto begun = std::chrono::steady_clock::now();
        check_refusal(get_card(gateway, "a"), 504, "upstream_timeout", "a");
        const auto took = std::chrono::steady_clock::now() - begun;
        CHECK(took >= 190ms);
        CHECK(took < 5s);
        CHECK(agent.wait_until_peer_closed());
    }
}

TEST_CASE("a caller's deadline ends its wait for a card, which the others get when it comes")
{
    test_support::gate gate;
    scripted_agent agent{[&](const test_support::recorded_request&) {
        return test_support::then(
            {test_support::pass_gate{gate.shared()}},
            test_support::answer_json(card_text("Slow", "http://127.0.0.1/rpc"))
        );
    }};
    auto settings = quick_settings();
    settings.cards.timeout = 2 * test_support::patience;
    const auto gateway = gateway_for(agent.url("/rpc"), std::move(settings));
    const auto begun = std::chrono::steady_clock::now();
    check_refusal(get_card(gateway, "a", {{"X-Request-Timeout-Ms", "200"}}), 504, "upstream_timeout", "a");
    CHECK(std::chrono::steady_clock::now() - begun < test_support::patience);
    gate.release();
    CHECK(get_card(gateway, "a").status == 200);
    CHECK(agent.request_count() == 1);
}

TEST_CASE("Callers who give up leave no more questions behind than a worker has room for: the next one waits")
{
    test_support::gate gate;
    scripted_agent agent{[&](const test_support::recorded_request&) {
        return test_support::then(
            {test_support::pass_gate{gate.shared()}},
            test_support::answer_json(card_text("Slow", "http://127.0.0.1/rpc"))
        );
    }};
    auto settings = quick_settings();
    settings.workers = 1;
    settings.cards.timeout = 10 * test_support::patience;
    const auto gateway = gateway_for(agent.url("/rpc"), std::move(settings));
    constexpr std::size_t callers = 64;
    static_assert(net::most_unheard % callers == 0);
    const auto hasty = [&] { return get_card(gateway, "a", {{"X-Request-Timeout-Ms", "1"}}).status; };
    std::atomic<std::size_t> late = 0;
    {
        std::vector<std::jthread> all;
        for (std::size_t i = 0; i < callers; ++i) {
            all.emplace_back([&] {
                for (std::size_t call = 0; call < net::most_unheard / callers; ++call) {
                    late += hasty() == 504U ? 1 : 0;
                }
            });
        }
    }
    CHECK(late == net::most_unheard);
    auto next = std::async(std::launch::async, hasty);
    // What is late would answer meanwhile.
    CHECK(next.wait_for(4 * net::sweep_interval) == std::future_status::timeout);
    gate.release();
    CHECK(next.get() == 200);
    // There is room again.
    CHECK(get_card(gateway, "a").status == 200);
    CHECK(agent.request_count() == 1);
}

TEST_CASE("all places of a card together take no longer than cards.timeout")
{
    scripted_agent agent{always(test_support::silence())};
    agent.next(test_support::answer(404, ""));
    auto settings = quick_settings();
    settings.cards.timeout = 200ms;
    const auto gateway = gateway_for(agent.url("/rpc"), std::move(settings));
    check_refusal(get_card(gateway, "a"), 504, "upstream_timeout", "a");
    CHECK(agent.request_count() == 2);
}

TEST_CASE("a card of cards.max_size is served, one byte more is a 502")
{
    const std::string start = R"({"name":"Big","padding":")";
    for (const bool chunked : {false, true}) {
        for (const std::size_t size : {std::size_t{1023}, std::size_t{1024}, std::size_t{1025}}) {
            CAPTURE(size);
            CAPTURE(chunked);
            const auto body = start + std::string(size - start.size() - 2, 'x') + "\"}";
            REQUIRE(body.size() == size);
            auto headers = test_support::field_list{};
            if (chunked) {
                headers.emplace_back("Transfer-Encoding", "chunked");
            }
            scripted_agent agent{always(test_support::answer_json(body, headers))};
            auto settings = quick_settings();
            settings.cards.max_size = 1024;
            const auto gateway = gateway_for(agent.url(), std::move(settings));
            const auto answer = get_card(gateway, "a");
            if (size <= 1024) {
                CHECK(answer.status == 200);
            } else {
                check_refusal(answer, 502, "card_too_large", "a");
            }
        }
    }
}

TEST_CASE("an endless card ends with its limit")
{
    for (const bool chunked : {false, true}) {
        scripted_agent agent{always(test_support::huge(std::uint64_t{64} << 30, chunked))};
        const auto gateway = gateway_for(agent.url());
        check_refusal(get_card(gateway, "a"), 502, "card_too_large", "a");
        CHECK(agent.wait_until_peer_closed());
    }
}

TEST_CASE("a card is a card whatever its content type says")
{
    for (const auto* type :
         {"text/plain", "text/html; charset=utf-8", "application/octet-stream", "application/a2a+json"}) {
        CAPTURE(type);
        scripted_agent agent{always(test_support::answer(200, R"({"name":"Typed"})", {{"Content-Type", type}}))};
        const auto gateway = gateway_for(agent.url());
        const auto answer = get_card(gateway, "a");
        CHECK(answer.status == 200);
        CHECK(answer.header("Content-Type") == "application/json");
        CHECK(flow::parsed(answer.body)["name"] == "Typed");
    }
}

TEST_CASE("a card that comes chunk by chunk, a byte each, is whole")
{
    scripted_agent agent;
    agent.otherwise(always(test_support::chunked_byte_by_byte(card_text("Slow", agent.url()))));
    const auto gateway = gateway_for(agent.url());
    const auto answer = get_card(gateway, "a");
    CHECK(answer.status == 200);
    CHECK(flow::parsed(answer.body)["name"] == "Slow");
}

TEST_CASE("a redirect is an answer without a card, and nobody goes where it points")
{
    for (const unsigned status : {301U, 302U, 303U, 307U, 308U}) {
        CAPTURE(status);
        scripted_agent target{always(test_support::answer_json(R"({"name":"Elsewhere"})"))};
        scripted_agent agent{always(test_support::redirect(target.url("/card.json"), status))};
        const auto gateway = gateway_for(agent.url());
        check_refusal(get_card(gateway, "a"), 502, "upstream_status", "a");
        CHECK(target.accepted_connections() == 0);
    }
}

TEST_CASE("an unknown agent and a disabled one are the same 404, and nobody is asked")
{
    scripted_agent agent{always(test_support::answer_json(R"({"name":"Hidden"})"))};
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("off", agent.url()));
    settings.agents.back().disabled = true;
    const running_gateway gateway{std::move(settings)};
    check_refusal(get_card(gateway, "off"), 404, "agent_not_found", "off");
    check_refusal(get_card(gateway, "unknown"), 404, "agent_not_found", "unknown");
    CHECK(agent.accepted_connections() == 0);
}

TEST_CASE("there is nothing at other paths of an agent, nor at paths that only decoding would make its own")
{
    scripted_agent agent{always(test_support::answer_json(R"({"name":"A"})"))};
    const auto gateway = gateway_for(agent.url());
    for (const auto* target : {
             "/agents/a/other",
             "/agents/a/.well-known/",
             "/agents/a/.well-known/openid-configuration",
             "/agents/%61/.well-known/agent-card.json",
             "/agents//a/.well-known/agent-card.json",
         }) {
        CAPTURE(target);
        check_refusal(test_support::request(gateway.port(), "GET", target), 404, "not_found", "");
    }
    const auto dots = test_support::request(gateway.port(), "GET", "/agents/x/../a/.well-known/agent-card.json");
    check_refusal(dots, 400, "bad_request", "");
    CHECK(agent.accepted_connections() == 0);
}

TEST_CASE("a card takes GET and HEAD only")
{
    scripted_agent agent;
    const auto gateway = gateway_for(agent.url());
    for (const auto* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS"}) {
        CAPTURE(method);
        const auto answer = test_support::request(gateway.port(), method, card_target("a"));
        check_refusal(answer, 405, "method_not_allowed", "");
        CHECK(answer.header("Allow") == "GET, HEAD");
    }
    CHECK(agent.accepted_connections() == 0);
}

TEST_SUITE_END();
