#include "gateway/tokens/token_source.hpp"

#include "tests/unit/gateway/tokens/token_rig.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <tuple>

TEST_SUITE_BEGIN("gateway/token_source");

namespace {

using namespace tokens_test;
using gateway::tokens::token_source;

struct rig : token_rig {
    // What the plane does.
    void pass(core::duration time)
    {
        now += time;
        source->wake();
        turn();
    }

    std::string ask(const std::string& refused = {}) { return outcome(begin(source->token(core::secret{refused}))); }

    gateway::tokens::token_services services_ = services();
    int ended = 0;
    std::shared_ptr<token_source> source =
        std::make_shared<token_source>("a", client_named("me"), services_, [this] { ++ended; });
};

}  // namespace

TEST_CASE("whoever asks for a token meanwhile waits for one request")
{
    rig x;
    x.server.silent = true;
    x.server.grant("one", 1000);
    const auto first = x.begin(x.source->token({}));
    const auto second = x.begin(x.source->token({}));
    CHECK(x.outcome(first) == "waits");
    x.server.release();
    x.turn();
    CHECK(x.outcome(first) == "one");
    CHECK(x.outcome(second) == "one");
    CHECK(x.ask() == "one");
    CHECK(x.server.asked.size() == 1);
    CHECK(x.published == texts{"a=one"});
    CHECK(x.ended == 1);
}

TEST_CASE("no more than a number of calls wait for one request, and those that wait get its token")
{
    rig x;
    x.server.silent = true;
    x.server.grant("one", 1000);
    const auto first = x.begin(x.source->token({}));
    for (std::size_t i = 2; i < gateway::tokens::most_waiting; ++i) {
        x.begin(x.source->token({}));
    }
    const auto last = x.begin(x.source->token({}));
    const auto over = x.begin(x.source->token({}));
    CHECK(x.outcome(last) == "waits");
    CHECK(x.outcome(over) == "upstream_credentials");
    x.server.release();
    x.turn();
    CHECK(x.outcome(first) == "one");
    CHECK(x.outcome(last) == "one");
    CHECK(x.ask() == "one");
}

TEST_CASE("a token is renewed early, and the next one is published")
{
    rig x;
    x.server.grant("one", 1000);
    x.pass(0s);
    CHECK(x.source->due() == x.now + 800s);
    x.pass(799s);
    CHECK(x.server.asked.size() == 1);
    x.server.grant("two", 1000);
    x.pass(1s);
    CHECK(x.server.asked.size() == 2);
    CHECK(x.published == texts{"a=one", "a=two"});
    CHECK(x.source->facts().renewed == 2);
    CHECK(x.source->facts().age == 0s);
}

TEST_CASE("while its server fails a token is used to its end, and not beyond")
{
    rig x;
    x.server.grant("one", 1000);
    x.pass(0s);
    x.server.answer = net::fetch_response{.status = 503, .headers = {}, .body = {}};
    x.pass(800s);
    CHECK(x.ask() == "one");
    x.pass(199s);
    CHECK(x.ask() == "one");
    CHECK(x.published == texts{"a=one"});
    x.pass(1s);
    CHECK(x.published == texts{"a=one", "a="});
    CHECK(x.ask() == "upstream_credentials");
    CHECK_FALSE(x.source->facts().age.has_value());
    CHECK(x.source->facts().failed > 0);
}

TEST_CASE("after a failure the pause doubles up to a minute, and nobody waits in it")
{
    rig x;
    x.pass(0s);
    for (const auto pause : {1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s}) {
        CAPTURE(pause.count());
        const auto asked = x.server.asked.size();
        CHECK(x.source->due() == x.now + pause);
        x.pass(pause - 1ms);
        CHECK(x.ask() == "upstream_credentials");
        CHECK(x.server.asked.size() == asked);
        x.pass(1ms);
        CHECK(x.server.asked.size() == asked + 1);
    }
    x.server.grant("one", 1000);
    x.pass(60s);
    CHECK(x.ask() == "one");
    x.server.answer = net::fetch_response{.status = 500, .headers = {}, .body = {}};
    x.pass(800s);
    CHECK(x.source->due() == x.now + 1s);
}

TEST_CASE("a line is logged when a server begins to fail and when it no longer does, without a secret")
{
    rig x;
    x.server.answer = core::upstream_error(core::errc::upstream_refused, "connection refused");
    x.pass(0s);
    x.pass(60s);
    x.server.grant("planted-token", 1000);
    x.pass(60s);
    CHECK(x.sink.text.find("agent_token_failed") == x.sink.text.rfind("agent_token_failed"));
    CHECK(x.sink.text.find("upstream_refused: connection refused") != std::string::npos);
    CHECK(x.sink.text.find("agent_token_recovered") != std::string::npos);
    CHECK(x.sink.text.find("planted") == std::string::npos);
}

TEST_CASE("a token that the agent refused is replaced at once, but only one in a while")
{
    rig x;
    x.server.grant("one", 1000);
    x.pass(0s);
    x.server.grant("two", 1000);
    CHECK(x.ask("one") == "two");
    CHECK(x.server.asked.size() == 2);
    // Refused before the new one came: nothing to replace.
    CHECK(x.ask("one") == "two");
    x.server.grant("three", 1000);
    x.now += 10s - 1ms;
    CHECK(x.ask("two") == "upstream_credentials");
    CHECK(x.server.asked.size() == 2);
    x.now += 1ms;
    CHECK(x.ask("two") == "three");
    CHECK(x.server.asked.size() == 3);
    CHECK(x.published == texts{"a=one", "a=two", "a=three"});
}

TEST_CASE("all whose token was refused wait for one request")
{
    rig x;
    x.server.grant("one", 1000);
    x.pass(0s);
    x.server.grant("two", 1000);
    x.server.silent = true;
    const auto first = x.begin(x.source->token(core::secret{"one"}));
    const auto second = x.begin(x.source->token(core::secret{"one"}));
    CHECK(x.outcome(second) == "waits");
    x.server.release();
    x.turn();
    CHECK(x.outcome(first) == "two");
    CHECK(x.outcome(second) == "two");
    CHECK(x.server.asked.size() == 2);
}

TEST_CASE("a server that gives the refused token again, or nothing, gives none")
{
    rig x;
    x.server.grant("one", 1000);
    x.pass(0s);
    CHECK(x.ask("one") == "upstream_credentials");
    CHECK(x.server.asked.size() == 2);
    x.now += 10s;
    x.server.answer = net::fetch_response{.status = 500, .headers = {}, .body = {}};
    CHECK(x.ask("one") == "upstream_credentials");
    CHECK(x.server.asked.size() == 3);
    CHECK(x.ask() == "one");
}

TEST_CASE("tokens with a short life do not make the gateway ask without a pause")
{
    rig x;
    x.server.grant("one", 1);
    x.pass(0s);
    CHECK(x.source->due() == x.now + 1s);
    x.pass(1s);
    CHECK(x.published == texts{"a=one", "a="});
    CHECK(x.ask() == "upstream_credentials");
    CHECK(x.server.asked.size() == 1);
    x.server.grant("two", 1);
    x.pass(4s);
    CHECK(x.server.asked.size() == 2);
    CHECK(x.ask() == "two");
}

TEST_CASE("a source that was stopped tells nobody, and whoever waits goes on")
{
    rig x;
    x.server.silent = true;
    x.server.grant("one", 1000);
    const auto asked = x.begin(x.source->token({}));
    x.source->stop();
    CHECK(x.source->due() == core::steady_time::max());
    x.server.release();
    x.turn();
    CHECK(x.outcome(asked) == "one");
    CHECK(x.published.empty());
    CHECK(x.ended == 0);
}

TEST_CASE("a token is renewed up to a tenth of its time earlier, at random, but never sooner than the pause between two"
)
{
    for (const auto& [random, life, due] :
         {std::tuple{0.0, 1000, 800s}, {0.5, 1000, 760s}, {1.0, 1000, 720s}, {1.0, 10, 5s}}) {
        CAPTURE(random);
        rig x;
        x.random = random;
        x.server.grant("one", life);
        x.pass(0s);
        CHECK(x.source->due() == x.now + due);
    }
}

TEST_CASE("whoever waits gets the token also if it cannot be published")
{
    rig x;
    x.publishing_fails = true;
    x.server.silent = true;
    x.server.grant("one", 1000);
    const auto first = x.begin(x.source->token({}));
    const auto second = x.begin(x.source->token({}));
    x.server.release();
    x.turn();
    CHECK(x.outcome(first) == "one");
    CHECK(x.outcome(second) == "one");
    CHECK(x.ended == 1);
    CHECK(x.source->due() == x.now + 800s);
}

TEST_SUITE_END();
