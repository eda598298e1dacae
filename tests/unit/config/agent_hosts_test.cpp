#include "config/agent_hosts.hpp"

#include "tests/unit/config/support.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace config::testing;
using names = std::vector<std::string>;

TEST_SUITE_BEGIN("config/agent_hosts");

namespace {

constexpr const char* expected_name =
    "; expected a DNS name without a port, such as words.agents.example.com; other scripts as xn--…\n";

std::string agent(const std::string& id, const std::string& hosts)
{
    return "  " + id + ": {url: \"http://h\", hosts: [" + hosts + "]}\n";
}

}  // namespace

TEST_CASE("Names of agents are read in lower case")
{
    const auto read = right(
        "agent_hosts: \"{ID}.Agents.example.com\"\n"
        "agents:\n" +
        agent("words", "Words.Example.COM, xn--bcher-kva.example")
    );
    CHECK(read.agent_hosts == "{id}.agents.example.com");
    CHECK(read.agents[0].hosts == names{"words.example.com", "xn--bcher-kva.example"});
    CHECK(
        config::hosts_of(read.agents[0], read.agent_hosts) ==
        names{"words.example.com", "xn--bcher-kva.example", "words.agents.example.com"}
    );
    CHECK(config::hosts_of(read.agents[0], "") == read.agents[0].hosts);
}

TEST_CASE("The name by agent_hosts counts once, even if the agent's hosts have it too")
{
    const auto read = right("agent_hosts: \"{id}.a.test\"\nagents:\n" + agent("words", "words.a.test"));
    CHECK(config::hosts_of(read.agents[0], read.agent_hosts) == names{"words.a.test"});
}

TEST_CASE("A problem names the place of each host that is not a DNS name")
{
    for (const auto* wrong : {"a_b", "a:80", "-a", "127.0.0.1", "*.a", "https://a", "a."}) {
        CAPTURE(wrong);
        CHECK(
            problems_of("agents:\n  a: {url: \"http://h\", hosts: [ok.test, \"" + std::string{wrong} + "\"]}\n") ==
            "c.yml:2:41: agents.a.hosts[1]: \"" + std::string{wrong} + "\" is not a DNS name" + expected_name
        );
    }
    CHECK(problems_of("agents:\n" + agent("a", "bücher.de")).find("is not a DNS name") != std::string::npos);
    CHECK(
        problems_of("agents:\n" + agent("a", "b.test, B.test")) ==
        "c.yml:2:40: agents.a.hosts[1]: \"B.test\" is in the list already; expected each name once\n"
    );
    CHECK(
        problems_of("agents:\n" + agent("a", "\"\"")) ==
        std::string{"c.yml:2:32: agents.a.hosts[0]: is empty"} + expected_name
    );
}

TEST_CASE("A pattern that names no host for each agent is a problem")
{
    for (const auto* wrong : {"{id}", "agents.example.com", "a.{id}.com", "{id}.{id}.com", "{id}.com:80"}) {
        CAPTURE(wrong);
        CHECK(
            problems_of("agent_hosts: \"" + std::string{wrong} + "\"") ==
            "c.yml:1:14: agent_hosts: \"" + std::string{wrong} + "\" names no host for each agent; expected " +
                std::string{config::expected_host_pattern} + "\n"
        );
    }
}

TEST_CASE("A name that two agents have is a problem of the second")
{
    CHECK(
        problems_of("agents:\n" + agent("a", "x.test") + agent("b", "y.test, X.test")) ==
        "c.yml:3:3: agents.b.hosts: \"x.test\" is a name of the agent a; expected another name\n"
    );
    // By the pattern on one side, by hosts on the other.
    CHECK(
        problems_of("agent_hosts: \"{id}.test\"\nagents:\n" + agent("a", "b.test") + agent("b", "")) ==
        "c.yml:4:3: agents.b: \"b.test\" is a name of the agent a; expected another name\n"
    );
    CHECK(
        problems_of("agent_hosts: \"{id}.test\"\nagents:\n" + agent("a", "") + agent("b", "a.test")) ==
        "c.yml:4:3: agents.b.hosts: \"a.test\" is a name of the agent a; expected another name\n"
    );
}

TEST_CASE("A name of the gateway is no agent's")
{
    const auto taken = [](const std::string& settings, const std::string& name) {
        return problems_of(settings + "agents:\n" + agent("a", name)).find("is a name of the gateway itself") !=
               std::string::npos;
    };
    CHECK(taken("", "localhost"));
    CHECK(taken("hosts: [GW.test]\n", "gw.test"));
    CHECK(taken("public_url: https://GW.test/base\n", "gw.test"));
    CHECK(taken("listen: gw.test:4000\naccess: open\n", "gw.test"));
    CHECK_FALSE(taken("hosts: [gw.test]\npublic_url: https://gw.test\n", "a.gw.test"));
    CHECK(
        problems_of("public_url: https://agents.test\nagent_hosts: \"{id}.test\"\nagents:\n" + agent("agents", "")) ==
        "c.yml:4:3: agents.agents: \"agents.test\" is a name of the gateway itself; expected another name\n"
    );
}

TEST_CASE("An id that makes no label needs hosts, and only with agent_hosts")
{
    for (const auto* id : {"Words", "a.b", "a_b"}) {
        CAPTURE(id);
        const std::string pattern{"agent_hosts: \"{id}.test\"\nagents:\n"};
        CHECK(
            problems_of(pattern + agent(id, "")) ==
            "c.yml:3:3: agents." + std::string{id} +
                ": makes no name by agent_hosts ({id}.test); expected an id of small letters, digits and hyphens, or "
                "`hosts`\n"
        );
        CHECK(problems_of(pattern + agent(id, "own.test")) == "");
        CHECK(problems_of("agents:\n" + agent(id, "")) == "");
    }
}

TEST_SUITE_END();
