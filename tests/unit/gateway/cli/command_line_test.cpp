#include "gateway/cli/command_line.hpp"

#include "core/json/json.hpp"
#include "gateway/cli/agent_tables.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/command_line");

namespace {

using arguments = std::vector<std::string>;
using gateway::cli::agents_command;
using gateway::cli::agents_verb;
using gateway::cli::card_form;
using gateway::cli::gateway_verb;
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
        for (const auto* verb :
             {"run ", "validate ", "config ", "card ", "agents ", "status ", "events ", "reload ", "call ", "version "
             }) {
            CHECK(line.help.find("\n  " + std::string{verb}) != std::string::npos);
        }
        CHECK(line.help.find("__agents") == std::string::npos);
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
             {{"agents", "wait", "--help"}, "cardea agents wait "},
             {{"agents", "history", "--help"}, "cardea agents history "},
             {{"agents", "restart", "--help"}, "cardea agents restart "},
             {{"agents", "contain", "--help"}, "cardea agents contain "},
             {{"agents", "release", "--help"}, "cardea agents release "},
             {{"principals", "contain", "--help"}, "cardea principals contain "},
             {{"principals", "release", "--help"}, "cardea principals release "},
             {{"principals", "list", "--help"}, "cardea principals list "},
             {{"status", "--help"}, "cardea status "},
             {{"events", "--help"}, "cardea events "},
             {{"edges", "--help"}, "cardea edges "},
             {{"replicas", "--help"}, "cardea replicas "},
             {{"store", "migrate", "--help"}, "cardea store migrate "},
             {{"store", "copy", "--help"}, "cardea store copy "},
             {{"reload", "--help"}, "cardea reload "},
             {{"call", "--help"}, "cardea call "},
         }) {
        const auto line = parse_command_line(each.given);
        CHECK(line.verb == top_verb::help);
        CHECK(line.problem.empty());
        CAPTURE(each.usage);
        CHECK(line.help.find("\nUsage: " + each.usage) != std::string::npos);
        const auto asks = [&](const std::string& verb) { return each.usage.starts_with("cardea " + verb + ' '); };
        const bool of_running = asks("agents") || asks("principals") || asks("status") || asks("events") ||
                                asks("edges") || asks("replicas") || asks("reload") || asks("call");
        CHECK((line.help.find("  --admin ADDRESS ") != std::string::npos) == of_running);
        CHECK((line.help.find("Exit codes: 0 done; 1 ") != std::string::npos) == of_running);
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
    CHECK(parsed_agents({"health", "--sort", "p99"}).sort == "p99");
    CHECK(parsed_agents({"card", "a"}).form == card_form::served);
    CHECK(parsed_agents({"card", "a", "--raw"}).form == card_form::raw);
    const auto card = parsed_agents({"card", "a", "--diff", "--a2a-version", "0.3"});
    CHECK(card.form == card_form::diff);
    CHECK(card.a2a_version == "0.3");
    CHECK(parsed_agents({"history", "a"}).verb == agents_verb::history);
    CHECK(parsed_agents({"restart", "a"}).verb == agents_verb::restart);
    const auto wait = parsed_agents({"wait", "a"});
    CHECK(wait.verb == agents_verb::wait);
    CHECK(wait.timeout == std::chrono::seconds{60});
    CHECK(parsed_agents({"wait", "a", "--for", "unhealthy"}).status == "unhealthy");
    CHECK(parsed_agents({"wait", "a", "--timeout", "1m30s"}).timeout == std::chrono::seconds{90});
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

TEST_CASE("Agents are read with what other replicas have written if --fresh says so")
{
    CHECK(parse_command_line({"agents", "get", "a", "--fresh"}).agents_request.fresh);
    CHECK(parse_command_line({"agents", "list", "--fresh"}).agents_request.fresh);
    CHECK(parse_command_line({"agents", "health", "a", "--fresh"}).agents_request.fresh);
    CHECK_FALSE(parse_command_line({"agents", "get", "a"}).agents_request.fresh);
    CHECK_FALSE(parse_command_line({"agents", "remove", "a", "--fresh"}).problem.empty());
}

TEST_CASE("A store is migrated and copied by the names of stores")
{
    const auto migrate =
        parse_command_line({"store", "migrate", "--store", "postgresql://o@db/c", "--password-file", "/p"});
    CHECK(migrate.problem.empty());
    CHECK(migrate.verb == top_verb::migrate_store);
    CHECK(migrate.store == "postgresql://o@db/c");
    CHECK(migrate.password_file == "/p");
    const auto copy = parse_command_line({"store", "copy", "--from", "sqlite:s.db", "--to", "postgresql://o@db/c"});
    CHECK(copy.problem.empty());
    CHECK(copy.verb == top_verb::copy_store);
    CHECK(copy.store == "sqlite:s.db");
    CHECK(copy.copy_to == "postgresql://o@db/c");
    CHECK_FALSE(parse_command_line({"store", "copy", "--from", "sqlite:s.db"}).problem.empty());
    CHECK_FALSE(parse_command_line({"store"}).problem.empty());
    CHECK_FALSE(parse_command_line({"store", "migrate"}).problem.empty());
}

TEST_CASE("status, events and reload take their options and those of the connection")
{
    const auto status = parse_command_line({"status", "--watch", "--sort", "failed", "--admin", "h:1", "-o", "json"});
    CHECK(status.problem.empty());
    CHECK(status.verb == top_verb::gateway);
    CHECK(status.gateway_request.verb == gateway_verb::status);
    CHECK(status.gateway_request.watch);
    CHECK(status.gateway_request.sort == "failed");
    CHECK(status.gateway_request.admin == "h:1");
    CHECK(status.gateway_request.output == output_form::json);
    const auto edges = parse_command_line(
        {"edges", "--principal", "p", "--agent", "a", "--sort", "refused", "--limit", "7", "--admin", "h:1"}
    );
    CHECK(edges.problem.empty());
    CHECK(edges.gateway_request.verb == gateway_verb::edges);
    CHECK(edges.gateway_request.principal == "p");
    CHECK(edges.gateway_request.agent == "a");
    CHECK(edges.gateway_request.sort == "refused");
    CHECK(edges.gateway_request.limit == 7);
    CHECK_FALSE(parse_command_line({"edges", "--sort", "name"}).problem.empty());
    const auto replicas = parse_command_line({"replicas", "--admin", "h:1", "-o", "json"});
    CHECK(replicas.problem.empty());
    CHECK(replicas.gateway_request.verb == gateway_verb::replicas);
    CHECK(replicas.gateway_request.output == output_form::json);
    const auto events = parse_command_line(
        {"events", "--follow", "--agent", "a", "--event=request", "--route", "call", "--status", "5xx", "--last", "0"}
    );
    CHECK(events.problem.empty());
    CHECK(events.gateway_request.verb == gateway_verb::events);
    CHECK(events.gateway_request.follow);
    CHECK(events.gateway_request.agent == "a");
    CHECK(events.gateway_request.event == "request");
    CHECK(events.gateway_request.route == "call");
    CHECK(events.gateway_request.status == "5xx");
    CHECK(events.gateway_request.last == 0);
    CHECK(parse_command_line({"events"}).gateway_request.last == std::nullopt);
    CHECK(parse_command_line({"reload", "--token-file", "t"}).gateway_request.verb == gateway_verb::reload);
}

TEST_CASE("config dump --running asks the gateway at --admin, and takes no configuration")
{
    const auto line =
        parse_command_line({"config", "dump", "--running", "--admin", "h:1", "--token-file", "t", "--output", "json"});
    CHECK(line.problem.empty());
    CHECK(line.verb == top_verb::gateway);
    CHECK(line.gateway_request.verb == gateway_verb::configuration);
    CHECK(line.gateway_request.admin == "h:1");
    CHECK(line.gateway_request.token_file == "t");
    CHECK(line.gateway_request.output == output_form::json);
    CHECK(parse_command_line({"config", "dump", "--running"}).gateway_request.output == output_form::table);
    CHECK(parse_command_line({"config", "dump", "--admin", "h:1"}).verb == top_verb::config_dump);
    check_problems({
        {{"config", "dump", "--running", "-c", "f"},
         "--config cannot be combined with --running; see cardea config dump --help"},
        {{"config", "dump", "--token-file", "f"}, "--token-file requires --running; see cardea config dump --help"},
    });
}

TEST_CASE("call takes a message or a tool, never both")
{
    const auto said = parse_command_line(
        {"call", "a", "Hello", "--json", "-", "--stream", "--header", "A: b", "--header=C:d", "--a2a-version", "0.3"}
    );
    CHECK(said.problem.empty());
    CHECK(said.verb == top_verb::call);
    CHECK(said.call_request.id == "a");
    CHECK(said.call_request.text == "Hello");
    CHECK(said.call_request.json_file == "-");
    CHECK(said.call_request.stream);
    CHECK(said.call_request.headers == arguments{"A: b", "C:d"});
    CHECK(said.call_request.a2a_version == "0.3");
    const auto called = parse_command_line({"call", "a", "--tool", "t", "--args", "{}", "-o", "json"});
    CHECK(called.problem.empty());
    CHECK(called.call_request.tool == "t");
    CHECK(called.call_request.arguments == "{}");
    CHECK(called.call_request.output == output_form::json);
    check_problems({
        {{"call"}, "ID is required; see cardea call --help"},
        {{"call", "a", "x", "y"}, "unexpected argument 'y'; see cardea call --help"},
        {{"call", "a", "--args", "{}"}, "--args requires --tool; see cardea call --help"},
        {{"call", "a", "x", "--tool", "t"}, "TEXT cannot be combined with --tool; see cardea call --help"},
        {{"call", "a", "x", "--a2a-version", "new"},
         "--a2a-version: expected a version such as 1.0, got 'new'; see cardea call --help"},
        {{"agents", "wait", "a", "--timeout", "60"},
         "--timeout: expected a duration such as 60s or 5m, got '60'; see cardea agents wait --help"},
        {{"agents", "wait", "a", "--for", "ill"},
         "--for: expected one of healthy|degraded|unhealthy|unknown|contained, got 'ill'; see cardea agents wait --help"
        },
        {{"agents", "card", "a", "--raw", "--diff"},
         "--raw cannot be combined with --diff; see cardea agents card --help"},
        {{"status", "--sort", "name"},
         "--sort: expected one of id|trouble|calls|failed|p99, got 'name'; see cardea status --help"},
        {{"agents", "health", "--sort", "p99", "--after", "a"},
         "--after cannot be combined with --sort; see cardea agents health --help"},
    });
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

TEST_CASE("Agents and principals are contained and released with their terms")
{
    using enum agents_verb;
    const auto agent = parse_command_line(
        {"agents",
         "contain",
         "a",
         "--reason",
         "leak",
         "--until",
         "2h",
         "--notice",
         "call us",
         "--dry-run",
         "--admin",
         "h:1"}
    );
    CHECK(agent.problem.empty());
    CHECK(agent.verb == top_verb::agents);
    CHECK(agent.agents_request.verb == contain);
    CHECK(agent.agents_request.id == "a");
    CHECK(agent.agents_request.reason == "leak");
    CHECK(agent.agents_request.until == "2h");
    CHECK(agent.agents_request.notice == "call us");
    CHECK(agent.agents_request.dry_run);
    CHECK(agent.agents_request.admin == "h:1");
    CHECK(parse_command_line({"agents", "release", "a"}).agents_request.verb == release);
    const auto principal =
        parse_command_line({"principals", "contain", "keys", "ci", "--reason", "leak", "-o", "json"});
    CHECK(principal.problem.empty());
    CHECK(principal.verb == top_verb::agents);
    CHECK(principal.agents_request.verb == contain_principal);
    CHECK(principal.agents_request.provider == "keys");
    CHECK(principal.agents_request.id == "ci");
    CHECK(principal.agents_request.output == output_form::json);
    CHECK(parse_command_line({"principals", "release", "keys", "ci"}).agents_request.verb == release_principal);
    const auto listed = parse_command_line({"principals", "list", "--limit", "7", "--after", "keys ci"});
    CHECK(listed.agents_request.verb == list_principals);
    CHECK(listed.agents_request.limit == 7);
    CHECK(listed.agents_request.after == "keys ci");
    for (const auto& wrong : std::vector<std::vector<std::string>>{
             {"agents", "contain", "a"},
             {"agents", "contain", "--reason", "r"},
             {"agents", "contain", "a", "--reason", ""},
             {"agents", "release", "a", "--until", "2h"},
             {"principals", "contain", "keys", "--reason", "r"},
             {"principals", "contain", "keys", "ci"},
             {"principals"}
         }) {
        CAPTURE(wrong.back());
        CHECK_FALSE(parse_command_line(wrong).problem.empty());
    }
}

TEST_SUITE_END();
