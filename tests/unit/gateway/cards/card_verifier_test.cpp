#include "gateway/cards/card_verifier.hpp"

#include "a2a/card/card_signature.hpp"
#include "gateway/management/agent_factory.hpp"
#include "tests/support/hostile_addresses.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/jose/signing_keys.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/card_verifier");

namespace {

using namespace std::chrono_literals;
using core::errc;
using core::json;
using gateway::cards::good_signature;
using jose::json_web_key;

// Key sets by URL, instead of the network.
class key_servers final : public net::fetcher {
public:
    boost::asio::awaitable<core::result<net::fetch_response>, executor_type> fetch(net::fetch_request request) override
    {
        const auto url = request.url;
        asked.push_back(std::move(request));
        const auto found = sets.find(url);
        if (found == sets.end()) {
            co_return core::upstream_error(errc::upstream_refused, "nobody there");
        }
        co_return net::fetch_response{.status = status, .headers = headers, .body = found->second};
    }

    std::map<std::string, std::string> sets;
    std::vector<std::pair<std::string, std::string>> headers;
    unsigned status = 200;
    std::vector<net::fetch_request> asked;
};

json_web_key new_key(std::string kid)
{
    return json_web_key::from_pem(a2a_test::pem(a2a_test::ec_key("P-256")), std::move(kid)).value();
}

std::string set_of(std::initializer_list<const json_web_key*> keys)
{
    auto all = json::array();
    for (const auto* each : keys) {
        all.push_back(each->jwk());
    }
    return core::to_text(json{{"keys", all}});
}

std::string card_signed_by(const json_web_key& key, const std::string& key_set_url = {})
{
    json card = {{"name", "a"}};
    REQUIRE(a2a::sign_card(card, key, key_set_url).has_value());
    return core::to_text(card);
}

net::task<> verify_into(
    gateway::cards::card_verifier& verifier,
    config::signature_rules rules,
    std::string document,
    core::duration timeout,
    core::result<good_signature>& out
)
{
    auto read = core::parse_json(document);
    REQUIRE(read.has_value());
    gateway::cards::signed_card
        card{"x", std::move(document), std::move(*read), "https://agent/card", {.ca_file = "agent-ca"}};
    out = co_await verifier.verify(std::move(rules), std::move(card), timeout);
}

struct rig {
    core::result<good_signature> verify(const std::string& document, core::duration timeout = 5s)
    {
        core::result<good_signature> out = core::gateway_error(errc::internal, "nothing came");
        auto one = verify_into(verifier, rules, document, timeout, out);
        boost::asio::co_spawn(io.get_executor(), std::move(one), boost::asio::detached);
        io.restart();
        io.run();
        return out;
    }

    std::string why_not(const std::string& document)
    {
        const auto done = verify(document);
        REQUIRE_FALSE(done.has_value());
        CHECK(done.error().code == errc::card_signature);
        CHECK(done.error().from == core::side::upstream);
        return done.error().detail;
    }

    void trust(std::initializer_list<const json_web_key*> keys)
    {
        rules.trusted_keys = files.file("trusted.json");
        test_support::write_whole(rules.trusted_keys, set_of(keys));
    }

    test_support::scratch_directory files;
    core::steady_time now{};
    config::card_settings settings;
    key_servers network;
    boost::asio::io_context io{1};
    gateway::cards::card_turns turns{io.get_executor()};
    gateway::cards::card_verifier verifier{network, turns, settings, [this] { return now; }};
    config::signature_rules rules{.verify = true, .sign = false, .trusted_keys = {}, .key_set_origins = {}};
};

constexpr auto key_set_url = "https://keys.example/agents.json";

}  // namespace

TEST_CASE("a card with a signature of a trusted key is accepted, and is said by which")
{
    rig x;
    const auto key = new_key("k1");
    x.trust({&key});
    const auto done = x.verify(card_signed_by(key));
    REQUIRE(done.has_value());
    CHECK(done->kid == "k1");
    CHECK(done->algorithm == "ES256");
    CHECK(x.network.asked.empty());
}

TEST_CASE("a key that is taken out of the file is trusted no more")
{
    rig x;
    const auto key = new_key("k1");
    const auto other = new_key("k2");
    x.trust({&key, &other});
    CHECK(x.verify(card_signed_by(key)).has_value());
    x.trust({&other});
    CHECK(x.why_not(card_signed_by(key)) == "https://agent/card: k1: no such key");
    CHECK(x.verify(card_signed_by(other)).has_value());
}

TEST_CASE("a file of keys that cannot be read trusts nobody")
{
    rig x;
    const auto key = new_key("k1");
    x.rules.trusted_keys = x.files.file("missing.json");
    CHECK(x.why_not(card_signed_by(key)).find("missing.json: cannot be opened") != std::string::npos);
    test_support::write_whole(x.rules.trusted_keys, "{}");
    CHECK(x.why_not(card_signed_by(key)).find("not a JWK Set") != std::string::npos);
}

TEST_CASE("the key set that a signature names is fetched from a listed origin, with nothing of the agent's")
{
    rig x;
    const auto key = new_key("k1");
    x.network.sets[key_set_url] = set_of({&key});
    x.rules.key_set_origins = {"https://keys.example:443"};
    const auto done = x.verify(card_signed_by(key, key_set_url));
    REQUIRE(done.has_value());
    CHECK(done->key_set_url == key_set_url);
    REQUIRE(x.network.asked.size() == 1);
    CHECK(x.network.asked[0].tls.ca_file.empty());
    CHECK(x.network.asked[0].max_size == x.settings.max_size);
    REQUIRE(x.network.asked[0].headers.size() == 1);
    CHECK(x.network.asked[0].headers[0].first == "Accept");
}

TEST_CASE("a key set at the card's own origin is fetched with the agent's authorities")
{
    rig x;
    const auto key = new_key("k1");
    x.network.sets["https://agent/keys"] = set_of({&key});
    x.rules.key_set_origins = {"https://agent"};
    CHECK(x.verify(card_signed_by(key, "https://agent/keys")).has_value());
    REQUIRE(x.network.asked.size() == 1);
    CHECK(x.network.asked[0].tls.ca_file == "agent-ca");
}

TEST_CASE("a key set anywhere else is not asked for")
{
    rig x;
    const auto key = new_key("k1");
    const auto trusted = new_key("k2");
    x.trust({&trusted});
    x.rules.key_set_origins = {"https://keys.example"};
    for (const std::string url : {
             "https://evil.example/agents.json",
             "http://keys.example/agents.json",
             "https://keys.example:8443/agents.json",
             "https://keys.example@evil.example/agents.json",
             "https://keys.example.evil.example/agents.json",
             "https://keys.example\\@evil.example/",
             "//keys.example/agents.json",
             "file:///etc/passwd",
             "",
         }) {
        CAPTURE(url);
        x.network.sets[url] = set_of({&key});
        CHECK(x.why_not(card_signed_by(key, url)) == "https://agent/card: k1: no such key");
    }
    CHECK(x.network.asked.empty());
}

TEST_CASE("a signature of a card leads the gateway to no address but the origins that the operator listed")
{
    rig x;
    const auto key = new_key("k1");
    const auto trusted = new_key("k2");
    x.trust({&trusted});
    x.rules.key_set_origins = {"https://agent.example"};
    for (const auto& hostile : test_support::hostile_addresses()) {
        CAPTURE(hostile.substr(0, 80));
        x.network.sets[hostile] = set_of({&key});
        CHECK_FALSE(x.verify(card_signed_by(key, hostile)).has_value());
    }
    CHECK(x.network.asked.empty());
}

TEST_CASE("a key set is kept while it is fresh, and asked for again when it lacks a key, at most once in min_ttl")
{
    rig x;
    const auto key = new_key("k1");
    const auto next = new_key("k2");
    x.network.sets[key_set_url] = set_of({&key});
    x.network.headers = {{"cache-control", "max-age=60"}};
    x.rules.key_set_origins = {"https://keys.example"};
    CHECK(x.verify(card_signed_by(key, key_set_url)).has_value());
    CHECK(x.verify(card_signed_by(key, key_set_url)).has_value());
    CHECK(x.network.asked.size() == 1);

    x.network.sets[key_set_url] = set_of({&key, &next});
    CHECK_FALSE(x.verify(card_signed_by(next, key_set_url)).has_value());
    CHECK(x.network.asked.size() == 1);
    x.now += x.settings.min_ttl;
    CHECK(x.verify(card_signed_by(next, key_set_url)).has_value());
    CHECK(x.network.asked.size() == 2);

    x.network.sets[key_set_url] = set_of({&next});
    x.now += 59s;
    CHECK(x.verify(card_signed_by(key, key_set_url)).has_value());
    x.now += 1s;
    CHECK_FALSE(x.verify(card_signed_by(key, key_set_url)).has_value());
    CHECK(x.network.asked.size() == 3);
}

TEST_CASE("a key set that cannot be had refuses the card and says why")
{
    rig x;
    const auto key = new_key("k1");
    x.rules.key_set_origins = {"https://keys.example"};
    const auto card = card_signed_by(key, key_set_url);
    const std::string begin = std::string{"https://agent/card: k1: no such key; "} + key_set_url + ": ";
    CHECK(x.why_not(card) == begin + "upstream_refused: nobody there");
    x.network.sets[key_set_url] = "no JSON";
    CHECK(x.why_not(card) == begin + "key: not a JWK Set");
    x.network.status = 301;
    CHECK(x.why_not(card) == begin + "status 301");
    const auto asked = x.network.asked.size();
    const auto late = x.verify(card, 0s);
    REQUIRE_FALSE(late.has_value());
    CHECK(late.error().detail == begin + "no time is left to fetch it");
    CHECK(x.network.asked.size() == asked);
}

TEST_CASE("of one card at most four key sets are asked for")
{
    rig x;
    x.rules.key_set_origins = {"https://keys.example"};
    const auto key = new_key("k");
    json card = {{"name", "a"}, {"signatures", json::array()}};
    for (int i = 0; i < 6; ++i) {
        json one = {{"name", "a"}};
        REQUIRE(a2a::sign_card(one, key, "https://keys.example/" + std::to_string(i)).has_value());
        card["signatures"].push_back(one["signatures"][0]);
    }
    CHECK_FALSE(x.verify(core::to_text(card)).has_value());
    CHECK(x.network.asked.size() == 4);
}

TEST_CASE("what is no card is refused")
{
    rig x;
    CHECK(x.why_not("[]").find("https://agent/card: ") == 0);
}

TEST_CASE("a card that says something twice is refused, whatever was signed")
{
    rig x;
    const auto key = new_key("k1");
    x.trust({&key});
    auto text = card_signed_by(key);
    text.insert(1, R"("name":"other",)");
    CHECK(x.why_not(text) == "https://agent/card: a name that stands twice");
}

TEST_CASE("a file of keys that is a pipe does not make anybody wait")
{
    rig x;
    x.rules.trusted_keys = x.files.file("pipe");
    REQUIRE(::mkfifo(x.rules.trusted_keys.c_str(), 0600) == 0);
    CHECK(x.why_not(card_signed_by(new_key("k"))).find("pipe: is not a regular file") != std::string::npos);
    const auto checks = gateway::management::tls_checks();
    for (const auto& check : {checks.authorities, checks.signing_key, checks.key_set}) {
        CHECK(check(x.rules.trusted_keys).error().detail == "is not a regular file");
    }
    CHECK(checks.certificate(x.rules.trusted_keys, false).error().detail == "is not a regular file");
    CHECK(checks.key(x.rules.trusted_keys, x.rules.trusted_keys).error().detail == "is not a regular file");
}

TEST_SUITE_END();
