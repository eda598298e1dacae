// Documents that an agent may send on purpose: every value of a few cards replaced by everything it must not be.
#include "a2a/card/card.hpp"
#include "a2a/card/card_shape.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using core::json;

TEST_SUITE_BEGIN("a2a/hostile cards");

namespace {

const a2a::public_address gateway{"https://gw.example/agents/x"};
const a2a::upstream_address upstream{"http://agent.internal:9000/a2a", ""};
constexpr std::string_view host = "agent.internal";

const std::vector<std::string> cards{
    R"({"protocolVersion":"0.3.0","name":"n","description":"d","url":"http://agent.internal:9000/a2a",
        "preferredTransport":"HTTP+JSON","additionalInterfaces":[{"url":"http://agent.internal:9000/","transport":"JSONRPC"},
        {"url":"agent.internal:9001","transport":"GRPC"}],"provider":{"organization":"o","url":"u"},"version":"1",
        "capabilities":{"streaming":true,"extensions":[{"uri":"e","params":{}}]},"securitySchemes":{"a":{"type":"http"}},
        "security":[{"a":[]}],"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
        "skills":[{"id":"s","name":"S","description":"d","tags":["t"]}],"signatures":[{"protected":"p","signature":"s"}]})",
    R"({"name":"n","description":"d","version":"1","supportedInterfaces":[
        {"url":"http://agent.internal:9000/","protocolBinding":"JSONRPC","protocolVersion":"0.3"},
        {"url":"http://agent.internal:9000/","protocolBinding":"JSONRPC","protocolVersion":"1.0","tenant":"t","x":{"y":["z"]}},
        {"url":"https://agent.internal:9443/","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}],
        "capabilities":{"extendedAgentCard":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
        "skills":[{"id":"s","name":"S","description":"d","tags":["t"]}]})",
    R"({"name":"n","url":"http://agent.internal:9000/","additional_interfaces":[{"Url":"http://agent.internal:9000"}],
        "supportedInterfaces":[{"url":"http://agent.internal:9000/","protocolBinding":"json-rpc"}],"agentCard":{
        "name":"i","url":"http://agent.internal:9000/","agentCard":{"URL":"http://agent.internal:9000/",
        "supported_interfaces":[{"url":"http://agent.internal:9000","transport":"JSONRPC","w":"ws://agent.internal:9000"}]}}})",
};

const std::vector<json>& replacements()
{
    static const std::vector<json> values{
        json(nullptr),
        json(true),
        json(-1),
        json(1e300),
        json(""),
        json(" "),
        json("http://agent.internal:9000/x"),
        json("agent.internal:9000"),
        json("//agent.internal:9000"),
        json("http://agent.internal:9000/" + std::string(65536, 'x')),
        json(std::string(65536, '[')),
        json::array(),
        json::array({nullptr, 7, "http://agent.internal:9000", json::object()}),
        json::array({json{{"url", "http://agent.internal:9000"}, {"protocolBinding", "JSONRPC"}}}),
        json::object(),
        json{{"url", "http://agent.internal:9000"}},
        json{{"url", {{"url", json::array({"http://agent.internal:9000"})}}}, {"", nullptr}},
        json{{"http://agent.internal:9000", 1}},
    };
    return values;
}

// Every traffic position, whole: nothing in an interface or a URL may name the agent.
bool names_agent(const json& card)
{
    for (const auto& [key, value] : card.items()) {
        if (key == "agentCard"
                ? names_agent(value)
                : (key == "url" || key.ends_with("Interfaces")) && value.dump().find(host) != std::string::npos) {
            return true;
        }
    }
    return false;
}

struct outcome {
    std::size_t served = 0;
    std::size_t refused = 0;
    std::size_t unrewritable = 0;
};

void judge(const std::string& text, outcome& seen)
{
    const auto made = a2a::parse_card(text);
    if (made.has_error()) {
        CHECK(made.error().code == core::errc::card_invalid);
        ++seen.refused;
        return;
    }
    const auto served = a2a::rewrite_card(*made, gateway, upstream);
    if (served.has_error()) {
        CHECK(served.error().code == core::errc::card_unrewritable);
        CHECK(served.error().detail.find("tenant") != std::string::npos);
        ++seen.unrewritable;
        return;
    }
    ++seen.served;
    CHECK_FALSE(names_agent(*served));
    CHECK((served->contains("url") || !served->at("supportedInterfaces").empty()));
    const auto again = a2a::parse_card(a2a::render(*served), {.bytes = 16 * 1024 * 1024});
    REQUIRE(again.has_value());
    CHECK(a2a::render(*a2a::rewrite_card(*again, gateway, upstream)) == a2a::render(*served));
    CHECK(json(a2a::facts(*made).name) == served->at("name"));
}

}  // namespace

TEST_CASE("no value in the place of another makes a card crash or leak")
{
    outcome seen;
    for (const auto& text : cards) {
        const auto card = *core::parse_json(text);
        const auto flat = card.flatten();
        // Every value and every container on the way to it.
        std::vector<json::json_pointer> places;
        for (const auto& [path, value] : flat.items()) {
            for (json::json_pointer place{path}; !place.empty(); place.pop_back()) {
                places.push_back(place);
            }
        }
        for (const auto& place : places) {
            CAPTURE(place.to_string());
            for (std::size_t i = 0; i < replacements().size(); ++i) {
                CAPTURE(i);
                auto changed = card;
                changed[place] = replacements()[i];
                judge(core::to_text(changed), seen);
            }
        }
    }
    CHECK(seen.served > 1000);
    CHECK(seen.refused > 10);
    CHECK(seen.unrewritable > 0);
}

TEST_CASE("no member that is missing makes a card crash or leak")
{
    outcome seen;
    for (const auto& text : cards) {
        const auto card = *core::parse_json(text);
        const auto flat = card.flatten();
        for (const auto& [path, value] : flat.items()) {
            for (json::json_pointer place{path}; !place.empty(); place.pop_back()) {
                auto changed = card;
                auto& parent = changed[place.parent_pointer()];
                if (parent.is_object()) {
                    parent.erase(place.back());
                } else {
                    parent.erase(std::stoul(place.back()));
                }
                judge(core::to_text(changed), seen);
            }
        }
    }
    CHECK(seen.served > 100);
    CHECK(seen.unrewritable == 0);
}

TEST_CASE("a card cut short anywhere is refused as not JSON")
{
    for (const auto& text : cards) {
        for (std::size_t length = 0; length < text.size(); ++length) {
            const auto made = a2a::parse_card(std::string_view{text}.substr(0, length));
            REQUIRE(made.has_error());
            CHECK(made.error().code == core::errc::card_not_json);
        }
    }
}

TEST_CASE("a card of exactly 1 MiB is served and one byte more is refused")
{
    const std::string head = R"({"name":"n","url":"http://agent.internal:9000","x":")";
    const auto sized = [&](std::size_t size) { return head + std::string(size - head.size() - 2, 'x') + "\"}"; };
    constexpr std::size_t limit = 1024 * 1024;
    for (const auto size : {limit - 1, limit}) {
        outcome seen;
        judge(sized(size), seen);
        CHECK(seen.served == 1);
    }
    const auto large = a2a::parse_card(sized(limit + 1));
    REQUIRE(large.has_error());
    CHECK(large.error().code == core::errc::card_too_large);
}

TEST_CASE("A card has at most one value for every ten bytes of its limit")
{
    const auto outcome = [](std::size_t values) {
        // The card itself, its name, its URL, and the list.
        std::string text = R"({"name":"n","url":"http://agent.internal:9000","x":[0)";
        for (std::size_t i = 5; i < values; ++i) {
            text += ",0";
        }
        return a2a::parse_card(text + "]}", {.bytes = 10000});
    };
    CHECK(outcome(999).has_value());
    CHECK(outcome(1000).has_value());
    const auto refused = outcome(1001);
    REQUIRE(refused.has_error());
    CHECK(refused.error().code == core::errc::card_not_json);
    CHECK(refused.error().detail == "the card is a document with more than 1000 values");
}

TEST_CASE("A long name stands in the path of a problem with its first 64 bytes")
{
    const std::string name = std::string(63, 'n') + "\u00e9" + std::string(1000, 'n');
    const auto text =
        R"({"name":"n","url":"http://agent.internal:9000/","supportedInterfaces":[],"securitySchemes":{")" + name +
        R"(":{"type":"http","scheme":"s","x":1,"y":2}}})";
    const auto made = a2a::parse_card(text);
    REQUIRE(made.has_value());
    const auto served = a2a::rewrite_card(*made, gateway, upstream);
    REQUIRE(served.has_value());
    const auto shaped = a2a::shape_card(*served, core::card_shape::v1, gateway);
    REQUIRE(shaped.has_value());
    const auto path = "securitySchemes." + std::string(63, 'n') + "\u2026.httpAuthSecurityScheme.";
    CHECK(std::ranges::count(shaped->lost, path + "x") == 1);
    CHECK(std::ranges::count(shaped->lost, path + "y") == 1);
}

TEST_CASE("a mebibyte of the worst repetition stays bounded")
{
    const auto filled = [](const std::string& member, const std::string& item) {
        std::string text = R"({"name":"n","url":"http://agent.internal:9000",")" + member + "\":[" + item;
        while (text.size() + item.size() + 3 < 1024 * 1024) {
            text += "," + item;
        }
        return text + "]}";
    };
    for (const auto& [member, item] : std::vector<std::pair<std::string, std::string>>{
             {"skills", "\"a\""},
             {"skills", "{}"},
             {"skills", "0"},
             {"supportedInterfaces", "{}"},
             {"supportedInterfaces", R"({"tenant":"http://agent.internal:9000","protocolBinding":"x"})"},
             {"additionalInterfaces", R"({"url":"http://other.internal"})"},
             {"additionalInterfaces", "0"},
             {"defaultInputModes", "0"},
             {"signatures", "0"},
             {"x", "{}"},
         }) {
        CAPTURE(member);
        CAPTURE(item);
        CHECK(a2a::parse_card(filled(member, item)).has_value() == (item.size() > 20));
        const auto made = a2a::parse_card(filled(member, item), {.bytes = 16 * 1024 * 1024});
        REQUIRE(made.has_value());
        CHECK(made->problems.size() <= a2a::max_card_problems + 1);
        const auto served = a2a::rewrite_card(*made, gateway, upstream);
        REQUIRE(served.has_value());
        CHECK(a2a::render(*served).size() < 3 * 1024 * 1024);
    }
}

TEST_SUITE_END();
