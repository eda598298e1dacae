#include "gateway/router.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("gateway/router");

namespace {

using gateway::find_destination;
using gateway::route;

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
        {"/rpc", route::management},
        {"/rpc?method=agents/list", route::management},
    };
    for (const auto& each : rows) {
        check(each);
    }
}

TEST_CASE("a target that would mean an agent only after decoding or normalising leads nowhere")
{
    for (const auto* target : {
             "/",
             "*",
             "",
             "/agents",
             "/agents/",
             "/agents//",
             "/agents/?a",
             "//agents/a",
             "/Agents/a",
             "/agents//a",
             "/agents/./a",
             "/agents/..",
             "/agents/.",
             "/agents/../rpc",
             "/agents/a/..",
             "/agents/a//",
             "/agents/a/rest",
             "/agents/a/.well-known",
             "/agents/a/.well-known/",
             "/agents/a/.well-known/agent-card.json/",
             "/agents/a//.well-known/agent-card.json",
             "/agents/a/.well-known/agent-card.json%3f",
             "/agents/a/.well-known/Agent-Card.json",
             "/agents/a/%2ewell-known/agent-card.json",
             "/agents/a%2fb",
             "/agents/%61",
             "/agents/a;v=1",
             "/agents/a\\",
             "/agents/a b",
             "/agents/\xc3\xa4",
             "/rpc/",
             "/rpc/agents",
             "/RPC",
             "/.well-known/agent-card.json",
         }) {
        check({target, route::none});
    }
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

TEST_SUITE_END();
