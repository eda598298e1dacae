#include "gateway/request/router.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("gateway/router");

namespace {

using gateway::model::route;
using gateway::request::find_destination;
using gateway::request::find_destination_of;

struct row {
    std::string target;
    route where;
    std::string_view agent = {};
    bool legacy = false;
};

void check(const row& expected)
{
    CAPTURE(expected.target);
    const auto found = find_destination(expected.target);
    CHECK(found.where == expected.where);
    CHECK(found.agent == expected.agent);
    CHECK(found.legacy_card == expected.legacy);
}

}  // namespace

TEST_CASE("a target leads to a call, a card or the management, and keeps its query to itself")
{
    const std::vector<row> rows{
        {"/agents/a", route::call, "a"},
        {"/agents/a/", route::call, "a"},
        {"/agents/a?x=/agents/b", route::call, "a"},
        {"/agents/a/?x", route::call, "a"},
        {"/agents/A.b_c-1", route::call, "A.b_c-1"},
        {"/agents/a/.well-known/agent-card.json", route::card, "a"},
        {"/agents/a/.well-known/agent-card.json?v=1", route::card, "a"},
        {"/agents/a/.well-known/agent.json", route::card, "a", true},
        {"/agents/.well-known/.well-known/agent.json", route::card, ".well-known", true},
        {"/", route::index},
        {"/?x=/rpc", route::index},
        {"/rpc", route::management},
        {"/agent/register", route::registration},
        {"/agent/register?x", route::registration},
        {"/rpc?method=agents/list", route::management},
        {"/.well-known/jwks.json", route::key_set},
        {"/.well-known/jwks.json?x", route::key_set},
        {"/.well-known/oauth-protected-resource", route::resource_metadata},
        {"/.well-known/oauth-protected-resource?x", route::resource_metadata},
        {"/agents/a/mcp", route::mcp, "a"},
        {"/agents/a/mcp?x", route::mcp, "a"},
        {"/agents/a/mcp/", route::mcp, "a"},
        {"/agents/a/mcp/?x", route::mcp, "a"},
        {"/agents/a/.well-known/agent-card.json/", route::card, "a"},
        {"/agents/a/.well-known/agent.json/", route::card, "a", true},
        {"/rpc/", route::management},
        {"/agent/register/?x", route::registration},
        {"/.well-known/jwks.json/", route::key_set},
        {"/.well-known/oauth-protected-resource/", route::resource_metadata},
        {"/.well-known/oauth-protected-resource/agents/a/mcp/", route::resource_metadata, "a"},
        {"/agents/a/mcpx", route::relay, "a"},
        {"/agents/a/push/x", route::push, "a"},
        {"/agents/a/push/x?y", route::push, "a"},
        {"/agents/a/push/x/y", route::push, "a"},
        {"/agents/a/push/", route::relay, "a"},
        {"/agents/a/push", route::relay, "a"},
        {"/agents/a/Push/x", route::relay, "a"},
        {"/.well-known/oauth-protected-resource/agents/a/mcp", route::resource_metadata, "a"},
        {"/.well-known/oauth-protected-resource/agents/a", route::resource_metadata, "a"},
        {"/.well-known/oauth-protected-resource/agents/a/?x", route::resource_metadata, "a"},
    };
    for (const auto& each : rows) {
        check(each);
    }
}

TEST_CASE("an agent's extended card has an address for each version that has one")
{
    using gateway::request::extended_path;
    const std::vector<std::pair<std::string_view, extended_path>> rows{
        {"/agents/a/agent/authenticatedExtendedCard", extended_path::v02},
        {"/agents/a/rest/v1/card", extended_path::rest_v03},
        {"/agents/a/rest/v1/card?tenant=t", extended_path::rest_v03},
        {"/agents/a/rest/extendedAgentCard", extended_path::rest_v1},
        {"/agents/a/rest/extendedAgentCard/", extended_path::rest_v1},
        {"/agents/a/rest/v1/card/", extended_path::rest_v03},
        {"/agents/a/agent/authenticatedExtendedCard/", extended_path::v02},
        {"/agents/a/rest/extendedagentcard", extended_path::none},
        {"/agents/a/rest/v1/c%61rd", extended_path::none},
        {"/agents/a/v1/card", extended_path::none},
        {"/agents/agent/authenticatedExtendedCard", extended_path::none},
    };
    for (const auto& [target, wanted] : rows) {
        CAPTURE(target);
        const auto found = find_destination(target);
        CHECK(found.where == route::relay);
        CHECK(found.extended == wanted);
    }
    CHECK(find_destination("/agents/a/.well-known/agent-card.json").extended == extended_path::none);
}

TEST_CASE("a target that would mean an agent only after decoding or normalising leads nowhere")
{
    for (const auto* target : {
             "//",
             "/.",
             "*",
             "",
             "/agents//",
             "/agentsx",
             "/Agents",
             "/Agents/",
             "/.well-known/",
             "/.well-known/oauth-protected-resources",
             "/.well-known/oauth-protected-resource/agents",
             "/.well-known/oauth-protected-resource/agents/",
             "/.well-known/oauth-protected-resource/agents//",
             "/.well-known/oauth-protected-resource/agents/a/b",
             "/.well-known/oauth-protected-resource/agents/a//",
             "/.well-known/oauth-protected-resource/agents/%61",
             "/.well-known/oauth-protected-resource/agents/.well-known",
             "/.well-known/oauth-protected-resource/rpc",
             "/.well-known/API-catalog",
             "/.well-known/%61pi-catalog",
             "/.well-known/ai-catalog",
             "//agents/a",
             "/Agents/a",
             "/agents//a",
             "/agents/./a",
             "/agents/..",
             "/agents/.",
             "/agents/../rpc",
             "/agents/a/..",
             "/agents/a%2fb",
             "/agents/%61",
             "/agents/a;v=1",
             "/agents/a\\",
             "/agents/a b",
             "/agents/\xc3\xa4",
             "/rpc//",
             "/rpc/agents",
             "/RPC",
             "/.well-known/agent-card.json",
         }) {
        check({target, route::none});
    }
}

TEST_CASE("the directory has an address for each of its forms, with or without a slash at its end")
{
    using gateway::model::directory_kind;
    for (const auto& [target, kind] :
         {std::pair{"/agents", directory_kind::agents},
          {"/agents/", directory_kind::agents},
          {"/.well-known/api-catalog", directory_kind::api_catalog},
          {"/.well-known/api-catalog/", directory_kind::api_catalog},
          {"/.well-known/ai-catalog.json", directory_kind::ai_catalog},
          {"/v0.1/servers", directory_kind::servers},
          {"/v0.1/servers/", directory_kind::servers}}) {
        for (const std::string query : {"", "?", "?limit=1&x=/agents/b"}) {
            const auto whole = target + query;
            check({whole, route::directory});
            CHECK(find_destination(whole).directory == kind);
            CHECK(find_destination(whole).query == query);
        }
    }
}

TEST_CASE("A server of the registry has its name in the path, with its slash encoded or not")
{
    using gateway::model::directory_kind;
    const std::string list = "/v0.1/servers/";
    for (const std::string name : {"com.example-1%2Fa.b", "com.example-1%2fa.b", "com.example-1/a.b"}) {
        for (const std::string end : {"", "/", "?include_deleted=true"}) {
            const auto of_all = list + name + "/versions" + end;
            const auto all = find_destination(of_all);
            CHECK(all.where == route::directory);
            CHECK(all.directory == directory_kind::server_versions);
            CHECK(all.rest == "com.example-1");
            CHECK(all.agent == "a.b");
            const auto of_one = list + name + "/versions/1.0%2Bx" + end;
            const auto one = find_destination(of_one);
            CHECK(one.where == route::directory);
            CHECK(one.directory == directory_kind::server_version);
            CHECK(one.agent == "a.b");
            CHECK(one.below == "1.0%2Bx");
        }
    }
    for (const std::string wrong :
         {"com.example",
          "com.example%2Fa",
          "com.example%2Fa/",
          "com.example%2Fa/version",
          "com.example%2Fa/versionsx",
          "com.example%2Fa/versions//",
          "com.example%2Fa/versions/1/2",
          "com.example%2Fa/versions/..",
          "com.example%2Fa/versions/%2e%2e",
          "com.example%2Fa/versions/1%2F2",
          "com.example%2Fa/versions/1\\2",
          "com.example%2Fa%2Fb/versions",
          "com.example%252Fa/versions",
          "com.example%2F/versions",
          "%2Fa/versions",
          "/a/versions",
          "..%2Fa/versions",
          ".%2Fa/versions",
          "com_example%2Fa/versions",
          "com.example%2F..%2Fa/versions",
          "com.example%2F%61/versions",
          "com.example%2F.well-known/versions"}) {
        CAPTURE(wrong);
        CHECK(find_destination(list + wrong).where == route::none);
    }
    CHECK(find_destination("/v0.1/serversx/com.example%2Fa/versions").where == route::none);
}

TEST_CASE("The card of an MCP server has an address below its own")
{
    using gateway::model::directory_kind;
    for (const std::string end : {"", "/", "?x"}) {
        const auto target = "/agents/a/mcp/server-card" + end;
        const auto found = find_destination(target);
        CHECK(found.where == route::directory);
        CHECK(found.directory == directory_kind::server_card);
        CHECK(found.agent == "a");
        CHECK(find_destination_of("a", "/mcp/server-card" + end).directory == directory_kind::server_card);
    }
    CHECK(find_destination("/agents/a/mcp/server-cards").where == route::relay);
    CHECK(find_destination("/agents/a/server-card").where == route::relay);
}

TEST_CASE("any other path below an agent is one that it may let through, as it was written")
{
    for (const std::string below : {
             "/rest",
             "/rest//x",
             "/.well-known",
             "/.well-known/",
             "/.well-known/oauth-protected-resource/",
             "/.well-known/oauth-protected-resources",
             "/.well-known/oauth-protected-resource/agents",
             "/.well-known/oauth-protected-resource/agents/",
             "/.well-known/oauth-protected-resource/agents//",
             "/.well-known/oauth-protected-resource/agents/a/b",
             "/.well-known/oauth-protected-resource/agents/a//",
             "/.well-known/oauth-protected-resource/agents/%61",
             "/.well-known/oauth-protected-resource/agents/.well-known",
             "/.well-known/oauth-protected-resource/rpc",
             "/.well-known/agent-card.json%3f",
             "/.well-known/Agent-Card.json",
             "/%2ewell-known/agent-card.json",
             "/...",
         }) {
        const auto target = "/agents/a" + below + "?x=/../y";
        check({target, route::relay, "a"});
        CHECK(find_destination(target).below == below);
        CHECK(find_destination(target).query == "?x=/../y");
    }
}

TEST_CASE("a path that another reader may take for a different one is a bad request, a near miss ends the connection")
{
    struct refusal {
        const char* target;
        core::errc code;
        bool astray;
    };
    for (const auto& each : std::vector<refusal>{
             {"//agents/a", core::errc::bad_request, true},
             {"/agents/a//", core::errc::bad_request, true},
             {"/agents/a//elsewhere.example/x", core::errc::bad_request, true},
             {"/agents/a//.well-known/agent-card.json", core::errc::bad_request, true},
             {"/agents/../rpc", core::errc::bad_request, true},
             {"/agents/a/%2e%2e/b", core::errc::bad_request, true},
             {"/agents/a/..;x=1/b", core::errc::bad_request, true},
             {"/agents/a/b%2fc", core::errc::bad_request, true},
             {"/agents/a/b%5Cc", core::errc::bad_request, true},
             {"/agents/a/b%00c", core::errc::bad_request, true},
             {"/AGENTS/a", core::errc::not_found, true},
             {"/agents/a;x=1", core::errc::not_found, true},
             {"/agents/a%20b", core::errc::not_found, true},
             {"/nowhere", core::errc::not_found, false},
             {"*", core::errc::not_found, false},
         }) {
        CAPTURE(each.target);
        const auto found = find_destination(each.target);
        CHECK(found.where == route::none);
        CHECK(found.refusal == each.code);
        CHECK(found.astray == each.astray);
    }
}

TEST_CASE("A path of HTTP+JSON that is refused is known as one, so that its caller is told in its words")
{
    for (const auto& found :
         {find_destination("/agents/a/rest/tasks/b%2Fc"), find_destination_of("a", "/rest/tasks/b%2Fc")}) {
        CHECK(found.where == route::none);
        CHECK(found.refusal == core::errc::bad_request);
        CHECK(found.rest == "/tasks/b%2Fc");
    }
    CHECK(find_destination("/agents/a/files/b%2Fc").rest.empty());
    CHECK(find_destination("//agents/a/rest/x").rest.empty());
    CHECK(find_destination("/rest/b%2Fc").rest.empty());
}

TEST_CASE("an id is up to 128 characters long")
{
    for (const std::size_t length : {std::size_t{127}, std::size_t{128}, std::size_t{129}}) {
        const std::string id(length, 'x');
        const bool known = length <= 128;
        for (const auto* rest : {"", "/", "/.well-known/agent-card.json"}) {
            const auto target = "/agents/" + id + rest;
            const auto found = find_destination(target);
            CAPTURE(length);
            CHECK(found.agent == (known ? std::string_view{id} : std::string_view{}));
            CHECK((found.where == route::none) == !known);
        }
    }
}

TEST_CASE("the id of a destination lies in the target it was found in")
{
    const std::string target = "/agents/weather/";
    const auto found = find_destination(target);
    CHECK(found.agent.data() == target.data() + std::string_view{"/agents/"}.size());
}

TEST_CASE("At an agent's own name a path means what it means below the agent")
{
    const std::string id{"words"};
    for (const std::string below :
         {"/",
          "/.well-known/agent-card.json",
          "/.well-known/agent.json",
          "/mcp",
          "/agent/authenticatedExtendedCard",
          "/rest/v1/card",
          "/rest/extendedAgentCard",
          "/rest/v1/message:send",
          "/files/x",
          "/rest//x"}) {
        CAPTURE(below);
        const auto whole = "/agents/words" + below + "?x=/y";
        const auto by_path = find_destination(whole);
        const auto target = below + "?x=/y";
        const auto by_name = find_destination_of(id, target);
        CHECK(by_name.where == by_path.where);
        CHECK(by_name.agent.data() == id.data());
        CHECK(by_name.below == by_path.below);
        CHECK(by_name.query == by_path.query);
        CHECK(by_name.extended == by_path.extended);
        CHECK((by_name.rest == by_path.rest || by_name.rest == below));
        CHECK(by_name.legacy_card == by_path.legacy_card);
    }
}

TEST_CASE("At an agent's own name HTTP+JSON needs nothing in front, and nothing of the gateway is there")
{
    using gateway::request::extended_path;
    CHECK(find_destination_of("a", "/v1/card").extended == extended_path::rest_v03);
    CHECK(find_destination_of("a", "/v1/message:send?x").rest == "/v1/message:send");
    CHECK(find_destination_of("a", "/rest/v1/message:send").rest == "/v1/message:send");
    CHECK(find_destination_of("a", "/mcp").rest.empty());
    CHECK(find_destination_of("a", "/mcp/").where == route::mcp);
    CHECK(find_destination_of("a", "/v1/card/").extended == extended_path::rest_v03);
    CHECK(find_destination("/agents/a/rest/v1/message:send/").rest == "/v1/message:send");
    CHECK(find_destination("/agents/a/rest/v1/message:send/").below == "/rest/v1/message:send/");
    CHECK(find_destination("/agents/a/rest/tasks?x").rest == "/tasks");
    CHECK(find_destination("/agents/a/tasks").rest.empty());
    CHECK(find_destination("/agents/a/restful/x").rest.empty());
    CHECK(find_destination_of("a", "/extendedAgentCard?x").extended == extended_path::rest_v1);
    for (const auto* target :
         {"/rpc",
          "/agents",
          "/agents/a",
          "/agents/b/mcp",
          "/.well-known/jwks.json",
          "/.well-known/ai-catalog.json",
          "/agent/register"}) {
        CAPTURE(target);
        const auto found = find_destination_of("a", target);
        CHECK(found.where == route::relay);
        CHECK(found.agent == "a");
        CHECK(found.below == target);
        CHECK(found.extended == extended_path::none);
    }
}

TEST_CASE("At an agent's own name are its metadata and those of its MCP, and no others")
{
    const std::string metadata{"/.well-known/oauth-protected-resource"};
    for (const std::string below : {"", "/", "/mcp", "/mcp/"}) {
        const auto target = metadata + below + "?x";
        const auto found = find_destination_of("a", target);
        CHECK(found.where == route::resource_metadata);
        CHECK(found.agent == "a");
        CHECK(found.below == (below.starts_with("/mcp") ? "/mcp" : ""));
    }
    for (const std::string below : {"/agents/a", "/mcp//", "x", "/rest"}) {
        const auto target = metadata + below;
        CHECK(find_destination_of("a", target).where == route::none);
    }
}

TEST_CASE("At an agent's own name a path that another reader may take for a different one is a bad request too")
{
    for (const auto* target : {"//", "//x", "/../x", "/%2e%2e/x", "/a%2fb", "/.well-known/..;x/agent-card.json"}) {
        CAPTURE(target);
        const auto found = find_destination_of("a", target);
        CHECK(found.where == route::none);
        CHECK(found.refusal == core::errc::bad_request);
        CHECK(found.astray);
    }
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("gateway/path_pattern");

using gateway::request::fits;
using gateway::request::unambiguous;

TEST_CASE("a pattern fits whole paths, segment by segment")
{
    struct row {
        const char* pattern;
        const char* path;
        bool expected;
    };
    for (const auto& each : std::vector<row>{
             {"/v1", "/v1", true},
             {"/v1", "/v1/", false},
             {"/v1", "/v1x", false},
             {"/v1", "/v", false},
             {"/v1", "/V1", false},
             {"/v1/*", "/v1/a", true},
             {"/v1/*", "/v1/", true},
             {"/v1/*", "/v1", false},
             {"/v1/*", "/v1/a/b", false},
             {"/v1/*.json", "/v1/a.json", true},
             {"/v1/*.json", "/v1/a.json.x", false},
             {"/v1/a*b*c", "/v1/aXbYc", true},
             {"/v1/a*b*c", "/v1/acb", false},
             {"/**", "/", true},
             {"/**", "/a", true},
             {"/**", "/a/b/c", true},
             {"/v1/**", "/v1", true},
             {"/v1/**", "/v1/a/b", true},
             {"/v1/**", "/v2/a", false},
             {"/**/end", "/end", true},
             {"/**/end", "/a/b/end", true},
             {"/**/end", "/a/end/b", false},
             {"/a/**/b/**/c", "/a/b/c", true},
             {"/a/**/b/**/c", "/a/x/b/y/z/c", true},
             {"/a/**/b/**/c", "/a/x/c", false},
             {"/*/x", "/a/x", true},
             {"/*/x", "/a/b/x", false},
             {"/a%20b", "/a b", false},
         }) {
        CAPTURE(each.pattern);
        CAPTURE(each.path);
        CHECK(fits(each.pattern, each.path) == each.expected);
    }
}

TEST_CASE("no pattern takes long to say no")
{
    std::string pattern;
    std::string path;
    for (int i = 0; i < 200; ++i) {
        pattern += "/**/*a*a*a*";
        path += "/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab";
    }
    CHECK_FALSE(fits(pattern + "/never", path));
}

TEST_CASE("a path is ambiguous when a segment is or decodes to a dot segment, or hides a separator")
{
    for (const auto* path :
         {"/",
          "/a",
          "/a/",
          "/a//b",
          "/.well-known/x",
          "/...",
          "/a.b/..c/d..",
          "/a;x=..",
          "/a%20b",
          "/%2ea",
          "/a/%C3%A4",
          "/;x",
          "/a%3f"}) {
        CAPTURE(path);
        CHECK(unambiguous(path));
    }
    for (const auto* path :
         {"/.",
          "/..",
          "/a/./b",
          "/a/../b",
          "/%2e",
          "/%2E%2e",
          "/.%2e/x",
          "/a/..;/b",
          "/a/.;x=1/b",
          "/a%2fb",
          "/a%2Fb",
          "/a%5cb",
          "/a\\b",
          "/a%00"}) {
        CAPTURE(path);
        CHECK_FALSE(unambiguous(path));
    }
}

TEST_SUITE_END();
