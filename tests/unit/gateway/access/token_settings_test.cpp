#include "gateway/access/token_verifier.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace gateway::access;

const std::string tenant = "8eaef023-2b34-4da1-9baa-8bc8c9d6a490";

TEST_SUITE("access token_settings")
{
    TEST_CASE("A preset is an issuer, its algorithm and the place of its keys")
    {
        const auto azure = token_settings_of({"a", core::azure_ad_provider{tenant, {"api://x"}, "", 10s}});
        REQUIRE(azure.size() == 2);
        CHECK(azure[0].issuer == "https://login.microsoftonline.com/" + tenant + "/v2.0");
        CHECK(azure[1].issuer == "https://sts.windows.net/" + tenant + "/");
        for (const auto& each : azure) {
            CHECK(each.audiences == std::vector<std::string>{"api://x"});
            CHECK(each.algorithms == std::vector<std::string>{"RS256"});
            CHECK(each.keys.url == "https://login.microsoftonline.com/" + tenant + "/discovery/v2.0/keys");
            CHECK(each.leeway == 10s);
            CHECK(each.header.empty());
            CHECK(each.style == claim_style::azure_ad);
        }
        const auto iap = token_settings_of({"a", core::gcp_iap_provider{{"/projects/1"}, "", 30s}});
        REQUIRE(iap.size() == 1);
        CHECK(iap[0].issuer == "https://cloud.google.com/iap");
        CHECK(iap[0].algorithms == std::vector<std::string>{"ES256"});
        CHECK(iap[0].keys.url == "https://www.gstatic.com/iap/verify/public_key-jwk");
        CHECK(iap[0].header == "X-Goog-IAP-JWT-Assertion");
        CHECK(iap[0].style == claim_style::gcp_iap);
    }

    TEST_CASE("A file of keys replaces the address of a preset")
    {
        for (const auto& type : std::vector<core::provider_settings>{
                 core::azure_ad_provider{tenant, {"a"}, "/keys.json"},
                 core::gcp_iap_provider{{"a"}, "/keys.json"}
             }) {
            for (const auto& each : token_settings_of({"a", type})) {
                CHECK(each.keys == key_set_place{.url = {}, .file = "/keys.json"});
            }
        }
    }

    TEST_CASE("The keys of a discovered issuer are where its document says")
    {
        const auto oidc = token_settings_of({"a", core::oidc_provider{"https://i", {"x"}, {"PS256"}, 0s}});
        REQUIRE(oidc.size() == 1);
        CHECK(oidc[0].keys == key_set_place{.url = {}, .file = {}, .issuer = "https://i"});
        CHECK(oidc[0].algorithms == std::vector<std::string>{"PS256"});
        CHECK(oidc[0].style == claim_style::usual);
    }

    TEST_CASE("Providers of other credentials accept no such tokens")
    {
        CHECK(token_settings_of({"a", core::static_token_provider{}}).empty());
        CHECK(token_settings_of({"a", core::http_verifier_provider{}}).empty());
        CHECK(token_settings_of({"a", core::mtls_provider{}}).empty());
    }
}

}  // namespace
