// A gateway that hands over to a new process of its own binary, or to one that fails.
#include "store/sqlite.hpp"
#include "tests/flow/handover_fixture.hpp"
#include "tests/support/manager_socket.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <string>

TEST_SUITE_BEGIN("flow/handover");

namespace {

using flow::becomes_true;
using flow::has_ended;
using flow::succession;
using test_support::answer_json;
using test_support::http_client;
using test_support::scripted_agent;

const std::string in_memory = "store: memory\n";

std::string with_agent(const scripted_agent& agent)
{
    return in_memory + "agents: {a: {url: \"" + agent.url("/") + "\"}}\n";
}

std::string call_text()
{
    return test_support::request_text(
        "POST",
        "/agents/a",
        {{"Content-Type", "application/json"}},
        R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{}})"
    );
}

// The parameters of agents/upsert.
core::json agent_at(const std::string& id)
{
    return {{"id", id}, {"agent", {{"url", "http://127.0.0.1:1/"}}}};
}

// The bytes of a message of the new process, as printf of a shell has them. 5: the pair's number beside two listeners.
std::string says(int word, const std::string& content)
{
    const auto octal = [](int value) {
        std::string digits;
        for (const int shift : {6, 3, 0}) {
            digits += static_cast<char>('0' + (value >> shift & 7));
        }
        return "\\" + digits;
    };
    std::string out = "printf '" + octal(word) + "\\000\\000\\000" + octal(static_cast<int>(content.size()));
    for (const char each : content) {
        out += octal(static_cast<unsigned char>(each));
    }
    return out + "' >&5\n";
}

const auto schema = static_cast<char>(store::sqlite_schema());
const std::string says_prepared = says(64, std::string(7, '\0') + schema + std::string(8, '\0'));
const std::string says_ready = says(65, "");

}  // namespace

TEST_CASE("A new process serves at the same addresses, and the old one ends")
{
    scripted_agent agent{[](const auto&) { return answer_json(R"({"jsonrpc":"2.0","id":1,"result":{}})"); }};
    succession gateways{with_agent(agent)};
    const auto old = gateways.now();
    http_client kept{gateways.port()};
    kept.send(call_text());
    CHECK(kept.read_response().status == 200);

    const auto next = gateways.hand_over();
    CHECK(next != old);
    CHECK(gateways.logs("handover_completed"));
    CHECK(gateways.logs(R"("event":"draining")"));
    kept.send(call_text());
    const auto last = kept.read_response();
    CHECK(last.status == 200);
    CHECK(last.header("Connection") == "close");
    http_client fresh{gateways.port()};
    fresh.send(call_text());
    const auto first = fresh.read_response();
    CHECK(first.status == 200);
    CHECK(first.header("Connection").empty());
    CHECK(becomes_true([&] { return has_ended(old); }));
    CHECK(gateways.metrics().find("cardea_handovers_total{outcome=\"completed\"} 1") != std::string::npos);
    CHECK_FALSE(has_ended(next));
}

TEST_CASE("SIGUSR2 hands over, again and again")
{
    succession gateways{in_memory};
    auto old = gateways.now();
    gateways.first().signal(SIGUSR2);
    CHECK(gateways.logs("handover_completed"));
    CHECK(becomes_true([&] { return has_ended(old); }));
    for (int i = 0; i < 3; ++i) {
        old = gateways.now();
        gateways.hand_over();
        CHECK(becomes_true([&] { return has_ended(old); }));
    }
    CHECK(gateways.metrics().find("cardea_handovers_total{outcome=\"completed\"} 4") != std::string::npos);
}

TEST_CASE("Agents of a store in memory, their versions and their trail survive")
{
    succession gateways{in_memory};
    gateways.rpc("agents/upsert", agent_at("kept"));
    gateways.rpc("agents/upsert", agent_at("gone"));
    gateways.rpc("agents/delete", {{"id", "gone"}});
    const auto trail = gateways.rpc("agents/changes");
    gateways.hand_over();
    const auto agents = gateways.rpc("agents/list").at("agents");
    REQUIRE(agents.size() == 1);
    CHECK(agents.at(0).at("id") == "kept");
    CHECK(gateways.rpc("agents/changes") == trail);
    CHECK(gateways.rpc("agents/upsert", agent_at("late")).at("version") == 4);
}

TEST_CASE("A store on disk changes hands, and takes writes afterwards")
{
    succession gateways{""};
    gateways.rpc("agents/upsert", agent_at("kept"));
    gateways.hand_over();
    CHECK(gateways.rpc("agents/list").dump().find("\"kept\"") != std::string::npos);
    CHECK(gateways.rpc("agents/upsert", agent_at("late")).at("version") == 2);
}

TEST_CASE("A configuration with problems fails the hand-over, and the old process goes on")
{
    for (const auto& store : {in_memory, std::string{}}) {
        CAPTURE(store);
        succession gateways{store};
        const auto old = gateways.now();
        gateways.configure(store + "nonsense: 1\n");
        CHECK(gateways.refusal().find("c.yml:") != std::string::npos);
        CHECK(gateways.logs("handover_failed"));
        CHECK(gateways.rpc("agents/upsert", agent_at("a")).at("version") == 1);
        gateways.configure(store);
        gateways.hand_over();
        CHECK(gateways.rpc("agents/list").dump().find("\"a\"") != std::string::npos);
        CHECK(becomes_true([&] { return has_ended(old); }));
    }
}

TEST_CASE("A new process that ends at any step fails the hand-over, and the store is open again")
{
    for (const auto& step : {std::string{}, says_prepared, says(66, "no room"), says_prepared + says(66, "no room")}) {
        CAPTURE(step);
        succession gateways{""};
        gateways.replace_program(step + "exit 3\n");
        const auto reason = gateways.refusal();
        // What a script has not read when it ends may take its last word along: the pair is reset then.
        const bool says_why = step.ends_with(says(66, "no room"));
        CHECK((reason == "the new process ended" || (says_why && reason == "no room")));
        CHECK(gateways.rpc("agents/upsert", agent_at("a")).at("version") == 1);
        gateways.restore_program();
        gateways.hand_over();
        CHECK(gateways.rpc("agents/list").dump().find("\"a\"") != std::string::npos);
    }
}

TEST_CASE("A new process that is silent at any step is killed after handover.timeout")
{
    for (const auto& step : {std::string{}, says_prepared}) {
        CAPTURE(step);
        succession gateways{"handover: {timeout: 300ms}\n"};
        gateways.replace_program("echo $$ >" + gateways.file("id") + "\n" + step + "exec sleep 100\n");
        CHECK(gateways.refusal() == "the new process was silent for too long");
        CHECK(has_ended(static_cast<pid_t>(std::stol(test_support::read_whole(gateways.file("id"))))));
        CHECK(gateways.rpc("agents/upsert", agent_at("a")).at("version") == 1);
    }
}

TEST_CASE(
    "A program that fills the pair with anything but messages fails the hand-over, and so does one that takes nothing"
)
{
    succession gateways{"handover: {timeout: 500ms}\nstore: memory\n"};
    gateways.replace_program("exec yes >&5\n");
    CHECK(gateways.refusal().find("hand-over: a message of") != std::string::npos);
    gateways.replace_program("exec head -c 100000000 /dev/zero >&5\n");
    CHECK(gateways.refusal().find("something else") != std::string::npos);
    // More than a socket holds.
    for (int i = 0; i < 40; ++i) {
        auto params = agent_at("agent" + std::to_string(i));
        params["agent"]["metadata"] = {{"note", std::string(20'000, 'x')}};
        CHECK(gateways.rpc("agents/upsert", params).contains("version"));
    }
    gateways.replace_program(says_prepared + "exec sleep 100\n");
    CHECK(gateways.refusal() == "the new process was silent for too long");
    gateways.restore_program();
    gateways.hand_over();
    CHECK(gateways.rpc("agents/list").at("agents").size() == 40);
}

TEST_CASE("A file that is no program fails the hand-over at its start, whatever else it is")
{
    succession gateways{in_memory};
    const auto program = gateways.file("cardea");
    std::filesystem::remove(program);
    test_support::write_whole(program, "no program\n");
    CHECK(gateways.refusal().find("Permission denied") != std::string::npos);
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    CHECK(gateways.refusal().find("Exec format error") != std::string::npos);
    std::filesystem::remove(program);
    std::filesystem::create_directory(program);
    CHECK(gateways.refusal().find("Permission denied") != std::string::npos);
    CHECK(gateways.metrics().find("cardea_handovers_total{outcome=\"failed\"} 3") != std::string::npos);
    gateways.restore_program();
    gateways.hand_over();
}

TEST_CASE("What the new process says out of turn fails the hand-over")
{
    for (const auto& step : {says_ready, says(200, "?"), says(64, ""), says_prepared + says_prepared}) {
        CAPTURE(step);
        succession gateways{in_memory};
        gateways.replace_program(step + "exec sleep 100\n");
        CHECK(gateways.refusal().find("something else") != std::string::npos);
        CHECK(gateways.rpc("agents/list").contains("agents"));
    }
}

TEST_CASE("A new process with another schema of the store is refused before the store closes")
{
    succession gateways{""};
    gateways.replace_program(says(64, std::string(7, '\0') + '\x7f' + std::string(8, '\0')) + "exec sleep 100\n");
    CHECK(gateways.refusal().find("has schema 127 for the store") != std::string::npos);
    CHECK(gateways.logs(R"("step":"prepare")"));
}

TEST_CASE("A program that is not there fails the hand-over at its start")
{
    succession gateways{in_memory};
    gateways.replace_program("");
    std::filesystem::remove(gateways.file("cardea"));
    CHECK(gateways.refusal().find("No such file or directory") != std::string::npos);
    CHECK(gateways.metrics().find("cardea_handovers_total{outcome=\"failed\"} 1") != std::string::npos);
}

TEST_CASE("One hand-over at a time, and none during a shutdown")
{
    succession gateways{in_memory + "timeouts: {drain_delay: 1h, drain: 1h}\n"};
    gateways.replace_program("echo $$ >" + gateways.file("id") + "\nexec sleep 100\n");
    http_client first{gateways.admin_port()};
    first.send(test_support::request_text("POST", "/handover"));
    CHECK(becomes_true([&] { return std::filesystem::exists(gateways.file("id")); }));
    CHECK(gateways.refusal() == "a hand-over is under way");
    gateways.first().signal(SIGTERM);
    CHECK(first.read_response().status == 409);
    CHECK(gateways.refusal() == "the gateway is stopping");
    gateways.first().signal(SIGTERM);
    CHECK(gateways.first().wait() == 0);
}

TEST_CASE("systemd hears which process is the main one, and then from that process only")
{
    const test_support::manager_socket manager;
    succession gateways{in_memory, {{"NOTIFY_SOCKET=" + manager.address()}, {}}};
    CHECK(manager.next().value_or("").starts_with("READY=1\n"));
    const auto next = gateways.hand_over();
    CHECK(manager.next() == "MAINPID=" + std::to_string(next) + "\n");
    CHECK(manager.next() == "READY=1\nSTATUS=Serves 0 agents.\n");
    ::kill(next, SIGTERM);
    CHECK(manager.next().value_or("").starts_with("STOPPING=1\n"));
    CHECK(becomes_true([&] { return has_ended(next); }));
    CHECK_FALSE(manager.at_hand().has_value());
}

TEST_SUITE_END();
