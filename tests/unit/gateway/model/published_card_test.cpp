#include "gateway/model/published_card.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/published_card");

using gateway::model::none_match_hits;

namespace {

std::shared_ptr<const gateway::model::card_bytes> make_card_bytes(std::string text)
{
    return gateway::model::make_card_bytes(gateway::model::body_with_strong_etag(std::move(text)));
}

std::shared_ptr<const gateway::model::card_bytes> make_card_bytes(std::string own, std::string v1, std::string v03)
{
    return gateway::model::make_card_bytes(
        gateway::model::body_with_strong_etag(std::move(own)),
        {.v1 = gateway::model::body_with_strong_etag(std::move(v1)),
         .v03 = gateway::model::body_with_strong_etag(std::move(v03))}
    );
}

}  // namespace

TEST_CASE("the bytes of a card carry their own fields, whose length is the body's")
{
    for (const std::string body : {R"({"name":"a"})", "", "{\"name\":\"\xc3\xa4\"}"}) {
        const auto made = make_card_bytes(body);
        CHECK(made->body == body);
        CHECK(
            made->fields == "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n"
        );
        CHECK(made->validators == "ETag: " + made->etag + "\r\n");
        CHECK_FALSE(made->by_version);
        CHECK(&gateway::model::for_version(*made, "1.0") == made.get());
    }
}

TEST_CASE("a caller gets the bytes of the version that it names, each with an ETag of its own, and Vary")
{
    const auto made = make_card_bytes("own", "one", "old");
    const std::pair<std::string, std::string> rows[]{
        {"1.0", "one"},
        {"1", "one"},
        {"1.0.1", "one"},
        {"0.3", "old"},
        {"0.2.6", "old"},
        {"", "own"},
        {"2.0", "own"},
        {"10.0", "own"},
        {"v1", "own"},
        {" 1.0", "own"},
    };
    for (const auto& [version, body] : rows) {
        CAPTURE(version);
        const auto& chosen = gateway::model::for_version(*made, version);
        CHECK(chosen.body == body);
        CHECK(chosen.etag == make_card_bytes(body)->etag);
        CHECK(chosen.validators == "ETag: " + chosen.etag + "\r\nVary: A2A-Version\r\n");
    }
}

TEST_CASE("a version that could not be made is an error to who names it, and nobody else")
{
    using gateway::model::body_with_strong_etag;
    const auto why = core::upstream_error(core::errc::card_too_large, "v1");
    const auto made =
        gateway::model::make_card_bytes(body_with_strong_etag("own"), {why, body_with_strong_etag("old")});
    REQUIRE(gateway::model::for_version(*made, "1.0").refused.has_value());
    CHECK(gateway::model::for_version(*made, "1.0").refused->code == core::errc::card_too_large);
    for (const auto* version : {"", "0.3"}) {
        CHECK_FALSE(gateway::model::for_version(*made, version).refused.has_value());
    }
    const auto whole = make_card_bytes("own", "one", "old");
    CHECK_FALSE(gateway::model::same_bytes(*made, *whole));
    CHECK_FALSE(gateway::model::same_bytes(*whole, *made));
    CHECK(gateway::model::same_bytes(*whole, *make_card_bytes("own", "one", "old")));
    CHECK_FALSE(gateway::model::same_bytes(*whole, *make_card_bytes("own", "own", "old")));
    CHECK_FALSE(gateway::model::same_bytes(*whole, *make_card_bytes("own", "one", "new")));
    CHECK_FALSE(gateway::model::same_bytes(*whole, *make_card_bytes("new", "one", "old")));
}

TEST_CASE("a variant with the same bytes is not kept twice")
{
    const auto made = make_card_bytes("own", "own", "old");
    CHECK(made->v1 == nullptr);
    CHECK(made->v03 != nullptr);
    CHECK(&gateway::model::for_version(*made, "1.0") == made.get());
    CHECK(made->by_version);
}

TEST_CASE("the ETag is strong, the same for the same bytes, and another for others")
{
    const auto one = make_card_bytes(R"({"name":"a"})");
    const auto same = make_card_bytes(R"({"name":"a"})");
    const auto other = make_card_bytes(R"({"name":"b"})");
    CHECK(one->etag == same->etag);
    CHECK(one->etag != other->etag);
    REQUIRE(one->etag.size() > 2);
    CHECK(one->etag.front() == '"');
    CHECK(one->etag.back() == '"');
    CHECK(one->etag.find('"', 1) == one->etag.size() - 1);
}

TEST_CASE("If-None-Match matches a list, weakly, and the star")
{
    for (const auto* field : {
             R"("x")",
             R"(W/"x")",
             R"(*)",
             R"("a","x")",
             R"("a", "x")",
             R"("a" ,"x", "b")",
             R"(W/"a", W/"x")",
             R"(,, "x")",
             R"(  "x")",
             "\"a\",\t\"x\"",
             R"("a,b", "x")",
             R"("", "x")",
         }) {
        CAPTURE(field);
        CHECK(none_match_hits(field, R"("x")"));
        CHECK(none_match_hits(field, R"(W/"x")"));
    }
}

TEST_CASE("If-None-Match that is malformed or of something else does not match")
{
    for (const auto* field : {
             "",
             " ",
             ",",
             "x",
             R"("x)",
             R"(x")",
             R"("X")",
             R"("xx")",
             R"("a")",
             R"(w/"x")",
             R"(W/ "x")",
             R"(W/W/"x")",
             R"(*, "y")",
             R"("a" "b)",
             R"("a,"x)",
             R"("a"; "x")",
         }) {
        CAPTURE(field);
        CHECK_FALSE(none_match_hits(field, R"("x")"));
    }
}

TEST_CASE("a caller's date counts without an ETag only, and only if it is the one that the card was given out with")
{
    constexpr std::string_view etag = "\"e\"";
    constexpr std::string_view date = "Sun, 22 Nov 2026 08:00:00 GMT";
    constexpr std::string_view later = "Sun, 22 Nov 2026 08:00:01 GMT";
    constexpr std::string_view other = "\"other\"";
    const auto has = [&](const std::string_view* none_match, const std::string_view* since, std::string_view modified) {
        return gateway::model::has_it({none_match, since}, etag, modified);
    };
    CHECK(has(nullptr, &date, date));
    CHECK_FALSE(has(nullptr, &later, date));
    CHECK_FALSE(has(nullptr, &date, later));
    CHECK_FALSE(has(nullptr, nullptr, date));
    CHECK(has(&etag, &later, date));
    CHECK_FALSE(has(&other, &date, date));
    const std::string_view none;
    CHECK_FALSE(has(nullptr, &none, ""));
}

TEST_SUITE_END();
