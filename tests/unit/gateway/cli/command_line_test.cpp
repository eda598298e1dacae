#include "gateway/cli/command_line.hpp"

#include "core/json/json.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/command_line");

namespace {

using arguments = std::vector<std::string>;
using gateway::cli::agents_command;
using gateway::cli::agents_verb;
using gateway::cli::output_form;
using gateway::cli::parse_command_line;
using gateway::cli::top_verb;

struct row {
    arguments given;
    std::string problem;
};

void check_problems(const std::vector<row>& rows)
{
    for (const auto& each : rows) {
        CHECK(parse_command_line(each.given).problem == each.problem);
    }
}

agents_command parsed_agents(arguments given)
{
    given.insert(given.begin(), "agents");
    const auto line = parse_command_line(given);
    CHECK(line.verb == top_verb::agents);
    CHECK(line.problem.empty());
    return line.agents_request;
}

}  // namespace

TEST_CASE("Every verb has its own help, wherever --help stands")
{
    for (const auto& given : {arguments{}, {"--help"}, {"-h"}, {"help"}, {"help", "nonsense"}}) {
        const auto line = parse_command_line(given);
        CHECK(line.verb == top_verb::help);
        CHECK(line.problem.empty());
        for (const auto* verb : {"run ", "validate ", "config ", "card ", "agents ", "version "}) {
            CHECK(line.help.find("\n  " + std::string{verb}) != std::string::npos);
        }
    }
    struct page {
        arguments given;
        std::string usage;
    };
    for (const auto& each : std::vector<page>{
             {{"run", "--help"}, "cardea run "},
             {{"--help", "run"}, "cardea run "},
             {{"help", "run"}, "cardea run "},
             {{"run", "-c", "f", "-h"}, "cardea run "},
             {{"validate", "-h"}, "cardea validate "},
             {{"config", "--help"}, "cardea config "},
             {{"config", "dump", "--help"}, "cardea config dump "},
             {{"config", "schema", "--help"}, "cardea config schema "},
             {{"card", "lint", "--help"}, "cardea card lint "},
             {{"version", "--help"}, "cardea version "},
             {{"agents", "--help"}, "cardea agents "},
             {{"agents", "list", "--help"}, "cardea agents list "},
             {{"agents", "get", "-h"}, "cardea agents get "},
             {{"help", "agents", "health"}, "cardea agents health "},
             {{"agents", "card", "--help"}, "cardea agents card "},
             {{"agents", "refresh", "--help"}, "cardea agents refresh "},
             {{"agents", "reset", "--help"}, "cardea agents reset "},
             {{"agents", "add", "--help"}, "cardea agents add "},
             {{"agents", "rm", "--help"}, "cardea agents remove "},
         }) {
        const auto line = parse_command_line(each.given);
        CHECK(line.verb == top_verb::help);
        CHECK(line.problem.empty());
        CAPTURE(each.usage);
        CHECK(line.help.find("\nUsage: " + each.usage) != std::string::npos);
        const bool of_agents = each.given[0] == "agents" || each.given[1] == "agents";
        CHECK((line.help.find("  --admin ADDRESS ") != std::string::npos) == of_agents);
        CHECK((line.help.find("Exit codes: 0 done; 1 ") != std::string::npos) == of_agents);
    }
    const auto run = parse_command_line({"run", "--help"}).help;
    for (const auto* option :
         {"-c,--config FILE", "--agent ID=URL", "--mcp ID=COMMAND|ID=URL", "--listen", "--admin", "--store"}) {
        CAPTURE(option);
        CHECK(run.find("\n  " + std::string{option} + ' ') != std::string::npos);
    }
}

TEST_CASE("The version is a verb and an option, and takes no arguments")
{
    for (const auto* word : {"version", "--version", "-V"}) {
        CHECK(parse_command_line({word}).verb == top_verb::version);
        CHECK(parse_command_line({word}).problem.empty());
    }
    check_problems({
        {{"version", "-c", "f"}, "unknown option '-c'; see cardea version --help"},
        {{"version", "now"}, "unexpected argument 'now'; see cardea version --help"},
        {{"--version", "now"}, "unknown verb 'now'; see cardea --help"},
    });
}

TEST_CASE("run takes a file, agents and addresses in any order")
{
    const auto line = parse_command_line(
        {"run",
         "--agent",
         "a=http://x",
         "-c",
         "f.yml",
         "--listen",
         "[::1]:0",
         "--agent=b=http://y",
         "--mcp",
         "c=npx -y 'd e'",
         "--agent",
         "[f=1,g=2]",
         "--mcp",
         "run",
         "--admin",
         ":1",
         "--listen",
         "[::1]:1"}
    );
    CHECK(line.verb == top_verb::run);
    CHECK(line.problem.empty());
    CHECK(line.config_file == "f.yml");
    CHECK(line.agents == arguments{"a=http://x", "b=http://y", "[f=1,g=2]"});
    CHECK(line.mcp == arguments{"c=npx -y 'd e'", "run"});
    CHECK(line.listen == "[::1]:1");
    CHECK(line.admin == ":1");
    CHECK(parse_command_line({"run", "--mcp", "a=npx b"}).problem.empty());
    CHECK(parse_command_line({"run", "--store", "memory"}).problem.empty());
}

TEST_CASE("card lint takes one card, and --explain before or behind it")
{
    for (const auto& given :
         {arguments{"card", "lint", "c.json", "--explain"}, {"card", "lint", "--explain", "c.json"}}) {
        const auto line = parse_command_line(given);
        CHECK(line.verb == top_verb::lint_card);
        CHECK(line.problem.empty());
        CHECK(line.card == "c.json");
        CHECK(line.explain);
    }
    CHECK_FALSE(parse_command_line({"card", "lint", "c.json"}).explain);
}

TEST_CASE("config schema takes no options, and config dump those of run")
{
    CHECK(parse_command_line({"config", "schema"}).verb == top_verb::config_schema);
    const auto line = parse_command_line(
        {"config", "dump", "-c", "f.yml", "--listen", ":1", "--agent", "a=http://x", "--output", "json"}
    );
    CHECK(line.verb == top_verb::config_dump);
    CHECK(line.problem.empty());
    CHECK(line.config_file == "f.yml");
    CHECK(line.listen == ":1");
    CHECK(line.agents == arguments{"a=http://x"});
    CHECK(line.format == gateway::cli::dump_format::json);
    CHECK(parse_command_line({"config", "dump", "-c", "f"}).format == gateway::cli::dump_format::yaml);
}

TEST_CASE("run and validate read the file of --config and of -c")
{
    for (const auto& [name, verb] : {std::pair{"run", top_verb::run}, {"validate", top_verb::validate}}) {
        for (const auto* option : {"-c", "--config"}) {
            const auto line = parse_command_line({name, option, "f.yml"});
            CHECK(line.problem.empty());
            CHECK(line.config_file == "f.yml");
            CHECK(line.verb == verb);
        }
    }
}

TEST_CASE("run needs no arguments, and its addresses can be given without an agent")
{
    const auto line = parse_command_line({"run"});
    CHECK(line.verb == top_verb::run);
    CHECK(line.problem.empty());
    CHECK(parse_command_line({"run", "--listen", ":0"}).problem.empty());
}

TEST_CASE("A problem names the offending argument and where help is")
{
    check_problems({
        {{"serve"}, "unknown verb 'serve'; see cardea --help"},
        {{"versoin"}, "unknown verb 'versoin' (did you mean version?); see cardea --help"},
        {{"agentss"}, "unknown verb 'agentss' (did you mean agents?); see cardea --help"},
        {{""}, "unknown verb ''; see cardea --help"},
        {{"--"}, "a verb is required; see cardea --help"},
        {{"--listen", ":0", "run"}, "unknown option '--listen'; see cardea --help"},
        {{"run", "-c"}, "--config needs a value; see cardea run --help"},
        {{"run", "--agent", "a=http://x", "--admin"}, "--admin needs a value; see cardea run --help"},
        {{"run", "--agent", ""}, "--agent: expected a value, got ''; see cardea run --help"},
        {{"run", "--agent", "a=http://x", "b=http://y"}, "unexpected argument 'b=http://y'; see cardea run --help"},
        {{"run", "--agnet", "a=http://x"}, "unknown option '--agnet' (did you mean --agent?); see cardea run --help"},
        {{"run", "--mpc=a=x"}, "unknown option '--mpc=a=x' (did you mean --mcp?); see cardea run --help"},
        {{"run", "--zebra", "f"}, "unknown option '--zebra'; see cardea run --help"},
        {{"run", "-c", "f", "--output", "json"}, "unknown option '--output'; see cardea run --help"},
        {{"validate"}, "--config is required; see cardea validate --help"},
        {{"validate", "--conifg", "f"}, "unknown option '--conifg' (did you mean --config?); see cardea validate --help"
        },
        {{"validate", "-c", "f", "--mcp", "a=x"}, "unknown option '--mcp'; see cardea validate --help"},
        {{"config"}, "a verb is required; see cardea config --help"},
        {{"config", "dumpp"}, "unknown verb 'dumpp' (did you mean dump?); see cardea config --help"},
        {{"config", "schema", "-c", "f"}, "unknown option '-c'; see cardea config schema --help"},
        {{"config", "dump", "--output", "xml"},
         "--output: expected yaml or json, got 'xml'; see cardea config dump --help"},
        {{"config", "dump", "--output"}, "--output needs a value; see cardea config dump --help"},
        {{"card"}, "a verb is required; see cardea card --help"},
        {{"card", "polish"}, "unknown verb 'polish'; see cardea card --help"},
        {{"card", "lint"}, "FILE|URL is required; see cardea card lint --help"},
        {{"card", "lint", "--explain"}, "FILE|URL is required; see cardea card lint --help"},
        {{"card", "lint", "a", "b"}, "unexpected argument 'b'; see cardea card lint --help"},
        {{"card", "lint", "--explian", "c"},
         "unknown option '--explian' (did you mean --explain?); see cardea card lint --help"},
    });
}

TEST_CASE("Every verb of agents takes its options, and those of the connection also before the verb")
{
    const auto list = parsed_agents(
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
    CHECK(list.verb == agents_verb::list);
    CHECK(list.admin == "h:1");
    CHECK(list.tags == arguments{"t"});
    CHECK(list.protocol == "mcp");
    CHECK(list.text == "x");
    CHECK(list.limit == 5);
    CHECK(list.after == "a");
    CHECK(list.output == output_form::json);
    const auto add = parsed_agents(
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
         "--token-file",
         "token",
         "--output=table"}
    );
    CHECK(add.verb == agents_verb::add);
    CHECK(add.id == "a");
    CHECK(add.url == "http://h/?x=1");
    CHECK(add.tags == arguments{"t", "u"});
    CHECK(add.card_url == "http://h/c");
    CHECK(add.bearer_file == "f");
    CHECK(add.if_version == 0);
    CHECK(add.ca_file == "ca.pem");
    CHECK(add.token_file == "token");
    CHECK(add.output == output_form::table);
    CHECK(parsed_agents({"add", "-f", "-"}).file == "-");
    CHECK(parsed_agents({"refresh", "a", "--dry-run"}).dry_run);
    const auto health = parsed_agents({"health", "--status", "unhealthy", "--protocol", "mcp", "--limit=3"});
    CHECK(health.verb == agents_verb::health);
    CHECK(health.status == "unhealthy");
    CHECK(health.limit == 3);
    CHECK(health.id.empty());
    CHECK(parsed_agents({"health", "a"}).id == "a");
    CHECK(parsed_agents({"rm", "a"}).verb == agents_verb::remove);
    CHECK(parsed_agents({"get", "a"}).output == output_form::automatic);
    CHECK(parsed_agents({"card", "list"}).id == "list");
    CHECK(parsed_agents({"--admin", "h:1", "get", "a", "--admin", "h:2"}).admin == "h:2");
}

TEST_CASE("bundles takes the options of a connection and nothing else")
{
    const auto line = parse_command_line({"bundles", "--admin", "h:1", "-o", "json"});
    CHECK(line.problem.empty());
    CHECK(line.verb == top_verb::agents);
    CHECK(line.agents_request.verb == agents_verb::bundles);
    CHECK(line.agents_request.admin == "h:1");
    CHECK(line.agents_request.output == output_form::json);
    CHECK_FALSE(parse_command_line({"bundles", "default"}).problem.empty());
    CHECK_FALSE(parse_command_line({"bundles", "--tag", "t"}).problem.empty());
}

TEST_CASE("bundles are a table of members, with those that are left out and the names that are changed")
{
    const auto found = core::parse_json(
        R"({"bundles":[{"name":"default","path":"/mcp","members":[{"agent":"a","as":"","state":"known","tools":2,)"
        R"("prompts":0,"resources":1}],"skipped":[{"agent":"x.y","reason":"unfit_id"}],"renamed":[{"agent":"a",)"
        R"("list":"tools","name":"read file","exposed":"read_file"}]}]})"
    );
    REQUIRE(found.has_value());
    CHECK(
        gateway::cli::bundles_table(*found) ==
        "BUNDLE   PATH  AGENT  AS  STATE               TOOLS  PROMPTS  RESOURCES\n"
        "default  /mcp  a          known               2      0        1\n"
        "default  /mcp  x.y        skipped (unfit_id)\n"
        "\n"
        "BUNDLE   AGENT  LIST   NAME       EXPOSED AS\n"
        "default  a      tools  read file  read_file\n"
    );
    CHECK(
        gateway::cli::bundles_table(*core::parse_json(R"({"bundles":[]})")) ==
        "BUNDLE  PATH  AGENT  AS  STATE  TOOLS  PROMPTS  RESOURCES\n"
    );
}

TEST_CASE("A problem of agents names the offending argument and where help is")
{
    check_problems({
        {{"agents"}, "a verb is required; see cardea agents --help"},
        {{"agents", "lsit"}, "unknown verb 'lsit' (did you mean list?); see cardea agents --help"},
        {{"agents", "--tag", "t", "list"}, "unknown option '--tag'; see cardea agents --help"},
        {{"agents", "get"}, "ID is required; see cardea agents get --help"},
        {{"agents", "get", ""}, "ID: expected a value, got ''; see cardea agents get --help"},
        {{"agents", "get", "a", "b"}, "unexpected argument 'b'; see cardea agents get --help"},
        {{"agents", "get", "a", "-o", "xml"},
         "--output: expected json or table, got 'xml'; see cardea agents get --help"},
        {{"agents", "list", "a"}, "unexpected argument 'a'; see cardea agents list --help"},
        {{"agents", "list", "--limit", "x"}, "--limit: expected a whole number, got 'x'; see cardea agents list --help"
        },
        {{"agents", "list", "--limit", "-1"},
         "--limit: expected a whole number, got '-1'; see cardea agents list --help"},
        {{"agents", "list", "--limit"}, "--limit needs a value; see cardea agents list --help"},
        {{"agents", "list", "--text=", "--tag=t"}, "--text: expected a value, got ''; see cardea agents list --help"},
        {{"agents", "list", "--tag", "a", "--tag", "b"}, "--tag: expected one tag, got 2; see cardea agents list --help"
        },
        {{"agents", "list", "--status", "healthy"}, "unknown option '--status'; see cardea agents list --help"},
        {{"agents", "list", "--dry-run"}, "unknown option '--dry-run'; see cardea agents list --help"},
        {{"agents", "health", "a", "--status", "healthy"},
         "--status cannot be combined with ID; see cardea agents health --help"},
        {{"agents", "health", "a", "b"}, "unexpected argument 'b'; see cardea agents health --help"},
        {{"agents", "remove", "a", "--tag", "t"}, "unknown option '--tag'; see cardea agents remove --help"},
        {{"agents", "add", "a"}, "expected ID and URL, or -f FILE; see cardea agents add --help"},
        {{"agents", "add", "-f", "f", "a"}, "ID cannot be combined with --file; see cardea agents add --help"},
    });
}

TEST_SUITE_END();
