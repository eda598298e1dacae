#include "gateway/access/token_verifier.hpp"

#include "core/base64.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/gateway/access/key_set_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace {

using namespace std::chrono_literals;
using core::base64url;
using core::errc;
using gateway::model::accepted_credential;
using outcome = core::result<accepted_credential>;

const core::wall_time begin_of_time{std::chrono::seconds{1'800'000'000}};

core::access_provider jwt(std::string name, std::string issuer = "https://idp.example")
{
    return {
        .name = std::move(name),
        .type =
            core::jwt_provider{
                .issuer = std::move(issuer),
                .audiences = {"cardea"},
                .algorithms = {"ES256", "RS256", "PS256", "EdDSA", "unknown"},
                .key_set_url = "https://idp.example/keys",
                .key_set_file = {},
                .leeway = 60s
            }
    };
}

core::jwt_provider& settings(core::access_provider& provider)
{
    return std::get<core::jwt_provider>(provider.type);
}

struct rig : access_test::key_set_rig {
    rig()
    {
        verifier.set_providers({jwt("idp")});
        serve(access_test::set_of({first.jwk()}));
    }

    outcome verify(const std::string& text) { return run(verifier.verify(text)); }

    errc refusal(const std::string& text)
    {
        const auto got = verify(text);
        return got ? errc::internal : got.error().code;
    }

    void pass(std::chrono::milliseconds time)
    {
        now += time;
        wall += time;
    }

    jose::json_web_key first = access_test::new_key("first");
    jose::json_web_key second = access_test::new_key("second");
    core::wall_time wall = begin_of_time;
    gateway::access::token_verifier verifier{services(), [this] { return wall; }};
};

std::string claims(int lifetime = 3600, const std::string& issuer = "https://idp.example")
{
    const auto expires = std::to_string(1'800'000'000 + lifetime);
    return R"({"iss":")" + issuer + R"(","aud":"cardea","sub":"alice","scope":"a b","plan":"gold","exp":)" + expires +
           "}";
}

std::string header(const std::string& kid)
{
    return kid.empty() ? R"({"alg":"ES256"})" : R"({"alg":"ES256","kid":")" + kid + "\"}";
}

std::string token(const jose::json_web_key& key, const std::string& kid, const std::string& with = claims())
{
    const auto text = base64url(header(kid)) + '.' + base64url(with);
    return text + '.' + base64url(key.sign(text).value());
}

std::string token(const jose::json_web_key& key)
{
    return token(key, key.kid());
}

std::string unsigned_token(const std::string& kid)
{
    return base64url(header(kid)) + '.' + base64url(claims()) + '.' + base64url(std::string(64, '\1'));
}

TEST_SUITE("access token_verifier")
{
    TEST_CASE("A token of the provider is accepted as the principal that it names, for a minute at most")
    {
        rig x;
        const auto got = x.verify(token(x.first)).value();
        CHECK(got.owner->id == "alice");
        CHECK(got.owner->provider == "idp");
        CHECK(got.owner->scopes == std::vector<std::string>{"a", "b"});
        CHECK(std::ranges::count(got.owner->claims, core::claim{"plan", "gold"}) == 1);
        CHECK(got.until == begin_of_time + 60s);
        CHECK(x.verify(token(x.first, "first", claims(-10))).value().until == begin_of_time + 50s);
    }

    TEST_CASE("A token holds for the leeway after its end and no longer")
    {
        rig x;
        CHECK(x.verify(token(x.first, "first", claims(-59))).has_value());
        CHECK(x.refusal(token(x.first, "first", claims(-61))) == errc::unauthenticated);
        CHECK(x.refusal(token(x.first, "first", claims(-60))) == errc::unauthenticated);
    }

    TEST_CASE("What cannot be accepted is refused before keys are asked for")
    {
        rig x;
        const auto& key = x.first;
        for (const auto& text : std::vector<std::string>{
                 "",
                 "not a token",
                 "sk-1234567890",
                 token(key, "first", claims(3600, "https://other.example")),
                 token(key, "first", claims(3600, "")),
                 token(key, "first", claims(-61)),
                 token(key, "first", R"({"iss":"https://idp.example","aud":"other","sub":"a","exp":1800000100})"),
                 token(key, "first", R"({"iss":"https://idp.example","aud":"cardea","exp":1800000100})"),
                 token(key, "first", R"({"iss":"https://idp.example","aud":"cardea","sub":"","exp":1800000100})"),
                 base64url(R"({"alg":"none"})") + '.' + base64url(claims()) + '.',
             }) {
            CAPTURE(text);
            CHECK(x.refusal(text) == errc::unauthenticated);
        }
        CHECK(x.fetcher.fetches == 0);
    }

    TEST_CASE("A token that another key has signed is refused")
    {
        rig x;
        CHECK(x.refusal(token(x.second, "first")) == errc::unauthenticated);
        CHECK(x.refusal(unsigned_token("first")) == errc::unauthenticated);
        CHECK(x.refusal(token(x.second, "")) == errc::unauthenticated);
        CHECK(x.fetcher.fetches == 1);
    }

    TEST_CASE("A token that names a key that is not known yet is accepted once the new keys are there")
    {
        rig x;
        CHECK(x.verify(token(x.first)).has_value());
        x.serve(access_test::set_of({x.first.jwk(), x.second.jwk()}));
        CHECK(x.refusal(token(x.second)) == errc::unauthenticated);
        x.pass(30s);
        CHECK(x.verify(token(x.second)).has_value());
        CHECK(x.verify(token(x.first)).has_value());
        CHECK(x.fetcher.fetches == 2);
        x.serve(access_test::set_of({x.second.jwk()}));
        x.pass(1h);
        CHECK(x.refusal(token(x.first)) == errc::unauthenticated);
    }

    TEST_CASE("Keys without an id can change too")
    {
        rig x;
        auto without_id = x.first.jwk();
        without_id.erase("kid");
        x.serve(access_test::set_of({without_id}));
        CHECK(x.verify(token(x.first, "")).has_value());
        CHECK(x.verify(token(x.first, "any")).has_value());
        without_id = x.second.jwk();
        without_id.erase("kid");
        x.serve(access_test::set_of({without_id}));
        x.pass(30s);
        CHECK(x.verify(token(x.second, "")).has_value());
        CHECK(x.refusal(token(x.first, "")) == errc::unauthenticated);
        CHECK(x.fetcher.fetches == 2);
    }

    TEST_CASE("Ten thousand tokens with ids that nobody knows cost one fetch in 30 seconds")
    {
        rig x;
        CHECK(x.verify(token(x.first)).has_value());
        x.pass(31s);
        for (int i = 0; i < 10'000; ++i) {
            x.pass(2ms);
            CHECK(x.refusal(unsigned_token("unknown-" + std::to_string(i))) == errc::unauthenticated);
        }
        CHECK(x.fetcher.fetches == 2);
        CHECK(x.verify(token(x.first)).has_value());
    }

    TEST_CASE("A key for another algorithm or another use signs nothing")
    {
        rig x;
        const auto rsa = jose::json_web_key::from_pem(a2a_test::pem(a2a_test::rsa_key(2048)), "rsa").value();
        const auto text = base64url(R"({"alg":"RS256","kid":"rsa"})") + '.' + base64url(claims());
        const auto good = text + '.' + base64url(rsa.sign(text).value());
        x.serve(access_test::set_of({x.first.jwk(), rsa.jwk()}));
        CHECK(x.verify(good).has_value());
        const std::pair<const char*, core::json> changes[] = {
            {"alg", "PS256"},
            {"alg", "RS512"},
            {"alg", "HS256"},
            {"alg", "none"},
            {"use", "enc"},
            {"key_ops", core::json::array({"encrypt"})},
        };
        for (const auto& [member, value] : changes) {
            CAPTURE(value.dump());
            auto jwk = rsa.jwk();
            jwk[member] = value;
            x.serve(access_test::set_of({x.first.jwk(), jwk}));
            x.pass(1min);
            CHECK(x.verify(good).has_value());  // by the set from before, which is fresh
            CHECK(x.refusal(unsigned_token("unknown")) == errc::unauthenticated);
            CHECK(x.refusal(good) == errc::unauthenticated);
            x.serve(access_test::set_of({x.first.jwk(), rsa.jwk()}));
            x.pass(1min);
            CHECK(x.verify(good).has_value());
        }
    }

    TEST_CASE("While no keys are known a token is neither accepted nor refused")
    {
        rig x;
        x.fetcher.answer = core::upstream_error(errc::upstream_refused, "down");
        CHECK(x.refusal(token(x.first)) == errc::access_unavailable);
        CHECK(x.refusal(unsigned_token("unknown")) == errc::access_unavailable);
        x.fetcher.throws = true;
        x.pass(5s);
        CHECK(x.refusal(token(x.first)) == errc::access_unavailable);
        x.fetcher.throws = false;
        x.serve(access_test::set_of({x.first.jwk()}));
        x.pass(5s);
        CHECK(x.verify(token(x.first)).has_value());
        x.fetcher.answer = core::upstream_error(errc::upstream_refused, "down");
        x.pass(2h);
        CHECK(x.verify(token(x.first, "first", claims(10'000))).has_value());
        const auto sets = x.verifier.key_sets();
        REQUIRE(sets.size() == 1);
        CHECK(sets[0].provider == "idp");
        CHECK(sets[0].facts.age == 2h);
        CHECK(sets[0].facts.fetches == 4);
        CHECK(sets[0].facts.failures == 3);
    }

    TEST_CASE("The provider with a token's issuer and audience decides, and others of other kinds are passed over")
    {
        rig x;
        auto other = jwt("other");
        settings(other).audiences = {"elsewhere"};
        const core::access_provider tokens{.name = "ops", .type = core::static_token_provider{}};
        x.verifier.set_providers({tokens, jwt("partner", "https://partner.example"), jwt("idp"), other});
        CHECK(x.verify(token(x.first)).value().owner->provider == "idp");
        CHECK(
            x.verify(token(x.first, "first", claims(60, "https://partner.example"))).value().owner->provider ==
            "partner"
        );
        x.verifier.set_providers({tokens, other, jwt("idp")});
        CHECK(x.verify(token(x.first)).value().owner->provider == "idp");
        x.verifier.set_providers({tokens, other});
        CHECK(x.refusal(token(x.first)) == errc::unauthenticated);
        CHECK(x.verifier.key_sets().size() == 1);
    }

    TEST_CASE("Of two providers of one issuer, the one with a token's client decides")
    {
        rig x;
        auto one = jwt("one");
        settings(one).audiences.clear();
        settings(one).client_ids = {"a"};
        auto other = jwt("other");
        settings(other).audiences.clear();
        settings(other).client_ids = {"b"};
        x.verifier.set_providers({one, other});
        const auto of_client = [&](const std::string& client) {
            return token(
                x.first,
                "first",
                R"({"iss":"https://idp.example","sub":"s","token_use":"access","exp":1800000100,"client_id":")" +
                    client + "\"}"
            );
        };
        CHECK(x.verify(of_client("a")).value().owner->provider == "one");
        CHECK(x.verify(of_client("b")).value().owner->provider == "other");
        CHECK(x.refusal(of_client("c")) == errc::unauthenticated);
        CHECK(x.refusal(token(x.first)) == errc::unauthenticated);
    }

    TEST_CASE("A token counts only where its provider has it")
    {
        rig x;
        const auto with_issuer = [](const std::string& issuer) {
            return R"({"iss":")" + issuer + R"(","aud":"cardea","sub":"s","email":"a@b","exp":1800000100})";
        };
        const auto proxied = token(x.first, "first", with_issuer("https://cloud.google.com/iap"));
        x.verifier.set_providers(
            {jwt("idp"), {"iap", core::gcp_iap_provider{.audiences = {"cardea"}, .key_set_file = {}}}}
        );
        const auto outcome_of = [&](const std::string& text, const std::string& header) {
            const auto got = x.run(x.verifier.verify(text, header));
            return got ? got->owner->provider + ' ' + got->owner->id : std::string{core::name(got.error().code)};
        };
        CHECK(outcome_of(proxied, "x-goog-iap-jwt-assertion") == "iap a@b");
        CHECK(x.fetcher.asked.url == "https://www.gstatic.com/iap/verify/public_key-jwk");
        CHECK(outcome_of(proxied, "") == "unauthenticated");
        CHECK_FALSE(x.verifier.recognises(proxied));
        CHECK(outcome_of(token(x.first), "X-Goog-IAP-JWT-Assertion") == "unauthenticated");
        CHECK(outcome_of(token(x.first), "") == "idp alice");
        CHECK(x.verifier.recognises(token(x.first)));
        CHECK_FALSE(x.verifier.recognises("a-token"));
        CHECK_FALSE(x.verifier.recognises("a.to.ken"));
    }

    TEST_CASE(
        "A token that is refused for its header is still one of its issuer, and no other provider is asked about it"
    )
    {
        rig x;
        x.verifier.set_providers({jwt("idp")});
        const auto good = token(x.first);
        const auto rest = good.substr(good.find('.'));
        for (const auto* header :
             {R"({"alg":"none"})", R"({"alg":"HS256"})", R"({"alg":"RS256","crit":["x"]})", "[]", "no"}) {
            CAPTURE(header);
            CHECK(x.verifier.recognises(core::base64url(header) + rest));
            CHECK(x.refusal(core::base64url(header) + rest) == errc::unauthenticated);
        }
        CHECK(x.verifier.recognises(good.substr(0, good.rfind('.') + 1)));
        const auto twice = core::base64url(R"({"iss":"https://other.example","iss":"https://idp.example"})");
        CHECK(x.verifier.recognises("e30." + twice + ".c2ln"));
    }

    TEST_CASE("Both issuers of a directory have one set of keys")
    {
        rig x;
        const std::string tenant = "8eaef023-2b34-4da1-9baa-8bc8c9d6a490";
        auto provider = core::azure_ad_provider{.tenant = tenant, .audiences = {"cardea"}, .key_set_file = {}};
        x.verifier.set_providers({{"azure", provider}});
        CHECK(x.verifier.key_sets().size() == 1);
        // Its tokens are RS256; these are not.
        for (const auto& issuer :
             {"https://login.microsoftonline.com/" + tenant + "/v2.0", "https://sts.windows.net/" + tenant + "/"}) {
            CHECK(x.verifier.recognises(token(x.first, "first", claims(60, issuer))));
            CHECK(x.refusal(token(x.first, "first", claims(60, issuer))) == errc::unauthenticated);
        }
        CHECK_FALSE(x.verifier.recognises(token(x.first, "first", claims(60, "https://sts.windows.net/other/"))));
        CHECK(x.fetcher.fetches == 0);
    }

    TEST_CASE("A provider without an issuer, audiences or algorithms accepts nothing")
    {
        rig x;
        auto nameless = jwt("a", "");
        auto for_nobody = jwt("b");
        settings(for_nobody).audiences.clear();
        auto without_algorithms = jwt("c");
        settings(without_algorithms).algorithms = {"none", "HS256"};
        for (const auto& each : {nameless, for_nobody, without_algorithms}) {
            x.verifier.set_providers({each});
            CHECK(x.refusal(token(x.first)) == errc::unauthenticated);
            CHECK(x.refusal(token(x.first, "first", claims(60, ""))) == errc::unauthenticated);
        }
    }

    TEST_CASE("A source of keys that stays where it was keeps its set when the providers change")
    {
        rig x;
        CHECK(x.verify(token(x.first)).has_value());
        auto stricter = jwt("idp");
        settings(stricter).leeway = 0s;
        x.verifier.set_providers({stricter});
        CHECK(x.refusal(token(x.first, "first", claims(-1))) == errc::unauthenticated);
        CHECK(x.verify(token(x.first)).has_value());
        CHECK(x.fetcher.fetches == 1);
        settings(stricter).key_set_url = "https://idp.example/others";
        x.verifier.set_providers({stricter});
        CHECK(x.verify(token(x.first)).has_value());
        CHECK(x.fetcher.fetches == 2);
        x.verifier.set_providers({});
        CHECK(x.refusal(token(x.first)) == errc::unauthenticated);
    }

    TEST_CASE("A token whose provider goes while it is checked is not accepted")
    {
        rig x;
        x.fetcher.silent = true;
        const auto asked = x.begin(x.verifier.verify(token(x.first)));
        x.verifier.set_providers({});
        x.fetcher.release();
        x.run_until([&] { return asked->has_value(); });
        CHECK((*asked)->error().code == errc::access_unavailable);
    }

    TEST_CASE("A token that expires while it is checked is not accepted")
    {
        rig x;
        x.fetcher.silent = true;
        const auto asked = x.begin(x.verifier.verify(token(x.first, "first", claims(-59))));
        x.pass(2s);
        x.fetcher.release();
        x.run_until([&] { return asked->has_value(); });
        CHECK((*asked)->error().code == errc::unauthenticated);
    }

    TEST_CASE("At most 256 tokens wait, and those with unknown keys do not keep out the others")
    {
        rig x;
        std::vector<std::shared_ptr<std::optional<outcome>>> asked;
        const auto answered = [&] {
            return std::ranges::count_if(asked, [](const auto& each) { return each->has_value(); });
        };
        x.fetcher.silent = true;
        for (int i = 0; i < 300; ++i) {
            asked.push_back(x.begin(x.verifier.verify(token(x.first))));
        }
        CHECK(answered() == 44);
        CHECK((*asked.back())->error().code == errc::access_unavailable);
        x.fetcher.release();
        x.run_until([&] { return answered() == 300; });
        CHECK(std::ranges::count_if(asked, [](const auto& each) { return (*each)->has_value(); }) == 256);

        asked.clear();
        x.pass(31s);
        x.fetcher.silent = true;
        for (int i = 0; i < 300; ++i) {
            asked.push_back(x.begin(x.verifier.verify(unsigned_token("unknown"))));
        }
        CHECK(answered() == 44);
        CHECK(x.verify(token(x.first)).has_value());
        CHECK(x.fetcher.fetches == 2);
        x.fetcher.release();
        x.run_until([&] { return answered() == 300; });
        CHECK(std::ranges::none_of(asked, [](const auto& each) { return (*each)->has_value(); }));
        CHECK(x.verify(token(x.first)).has_value());
    }

    TEST_CASE("Tokens of other libraries are accepted with the keys of a file")
    {
        rig x;
        auto by_file = jwt("idp");
        settings(by_file).key_set_url.clear();
        settings(by_file).key_set_file = CARDEA_TEST_DATA "/tokens/keys.json";
        x.verifier.set_providers({by_file});
        const auto tokens = core::parse_json(test_support::read_whole(CARDEA_TEST_DATA "/tokens/tokens.json")).value();
        CHECK(tokens.size() == 8);
        for (const auto& each : tokens) {
            CAPTURE(core::text_member(each, "maker"));
            CAPTURE(core::text_member(each, "alg"));
            const auto got = x.verify(core::text_member(each, "token")).value();
            CHECK(got.owner->id == "alice");
            CHECK(got.owner->tenant == "acme");
            CHECK(got.owner->groups == std::vector<std::string>{"writers"});
            CHECK(got.owner->scopes == std::vector<std::string>{"words:call", "words:read"});
        }
        CHECK(x.fetcher.fetches == 0);
    }
}

}  // namespace
