#include "config/file.hpp"
#include "config/load.hpp"
#include "core/json/json.hpp"
#include "tests/unit/config/support.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace config::testing;

TEST_SUITE_BEGIN("config/superx");

namespace {

config::settings sample()
{
    const auto text = config::read_file(CARDEA_TEST_DATA "/config/superx.yml");
    REQUIRE(text.has_value());
    return right(*text);
}

}  // namespace

TEST_CASE("a SuperX agents.yml is taken unchanged")
{
    const auto agents = sample().agents;
    REQUIRE(agents.size() == 5);
    CHECK(agents[0].id == "check_prime_agent");
    CHECK(agents[0].speaks == core::protocol::a2a);
    CHECK(agents[0].url == "http://localhost:8001/a2a/check_prime_agent");
    CHECK(agents[0].bearer.empty());
    CHECK(agents[0].version == "1.0.0");
    CHECK(agents[0].protocol_version == "0.3.0");
    CHECK(agents[0].metadata == "{}");
    CHECK(agents[1].id == "file_system_assistant");
    CHECK(agents[1].speaks == core::protocol::mcp);
    CHECK(agents[1].url == "http://localhost:3000/messages");
    CHECK(agents[1].protocol_version == "2024-11-05");
    CHECK(agents[2].url == "https://mcp.exa.ai/mcp");
    CHECK(agents[3].url == "");
    CHECK(agents[4].url == "");
}

TEST_CASE("agentCard with a name is an inline card, and its url the card's address")
{
    const auto agent = sample().agents.at(0);
    CHECK(agent.card_url == "http://localhost:8001/a2a/check_prime_agent/.well-known/agent-card.json");
    CHECK(
        agent.card ==
        R"({"url":"http://localhost:8001/a2a/check_prime_agent/.well-known/agent-card.json","name":"check_prime_agent",)"
        R"("description":"An agent specialized in checking whether numbers are prime.","capabilities":{},)"
        R"("defaultInputModes":["text/plain"],"defaultOutputModes":["application/json"],)"
        R"("skills":[{"id":"prime_checking","name":"Prime Number Checking","description":"Checks numbers",)"
        R"("tags":["math","prime"]}]})"
    );
}

TEST_CASE("a transport is kept with the metadata, without what may be a credential")
{
    const auto agents = sample().agents;
    CHECK(
        agents.at(2).metadata ==
        R"({"transport":{"type":"streamable-http","url":"https://mcp.exa.ai/mcp","headers":{"Authorization":"********"}}})"
    );
    CHECK(
        agents.at(3).metadata ==
        R"({"transport":{"type":"stdio","command":"npx","args":["-y","@modelcontextprotocol/server-filesystem",)"
        R"("/home/user/documents"],)"
        R"("env":{"DEBUG":"********"}}})"
    );
    CHECK(
        agents.at(4).metadata ==
        R"({"transport":{"package":{"name":"docker.io/aliengiraffe/spotdb:0.1.0","registryType":"oci"},)"
        R"("memory":"512m","cpus":"0.5","network":"host"}})"
    );
}

TEST_SUITE_END();
