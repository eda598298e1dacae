// Signatures of cards in answers: held to the same as those of public cards.
#include "a2a/card/card_signature.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/relay_fixture.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/jose/signing_keys.hpp"

using core::json;
using flow::call_body;
using flow::parsed;
using flow::relayed;
using jose::json_web_key;
using test_support::write_whole;

TEST_SUITE_BEGIN("flow/extended_card");

namespace {

constexpr flow::error_answer untrusted{
    502,
    -32603,
    "card_signature",
    "The agent's card is not signed by a key that this gateway trusts.",
    false
};
constexpr std::string_view old_method = "agent/getAuthenticatedExtendedCard";
constexpr std::string_view new_method = "GetExtendedAgentCard";

std::string key_text()
{
    return a2a_test::pem(a2a_test::ec_key("P-256"));
}

json card()
{
    return parsed(
        R"({"name":"A","description":"d","version":"1","capabilities":{"streaming":true},"x-own":1,
            "supportedInterfaces":[{"url":"http://10.1.2.3/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]})"
    );
}

test_support::script answer_with(const json& what)
{
    return test_support::answer_json(core::to_text(json{{"jsonrpc", "2.0"}, {"id", 1}, {"result", what}}));
}

}  // namespace

TEST_CASE("an extended card whose signature has to be good is refused without one")
{
    const test_support::scratch_directory files;
    const auto key = json_web_key::from_pem(key_text(), "k1").value();
    write_whole(files.file("trusted.json"), core::to_text(json{{"keys", json::array({key.jwk()})}}));
    relayed x{test_support::answer(404, ""), [&](config::settings& s) {
                  s.cards.signatures = core::signature_policy::verify;
                  s.cards.trusted_keys = files.file("trusted.json");
              }};
    auto with_signature = card();
    REQUIRE(a2a::sign_card(with_signature, key, {}).has_value());
    for (const auto method : {old_method, new_method}) {
        CAPTURE(method);
        x.agent.next(answer_with(with_signature));
        const auto good = flow::call(x.port(), call_body("1", method));
        CHECK(good.status == 200);
        CHECK_FALSE(parsed(good.body).at("result").contains("signatures"));
        x.agent.next(answer_with(card()));
        flow::check_jsonrpc_error(flow::call(x.port(), call_body("1", method)), untrusted, "1");
        auto changed = with_signature;
        changed["description"] = "e";
        x.agent.next(answer_with(changed));
        flow::check_jsonrpc_error(flow::call(x.port(), call_body("1", method)), untrusted, "1");
    }
}

TEST_CASE("a key set that an extended card names is held to the addresses of an agent that registered itself")
{
    const auto key = json_web_key::from_pem(key_text(), "k1").value();
    const auto origin = "https://127.0.0.2:" + std::to_string(test_support::unused_port());
    auto with_signature = card();
    REQUIRE(a2a::sign_card(with_signature, key, origin + "/keys").has_value());
    for (const auto* allowed : {"127.0.0.1", "127.0.0.0/8"}) {
        CAPTURE(allowed);
        relayed x{answer_with(with_signature), [&](config::settings& s) {
                      s.agents[0].registered = true;
                      s.registration.allow = {allowed};
                      s.agents[0].signatures = core::signature_policy::verify;
                      s.agents[0].key_set_origins = {origin};
                  }};
        flow::check_jsonrpc_error(flow::call(x.port(), call_body("1", new_method)), untrusted, "1");
        const std::string why = std::string_view{allowed} == "127.0.0.1" ? "upstream_forbidden" : "upstream_refused";
        CHECK(x.gateway.log().wait_for([&](std::string_view line) {
            return line.find(origin + "/keys: " + why) != line.npos;
        }));
    }
}

TEST_CASE("what an agent repeats of its credential in an extended card is not in the access log")
{
    const auto key = json_web_key::from_pem(key_text(), "planted-key-of-agent").value();
    auto with_signature = card();
    REQUIRE(a2a::sign_card(with_signature, key, {}).has_value());
    const test_support::scratch_directory files;
    const auto other = json_web_key::from_pem(key_text(), "another").value();
    write_whole(files.file("trusted.json"), core::to_text(json{{"keys", json::array({other.jwk()})}}));
    relayed x{
        answer_with(with_signature),
        [&](config::settings& s) {
            s.cards.signatures = core::signature_policy::verify;
            s.cards.trusted_keys = files.file("trusted.json");
            s.agents[0].extended_card = core::extended_card_access::proxy;
            s.agents[0].credentials =
                core::key_credential{core::credential_place::header, "X-Key", core::secret{"planted-key-of-agent"}};
        }
    };
    flow::check_jsonrpc_error(flow::call(x.port(), call_body("1", new_method)), untrusted, "1");
    const auto line = x.gateway.log().wait_for([](std::string_view text) {
        return text.find("\"card_signature\"") != text.npos && text.find("\"rpc\"") != text.npos;
    });
    REQUIRE(line);
    CHECK(line->find(core::masked) != std::string::npos);
    CHECK(line->find("planted") == std::string::npos);
}

TEST_CASE("an extended card of 1.0 is signed by the gateway if cards are, and one of 0.3 is not")
{
    const test_support::scratch_directory files;
    write_whole(files.file("own.pem"), key_text());
    relayed x{answer_with(card()), [&](config::settings& s) {
                  s.cards.signatures = core::signature_policy::sign;
                  s.cards.signing_key = files.file("own.pem");
              }};
    const auto keys = jose::parse_key_set(test_support::request(x.port(), "GET", "/.well-known/jwks.json").body);
    REQUIRE(keys.has_value());
    const auto served = parsed(flow::call(x.port(), call_body("1", new_method)).body).at("result");
    CHECK(served.at("supportedInterfaces").at(0).at("url") == x.gateway.base() + "/agents/a");
    CHECK_FALSE(served.contains("x-own"));
    const auto verified = a2a::verify_card(served, *keys);
    REQUIRE(verified.has_value());
    CHECK(verified->key_set_url == x.gateway.base() + "/.well-known/jwks.json");
    const auto old = parsed(flow::call(x.port(), call_body("1", old_method)).body).at("result");
    CHECK_FALSE(old.contains("signatures"));
    CHECK(old.contains("x-own"));
}

TEST_SUITE_END();
