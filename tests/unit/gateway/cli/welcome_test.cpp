#include "gateway/cli/command_line.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("gateway/cli/welcome");

TEST_CASE("the welcome names the store, both addresses and the command that adds an agent")
{
    CHECK(
        gateway::cli::welcome({"127.0.0.1:4000", "127.0.0.1:4001"}, "/home/ada/.local/state/cardea/store.db") ==
        "Cardea serves the agents in /home/ada/.local/state/cardea/store.db\n"
        "\n"
        "  callers  http://127.0.0.1:4000/\n"
        "  admin    http://127.0.0.1:4001/\n"
        "\n"
        "Add an agent:     cardea agents add my-agent http://127.0.0.1:9000/\n"
        "List the agents:  cardea agents list\n"
    );
}

TEST_CASE("commands for another admin address name it, and agents in memory are said to be lost at the end")
{
    const auto text = gateway::cli::welcome({"[::1]:5000", "[::1]:5001"}, "");
    CHECK(text.starts_with(
        "Cardea keeps agents in memory: they are lost when it ends.\n\n  callers  http://[::1]:5000/\n"
    ));
    CHECK(text.find("\n  admin    http://[::1]:5001/\n") != std::string::npos);
    CHECK(text.find(" cardea agents --admin [::1]:5001 add my-agent ") != std::string::npos);
    CHECK(text.ends_with(" cardea agents --admin [::1]:5001 list\n"));
}

TEST_SUITE_END();
