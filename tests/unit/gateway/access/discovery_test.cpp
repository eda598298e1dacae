#include "gateway/access/key_set_source.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

namespace {

using gateway::access::discovered_key_set;
using gateway::access::discovery_url;

// The URL of the keys, or "" where the document cannot be used.
std::string keys(const std::string& issuer, const std::string& body)
{
    const core::result<net::fetch_response> answer =
        net::fetch_response{200, {{"content-type", "application/json"}}, body};
    const auto found = discovered_key_set(answer, issuer);
    if (!found) {
        CHECK(found.error().code == core::errc::access_unavailable);
    }
    return found ? *found : "";
}

std::string document(const std::string& issuer, const std::string& keys)
{
    return R"({"issuer":")" + issuer + R"(","jwks_uri":")" + keys + R"("})";
}

TEST_SUITE("access discovery")
{
    TEST_CASE("The document is below the issuer")
    {
        CHECK(discovery_url("https://a") == "https://a/.well-known/openid-configuration");
        CHECK(discovery_url("https://a/") == "https://a/.well-known/openid-configuration");
        CHECK(discovery_url("https://a/b") == "https://a/b/.well-known/openid-configuration");
        CHECK(discovery_url("https://a/b/") == "https://a/b/.well-known/openid-configuration");
    }

    TEST_CASE("The document is about exactly this issuer")
    {
        CHECK(keys("https://a", document("https://a", "https://b/keys?v=1")) == "https://b/keys?v=1");
        for (const auto* other : {"https://a/", "https://A", "https://ab", "http://a", ""}) {
            CHECK(keys("https://a", document(other, "https://b/keys")).empty());
        }
        CHECK(keys("https://a", R"({"issuer":["https://a"],"jwks_uri":"https://b"})").empty());
        CHECK(keys("https://a", R"({"issuer":"https://x","issuer":"https://a","jwks_uri":"https://b"})").empty());
    }

    TEST_CASE("Keys come over https, or from the issuer's own origin")
    {
        CHECK(
            keys("http://127.0.0.1:9/i", document("http://127.0.0.1:9/i", "http://127.0.0.1:9/k")) ==
            "http://127.0.0.1:9/k"
        );
        CHECK(keys("http://127.0.0.1:9/i", document("http://127.0.0.1:9/i", "https://b/k")) == "https://b/k");
        for (const auto* other :
             {"http://127.0.0.1:8/k", "http://localhost:9/k", "http://b/k", "https://u:p@b/k", "/k", "", "file:///k"}) {
            CHECK(keys("http://127.0.0.1:9/i", document("http://127.0.0.1:9/i", other)).empty());
        }
        CHECK(keys("https://a", document("https://a", "http://a/k")).empty());
        CHECK(keys("https://a", R"({"issuer":"https://a"})").empty());
        CHECK(keys("https://a", R"({"issuer":"https://a","jwks_uri":7})").empty());
    }
}

}  // namespace
