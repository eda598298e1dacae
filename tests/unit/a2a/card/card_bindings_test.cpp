#include "a2a/card/card_shape.hpp"
#include "tests/unit/a2a/card/shaped_cards.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

using a2a_test::parsed;
using core::card_shape;
using core::json;

TEST_SUITE_BEGIN("a2a/card/card_bindings");

namespace {

const a2a::public_address bridged{.base = "https://gw.example/agents/x", .bridged = true};

json rewritten(const std::string& members)
{
    const auto card = a2a::parse_card(a2a_test::card_of(members));
    REQUIRE(card.has_value());
    auto made = a2a::rewrite_card(*card, bridged, {"http://agent.internal:9000/", ""});
    REQUIRE_MESSAGE(made.has_value(), made.error().detail);
    return std::move(*made);
}

json shaped(const std::string& members, card_shape shape)
{
    auto made = a2a::shape_card(rewritten(members), shape, bridged);
    REQUIRE_MESSAGE(made.has_value(), made.error().detail);
    return std::move(made->document);
}

// "1.0 JSONRPC, 0.3 HTTP+JSON t": each interface, with its tenant.
std::string said(const json& interfaces)
{
    std::string all;
    for (const auto& each : interfaces) {
        const auto binding = each.at("protocolBinding").get<std::string>();
        CHECK(each.at("url") == bridged.base + (binding == "JSONRPC" ? "" : "/rest"));
        all += (all.empty() ? "" : ", ") + each.at("protocolVersion").get<std::string>() + " " + binding;
        all += each.contains("tenant") ? " " + each.at("tenant").get<std::string>() : "";
    }
    return all;
}

std::string interface(std::string_view version, std::string_view binding, std::string_view more = "")
{
    return R"({"url":"http://agent.internal:9000/","protocolBinding":")" + std::string{binding} +
           R"(","protocolVersion":")" + std::string{version} + "\"" + std::string{more} + "}";
}

}  // namespace

TEST_CASE("With bridging a list of interfaces is completed, 1.0 first, and the binding of the agent before the other")
{
    const std::string everything = "1.0 JSONRPC, 1.0 HTTP+JSON, 0.3 JSONRPC, 0.3 HTTP+JSON";
    const std::string rest_first = "1.0 HTTP+JSON, 1.0 JSONRPC, 0.3 HTTP+JSON, 0.3 JSONRPC";
    const std::string tenant = R"(,"tenant":"t")";
    const std::pair<std::string, std::string> rows[]{
        {"", everything},
        {interface("1.0", "JSONRPC"), everything},
        {interface("1.0", "HTTP+JSON"), rest_first},
        {interface("1.0", "GRPC") + "," + interface("1.0", "HTTP+JSON"), rest_first},
        {interface("0.3", "JSONRPC"), "1.0 JSONRPC, 1.0 HTTP+JSON, 0.3 JSONRPC, 0.3 HTTP+JSON"},
        {interface("0.3", "HTTP+JSON"), rest_first},
        // Versions are those that the gateway speaks, to the letter.
        {interface("1.0.1", "JSONRPC") + "," + interface("0.2.6", "JSONRPC"),
         "1.0 JSONRPC, 1.0 HTTP+JSON, 0.3 JSONRPC, 0.3 HTTP+JSON"},
        {interface("0.3.0", "JSONRPC") + "," + interface("1.1", "JSONRPC"),
         "1.0 JSONRPC, 1.0 HTTP+JSON, 0.3 JSONRPC, 0.3 HTTP+JSON"},
        // A tenant is in each call of 1.0; callers of 0.3 know none.
        {interface("1.0", "JSONRPC", tenant), "1.0 JSONRPC t, 1.0 HTTP+JSON t, 0.3 JSONRPC, 0.3 HTTP+JSON"},
        {interface("1.0", "JSONRPC", R"(,"tenant":"")") + "," + interface("1.0", "JSONRPC"),
         "1.0 JSONRPC , 1.0 HTTP+JSON, 0.3 JSONRPC, 0.3 HTTP+JSON"},
        {interface("1.0", "JSONRPC", tenant) + "," + interface("1.0", "HTTP+JSON"),
         "1.0 JSONRPC t, 1.0 HTTP+JSON, 1.0 HTTP+JSON t, 1.0 JSONRPC, 0.3 JSONRPC, 0.3 HTTP+JSON"},
    };
    for (const auto& [list, expected] : rows) {
        CAPTURE(list);
        const auto card = rewritten(R"("supportedInterfaces":[)" + list + "]");
        CHECK(said(card.at("supportedInterfaces")) == expected);
        CHECK_FALSE(card.contains("url"));
        CHECK_FALSE(card.contains("additionalInterfaces"));
    }
    CHECK(said(rewritten(R"("protocolVersion":"1.0")").at("supportedInterfaces")) == everything);
    // What the agent says of its interface besides stays there.
    const auto own = rewritten(R"("supportedInterfaces":[)" + interface("1.0", "JSONRPC", R"(,"x":1)") + "]");
    CHECK(own.at("supportedInterfaces").at(0).at("x") == 1);
    CHECK_FALSE(own.at("supportedInterfaces").at(1).contains("x"));
}

TEST_CASE("With bridging a card of 0.x offers both bindings, and only its own words before it is shaped")
{
    const auto both = parsed(R"([{"url":"https://gw.example/agents/x","transport":"JSONRPC"},
        {"url":"https://gw.example/agents/x/rest","transport":"HTTP+JSON"}])");
    for (const std::string members :
         {R"("url":"http://agent.internal:9000/","protocolVersion":"0.3.0")",
          R"("url":"http://agent.internal:9000/")",
          R"("protocolVersion":"0.3.0")",
          R"("url":"http://a/","additionalInterfaces":[{"url":"http://a/","transport":"JSONRPC"}])"}) {
        CAPTURE(members);
        const auto card = rewritten(members);
        CHECK(card.at("url") == bridged.base);
        CHECK(card.at("additionalInterfaces") == both);
        CHECK_FALSE(card.contains("supportedInterfaces"));
    }
}

TEST_CASE("With bridging the shape of each generation offers that generation, whatever the agent speaks")
{
    const std::string old = R"("url":"http://agent.internal:9000/","protocolVersion":"0.3.0")";
    const std::string modern = R"("supportedInterfaces":[)" + interface("1.0", "JSONRPC") + "]";
    const std::string claims = R"("url":"http://agent.internal:9000/","protocolVersion":"1.0")";
    for (const auto& members : {old, modern, old + "," + modern, claims}) {
        CAPTURE(members);
        const auto v1 = shaped(members, card_shape::v1);
        CHECK(said(v1.at("supportedInterfaces")) == "1.0 JSONRPC, 1.0 HTTP+JSON, 0.3 JSONRPC, 0.3 HTTP+JSON");
        CHECK_FALSE(v1.contains("url"));
        CHECK_FALSE(v1.contains("protocol"));
        const auto v03 = shaped(members, card_shape::v03);
        CHECK(v03.at("url") == bridged.base);
        CHECK(v03.at("protocolVersion") == "0.3.0");
        CHECK(v03.at("additionalInterfaces").size() == 2);
        CHECK_FALSE(v03.contains("supportedInterfaces"));
        CHECK_FALSE(v03.contains("protocol"));
        const auto hybrid = shaped(members, card_shape::hybrid);
        CHECK(hybrid.at("supportedInterfaces") == v1.at("supportedInterfaces"));
        for (const auto* member : {"url", "preferredTransport", "additionalInterfaces", "protocolVersion"}) {
            CHECK(hybrid.at(member) == v03.at(member));
        }
        CHECK(hybrid.at("protocol") == "a2a");
    }
    CHECK(shaped(old + R"(,"protocol":"own")", card_shape::hybrid).at("protocol") == "own");
}

TEST_CASE("A plain card of 1.0 loses nothing in any shape")
{
    for (const auto* more : {"", R"(,"tenant":"")"}) {
        CAPTURE(more);
        const auto card = rewritten(R"("supportedInterfaces":[)" + interface("1.0", "JSONRPC", more) + "]");
        for (const auto shape : {card_shape::v1, card_shape::v03, card_shape::hybrid}) {
            const auto made = a2a::shape_card(card, shape, bridged);
            REQUIRE(made.has_value());
            CHECK(made->lost.empty());
        }
    }
}

TEST_CASE("A card that names only bindings that the gateway cannot reach is refused with their names")
{
    const std::string url = R"("url":"http://agent.internal:9000/",)";
    const std::string grpc = R"({"url":"agent.internal:9001","protocolBinding":"grpc","protocolVersion":"1.0"})";
    const std::string own = R"({"url":"http://a","protocolBinding":"https://own.example/b","protocolVersion":"1.0"})";
    const std::string rest = R"({"url":"http://a","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"})";
    const auto made_of = [](const std::string& members, bool reachable) {
        const auto card = a2a::parse_card(R"({"name":"n",)" + members + "}");
        REQUIRE(card.has_value());
        return a2a::rewrite_card(*card, a2a_test::gateway, {"http://agent.internal:9000/", "", reachable});
    };
    const std::pair<std::string, std::string> rows[]{
        {url + R"("preferredTransport":"GRPC")", "GRPC"},
        {R"("preferredTransport":"GRPC")", "GRPC"},
        {url + R"("preferredTransport":"GRPC","additionalInterfaces":[{"url":"a:1","transport":"GRPC"}])", "GRPC"},
        {R"("additionalInterfaces":[{"url":"http://a","transport":"GRPC"}])", "GRPC"},
        {R"("supportedInterfaces":[)" + grpc + "]", "GRPC"},
        {R"("supportedInterfaces":[)" + grpc + "," + own + "," + grpc + "]", "GRPC, https://own.example/b"},
        {R"("supportedInterfaces":[)" + grpc + "," + rest + "]", ""},
        {url + R"("supportedInterfaces":[)" + grpc + "]", ""},
        {R"("supportedInterfaces":[{"url":"http://a","protocolBinding":"HTTP","protocolVersion":"1.0"}])", ""},
        {url + R"("preferredTransport":"MCP-STREAMABLE-HTTP")", ""},
    };
    for (const auto& [members, named] : rows) {
        CAPTURE(members);
        const auto made = made_of(members, false);
        CHECK(made.has_value() == named.empty());
        if (made.has_error()) {
            CHECK(made.error().code == core::errc::card_unrewritable);
            CHECK(made.error().from == core::side::upstream);
            CHECK(made.error().detail == "the card offers only " + named + ", which the gateway cannot reach");
        }
        // The operator knows better.
        CHECK(made_of(members, true).has_value());
    }
    // Beside a `url` that can be reached, the gateway's own stands for those that cannot.
    const auto left = made_of(url + R"("supportedInterfaces":[)" + grpc + "]", false);
    REQUIRE(left.has_value());
    REQUIRE(left->at("supportedInterfaces").size() == 1);
    CHECK(left->at("supportedInterfaces").at(0).at("protocolBinding") == "JSONRPC");
}

TEST_CASE("A thousand interfaces with a tenant each become at most two of 1.0 each, and two of 0.3")
{
    std::string list;
    for (int i = 0; i < 1000; ++i) {
        list += (i == 0 ? "" : ",") + interface("1.0", "JSONRPC", R"(,"tenant":")" + std::to_string(i) + "\"");
    }
    CHECK(rewritten(R"("supportedInterfaces":[)" + list + "]").at("supportedInterfaces").size() == 2002);
}

TEST_SUITE_END();
