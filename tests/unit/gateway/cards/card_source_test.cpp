// over 600 lines: one search, asked through one scripted network.
#include "gateway/cards/card_source.hpp"

#include "core/url.hpp"
#include "gateway/model/agent_record.hpp"
#include "tests/support/hostile_addresses.hpp"
#include "tests/unit/gateway/cards/rendering.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <doctest/doctest.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/card_source");

namespace {

using gateway::cards::card_locations;
using gateway::cards::card_source;
using gateway::cards::card_validators;
using gateway::cards::fetched_card;
using urls = std::vector<std::string>;

core::agent agent_at(std::string url)
{
    core::agent agent;
    agent.id = "a";
    agent.url = std::move(url);
    return agent;
}

// Answers instead of the network, in order; then 404.
class scripted_fetcher final : public net::fetcher {
public:
    boost::asio::awaitable<core::result<net::fetch_response>, executor_type> fetch(net::fetch_request request) override
    {
        asked.push_back(std::move(request));
        if (answers.empty()) {
            co_return net::fetch_response{.status = 404, .headers = {}, .body = {}};
        }
        auto next = std::move(answers.front());
        answers.pop_front();
        co_return next;
    }

    std::deque<core::result<net::fetch_response>> answers;
    std::vector<net::fetch_request> asked;
};

// Makes cards where it is asked.
class plain_maker final : public gateway::cards::card_maker {
public:
    net::task<core::result<gateway::cards::served_card>>
    make(std::shared_ptr<const core::agent> agent, gateway::cards::card_document document) override
    {
        found_at = document.url;
        auto card = a2a::parse_card(document.text);
        if (!card) {
            co_return std::move(card).error();
        }
        auto served = gateway::cards::describe(*card, gateway::model::secrets_of(*agent));
        const a2a::public_address at{"http://gateway/agents/a"};
        auto rewritten = a2a::rewrite_card(std::move(*card), at, {.url = agent->url, .card_url = agent->card_url});
        if (!rewritten) {
            co_return std::move(rewritten).error();
        }
        auto rendered = cards_test::render_at_once({std::move(*rewritten), at, core::card_shape::automatic, {}});
        if (!rendered) {
            co_return std::move(rendered).error();
        }
        gateway::cards::add_bytes(
            served,
            std::move(*rendered),
            core::card_shape::automatic,
            gateway::model::secrets_of(*agent)
        );
        co_return served;
    }

    net::task<core::result<gateway::cards::served_card>>
    make_of_lists(std::shared_ptr<const core::agent>, gateway::cards::listed_card) override
    {
        co_return core::gateway_error(core::errc::internal);
    }

    net::task<core::result<std::string>> compare(std::shared_ptr<const core::agent>, gateway::cards::card_pair) override
    {
        co_return core::gateway_error(core::errc::internal);
    }

    net::task<core::result<std::string>> explain(std::shared_ptr<const core::agent>, gateway::cards::shown_card)
        override
    {
        co_return core::gateway_error(core::errc::internal);
    }

    std::string found_at;  // by who asked last
};

net::fetch_response card_response(std::vector<std::pair<std::string, std::string>> headers = {})
{
    return {.status = 200, .headers = std::move(headers), .body = R"({"name":"a"})"};
}

net::fetch_response status(unsigned code)
{
    return {.status = code, .headers = {}, .body = {}};
}

// Another one than the refused.
net::task<core::result<core::secret>> token_of(std::string id, core::secret refused)
{
    co_return core::secret{(refused.empty() ? "token-of-" : "next-token-of-") + id};
}

net::task<> fetch_into(card_source& source, core::agent agent, card_validators last, core::result<fetched_card>& out)
{
    out = co_await source.fetch(std::move(agent), std::move(last));
}

core::result<fetched_card> run(card_source& source, const core::agent& agent, const card_validators& last)
{
    boost::asio::io_context io;
    core::result<fetched_card> out = core::gateway_error(core::errc::internal, "nothing came");
    boost::asio::co_spawn(io.get_executor(), fetch_into(source, agent, last, out), boost::asio::detached);
    io.run();
    return out;
}

core::result<fetched_card>
fetch(scripted_fetcher& network, const core::agent& agent, const card_validators& last = {}, config::settings s = {})
{
    plain_maker maker;
    card_source source{network, maker, s};
    return run(source, agent, last);
}

std::optional<std::string> sent(const net::fetch_request& request, const std::string& name)
{
    for (const auto& [key, value] : request.headers) {
        if (key == name) {
            return value;
        }
    }
    return std::nullopt;
}

urls asked_urls(const scripted_fetcher& network)
{
    urls out;
    for (const auto& each : network.asked) {
        out.push_back(each.url);
    }
    return out;
}

}  // namespace

TEST_CASE("a card of its own URL is looked for there and nowhere else")
{
    auto agent = agent_at("http://agent/rpc");
    agent.card_url = "https://elsewhere/card.json?v=1";
    CHECK(card_locations(agent) == urls{"https://elsewhere/card.json?v=1"});
}

TEST_CASE("a card is looked for below the agent's URL, then at its origin, under both names")
{
    CHECK(
        card_locations(agent_at("http://agent:9000/a/b")) ==
        urls{
            "http://agent:9000/a/b/.well-known/agent-card.json",
            "http://agent:9000/a/b/.well-known/agent.json",
            "http://agent:9000/.well-known/agent-card.json",
            "http://agent:9000/.well-known/agent.json"
        }
    );
    CHECK(card_locations(agent_at("http://agent:9000/a/b/")) == card_locations(agent_at("http://agent:9000/a/b")));
}

TEST_CASE("an agent at its origin is asked at two places only")
{
    for (const auto* url :
         {"http://agent:80", "http://agent:80/", "http://agent", "http://agent/", "http://agent///", "HTTP://Agent"}) {
        CAPTURE(url);
        const auto found = card_locations(agent_at(url));
        REQUIRE(found.size() == 2);
        CHECK(found[0].ends_with("/.well-known/agent-card.json"));
        CHECK(found[1].ends_with("/.well-known/agent.json"));
        CHECK(core::origin_of(found[0]) == "http://agent:80");
    }
    CHECK(
        card_locations(agent_at("https://[::1]:9000")) ==
        urls{"https://[::1]:9000/.well-known/agent-card.json", "https://[::1]:9000/.well-known/agent.json"}
    );
}

TEST_CASE("the query of an agent's URL is no part of where its card is")
{
    CHECK(
        card_locations(agent_at("http://agent:9000/rpc?tenant=1")) == card_locations(agent_at("http://agent:9000/rpc"))
    );
    CHECK(card_locations(agent_at("http://agent:9000?tenant=a/b")) == card_locations(agent_at("http://agent:9000")));
}

TEST_CASE("every location is asked in turn until one has a card, and it is the first one next time")
{
    const auto agent = agent_at("http://agent:9000/rpc");
    const auto all = card_locations(agent);
    for (std::size_t at = 0; at < all.size(); ++at) {
        scripted_fetcher network;
        for (std::size_t i = 0; i < at; ++i) {
            network.answers.emplace_back(status(i % 2 == 0 ? 404 : 500));
        }
        network.answers.emplace_back(card_response());
        const auto first = fetch(network, agent);
        REQUIRE(first.has_value());
        CHECK(asked_urls(network) == urls(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(at) + 1));
        CHECK(first->validators.url == all[at]);

        scripted_fetcher again;
        again.answers.emplace_back(card_response());
        REQUIRE(fetch(again, agent, first->validators).has_value());
        CHECK(asked_urls(again) == urls{all[at]});
    }
}

TEST_CASE("what worked last time and fails now is followed by all the others, in their order")
{
    const auto agent = agent_at("http://agent:9000/rpc");
    const auto all = card_locations(agent);
    scripted_fetcher network;
    const auto outcome = fetch(network, agent, {.url = all[2], .etag = {}, .last_modified = {}});
    REQUIRE(outcome.has_error());
    CHECK(asked_urls(network) == urls{all[2], all[0], all[1], all[3]});
}

TEST_CASE("when no location has a card, the first one's answer is the reason")
{
    scripted_fetcher network;
    network.answers.emplace_back(net::fetch_response{.status = 200, .headers = {}, .body = "<html>"});
    const auto outcome = fetch(network, agent_at("http://agent:9000/rpc"));
    REQUIRE(outcome.has_error());
    CHECK(outcome.error().code == core::errc::card_not_json);
    CHECK(outcome.error().from == core::side::upstream);
    CHECK(network.asked.size() == 4);
}

TEST_CASE("an agent that cannot be reached is not asked again at its other addresses")
{
    using core::errc;
    for (const auto code :
         {errc::upstream_refused,
          errc::upstream_unresolved,
          errc::upstream_tls,
          errc::upstream_timeout,
          errc::upstream_reset,
          errc::upstream_protocol,
          errc::card_too_large,
          errc::caller_gone}) {
        scripted_fetcher network;
        network.answers.emplace_back(core::upstream_error(code));
        const auto outcome = fetch(network, agent_at("http://agent:9000/rpc"));
        REQUIRE(outcome.has_error());
        CHECK(outcome.error().code == code);
        CHECK(network.asked.size() == 1);
    }
}

TEST_CASE("a stopped source asks no further location")
{
    struct stopping_fetcher final : net::fetcher {
        boost::asio::awaitable<core::result<net::fetch_response>, executor_type> fetch(net::fetch_request) override
        {
            ++asked;
            source->stop();
            co_return status(404);
        }
        card_source* source = nullptr;
        int asked = 0;
    } network;
    const config::settings settings;
    plain_maker maker;
    card_source source{network, maker, settings};
    network.source = &source;
    const auto out = run(source, agent_at("http://agent:9000/rpc"), {});
    REQUIRE(out.has_error());
    CHECK(out.error().code == core::errc::draining);
    CHECK(network.asked == 1);
}

TEST_CASE("a fetch is conditional only at the URL its validators belong to")
{
    const auto agent = agent_at("http://agent:9000/rpc");
    const auto all = card_locations(agent);
    scripted_fetcher network;
    CHECK(fetch(network, agent, {.url = all[0], .etag = "\"1\"", .last_modified = "yesterday"}).has_error());
    REQUIRE(network.asked.size() == 4);
    CHECK(sent(network.asked[0], "If-None-Match") == "\"1\"");
    CHECK_FALSE(sent(network.asked[0], "If-Modified-Since"));
    for (std::size_t i = 1; i < 4; ++i) {
        CHECK_FALSE(sent(network.asked[i], "If-None-Match"));
        CHECK_FALSE(sent(network.asked[i], "If-Modified-Since"));
    }

    scripted_fetcher dated;
    CHECK(fetch(dated, agent, {.url = all[0], .etag = {}, .last_modified = "yesterday"}).has_error());
    CHECK(sent(dated.asked[0], "If-Modified-Since") == "yesterday");
    CHECK_FALSE(sent(dated.asked[0], "If-None-Match"));
}

TEST_CASE("A card that must be verified is fetched whole each time: who says that it is unchanged signs nothing")
{
    auto agent = agent_at("http://agent:9000/rpc");
    agent.signatures = core::signature_policy::verify;
    const auto all = card_locations(agent);
    for (const auto& [tag, date] : {std::pair{"\"1\"", ""}, {"", "yesterday"}, {"\"1\"", "yesterday"}}) {
        scripted_fetcher network;
        network.answers.emplace_back(status(304));
        CHECK(fetch(network, agent, {.url = all[0], .etag = tag, .last_modified = date}).has_error());
        REQUIRE_FALSE(network.asked.empty());
        CHECK_FALSE(sent(network.asked[0], "If-None-Match"));
        CHECK_FALSE(sent(network.asked[0], "If-Modified-Since"));
    }
}

TEST_CASE("304 keeps the card and its validators, but only when it was asked for")
{
    const auto agent = agent_at("http://agent:9000");
    const auto all = card_locations(agent);
    scripted_fetcher network;
    network.answers.emplace_back(
        net::fetch_response{.status = 304, .headers = {{"cache-control", "max-age=77"}}, .body = {}}
    );
    const auto kept = fetch(network, agent, {.url = all[0], .etag = "\"1\"", .last_modified = {}});
    REQUIRE(kept.has_value());
    CHECK(kept->not_modified);
    CHECK(kept->validators.etag == "\"1\"");
    CHECK(kept->validators.url == all[0]);
    CHECK(kept->fresh_for == std::chrono::seconds{77});

    scripted_fetcher unasked;
    unasked.answers.emplace_back(status(304));
    const auto refused = fetch(unasked, agent);
    REQUIRE(refused.has_error());
    CHECK(refused.error().code == core::errc::upstream_status);
}

TEST_CASE("validators and freshness come from the answer's fields, several Cache-Control lines being one")
{
    scripted_fetcher network;
    network.answers.emplace_back(card_response(
        {{"etag", "W/\"2\""},
         {"last-modified", "today"},
         {"cache-control", "public"},
         {"cache-control", "max-age=50"},
         {"age", "7"}}
    ));
    const auto found = fetch(network, agent_at("http://agent:9000"));
    REQUIRE(found.has_value());
    CHECK(found->validators.etag == "W/\"2\"");
    CHECK(found->validators.last_modified == "today");
    CHECK(found->fresh_for == std::chrono::seconds{43});
    CHECK(found->document == R"({"name":"a"})");
    CHECK_FALSE(found->not_modified);
}

TEST_CASE("the bearer goes to the agent's own origin only, the card's headers always")
{
    struct row {
        std::string card_url;
        bool own;
    };
    for (const auto& each : std::vector<row>{
             {"", true},
             {"http://agent:9000/other/card.json", true},
             {"http://AGENT:9000/card.json", true},
             {"https://agent:9000/card.json", false},
             {"http://agent:9001/card.json", false},
             {"http://agent/card.json", false},
             {"http://agent.example:9000/card.json", false},
             {"http://127.0.0.1:9000/card.json", false},
         }) {
        auto agent = agent_at("http://agent:9000/rpc");
        agent.card_url = each.card_url;
        agent.bearer = core::secret{"token"};
        agent.card_headers.emplace_back("X-Key", core::secret{"key"});
        scripted_fetcher network;
        network.answers.emplace_back(card_response());
        REQUIRE(fetch(network, agent).has_value());
        REQUIRE(network.asked.size() == 1);
        CAPTURE(each.card_url);
        CHECK(
            sent(network.asked[0], "Authorization") ==
            (each.own ? std::optional<std::string>{"Bearer token"} : std::nullopt)
        );
        CHECK(sent(network.asked[0], "X-Key") == "key");
        CHECK(sent(network.asked[0], "Accept") == "application/json");
    }
}

TEST_CASE("a fetch has the settings' limits and the agent's trust")
{
    config::settings settings;
    settings.cards.max_size = 1234;
    settings.cards.timeout = std::chrono::seconds{2};
    settings.timeouts.connect = std::chrono::seconds{3};
    auto agent = agent_at("https://agent");
    agent.ca_file = "/ca.pem";
    scripted_fetcher network;
    network.answers.emplace_back(card_response());
    REQUIRE(fetch(network, agent, {}, settings).has_value());
    CHECK(network.asked[0].max_size == 1234);
    CHECK(network.asked[0].tls.ca_file == "/ca.pem");
    CHECK(network.asked[0].timeout <= settings.cards.timeout);
    CHECK(network.asked[0].connect_timeout <= settings.cards.timeout);
}

TEST_CASE("redirects within the origin are followed, with the same credentials")
{
    const auto redirect = [](unsigned code, std::string location) {
        return net::fetch_response{.status = code, .headers = {{"location", std::move(location)}}, .body = {}};
    };
    auto agent = agent_at("http://agent:9000/rpc");
    agent.card_url = "http://agent:9000/a/card?v=1";
    agent.bearer = core::secret{"key"};
    for (const unsigned code : {301U, 302U, 303U, 307U, 308U}) {
        scripted_fetcher network;
        network.answers.push_back(redirect(code, "../b/"));
        network.answers.push_back(redirect(code, "http://AGENT:9000/c#part"));
        network.answers.push_back(redirect(code, "//agent:9000/d?x=%20"));
        network.answers.push_back(card_response({{"etag", "\"1\""}}));
        const auto got = fetch(network, agent);
        REQUIRE(got.has_value());
        CHECK(got->validators.url == "http://agent:9000/d?x=%20");
        CHECK(
            asked_urls(network) ==
            urls{agent.card_url, "http://agent:9000/b/", "http://AGENT:9000/c", "http://agent:9000/d?x=%20"}
        );
        CHECK(sent(network.asked.back(), "Authorization") == "Bearer key");
    }
}

TEST_CASE("A card that the agent's own place redirects to was found where it is served")
{
    scripted_fetcher network;
    network.answers.push_back(
        net::fetch_response{.status = 302, .headers = {{"location", "/.well-known/agent-card.json"}}, .body = {}}
    );
    network.answers.push_back(card_response({{"etag", "\"1\""}}));
    plain_maker maker;
    const config::settings settings;
    card_source source{network, maker, settings};
    const auto got = run(source, agent_at("http://agent:9000/agents/a"), {});
    REQUIRE(got.has_value());
    CHECK(maker.found_at == "http://agent:9000/.well-known/agent-card.json");
    CHECK(got->validators.url == maker.found_at);
}

TEST_CASE("a redirect to another origin, a fourth one, and one without a place to go are refused")
{
    const auto redirect = [](std::string location) {
        return net::fetch_response{.status = 302, .headers = {{"location", std::move(location)}}, .body = {}};
    };
    auto agent = agent_at("http://agent:9000/rpc");
    agent.card_url = "http://agent:9000/card";
    for (const auto* elsewhere :
         {"https://agent:9000/card",
          "http://agent/card",
          "http://other:9000/card",
          "//other/card",
          "file:///etc/passwd",
          "http://agent:9000@other/card",
          "",
          "http://[",
          "ht tp://agent:9000/"}) {
        CAPTURE(elsewhere);
        scripted_fetcher network;
        network.answers.push_back(redirect(elsewhere));
        network.answers.push_back(card_response());
        const auto got = fetch(network, agent);
        REQUIRE_FALSE(got.has_value());
        CHECK(got.error().code == core::errc::upstream_status);
        CHECK(network.asked.size() == 1);
    }
    scripted_fetcher network;
    for (int i = 0; i < 4; ++i) {
        network.answers.push_back(redirect("/card"));
    }
    CHECK(fetch(network, agent).error().code == core::errc::upstream_status);
    CHECK(network.asked.size() == 4);
}

TEST_CASE("a redirect of an agent leads the gateway to no address but the agent's own")
{
    for (const auto& hostile : test_support::hostile_addresses()) {
        CAPTURE(hostile.substr(0, 80));
        scripted_fetcher network;
        for (int i = 0; i < 4; ++i) {
            network.answers.push_back(net::fetch_response{.status = 307, .headers = {{"location", hostile}}, .body = {}}
            );
        }
        CHECK_FALSE(fetch(network, agent_at("https://agent.example/a2a")).has_value());
        CHECK_FALSE(network.asked.empty());
        for (const auto& each : network.asked) {
            const bool at_home =
                each.url.starts_with("https://agent.example/") || each.url.starts_with("https://agent.example:443/");
            CHECK(at_home);
        }
    }
}

TEST_CASE(
    "each kind of credentials goes to the agent's own origin only, and a key in the query with redirects there too"
)
{
    auto agent = agent_at("http://agent:9000/rpc");
    agent.card_url = "http://agent:9000/card?v=1";
    agent.credentials = core::key_credential{core::credential_place::query, "key", core::secret{"k"}};
    agent.headers = {{"X-Team", core::secret{"words"}}};
    scripted_fetcher network;
    network.answers.push_back(net::fetch_response{.status = 302, .headers = {{"location", "/other"}}, .body = {}});
    network.answers.push_back(card_response());
    const auto got = fetch(network, agent);
    REQUIRE(got.has_value());
    CHECK(got->validators.url == "http://agent:9000/other");
    REQUIRE(network.asked.size() == 2);
    for (const auto& each : network.asked) {
        CHECK(each.url.find("key=") == std::string::npos);
        CHECK(each.query == "key=k");
        CHECK(sent(each, "X-Team") == "words");
    }
    agent.card_url = "http://elsewhere/card";
    scripted_fetcher elsewhere;
    CHECK_FALSE(fetch(elsewhere, agent).has_value());
    REQUIRE(elsewhere.asked.size() == 1);
    CHECK(elsewhere.asked[0].query.empty());
    CHECK_FALSE(sent(elsewhere.asked[0], "X-Team").has_value());
}

TEST_CASE("a card of an agent with an OAuth server is fetched with its token, and not without one")
{
    auto agent = agent_at("http://agent:9000/rpc");
    agent.credentials = core::oauth_client{"https://as/token", "me", core::secret{"s"}, {}, {}, {}};
    plain_maker maker;
    const config::settings settings;
    scripted_fetcher network;
    card_source source{network, maker, settings};
    CHECK(run(source, agent, {}).error().code == core::errc::upstream_credentials);
    CHECK(network.asked.empty());
    source.set_tokens(token_of);
    network.answers.push_back(card_response());
    CHECK(run(source, agent, {}).has_value());
    CHECK(sent(network.asked.back(), "Authorization") == "Bearer token-of-a");
    agent.card_url = "http://elsewhere/card";
    network.answers.push_back(card_response());
    CHECK(run(source, agent, {}).has_value());
    CHECK_FALSE(sent(network.asked.back(), "Authorization").has_value());
}

TEST_CASE("an agent that refuses its token is asked for the card once more with another one")
{
    auto agent = agent_at("http://agent:9000/rpc");
    agent.card_url = "http://agent:9000/card";
    agent.credentials = core::oauth_client{"https://as/token", "me", core::secret{"s"}, {}, {}, {}};
    plain_maker maker;
    const config::settings settings;
    scripted_fetcher network;
    card_source source{network, maker, settings};
    source.set_tokens(token_of);
    network.answers.push_back(status(401));
    network.answers.push_back(card_response());
    CHECK(run(source, agent, {}).has_value());
    REQUIRE(network.asked.size() == 2);
    CHECK(sent(network.asked[0], "Authorization") == "Bearer token-of-a");
    CHECK(sent(network.asked[1], "Authorization") == "Bearer next-token-of-a");
    CHECK(network.asked[1].timeout <= network.asked[0].timeout);
    network.answers.push_back(status(401));
    network.answers.push_back(status(401));
    CHECK(run(source, agent, {}).error().code == core::errc::upstream_status);
    CHECK(network.asked.size() == 4);
    network.answers.push_back(status(403));
    CHECK(run(source, agent, {}).error().code == core::errc::upstream_status);
    CHECK(network.asked.size() == 5);
    agent.credentials = core::secret{"bearer"};
    network.answers.push_back(status(401));
    CHECK(run(source, agent, {}).error().code == core::errc::upstream_status);
    CHECK(network.asked.size() == 6);
}

TEST_CASE("a key in the query that a redirect repeats is not kept with the card's address")
{
    auto agent = agent_at("http://agent:9000/rpc");
    agent.card_url = "http://agent:9000/card";
    agent.credentials = core::key_credential{core::credential_place::query, "k y", core::secret{"planted"}};
    plain_maker maker;
    const config::settings settings;
    scripted_fetcher network;
    card_source source{network, maker, settings};
    network.answers.push_back(net::fetch_response{
        .status = 302,
        .headers = {{"location", "/b?k%20y=planted&v=1&%6B%20y=planted"}},
        .body = {}
    });
    network.answers.push_back(card_response());
    const auto got = run(source, agent, {});
    REQUIRE(got.has_value());
    CHECK(got->validators.url == "http://agent:9000/b?v=1");
    CHECK(maker.found_at == "http://agent:9000/b?v=1");
    CHECK(network.asked[1].url == "http://agent:9000/b?v=1");
    CHECK(network.asked[1].query == "k%20y=planted");
}

TEST_SUITE_END();
