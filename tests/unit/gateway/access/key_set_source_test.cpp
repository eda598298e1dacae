#include "gateway/access/key_set_source.hpp"

#include "tests/support/scratch.hpp"
#include "tests/unit/gateway/access/key_set_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace {

using namespace std::chrono_literals;
using core::errc;
using gateway::access::key_list;
using gateway::access::key_set_source;

const std::string url = "https://idp.example/keys?k=secret";

struct rig : access_test::key_set_rig {
    explicit rig(gateway::access::key_set_place place = {.url = url, .file = {}})
        : source{std::make_shared<key_set_source>(std::move(place), services())}
    {
        serve(access_test::set_of({first.jwk()}));
    }

    core::result<key_list> keys(bool newer = false) { return run(source->keys(newer)); }

    std::string kid(bool newer = false) { return keys(newer).value()->front().kid(); }

    jose::json_web_key first = access_test::new_key("first");
    jose::json_web_key second = access_test::new_key("second");
    std::shared_ptr<key_set_source> source;
};

net::fetch_response ok(std::string body, std::string cache_control)
{
    return {.status = 200, .headers = {{"cache-control", std::move(cache_control)}}, .body = std::move(body)};
}

std::string of_symmetric_keys(int count)
{
    return access_test::set_of(
        std::vector<core::json>(static_cast<std::size_t>(count), core::json{{"kty", "oct"}, {"k", "AAAA"}})
    );
}

TEST_SUITE("access key_set_source")
{
    TEST_CASE("The set of an issuer is where its document says, each time it is read, and the last good one is kept")
    {
        rig x{{.url = {}, .file = {}, .issuer = "https://idp.example"}};
        const auto document = [&](const std::string& keys) {
            x.fetcher.answers = {
                {"https://idp.example/.well-known/openid-configuration",
                 net::fetch_response{
                     200,
                     {{"content-type", "application/json"}},
                     R"({"issuer":"https://idp.example","jwks_uri":")" + keys + R"("})"
                 }}
            };
        };
        document("https://idp.example/keys");
        CHECK(x.kid() == "first");
        CHECK(x.fetcher.asked.url == "https://idp.example/keys");
        CHECK(x.fetcher.fetches == 2);
        x.now += 1h;
        document("http://idp.example/keys");
        CHECK(x.kid() == "first");
        CHECK(x.fetcher.fetches == 3);
        CHECK(x.sink.text.find("jwks_uri is not https") != std::string::npos);
        x.now += 5s;
        document("https://idp.example/new-keys");
        x.serve(access_test::set_of({x.second.jwk()}));
        CHECK(x.kid() == "first");
        x.run_until([&] { return x.source->facts().age == 0s; });
        CHECK(x.fetcher.asked.url == "https://idp.example/new-keys");
        CHECK(x.kid() == "second");
    }

    TEST_CASE("Keys that an issuer names on another origin are fetched from public addresses only")
    {
        const auto asked = [](const std::string& keys) {
            rig x{{.url = {}, .file = {}, .issuer = "https://idp.example/realm"}};
            x.fetcher.answers = {
                {"https://idp.example/realm/.well-known/openid-configuration",
                 net::fetch_response{
                     200,
                     {{"content-type", "application/json"}},
                     R"({"issuer":"https://idp.example/realm","jwks_uri":")" + keys + R"("})"
                 }}
            };
            CHECK(x.kid() == "first");
            CHECK(x.fetcher.asked.url.ends_with("/keys"));
            return x.fetcher.asked.addresses;
        };
        CHECK(asked("https://idp.example/keys") == nullptr);
        CHECK(asked("https://IDP.example:443/keys") == nullptr);
        for (const auto* other :
             {"https://idp.example:8443/keys", "https://keys.example/keys", "https://10.0.0.1/keys"}) {
            CAPTURE(other);
            const auto rule = asked(other);
            REQUIRE(rule != nullptr);
            CHECK(rule->allows(core::parse_ip("8.8.8.8").value()));
            for (const auto* address : {"10.0.0.1", "127.0.0.1", "169.254.169.254", "::1", "fd00:ec2::254"}) {
                CHECK_FALSE(rule->allows(core::parse_ip(address).value()));
            }
        }
        // An operator has named it.
        rig x;
        CHECK(x.keys().has_value());
        CHECK(x.fetcher.asked.addresses == nullptr);
    }

    TEST_CASE("A set is kept for an hour and then fetched again")
    {
        rig x;
        CHECK(x.kid() == "first");
        x.serve(access_test::set_of({x.second.jwk()}));
        x.now += 59min + 59s;
        CHECK(x.kid() == "first");
        CHECK(x.fetcher.fetches == 1);
        CHECK(x.source->facts().age == 59min + 59s);
        x.now += 1s;
        CHECK(x.kid() == "second");
        CHECK(x.fetcher.fetches == 2);
        CHECK(x.source->facts().age == 0s);
    }

    TEST_CASE("A request is bounded, and tells what it wants")
    {
        rig x;
        CHECK(x.keys().has_value());
        CHECK(x.fetcher.asked.url == url);
        CHECK(x.fetcher.asked.max_size == 1024 * 1024);
        CHECK(x.fetcher.asked.timeout == 5s);
        CHECK_FALSE(x.fetcher.asked.body.has_value());
    }

    TEST_CASE("The answer's max-age says how long a set is fresh, from a minute to a day")
    {
        const std::pair<const char*, core::duration> fields[] = {
            {"max-age=7200", 2h},
            {"public, Max-Age=\"120\" , immutable", 2min},
            {"max-age=1", 1min},
            {"max-age=-1", 1min},
            {"no-cache", 1h},
            {"s-maxage=300", 1h},
            {"max-age=", 1h},
            {"max-age=5x", 1h},
            {"max-age=86401", 24h},
            {"max-age=99999999999999999999999", 24h},
        };
        for (const auto& [field, fresh_for] : fields) {
            CAPTURE(field);
            rig x;
            x.fetcher.answer = ok(access_test::set_of({x.first.jwk()}), field);
            CHECK(x.keys().has_value());
            x.now += fresh_for - 1ms;
            CHECK(x.keys().has_value());
            CHECK(x.fetcher.fetches == 1);
            x.now += 1ms;
            CHECK(x.keys().has_value());
            CHECK(x.fetcher.fetches == 2);
        }
    }

    TEST_CASE("However many ask, one fetch is under way")
    {
        rig x;
        x.fetcher.silent = true;
        std::vector<std::shared_ptr<std::optional<core::result<key_list>>>> asked;
        for (int i = 0; i < 100; ++i) {
            asked.push_back(x.begin(x.source->keys(i % 2 == 0)));
        }
        CHECK(std::ranges::none_of(asked, [](const auto& each) { return each->has_value(); }));
        x.fetcher.release();
        x.run_until([&] { return std::ranges::all_of(asked, [](const auto& each) { return each->has_value(); }); });
        CHECK(x.fetcher.fetches == 1);
        const auto got = (*asked.front())->value();
        CHECK(std::ranges::all_of(asked, [&](const auto& each) { return (*each)->value() == got; }));
    }

    TEST_CASE("Newer keys are fetched at most once in 30 seconds, however often they are asked for")
    {
        rig x;
        CHECK(x.kid() == "first");
        x.serve(access_test::set_of({x.second.jwk()}));
        for (int i = 0; i < 10'000; ++i) {
            x.now += 2ms;
            CHECK(x.kid(true) == "first");
        }
        CHECK(x.fetcher.fetches == 1);
        x.now += 10s;
        CHECK(x.kid(true) == "second");
        for (int i = 0; i < 10'000; ++i) {
            x.now += 2ms;
            CHECK(x.kid(true) == "second");
        }
        CHECK(x.fetcher.fetches == 2);
    }

    TEST_CASE("Who has fresh keys does not wait for a fetch of newer ones")
    {
        rig x;
        CHECK(x.kid() == "first");
        x.now += 31s;
        x.fetcher.silent = true;
        const auto newer = x.begin(x.source->keys(true));
        CHECK_FALSE(newer->has_value());
        CHECK(x.kid() == "first");
        x.serve(access_test::set_of({x.second.jwk()}));
        x.fetcher.release();
        x.run_until([&] { return newer->has_value(); });
        CHECK((*newer)->value()->front().kid() == "second");
    }

    TEST_CASE("Without any set the keys are unavailable, and it is tried again after five seconds")
    {
        rig x;
        x.fetcher.answer = core::upstream_error(errc::upstream_refused, "down");
        const auto failed = x.keys();
        REQUIRE_FALSE(failed.has_value());
        CHECK(failed.error().code == errc::access_unavailable);
        x.serve(access_test::set_of({x.first.jwk()}));
        x.now += 4999ms;
        CHECK_FALSE(x.keys().has_value());
        CHECK(x.fetcher.fetches == 1);
        CHECK_FALSE(x.source->facts().age.has_value());
        x.now += 1ms;
        CHECK(x.kid() == "first");
        CHECK(x.fetcher.fetches == 2);
        CHECK(x.source->facts().failures == 1);
    }

    TEST_CASE("The last good set stays in use when the next is not good, for as long as there is none better")
    {
        const auto set = access_test::set_of({access_test::new_key("third").jwk()});
        const core::result<net::fetch_response> bad[] = {
            core::upstream_error(errc::upstream_timeout),
            core::upstream_error(errc::upstream_tls),
            core::upstream_error(errc::card_too_large),
            net::fetch_response{.status = 500, .headers = {}, .body = set},
            net::fetch_response{.status = 302, .headers = {{"location", "https://evil.example/"}}, .body = set},
            net::fetch_response{.status = 204, .headers = {}, .body = {}},
            net::fetch_response{.status = 206, .headers = {}, .body = set},
            ok("", "max-age=86400"),
            ok("{", "max-age=86400"),
            ok("[]", "max-age=86400"),
            ok(R"({"keys":[]})", "max-age=86400"),
            ok(of_symmetric_keys(3), "max-age=86400"),
            ok(of_symmetric_keys(10'000), "max-age=86400"),
        };
        rig x;
        CHECK(x.kid() == "first");
        x.now += 1h;
        std::uint64_t failures = 0;
        for (const auto& answer : bad) {
            CAPTURE(failures);
            x.fetcher.answer = answer;
            x.now += 24h;
            CHECK(x.kid() == "first");
            ++failures;
            x.run_until([&] { return x.source->facts().failures == failures; });
        }
        CHECK(x.source->facts().age == 1h + 24h * static_cast<int>(std::size(bad)));
        x.serve(access_test::set_of({x.second.jwk()}));
        x.now += 24h;
        CHECK(x.kid(true) == "second");
    }

    TEST_CASE("Nobody waits for a source that has just failed while there are keys from before")
    {
        rig x;
        CHECK(x.kid() == "first");
        x.now += 1h;
        x.fetcher.answer = core::upstream_error(errc::upstream_timeout);
        CHECK(x.kid() == "first");
        x.fetcher.silent = true;
        x.now += 1s;
        CHECK(x.kid() == "first");
        CHECK(x.fetcher.fetches == 2);
        x.now += 4s;
        CHECK(x.kid() == "first");
        CHECK(x.fetcher.fetches == 3);
    }

    TEST_CASE("A fetcher that throws is one that failed")
    {
        rig x;
        x.fetcher.throws = true;
        CHECK(x.keys().error().code == errc::access_unavailable);
        x.fetcher.throws = false;
        x.now += 5s;
        CHECK(x.kid() == "first");
    }

    TEST_CASE("A reading goes on when whoever holds the source has let go of it")
    {
        rig x;
        x.fetcher.silent = true;
        const auto asked = x.begin(x.source->keys(false));
        x.source.reset();
        x.fetcher.release();
        x.run_until([&] { return asked->has_value(); });
        CHECK((*asked)->has_value());
    }

    TEST_CASE("A file is read, and again for newer keys")
    {
        const test_support::scratch_directory folder;
        const auto path = folder.file("keys.json");
        rig x{{.url = {}, .file = path}};
        CHECK(x.keys().error().code == errc::access_unavailable);
        x.now += 5s;
        test_support::write_whole(path, access_test::set_of({x.first.jwk()}));
        CHECK(x.kid() == "first");
        test_support::write_whole(path, access_test::set_of({x.second.jwk()}));
        CHECK(x.kid() == "first");
        x.now += 30s;
        CHECK(x.kid(true) == "second");
        x.now += 30s;
        test_support::write_whole(path, std::string(1024 * 1024 + 1, ' '));
        CHECK(x.kid(true) == "second");
        CHECK(x.fetcher.fetches == 0);
        CHECK(x.source->facts().fetches == 4);
        CHECK(x.source->facts().failures == 2);
    }

    TEST_CASE("The log tells once that a source fails, and that it is back, without the query of its URL")
    {
        rig x;
        x.fetcher.answer = core::upstream_error(errc::upstream_refused, "down");
        for (int i = 0; i < 3; ++i) {
            CHECK_FALSE(x.keys().has_value());
            x.now += 5s;
        }
        x.serve(access_test::set_of({x.first.jwk()}));
        CHECK(x.keys().has_value());
        CHECK(std::ranges::count(x.sink.text, '\n') == 2);
        CHECK(x.sink.text.find("key_set_failed") < x.sink.text.find("key_set_recovered"));
        CHECK(x.sink.text.find("upstream_refused: down") != std::string::npos);
        CHECK(x.sink.text.find("https://idp.example/keys") != std::string::npos);
        CHECK(x.sink.text.find("secret") == std::string::npos);
    }
}

}  // namespace
