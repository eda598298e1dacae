#include "gateway/request/agent_origins.hpp"

#include "config/agent_hosts.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/agent_origins");

namespace {

struct rig {
    explicit rig(std::string pattern = "{id}.agents.test")
    {
        settings.listen = {"127.0.0.1", 4000};
        settings.public_url = "https://gw.agents.test";
        settings.agent_hosts = std::move(pattern);
        origins.emplace(settings, known);
    }

    void add(const std::string& id, std::vector<std::string> hosts, bool disabled = false)
    {
        gateway::model::agent_entry entry;
        entry.record.id = id;
        entry.record.disabled = disabled;
        entry.record.hosts = std::move(hosts);
        entry.hosts = config::hosts_of(entry.record, settings.agent_hosts);
        known.set_agent(id, std::make_shared<const gateway::model::agent_entry>(std::move(entry)));
    }

    // The id and the name, as far as they are known; "-" is no agent's name.
    std::string find(std::string_view authority) const
    {
        const auto found = origins->find(authority);
        if (!found) {
            return "-";
        }
        return std::string{found->id} + ' ' + std::string{found->host} + (found->agent == nullptr ? " ?" : "");
    }

    config::process_settings settings;
    gateway::request::local_snapshot known;
    std::optional<gateway::request::agent_origins> origins;
};

}  // namespace

TEST_CASE("A name leads to its agent, whatever its case, its port and the dot at its end")
{
    rig x;
    x.add("words", {"words.example"});
    for (const auto* authority :
         {"words.example",
          "WORDS.Example",
          "words.example:443",
          "words.example:1",
          "words.example.",
          "Words.Example.:80"}) {
        CAPTURE(authority);
        CHECK(x.find(authority) == "words words.example");
    }
    CHECK(x.find("words.agents.test") == "words words.agents.test");
    CHECK(x.find("WORDS.agents.TEST:8443") == "words words.agents.test");
}

TEST_CASE("Another name is the gateway's business")
{
    rig x;
    x.add("words", {"words.example"});
    for (const auto* authority :
         {"",
          ":80",
          ".",
          "words.example..",
          "words.example.org",
          "xwords.example",
          "words.example@x",
          "127.0.0.1:4000",
          "[::1]:4000",
          "localhost",
          "agents.test",
          "a.words.agents.test",
          "wo_rds.agents.test"}) {
        CAPTURE(authority);
        CHECK(x.find(authority) == "-");
    }
    CHECK(x.find(std::string(300, 'a') + ".agents.test") == "-");
}

TEST_CASE("A name that the pattern may give leads to an agent whether or not there is one")
{
    rig x;
    CHECK(x.find("nobody.agents.test") == " nobody.agents.test ?");
    CHECK(x.find("Nobody.agents.test:1") == " Nobody.agents.test ?");
    // The gateway's own.
    CHECK(x.find("gw.agents.test") == "-");
    x.add("gw", {});
    CHECK(x.find("gw.agents.test") == "-");
}

TEST_CASE("A name in capitals is not that of an agent whose id has capitals")
{
    rig x;
    x.add("WORDS", {"words.example"});
    CHECK(x.find("WORDS.agents.test") == " WORDS.agents.test ?");
    CHECK(x.find("words.agents.test") == " words.agents.test ?");
    CHECK(x.find("words.example") == "WORDS words.example");
}

TEST_CASE("Without a pattern only the names of agents lead to them")
{
    rig x{""};
    CHECK(x.find("words.example") == "-");
    x.add("words", {"words.example"});
    CHECK(x.find("words.example") == "words words.example");
    CHECK(x.find("words.agents.test") == "-");
}

TEST_CASE("A name of an agent that is disabled is an agent's, which is not known, until another one has it")
{
    rig x{""};
    x.add("a", {"x.example", "y.example"});
    x.add("a", {"x.example"}, /*disabled=*/true);
    CHECK(x.known.find("a") == nullptr);
    CHECK(x.find("X.example:80") == " X.example ?");
    CHECK(x.find("y.example") == "-");
    x.add("b", {"x.example"});
    CHECK(x.find("x.example") == "b x.example");
    x.add("a", {"y.example"}, /*disabled=*/true);
    CHECK(x.find("x.example") == "b x.example");
    CHECK(x.find("y.example") == " y.example ?");
    x.add("a", {"y.example"});
    CHECK(x.find("y.example") == "a y.example");
    x.add("a", {"y.example"}, /*disabled=*/true);
    x.known.set_agent("a", nullptr);
    CHECK(x.find("y.example") == "-");

    gateway::model::snapshot next;
    gateway::model::agent_entry idle;
    idle.record.id = "c";
    idle.record.hosts = {"z.example"};
    idle.record.disabled = true;
    next.disabled.emplace("c", std::make_shared<const gateway::model::agent_entry>(std::move(idle)));
    x.known.replace(next);
    CHECK(x.find("z.example") == " z.example ?");
    CHECK(x.find("x.example") == "-");
}

TEST_CASE("A name moves with its agent, in whatever order the changes come")
{
    rig x{""};
    x.add("a", {"x.example", "y.example"});
    x.add("b", {"x.example"});
    x.add("a", {"y.example"});
    CHECK(x.find("x.example") == "b x.example");
    CHECK(x.find("y.example") == "a y.example");
    x.add("a", {"x.example"});
    x.add("b", {"y.example"});
    CHECK(x.find("x.example") == "a x.example");
    CHECK(x.find("y.example") == "b y.example");
    x.known.set_agent("a", nullptr);
    CHECK(x.find("x.example") == "-");
    CHECK(x.find("y.example") == "b y.example");
    x.known.replace({});
    CHECK(x.find("y.example") == "-");
}

TEST_SUITE_END();
