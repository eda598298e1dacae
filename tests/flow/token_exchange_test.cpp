#include "tests/flow/deadline_fixture.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

TEST_SUITE_BEGIN("flow/token_exchange");

namespace {

using namespace flow;
using namespace std::chrono_literals;
using core::secret;
using test_support::answer_json;
using test_support::recorded_request;
using test_support::scripted_agent;

std::string value_in(const std::string& form, const std::string& name)
{
    const auto begin = ("&" + form).find("&" + name + "=");
    if (begin == std::string::npos) {
        return {};
    }
    const auto value = form.substr(begin + name.size() + 1);
    return value.substr(0, value.find('&'));
}

// An OAuth server that exchanges tokens (RFC 8693), and gives its client tokens of its own.
struct exchange_server {
    test_support::script answer(const recorded_request& asked)
    {
        const auto number = std::to_string(++asked_);
        const auto subject = value_in(asked.body, "subject_token");
        if (subject.empty()) {
            return answer_json(R"({"access_token":"planted-own","token_type":"Bearer","expires_in":3600})");
        }
        const std::lock_guard lock{mutex_};
        if (refused_.contains(subject)) {
            return test_support::answer(400, R"({"error":"invalid_grant"})");
        }
        return answer_json(
            R"({"access_token":"planted-for-)" + subject + "-" + number +
            R"(","issued_token_type":"urn:ietf:params:oauth:token-type:access_token","token_type":"Bearer",)" +
            R"("expires_in":)" + seconds_ + "}"
        );
    }

    void refuse(const std::string& subject)
    {
        const std::lock_guard lock{mutex_};
        refused_.insert(subject);
    }

    void live(const std::string& seconds)
    {
        const std::lock_guard lock{mutex_};
        seconds_ = seconds;
    }

    std::vector<std::string> exchanges() const
    {
        std::vector<std::string> forms;
        for (const auto& each : server.requests()) {
            if (each.body.find("token-exchange") != std::string::npos) {
                forms.push_back(each.body);
            }
        }
        return forms;
    }

    std::mutex mutex_;
    std::set<std::string> refused_;
    std::string seconds_ = "3600";
    std::atomic<int> asked_{0};
    scripted_agent server{[this](const recorded_request& asked) { return answer(asked); }};
};

// Whose token begins with the name of a principal has that principal, until it is revoked.
struct verifier {
    std::atomic<bool> revoked{false};
    scripted_agent server{[this](const recorded_request& asked) {
        const auto token = core::parse_json(asked.body).value()["token"].get<std::string>();
        const auto name = token.substr(0, token.find('-'));
        const bool known = name == "alice" || name == "bob";
        return answer_json(
            known && !revoked ? R"({"active":true,"principal":")" + name + "\"}" : std::string{R"({"active":false})"}
        );
    }};
};

struct exchanging_gateway {
    explicit exchanging_gateway(bool card_is_fetched = false, std::optional<core::duration> timeout_of_agent = {})
        : fetches_card{card_is_fetched},
          timeout{timeout_of_agent}
    {
    }

    config::settings settings()
    {
        auto out = quick_settings();
        out.log_level = core::log_level::debug;
        out.limits.failed_credentials = 100'000;
        out.access.providers = {
            token("fixed", "fixed-token-0123456789", {}),
            {"keys",
             core::api_key_provider{
                 .keys = {{.sha256 = jose::sha256_hex("key-of-ci"), .expires = {}, .owner = known_as("ci", "keys")}}
             }},
            {"check", core::http_verifier_provider{.url = callers.server.url("/v"), .timeout = 2s, .cache = 100ms}},
        };
        core::oauth_client client;
        client.token_url = tokens.server.url("/token");
        client.client_id = "cardea";
        client.client_secret = secret{"planted-secret"};
        client.scopes = {"words:call"};
        client.audience = "words";
        client.resource = "urn:words";
        client.grant = core::oauth_grant::token_exchange;
        auto& words = out.agents.emplace_back(agent("words", recorder.url("/rpc"), anyone, anyone));
        words.credentials = client;
        words.timeout = timeout;
        words.relay_paths = {"/files/*"};
        words.extended_card = core::extended_card_access::proxy;
        if (fetches_card) {
            words.card.clear();
        }
        auto& other = out.agents.emplace_back(agent("other", recorder.url("/other"), anyone, anyone));
        other.credentials = client;
        return out;
    }

    unsigned status(std::string_view token, std::string_view id = "words")
    {
        return call(gateway.port(), id, bearer(token)).status;
    }

    // What the agent got with its latest request.
    std::string shown() { return recorder.request(recorder.request_count() - 1).header("Authorization"); }

    bool fetches_card;
    std::optional<core::duration> timeout;
    exchange_server tokens;
    verifier callers;
    scripted_agent recorder{answer_of_agent};
    running_gateway gateway{settings()};
};

// An agent that takes all tokens but these.
test_support::handler refusing(const std::set<std::string>& tokens)
{
    return [tokens](const recorded_request& asked) {
        return tokens.contains(asked.header("Authorization")) ? test_support::answer(401, "no")
                                                              : answer_of_agent(asked);
    };
}

}  // namespace

TEST_CASE(
    "an agent gets tokens that stand for each caller, never a caller's own, and one exchange is enough for many calls"
)
{
    exchanging_gateway with;
    for (int i = 0; i < 3; ++i) {
        CHECK(with.status("alice-token") == 200);
        CHECK(with.shown().starts_with("Bearer planted-for-alice-token-"));
        CHECK(with.status("bob-token") == 200);
        CHECK(with.shown().starts_with("Bearer planted-for-bob-token-"));
    }
    const auto forms = with.tokens.exchanges();
    REQUIRE(forms.size() == 2);
    CHECK(value_in(forms[0], "grant_type") == "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange");
    CHECK(value_in(forms[0], "subject_token") == "alice-token");
    CHECK(value_in(forms[0], "subject_token_type") == "urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token");
    CHECK(value_in(forms[0], "requested_token_type") == "urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token");
    CHECK(value_in(forms[0], "scope") == "words%3Acall");
    CHECK(value_in(forms[0], "audience") == "words");
    CHECK(value_in(forms[0], "resource") == "urn%3Awords");
    CHECK(request(with.gateway.port(), "GET", "/agents/words/files/a?x=1", bearer("alice-token")).status == 200);
    CHECK(with.shown().starts_with("Bearer planted-for-alice-token-"));
    request(with.gateway.port(), "GET", "/agents/words/rest/v1/card", bearer("bob-token"));
    CHECK(with.shown().starts_with("Bearer planted-for-bob-token-"));
    CHECK(with.tokens.exchanges().size() == 2);
    CHECK(with.status("alice-token", "other") == 200);
    CHECK(with.tokens.exchanges().size() == 3);
    for (const auto& each : with.recorder.requests()) {
        CHECK(each.count("Authorization") == 1);
        CHECK(each.header("Authorization").starts_with("Bearer planted-"));
    }
}

TEST_CASE("cards are fetched with a token of the gateway's own, which no call has")
{
    exchanging_gateway with{true};
    CHECK(get_card(with.gateway, "words").status == 200);
    CHECK(with.shown() == "Bearer planted-own");
    CHECK(with.status("alice-token") == 200);
    CHECK(with.shown().starts_with("Bearer planted-for-alice-token-"));
}

TEST_CASE("a caller without a token that others could check is forbidden, and nobody is asked")
{
    exchanging_gateway with;
    for (const auto& headers : {nobody, ci, bearer("fixed-token-0123456789")}) {
        const auto refused = call(with.gateway.port(), "words", headers);
        CHECK(refused.status == 403);
        CHECK(parsed(refused.body)["error"]["data"]["code"] == "forbidden");
        check_refusal(request(with.gateway.port(), "GET", "/agents/words/files/a", headers), 403, "forbidden", "words");
    }
    CHECK(with.tokens.exchanges().empty());
    CHECK(with.recorder.request_count() == 0);
}

TEST_CASE("a caller whom the OAuth server refuses is forbidden, and asked about once in a while; others go on")
{
    exchanging_gateway with;
    with.tokens.refuse("alice-token");
    for (int i = 0; i < 5; ++i) {
        CHECK(with.status("alice-token") == 403);
    }
    CHECK(with.status("bob-token") == 200);
    CHECK(with.tokens.exchanges().size() == 2);
    CHECK(with.recorder.request_count() == 1);
}

TEST_CASE("without its OAuth server an agent gets no call of a caller that it has not seen")
{
    exchanging_gateway with;
    CHECK(with.status("alice-token") == 200);
    with.tokens.server.otherwise([](const recorded_request&) { return test_support::answer(500, "no"); });
    CHECK(with.status("alice-token") == 200);
    const auto refused = call(with.gateway.port(), "words", bearer("bob-token"));
    CHECK(refused.status == 503);
    CHECK(parsed(refused.body)["error"]["data"]["code"] == "upstream_credentials");
    CHECK(with.recorder.request_count() == 2);
}

TEST_CASE("a caller's deadline ends its own wait for an exchange, which is there for its next call")
{
    exchanging_gateway with;
    test_support::gate gate;
    // The client gets tokens of its own too, one for each agent.
    CHECK(with.status("bob-token") == 200);
    REQUIRE(becomes_true([&] { return with.tokens.asked_ == 3; }));
    with.tokens.server.otherwise([&](const recorded_request& asked) {
        return test_support::then({test_support::pass_gate{gate.shared()}}, with.tokens.answer(asked));
    });
    const auto before = with.recorder.request_count();
    auto hasty = begin_call(with.gateway.port(), "words", with_deadline(bearer("alice-token"), 200ms));
    REQUIRE(gate.wait_until_reached());
    const auto patient = begin_call(with.gateway.port(), "words", bearer("alice-token"));
    check_deadline(with.gateway, *hasty);
    hasty.reset();
    CHECK(with.recorder.request_count() == before);
    gate.release();
    CHECK(patient->read_response().status == 200);
    CHECK(
        call(with.gateway.port(), "words", with_deadline(bearer("alice-token"), test_support::patience)).status == 200
    );
    CHECK(with.tokens.exchanges().size() == 2);
}

TEST_CASE(
    "a caller's deadline ends the wait for the exchange that replaces a refused token, and so does the agent's timeout"
)
{
    exchanging_gateway with{/*card_is_fetched=*/false, 1s};
    CHECK(with.status("alice-token") == 200);
    test_support::gate gate;
    with.tokens.server.otherwise([&](const recorded_request& asked) {
        return test_support::then({test_support::pass_gate{gate.shared()}}, with.tokens.answer(asked));
    });
    with.recorder.otherwise(refusing({with.shown()}));
    auto hasty = begin_call(with.gateway.port(), "words", with_deadline(bearer("alice-token"), 200ms));
    check_deadline(with.gateway, *hasty);
    const auto late = call(with.gateway.port(), "words", bearer("alice-token"));
    CHECK(late.status == 503);
    CHECK(late.header("Cardea-Error") == "upstream_credentials");
    gate.release();
    CHECK(becomes_true([&] { return with.status("alice-token") == 200; }));
    CHECK(with.tokens.exchanges().size() == 2);
}

TEST_CASE("a token is not sent beyond its life")
{
    exchanging_gateway with;
    with.tokens.live("1");
    CHECK(with.status("alice-token") == 200);
    const auto first = with.shown();
    CHECK(becomes_true([&] { return with.status("alice-token") == 200 && with.shown() != first; }));
}

TEST_CASE("an agent that refuses a caller's token is asked once more with another one, and its second 401 is passed on")
{
    exchanging_gateway with;
    CHECK(with.status("alice-token") == 200);
    const auto first = with.shown();
    CHECK(with.status("bob-token") == 200);
    const auto of_bob = with.shown();
    with.recorder.otherwise(refusing({first}));
    CHECK(with.status("alice-token") == 200);
    const auto second = with.shown();
    CHECK(second.starts_with("Bearer planted-for-alice-token-"));
    CHECK(second != first);
    REQUIRE(with.recorder.request_count() == 4);
    CHECK(with.recorder.request(2).header("Authorization") == first);
    CHECK(with.recorder.request(2).body == with.recorder.request(3).body);
    CHECK(with.recorder.request(3).count("Authorization") == 1);
    CHECK(with.status("alice-token") == 200);
    CHECK(with.shown() == second);
    CHECK(
        request(with.gateway.port(), "PUT", "/agents/words/files/a?x=1", bearer("alice-token"), "text").status == 200
    );
    CHECK(with.shown() == second);
    CHECK(with.status("bob-token") == 200);
    CHECK(with.shown() == of_bob);
    CHECK(with.tokens.exchanges().size() == 3);
    with.recorder.otherwise(refusing({first, second}));
    const auto count = with.recorder.request_count();
    const auto answer = call(with.gateway.port(), "words", bearer("alice-token"));
    CHECK(answer.status == 401);
    CHECK(answer.body == "no");
    CHECK(with.recorder.request_count() == count + 1);
    CHECK(with.tokens.exchanges().size() == 3);
}

TEST_CASE("a caller whom the OAuth server refuses when its token is renewed gets the 401 of the agent")
{
    exchanging_gateway with;
    CHECK(with.status("alice-token") == 200);
    with.recorder.otherwise([](const recorded_request&) { return test_support::answer(401, "no"); });
    with.tokens.refuse("alice-token");
    const auto answer = call(with.gateway.port(), "words", bearer("alice-token"));
    CHECK(answer.status == 401);
    CHECK(answer.body == "no");
    CHECK(with.recorder.request_count() == 2);
    CHECK(with.tokens.exchanges().size() == 2);
}

TEST_CASE("a caller whose own token is revoked reaches the agent no more, whatever it was exchanged for")
{
    exchanging_gateway with;
    CHECK(with.status("alice-token") == 200);
    with.callers.revoked = true;
    CHECK(becomes_true([&] { return with.status("alice-token") == 401; }));
    const auto before = with.recorder.request_count();
    CHECK(with.status("alice-token") == 401);
    CHECK(with.recorder.request_count() == before);
}

TEST_CASE("callers that come together share one exchange each")
{
    exchanging_gateway with;
    std::vector<std::thread> threads;
    std::atomic<int> good{0};
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&, i] { good += with.status(i % 2 == 0 ? "alice-token" : "bob-token") == 200 ? 1 : 0; });
    }
    for (auto& each : threads) {
        each.join();
    }
    CHECK(good == 8);
    CHECK(with.tokens.exchanges().size() == 2);
}

TEST_CASE("no log line, metric or answer has the caller's token, nor what it was exchanged for")
{
    exchanging_gateway with;
    CHECK(with.status("alice-token") == 200);
    with.recorder.otherwise([](const recorded_request&) { return test_support::answer(401, "no"); });
    CHECK(with.status("alice-token") == 401);
    with.tokens.refuse("bob-token");
    CHECK(with.status("bob-token") == 403);
    auto seen = manage(with.gateway, "agents/get", {{"id", "words"}}).dump();
    CHECK(seen.find("token_exchange") != std::string::npos);
    seen += request(with.gateway.admin_port(), "GET", "/metrics").body;
    with.gateway.stop();
    CHECK(with.gateway.wait_until_stopped());
    for (const auto& line : with.gateway.log().all()) {
        seen += line;
    }
    for (const auto* each : {"planted", "alice-token", "bob-token"}) {
        CHECK(seen.find(each) == std::string::npos);
    }
}

TEST_SUITE_END();
