// Signatures of cards through the whole gateway: which agents' cards are accepted, and what callers can verify.
#include "a2a/card/card_signature.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/scripted_agent.hpp"
#include "tests/support/test_ca.hpp"
#include "tests/unit/jose/signing_keys.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("flow/card signatures");

namespace {

using core::json;
using flow::a2a_agent;
using flow::manage;
using flow::quick_settings;
using flow::running_gateway;
using jose::json_web_key;
using test_support::answer_json;
using test_support::http_response;
using test_support::recorded_request;
using test_support::scripted_agent;
using test_support::write_whole;

const std::string card_path = "/agents/a/.well-known/agent-card.json";
const std::string key_set_path = "/.well-known/jwks.json";

json_web_key new_key(std::string kid)
{
    return json_web_key::from_pem(a2a_test::pem(a2a_test::ec_key("P-256")), std::move(kid)).value();
}

std::string set_of(const json_web_key& key)
{
    return core::to_text(json{{"keys", json::array({key.jwk()})}});
}

std::string signed_card(const json_web_key& key, const std::string& key_set_url = {}, const std::string& name = "A")
{
    json card = {{"name", name}, {"version", "1"}};
    REQUIRE(a2a::sign_card(card, key, key_set_url).has_value());
    return core::to_text(card);
}

http_response
get(const running_gateway& gateway, const std::string& target, const test_support::field_list& fields = {})
{
    return test_support::request(gateway.port(), "GET", target, fields);
}

std::string key_file(const test_support::scratch_directory& files)
{
    const auto path = files.file("own.pem");
    write_whole(path, a2a_test::pem(a2a_test::ec_key("P-256")));
    return path;
}

}  // namespace

TEST_CASE("a card is served if a key of the file signed it, and refused with card_signature if not")
{
    const test_support::scratch_directory files;
    const auto key = new_key("k1");
    const auto stranger = new_key("k1");
    write_whole(files.file("trusted.json"), set_of(key));
    scripted_agent agent{[&](const auto&) { return answer_json(signed_card(key)); }};
    auto settings = quick_settings();
    settings.cards.signatures = core::signature_policy::verify;
    settings.cards.trusted_keys = files.file("trusted.json");
    settings.cards.negative_ttl = core::duration{0};
    settings.agents.push_back(a2a_agent("a", agent.url()));
    const running_gateway gateway{std::move(settings)};

    const auto good = get(gateway, card_path);
    CHECK(good.status == 200);
    CHECK_FALSE(core::parse_json(good.body)->contains("signatures"));
    const auto status = manage(gateway, "agents/get", {{"id", "a"}})["card_status"];
    CHECK(status["verified_by"] == json{{"kid", "k1"}, {"alg", "ES256"}});

    agent.otherwise([&](const auto&) { return answer_json(signed_card(stranger, {}, "B")); });
    CHECK(flow::error_of(gateway, "agents/refreshCard", R"({"id":"a"})")["data"]["code"] == "card_signature");
    CHECK(manage(gateway, "agents/get", {{"id", "a"}})["card_status"]["failure"]["code"] == "card_signature");
    const auto still = get(gateway, card_path);
    CHECK(core::parse_json(still.body)->at("name") == "A");
    CHECK(agent.request(1).header("If-None-Match").empty());
    CHECK(gateway.wait_for_metric(R"(cardea_card_fetch_total{agent="a",outcome="card_signature"})", 1));
}

TEST_CASE("an agent whose first card nobody trusted signed has none")
{
    const test_support::scratch_directory files;
    write_whole(files.file("trusted.json"), set_of(new_key("k1")));
    scripted_agent agent{[&](const auto&) { return answer_json(R"({"name":"A"})"); }};
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("a", agent.url()));
    settings.agents[0].signatures = core::signature_policy::verify;
    settings.agents[0].trusted_keys = files.file("trusted.json");
    const running_gateway gateway{std::move(settings)};
    const auto refused = get(gateway, card_path);
    CHECK(refused.status == 502);
    CHECK(test_support::first_value(refused.headers, "Cardea-Error") == "card_signature");
    CHECK(flow::parsed(refused.body)["error"]["code"] == "card_signature");
}

TEST_CASE("the key set that a signature names is fetched over TLS from where it may be, and from nowhere else")
{
    test_support::test_ca ca;
    const auto shown = ca.issue({"localhost"});
    const auto key = new_key("k1");
    std::string origin;
    scripted_agent agent{
        [&](const recorded_request& asked) {
            return answer_json(asked.target == "/keys" ? set_of(key) : signed_card(key, origin + "/keys"));
        },
        {.cert_file = shown.cert_file, .key_file = shown.key_file}
    };
    origin = "https://localhost:" + std::to_string(agent.port());
    for (const bool listed : {true, false}) {
        CAPTURE(listed);
        auto settings = quick_settings();
        settings.agents.push_back(a2a_agent("a", origin + "/"));
        settings.agents[0].ca_file = ca.ca_file();
        settings.agents[0].bearer = core::secret{"for calls alone"};
        settings.agents[0].signatures = core::signature_policy::verify;
        settings.agents[0].key_set_origins = {listed ? origin : "https://keys.example"};
        const auto before = agent.request_count();
        const running_gateway gateway{std::move(settings)};
        CHECK(get(gateway, card_path).status == (listed ? 200 : 502));
        const auto asked = agent.requests();
        const auto keys = std::count_if(asked.begin() + static_cast<long>(before), asked.end(), [](const auto& each) {
            CHECK((each.target != "/keys" || each.header("Authorization").empty()));
            return each.target == "/keys";
        });
        CHECK(keys == (listed ? 1 : 0));
    }
}

TEST_CASE(
    "what the gateway signs verifies with the keys that it serves, and is not published again while it is the same"
)
{
    const test_support::scratch_directory files;
    scripted_agent agent{[&](const auto&) {
        return answer_json(
            R"({"name":"A","supportedInterfaces":[{"url":"http://x","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]})"
        );
    }};
    auto settings = quick_settings();
    settings.cards.signatures = core::signature_policy::sign;
    settings.cards.signing_key = key_file(files);
    settings.agents.push_back(a2a_agent("a", agent.url()));
    const running_gateway gateway{std::move(settings)};

    const auto keys = get(gateway, key_set_path);
    CHECK(keys.status == 200);
    CHECK(test_support::first_value(keys.headers, "Content-Type") == "application/jwk-set+json");
    CHECK(test_support::first_value(keys.headers, "Cache-Control") == "public, max-age=300");
    const auto set = jose::parse_key_set(keys.body);
    REQUIRE(set.has_value());
    const auto first = get(gateway, card_path);
    const auto verified = a2a::verify_card(*core::parse_json(first.body), *set);
    REQUIRE(verified.has_value());
    CHECK(verified->key_set_url == gateway.base() + key_set_path);
    const auto tag = test_support::first_value(first.headers, "ETag");
    CHECK(tag.starts_with("W/"));

    CHECK(manage(gateway, "agents/refreshCard", {{"id", "a"}})["changed"] == false);
    CHECK(manage(gateway, "agents/refreshCard", {{"id", "a"}, {"dryRun", true}})["changed"] == false);
    CHECK(get(gateway, card_path).body == first.body);
    CHECK(get(gateway, card_path, {{"If-None-Match", tag}}).status == 304);
    CHECK(manage(gateway, "agents/get", {{"id", "a"}})["card_status"]["signed_by"] == verified->kid);
    const auto line = gateway.log().wait_for([](auto each) { return each.find("card_published") != each.npos; });
    CHECK(line.value_or("").find("\"signed_by\":\"" + verified->kid) != std::string::npos);
}

TEST_CASE("the key set is for GET and HEAD, has a tag, and is not there when nothing is signed")
{
    const test_support::scratch_directory files;
    auto settings = quick_settings();
    settings.cards.signing_key = key_file(files);
    {
        const running_gateway gateway{settings};
        const auto keys = get(gateway, key_set_path);
        const auto tag = test_support::first_value(keys.headers, "ETag");
        CHECK(get(gateway, key_set_path, {{"If-None-Match", tag}}).status == 304);
        const auto head = test_support::request(gateway.port(), "HEAD", key_set_path);
        CHECK(head.status == 200);
        CHECK(head.body.empty());
        CHECK(test_support::request(gateway.port(), "POST", key_set_path).status == 405);
    }
    settings.cards.signing_key.clear();
    const running_gateway gateway{settings};
    CHECK(get(gateway, key_set_path).status == 404);
}

TEST_SUITE_END();
