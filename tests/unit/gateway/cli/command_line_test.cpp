#include "gateway/cli/command_line.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/command_line");

namespace {

using arguments = std::vector<std::string>;
using gateway::cli::parse_command_line;
using gateway::cli::verb;

void check_problem(const arguments& given, const std::string& said)
{
    const auto parsed = parse_command_line(given);
    CAPTURE(said);
    CHECK(parsed.problem.find(said) != std::string::npos);
}

}  // namespace

TEST_CASE("nothing, help and --help ask for help, also behind a command")
{
    for (const auto& given :
         {arguments{}, {"--help"}, {"-h"}, {"help"}, {"run", "--help"}, {"run", "-c", "f", "-h"}, {"validate", "-h"}}) {
        const auto parsed = parse_command_line(given);
        CHECK(parsed.what == verb::help);
        CHECK(parsed.problem.empty());
    }
}

TEST_CASE("help names every command and option")
{
    for (const auto* word :
         {"run",
          "card lint",
          "--explain",
          "validate",
          "version",
          "--config",
          "--agent",
          "--mcp 'ID=COMMAND'",
          "--mcp ID=URL",
          "--listen",
          "--admin",
          "--store"}) {
        CAPTURE(word);
        CHECK(gateway::cli::help_text().find(word) != std::string_view::npos);
    }
}

TEST_CASE("version is asked for in three ways and takes no options")
{
    for (const auto* word : {"version", "--version", "-V"}) {
        CHECK(parse_command_line({word}).what == verb::version);
        CHECK(parse_command_line({word}).problem.empty());
    }
    check_problem({"version", "-c", "f"}, "unknown option '-c'");
}

TEST_CASE("run takes a file, agents and addresses in any order")
{
    const auto parsed = parse_command_line(
        {"run",
         "--agent",
         "a=http://x",
         "-c",
         "f.yml",
         "--listen",
         "[::1]:0",
         "--agent",
         "b=http://y",
         "--mcp",
         "c=npx -y d",
         "--admin",
         ":1"}
    );
    CHECK(parsed.what == verb::run);
    CHECK(parsed.problem.empty());
    CHECK(parsed.config_file == "f.yml");
    CHECK(parsed.agents == arguments{"a=http://x", "b=http://y"});
    CHECK(parsed.mcp == arguments{"c=npx -y d"});
    CHECK(parsed.listen == "[::1]:0");
    CHECK(parsed.admin == ":1");
}

TEST_CASE("card lint takes one card, and --explain before or behind it")
{
    for (const auto& given :
         {arguments{"card", "lint", "c.json", "--explain"}, {"card", "lint", "--explain", "c.json"}}) {
        const auto parsed = parse_command_line(given);
        CHECK(parsed.what == verb::lint_card);
        CHECK(parsed.problem.empty());
        CHECK(parsed.card == "c.json");
        CHECK(parsed.explain);
    }
    CHECK_FALSE(parse_command_line({"card", "lint", "c.json"}).explain);
    CHECK(parse_command_line({"card", "lint", "--help"}).what == verb::help);
    check_problem({"card"}, "card has one command: cardea card lint FILE|URL");
    check_problem({"card", "lint"}, "card lint needs a card");
    check_problem({"card", "lint", "--explain"}, "card lint needs a card");
    check_problem({"card", "lint", "--explian", "c.json"}, "unexpected '--explian' behind 'card lint'");
}

TEST_CASE("config has a schema and a dump, which is of what run would do")
{
    CHECK(parse_command_line({"config", "schema"}).what == verb::config_schema);
    const auto parsed = parse_command_line(
        {"config", "dump", "-c", "f.yml", "--listen", ":1", "--agent", "a=http://x", "--output", "json"}
    );
    CHECK(parsed.what == verb::config_dump);
    CHECK(parsed.problem.empty());
    CHECK(parsed.config_file == "f.yml");
    CHECK(parsed.listen == ":1");
    CHECK(parsed.agents == arguments{"a=http://x"});
    CHECK(parsed.format == gateway::cli::dump_format::json);
    CHECK(parse_command_line({"config", "dump", "-c", "f"}).format == gateway::cli::dump_format::yaml);
    CHECK(parse_command_line({"config", "dump", "--help"}).what == verb::help);
    check_problem({"config"}, "config has two commands");
    check_problem({"config", "dmup"}, "config has two commands");
    check_problem({"config", "schema", "-c", "f"}, "unknown option '-c' of 'config schema'");
    check_problem({"config", "dump", "--output", "xml"}, "--output: 'xml' is no format; expected yaml or json");
    check_problem({"config", "dump", "--output"}, "--output needs a value");
    check_problem({"run", "-c", "f", "--output", "json"}, "unknown option '--output' of 'run'");
}

TEST_CASE("run and validate read the file of --config and of -c")
{
    for (const auto* command : {"run", "validate"}) {
        for (const auto* option : {"-c", "--config"}) {
            const auto parsed = parse_command_line({command, option, "f.yml"});
            CHECK(parsed.problem.empty());
            CHECK(parsed.config_file == "f.yml");
            CHECK(parsed.what == (std::string{command} == "run" ? verb::run : verb::validate));
        }
    }
}

TEST_CASE("what cannot be carried out says what is wrong and what was expected")
{
    check_problem({"serve"}, "unknown command 'serve'; known are run, validate, config, agents, card and version");
    check_problem({""}, "unknown command ''");
    check_problem(
        {"run"},
        "nothing to serve: give a configuration (-c FILE), an agent (--agent ID=URL), an MCP server "
        "(--mcp 'ID=COMMAND') or a --store"
    );
    CHECK(parse_command_line({"run", "--mcp", "a=npx b"}).problem.empty());
    check_problem({"run", "--listen", ":0"}, "nothing to serve");
    check_problem({"validate"}, "validate needs a configuration: cardea validate -c FILE");
    check_problem({"run", "-c"}, "-c needs a value");
    check_problem({"run", "--agent", "a=http://x", "--admin"}, "--admin needs a value");
    check_problem({"run", "f.yml"}, "unknown option 'f.yml' of 'run'");
    check_problem({"run", "--agnet", "a=http://x"}, "unknown option '--agnet' of 'run'; did you mean --agent?");
    check_problem({"run", "--mpc", "a=x"}, "unknown option '--mpc' of 'run'; did you mean --mcp?");
    check_problem({"config", "dump", "--ouptut", "json"}, "; did you mean --output?");
    check_problem({"validate", "--conifg", "f"}, "; did you mean --config?");
    check_problem({"run", "--zebra", "f"}, "unknown option '--zebra' of 'run'; see cardea --help");
    check_problem({"validate", "-c", "f", "--mcp", "a=x"}, "unknown option '--mcp' of 'validate'; see cardea --help");
    check_problem({"validate", "-c", "f", "--listen", ":0"}, "unknown option '--listen' of 'validate'");
    check_problem({"validate", "-c", "f", "--agent", "a=http://x"}, "unknown option '--agent' of 'validate'");
}

TEST_SUITE_END();
