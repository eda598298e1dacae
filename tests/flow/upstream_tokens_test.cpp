#include "tests/flow/deadline_fixture.hpp"
#include "tests/support/scratch.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("flow/upstream_tokens");

namespace {

using namespace flow;
using core::secret;
using test_support::answer_json;
using test_support::recorded_request;
using test_support::script;
using test_support::scripted_agent;
using namespace std::chrono_literals;

std::string granted(const std::string& token, const std::string& seconds = "3600")
{
    return R"({"access_token":")" + token + R"(","token_type":"Bearer","expires_in":)" + seconds + "}";
}

// Gives planted-token-1, planted-token-2, and so on.
struct oauth_server {
    std::atomic<int> given{0};
    scripted_agent server{[this](const recorded_request&) {
        return answer_json(granted("planted-token-" + std::to_string(++given)));
    }};
};

core::agent with_tokens(const std::string& url, const std::string& token_url)
{
    auto out = agent("words", url, anyone, anyone);
    core::oauth_client client;
    client.token_url = token_url;
    client.client_id = "cardea";
    client.client_secret = secret{"planted-secret"};
    client.scopes = {"words:call"};
    out.credentials = std::move(client);
    out.relay_paths = {"/files/*"};
    return out;
}

config::settings settings_with(core::agent agent)
{
    auto settings = quick_settings();
    settings.log_level = core::log_level::debug;
    settings.agents = {std::move(agent)};
    return settings;
}

// An agent that takes no token but this one.
test_support::handler takes_only(const std::string& token)
{
    return [token](const recorded_request& asked) {
        return asked.header("Authorization") == "Bearer " + token ? answer_of_agent(asked)
                                                                  : test_support::answer(401, "no");
    };
}

std::string upstream_errors(std::string_view reason)
{
    return R"(cardea_upstream_errors_total{agent="words",reason=")" + std::string{reason} + R"("})";
}

constexpr std::string_view refreshes = R"(cardea_agent_token_refreshes_total{agent="words",outcome="ok"})";
constexpr std::string_view failures = R"(cardea_agent_token_refreshes_total{agent="words",outcome="failed"})";

}  // namespace

TEST_CASE("an agent gets a token of its OAuth server with calls, relayed paths and card fetches, all the same one")
{
    oauth_server tokens;
    scripted_agent recorder{answer_of_agent};
    auto agent = with_tokens(recorder.url("/rpc"), tokens.server.url("/token"));
    agent.card.clear();
    running_gateway gateway{settings_with(std::move(agent))};
    CHECK(get_card(gateway, "words").status == 200);
    CHECK(call(gateway.port(), "words", bearer("of-caller")).status == 200);
    CHECK(request(gateway.port(), "GET", "/agents/words/files/a?x=1", bearer("of-caller")).status == 200);
    for (const auto& each : recorder.requests()) {
        CHECK(each.count("Authorization") == 1);
        CHECK(each.header("Authorization") == "Bearer planted-token-1");
    }
    REQUIRE(tokens.server.request_count() == 1);
    const auto asked = tokens.server.request(0);
    CHECK(asked.method == "POST");
    CHECK(asked.body == "grant_type=client_credentials&scope=words%3Acall");
    CHECK(asked.header("Authorization") == "Basic Y2FyZGVhOnBsYW50ZWQtc2VjcmV0");
    CHECK(gateway.metric(refreshes) == 1.0);
    CHECK(gateway.metric(R"(cardea_agent_token_age_seconds{agent="words"})").has_value());
}

TEST_CASE("calls that come before the first token wait for it, and one request gets it for all of them")
{
    scripted_agent tokens;
    tokens.otherwise([](const recorded_request&) {
        std::this_thread::sleep_for(std::chrono::milliseconds{200});
        return answer_json(granted("t"));
    });
    scripted_agent recorder{answer_of_agent};
    running_gateway gateway{settings_with(with_tokens(recorder.url("/rpc"), tokens.url("/token")))};
    std::vector<std::thread> callers;
    std::atomic<int> good{0};
    for (int i = 0; i < 8; ++i) {
        callers.emplace_back([&] { good += call(gateway.port(), "words", nobody).status == 200 ? 1 : 0; });
    }
    for (auto& each : callers) {
        each.join();
    }
    CHECK(good == 8);
    CHECK(tokens.request_count() == 1);
}

TEST_CASE("a caller's deadline ends its own wait for a token, which the others get when it comes")
{
    test_support::gate gate;
    scripted_agent tokens{[&](const recorded_request&) {
        return test_support::then({test_support::pass_gate{gate.shared()}}, answer_json(granted("t")));
    }};
    scripted_agent recorder{answer_of_agent};
    running_gateway gateway{settings_with(with_tokens(recorder.url("/rpc"), tokens.url("/token")))};
    const auto patient = begin_call(gateway.port(), "words", nobody);
    auto hasty = begin_call(gateway.port(), "words", with_deadline(nobody, 200ms));
    auto leaves = begin_call(gateway.port(), "words", with_deadline(nobody, 200ms));
    check_deadline(gateway, *hasty);
    CHECK(leaves->read_response().status == 504);
    leaves.reset();
    CHECK(gateway.wait_for_metric("cardea_connections_open", 2));
    CHECK(recorder.request_count() == 0);
    gate.release();
    CHECK(patient->read_response().status == 200);
    CHECK(call(gateway.port(), "words", with_deadline(nobody, 200ms)).status == 200);
    CHECK(tokens.request_count() == 1);
    CHECK(recorder.request_count() == 2);
    hasty->send("GET /agents/words/.well-known/agent-card.json HTTP/1.1\r\nHost: localhost\r\n\r\n");
    CHECK(hasty->read_response().status == 200);
}

TEST_CASE("a caller's deadline ends the wait for the token that replaces a refused one")
{
    oauth_server tokens;
    scripted_agent recorder{answer_of_agent};
    running_gateway gateway{settings_with(with_tokens(recorder.url("/rpc"), tokens.server.url("/token")))};
    CHECK(call(gateway.port(), "words", nobody).status == 200);
    test_support::gate gate;
    tokens.server.next(
        test_support::then({test_support::pass_gate{gate.shared()}}, answer_json(granted("planted-token-2")))
    );
    recorder.otherwise(takes_only("planted-token-2"));
    auto hasty = begin_call(gateway.port(), "words", with_deadline(nobody, 200ms));
    check_deadline(gateway, *hasty);
    CHECK(recorder.request_count() == 2);
    gate.release();
    CHECK(becomes_true([&] { return call(gateway.port(), "words", nobody).status == 200; }));
    CHECK(tokens.server.request_count() == 2);
}

TEST_CASE("an OAuth server that is slower than its agent's timeout is named, and the agent is not blamed")
{
    oauth_server tokens;
    scripted_agent recorder{answer_of_agent};
    auto agent = with_tokens(recorder.url("/rpc"), tokens.server.url("/token"));
    agent.timeout = 300ms;
    agent.breaker_failures = 1;
    running_gateway gateway{settings_with(std::move(agent))};
    CHECK(call(gateway.port(), "words", nobody).status == 200);
    test_support::gate gate;
    tokens.server.next(
        test_support::then({test_support::pass_gate{gate.shared()}}, answer_json(granted("planted-token-2")))
    );
    recorder.otherwise(takes_only("planted-token-2"));
    const auto got = call(gateway.port(), "words", nobody);
    CHECK(got.status == 503);
    CHECK(got.header("Cardea-Error") == "upstream_credentials");
    CHECK(gateway.log().wait_for([](std::string_view line) {
        return line.find(R"("detail":"no other token within the agent's timeout")") != line.npos;
    }));
    CHECK(gateway.metric(upstream_errors("upstream_credentials")) == 1.0);
    CHECK_FALSE(gateway.metric(upstream_errors("upstream_timeout")).has_value());
    gate.release();
    CHECK(becomes_true([&] { return call(gateway.port(), "words", nobody).status == 200; }));
    CHECK_FALSE(gateway.metric(R"(cardea_breaker_openings_total{agent="words",endpoint="1"})").has_value());
}

TEST_CASE("the time that an OAuth server takes for another token is not taken from the agent")
{
    constexpr auto timeout = 1500ms;
    oauth_server tokens;
    scripted_agent recorder{answer_of_agent};
    auto agent = with_tokens(recorder.url("/rpc"), tokens.server.url("/token"));
    agent.timeout = timeout;
    agent.breaker_failures = 1;
    running_gateway gateway{settings_with(std::move(agent))};
    CHECK(call(gateway.port(), "words", nobody).status == 200);
    const auto slowly = [&](const auto& answer) {
        std::this_thread::sleep_for(timeout * 2 / 3);
        return answer;
    };
    tokens.server.otherwise([&](const recorded_request&) { return slowly(answer_json(granted("planted-token-2"))); });
    recorder.otherwise([&](const recorded_request& asked) {
        const auto answer = takes_only("planted-token-2")(asked);
        return asked.header("Authorization") == "Bearer planted-token-2" ? slowly(answer) : answer;
    });
    CHECK(call(gateway.port(), "words", nobody).status == 200);
}

TEST_CASE("without a token calls and card fetches fail with a code of their own, and go on when there is one")
{
    scripted_agent tokens;  // 404
    scripted_agent recorder{answer_of_agent};
    auto agent = with_tokens(recorder.url("/rpc"), tokens.url("/token"));
    agent.card.clear();
    running_gateway gateway{settings_with(std::move(agent))};
    const auto refused = call(gateway.port(), "words", nobody);
    CHECK(refused.status == 503);
    CHECK(parsed(refused.body)["error"]["code"] == -31503);
    CHECK(parsed(refused.body)["error"]["data"]["code"] == "upstream_credentials");
    check_refusal(get_card(gateway, "words"), 503, "upstream_credentials", "words");
    CHECK(recorder.request_count() == 0);
    CHECK(*gateway.metric(failures) >= 1.0);
    tokens.otherwise([](const recorded_request&) { return answer_json(granted("t")); });
    CHECK(becomes_true([&] { return call(gateway.port(), "words", nobody).status == 200; }));
    CHECK(gateway.log().wait_for([](std::string_view line) { return line.find("agent_token_recovered") != line.npos; })
    );
}

TEST_CASE("an agent that refuses a token is asked once more with a new one, and its second 401 is passed on")
{
    oauth_server tokens;
    scripted_agent recorder{answer_of_agent};
    running_gateway gateway{settings_with(with_tokens(recorder.url("/rpc"), tokens.server.url("/token")))};
    CHECK(call(gateway.port(), "words", nobody).status == 200);
    recorder.otherwise(takes_only("planted-token-2"));
    CHECK(call(gateway.port(), "words", nobody).status == 200);
    CHECK(request(gateway.port(), "GET", "/agents/words/files/a", nobody).status == 200);
    CHECK(tokens.given == 2);
    REQUIRE(recorder.request_count() == 4);
    CHECK(recorder.request(1).header("Authorization") == "Bearer planted-token-1");
    CHECK(recorder.request(2).header("Authorization") == "Bearer planted-token-2");
    CHECK(recorder.request(1).body == recorder.request(2).body);
    CHECK(recorder.request(1).target == recorder.request(2).target);
    CHECK(recorder.request(3).header("Authorization") == "Bearer planted-token-2");
    recorder.otherwise(takes_only("planted-token-3"));
    const auto refused = call(gateway.port(), "words", nobody);
    CHECK(refused.status == 401);
    CHECK(refused.body == "no");
    CHECK(tokens.given == 2);
    CHECK(recorder.request_count() == 5);
}

TEST_CASE("a relayed path that refuses a token is asked once more too, but not if its body has passed in pieces")
{
    oauth_server tokens;
    scripted_agent recorder{answer_of_agent};
    running_gateway gateway{settings_with(with_tokens(recorder.url("/rpc"), tokens.server.url("/token")))};
    CHECK(call(gateway.port(), "words", nobody).status == 200);
    recorder.otherwise(takes_only("planted-token-2"));
    const auto upload = [&](std::size_t bytes) {
        return request(gateway.port(), "PUT", "/agents/words/files/a?x=1", nobody, std::string(bytes, 'x')).status;
    };
    CHECK(upload(128 * 1024) == 401);
    CHECK(tokens.given == 1);
    CHECK(upload(1024) == 200);
    CHECK(tokens.given == 2);
    CHECK(recorder.request(recorder.request_count() - 1).target == "/rpc/files/a?x=1");
}

TEST_CASE("neither the secret of a client nor a token is in a log line, a metric or an answer of the management API")
{
    oauth_server tokens;
    scripted_agent recorder{answer_of_agent};
    running_gateway gateway{settings_with(with_tokens(recorder.url("/rpc"), tokens.server.url("/token")))};
    CHECK(call(gateway.port(), "words", nobody).status == 200);
    tokens.server.otherwise([](const recorded_request&) {
        return test_support::answer(400, R"({"error":"planted-secret","error_description":"planted-token-1"})");
    });
    recorder.otherwise([](const recorded_request&) { return test_support::answer(401, "no"); });
    CHECK(call(gateway.port(), "words", nobody).status == 401);
    CHECK(gateway.log().wait_for([](std::string_view line) { return line.find("agent_token_failed") != line.npos; }));
    auto seen = manage(gateway, "agents/get", {{"id", "words"}}).dump();
    CHECK(seen.find(core::masked) != std::string::npos);
    seen += request(gateway.admin_port(), "GET", "/metrics").body;
    CHECK(seen.find("planted") == std::string::npos);
    gateway.stop();
    CHECK(gateway.wait_until_stopped());
    for (const auto& line : gateway.log().all()) {
        CHECK(line.find("planted") == std::string::npos);
        CHECK(line.find("cGxhbnRlZC1zZWNyZXQ") == std::string::npos);
    }
}

TEST_CASE("a token that an agent repeats in its card is in no log line and no line of the audit")
{
    oauth_server tokens;
    scripted_agent repeating{[](const recorded_request& asked) {
        auto card = core::json::parse(words_card);
        card["name"] = "I got " + asked.header("Authorization");
        card["version"] = asked.header("Authorization");
        return answer_json(card.dump());
    }};
    auto agent = with_tokens(repeating.url("/rpc"), tokens.server.url("/token"));
    agent.card.clear();
    const test_support::scratch_directory directory;
    auto settings = settings_with(std::move(agent));
    settings.audit = "file:" + directory.file("audit.ndjson");
    running_gateway gateway{settings};
    CHECK(get_card(gateway, "words").status == 200);
    const auto published =
        gateway.log().wait_for([](std::string_view line) { return line.find("\"card_published\"") != line.npos; });
    REQUIRE(published);
    CHECK(published->find("I got Bearer ********") != std::string::npos);
    gateway.stop();
    CHECK(gateway.wait_until_stopped());
    auto written = test_support::read_whole(directory.file("audit.ndjson"));
    CHECK(written.find("agent_card_published") != std::string::npos);
    for (const auto& line : gateway.log().all()) {
        written += line;
    }
    CHECK(written.find("planted") == std::string::npos);
}

TEST_SUITE_END();
