#include "gateway/tokens/token_exchanger.hpp"

#include "tests/unit/gateway/tokens/token_rig.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/token_exchanger");

namespace {

using namespace tokens_test;
using gateway::tokens::token_exchanger;
using answer_place = std::shared_ptr<std::optional<token_exchanger::answer>>;

constexpr const char* jwt = "urn:ietf:params:oauth:token-type:jwt";

struct rig : token_rig {
    rig() { grant("one", 1000); }

    void grant(const std::string& token, int seconds)
    {
        server.answer = net::fetch_response{
            .status = 200,
            .headers = {},
            .body = R"({"access_token":")" + token +
                    R"(","issued_token_type":"urn:ietf:params:oauth:token-type:access_token","token_type":"Bearer",)" +
                    R"("expires_in":)" + std::to_string(seconds) + "}"
        };
    }

    void refuse(unsigned status, const std::string& code)
    {
        server.answer = net::fetch_response{.status = status, .headers = {}, .body = R"({"error":")" + code + R"("})"};
    }

    // Every token is a principal's of its own, unless one is named.
    answer_place begin_for(const std::string& subject, const std::string& refused = {}, std::string principal = {})
    {
        if (principal.empty()) {
            principal = "idp " + subject;
        }
        return begin(exchanger->token(
            {"a", client_named("me"), core::secret{subject}, jwt, core::secret{refused}, std::move(principal)}
        ));
    }

    answer_place begin_of(const std::string& principal, const std::string& subject)
    {
        return begin_for(subject, {}, principal);
    }

    static std::string text(const answer_place& place)
    {
        if (!place->has_value()) {
            return "waits";
        }
        const auto& found = **place;
        return found ? found->text.reveal() : std::string{core::name(found.error().code)};
    }

    std::string ask(const std::string& subject, const std::string& refused = {})
    {
        return text(begin_for(subject, refused));
    }

    std::size_t asked() const { return server.asked.size(); }

    gateway::tokens::token_services services_ = services();
    std::shared_ptr<token_exchanger> exchanger = std::make_shared<token_exchanger>("a", client_named("me"), services_);
};

}  // namespace

TEST_CASE("each caller gets a token of its own, which is asked for once and sent for 80 % of its life")
{
    rig x;
    CHECK(x.ask("alice") == "one");
    x.grant("two", 1000);
    CHECK(x.ask("bob") == "two");
    CHECK(x.ask("alice") == "one");
    CHECK(x.asked() == 2);
    CHECK(x.server.asked[0].body->find("subject_token=alice&") != std::string::npos);
    CHECK(x.server.asked[1].body->find("subject_token=bob&") != std::string::npos);
    const auto kept = x.begin_for("alice");
    CHECK((**kept)->until == x.now + 800s);
    x.now += 800s - 1ms;
    CHECK(x.ask("alice") == "one");
    CHECK(x.asked() == 2);
    x.grant("three", 1000);
    x.now += 1ms;
    CHECK(x.ask("alice") == "three");
    CHECK(x.asked() == 3);
    CHECK(x.exchanger->exchanged() == 3);
    CHECK(x.exchanger->failed() == 0);
    CHECK(x.published.empty());
}

TEST_CASE("all requests of a caller wait for one exchange, and those of another for theirs")
{
    rig x;
    x.server.silent = true;
    const auto first = x.begin_for("alice");
    const auto second = x.begin_for("alice");
    const auto other = x.begin_for("bob");
    CHECK(x.asked() == 2);
    CHECK(x.text(second) == "waits");
    x.server.release();
    x.turn();
    CHECK(x.text(first) == "one");
    CHECK(x.text(second) == "one");
    CHECK(x.text(other) == "one");
}

TEST_CASE("a caller whom the server refuses is forbidden, and the server is asked again after 10 s")
{
    rig x;
    for (const std::string code : {"invalid_grant", "invalid_target", "invalid_request", "access_denied"}) {
        CAPTURE(code);
        x.refuse(400, code);
        const auto before = x.asked();
        CHECK(x.ask(code) == "forbidden");
        x.now += 10s - 1ms;
        CHECK(x.ask(code) == "forbidden");
        CHECK(x.asked() == before + 1);
        x.grant("one", 1000);
        x.now += 1ms;
        CHECK(x.ask(code) == "one");
    }
    CHECK(x.exchanger->failed() == 0);
    CHECK(x.sink.text.empty());
}

TEST_CASE("a server that fails, or does not know the gateway, gives nobody a token and is asked again after 1 s")
{
    rig x;
    const core::result<net::fetch_response> rows[] = {
        net::fetch_response{.status = 500, .headers = {}, .body = R"({"error":"invalid_grant"})"},
        net::fetch_response{.status = 401, .headers = {}, .body = R"({"error":"invalid_client"})"},
        net::fetch_response{.status = 400, .headers = {}, .body = "planted"},
        core::upstream_error(core::errc::upstream_refused, "connection refused"),
    };
    std::uint64_t failures = 0;
    for (const auto& row : rows) {
        x.server.answer = row;
        const auto before = x.asked();
        CHECK(x.ask("alice") == "upstream_credentials");
        x.now += 1s - 1ms;
        CHECK(x.ask("alice") == "upstream_credentials");
        CHECK(x.asked() == before + 1);
        CHECK(x.exchanger->failed() == ++failures);
        x.now += 1ms;
    }
    x.grant("one", 1000);
    CHECK(x.ask("alice") == "one");
    CHECK(x.sink.text.find("agent_token_failed") == x.sink.text.rfind("agent_token_failed"));
    CHECK(x.sink.text.find("agent_token_recovered") != std::string::npos);
    CHECK(x.sink.text.find("planted") == std::string::npos);
    CHECK(x.sink.text.find("alice") == std::string::npos);
}

TEST_CASE("a token that the agent refused is replaced, for its caller alone and at most once in 10 s")
{
    rig x;
    CHECK(x.ask("alice") == "one");
    CHECK(x.ask("bob") == "one");
    x.grant("two", 1000);
    CHECK(x.ask("alice", "one") == "two");
    CHECK(x.ask("alice", "one") == "two");
    CHECK(x.ask("bob") == "one");
    CHECK(x.asked() == 3);
    x.grant("three", 1000);
    x.now += 10s - 1ms;
    CHECK(x.ask("alice", "two") == "upstream_credentials");
    CHECK(x.asked() == 3);
    x.now += 1ms;
    CHECK(x.ask("alice", "two") == "three");
    CHECK(x.asked() == 4);
    x.now += 10s;
    CHECK(x.ask("alice", "three") == "upstream_credentials");
    CHECK(x.asked() == 5);
}

TEST_CASE("no more than 1024 answers are kept: the one goes that ends first")
{
    rig x;
    x.grant("short", 100);
    CHECK(x.ask("first") == "short");
    x.grant("long", 1000);
    for (std::size_t i = 1; i < token_exchanger::most_kept; ++i) {
        x.ask("caller-" + std::to_string(i));
    }
    CHECK(x.asked() == 1024);
    CHECK(x.ask("first") == "short");
    CHECK(x.asked() == 1024);
    CHECK(x.ask("one-more") == "long");
    CHECK(x.ask("caller-1") == "long");
    CHECK(x.asked() == 1025);
    CHECK(x.ask("first") == "long");
    CHECK(x.asked() == 1026);
}

TEST_CASE("no more than 64 exchanges are under way, and no more than 256 requests wait for them")
{
    rig x;
    x.server.silent = true;
    std::vector<answer_place> waiting;
    for (std::size_t i = 0; i < token_exchanger::most_exchanges; ++i) {
        waiting.push_back(x.begin_for("caller-" + std::to_string(i)));
    }
    CHECK(x.text(waiting.back()) == "waits");
    CHECK(x.ask("one-more") == "overloaded");
    while (waiting.size() < token_exchanger::most_waiting) {
        waiting.push_back(x.begin_for(waiting.size() % 2 == 0 ? "caller-1" : "caller-2"));
    }
    CHECK(x.text(waiting.back()) == "waits");
    CHECK(x.ask("caller-1") == "overloaded");
    CHECK(x.ask("caller-3") == "overloaded");
    CHECK(x.asked() == 64);
    x.server.release();
    x.turn();
    for (const auto& each : waiting) {
        CHECK(x.text(each) == "one");
    }
    CHECK(x.ask("one-more") == "one");
}

TEST_CASE("one principal has at most 32 exchanges under way, and another one finds a place")
{
    rig x;
    x.server.silent = true;
    std::vector<answer_place> waiting;
    for (std::size_t i = 0; i < 32; ++i) {
        waiting.push_back(x.begin_of("idp mallory", "token-" + std::to_string(i)));
        CHECK(x.text(waiting.back()) == "waits");
    }
    CHECK(x.text(x.begin_of("idp mallory", "one-more")) == "overloaded");
    waiting.push_back(x.begin_of("idp mallory", "token-1"));
    CHECK(x.text(waiting.back()) == "waits");
    waiting.push_back(x.begin_of("other mallory", "of-another-provider"));
    waiting.push_back(x.begin_of("idp alice", "alice"));
    CHECK(x.text(waiting.back()) == "waits");
    CHECK(x.asked() == 34);
    x.server.release();
    x.turn();
    for (const auto& each : waiting) {
        CHECK(x.text(each) == "one");
    }
    CHECK(x.text(x.begin_of("idp mallory", "one-more")) == "one");
}

TEST_CASE("at most 128 requests of one principal wait, and one of another finds a place")
{
    rig x;
    x.server.silent = true;
    std::vector<answer_place> waiting;
    for (std::size_t i = 0; i < 128; ++i) {
        waiting.push_back(x.begin_of("idp mallory", "token-" + std::to_string(i % 8)));
        CHECK(x.text(waiting.back()) == "waits");
    }
    CHECK(x.text(x.begin_of("idp mallory", "token-1")) == "overloaded");
    CHECK(x.text(x.begin_of("idp mallory", "one-more")) == "overloaded");
    const auto other = x.begin_of("idp alice", "alice");
    CHECK(x.text(other) == "waits");
    x.server.release();
    x.turn();
    CHECK(x.text(other) == "one");
    CHECK(x.text(x.begin_of("idp mallory", "one-more")) == "one");
}

TEST_CASE("at most 512 answers of one principal are kept, and those of others stay")
{
    rig x;
    x.grant("short", 100);
    CHECK(x.ask("alice") == "short");
    CHECK(x.text(x.begin_of("idp mallory", "first")) == "short");
    x.grant("long", 1000);
    for (std::size_t i = 1; i < 512; ++i) {
        x.begin_of("idp mallory", "token-" + std::to_string(i));
    }
    CHECK(x.asked() == 513);
    CHECK(x.text(x.begin_of("idp mallory", "first")) == "short");
    CHECK(x.asked() == 513);
    CHECK(x.text(x.begin_of("idp mallory", "one-more")) == "long");
    CHECK(x.asked() == 514);
    CHECK(x.ask("alice") == "short");
    CHECK(x.asked() == 514);
    CHECK(x.text(x.begin_of("idp mallory", "first")) == "long");
    CHECK(x.asked() == 515);
}

TEST_CASE("an exchanger that has stopped asks nobody, and whoever waits goes on")
{
    rig x;
    x.server.silent = true;
    const auto waiting = x.begin_for("alice");
    x.exchanger->stop();
    CHECK(x.ask("bob") == "draining");
    x.server.release();
    x.turn();
    CHECK(x.text(waiting) == "one");
    CHECK(x.asked() == 1);
}

TEST_SUITE_END();
