#include "gateway/cards/card_signer.hpp"

#include "core/base64.hpp"
#include "core/json/json.hpp"
#include "jose/json_web_key.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/jose/signing_keys.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/card_signer");

namespace {

using gateway::cards::card_signer;
using test_support::write_whole;

struct rig {
    rig()
    {
        settings.signing_key = files.file("own.pem");
        write_whole(settings.signing_key, a2a_test::pem(a2a_test::ec_key("P-256")));
    }

    std::shared_ptr<const card_signer> signer() const
    {
        auto made = gateway::cards::make_signer(settings);
        REQUIRE(made.has_value());
        return *made;
    }

    test_support::scratch_directory files;
    config::card_settings settings;
};

std::string refusal(const config::card_settings& settings)
{
    const auto made = gateway::cards::make_signer(settings);
    return made ? "" : made.error().detail;
}

}  // namespace

TEST_CASE("without keys there is no signer, with earlier keys alone one that cannot sign")
{
    config::card_settings settings;
    CHECK(*gateway::cards::make_signer(settings) == nullptr);
    rig x;
    const auto set = x.signer()->key_set();
    settings.retired_keys = x.files.file("old.json");
    write_whole(settings.retired_keys, set);
    const auto made = gateway::cards::make_signer(settings);
    REQUIRE(made.has_value());
    CHECK_FALSE((*made)->can_sign());
    CHECK((*made)->key_set() == set);
}

TEST_CASE("a detached signature is over the body that it does not have, and names key, key set and id")
{
    const rig x;
    const auto made = x.signer()->detached_signature("{\"x\":1}", "id-1", "https://gw.test");
    REQUIRE(made.has_value());
    const auto middle = made->find("..");
    REQUIRE(middle != std::string::npos);
    const auto encoded = made->substr(0, middle);
    const auto header = core::parse_json(core::from_base64url(encoded).value_or(""));
    REQUIRE(header.has_value());
    CHECK((*header)["alg"] == "ES256");
    CHECK((*header)["jku"] == "https://gw.test/.well-known/jwks.json");
    CHECK((*header)["jti"] == "id-1");
    const auto keys = jose::parse_key_set(x.signer()->key_set());
    REQUIRE(keys.has_value());
    REQUIRE(keys->size() == 1);
    CHECK((*header)["kid"] == keys->front().kid());
    const auto signature = core::from_base64url(made->substr(middle + 2)).value_or("");
    const auto& key = keys->front();
    CHECK(key.verifies(key.algorithm(), encoded + '.' + core::base64url("{\"x\":1}"), signature));
    CHECK_FALSE(key.verifies(key.algorithm(), encoded + '.' + core::base64url("{\"x\":2}"), signature));
}

TEST_CASE("the key set has the key and the earlier ones, each once, and nothing private")
{
    rig x;
    const auto old_set = x.signer()->key_set();
    x.settings.retired_keys = x.files.file("old.json");
    write_whole(x.settings.retired_keys, old_set);
    CHECK(x.signer()->key_set() == old_set);
    write_whole(x.settings.signing_key, a2a_test::pem(a2a_test::ec_key("P-256")));
    const auto set = *core::parse_json(x.signer()->key_set());
    REQUIRE(set["keys"].size() == 2);
    CHECK(set["keys"][1] == (*core::parse_json(old_set))["keys"][0]);
    for (const auto& each : set["keys"]) {
        CHECK_FALSE(each.contains("d"));
    }
}

TEST_CASE("files that cannot be used are refused, and what is in them is not told")
{
    rig x;
    const auto own = x.settings.signing_key;
    write_whole(own, "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n");
    CHECK(refusal(x.settings) == own + " has no private key in PEM, or one that needs a password");
    write_whole(own, a2a_test::pem(a2a_test::rsa_key(1024)));
    CHECK(refusal(x.settings).find("is not a P-256") != std::string::npos);
    x.settings.signing_key = x.files.file("missing");
    CHECK(refusal(x.settings).find("missing cannot be opened") != std::string::npos);
    config::card_settings old;
    old.retired_keys = x.files.file("old.json");
    write_whole(old.retired_keys, R"({"keys":[]})");
    CHECK(refusal(old) == old.retired_keys + " has no key that can be used");
    write_whole(old.retired_keys, "[]");
    CHECK(refusal(old).find("is no JWK Set") != std::string::npos);
}

TEST_SUITE_END();
