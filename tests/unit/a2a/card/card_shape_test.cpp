#include "tests/unit/a2a/card/shaped_cards.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using namespace a2a_test;
using core::card_shape;
using core::json;

TEST_SUITE_BEGIN("a2a/card/card_shape");

TEST_CASE("a card of 0.3 becomes one of 1.0, member by member")
{
    const auto made = shaped(
        R"({"protocolVersion":"0.3.0","name":"n","description":"d","url":"http://agent.internal:9000/","preferredTransport":"JSONRPC",
            "additionalInterfaces":[{"url":"http://agent.internal:9000/","transport":"JSONRPC"}],"version":"1","x-own":1,
            "capabilities":{"streaming":false,"stateTransitionHistory":true,"extensions":[{"uri":"u"},{"uri":"v","required":true}]},
            "securitySchemes":{"k":{"type":"apiKey","in":"query","name":"q","description":"D"}},"security":[{"k":[]},{}],
            "defaultInputModes":["a/b"],"defaultOutputModes":["c/d"],"iconUrl":"https://i","documentationUrl":"https://d",
            "provider":{"organization":"o","url":"https://p"},"supportsAuthenticatedExtendedCard":true,
            "skills":[{"id":"s","name":"S","description":"d","tags":["t"],"examples":["e"],"security":[{"k":["r"]}],"inputSchema":{}}]})",
        card_shape::v1
    );
    CHECK(made.document == parsed(R"({"name":"n","description":"d","version":"1",
            "capabilities":{"streaming":false,"extensions":[{"uri":"u","required":false},{"uri":"v","required":true}],
                "extendedAgentCard":true},
            "securitySchemes":{"k":{"apiKeySecurityScheme":{"location":"query","name":"q","description":"D"}}},
            "defaultInputModes":["a/b"],"defaultOutputModes":["c/d"],"iconUrl":"https://i","documentationUrl":"https://d",
            "provider":{"organization":"o","url":"https://p"},
            "skills":[{"id":"s","name":"S","description":"d","tags":["t"],"examples":["e"],
                "securityRequirements":[{"schemes":{"k":{"list":["r"]}}}]}],
            "supportedInterfaces":[{"url":"https://gw.example/agents/x","protocolBinding":"JSONRPC","protocolVersion":"0.3"}],
            "securityRequirements":[{"schemes":{"k":{"list":[]}}},{"schemes":{}}]})"));
    CHECK(
        made.lost == std::vector<std::string>{"x-own", "capabilities.stateTransitionHistory", "skills[0].inputSchema"}
    );
}

TEST_CASE("a card of 1.0 becomes one of 0.3, member by member")
{
    const auto made = shaped(
        R"({"name":"n","description":"d","supportedInterfaces":[
                {"url":"http://agent.internal:9000/","protocolBinding":"JSONRPC","protocolVersion":"1.0","tenant":"t"},
                {"url":"http://agent.internal:9000/","protocolBinding":"JSONRPC","protocolVersion":"0.3"}],"version":"1","x-own":1,
            "capabilities":{"streaming":true,"extendedAgentCard":true},"securityRequirements":[{"schemes":{"k":{"list":["r"]}}},{"schemes":{}}],
            "securitySchemes":{"k":{"apiKeySecurityScheme":{"location":"cookie","name":"c"}}},
            "defaultInputModes":["a/b"],"defaultOutputModes":["c/d"],
            "skills":[{"id":"s","name":"S","description":"d","tags":["t"],"securityRequirements":[{"schemes":{"k":{}}}]}]})",
        card_shape::v03
    );
    CHECK(
        made.document ==
        parsed(R"({"name":"n","description":"d","version":"1","x-own":1,"capabilities":{"streaming":true},
            "securitySchemes":{"k":{"type":"apiKey","in":"cookie","name":"c"}},"defaultInputModes":["a/b"],
            "defaultOutputModes":["c/d"],
            "skills":[{"id":"s","name":"S","description":"d","tags":["t"],"security":[{"k":[]}]}],
            "url":"https://gw.example/agents/x","preferredTransport":"JSONRPC",
            "additionalInterfaces":[{"url":"https://gw.example/agents/x","transport":"JSONRPC"}],"protocolVersion":"0.3.0",
            "supportsAuthenticatedExtendedCard":true,"security":[{"k":["r"]},{}]})")
    );
    CHECK(made.lost == std::vector<std::string>{"supportedInterfaces[0].tenant"});
}

TEST_CASE("each kind of scheme has both forms")
{
    const std::pair<std::string, std::string> rows[]{
        {R"({"type":"apiKey","in":"header","name":"X"})", R"({"apiKeySecurityScheme":{"location":"header","name":"X"}})"
        },
        {R"({"type":"http","scheme":"bearer","bearerFormat":"JWT"})",
         R"({"httpAuthSecurityScheme":{"scheme":"bearer","bearerFormat":"JWT"}})"},
        {R"({"type":"oauth2","flows":{"password":{"tokenUrl":"https://t","scopes":{"a":"A"}}},"oauth2MetadataUrl":"https://m"})",
         R"({"oauth2SecurityScheme":{"flows":{"password":{"tokenUrl":"https://t","scopes":{"a":"A"}}},"oauth2MetadataUrl":"https://m"}})"
        },
        {R"({"type":"openIdConnect","openIdConnectUrl":"https://o"})",
         R"({"openIdConnectSecurityScheme":{"openIdConnectUrl":"https://o"}})"},
        {R"({"type":"mutualTLS","description":"D"})", R"({"mtlsSecurityScheme":{"description":"D"}})"},
    };
    for (const auto& [typed, wrapped] : rows) {
        CAPTURE(typed);
        CHECK(scheme_in(card_shape::v1, typed)["x"] == parsed(wrapped));
        CHECK(scheme_in(card_shape::v03, wrapped)["x"] == parsed(typed));
        CHECK(scheme_in(card_shape::v1, wrapped)["x"] == parsed(wrapped));
        CHECK(scheme_in(card_shape::v03, typed)["x"] == parsed(typed));
    }
    CHECK(scheme_in(card_shape::v1, R"({"type":"none"})").empty());
    CHECK(scheme_in(card_shape::v03, "7").empty());
}

TEST_CASE("a scheme with several flows becomes several schemes, any of which will do")
{
    const auto made = shaped(
        with_member(
            old_url,
            R"("securitySchemes":{"o":{"type":"oauth2","flows":{"clientCredentials":{"tokenUrl":"https://t","scopes":{}},
                "authorizationCode":{"authorizationUrl":"https://a","tokenUrl":"https://t","scopes":{}}}},
                "o__clientCredentials":{"type":"mutualTLS"},"k":{"type":"mutualTLS"}},"security":[{"o":["s"],"k":[]}])"
        ),
        card_shape::v1
    );
    const auto& schemes = made.document["securitySchemes"];
    CHECK(schemes.size() == 4);
    CHECK(schemes["o"]["oauth2SecurityScheme"]["flows"].size() == 1);
    CHECK(schemes["o"]["oauth2SecurityScheme"]["flows"].contains("authorizationCode"));
    CHECK(schemes["o__clientCredentials_2"]["oauth2SecurityScheme"]["flows"].contains("clientCredentials"));
    CHECK(schemes["o__clientCredentials"].contains("mtlsSecurityScheme"));
    CHECK(made.document["securityRequirements"] == parsed(R"([{"schemes":{"o":{"list":["s"]},"k":{"list":[]}}},
                   {"schemes":{"o__clientCredentials_2":{"list":["s"]},"k":{"list":[]}}}])"));
    CHECK(made.lost.empty());
}

TEST_CASE("what 0.3 cannot say of a scheme is lost, and said to be")
{
    const auto made = shaped(
        with_member(
            new_url,
            R"("securitySchemes":{"d":{"oauth2SecurityScheme":{"flows":{"deviceCode":{"tokenUrl":"https://t"}}}},
                "c":{"oauth2SecurityScheme":{"flows":{"authorizationCode":{"tokenUrl":"https://t","pkceRequired":true}}}}})"
        ),
        card_shape::v03
    );
    CHECK(made.document["securitySchemes"] == parsed(R"({"d":{"type":"oauth2","flows":{}},
            "c":{"type":"oauth2","flows":{"authorizationCode":{"tokenUrl":"https://t"}}}})"));
    CHECK(
        made.lost ==
        std::vector<std::string>{
            "securitySchemes.d.flows.deviceCode",
            "securitySchemes.c.flows.authorizationCode.pkceRequired"
        }
    );
}

TEST_CASE("requirements of either form are read, and what is none is left out")
{
    const std::pair<std::string, std::string> rows[]{
        {R"([{"k":["a"]}])", R"([{"schemes":{"k":{"list":["a"]}}}])"},
        {R"([{"schemes":{"k":{"list":["a"]}}}])", R"([{"schemes":{"k":{"list":["a"]}}}])"},
        {R"([{"schemes":["a"]}])", R"([{"schemes":{"schemes":{"list":["a"]}}}])"},
        {R"([{}])", R"([{"schemes":{}}])"},
        {R"([7,{"k":"all"},{"k":[1,"a"]}])", R"([{"schemes":{"k":{"list":[]}}},{"schemes":{"k":{"list":["a"]}}}])"},
        {R"({"k":[]})", "[]"},
    };
    for (const auto& [security, requirements] : rows) {
        CAPTURE(security);
        const auto made = shaped(with_member(old_url, R"("security":)" + security), card_shape::v1);
        CHECK(made.document["securityRequirements"] == parsed(requirements));
    }
}

TEST_CASE("versions are those that clients compare with")
{
    const std::pair<std::string, std::string> to_v1[]{
        {R"("url":"http://a")", "0.3"},
        {R"("url":"http://a","protocolVersion":"0.2.6")", "0.3"},
        {R"("url":"http://a","protocolVersion":"0.3.9")", "0.3"},
        {R"("url":"http://a","protocolVersion":"latest")", "0.3"},
        {R"("url":"http://a","protocolVersion":"1.0.0")", "1.0"},
        {R"("supportedInterfaces":[{"url":"http://a","protocolVersion":"1.0.1"}])", "1.0"},
        {R"("supportedInterfaces":[{"url":"http://a","protocolVersion":"1.2"}])", "1.2"},
    };
    for (const auto& [members, version] : to_v1) {
        CAPTURE(members);
        const auto made = shaped(card_of(members), card_shape::v1);
        CHECK(made.document["supportedInterfaces"][0]["protocolVersion"] == version);
    }
    const std::pair<std::string, std::string> to_v03[]{
        {R"("url":"http://a","protocolVersion":"0.2.6")", "0.2.6"},
        {R"("url":"http://a")", "0.3.0"},
        {R"("url":"http://a","protocolVersion":"latest")", "0.3.0"},
        {R"("supportedInterfaces":[{"url":"http://a","protocolVersion":"1.0"},{"url":"http://a","protocolVersion":"0.3"}])",
         "0.3.0"},
        // Calls are not translated: an agent that speaks only 1.0 is not said to speak 0.3.
        {R"("url":"http://a","protocolVersion":"1.0")", "1.0"},
        {R"("supportedInterfaces":[{"url":"http://a","protocolVersion":"1.0.1"}])", "1.0"},
    };
    for (const auto& [members, version] : to_v03) {
        CAPTURE(members);
        CHECK(shaped(card_of(members), card_shape::v03).document["protocolVersion"] == version);
    }
}

TEST_CASE("a hybrid has what both generations look for")
{
    const auto text = with_member(
        new_url,
        R"("x-own":1,"securitySchemes":{"k":{"apiKeySecurityScheme":{"location":"header","name":"X"}}},
           "securityRequirements":[{"schemes":{"k":{"list":[]}}}])"
    );
    const auto made = shaped(text, card_shape::hybrid);
    const auto& card = made.document;
    CHECK(card["url"] == gateway.base);
    CHECK(card["protocolVersion"] == "1.0");
    CHECK(card["supportedInterfaces"] == shaped(text, card_shape::v1).document["supportedInterfaces"]);
    CHECK(
        card["securitySchemes"]["k"] ==
        parsed(R"({"type":"apiKey","in":"header","name":"X","apiKeySecurityScheme":{"location":"header","name":"X"}})")
    );
    CHECK(card["security"] == parsed(R"([{"k":[]}])"));
    CHECK(card["securityRequirements"] == parsed(R"([{"schemes":{"k":{"list":[]}}}])"));
    CHECK(card["x-own"] == 1);
    CHECK(made.lost.empty());
}

TEST_CASE("automatic leaves the card as it is, and a card that is not rewritten has no shape")
{
    const auto text = with_member(old_url, R"("x-own":{"a":[1.50]})");
    const auto rewritten = a2a::rewrite_card(*a2a::parse_card(text), gateway, {"http://agent.internal:9000/", ""});
    REQUIRE(rewritten.has_value());
    CHECK(core::to_text(shaped(text, card_shape::automatic).document) == core::to_text(*rewritten));
    for (const auto shape : {card_shape::automatic, card_shape::v1, card_shape::v03, card_shape::hybrid}) {
        const auto refused = a2a::shape_card(parsed(text), shape, gateway);
        REQUIRE(refused.has_error());
        CHECK(refused.error().code == core::errc::card_unrewritable);
    }
}

TEST_CASE("requirements of many split schemes do not multiply without end")
{
    std::string schemes;
    std::string demand;
    for (int i = 0; i < 20; ++i) {
        const auto name = "\"o" + std::to_string(i) + "\"";
        schemes += (i == 0 ? "" : ",") + name +
                   R"(:{"type":"oauth2","flows":{"implicit":{},"password":{},"clientCredentials":{}}})";
        demand += (i == 0 ? "" : ",") + name + ":[]";
    }
    const auto made = shaped(
        with_member(old_url, R"("securitySchemes":{)" + schemes + R"(},"security":[{)" + demand + "}]"),
        card_shape::v1
    );
    CHECK(made.document["securityRequirements"].size() == 25);
    CHECK(made.document["securityRequirements"][24]["schemes"].size() == 20);
}

TEST_CASE("Shape v0.3 finds an interface of 0.x wherever it stands among those of 1.0")
{
    const std::vector<std::pair<std::vector<std::string>, std::string>> lists{
        {{"0.3", "1.0"}, "0.3.0"},
        {{"1.0", "0.3"}, "0.3.0"},
        {{"1.1", "1.0", "0.2"}, "0.3.0"},
        {{"1.0", "0.3", "1.1"}, "0.3.0"},
        {{"1.0"}, "1.0"},
        {{"1.0", "1.1"}, "1.0"},
        {{"1.1", "2.0"}, "1.1"},
    };
    for (const auto& [versions, spoken] : lists) {
        std::string interfaces;
        for (const auto& each : versions) {
            CAPTURE(each);
            interfaces += (interfaces.empty() ? "" : ",") +
                          (R"({"url":"http://a","protocolBinding":"JSONRPC","protocolVersion":")" + each + "\"}");
        }
        const auto made = shaped(card_of(R"("supportedInterfaces":[)" + interfaces + "]"), card_shape::v03);
        CHECK(made.lost.empty());
        CHECK(made.document["protocolVersion"] == spoken);
        CHECK_FALSE(made.document.contains("supportedInterfaces"));
        CHECK(made.document["url"] == gateway.base);
        CHECK(made.document["additionalInterfaces"].size() == 1);
        // In shape v1 each version is there once, the latest generation first.
        const auto modern = shaped(card_of(R"("supportedInterfaces":[)" + interfaces + "]"), card_shape::v1);
        const auto& all = modern.document["supportedInterfaces"];
        CHECK(all.size() == versions.size());
        CHECK(all[0]["protocolVersion"] != "0.3");
    }
}

TEST_SUITE_END();
