// tests/data/tokens: tokens that other libraries have made (`maker`), and the JWK Set with their keys.
#include "jose/json_web_token.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("jose/strangers");

namespace {

std::string data(const std::string& name)
{
    std::ifstream file{CARDEA_TEST_DATA "/tokens/" + name};
    REQUIRE(file.good());
    return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace

TEST_CASE("the tokens of other libraries are accepted, and not with one byte changed or by another's key")
{
    const jose::token_policy policy{
        .issuer = "https://idp.example",
        .audiences = {"cardea"},
        .algorithms =
            {jose::jws_algorithm::rs256,
             jose::jws_algorithm::ps256,
             jose::jws_algorithm::es256,
             jose::jws_algorithm::eddsa}
    };
    const core::wall_time now{std::chrono::seconds{1'800'000'000}};
    auto keys = jose::parse_key_set(data("keys.json")).value();
    REQUIRE(keys.size() == 8);  // the ninth is symmetric
    std::set<std::pair<std::string, std::string>> seen;
    for (const auto& each : core::parse_json(data("tokens.json")).value()) {
        const auto text = core::text_member(each, "token");
        const auto name = core::text_member(each, "alg");
        CAPTURE(core::text_member(each, "maker"));
        CAPTURE(name);
        seen.emplace(core::text_member(each, "maker"), name);
        const auto token = jose::json_web_token::parse(text).value();
        CHECK(jose::name(token.algorithm()) == name);
        CHECK(token.signed_by(keys));
        CHECK(token.check(policy, now).has_value());
        CHECK(core::text_member(token.claims(), "sub") == "alice");
        for (std::size_t at = text.find('.') + 1; at < text.size(); at += 7) {
            auto changed = text;
            changed[at] = changed[at] == 'A' ? 'B' : 'A';
            const auto read = jose::json_web_token::parse(changed);
            CHECK_FALSE((read && read->signed_by(keys)));
        }
        const auto own = std::ranges::find(keys, token.kid(), &jose::json_web_key::kid);
        REQUIRE(own != keys.end());
        std::iter_swap(own, keys.end() - 1);
        CHECK_FALSE(token.signed_by(std::span{keys}.first(keys.size() - 1)));
    }
    CHECK(seen.size() == 8);
}

TEST_SUITE_END();
