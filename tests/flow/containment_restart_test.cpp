// What is contained stays so, whatever becomes of the process: kill, hand-over, a damaged table.
#include "core/json/json.hpp"
#include "store/sqlite.hpp"
#include "tests/flow/child_process.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/handover_fixture.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

TEST_SUITE_BEGIN("flow/containment over restarts");

namespace {

using core::json;
using flow::child_process;
using flow::succession;
using test_support::answer_json;
using test_support::request;
using test_support::scripted_agent;

constexpr std::string_view some_call = R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{}})";

// A gateway whose store is a file, which is killed and started again.
class restarted_gateway {
public:
    explicit restarted_gateway(const std::string& agents)
    {
        test_support::write_whole(here_.file("c.yml"), "reload: {watch: false}\n" + agents);
        start();
    }

    void start()
    {
        gateway_.reset();
        gateway_ = begun();
        const auto line = gateway_->wait_for_line([](auto each) {
            return each.find(R"("event":"listening")") != std::string_view::npos;
        });
        REQUIRE_MESSAGE(line.has_value(), gateway_->err());
        traffic_ = flow::listening_port(*line, "traffic");
        admin_ = flow::listening_port(*line, "admin");
    }

    // While this is so, whoever writes to the disk waits.
    void set_hangs(bool now) const
    {
        if (now) {
            test_support::write_whole(here_.file("hang"), "");
        } else {
            std::filesystem::remove(here_.file("hang"));
        }
    }

    // The longest file that it may write.
    void limit_files(rlim_t bytes) const
    {
        const rlimit limit{bytes, RLIM_INFINITY};
        REQUIRE(::prlimit(gateway_->id(), RLIMIT_FSIZE, &limit, nullptr) == 0);
    }

    bool logs(std::string_view text)
    {
        return gateway_->wait_for_line([text](auto line) { return line.find(text) != std::string_view::npos; }
        ).has_value();
    }

    std::unique_ptr<child_process> begun() const
    {
        const std::vector<std::string> how{
            "run",
            "-c",
            here_.file("c.yml"),
            "--store",
            "sqlite:" + file(),
            "--listen",
            "127.0.0.1:0",
            "--admin",
            "127.0.0.1:0"
        };
        const flow::handed_over disk{
            {std::string{"LD_PRELOAD="} + CARDEA_HANGING_DISK, "CARDEA_TEST_HANG=" + here_.file("hang")},
            {}
        };
        return std::make_unique<child_process>(CARDEA_BIN, how, disk);
    }

    void kill()
    {
        gateway_->signal(SIGKILL);
        REQUIRE(gateway_->wait() == -SIGKILL);
    }

    std::string file() const { return here_.file("s.db"); }

    json rpc(const std::string& method, const json& params) const
    {
        const json call{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
        const auto body = json::parse(flow::post_json(admin_, "/rpc", call.dump()).body);
        return body.contains("result") ? body.at("result") : body.at("error");
    }

    // Calls the tool `one` of the agent `b` through the bundle.
    test_support::http_response call_tool() const
    {
        const json meta{
            {"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
            {"io.modelcontextprotocol/clientCapabilities", json::object()}
        };
        const json body{
            {"jsonrpc", "2.0"},
            {"id", 1},
            {"method", "tools/call"},
            {"params", {{"name", "b__one"}, {"arguments", json::object()}, {"_meta", meta}}}
        };
        const test_support::field_list fields{
            {"Content-Type", "application/json"},
            {"Accept", "application/json, text/event-stream"},
            {"MCP-Protocol-Version", "2026-07-28"},
            {"Mcp-Method", "tools/call"},
            {"Mcp-Name", "b__one"}
        };
        return request(traffic_, "POST", "/mcp", fields, body.dump());
    }

    unsigned call(std::string_view id) const
    {
        return flow::post_json(traffic_, "/agents/" + std::string{id}, some_call).status;
    }

private:
    test_support::scratch_directory here_;
    std::unique_ptr<child_process> gateway_;
    std::uint16_t traffic_ = 0;
    std::uint16_t admin_ = 0;
};

std::string one_agent(const scripted_agent& agent)
{
    return "agents: {a: {url: \"" + agent.url("/") + "\"}}\n";
}

test_support::script answer(const test_support::recorded_request& /*asked*/)
{
    return answer_json(R"({"jsonrpc":"2.0","id":1,"result":{}})");
}

}  // namespace

TEST_CASE("A contained agent is contained after a kill, until it is released")
{
    scripted_agent agent{answer};
    restarted_gateway gateway{one_agent(agent)};
    REQUIRE(gateway.call("a") == 200);
    const auto contained = gateway.rpc("agents/contain", {{"id", "a"}, {"reason", "leak"}, {"until", "1h"}});
    CHECK(contained.at("durable") == true);
    const auto asked = agent.request_count();
    for (int i = 0; i < 2; ++i) {
        gateway.kill();
        gateway.start();
        CHECK(gateway.call("a") == 403);
        const auto found = gateway.rpc("agents/get", {{"id", "a"}});
        CHECK(found.at("containment") == contained.at("contained"));
    }
    CHECK(agent.request_count() == asked);
    CHECK(gateway.rpc("agents/release", {{"id", "a"}}).at("contained").is_null());
    CHECK(gateway.call("a") == 200);
    gateway.kill();
    gateway.start();
    CHECK(gateway.call("a") == 200);
}

TEST_CASE("A containment holds while the disk hangs, the answer says so, and it is written later")
{
    scripted_agent agent{answer};
    restarted_gateway gateway{one_agent(agent)};
    REQUIRE(gateway.call("a") == 200);
    gateway.set_hangs(true);
    const auto begun = std::chrono::steady_clock::now();
    const auto contained = gateway.rpc("agents/contain", {{"id", "a"}, {"reason", "leak"}});
    const auto took = std::chrono::steady_clock::now() - begun;
    CHECK(took >= std::chrono::milliseconds{950});
    CHECK(took < std::chrono::seconds{5});
    CHECK(contained.at("durable") == false);
    CHECK(gateway.call("a") == 403);
    CHECK(gateway.logs(R"("event":"containment_persist_failed","agent":"a")"));
    const auto info = gateway.rpc("gateway/info", json::object());
    CHECK(info.at("attention").at(0).at("subject") == "containment");
    gateway.set_hangs(false);
    CHECK(gateway.logs(R"("event":"containment_persisted","agent":"a")"));
    gateway.kill();
    gateway.start();
    CHECK(gateway.call("a") == 403);
}

TEST_CASE("Where files may not grow a containment holds, and is written once they may")
{
    scripted_agent agent{answer};
    restarted_gateway gateway{one_agent(agent)};
    gateway.limit_files(1);
    const auto contained = gateway.rpc("agents/contain", {{"id", "a"}, {"reason", "leak"}});
    CHECK(contained.at("durable") == false);
    CHECK(gateway.call("a") == 403);
    CHECK(gateway.logs("containment_persist_failed"));
    gateway.limit_files(RLIM_INFINITY);
    CHECK(gateway.logs("containment_persisted"));
    gateway.kill();
    gateway.start();
    CHECK(gateway.call("a") == 403);
}

TEST_CASE("A containment whose end comes while no gateway runs is over at the start")
{
    scripted_agent agent{answer};
    restarted_gateway gateway{one_agent(agent)};
    gateway.rpc("agents/contain", {{"id", "a"}, {"reason", "leak"}, {"until", "1s"}});
    CHECK(gateway.call("a") == 403);
    gateway.kill();
    std::this_thread::sleep_for(std::chrono::milliseconds{1100});
    gateway.start();
    CHECK(gateway.call("a") == 200);
    CHECK_FALSE(gateway.rpc("agents/get", {{"id", "a"}}).contains("containment"));
}

TEST_CASE("A table that is damaged lets no gateway start, and it says why")
{
    scripted_agent agent{answer};
    restarted_gateway gateway{one_agent(agent)};
    gateway.rpc("agents/contain", {{"id", "a"}, {"reason", "leak"}});
    gateway.kill();
    {
        auto records = store::open_sqlite({.path = gateway.file()}).value();
        REQUIRE(records->keep_document({"containment", "agent b", "", R"({"agent":"b"})"}).has_value());
    }
    const auto refused = gateway.begun();
    const auto code = refused->wait();
    REQUIRE(code.has_value());
    CHECK(*code == 2);
    CHECK(refused->err().find("'agent b' is not a containment, so nothing may be served") != std::string::npos);
    {
        auto records = store::open_sqlite({.path = gateway.file()}).value();
        REQUIRE(records->drop_document("containment", "agent b").has_value());
    }
    gateway.start();
    CHECK(gateway.call("a") == 403);
}

TEST_CASE("A hand-over lifts nothing, with a store on disk and with one in memory")
{
    for (const std::string store : {"store: memory\n", ""}) {
        CAPTURE(store);
        scripted_agent agent{answer};
        succession gateways{store + one_agent(agent)};
        const auto call = [&] { return flow::post_json(gateways.port(), "/agents/a", some_call).status; };
        REQUIRE(call() == 200);
        const auto contained = gateways.rpc("agents/contain", {{"id", "a"}, {"reason", "leak"}});
        CHECK(contained.at("durable") == store.empty());
        gateways.hand_over();
        CHECK(call() == 403);
        CHECK(gateways.rpc("agents/get", {{"id", "a"}}).at("containment") == contained.at("contained"));
        CHECK(gateways.rpc("agents/release", {{"id", "a"}}).at("contained").is_null());
        CHECK(call() == 200);
        gateways.hand_over();
        CHECK(call() == 200);
    }
}

TEST_CASE("A containment after a hand-over reaches the calls that the old process still drains")
{
    scripted_agent agent{[](const auto&) { return test_support::script{test_support::hold{}}; }};
    succession gateways{"store: memory\n" + one_agent(agent)};
    test_support::http_client caller{gateways.port()};
    caller.send(test_support::request_text("POST", "/agents/a", {{"Content-Type", "application/json"}}, some_call));
    REQUIRE(agent.wait_for_requests(1));
    const auto old = gateways.now();
    gateways.hand_over();
    CHECK_FALSE(flow::has_ended(old));
    const auto begun = std::chrono::steady_clock::now();
    gateways.rpc("agents/contain", {{"id", "a"}, {"reason", "leak"}});
    const auto answer = caller.read_response();
    CHECK(answer.status == 403);
    CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds{2});
    CHECK(json::parse(answer.body).at("error").at("data").at("code") == "agent_contained");
}

TEST_CASE("A contained member of a bundle is refused after a kill, too")
{
    restarted_gateway gateway{
        "agents: {b: {url: \"http://127.0.0.1:1/\", protocol: mcp}}\nmcp: {bundles: {default: {agents: [b]}}}\n"
    };
    gateway.rpc("agents/contain", {{"id", "b"}, {"reason", "leak"}});
    CHECK(gateway.call_tool().status == 403);
    gateway.kill();
    gateway.start();
    const auto refused = gateway.call_tool();
    CHECK(refused.status == 403);
    CHECK(refused.body.find("agent_contained") != std::string::npos);
}

TEST_SUITE_END();
