#include "a2a/card/card_shape.hpp"
#include "a2a/card/extended_card.hpp"
#include "tests/unit/a2a/card/shaped_cards.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

using a2a_test::parsed;
using core::card_shape;
using core::json;

TEST_SUITE_BEGIN("a2a/card/card_grpc");

namespace {

const std::string dialled = "gw.example:443";
// An agent with a name of its own, and one that calls name by its id.
const a2a::public_address named{
    .base = "https://gw.example/agents/x",
    .bridged = true,
    .grpc = {.authority = dialled, .tenant = {}, .own = true}
};
const a2a::public_address unnamed{
    .base = "https://gw.example/agents/x",
    .bridged = true,
    .grpc = {.authority = dialled, .tenant = "x", .own = true}
};

core::result<json> rewritten(const std::string& members, const a2a::public_address& at, bool reachable = true)
{
    const auto card = a2a::parse_card(a2a_test::card_of(members));
    REQUIRE(card.has_value());
    return a2a::rewrite_card(*card, at, {"http://agent.internal:9000/", "", reachable});
}

json shaped(const std::string& members, card_shape shape, const a2a::public_address& at)
{
    auto card = rewritten(members, at);
    REQUIRE_MESSAGE(card.has_value(), card.error().detail);
    auto made = a2a::shape_card(std::move(*card), shape, at);
    REQUIRE_MESSAGE(made.has_value(), made.error().detail);
    return std::move(made->document);
}

// "1.0 GRPC t": each interface, with its tenant; its URL is that of its binding.
std::string said(const json& interfaces)
{
    std::string all;
    for (const auto& each : interfaces) {
        const bool versioned = each.contains("protocolBinding");
        const auto binding = each.at(versioned ? "protocolBinding" : "transport").get<std::string>();
        const auto url = binding == "GRPC" ? dialled : named.base + (binding == "JSONRPC" ? "" : "/rest");
        CHECK(each.at("url") == url);
        all += all.empty() ? "" : ", ";
        all += versioned ? each.at("protocolVersion").get<std::string>() + " " + binding : binding;
        all += each.contains("tenant") ? " " + each.at("tenant").get<std::string>() : "";
    }
    return all;
}

std::string interface(std::string_view version, std::string_view binding, std::string_view more = "")
{
    return R"({"url":"agent.internal:9001","protocolBinding":")" + std::string{binding} + R"(","protocolVersion":")" +
           std::string{version} + "\"" + std::string{more} + "}";
}

std::string modern(const std::string& interfaces)
{
    return R"("supportedInterfaces":[)" + interfaces + "]";
}

const std::string old_grpc = R"("url":"agent.internal:9001","preferredTransport":"GRPC","protocolVersion":"0.3.0")";
const std::string old_json = R"("url":"http://agent.internal:9000/","protocolVersion":"0.3.0")";

}  // namespace

TEST_CASE("An agent with a name is offered over three bindings in both generations, its own binding first")
{
    const std::pair<std::string, std::string> rows[]{
        {interface("1.0", "JSONRPC"), "1.0 JSONRPC, 1.0 HTTP+JSON, 1.0 GRPC, 0.3 JSONRPC, 0.3 HTTP+JSON, 0.3 GRPC"},
        {interface("1.0", "grpc"), "1.0 GRPC, 1.0 JSONRPC, 1.0 HTTP+JSON, 0.3 GRPC, 0.3 JSONRPC, 0.3 HTTP+JSON"},
        {interface("0.3", "GRPC"), "1.0 GRPC, 1.0 JSONRPC, 1.0 HTTP+JSON, 0.3 GRPC, 0.3 JSONRPC, 0.3 HTTP+JSON"},
        {interface("1.0", "GRPC", R"(,"tenant":"t")"),
         "1.0 GRPC t, 1.0 JSONRPC t, 1.0 HTTP+JSON t, 0.3 GRPC, 0.3 JSONRPC, 0.3 HTTP+JSON"},
        {interface("1.0", "HTTP+JSON") + "," + interface("1.0", "GRPC"),
         "1.0 HTTP+JSON, 1.0 GRPC, 1.0 JSONRPC, 0.3 HTTP+JSON, 0.3 JSONRPC, 0.3 GRPC"},
    };
    for (const auto& [list, expected] : rows) {
        CAPTURE(list);
        const auto card = rewritten(modern(list), named);
        REQUIRE(card.has_value());
        CHECK(said(card->at("supportedInterfaces")) == expected);
    }
}

TEST_CASE("Calls name an agent without a name by its id and its own tenant, in 1.0 alone")
{
    const std::pair<std::string, std::string> rows[]{
        {interface("1.0", "JSONRPC"), "1.0 JSONRPC, 1.0 HTTP+JSON, 1.0 GRPC x, 0.3 JSONRPC, 0.3 HTTP+JSON"},
        {interface("1.0", "GRPC"), "1.0 GRPC x, 1.0 JSONRPC, 1.0 HTTP+JSON, 0.3 JSONRPC, 0.3 HTTP+JSON"},
        {interface("0.3", "GRPC"), "1.0 JSONRPC, 1.0 HTTP+JSON, 1.0 GRPC x, 0.3 JSONRPC, 0.3 HTTP+JSON"},
        {interface("1.0", "GRPC", R"(,"tenant":"t")"),
         "1.0 GRPC x/t, 1.0 JSONRPC t, 1.0 HTTP+JSON t, 0.3 JSONRPC, 0.3 HTTP+JSON"},
        {interface("1.0", "JSONRPC", R"(,"tenant":"t")") + "," + interface("1.0", "JSONRPC"),
         "1.0 JSONRPC t, 1.0 JSONRPC, 1.0 HTTP+JSON t, 1.0 GRPC x/t, 1.0 HTTP+JSON, 1.0 GRPC x, 0.3 JSONRPC, "
         "0.3 HTTP+JSON"},
    };
    for (const auto& [list, expected] : rows) {
        CAPTURE(list);
        const auto card = rewritten(modern(list), unnamed);
        REQUIRE(card.has_value());
        CHECK(said(card->at("supportedInterfaces")) == expected);
    }
}

TEST_CASE("Every shape offers gRPC where its callers can use it")
{
    for (const auto& members : {old_json, modern(interface("1.0", "JSONRPC"))}) {
        CAPTURE(members);
        const auto v1 = said(shaped(members, card_shape::v1, unnamed).at("supportedInterfaces"));
        CHECK(v1 == "1.0 JSONRPC, 1.0 HTTP+JSON, 1.0 GRPC x, 0.3 JSONRPC, 0.3 HTTP+JSON");
        const auto v03 = shaped(members, card_shape::v03, unnamed);
        CHECK(said(v03.at("additionalInterfaces")) == "JSONRPC, HTTP+JSON");
        const auto both = shaped(members, card_shape::hybrid, unnamed);
        CHECK(said(both.at("supportedInterfaces")) == v1);
        CHECK(said(both.at("additionalInterfaces")) == "JSONRPC, HTTP+JSON");

        CHECK(said(shaped(members, card_shape::v03, named).at("additionalInterfaces")) == "JSONRPC, HTTP+JSON, GRPC");
        CHECK(
            said(shaped(members, card_shape::v1, named).at("supportedInterfaces")) ==
            "1.0 JSONRPC, 1.0 HTTP+JSON, 1.0 GRPC, 0.3 JSONRPC, 0.3 HTTP+JSON, 0.3 GRPC"
        );
    }
}

TEST_CASE("A card of 0.3 that prefers gRPC keeps that where its callers can use it")
{
    const auto with_name = rewritten(old_grpc, named);
    REQUIRE(with_name.has_value());
    CHECK(with_name->at("url") == dialled);
    CHECK(with_name->at("preferredTransport") == "GRPC");
    CHECK(said(with_name->at("additionalInterfaces")) == "JSONRPC, HTTP+JSON, GRPC");

    const auto without = rewritten(old_grpc, unnamed);
    REQUIRE(without.has_value());
    CHECK(without->at("url") == unnamed.base);
    CHECK(without->at("preferredTransport") == "JSONRPC");
    CHECK(
        said(shaped(old_grpc, card_shape::v1, unnamed).at("supportedInterfaces")) ==
        "1.0 JSONRPC, 1.0 HTTP+JSON, 1.0 GRPC x, 0.3 JSONRPC, 0.3 HTTP+JSON"
    );
}

TEST_CASE("A card of gRPC alone is refused unless the gateway reaches the agent")
{
    for (const auto& members : {old_grpc, modern(interface("1.0", "GRPC"))}) {
        CAPTURE(members);
        const auto refused = rewritten(members, unnamed, /*reachable=*/false);
        REQUIRE(refused.has_error());
        CHECK(refused.error().code == core::errc::card_unrewritable);
        CHECK(refused.error().detail == "the card offers only GRPC, which the gateway cannot reach");
        CHECK(rewritten(members, unnamed).has_value());
    }
}

TEST_CASE("A binding that the agent's card names comes first only if the gateway reaches the agent by it")
{
    auto translated = named;
    translated.grpc.own = false;
    const auto list = interface("1.0", "GRPC") + "," + interface("1.0", "HTTP+JSON");
    CHECK(
        said(rewritten(modern(list), translated)->at("supportedInterfaces")) ==
        "1.0 HTTP+JSON, 1.0 JSONRPC, 1.0 GRPC, 0.3 HTTP+JSON, 0.3 JSONRPC, 0.3 GRPC"
    );
    const auto old = rewritten(old_grpc, translated);
    REQUIRE(old.has_value());
    CHECK(old->at("preferredTransport") == "JSONRPC");
    CHECK(said(old->at("additionalInterfaces")) == "JSONRPC, HTTP+JSON, GRPC");
    translated.bridged = false;
    CHECK(said(rewritten(modern(list), translated)->at("supportedInterfaces")) == "1.0 HTTP+JSON");
}

TEST_CASE("Without a place for gRPC no card offers it, and without translation only the agent's own")
{
    auto none = named;
    none.grpc = {};
    const auto list = interface("1.0", "GRPC") + "," + interface("1.0", "JSONRPC");
    CHECK(
        said(rewritten(modern(list), none)->at("supportedInterfaces")) ==
        "1.0 JSONRPC, 1.0 HTTP+JSON, 0.3 JSONRPC, 0.3 HTTP+JSON"
    );
    auto alone = unnamed;
    alone.bridged = false;
    CHECK(said(rewritten(modern(list), alone)->at("supportedInterfaces")) == "1.0 GRPC x, 1.0 JSONRPC");
    CHECK(said(rewritten(modern(interface("1.0", "JSONRPC")), alone)->at("supportedInterfaces")) == "1.0 JSONRPC");
    CHECK(said(rewritten(modern(interface("1.0", "GRPC")), alone)->at("supportedInterfaces")) == "1.0 GRPC x");
    auto own = named;
    own.bridged = false;
    CHECK(said(rewritten(modern(list), own)->at("supportedInterfaces")) == "1.0 GRPC, 1.0 JSONRPC");
    for (const auto shape : {card_shape::v1, card_shape::v03, card_shape::hybrid}) {
        CHECK(shaped(modern(interface("1.0", "GRPC")), shape, alone).is_object());
    }
}

TEST_CASE("No interface by gRPC shows where the agent is, and the gateway's own place is no leak")
{
    const auto card = rewritten(modern(interface("1.0", "GRPC", R"(,"x":"agent.internal:9001")")), unnamed);
    REQUIRE(card.has_value());
    CHECK(a2a::render(*card).find("agent.internal") == std::string::npos);
    CHECK(a2a::check_addresses(*card, unnamed).has_value());
    auto elsewhere = *card;
    elsewhere["supportedInterfaces"][0]["url"] = "other.example:443";
    CHECK_FALSE(a2a::check_addresses(elsewhere, unnamed).has_value());
    // The tenant is part of every call, and a leak is refused.
    const auto leaking = rewritten(modern(interface("1.0", "GRPC", R"(,"tenant":"agent.internal:9001")")), named);
    REQUIRE(leaking.has_error());
    CHECK(leaking.error().detail == "supportedInterfaces[0].tenant");
}

TEST_CASE("An extended card in an answer offers gRPC as the public card does")
{
    auto source = a2a::parse_card(a2a_test::card_of(modern(interface("1.0", "GRPC"))));
    REQUIRE(source.has_value());
    const a2a::upstream_address upstream{"http://agent.internal:9000/", "", true};
    const auto v1 = a2a::rewrite_extended_card(*source, unnamed, upstream, a2a::card_dialect::v1);
    REQUIRE(v1.has_value());
    CHECK(
        said(v1->document.at("supportedInterfaces")) ==
        "1.0 GRPC x, 1.0 JSONRPC, 1.0 HTTP+JSON, 0.3 JSONRPC, 0.3 HTTP+JSON"
    );
}

TEST_SUITE_END();
