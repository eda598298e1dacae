#include "gateway/cli/explain_command.hpp"

#include "gateway/cli/command_line.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/explain_command");

namespace {

using gateway::cli::parse_command_line;
using gateway::cli::top_verb;
using arguments = std::vector<std::string>;

std::string problem_of(arguments given)
{
    given.insert(given.begin(), "explain");
    return parse_command_line(given).problem;
}

}  // namespace

TEST_CASE("explain takes an agent, a request and whose it is")
{
    const auto line =
        parse_command_line({"explain", "--agent",     "a",   "--method", "SendMessage", "--tool",
                            "t",       "--principal", "p",   "--scope",  "s",           "--scope",
                            "r",       "--group",     "g",   "--tenant", "n",           "--claim",
                            "c=d=e",   "--provider",  "o",   "--admin",  "h:1",         "--admin-token-file",
                            "f",       "-o",          "json"});
    CHECK(line.problem.empty());
    CHECK(line.verb == top_verb::explain);
    const auto& asked = line.explain_request;
    CHECK(asked.agent == "a");
    CHECK(asked.method == "SendMessage");
    CHECK(asked.tool == "t");
    CHECK(asked.principal == "p");
    CHECK(asked.provider == "o");
    CHECK(asked.scopes == arguments{"s", "r"});
    CHECK(asked.groups == arguments{"g"});
    CHECK(asked.tenant == "n");
    CHECK(asked.claims == arguments{"c=d=e"});
    CHECK(asked.admin == "h:1");
    CHECK(asked.token_file == "f");
    CHECK(asked.credential_file.empty());

    const auto shown = parse_command_line({"explain", "--agent", "a", "--token-file", "t", "--field", "X", "-c", "f"});
    CHECK(shown.problem.empty());
    CHECK(shown.explain_request.credential_file == "t");
    CHECK(shown.explain_request.field == "X");
    CHECK(shown.explain_request.token_file.empty());
    CHECK(shown.config_file == "f");
    CHECK(parse_command_line({"explain", "--agent", "a", "--anonymous"}).explain_request.anonymous);
}

TEST_CASE("explain says which of its arguments do not go together")
{
    const std::string help = "; see cardea explain --help";
    CHECK(problem_of({"--anonymous"}) == "--agent is required" + help);
    CHECK(problem_of({"--agent", "a"}) == "expected --principal, --token-file or --anonymous" + help);
    CHECK(problem_of({"--agent", "a", "--principal", "p"}) == "--principal requires --provider" + help);
    CHECK_FALSE(problem_of({"--agent", "a", "--principal", "p", "--provider", "o", "--anonymous"}).empty());
    CHECK_FALSE(problem_of({"--agent", "a", "--token-file", "t", "--anonymous"}).empty());
    CHECK_FALSE(problem_of({"--agent", "a", "--anonymous", "--scope", "s"}).empty());
    CHECK_FALSE(problem_of({"--agent", "a", "--anonymous", "-c", "f", "--admin", "h:1"}).empty());
    CHECK(
        problem_of({"--agent", "a", "--principal", "p", "--provider", "o", "--claim", "c"}) ==
        "--claim: expected NAME=VALUE, got 'c'" + help
    );
}

TEST_SUITE_END();
