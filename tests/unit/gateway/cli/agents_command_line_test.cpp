#include "gateway/cli/agents_command_line.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/agents_command_line");

namespace {

using arguments = std::vector<std::string>;
using gateway::cli::agents_help;
using gateway::cli::agents_verb;
using gateway::cli::output_form;
using gateway::cli::parse_agents_command;

}  // namespace

TEST_CASE("every verb is read with its options, wherever they stand")
{
    const auto listed = parse_agents_command(
        {"--admin",
         "h:1",
         "list",
         "--tag",
         "t",
         "--protocol=mcp",
         "--text",
         "x",
         "--limit",
         "5",
         "--after",
         "a",
         "-o",
         "json"}
    );
    CHECK(listed.problem.empty());
    CHECK(listed.what == agents_verb::list);
    CHECK(listed.admin == "h:1");
    CHECK(listed.tags == arguments{"t"});
    CHECK(listed.protocol == "mcp");
    CHECK(listed.text == "x");
    CHECK(listed.limit == 5);
    CHECK(listed.after == "a");
    CHECK(listed.output == output_form::json);
    const auto added = parse_agents_command(
        {"add",
         "a",
         "--tag",
         "t",
         "http://h/?x=1",
         "--tag=u",
         "--card-url",
         "http://h/c",
         "--bearer-file",
         "f",
         "--if-version=0",
         "--ca-file",
         "ca.pem",
         "--output=table"}
    );
    CHECK(added.problem.empty());
    CHECK(added.id == "a");
    CHECK(added.url == "http://h/?x=1");
    CHECK(added.tags == arguments{"t", "u"});
    CHECK(added.card_url == "http://h/c");
    CHECK(added.bearer_file == "f");
    CHECK(added.if_version == 0);
    CHECK(added.ca_file == "ca.pem");
    CHECK(added.output == output_form::table);
    CHECK(parse_agents_command({"add", "-f", "-"}).file == "-");
    CHECK(parse_agents_command({"refresh", "a", "--dry-run"}).dry_run);
    const auto health = parse_agents_command({"health", "--status", "unhealthy", "--protocol", "mcp", "--limit=3"});
    CHECK(health.problem.empty());
    CHECK(health.what == agents_verb::health);
    CHECK(health.status == "unhealthy");
    CHECK(health.limit == 3);
    CHECK(health.id.empty());
    CHECK(parse_agents_command({"health", "a"}).id == "a");
    CHECK(parse_agents_command({"rm", "a"}).what == agents_verb::remove);
    CHECK(parse_agents_command({"get", "a"}).output == output_form::automatic);
}

TEST_CASE("what cannot be carried out is said, and where help is")
{
    struct row {
        arguments given;
        std::string said;
    };
    for (const auto& each : std::vector<row>{
             {{}, "'agents' needs a verb: list, get, health, card, refresh, add or remove; see cardea agents --help"},
             {{"lsit"}, "there is no 'agents lsit'; see cardea agents --help"},
             {{"get"}, "an agent's id is missing; see cardea agents get --help"},
             {{"add", "a"}, "add needs an id and a URL, or -f FILE; see cardea agents add --help"},
             {{"get", "a", "b"}, "unexpected 'b'; see cardea agents get --help"},
             {{"list", "a"}, "unexpected 'a'; see cardea agents list --help"},
             {{"list", "--limit", "x"}, "--limit is 'x'; expected a whole number; see cardea agents list --help"},
             {{"list", "--limit"}, "--limit needs a value; see cardea agents list --help"},
             {{"list", "--text="}, "--text is empty; see cardea agents list --help"},
             {{"list", "--tag", "a", "--tag", "b"},
              "--tag is given twice; a list is filtered by one; see cardea agents list --help"},
             {{"list", "--status", "healthy"}, "unknown option '--status'; see cardea agents list --help"},
             {{"health", "a", "--status", "healthy"},
              "'a' is one agent; nothing filters it; see cardea agents health --help"},
             {{"health", "a", "b"}, "unexpected 'b'; see cardea agents health --help"},
             {{"list", "--dry-run"}, "unknown option '--dry-run'; see cardea agents list --help"},
             {{"remove", "a", "--tag", "t"}, "unknown option '--tag'; see cardea agents remove --help"},
             {{"get", "a", "-o", "xml"}, "--output is 'xml'; expected json or table; see cardea agents get --help"},
             {{"add", "-f", "f", "a"},
              "-f stands alone: all about the agents is in the file; see cardea agents add --help"},
         }) {
        CHECK(parse_agents_command(each.given).problem == each.said);
    }
}

TEST_CASE("there is help for all of them and for each")
{
    CHECK(parse_agents_command({"--help"}).help);
    CHECK_FALSE(parse_agents_command({"--help"}).what.has_value());
    CHECK(parse_agents_command({"add", "-h"}).what == agents_verb::add);
    CHECK(parse_agents_command({"get", "--help"}).problem.empty());
    for (const auto verb :
         {agents_verb::list,
          agents_verb::get,
          agents_verb::health,
          agents_verb::card,
          agents_verb::refresh,
          agents_verb::add,
          agents_verb::remove}) {
        const auto text = agents_help(verb);
        CHECK(text.starts_with("cardea agents " + std::string{name(verb)}));
        CHECK(text.find("--admin ADDRESS") != std::string::npos);
        CHECK(text.find("Exit codes: 0 done; 1 ") != std::string::npos);
        CHECK(agents_help(std::nullopt).find("cardea agents " + std::string{name(verb)}) != std::string::npos);
    }
}

TEST_SUITE_END();
