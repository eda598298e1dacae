#include "gateway/access/credential_verifier.hpp"

#include "core/base64.hpp"
#include "tests/unit/gateway/access/key_set_rig.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using core::base64url;
using core::errc;

constexpr core::wall_time wall{1'800'000'000s};

core::access_provider idp()
{
    return {
        .name = "idp",
        .type =
            core::jwt_provider{
                .issuer = "https://idp.example",
                .audiences = {"cardea"},
                .algorithms = {"ES256"},
                .key_set_url = "https://idp.example/keys",
                .key_set_file = {}
            }
    };
}

core::access_provider check()
{
    return {.name = "check", .type = core::http_verifier_provider{.url = "https://check.example/"}};
}

// Not signed by anybody.
std::string token_of(const std::string& issuer)
{
    const auto claims = R"({"iss":")" + issuer + R"(","aud":"cardea","sub":"a","exp":1800000100})";
    return base64url(R"({"alg":"ES256"})") + '.' + base64url(claims) + '.' + base64url(std::string(64, '\1'));
}

struct rig : access_test::key_set_rig {
    explicit rig(const std::vector<core::access_provider>& providers) { verifier.set_providers(providers); }

    // Where the question about the token went; empty: nowhere.
    std::string asked(std::string token)
    {
        fetcher.asked = {};
        static_cast<void>(run(verifier.verify({.field = {}, .text = std::move(token)})));
        return fetcher.asked.url;
    }

    gateway::access::credential_verifier verifier{services(), [] { return wall; }};
};

TEST_SUITE("access credential_verifier")
{
    TEST_CASE("A token of an issuer that is known is checked with its keys, every other by the external verifier")
    {
        rig x{{idp(), check()}};
        CHECK(x.asked(token_of("https://idp.example")) == "https://idp.example/keys");
        CHECK(x.asked(token_of("https://other.example")) == "https://check.example/");
        CHECK(x.asked("opaque") == "https://check.example/");
        rig without{{idp()}};
        CHECK(without.asked("opaque").empty());
    }

    TEST_CASE("After stop() nothing is asked")
    {
        rig x{{idp(), check()}};
        x.verifier.stop();
        CHECK(x.asked(token_of("https://idp.example")).empty());
        CHECK(x.asked("opaque").empty());
    }
}

}  // namespace
