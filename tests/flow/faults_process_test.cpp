// An agent's process that is killed or stopped. The long form stops it for 30 s: CARDEA_FAULTS_FULL in the environment (./dev faults).
#include "tests/flow/own_faults_fixture.hpp"

#include <cstdlib>
#include <memory>

using namespace flow;
using namespace flow::own_faults;

TEST_SUITE_BEGIN("flow/faults_process" * doctest::skip(!flow::system_can_fail));

namespace {

// An agent in a process of its own, on this port or on a free one.
struct agent_process {
    explicit agent_process(std::uint16_t wanted = 0)
        : process{DEMO_AGENT_BIN, {"--port", std::to_string(wanted), "--pace", "1"}}
    {
        REQUIRE(flow::becomes_true([&] {
            static_cast<void>(process.wait_for_line([](auto) { return false; }, 10ms));
            return process.out().find('\n') != std::string::npos;
        }));
        const auto& said = process.out();
        port = static_cast<std::uint16_t>(std::stoul(said.substr(said.rfind(':') + 1)));
    }

    child_process process;
    std::uint16_t port = 0;
};

const std::string settings = quiet(", upstream_head: 500ms") + "store: memory\nworkers: 1\n";

bool works(const faulty_gateway& gateway)
{
    const std::string body =
        R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"m","role":"user",)"
        R"("parts":[{"kind":"text","text":"one two"}]}}})";
    return flow::post_json(gateway.port(), "/agents/a", body).body.find(R"("result")") != std::string::npos;
}

}  // namespace

TEST_CASE("An agent that is killed cannot be reached, and is called within a second after it listens again")
{
    auto agent = std::make_unique<agent_process>();
    const auto port = agent->port;
    faulty_gateway gateway{settings + "agents: {a: {url: 'http://127.0.0.1:" + std::to_string(port) + "/'}}\n"};
    for (int round = 0; round < 3; ++round) {
        REQUIRE(flow::becomes_true([&] { return works(gateway); }));
        agent->process.signal(SIGKILL);
        CHECK(agent->process.wait() == -SIGKILL);
        const auto got = gateway.call();
        const bool before = got.header("Cardea-Error") == "upstream_reset";  // its end comes with the call
        flow::check_jsonrpc_error(got, before ? flow::cut_off : flow::refused, "1");
        flow::check_jsonrpc_error(gateway.call(), flow::refused, "1");
        agent = std::make_unique<agent_process>(port);
        CHECK(faulty_gateway::time_until([&] { return works(gateway); }) <= 1s);
    }
    gateway.end();
}

TEST_CASE("An agent that is stopped is late, and is called within a second after it goes on")
{
    const agent_process agent;
    faulty_gateway gateway{settings + "agents: {a: {url: 'http://127.0.0.1:" + std::to_string(agent.port) + "/'}}\n"};
    REQUIRE(flow::becomes_true([&] { return works(gateway); }));
    agent.process.signal(SIGSTOP);
    const bool in_full =
        std::getenv("CARDEA_FAULTS_FULL") != nullptr;  // NOLINT(concurrency-mt-unsafe): nothing here sets one
    const auto until = std::chrono::steady_clock::now() + (in_full ? 30s : 1s);
    do {
        flow::check_jsonrpc_error(gateway.call(), flow::late, "1");
    } while (std::chrono::steady_clock::now() < until);
    agent.process.signal(SIGCONT);
    CHECK(faulty_gateway::time_until([&] { return works(gateway); }) <= 1s);
    gateway.end();
}

TEST_SUITE_END();
