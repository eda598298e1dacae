#include "a2a/card/card.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using core::json;

TEST_SUITE_BEGIN("a2a/card rewriting");

namespace {

const a2a::public_address gateway{"https://gw.example/agents/x"};
const a2a::upstream_address upstream{"http://agent.internal:9000/a2a", "http://agent.internal:9000/card.json"};

core::result<json> rewritten(const std::string& text, const a2a::upstream_address& from = upstream)
{
    const auto card = a2a::parse_card(text);
    REQUIRE_MESSAGE(card.has_value(), card.error().detail);
    return a2a::rewrite_card(*card, gateway, from);
}

json served(const std::string& text)
{
    const auto made = rewritten(text);
    REQUIRE_MESSAGE(made.has_value(), made.error().detail);
    return *made;
}

// The interfaces of a 1.0 card after rewriting, as JSON text.
std::string interfaces_of(const std::string& list)
{
    return core::to_text(served(R"({"name":"n","supportedInterfaces":)" + list + "}").at("supportedInterfaces"));
}

}  // namespace

TEST_CASE("a 0.3 card points at the gateway and keeps the rest")
{
    const std::string text =
        R"({"protocolVersion":"0.3.0","name":"n","description":"d","url":"http://agent.internal:9000/a2a",
"preferredTransport":"JSONRPC","additionalInterfaces":[{"url":"http://agent.internal:9000/a2a","transport":"JSONRPC"},
{"url":"http://agent.internal:9000/rest","transport":"HTTP+JSON"},{"url":"agent.internal:9001","transport":"GRPC"},
{"url":"http://agent.internal:9002/","transport":"jsonrpc"}],"x-vendor":{"b":1,"a":[1.50,null]},
"provider":{"organization":"o","url":"http://agent.internal:9000/"},"iconUrl":"http://agent.internal:9000/i.png",
"version":"1","documentationUrl":"http://agent.internal:9000/docs","capabilities":{"streaming":true,
"extensions":[{"uri":"http://agent.internal:9000/ext","params":{"url":"http://agent.internal:9000/p"}}]},
"securitySchemes":{"o":{"type":"oauth2","flows":{"clientCredentials":{"tokenUrl":"http://agent.internal:9000/token","scopes":{}}}}},
"security":[{"o":[]}],"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
"skills":[{"id":"s","name":"S","description":"d","tags":["t"],"url":"http://agent.internal:9000/s"}],
"supportsAuthenticatedExtendedCard":true,"signatures":[{"protected":"p","signature":"s"}]})";
    CHECK(core::to_text(served(text)) == core::to_text(*core::parse_json(R"({"protocolVersion":"0.3.0","name":"n",
"description":"d","url":"https://gw.example/agents/x",
"preferredTransport":"JSONRPC","additionalInterfaces":[{"url":"https://gw.example/agents/x","transport":"JSONRPC"},
{"url":"https://gw.example/agents/x/rest","transport":"HTTP+JSON"}],"x-vendor":{"b":1,"a":[1.50,null]},
"provider":{"organization":"o","url":"http://agent.internal:9000/"},"iconUrl":"http://agent.internal:9000/i.png",
"version":"1","documentationUrl":"http://agent.internal:9000/docs","capabilities":{"streaming":true,
"extensions":[{"uri":"http://agent.internal:9000/ext","params":{"url":"http://agent.internal:9000/p"}}]},
"securitySchemes":{"o":{"type":"oauth2","flows":{"clientCredentials":{"tokenUrl":"http://agent.internal:9000/token","scopes":{}}}}},
"security":[{"o":[]}],"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
"skills":[{"id":"s","name":"S","description":"d","tags":["t"],"url":"http://agent.internal:9000/s"}],
"supportsAuthenticatedExtendedCard":true})")));
}

TEST_CASE("where no extended card can be had, no card says that there is one")
{
    const std::string flags = R"("supportsAuthenticatedExtendedCard":true,"supportsExtendedAgentCard":true,)"
                              R"("capabilities":{"streaming":true,"extendedAgentCard":true})";
    const std::string text = R"({"protocolVersion":"0.2.5","name":"n","url":"http://agent.internal:9000/a2a",)" +
                             flags + R"(,"agentCard":{"name":"m","url":"http://agent.internal:9000/a2a",)" + flags +
                             "}}";
    const auto card = a2a::parse_card(text);
    REQUIRE(card.has_value());
    for (const bool can_be_had : {true, false}) {
        CAPTURE(can_be_had);
        const auto flag = can_be_had ? a2a::extended_card_flag::as_written : a2a::extended_card_flag::no;
        const auto made = a2a::rewrite_card(*card, {gateway.base, flag}, upstream);
        REQUIRE(made.has_value());
        for (const auto& each : {*made, made->at("agentCard")}) {
            CHECK(each.at("supportsAuthenticatedExtendedCard") == can_be_had);
            CHECK(each.at("supportsExtendedAgentCard") == can_be_had);
            CHECK(each.at("capabilities") == json{{"streaming", true}, {"extendedAgentCard", can_be_had}});
        }
        const auto older =
            a2a::parse_card(R"({"protocolVersion":"0.2.5","name":"n","url":"http://agent.internal:9000/a2a",)"
                            R"("supportsAuthenticatedExtendedCard":true})");
        REQUIRE(older.has_value());
        const auto of_0_2 = a2a::rewrite_card(*older, {gateway.base, flag}, upstream);
        REQUIRE(of_0_2.has_value());
        CHECK(of_0_2->at("url") == gateway.base + (can_be_had ? "/" : ""));
    }
}

TEST_CASE("where the gateway makes extended cards, every card says so in the words of its generations")
{
    struct row {
        std::string members;
        json flag;
        json capability;
    };
    const std::string url = R"("url":"http://agent.internal:9000/a2a")";
    const std::string interfaces =
        R"("supportedInterfaces":[{"url":"http://agent.internal:9000/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}])";
    for (const auto& [members, flag, capability] : {
             row{R"("protocolVersion":"0.2.5",)" + url, true, nullptr},
             {R"("protocolVersion":"0.3.0","supportsAuthenticatedExtendedCard":false,)" + url, true, nullptr},
             {R"("capabilities":{"extendedAgentCard":false},)" + interfaces, nullptr, true},
             {interfaces, nullptr, true},
             {R"("protocolVersion":"0.3.0",)" + url + "," + interfaces, true, true},
         }) {
        CAPTURE(members);
        const auto card = a2a::parse_card(R"({"name":"n",)" + members + "}");
        REQUIRE(card.has_value());
        const auto made = a2a::rewrite_card(*card, {gateway.base, a2a::extended_card_flag::yes}, upstream);
        REQUIRE(made.has_value());
        CHECK(made->value("supportsAuthenticatedExtendedCard", json{}) == flag);
        CHECK(made->at("capabilities").value("extendedAgentCard", json{}) == capability);
    }
}

TEST_CASE("a card of 0.2 with an extended one has a slash at the end of its addresses, which keeps the agent's id")
{
    const auto url = [](const std::string& members) {
        return served(R"({"name":"n","url":"http://agent.internal:9000/a2a",)" + members + "}");
    };
    const std::string flag = R"("supportsAuthenticatedExtendedCard":true)";
    for (const std::string version : {R"("protocolVersion":"0.2.6",)", R"("protocolVersion":"0.1",)", ""}) {
        CAPTURE(version);
        CHECK(url(version + flag).at("url") == "https://gw.example/agents/x/");
    }
    const auto more = url(
        R"("protocolVersion":"0.2.5","additionalInterfaces":[{"url":"http://agent.internal:9000/a2a","transport":"JSONRPC"}],)" +
        flag
    );
    CHECK(more.at("url") == "https://gw.example/agents/x/");
    CHECK(more.at("additionalInterfaces").at(0).at("url") == "https://gw.example/agents/x/");
    for (const std::string& members :
         {R"("protocolVersion":"0.3.0",)" + flag,
          std::string{R"("protocolVersion":"0.2.6","supportsAuthenticatedExtendedCard":false)"},
          std::string{R"("protocolVersion":"0.2.6","supportsAuthenticatedExtendedCard":1)"},
          std::string{R"("protocolVersion":"0.2.6")"}}) {
        CAPTURE(members);
        CHECK(url(members).at("url") == "https://gw.example/agents/x");
    }
}

TEST_CASE("the preferred transport of an old card is one that the gateway serves")
{
    const std::pair<std::string, std::string> rows[]{
        {R"("http+json")", "HTTP+JSON"},
        {R"("jsonrpc")", "JSONRPC"},
        {R"("JSONRPC")", "JSONRPC"},
        {R"("x")", "JSONRPC"},
        {R"("GRPC","additionalInterfaces":[{"url":"http://a","transport":"JSONRPC"}])", "JSONRPC"},
        {R"("GRPC","additionalInterfaces":[{"url":"http://a","transport":"y"},{"url":"http://a","transport":"HTTP+JSON"}])",
         "HTTP+JSON"},
    };
    for (const auto& [written, expected] : rows) {
        CAPTURE(written);
        const auto card =
            served(R"({"name":"n","url":"http://agent.internal:9000","preferredTransport":)" + written + "}");
        CHECK(card.at("preferredTransport") == expected);
        CHECK(card.at("url") == gateway.base + (expected == "JSONRPC" ? "" : "/rest"));
    }
    CHECK_FALSE(served(R"({"name":"n","url":"http://agent.internal:9000"})").contains("preferredTransport"));
}

TEST_CASE("interfaces of a 1.0 card are kept, dropped, merged and ordered")
{
    const std::pair<std::string, std::string> rows[]{
        // Dropped bindings, the tenant and unknown members kept.
        {R"([{"url":"http://agent.internal:9000/rest","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"},
             {"x":1,"url":"http://agent.internal:9000/rpc","protocolBinding":"JSONRPC","tenant":"t","protocolVersion":"1.0"},
             {"url":"agent.internal:9001","protocolBinding":"GRPC","protocolVersion":"1.0"},
             {"url":"http://agent.internal:9000/z","protocolBinding":"https://z.example/b","protocolVersion":"1.0"}])",
         R"([{"url":"https://gw.example/agents/x/rest","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"},)"
         R"({"x":1,"url":"https://gw.example/agents/x","protocolBinding":"JSONRPC","tenant":"t","protocolVersion":"1.0"}])"
        },
        // One per version; patch levels do not count; the first one stays as it was written.
        {R"([{"url":"http://a","protocolBinding":"jsonrpc","protocolVersion":"1.0.1"},
             {"url":"http://b","protocolBinding":"JSONRPC","protocolVersion":"1.0"},
             {"url":"http://c","protocolBinding":"JSONRPC","protocolVersion":"1.0"}])",
         R"([{"url":"https://gw.example/agents/x","protocolBinding":"JSONRPC","protocolVersion":"1.0.1"}])"},
        // 1.0 before 0.3, otherwise the agent's order.
        {R"([{"url":"http://a","protocolBinding":"JSONRPC","protocolVersion":"0.3"},
             {"url":"http://a","protocolBinding":"JSONRPC","protocolVersion":"1.1"},
             {"url":"http://a","protocolBinding":"JSONRPC","protocolVersion":"0.2"},
             {"url":"http://a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}])",
         R"([{"url":"https://gw.example/agents/x","protocolBinding":"JSONRPC","protocolVersion":"1.1"},)"
         R"({"url":"https://gw.example/agents/x","protocolBinding":"JSONRPC","protocolVersion":"1.0"},)"
         R"({"url":"https://gw.example/agents/x","protocolBinding":"JSONRPC","protocolVersion":"0.3"},)"
         R"({"url":"https://gw.example/agents/x","protocolBinding":"JSONRPC","protocolVersion":"0.2"}])"},
        // Tenants share an address and are not the same endpoint.
        {R"([{"url":"http://a","protocolBinding":"JSONRPC","protocolVersion":"1.0","tenant":"t"},
             {"url":"http://a","protocolBinding":"JSONRPC","protocolVersion":"1.0","tenant":"u"},
             {"url":"http://a","protocolBinding":"JSONRPC","protocolVersion":"1.0","tenant":"t"}])",
         R"([{"url":"https://gw.example/agents/x","protocolBinding":"JSONRPC","protocolVersion":"1.0","tenant":"t"},)"
         R"({"url":"https://gw.example/agents/x","protocolBinding":"JSONRPC","protocolVersion":"1.0","tenant":"u"}])"},
        // Nothing left: the registered address is an endpoint, of the version that the agent spoke of.
        {R"([{"url":"http://a","protocolBinding":"own","protocolVersion":"0.3"}])",
         R"([{"url":"https://gw.example/agents/x","protocolBinding":"JSONRPC","protocolVersion":"0.3"}])"},
        {R"([])", R"([{"url":"https://gw.example/agents/x","protocolBinding":"JSONRPC","protocolVersion":"1.0"}])"},
        {R"([1,null,"http://agent.internal:9000"])",
         R"([{"url":"https://gw.example/agents/x","protocolBinding":"JSONRPC","protocolVersion":"1.0"}])"},
        // Another member of an interface that leads to the agent goes; a mere word stays.
        {R"([{"url":"http://agent.internal:9000/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0","note":"agent.internal",
              "baseUrl":"http://AGENT.internal:9000/","more":{"list":["ws://agent.internal:9000"]},"docs":"http://docs.example"}])",
         R"([{"url":"https://gw.example/agents/x","protocolBinding":"JSONRPC","protocolVersion":"1.0","note":"agent.internal",)"
         R"("docs":"http://docs.example"}])"},
    };
    for (const auto& [list, expected] : rows) {
        CAPTURE(list);
        CHECK(interfaces_of(list) == expected);
    }
}

TEST_CASE("both halves of a hybrid card point at the gateway")
{
    const auto card = served(R"({"name":"n","protocolVersion":"0.3.0","url":"http://agent.internal:9000/v03",
        "preferredTransport":"HTTP+JSON","additionalInterfaces":[{"url":"http://other.internal/","transport":"GRPC"}],
        "supportedInterfaces":[{"url":"http://agent.internal:9000/v03","protocolBinding":"JSONRPC","protocolVersion":"0.3"},
                               {"url":"http://agent.internal:9000/v1","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]})"
    );
    CHECK(card.at("url") == gateway.base + "/rest");
    CHECK(card.at("preferredTransport") == "HTTP+JSON");
    CHECK(card.at("additionalInterfaces") == json::array());
    CHECK(
        core::to_text(card.at("supportedInterfaces")) ==
        R"([{"url":"https://gw.example/agents/x","protocolBinding":"JSONRPC","protocolVersion":"1.0"},)"
        R"({"url":"https://gw.example/agents/x","protocolBinding":"JSONRPC","protocolVersion":"0.3"}])"
    );
}

TEST_CASE("a card inside the card points at the gateway too")
{
    const auto card = served(R"({"name":"n","url":"http://agent.internal:9000","agentCard":{
        "url":"http://agent.internal:9000/.well-known/agent-card.json","name":"inner","signatures":[1],"agentCard":{
        "supportedInterfaces":[{"url":"http://agent.internal:9000","protocolBinding":"GRPC","protocolVersion":"1.0"}]}}})"
    );
    CHECK(
        core::to_text(card.at("agentCard")) ==
        R"({"url":"https://gw.example/agents/x/.well-known/agent-card.json","name":"inner","agentCard":{)"
        R"("supportedInterfaces":[{"url":"https://gw.example/agents/x","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}})"
    );
    CHECK_FALSE(served(R"({"name":"n","agentCard":"http://agent.internal:9000/card"})").contains("agentCard"));
}

TEST_CASE("the url of a wrapped card is where the card is, unless that says how it is called")
{
    const std::string_view below = "https://gw.example/agents/x/.well-known/agent-card.json";
    const std::pair<std::string, std::string_view> rows[]{
        {"http://agent.internal:9000/.well-known/agent-card.json", below},
        {"http://agent.internal:9000/a/.well-known/agent.json?v=1", below},
        {"http://elsewhere/cards/a.json", below},
        {"http://agent.internal:9000/", gateway.base},
        {"http://agent.internal:9000/rpc?x=.json", gateway.base},
    };
    const auto nested = [](const std::string& members) {
        return served(R"({"name":"n","agentCard":{)" + members + "}}").at("agentCard").at("url");
    };
    for (const auto& [url, shown] : rows) {
        CAPTURE(url);
        const auto member = R"("url":")" + url + "\"";
        CHECK(nested(member) == below);
        CHECK(nested(member + R"(,"name":"m","version":"1")") == below);
        CHECK(nested(member + R"(,"preferredTransport":"JSONRPC")") == shown);
        CHECK(nested(member + R"(,"additionalInterfaces":[])") == shown);
        CHECK(served(R"({"name":"n",)" + member + "}").at("url") == gateway.base);
    }
}

TEST_CASE("a card without any address gets the registered one")
{
    CHECK(served(R"({"name":"n"})").at("url") == gateway.base);
    CHECK(served(R"({"name":"n","url":["http://agent.internal:9000"]})").at("url") == gateway.base);
    CHECK(
        served(R"({"name":"n","additionalInterfaces":[{"url":"http://a","transport":"own"}]})").at("url") ==
        gateway.base
    );
    const auto modern = served(R"({"name":"n","protocolVersion":"1.0.0"})");
    CHECK_FALSE(modern.contains("url"));
    CHECK(
        core::to_text(modern.at("supportedInterfaces")) ==
        R"([{"url":"https://gw.example/agents/x","protocolBinding":"JSONRPC","protocolVersion":"1.0"}])"
    );
}

TEST_CASE("a traffic member in a spelling that some reader takes leaks nothing")
{
    for (const std::string member : {"URL", "Url", "uRl", "u_r_l"}) {
        CAPTURE(member);
        const auto twice = served(R"({"name":"n","url":"http://a",")" + member + R"(":"http://agent.internal:9000"})");
        CHECK(twice.dump().find("agent.internal") == std::string::npos);
        const auto once = served(R"({"name":"n",")" + member + R"(":"http://agent.internal:9000"})");
        CHECK(once.at("url") == gateway.base);
        CHECK(once.dump().find("agent.internal") == std::string::npos);
    }
    for (const std::string member :
         {"supported_interfaces", "SupportedInterfaces", "additional_interfaces", "agent_card"}) {
        CAPTURE(member);
        const std::string interface = R"({"URL":"http://agent.internal:9000","transport":"JSONRPC"})";
        const auto value = member == "agent_card" ? interface : "[" + interface + "]";
        const auto card = served(R"({"name":"n","supportedInterfaces":[],")" + member + "\":" + value + "}");
        CHECK(card.dump().find("agent.internal") == std::string::npos);
    }
}

TEST_CASE("a traffic member with a long s or a Kelvin sign, which Go reads as s and k, leaks nothing")
{
    const std::string interface = R"([{"url":"http://agent.internal:9000","tran\u017fport":"JSONRPC",)"
                                  R"("protocolVer\u017fion":"1.0"}])";
    for (const std::string member :
         {R"(\u017fupportedInterfaces)",
          "\xC5\xBFupportedInterfaces",
          R"(SUPPORTEDINTERFACE\u017F)",
          R"(\u017fupported_interface\u017f)",
          R"(additionalInterface\u017f)",
          "Additional_Interface\xC5\xBF"}) {
        CAPTURE(member);
        const auto once = served(R"({"name":"n",")" + member + "\":" + interface + "}");
        CHECK(once.dump().find("agent.internal") == std::string::npos);
        CHECK(once.dump().find("\xC5\xBF") == std::string::npos);
        const auto beside = served(
            R"({"name":"n","url":"http://a","supportedInterfaces":[{"url":"http://a","protocolBinding":"JSONRPC"}],)"
            R"("additionalInterfaces":[],")" +
            member + "\":" + interface + "}"
        );
        CHECK(beside.dump().find("agent.internal") == std::string::npos);
        CHECK(beside.dump().find("\xC5\xBF") == std::string::npos);
        const auto inner = served(R"({"name":"n","url":"http://a","agentCard":{")" + member + "\":" + interface + "}}");
        CHECK(inner.dump().find("agent.internal") == std::string::npos);
    }
    const auto signatures = served(R"({"name":"n","url":"http://a","\u017fignature\u017f":[{"protected":"p"}]})");
    CHECK(signatures.dump().find("protected") == std::string::npos);
}

TEST_CASE("a card that cannot be freed of the agent's address is refused")
{
    for (const std::string tenant :
         {R"("http://agent.internal:9000/t")", R"("agent.internal:9000")", R"({"of":["//other.internal:1"]})"}) {
        CAPTURE(tenant);
        const auto made = rewritten(
            R"({"name":"n","url":"http://other.internal:1","supportedInterfaces":[{"url":"http://a","protocolBinding":"JSONRPC",
                "protocolVersion":"1.0","tenant":)" +
            tenant + "}]}"
        );
        REQUIRE(made.has_error());
        CHECK(made.error().code == core::errc::card_unrewritable);
        CHECK(made.error().from == core::side::upstream);
        CHECK(made.error().detail == "supportedInterfaces[0].tenant");
    }
}

TEST_CASE("an agent that already names the gateway is no leak")
{
    const auto card = rewritten(
        R"({"name":"n","supportedInterfaces":[{"url":"https://gw.example/agents/x","protocolBinding":"JSONRPC",
            "protocolVersion":"1.0","tenant":"gw.example:443"}]})"
    );
    REQUIRE(card.has_value());
    CHECK(card->at("supportedInterfaces").at(0).at("url") == gateway.base);
}

TEST_CASE("a document that did not come through parsing is made safe as well")
{
    a2a::card made;
    made.document = json{
        {"name", "n"},
        {"url", 7},
        {"supportedInterfaces", {{"url", "http://agent.internal:9000"}}},
        {"agentCard", json::array()}
    };
    const auto card = a2a::rewrite_card(made, gateway, upstream);
    REQUIRE(card.has_value());
    CHECK(card->dump().find("agent.internal") == std::string::npos);
    for (const auto& odd : {json{}, json(7), json::array(), json("http://agent.internal:9000")}) {
        made.document = odd;
        const auto refused = a2a::rewrite_card(made, gateway, upstream);
        REQUIRE(refused.has_error());
        CHECK(refused.error().code == core::errc::card_unrewritable);
    }
}

TEST_CASE("equal documents render to equal bytes")
{
    const std::string text = R"({"name":"n","b":1,"a":2,"url":"http://agent.internal:9000"})";
    CHECK(a2a::render(served(text)) == a2a::render(served(text)));
    CHECK(a2a::render(served(text)).starts_with(R"({"name":"n","b":1,"a":2,"url":"https://gw.example/agents/x")"));
}

TEST_SUITE_END();
