#include "mcp/bridge/agent_tools.hpp"

#include "mcp/protocol/raw_json.hpp"
#include "mcp/translation/modern_messages.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("mcp/bridge/agent_tools");

using core::tool_form;
using mcp::list_kind;

namespace {

core::json card(std::string_view text)
{
    return core::json::parse(text);
}

constexpr std::string_view dice = R"({"name":"Dice","description":"Rolls dice.","version":"2.1.0",
    "documentationUrl":"https://dice.example/doc","capabilities":{"streaming":true},"skills":[
    {"id":"roll","name":"Roll","description":"Rolls some dice","tags":[],"examples":["2d6","d20"]},
    {"id":"sum.all","name":"Sum","description":"Sum","tags":[]}]})";

std::vector<std::string> names(const mcp::agent_tools& tools)
{
    std::vector<std::string> out;
    for (const auto& each : tools.lists[list_kind::tools]) {
        out.push_back(each.key);
    }
    return out;
}

core::json tool(const mcp::agent_tools& tools, std::string_view name)
{
    const auto& all = tools.lists[list_kind::tools];
    const auto found = std::ranges::find(all, name, &mcp::listed_item::key);
    REQUIRE(found != all.end());
    return core::json::parse(found->raw);
}

}  // namespace

TEST_CASE("An agent is shown as three tools, the first of which is described with the agent and its skills")
{
    const auto tools = mcp::tools_of_card(card(dice), tool_form::agent, "dice");
    CHECK(names(tools) == std::vector<std::string>{"send_message", "get_task", "cancel_task"});
    CHECK(tools.streams);
    CHECK(tools.skills.empty());
    const auto send = tool(tools, "send_message");
    CHECK(send["title"] == "Message to Dice");
    const auto said = send["description"].get<std::string>();
    CHECK(said.starts_with("Sends a message to the agent Dice. Rolls dice.\n\nSkills:\n- roll: Roll. Rolls some dice\n")
    );
    CHECK(said.find("\n- sum.all: Sum\n") != std::string::npos);
    CHECK(send["inputSchema"]["required"] == core::json::array({"message"}));
    CHECK(send["inputSchema"]["properties"].size() == 5);
    CHECK(tool(tools, "get_task")["annotations"]["readOnlyHint"] == true);
    CHECK(tool(tools, "cancel_task")["inputSchema"]["required"] == core::json::array({"taskId"}));
}

TEST_CASE("Each skill is a tool of its own, with a name that clients take")
{
    const auto tools = mcp::tools_of_card(card(dice), tool_form::skills, "dice");
    CHECK(names(tools) == std::vector<std::string>{"roll", "sum_all", "get_task", "cancel_task"});
    CHECK(tools.skills.at("sum_all") == "sum.all");
    const auto roll = tool(tools, "roll");
    CHECK(roll["title"] == "Roll");
    CHECK(roll["description"].get<std::string>().starts_with("Rolls some dice\n\nExamples:\n- 2d6\n- d20\n\n"));
    CHECK_FALSE(roll["inputSchema"]["properties"].contains("skill"));
}

TEST_CASE("Names that are too long, taken or then equal end in digits of the id")
{
    core::json many = card(dice);
    many["skills"] = core::json::array();
    for (const auto* id : {"a b", "a.b", "get_task", "x", "x"}) {
        many["skills"].push_back({{"id", id}, {"name", id}, {"description", "d"}});
    }
    many["skills"].push_back({{"id", std::string(100, 'y')}, {"name", "y"}, {"description", "d"}});
    const auto tools = mcp::tools_of_card(many, tool_form::skills, "dice");
    const auto all = names(tools);
    REQUIRE(all.size() == 7);
    CHECK(all[0].starts_with("a_b_"));
    CHECK(all[1].starts_with("a_b_"));
    CHECK(all[0] != all[1]);
    CHECK(all[2].starts_with("get_task_"));
    CHECK(all[3] == "x");
    CHECK(all[4].size() == mcp::longest_tool_of_skill);
    CHECK(all[5] == "get_task");
    CHECK(std::set<std::string>(all.begin(), all.end()).size() == all.size());
    CHECK(tools.skills.at(all[1]) == "a.b");
}

TEST_CASE("Another skill renames no tool")
{
    auto changed = card(dice);
    const auto before = names(mcp::tools_of_card(changed, tool_form::skills, "dice"));
    changed["skills"].push_back({{"id", "more"}, {"name", "More"}, {"description", "d"}});
    const auto after = names(mcp::tools_of_card(changed, tool_form::skills, "dice"));
    CHECK(std::ranges::all_of(before, [&](const auto& each) { return std::ranges::count(after, each) == 1; }));
}

TEST_CASE("The facts of the server are those of the card")
{
    const auto& server = mcp::tools_of_card(card(dice), tool_form::agent, "dice").lists.server;
    CHECK(server.speaks == mcp::era::modern);
    CHECK(server.name == "Dice");
    CHECK(server.version == "2.1.0");
    CHECK(server.instructions == "Rolls dice.");
    CHECK(server.announces[mcp::index_of(list_kind::tools)]);
    const auto read =
        mcp::read_discover_result(mcp::members_of(mcp::discover_answer("1", server, true)).object("result"));
    REQUIRE(read.has_value());
    CHECK(read->name == "Dice");
    CHECK(read->offers == server.offers);
    CHECK(mcp::members_of(read->capabilities).object("extensions") == R"({"io.modelcontextprotocol/tasks":{}})");
}

TEST_CASE("A card without a name or skills still has tools, and one of 10,000 skills a short description")
{
    const auto bare = mcp::tools_of_card(card("{}"), tool_form::agent, "bare");
    CHECK(bare.lists.server.name == "bare");
    CHECK_FALSE(bare.streams);
    CHECK(tool(bare, "send_message")["description"].get<std::string>().find("Skills:") == std::string::npos);
    CHECK(mcp::tools_of_card(card("{}"), tool_form::off, "bare").lists[list_kind::tools].empty());
    auto many = card(dice);
    for (int i = 0; i < 10'000; ++i) {
        many["skills"].push_back(
            {{"id", "skill-" + std::to_string(i)}, {"name", "A skill"}, {"description", std::string(40, 'd')}}
        );
    }
    const auto said = tool(mcp::tools_of_card(many, tool_form::agent, "dice"), "send_message")["description"];
    CHECK(said.get<std::string>().size() <= mcp::longest_agent_description);
    CHECK(said.get<std::string>().find(" more)") != std::string::npos);
    CHECK(names(mcp::tools_of_card(many, tool_form::skills, "dice")).size() == 10'004);
}

TEST_CASE("Every tool is as a list has it to be")
{
    for (const auto form : {tool_form::agent, tool_form::skills}) {
        const auto tools = mcp::tools_of_card(card(dice), form, "dice");
        for (const auto& each : tools.lists[list_kind::tools]) {
            CHECK(mcp::usable(each.raw, 32).value() == each.raw);
            CHECK(mcp::read_list_item(each.raw, list_kind::tools, true).problem.empty());
            CHECK(mcp::read_list_item(each.raw, list_kind::tools, true).headers.empty());
        }
    }
}
