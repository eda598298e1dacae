#include "a2a/card/card_lint.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using a2a::problem_severity;
using core::json;

TEST_SUITE_BEGIN("a2a/card/card_lint");

namespace {

json parsed(std::string_view text)
{
    auto value = core::parse_json(text);
    REQUIRE_MESSAGE(value.has_value(), text);
    return *value;
}

constexpr std::string_view sound_v03 = R"({
    "protocolVersion":"0.3.0","name":"n","description":"d","url":"http://agent:9000/a2a","preferredTransport":"JSONRPC",
    "additionalInterfaces":[{"url":"http://agent:9000/a2a","transport":"JSONRPC"}],"iconUrl":"https://a.example/i.png",
    "provider":{"organization":"o","url":"https://a.example"},"version":"1.2.3","documentationUrl":"https://a.example/d",
    "capabilities":{"streaming":true,"stateTransitionHistory":false,"extensions":[{"uri":"urn:x:u","params":{"x":1}}]},
    "securitySchemes":{"k":{"type":"apiKey","in":"header","name":"X"},
        "o":{"type":"oauth2","flows":{"clientCredentials":{"tokenUrl":"https://i.example/t","scopes":{"s":"S"}}}}},
    "security":[{"k":[]},{"o":["s"]}],"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
    "skills":[{"id":"s","name":"S","description":"does","tags":["t"],"examples":["e"],"security":[{"k":[]}]}],
    "supportsAuthenticatedExtendedCard":false})";

constexpr std::string_view sound_v1 = R"({
    "name":"n","description":"d","version":"1.2.3",
    "supportedInterfaces":[{"url":"http://agent:9000/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"},
                           {"url":"http://agent:9000/a2a","protocolBinding":"JSONRPC","protocolVersion":"0.3"}],
    "provider":{"organization":"o","url":"https://a.example"},
    "capabilities":{"streaming":true,"extendedAgentCard":true,"extensions":[{"uri":"urn:x:u","required":false}]},
    "securitySchemes":{"k":{"apiKeySecurityScheme":{"location":"header","name":"X"}},"m":{"mtlsSecurityScheme":{}},
        "o":{"oauth2SecurityScheme":{"flows":{"deviceCode":{"deviceAuthorizationUrl":"https://i.example/d",
             "tokenUrl":"https://i.example/t","scopes":{}}}}}},
    "securityRequirements":[{"schemes":{"k":{"list":[]}}},{"schemes":{}}],
    "defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
    "skills":[{"id":"s","name":"S","description":"does","tags":["t"],"securityRequirements":[{"schemes":{"m":{}}}]}]})";

// The card with the value at `pointer` replaced by `value` (JSON text), or taken out when `value` is empty.
std::string with(std::string_view card, const std::string& pointer, std::string_view value)
{
    auto document = parsed(card);
    const json::json_pointer at{pointer};
    if (value.empty()) {
        document[at.parent_pointer()].erase(at.back());
    } else {
        document[at] = parsed(value);
    }
    return core::to_text(document);
}

// Every problem as "severity path: what".
std::vector<std::string> said(std::string_view text)
{
    std::vector<std::string> lines;
    for (const auto& each : a2a::lint_card(text).problems) {
        lines.push_back(std::string{a2a::name(each.severity)} + " " + each.path + ": " + each.what);
    }
    return lines;
}

struct row {
    std::string pointer;
    std::string value;
    std::string said;
};

void check_rows(std::string_view card, const std::vector<row>& rows)
{
    for (const auto& [pointer, value, expected] : rows) {
        CAPTURE(pointer);
        CAPTURE(value);
        const auto lines = said(with(card, pointer, value));
        CHECK(std::ranges::find(lines, expected) != lines.end());
        // One cause, one complaint; taking out a scheme leaves what asked for it.
        CHECK(lines.size() == 1);
    }
}

}  // namespace

TEST_CASE("nothing is said of a card that is as its specification wants it")
{
    for (const auto text : {sound_v03, sound_v1}) {
        CHECK(said(text) == std::vector<std::string>{});
        CHECK(said(with(text, "/iconUrl", R"("data:image/png;base64,AA==")")).empty());
    }
}

TEST_CASE("every departure of a 0.3 card is said once, with its path and weight")
{
    check_rows(
        sound_v03,
        {
            {"/url", "", "error url: missing"},
            {"/url", "7", "error url: not a string"},
            {"/url", R"("/a2a")", "error url: not an absolute URL"},
            {"/version", "", "error version: missing"},
            {"/iconUrl", R"("icon.png")", "error iconUrl: not an absolute URL"},
            {"/iconUrl", "null", "note iconUrl: null: leave it out"},
            {"/preferredTransport", "null", "note preferredTransport: null: leave it out"},
            {"/provider", R"("me")", "error provider: not an object"},
            {"/provider/organization", "", "error provider.organization: missing"},
            {"/capabilities/streaming", R"("yes")", "error capabilities.streaming: not true or false"},
            {"/capabilities/extensions", "{}", "error capabilities.extensions: not a list"},
            {"/capabilities/extensions/0/uri", "", "error capabilities.extensions[0].uri: missing"},
            {"/capabilities/extensions/0/params", "[]", "error capabilities.extensions[0].params: not an object"},
            {"/capabilities/extensions/0/uri",
             R"("u")",
             "warning capabilities.extensions[0].uri: not a URI: callers cannot tell the extension from others"},
            {"/capabilities/extensions/0/uri",
             R"("/relative/v1")",
             "warning capabilities.extensions[0].uri: not a URI: callers cannot tell the extension from others"},
            {"/capabilities/extensions/0/uri",
             R"("https://x.example/a b")",
             "warning capabilities.extensions[0].uri: not a URI: callers cannot tell the extension from others"},
            {"/capabilities/extensions/1",
             R"({"uri":"urn:x:u"})",
             "warning capabilities.extensions[1].uri: the URI of another extension too"},
            {"/capabilities/extensions/1",
             R"({"uri":"urn:cardea:a2a:extension:mcp:v1","required":true})",
             "warning capabilities.extensions[1].required: true, of an extension that callers cannot activate: it is "
             "data-only"},
            {"/capabilities/x", "1", "note capabilities.x: not in the specification; most readers ignore it"},
            {"/securitySchemes/k/in", "", "error securitySchemes.k.in: missing"},
            {"/securitySchemes/k/type", R"("none")", "error securitySchemes.k.type: no type of the specification"},
            {"/securitySchemes/k/type", "", "error securitySchemes.k.type: missing"},
            {"/securitySchemes/k", "7", "error securitySchemes.k: not an object"},
            {"/securitySchemes/o/flows/clientCredentials/tokenUrl",
             "",
             "error securitySchemes.o.flows.clientCredentials.tokenUrl: missing"},
            {"/securitySchemes/o/flows/clientCredentials/scopes",
             R"(["s"])",
             "error securitySchemes.o.flows.clientCredentials.scopes: not an object of strings"},
            {"/security", R"({"k":[]})", "error security: not a list"},
            {"/security/0", R"({"k":"all"})", "error security[0]: not an object of lists of scopes"},
            {"/security/0",
             R"({"schemes":{"k":{"list":[]}}})",
             "warning security[0]: the ProtoJSON form: readers of JSON-RPC cards miss it"},
            {"/security/0", R"({"z":[]})", "warning security: asks for a scheme that securitySchemes does not have"},
            {"/defaultInputModes/0", R"("text")", "warning defaultInputModes[0]: not a media type"},
            {"/skills/0/tags", "[]", "error skills[0].tags: empty"},
            {"/skills/0/examples", R"("e")", "error skills[0].examples: not a list of strings"},
            {"/skills/0/inputSchema",
             "{}",
             "note skills[0].inputSchema: not in the specification; most readers ignore it"},
            {"/authentication",
             R"({"schemes":["k"]})",
             "warning authentication: 0.1 had it; later readers look for securitySchemes"},
            {"/preferredTransport",
             R"("https://own.example/b")",
             "note preferredTransport: a binding that the gateway does not serve: not offered to callers"},
        }
    );
}

TEST_CASE("every departure of a 1.0 card is said once, with its path and weight")
{
    check_rows(
        sound_v1,
        {
            {"/description", "", "error description: missing"},
            {"/supportedInterfaces/0/protocolVersion",
             R"("1.0.1")",
             "warning supportedInterfaces[0].protocolVersion: has a patch number, which some clients compare"},
            {"/supportedInterfaces/0/protocolVersion", "", "error supportedInterfaces[0].protocolVersion: missing"},
            {"/supportedInterfaces/0/url", "", "error supportedInterfaces[0].url: missing"},
            {"/supportedInterfaces/0/tenant", "7", "error supportedInterfaces[0].tenant: not a string"},
            {"/supportedInterfaces/0/transport",
             R"("JSONRPC")",
             "note supportedInterfaces[0].transport: not in the specification; most readers ignore it"},
            {"/capabilities/stateTransitionHistory",
             "true",
             "warning capabilities.stateTransitionHistory: 1.0 does not have it any more"},
            {"/securitySchemes/k/httpAuthSecurityScheme",
             R"({"scheme":"bearer"})",
             "error securitySchemes.k: has more than one form"},
            {"/securitySchemes/k", "{}", "error securitySchemes.k: has none of the forms of 1.0"},
            {"/securitySchemes/o/oauth2SecurityScheme/flows/deviceCode/tokenUrl",
             "",
             "error securitySchemes.o.oauth2SecurityScheme.flows.deviceCode.tokenUrl: missing"},
            {"/securityRequirements/0/schemes/k", "[]", "error securityRequirements[0].schemes.k: not an object"},
            {"/skills", "[]", "warning skills: empty, where 1.0 wants at least one"},
            {"/skills/1",
             R"({"id":"s","name":"T","description":"d","tags":["t"]})",
             "warning skills[1].id: the id of another skill too"},
            {"/signatures", "[]", "note signatures: not served: they cover addresses that the gateway replaces"},
        }
    );
}

TEST_CASE("a card that mixes generations is judged as both, or as 1.0 if no reader before could use it")
{
    CHECK(
        said(with(sound_v1, "/security", R"([{"k":[]}])")) ==
        std::vector<std::string>{"warning security: 1.0 does not have it any more"}
    );
    const auto hybrid = with(with(sound_v1, "/url", R"("http://agent:9000/a2a")"), "/protocolVersion", R"("0.3.0")");
    const auto lines = said(hybrid);
    CHECK(lines.size() == 3);
    for (const auto* scheme : {"k", "m", "o"}) {
        const auto expected = std::string{"warning securitySchemes."} + scheme +
                              ": the ProtoJSON form: readers of JSON-RPC cards look for `type`";
        CHECK(std::ranges::find(lines, expected) != lines.end());
    }
    const auto claims = said(with(sound_v03, "/protocolVersion", R"("1.0")"));
    CHECK(std::ranges::find(claims, "error supportedInterfaces: missing") != claims.end());
}

TEST_CASE("a 1.0 interface behind a 0.3 one, and one address for two bindings, are said")
{
    auto turned = parsed(sound_v1);
    std::swap(turned["supportedInterfaces"][0], turned["supportedInterfaces"][1]);
    CHECK(
        said(core::to_text(turned)) ==
        std::vector<std::string>{
            "note supportedInterfaces[1]: behind an interface of 0.x: several clients take the first"
        }
    );
    const auto lines =
        said(with(sound_v03, "/additionalInterfaces/1", R"({"url":"http://agent:9000/a2a","transport":"GRPC"})"));
    CHECK(
        std::ranges::find(lines, "warning additionalInterfaces[1].url: the address of another binding too") !=
        lines.end()
    );
}

TEST_CASE("what the gateway would not serve is an error")
{
    const auto leaking = with(sound_v1, "/supportedInterfaces/0/tenant", R"("http://agent:9000/t")");
    CHECK(
        said(leaking) ==
        std::vector<std::string>{
            "error supportedInterfaces[0].tenant: shows the agent's address to callers: the card is not "
            "served"
        }
    );
    const auto naming = [](const std::string& binding) {
        return said(with(with(sound_v03, "/preferredTransport", binding), "/additionalInterfaces", "[]")).front();
    };
    CHECK(
        naming(R"("https://own.example/b")") ==
        "error : names only bindings that the gateway cannot reach: the card is not served"
    );
    CHECK(
        naming(R"("GRPC")") ==
        "warning : names GRPC alone: served if `grpc_url`, or a `grpc` url, says where the agent takes it"
    );
    CHECK(said(with(sound_v03, "/name", "")).front() == "error name: missing");
    CHECK(
        said(with(sound_v03, "/name", R"(" ")")) ==
        std::vector<std::string>{"error : has no name: the card is not served"}
    );
}

TEST_CASE("what is no object has one problem and no shape")
{
    const std::pair<std::string, std::string> rows[]{
        {"", "not JSON"},
        {"[]", "not an object"},
        {R"({"name":"n",})", "not JSON"},
    };
    for (const auto& [text, what] : rows) {
        CAPTURE(text);
        const auto report = a2a::lint_card(text);
        CHECK_FALSE(report.generation.has_value());
        REQUIRE(report.problems.size() == 1);
        CHECK(report.problems[0].path.empty());
        CHECK(report.problems[0].what == what);
        CHECK(report.count(problem_severity::error) == 1);
    }
}

TEST_CASE("what 0.1 let be absent is a warning there")
{
    const auto lines = said(R"({"name":"n","url":"http://agent:9000","version":"1","capabilities":{},
        "authentication":{"schemes":["none"]},"provider":{"organization":"o"},"skills":[{"id":"s","name":"S"}]})");
    CHECK(std::ranges::none_of(lines, [](const std::string& line) { return line.starts_with("error"); }));
    CHECK(std::ranges::find(lines, "warning skills[0].tags: missing") != lines.end());
    CHECK(std::ranges::find(lines, "note provider.url: missing") != lines.end());
}

TEST_CASE("problems are listed errors first, and what a hostile card can make us say is bounded")
{
    std::string members;
    for (int i = 0; i < 300; ++i) {
        members += ",\"x" + std::to_string(i) + "\":1";
    }
    const auto report = a2a::lint_card(R"({"name":"n","version":7)" + members + "}");
    CHECK(report.problems.size() < 2 * a2a::max_card_problems);
    CHECK(std::ranges::is_sorted(report.problems, {}, &a2a::card_problem::severity));
    CHECK(report.problems.front().severity == problem_severity::error);
    CHECK(report.problems.back().what.ends_with(" more"));
    CHECK(report.problems.back().severity == problem_severity::note);
}

TEST_CASE("the section of the specification is that of the innermost object it knows")
{
    using enum a2a::card_generation;
    struct section_row {
        std::string path;
        a2a::card_generation generation;
        std::string section;
    };
    const section_row rows[]{
        {"", v03, "A2A 0.3.0, section 5.5 (AgentCard)"},
        {"url", v02, "A2A 0.2.6, section 5.5 (AgentCard)"},
        {"authentication.schemes", v01, "A2A 0.1.0, section 5.5.3 (AgentAuthentication)"},
        {"x", v03, "A2A 0.3.0, section 5.5 (AgentCard)"},
        {"skills[12].tags", v03, "A2A 0.3.0, section 5.5.4 (AgentSkill)"},
        {"skills[12]", v03, "A2A 0.3.0, section 5.5 (AgentCard)"},
        {"provider.url", v02, "A2A 0.2.6, section 5.5.1 (AgentProvider)"},
        {"capabilities.extensions[0].uri", v03, "A2A 0.3.0, section 5.5.2.1 (AgentExtension)"},
        {"securitySchemes.k.in", v03, "A2A 0.3.0, section 5.5.3 (SecurityScheme)"},
        {"additionalInterfaces[0].url", v03, "A2A 0.3.0, section 5.5.5 (AgentInterface)"},
        {"skills[0].x", v1, "A2A 1.0.1, section 4.4.5 (AgentSkill)"},
        {"supportedInterfaces[3].protocolVersion", v1, "A2A 1.0.1, section 4.4.6 (AgentInterface)"},
        {"securitySchemes.k", v1, "A2A 1.0.1, section 4.5.1 (SecurityScheme)"},
        {"securitySchemes.k.oauth2SecurityScheme.flows.deviceCode.tokenUrl",
         v1,
         "A2A 1.0.1, section 4.5.10 (DeviceCodeOAuthFlow)"},
        {"supportedInterfaces", hybrid, "A2A 1.0.1, section 4.4.1 (AgentCard)"},
        {"additionalInterfaces[0].url", hybrid, "A2A 0.3.0, section 5.5.5 (AgentInterface)"},
        {"x", hybrid, "A2A 1.0.1, section 4.4.1 (AgentCard)"},
    };
    for (const auto& [path, generation, section] : rows) {
        CAPTURE(path);
        CHECK(a2a::specification_section(path, generation) == section);
    }
}

TEST_SUITE_END();
