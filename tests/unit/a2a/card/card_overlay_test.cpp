#include "a2a/card/card_edits.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using core::errc;
using core::json;

TEST_SUITE_BEGIN("a2a/card/card_overlay");

namespace {

json parsed(std::string_view text)
{
    auto value = core::parse_json(text);
    REQUIRE_MESSAGE(value.has_value(), text);
    return *value;
}

constexpr std::string_view base =
    R"({"name":"n","description":"d","version":"1","skills":[{"id":"a"},{"id":"b"}],"defaultInputModes":["text/plain"],)"
    R"("supportedInterfaces":[{"url":"http://a"}],"security":[{"x":[]}],"provider":{"organization":"o","url":"http://o"},)"
    R"("capabilities":{"streaming":true,"x":{"deep":{"a":1,"b":2}},"extensions":[{"uri":"u"},{"uri":"v"}]},)"
    R"("securitySchemes":{"x":{"type":"http","scheme":"bearer"},"y":{"type":"http","scheme":"basic"}}})";

json overlaid(std::string_view overlay)
{
    auto card = parsed(base);
    a2a::apply_overlay(card, parsed(overlay));
    return card;
}

}  // namespace

TEST_CASE("what an overlay does not name stays, and scalars are replaced")
{
    CHECK(overlaid("{}") == parsed(base));
    auto expected = parsed(base);
    expected["version"] = "2";
    expected["documentationUrl"] = "https://docs.example/gold";
    CHECK(overlaid(R"({"version":"2","documentationUrl":"https://docs.example/gold"})") == expected);
}

TEST_CASE("skills, interfaces, modes, security requirements and other objects are replaced as a whole")
{
    for (const std::string overlay : {
             R"({"skills":[{"id":"c"}]})",
             R"({"skills":[]})",
             R"({"supportedInterfaces":[{"url":"http://b"},{"url":"http://c"}]})",
             R"({"additionalInterfaces":[{"url":"http://b"}]})",
             R"({"defaultInputModes":["image/png"]})",
             R"({"defaultOutputModes":["image/png"]})",
             R"({"security":[{"y":[]}]})",
             R"({"securityRequirements":[{"schemes":{"y":{}}}]})",
             R"({"provider":{"organization":"p"}})",
         }) {
        CAPTURE(overlay);
        const auto part = parsed(overlay);
        auto expected = parsed(base);
        const auto name = part.begin().key();
        expected[name] = part.begin().value();
        CHECK(overlaid(overlay) == expected);
    }
}

TEST_CASE("capabilities are merged at every depth, but for their lists")
{
    CHECK(
        overlaid(R"({"capabilities":{"streaming":false,"pushNotifications":true,"x":{"deep":{"b":3,"c":4}},)"
                 R"("extensions":[{"uri":"w"}]}})")["capabilities"] ==
        parsed(
            R"({"streaming":false,"x":{"deep":{"a":1,"b":3,"c":4}},"extensions":[{"uri":"w"}],"pushNotifications":true})"
        )
    );
    CHECK(
        overlaid(R"({"capabilities":{"x":{"deep":null}}})")["capabilities"] ==
        parsed(R"({"streaming":true,"x":{},"extensions":[{"uri":"u"},{"uri":"v"}]})")
    );
    auto none = parsed(R"({"name":"n"})");
    a2a::apply_overlay(none, parsed(R"({"capabilities":{"streaming":true}})"));
    CHECK(none == parsed(R"({"name":"n","capabilities":{"streaming":true}})"));
}

TEST_CASE("security schemes are merged by their names, and the overlay's win whole")
{
    CHECK(
        overlaid(R"({"securitySchemes":{"y":{"type":"mutualTLS"},"z":{"type":"apiKey"}}})")["securitySchemes"] ==
        parsed(R"({"x":{"type":"http","scheme":"bearer"},"y":{"type":"mutualTLS"},"z":{"type":"apiKey"}})")
    );
}

TEST_CASE("null takes a member away, and a card without a name or description is none")
{
    CHECK_FALSE(overlaid(R"({"provider":null})").contains("provider"));
    CHECK(a2a::check_overlaid(overlaid(R"({"provider":null})")).has_value());
    for (const std::string lost :
         {R"({"name":null})",
          R"({"name":""})",
          R"({"name":" \n"})",
          R"({"name":7})",
          R"({"description":null})",
          R"({"description":""})",
          R"({"description":[]})"}) {
        CAPTURE(lost);
        const auto checked = a2a::check_overlaid(overlaid(lost));
        REQUIRE(checked.has_error());
        CHECK(checked.error().code == errc::extended_card_incomplete);
        CHECK(checked.error().from == core::side::gateway);
    }
    auto twice = overlaid(R"({"name":null})");
    a2a::apply_overlay(twice, parsed(R"({"name":"back"})"));
    CHECK(a2a::check_overlaid(twice).has_value());
}

TEST_CASE("a patch replaces what it names, in cards of every generation")
{
    const core::card_patch patch{
        .description = "better",
        .documentation_url = "https://docs.example",
        .provider_organization = "Example",
        .provider_url = "https://example.com",
        .skills = {{"b*", {"new"}}, {"*", {"any", "other"}}}
    };
    auto card = parsed(base);
    a2a::apply_patch(card, patch);
    auto expected = parsed(base);
    expected["description"] = "better";
    expected["provider"] = parsed(R"({"organization":"Example","url":"https://example.com"})");
    expected["skills"] = parsed(R"([{"id":"a","tags":["any","other"]},{"id":"b","tags":["new"]}])");
    expected["documentationUrl"] = "https://docs.example";
    CHECK(card == expected);
    auto untouched = parsed(base);
    a2a::apply_patch(untouched, {});
    CHECK(untouched == parsed(base));
}

TEST_SUITE_END();
