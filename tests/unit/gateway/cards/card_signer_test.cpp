#include "gateway/cards/card_signer.hpp"

#include "a2a/card/card_signature.hpp"
#include "gateway/cards/card_variants.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/jose/signing_keys.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/card_signer");

namespace {

using core::json;
using gateway::cards::card_signer;
using test_support::write_whole;

const std::string base = "https://gateway";
const a2a::public_address address{base + "/agents/a"};

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

json rewritten(std::string_view card)
{
    const auto parsed = a2a::parse_card(card, {});
    REQUIRE(parsed.has_value());
    const auto made = a2a::rewrite_card(*parsed, address, {.url = "http://agent", .card_url = {}});
    REQUIRE(made.has_value());
    return *made;
}

json modern()
{
    return rewritten(R"({"name":"a","supportedInterfaces":[
        {"url":"http://agent","protocolBinding":"JSONRPC","protocolVersion":"1.0"}], "x-own": 1})");
}

bool verifies(const std::string& body, const card_signer& signer)
{
    const auto keys = jose::parse_key_set(signer.key_set());
    REQUIRE(keys.has_value());
    return a2a::verify_card(*core::parse_json(body), *keys).has_value();
}

}  // namespace

TEST_CASE("without keys there is no signer, with keys of before alone one that cannot sign")
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

TEST_CASE("the key set has the key and those of before, each once, and nothing private")
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

TEST_CASE("a card of 1.0 is signed for those who ask for 1.0 and those who name no version, one of 0.3 is not")
{
    rig x;
    const auto signer = x.signer();
    const gateway::cards::signing how{signer.get(), base};
    const auto made = gateway::cards::make_variants(modern(), core::card_shape::automatic, address, how);
    REQUIRE(made.has_value());
    CHECK(made->signed_by == signer->kid());
    CHECK(verifies(made->bytes->body, *signer));
    CHECK(made->bytes->v1 == nullptr);
    REQUIRE(made->bytes->v03 != nullptr);
    CHECK_FALSE(core::parse_json(made->bytes->v03->body)->contains("signatures"));
    CHECK(core::parse_json(made->bytes->body)->contains("supportedInterfaces"));
}

TEST_CASE("a card that its agent writes in 0.3 is signed for those who ask for 1.0")
{
    rig x;
    const auto signer = x.signer();
    const auto old = rewritten(R"({"name":"a","url":"http://agent","protocolVersion":"0.3.0"})");
    const auto made = gateway::cards::make_variants(old, core::card_shape::automatic, address, {signer.get(), base});
    REQUIRE(made.has_value());
    CHECK_FALSE(core::parse_json(made->bytes->body)->contains("signatures"));
    REQUIRE(made->bytes->v1 != nullptr);
    CHECK(verifies(made->bytes->v1->body, *signer));
}

TEST_CASE("the tag of a signed card is weak, the same for the same card and key, and another for others")
{
    rig x;
    const auto signer = x.signer();
    const auto bytes_of = [&](const json& card, const card_signer& by) {
        return gateway::cards::make_variants(card, core::card_shape::v1, address, {&by, base})->bytes;
    };
    const auto one = bytes_of(modern(), *signer);
    const auto same = bytes_of(modern(), *signer);
    CHECK(one->etag.starts_with("W/\""));
    CHECK(one->etag == same->etag);
    CHECK(one->body != same->body);
    auto changed = modern();
    changed["name"] = "b";
    CHECK(bytes_of(changed, *signer)->etag != one->etag);
    write_whole(x.settings.signing_key, a2a_test::pem(a2a_test::ec_key("P-256")));
    CHECK(bytes_of(modern(), *x.signer())->etag != one->etag);
    CHECK(gateway::model::none_match_hits(one->etag, one->etag));
}

TEST_CASE("without a signer a card is served as it was, and its tag is strong")
{
    const auto made = gateway::cards::make_variants(modern(), core::card_shape::automatic, address, {nullptr, base});
    REQUIRE(made.has_value());
    CHECK(made->signed_by.empty());
    CHECK(made->bytes->etag.starts_with('"'));
    CHECK(core::parse_json(made->bytes->body)->contains("x-own"));
}

TEST_SUITE_END();
