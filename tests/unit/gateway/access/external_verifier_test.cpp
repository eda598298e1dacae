#include "gateway/access/external_verifier.hpp"

#include "tests/unit/gateway/access/key_set_rig.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

using namespace std::chrono_literals;
using core::errc;
using outcome = core::result<gateway::model::accepted_credential>;

constexpr core::wall_time wall{1'800'000'000s};

core::access_provider check(const std::string& url = "https://check.example/")
{
    return {.name = "check", .type = core::http_verifier_provider{.url = url}};
}

struct rig : access_test::key_set_rig {
    rig()
    {
        verifier.set_providers({check()});
        fetcher.answer =
            net::fetch_response{200, {{"content-type", "application/json"}}, R"({"active":true,"principal":"alice"})"};
    }

    errc refusal(const std::string& token)
    {
        const auto got = run(verifier.verify(token));
        return got ? errc::internal : got.error().code;
    }

    gateway::access::external_verifier verifier{fetcher, [] { return wall; }};
};

TEST_SUITE("access external_verifier")
{
    TEST_CASE("The service's answer is the verdict")
    {
        rig x;
        const auto got = x.run(x.verifier.verify("a-token")).value();
        CHECK(got.owner->id == "alice");
        CHECK(got.owner->provider == "check");
        CHECK(got.until == wall + 5s);
        CHECK(x.fetcher.asked.url == "https://check.example/");
        CHECK(x.fetcher.asked.body == R"({"token":"a-token"})");
        x.fetcher.answer = net::fetch_response{403, {}, {}};
        CHECK(x.refusal("a-token") == errc::unauthenticated);
        x.fetcher.answer = core::gateway_error(errc::upstream_refused, "refused");
        CHECK(x.refusal("a-token") == errc::access_unavailable);
        x.fetcher.throws = true;
        CHECK(x.refusal("a-token") == errc::access_unavailable);
    }

    TEST_CASE("A token with other characters than a bearer has is refused without a question")
    {
        rig x;
        for (const auto* token : {"a b", "a\xFF", "a\x7F", "\xC3\xA4"}) {
            CHECK(x.refusal(token) == errc::unauthenticated);
        }
        CHECK(x.fetcher.fetches == 0);
    }

    TEST_CASE("One question is asked while many requests bring the same token")
    {
        rig x;
        x.fetcher.silent = true;
        const auto first = x.begin(x.verifier.verify("a-token"));
        const auto second = x.begin(x.verifier.verify("a-token"));
        CHECK(x.fetcher.fetches == 1);
        x.fetcher.release();
        x.run_until([&] { return first->has_value() && second->has_value(); });
        CHECK((**first).has_value());
        CHECK((**second).has_value());
    }

    TEST_CASE("What a service says that has been replaced meanwhile does not count")
    {
        rig x;
        x.fetcher.silent = true;
        const auto asked = x.begin(x.verifier.verify("a-token"));
        x.verifier.set_providers({check()});
        const auto again = x.begin(x.verifier.verify("a-token"));
        CHECK(x.fetcher.fetches == 1);
        x.verifier.set_providers({check("https://other.example/")});
        x.fetcher.release();
        x.run_until([&] { return asked->has_value() && again->has_value(); });
        CHECK((**asked).error().code == errc::access_unavailable);
        CHECK((**again).error().code == errc::access_unavailable);
        CHECK(x.run(x.verifier.verify("a-token")).has_value());
        x.verifier.set_providers({});
        CHECK_FALSE(x.verifier.is_configured());
        CHECK(x.refusal("a-token") == errc::access_unavailable);
    }

    TEST_CASE("After stop() nothing is asked")
    {
        rig x;
        x.verifier.stop();
        CHECK(x.refusal("a-token") == errc::access_unavailable);
        CHECK(x.fetcher.fetches == 0);
    }
}

}  // namespace
