#include "gateway/access/principal_claims.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace {

using core::claim;
using core::json;
using namespace gateway::access;
using texts = std::vector<std::string>;

core::principal from(const char* members)
{
    return principal_of(json::parse(R"({"sub":"alice",)" + std::string{members} + "}"), "idp").value();
}

TEST_SUITE("access principal_claims")
{
    TEST_CASE("A principal is the subject of the token, of its provider")
    {
        const auto alice = principal_of(json::parse(R"({"sub":"alice"})"), "idp").value();
        CHECK(alice == core::principal{"alice", "idp", {}, {}, {}, {}});
        CHECK(principal_of(json{{"sub", "älice 名"}}, "idp").value().id == "älice 名");
        CHECK(principal_of(json{{"sub", std::string(256, 's')}}, "idp").has_value());
    }

    TEST_CASE("A token without a subject that can be shown is refused")
    {
        using namespace std::string_literals;
        for (const auto& claims : std::vector<json>{
                 json::object(),
                 json{{"sub", ""}},
                 json{{"sub", 7}},
                 json{{"sub", nullptr}},
                 json{{"sub", json::array({"alice"})}},
                 json{{"sub", std::string(257, 's')}},
                 json{{"sub", "alice\n"}},
                 json{{"sub", "al\0ice"s}},
                 json{{"sub", "\x7F"}},
                 json{{"sub", "a\xC2\x85"}},
             }) {
            CAPTURE(claims.dump());
            const auto refused = principal_of(claims, "idp");
            REQUIRE_FALSE(refused.has_value());
            CHECK(refused.error().code == core::errc::unauthenticated);
        }
    }

    TEST_CASE("With Azure AD roles are scopes, and with Google's proxy the email address is the id")
    {
        using gateway::access::claim_style;
        const auto claims =
            json::parse(R"({"sub":"s","email":"a@b","scp":"a b","roles":["c"],"groups":["g"],"tid":"t"})");
        const auto azure = principal_of(claims, "idp", claim_style::azure_ad).value();
        CHECK(azure.id == "s");
        CHECK(azure.scopes == texts{"a", "b", "c"});
        CHECK(azure.groups == texts{"g"});
        CHECK(azure.tenant == "t");
        CHECK(
            principal_of(json::parse(R"({"sub":"s","roles":["c"]})"), "idp", claim_style::azure_ad).value().scopes ==
            texts{"c"}
        );
        const auto proxied = principal_of(claims, "idp", claim_style::gcp_iap).value();
        CHECK(proxied.id == "a@b");
        CHECK(proxied.groups == texts{"g", "c"});
        CHECK(principal_of(json::parse(R"({"sub":"s"})"), "idp", claim_style::gcp_iap).value().id == "s");
        CHECK_FALSE(principal_of(json::parse(R"({"sub":"s","email":""})"), "idp", claim_style::gcp_iap).has_value());
    }

    TEST_CASE("Scopes come from scope or else scp, as words or as a list")
    {
        CHECK(from(R"("scope":"a b")").scopes == texts{"a", "b"});
        CHECK(from(R"("scope":"  a   b ")").scopes == texts{"a", "b"});
        CHECK(from(R"("scope":["a","b c"])").scopes == texts{"a", "b c"});
        CHECK(from(R"("scp":"a b")").scopes == texts{"a", "b"});
        CHECK(from(R"("scp":["a",7,"","b"])").scopes == texts{"a", "b"});
        CHECK(from(R"("scope":"a","scp":"b")").scopes == texts{"a"});
        CHECK(from(R"("scope":7,"scp":"b")").scopes.empty());
        CHECK(from(R"("scope":"")").scopes.empty());
        CHECK(from(R"("x":1)").scopes.empty());
    }

    TEST_CASE("Groups are the texts of the lists groups and roles")
    {
        CHECK(from(R"("groups":["a",null,"b"],"roles":["c"])").groups == texts{"a", "b", "c"});
        CHECK(from(R"("groups":"a","roles":{"b":1})").groups.empty());
    }

    TEST_CASE("The tenant is tid, else tenant")
    {
        CHECK(from(R"("tid":"t1","tenant":"t2")").tenant == "t1");
        CHECK(from(R"("tenant":"t2")").tenant == "t2");
        CHECK(from(R"("tid":7,"tenant":"t2")").tenant == "t2");
        CHECK(from(R"("tid":["t1"])").tenant.empty());
    }

    TEST_CASE("Other members are claims if they are simple values, or lists of these")
    {
        const auto claims = from(R"("plan":"gold","level":3,"half":0.5,"vip":true,"regions":["eu",1,false],)"
                                 R"("none":null,"address":{"city":"x"},"mixed":["a",{"b":1}],"scope":"s","groups":[])")
                                .claims;
        CHECK(
            claims ==
            std::vector<claim>{
                {"plan", "gold"},
                {"level", "3"},
                {"half", "0.5"},
                {"vip", "true"},
                {"regions", "eu"},
                {"regions", "1"},
                {"regions", "false"}
            }
        );
    }

    TEST_CASE("Claims beyond the limits are left out")
    {
        auto claims = json{{"sub", "alice"}, {"long", std::string(257, 'v')}, {std::string(257, 'n'), "v"}};
        claims["fits"] = std::string(256, 'v');
        for (int i = 0; i < 100; ++i) {
            claims["many"].push_back(i);
        }
        const auto kept = principal_of(claims, "idp").value().claims;
        CHECK(kept.size() == gateway::access::max_claims);
        CHECK(kept.front().first == "fits");
        CHECK(std::ranges::count(kept, "many", &claim::first) == 63);
    }
}

TEST_SUITE("access parts of principals")
{
    TEST_CASE("An id is one line of 1 to 256 bytes")
    {
        CHECK(is_principal_id("spiffe://a/b"));
        CHECK(is_principal_id(std::string(256, 'a')));
        CHECK_FALSE(is_principal_id(std::string(257, 'a')));
        CHECK_FALSE(is_principal_id(""));
        CHECK_FALSE(is_principal_id("a\nb"));
        CHECK_FALSE(
            is_principal_id("a\xC2\x85"
                            "b")
        );
        CHECK_FALSE(is_principal_id(std::string{"a\0b", 3}));
    }

    TEST_CASE("Words are in a text with spaces or in a list, texts only in a list")
    {
        CHECK(words_in(json(" a  b ")) == texts{"a", "b"});
        CHECK(words_in(json{"a b", "", "c", 7}) == texts{"a b", "c"});
        CHECK(words_in(json(7)).empty());
        CHECK(texts_in(json("a b")).empty());
        CHECK(texts_in(json(nullptr)).empty());
    }

    TEST_CASE("Claims are simple values and lists of them, up to the limits")
    {
        const json object{{"a", 1}, {"b", {true, "x"}}, {"c", {{"d", 1}}}, {"e", nullptr}, {"left", "out"}};
        constexpr std::array<std::string_view, 1> others{"left"};
        CHECK(claims_in(object, others) == std::vector<core::claim>{{"a", "1"}, {"b", "true"}, {"b", "x"}});
        json many = json::object();
        for (int i = 0; i < 65; ++i) {
            many["c" + std::to_string(i)] = std::string(i == 0 ? 257 : 256, 'v');
        }
        CHECK(claims_in(many, {}).size() == 64);
        CHECK(claims_in(many, {})[0].first == "c1");
    }
}

}  // namespace
