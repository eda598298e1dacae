#include "config/access_tokens.hpp"

#include "tests/unit/config/access_rows.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace config::testing;
using namespace std::chrono_literals;
using texts = std::vector<std::string>;

TEST_SUITE_BEGIN("config/access_tokens");

namespace {

const std::string tenant = "8eaef023-2b34-4da1-9baa-8bc8c9d6a490";

}  // namespace

TEST_CASE("An issuer that is discovered is an https URL")
{
    const auto oidc = [](const std::string& issuer) {
        return "oidc, name: a, audience: b, issuer: \"" + issuer + "\"";
    };
    const std::string expected = "; expected the https URL of the issuer, or an http URL of a loopback host\n";
    const std::string at = "50: access.providers[0].issuer: ";
    check_providers({
        {oidc("https://idp.example/realm/"), ""},
        {oidc("http://127.0.0.1:9"), ""},
        {oidc("http://idp.example"), at + "\"http://idp.example\" is not safe from changes on its way" + expected},
        {oidc("https://Idp.example"), at + "\"https://Idp.example\" has capitals in its host" + expected},
        {oidc("https://h/?a=b"), at + "\"https://h/?a=b\" has a query (?)" + expected},
        {oidc("idp"), at + "\"idp\" is not a URL" + expected},
        {"oidc, name: a, issuer: \"https://h\"",
         "7: access.providers[0].audience: is missing; expected the `aud` of its tokens, or `client_id` for tokens "
         "that "
         "have none\n"},
        {"oidc, name: a, client_id: c, issuer: \"https://h\"", ""},
        {"oidc, name: a, audience: b, jwks_url: \"https://h\", issuer: \"https://h\"",
         "42: access.providers[0].jwks_url: is not a known key; known here: type, name, issuer, audience, client_id, "
         "algorithms, leeway, scope_prefix\n"},
    });
    CHECK(
        type_of<core::oidc_provider>(oidc("https://h/r/") + ", algorithms: PS256, leeway: 1m") ==
        core::oidc_provider{"https://h/r/", {"b"}, {"PS256"}, 1min}
    );
}

TEST_CASE("A directory of Azure AD is named by its id, and both of its issuers are accepted")
{
    const auto azure = [](const std::string& id) { return "azure_ad, name: a, audience: b, tenant: \"" + id + "\""; };
    const std::string expected = "; expected the id of the directory, such as 8eaef023-2b34-4da1-9baa-8bc8c9d6a490\n";
    check_providers({
        {azure(tenant), ""},
        {azure("common"), "54: access.providers[0].tenant: \"common\" is not the id of a directory" + expected},
        {azure("example.com"), "54: access.providers[0].tenant: \"example.com\" is not the id of a directory" + expected
        },
        {azure(""), "54: access.providers[0].tenant: is empty" + expected},
    });
    const auto read = provider(azure("8EAEF023-2b34-4da1-9baa-8bc8c9d6a490"));
    CHECK(std::get<core::azure_ad_provider>(read.type) == core::azure_ad_provider{tenant, {"b"}, "", 30s});
    CHECK(
        config::issuers_of(read) ==
        texts{"https://login.microsoftonline.com/" + tenant + "/v2.0", "https://sts.windows.net/" + tenant + "/"}
    );
    CHECK(config::audiences_of(read) == texts{"b"});
}

TEST_CASE("Google's proxy has an audience, and perhaps its keys in a file")
{
    CHECK(
        type_of<core::gcp_iap_provider>("gcp_iap, name: a, audience: /projects/1, jwks_file: k, leeway: 0") ==
        core::gcp_iap_provider{{"/projects/1"}, "k", 0s}
    );
    CHECK(
        provider_problem("gcp_iap, name: a") ==
        "c.yml:3:7: access.providers[0].audience: is missing; expected the `aud` of its tokens\n"
    );
}

TEST_SUITE_END();
