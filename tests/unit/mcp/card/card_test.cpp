#include "mcp/card/card.hpp"

#include "a2a/card/card_lint.hpp"
#include "core/json/json.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "tests/unit/mcp/captures.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

using core::card_shape;
using core::json;
using mcp::index_of;
using mcp::list_kind;

TEST_SUITE_BEGIN("mcp/card/card");

namespace {

constexpr std::array shapes{card_shape::automatic, card_shape::v1, card_shape::v03, card_shape::hybrid};

mcp::card_request request(card_shape shape, std::string id = "exa_search")
{
    return {.agent_id = std::move(id), .at = {"https://gw.example/agents/exa_search"}, .shape = shape};
}

// What a server says when asked for all of this; `initialize` without the version.
mcp::server_lists snapshot_of(std::string_view initialize, std::string_view tools)
{
    auto facts = mcp::read_initialize_result(R"({"protocolVersion":"2024-11-05",)" + std::string{initialize} + "}");
    REQUIRE(facts.has_value());
    mcp::list_reader walk{facts->offers, facts->speaks};
    while (const auto question = walk.next()) {
        const auto items = question->list == list_kind::tools ? tools : std::string_view{"[]"};
        REQUIRE(walk.accept(tests::list_result(question->list, items)).has_value());
    }
    mcp::server_lists base;
    base.server = std::move(*facts);
    return std::move(walk).onto(std::move(base));
}

constexpr std::string_view exa_server =
    R"("capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"Exa MCP Server","version":"1.0.0"})";
constexpr std::string_view exa_tools = R"([
    {"name":"search","description":"Search the web using Exa AI","inputSchema":{"type":"object","properties":{
        "query":{"type":"string","description":"Search query"},"numResults":{"type":"integer","default":10}},
        "required":["query"]}},
    {"name":"get_contents","description":"Get full contents of URLs","inputSchema":{"type":"object","properties":{
        "urls":{"type":"array","items":{"type":"string"}}},"required":["urls"]}}])";

std::string made(const mcp::server_lists& from, card_shape shape)
{
    const auto card = mcp::synthesize_card(from, request(shape));
    REQUIRE_MESSAGE(card.has_value(), card.error().detail);
    return *card;
}

json document(const mcp::server_lists& from, card_shape shape)
{
    auto read = core::parse_json(made(from, shape));
    REQUIRE(read.has_value());
    return *read;
}

// The first error of the linter; empty: none.
std::string lint_error(const std::string& card)
{
    const auto report = a2a::lint_card(card);
    const auto found = std::ranges::find(report.problems, a2a::problem_severity::error, &a2a::card_problem::severity);
    return found == report.problems.end() ? std::string{} : found->path + ": " + found->what;
}

// Every member of `part` is in `whole`, with an equal value or one that contains it; lists item by item.
bool contains(const json& whole, const json& part)
{
    if (part.is_object()) {
        return whole.is_object() && std::ranges::all_of(part.items(), [&](const auto& member) {
                   return whole.contains(member.key()) && contains(whole[member.key()], member.value());
               });
    }
    if (part.is_array() && whole.is_array() && part.size() == whole.size()) {
        for (std::size_t i = 0; i < part.size(); ++i) {
            if (!contains(whole[i], part[i])) {
                return false;
            }
        }
        return true;
    }
    return whole == part;
}

// Equal for documents that differ in the order of members only.
nlohmann::json unordered(const json& document)
{
    return nlohmann::json::parse(core::to_text(document));
}

// The tools as the server listed them, read back from a strict card as architecture.md says.
json read_tools(const json& card)
{
    auto tools = card["capabilities"]["extensions"][0]["params"]["tools"];
    for (std::size_t i = 0; i < tools.size(); ++i) {
        const auto& said = card["skills"][i]["description"];
        if (!tools[i].contains("description") && said != tools[i]["name"]) {
            tools[i]["description"] = said;
        }
    }
    return tools;
}

}  // namespace

TEST_CASE("the card of a server with two tools is this one, to the byte")
{
    const auto exa = snapshot_of(exa_server, exa_tools);
    CHECK(
        made(exa, card_shape::automatic) ==
        R"({"name":"exa_search","protocol":"mcp","protocolVersion":"2024-11-05","description":"Exa MCP Server",)"
        R"("version":"1.0.0","capabilities":{"tools":{"listChanged":true},"resources":null,"prompts":null,)"
        R"("sampling":null,"streaming":false,"pushNotifications":false},"mcp":)"
        R"({"url":"https://gw.example/agents/exa_search/mcp","versions":["2024-11-05"],)"
        R"("transports":["streamable-http"],"calls":"mcp","name":"Exa MCP Server",)"
        R"("capabilities":{"tools":{"listChanged":true}}},"skills":[{"id":"search","name":"search",)"
        R"("description":"Search the web using Exa AI","inputSchema":{"type":"object","properties":{"query":)"
        R"({"type":"string","description":"Search query"},"numResults":{"type":"integer","default":10}},)"
        R"("required":["query"]},"tags":["mcp","tool"],"inputModes":["application/json"],"outputModes":["text/plain"]},)"
        R"({"id":"get_contents","name":"get_contents","description":"Get full contents of URLs","inputSchema":)"
        R"({"type":"object","properties":{"urls":{"type":"array","items":{"type":"string"}}},"required":["urls"]},)"
        R"("tags":["mcp","tool"],"inputModes":["application/json"],"outputModes":["text/plain"]}],)"
        R"("url":"https://gw.example/agents/exa_search","supportedInterfaces":[],)"
        R"("defaultInputModes":["application/json","text/plain"],"defaultOutputModes":["text/plain","application/json"]})"
    );
}

TEST_CASE("that card has every member of the card that MCP gateways serve for this server today")
{
    std::stringstream text;
    text << std::ifstream{CARDEA_TEST_DATA "/cards/237-alfinjohnson-superx-agent-cards.json"}.rdbuf();
    const auto example = core::parse_json(text.str());
    REQUIRE(example.has_value());
    REQUIRE((*example)["skills"].size() == 2);
    CHECK(contains(document(snapshot_of(exa_server, exa_tools), card_shape::automatic), *example));
}

TEST_CASE("the strict shapes have A2A's members only, and the server's own words in one extension")
{
    const auto exa = snapshot_of(exa_server, exa_tools);
    const auto v1 = document(exa, card_shape::v1);
    for (const auto& [key, value] : v1.items()) {
        CHECK_MESSAGE(
            std::string_view{"name description version supportedInterfaces capabilities defaultInputModes "
                             "defaultOutputModes skills "}
                    .find(key + " ") != std::string_view::npos,
            key
        );
    }
    CHECK(v1["skills"][0].size() == 6);
    REQUIRE(v1["capabilities"]["extensions"].size() == 1);
    const auto& extension = v1["capabilities"]["extensions"][0];
    CHECK(extension["uri"] == std::string{mcp::card_extension});
    CHECK(extension["required"] == false);
    const auto& params = extension["params"];
    CHECK(params["era"] == "legacy");
    CHECK(params["protocolVersion"] == "2024-11-05");
    CHECK(params["serverInfo"]["name"] == "Exa MCP Server");
    CHECK(params["capabilities"]["tools"]["listChanged"] == true);
    CHECK(params["tools"] == *core::parse_json(R"([
            {"name":"search","inputSchema":{"type":"object","properties":{
                "query":{"type":"string","description":"Search query"},"numResults":{"type":"integer","default":10}},
                "required":["query"]}},
            {"name":"get_contents","inputSchema":{"type":"object","properties":{
                "urls":{"type":"array","items":{"type":"string"}}},"required":["urls"]}}])"));
    CHECK_FALSE(params.contains("resources"));

    CHECK(v1["name"] == "Exa MCP Server");
    CHECK(v1["supportedInterfaces"] == json::array());

    const auto v03 = document(exa, card_shape::v03);
    CHECK(v03["name"] == "Exa MCP Server");
    CHECK(v03["protocolVersion"] == "0.3.0");
    CHECK_FALSE(v03.contains("additionalInterfaces"));
    CHECK(v03["url"] == "https://gw.example/agents/exa_search");
    CHECK_FALSE(v03.contains("supportedInterfaces"));
    CHECK(v03["capabilities"]["extensions"][0]["params"] == params);

    const auto hybrid = document(exa, card_shape::hybrid);
    CHECK(hybrid["supportedInterfaces"] == json::array());
    CHECK(hybrid["url"] == v03["url"]);
    CHECK(hybrid["capabilities"]["extensions"][0]["params"] == params);
}

TEST_CASE("every shape says which credentials callers need, in its own form")
{
    const auto from = snapshot_of(exa_server, exa_tools);
    const auto key = *core::parse_json(R"({"type":"apiKey","in":"header","name":"X-API-Key"})");
    for (const auto shape : shapes) {
        CAPTURE(core::name(shape));
        auto asked = request(shape);
        asked.access = a2a::card_access{.schemes = {{"keys", key}}};
        const auto card = *core::parse_json(*mcp::synthesize_card(from, asked));
        const bool modern = shape != card_shape::v03;
        const bool old = shape != card_shape::v1;
        CHECK(card.contains("securityRequirements") == modern);
        CHECK(card.contains("security") == old);
        CHECK(card["securitySchemes"]["keys"].contains("apiKeySecurityScheme") == modern);
        CHECK(card["securitySchemes"]["keys"].contains("in") == old);
    }
}

TEST_CASE("every capture makes a card in every shape: no errors by our linter, the same bytes again, under the limit")
{
    std::size_t largest = 0;
    for (const auto& each : tests::captures()) {
        const auto found = tests::discovered(each);
        for (const auto shape : shapes) {
            CAPTURE(each.file);
            CAPTURE(core::name(shape));
            const auto card = made(found, shape);
            CHECK(lint_error(card).empty());
            CHECK(card == made(tests::discovered(each), shape));
            CHECK(a2a::parse_card(card).has_value());
            const auto read = *core::parse_json(card);
            REQUIRE(read["skills"].size() == found[list_kind::tools].size());
            for (std::size_t i = 0; i < read["skills"].size(); ++i) {
                CHECK(read["skills"][i]["id"] == found[list_kind::tools][i].key);
            }
            largest = std::max(largest, card.size());
        }
    }
    CHECK(largest > 400 * 1024);
    CHECK(largest < 1024 * 1024);
}

TEST_CASE(
    "every item of every capture stands in the card as the server sent it, and what its skill says stands there once"
)
{
    for (const auto& each : tests::captures()) {
        CAPTURE(each.file);
        const auto found = tests::discovered(each);
        const auto strict = made(found, card_shape::v1);
        for (const auto& list : found.lists) {
            for (const auto& item : list) {
                if (&list != &found[list_kind::tools]) {
                    CHECK(strict.find(item.raw) != std::string::npos);
                }
            }
        }
        const auto card = *core::parse_json(strict);
        const auto tools = read_tools(card);
        REQUIRE(tools.size() == found[list_kind::tools].size());
        for (std::size_t i = 0; i < tools.size(); ++i) {
            CHECK(unordered(tools[i]) == unordered(*core::parse_json(found[list_kind::tools][i].raw)));
        }
        CHECK(strict.size() < made(found, card_shape::automatic).size() + 1000 + 120 * tools.size());
        const auto open = made(found, card_shape::automatic);
        for (const auto& tool : found[list_kind::tools]) {
            const auto schema = mcp::raw_object::read(tool.raw)->find("inputSchema");
            CHECK(open.find("\"inputSchema\":" + std::string{schema}) != std::string::npos);
        }
    }
}

TEST_CASE("a tool's description is its skill's unless it has none, it is empty, its name, or no text")
{
    const std::string_view tools =
        R"([{"name":"a","description":"A \u0041","x":[1,{"y":2.50}]},{"description":"d","name":"b"},
        {"name":"c"},{"name":"d","description":"d"},{"name":"e","description":""},{"name":"f","description":7},
        {"name":"g","title":"G","description":"G","icons":[{"src":"https://i.example/"}]}])";
    for (const auto shape : {card_shape::v1, card_shape::v03, card_shape::hybrid}) {
        const auto from = snapshot_of(exa_server, tools);
        const auto text = made(from, shape);
        CHECK(
            text.find(R"("tools":[{"name":"a","x":[1,{"y":2.50}]},{"name":"b"},{"name":"c"},)"
                      R"({"name":"d","description":"d"},{"name":"e","description":""},{"name":"f","description":7},)"
                      R"({"name":"g","title":"G","icons":[{"src":"https://i.example/"}]}])") != std::string::npos
        );
        CHECK(unordered(read_tools(*core::parse_json(text))) == unordered(*core::parse_json(tools)));
    }
}

TEST_CASE("numbers keep their spelling and unknown members survive, but none that A2A would take for its own")
{
    const auto odd = snapshot_of(
        exa_server,
        R"([{"name":"t","inputSchema":{"maximum":12345678901234567890123,"minimum":1.50e+1},"x":1.0,"Tags":5,"id":"evil",
            "security":"s","input_modes":[1],"title":"T","_meta":{"a":0.10}}])"
    );
    const auto card = made(odd, card_shape::automatic);
    CHECK(
        card.find(R"({"id":"t","name":"T","description":"t",)"
                  R"("inputSchema":{"maximum":12345678901234567890123,"minimum":1.50e+1},"x":1.0,)"
                  R"("title":"T","_meta":{"a":0.10},"tags":["mcp","tool"],)") != std::string::npos
    );
    CHECK(lint_error(card).empty());
    CHECK(made(odd, card_shape::v1).find(R"("Tags":5,"id":"evil")") != std::string::npos);
}

TEST_CASE("annotations become tags, titles names, and one string argument a text input")
{
    struct row {
        std::string_view tool;
        std::string_view expected;
    };
    const std::vector<row> rows{
        {R"({"name":"t"})", R"(["t","t",["mcp","tool"],["application/json"],["text/plain"]])"},
        {R"({"name":"t","annotations":{"readOnlyHint":true,"destructiveHint":true,"title":"A"}})",
         R"(["A","t",["mcp","tool","read-only"],["application/json"],["text/plain"]])"},
        {R"({"name":"t","title":"T","annotations":{"readOnlyHint":false,"destructiveHint":true,"title":"A"}})",
         R"(["T","t",["mcp","tool","destructive"],["application/json"],["text/plain"]])"},
        {R"({"name":"t","description":"","annotations":{"idempotentHint":true,"openWorldHint":true}})",
         R"(["t","t",["mcp","tool","idempotent","open-world"],["application/json"],["text/plain"]])"},
        {R"({"name":"t","description":"d","annotations":{"readOnlyHint":"true"},"outputSchema":{}})",
         R"(["t","d",["mcp","tool"],["application/json"],["text/plain","application/json"]])"},
        {R"({"name":"t","inputSchema":{"properties":{"q":{"type":"string"}}}})",
         R"(["t","t",["mcp","tool"],["application/json","text/plain"],["text/plain"]])"},
        {R"({"name":"t","inputSchema":{"properties":{"q":{"type":"integer"}}}})",
         R"(["t","t",["mcp","tool"],["application/json"],["text/plain"]])"},
        {R"({"name":"t","title":5,"description":[],"annotations":"x","inputSchema":7})",
         R"(["t","t",["mcp","tool"],["application/json"],["text/plain"]])"},
    };
    for (const auto& each : rows) {
        CAPTURE(each.tool);
        const auto from = snapshot_of(exa_server, "[" + std::string{each.tool} + "]");
        for (const auto shape : shapes) {
            const auto skill = document(from, shape)["skills"][0];
            const auto found = json::array(
                {skill["name"], skill["description"], skill["tags"], skill["inputModes"], skill["outputModes"]}
            );
            CHECK(core::to_text(found) == each.expected);
            CHECK(lint_error(made(from, shape)).empty());
        }
    }
}

TEST_CASE("a card is described by what the server says of itself, as far as it says anything")
{
    const auto described = [](std::string_view rest) {
        const auto from = snapshot_of(std::string{rest}, "[]");
        const auto card = document(from, card_shape::automatic);
        return card["description"].get<std::string>() + "|" + card["version"].get<std::string>();
    };
    CHECK(
        described(R"("serverInfo":{"name":"n","title":"T","version":"1","description":"d"},"instructions":"i")") ==
        "d|1"
    );
    CHECK(
        described(R"("serverInfo":{"name":"n","title":"T","version":"1"},"instructions":"\n# Do this. \r\nmore")") ==
        "Do this.|1"
    );
    CHECK(
        described(R"("serverInfo":{"name":"n","title":"T"},"instructions":")" + std::string(501, 'x') + '"') ==
        "T|0.0.0"
    );
    CHECK(described(R"("serverInfo":{"name":"n"},"instructions":" # ")") == "n|0.0.0");
    CHECK(described(R"("capabilities":{})") == "exa_search|0.0.0");
}

TEST_CASE("of a server's addresses only an icon by https or data and a page by http are shown")
{
    const auto shown = [](std::string_view info) {
        const auto from = snapshot_of(R"("serverInfo":{"name":"n",)" + std::string{info} + "}", "[]");
        for (const auto shape : shapes) {
            CHECK(lint_error(made(from, shape)).empty());
        }
        const auto card = document(from, card_shape::v1);
        return card.value("iconUrl", "-") + " " + card.value("documentationUrl", "-");
    };
    CHECK(shown(R"("icons":[{"src":"http://i.example/"},{"src":"https://i.example/"}])") == "https://i.example/ -");
    CHECK(shown(R"("icons":[{"src":"javascript:void 0"
},{"src":"data:image/png;base64,AA=="}])") == "data:image/png;base64,AA== -");
    CHECK(shown(R"("icons":[{"src":"file:///etc/passwd"},{"src":"https://"},{"src":"data:text/html,x"}])") == "- -");
    CHECK(shown(R"("websiteUrl":"https://w.example/x")") == "- https://w.example/x");
    CHECK(shown(R"("websiteUrl":"javascript:void 0")") == "- -");
    for (const auto* no_page :
         {"httpx://h/", "http-evil:alert(1)//h:1", "http:h", "https:///x", "https://u:p@h/", "https://h/ x", "HTTPS://"
         }) {
        CAPTURE(no_page);
        CHECK(shown(R"("websiteUrl":")" + std::string{no_page} + R"(","icons":[{"src":")" + no_page + "\"}]") == "- -");
    }
    CHECK(shown(R"("websiteUrl":"HTTP://W.example:8080/a?b#c")") == "- HTTP://W.example:8080/a?b#c");
}

TEST_CASE("icons and pages of a server, of its tools and of all else it lists are links that harm nobody")
{
    const std::string icons =
        R"("icons":[{"src":"javascript:alert`1`"},{"src":"https://i.example/a.png","sizes":["48x48"]},)"
        R"({"src":"http://10.0.0.7/"},{"src":"data:image/png;base64,AA=="},{"src":"data:text/html,<script>"},5])";
    const auto server = R"("serverInfo":{"name":"n","websiteUrl":"javascript:alert`1`",)" + icons + "}";
    const auto tools = R"([{"name":"a",)" + icons + R"(},{"name":"b","Icons":"javascript:alert`1`"}])";
    const auto from = snapshot_of(R"("capabilities":{"tools":{}},)" + server, tools);
    for (const auto shape : shapes) {
        const auto text = made(from, shape);
        CHECK(text.find("javascript:") == std::string::npos);
        CHECK(text.find("<script>") == std::string::npos);
        CHECK(text.find("10.0.0.7") == std::string::npos);
        CHECK(text.find(R"({"src":"https://i.example/a.png","sizes":["48x48"]})") != std::string::npos);
        CHECK(text.find("data:image/png;base64,AA==") != std::string::npos);
        CHECK(lint_error(text).empty());
    }
    const auto card = document(from, card_shape::automatic);
    CHECK(card["skills"][0]["icons"].size() == 2);
    CHECK(card["skills"][1]["Icons"] == json::array());
}

TEST_CASE("hostile text is data: every reader gets it back as it was, and no address of a skill counts")
{
    const std::string name = "</script>\"\\\n\u202e\x01 urn:cardea";
    std::string quoted;
    core::append_json_string(quoted, name);
    const auto from = snapshot_of(
        R"("capabilities":{"tools":{},"resources":{"url":"http://10.0.0.7/"},"extensions":{"x":1}},
           "serverInfo":{"name":)" +
            quoted + R"(,"version":"\ud800"})",
        R"([{"name":)" + quoted + R"(,"description":"{\"url\":\"http://10.0.0.7/\"}","url":"http://10.0.0.7/",
             "agentCard":{"url":"http://10.0.0.7/"}}])"
    );
    for (const auto shape : shapes) {
        const auto card = document(from, shape);
        CHECK(card["skills"][0]["id"] == name);
        CHECK(card["description"] == name);
        CHECK(card["version"] == "\xEF\xBF\xBD");
        CHECK(lint_error(made(from, shape)).empty());
    }
}

TEST_CASE("a card over the limit is an error that says what takes the room, never a part of a card")
{
    const auto exa = snapshot_of(exa_server, exa_tools);
    for (const auto shape : shapes) {
        auto asked = request(shape);
        const auto size = made(exa, shape).size();
        asked.limit = size;
        CHECK(mcp::synthesize_card(exa, asked).has_value());
        asked.limit = size - 1;
        const auto refused = mcp::synthesize_card(exa, asked);
        REQUIRE(refused.has_error());
        CHECK(refused.error().code == core::errc::card_too_large);
        const auto expected = std::string{core::name(shape)} + " card of " + std::to_string(size) + " bytes, over " +
                              std::to_string(size - 1) + ": 2 tools of ";
        CHECK(refused.error().detail.starts_with(expected));
    }
    std::string many{"["};
    for (int i = 0; i < 9000; ++i) {
        many += (i == 0 ? "" : ",") + std::string{R"({"name":"t)"} + std::to_string(i) + R"(","description":")" +
                std::string(100, 'd') + "\"}";
    }
    for (const auto shape : shapes) {
        const auto refused = mcp::synthesize_card(snapshot_of(exa_server, many + "]"), request(shape));
        REQUIRE(refused.has_error());
        CHECK(refused.error().code == core::errc::card_too_large);
    }
}

TEST_CASE("of lists that are too large by themselves no card is made to be told so")
{
    const auto schema = R"("inputSchema":{"x":")" + std::string(1000, 's') + "\"}";
    const auto from = snapshot_of(exa_server, R"([{"name":"t",)" + schema + R"(},{"name":"u",)" + schema + "}]");
    for (const auto shape : shapes) {
        CAPTURE(core::name(shape));
        const auto refusal = [&](std::size_t limit) {
            auto asked = request(shape);
            asked.limit = limit;
            return mcp::synthesize_card(from, asked).error().detail;
        };
        const auto least = 2 * schema.size();
        const auto whole = std::string{core::name(shape)} + " card of more than ";
        CHECK(
            refusal(least - 1) == whole + std::to_string(least - 1) + " bytes: 2 tools of " +
                                      std::to_string(2 * (schema.size() + 13)) +
                                      ", 0 resources of 0, 0 resourceTemplates of 0, 0 prompts of 0"
        );
        CHECK_FALSE(refusal(least).starts_with(whole));
    }
}

TEST_CASE("what does not come into a card does not count against it")
{
    const auto words = std::string(2000, 'w');
    const auto from = snapshot_of(
        exa_server,
        R"([{"name":"t","examples":")" + words + R"(","websiteUrl":"javascript:)" + words +
            R"(","icons":[{"src":"javascript:)" + words + R"("}]}])"
    );
    auto asked = request(card_shape::automatic);
    asked.limit = 1500;
    CHECK(mcp::synthesize_card(from, asked).has_value());
}

TEST_CASE("items as deep as discovery lets them be make a card that is read in every shape")
{
    const std::string deep = R"([{"name":"t","inputSchema":)" + std::string(55, '[') + std::string(55, ']') + "}]";
    const auto from = snapshot_of(exa_server, deep);
    REQUIRE(from[list_kind::tools].size() == 1);
    for (const auto shape : shapes) {
        CHECK(lint_error(made(from, shape)).empty());
    }
}

TEST_CASE("what is offered but empty is an empty list, and what is not offered is absent")
{
    const auto from = snapshot_of(R"("capabilities":{"resources":{"subscribe":true}})", "[]");
    const auto card = document(from, card_shape::automatic);
    CHECK(card["skills"] == json::array());
    CHECK(card["resources"] == json::array());
    CHECK(card["resourceTemplates"] == json::array());
    CHECK_FALSE(card.contains("prompts"));
    CHECK(card["capabilities"]["tools"].is_null());
    CHECK(card["capabilities"]["resources"]["subscribe"] == true);
    CHECK(lint_error(made(from, card_shape::automatic)).empty());
}

TEST_CASE("a card has what the server says of itself as it said it, in every shape")
{
    const auto server = snapshot_of(
        R"("capabilities":{"tools":{},"logging":{},"completions":{},"extensions":{"x/y":{"z":[1.50]}}},
           "serverInfo":{"name":"srv","title":"The Server","version":"1"},"instructions":"First.\nThen the rest.")",
        "[]"
    );
    const auto capabilities =
        *core::parse_json(R"({"tools":{},"logging":{},"completions":{},"extensions":{"x/y":{"z":[1.50]}}})");
    const auto own = document(server, card_shape::automatic);
    CHECK(own["name"] == "exa_search");
    CHECK(
        own["mcp"] ==
        json{
            {"url", "https://gw.example/agents/exa_search/mcp"},
            {"versions", {"2024-11-05"}},
            {"transports", {"streamable-http"}},
            {"calls", "mcp"},
            {"name", "srv"},
            {"title", "The Server"},
            {"instructions", "First.\nThen the rest."},
            {"capabilities", capabilities}
        }
    );
    CHECK(made(server, card_shape::automatic).find(R"({"z":[1.50]})") != std::string::npos);
    for (const auto shape : {card_shape::v1, card_shape::v03, card_shape::hybrid}) {
        const auto card = document(server, shape);
        CHECK(card["name"] == "The Server");
        const auto& params = card["capabilities"]["extensions"][0]["params"];
        CHECK(params["serverInfo"]["name"] == "srv");
        CHECK(params["instructions"] == "First.\nThen the rest.");
        CHECK(params["capabilities"] == capabilities);
    }
    const auto untitled = snapshot_of(R"("capabilities":{},"serverInfo":{"name":" ","title":"","version":"1"})", "[]");
    CHECK(document(untitled, card_shape::v1)["name"] == "exa_search");
    auto shown = document(untitled, card_shape::automatic)["mcp"];
    CHECK(shown["name"] == " ");
    CHECK_FALSE(shown.contains("title"));
    CHECK(shown["capabilities"] == json::object());
}

TEST_CASE("A card names the endpoint for MCP clients in every shape, and no interface for calls of A2A")
{
    const auto exa = snapshot_of(exa_server, exa_tools);
    for (const auto shape : shapes) {
        const auto card = document(exa, shape);
        const auto& at = shape == card_shape::automatic ? card["mcp"] : card["capabilities"]["extensions"][0]["params"];
        CHECK(at["url"] == "https://gw.example/agents/exa_search/mcp");
        CHECK(at["versions"] == json{"2024-11-05"});
        CHECK(at["transports"] == json{"streamable-http"});
        CHECK(at["calls"] == "mcp");
        CHECK_FALSE(card.contains("preferredTransport"));
        CHECK(card.value("supportedInterfaces", json::array()).empty());
        CHECK_FALSE(card.contains("additionalInterfaces"));
    }
}

TEST_CASE("the tags that FastMCP gives a tool are tags of its skill")
{
    const auto server = snapshot_of(
        R"("capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"})",
        R"([{"name":"a","inputSchema":{},"_meta":{"fastmcp":{"tags":["geo","tool","",7,"geo"],"version":"1"}},
             "annotations":{"readOnlyHint":true}},
            {"name":"b","inputSchema":{},"_meta":{"_fastmcp":{"tags":["old"]}}},
            {"name":"c","inputSchema":{},"_meta":{"fastmcp":{"tags":"geo"},"_fastmcp":[]}}])"
    );
    const auto skills = document(server, card_shape::automatic)["skills"];
    CHECK(skills[0]["tags"] == json{"mcp", "tool", "geo", "read-only"});
    CHECK(skills[1]["tags"] == json{"mcp", "tool", "old"});
    CHECK(skills[2]["tags"] == json{"mcp", "tool"});
}

TEST_SUITE_END();
