// What callers are answered while there is no session with an MCP server, and that many sessions start at once.
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/scratch.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("flow/session_answers");

namespace {

using namespace std::chrono_literals;
using flow::card_target;
using flow::check_refusal;
using flow::get_card;
using flow::parsed;
using flow::quick_settings;
using flow::running_gateway;

// A server in the shell's own words. Its process id is in the file `pid`; while there is a pipe `gate` it answers the
// handshake only once something has come through it. What the file `freshness` has is said of the tools.
constexpr const char* shell_server = R"(
echo $$ > pid
while read -r line; do
  id=${line#*'"id":'}
  id=${id%%[!0-9]*}
  case "$line" in
    *'"initialize"'*)
      [ ! -p gate ] || read -r go < gate
      echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"shell","version":"1.5"}}}';;
    *'"server/discover"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}';;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{'$(cat freshness)'"tools":[{"name":"one","inputSchema":{}}]}}';;
    *'"id"'*) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"no"}}';;
  esac
done
)";

// What Retry-After makes of the backoff of these tests.
constexpr const char* an_hour = "300";

class shell_agent {
public:
    explicit shell_agent(std::string id = "m")
    {
        record.id = std::move(id);
        record.speaks = core::protocol::mcp;
        auto& server = record.mcp.emplace();
        server.transport = core::mcp_transport::stdio;
        server.command = "sh";
        server.arguments = {"-c", shell_server};
        server.directory = folder_.path().string();
        server.era = core::mcp_era::legacy;
        // What has crashed stays so for the whole test.
        server.backoff = 1h;
        server.max_backoff = 1h;
        say("");
    }

    // Of the modern era, with words about who may keep its tools, and a comma behind them.
    void say(const std::string& freshness) const { test_support::write_whole(folder_.file("freshness"), freshness); }

    void make_gate() const { REQUIRE(::mkfifo(folder_.file("gate").c_str(), 0600) == 0); }

    void open_gate() const
    {
        const int gate = ::open(folder_.file("gate").c_str(), O_RDWR | O_CLOEXEC);
        REQUIRE(gate >= 0);
        REQUIRE(::write(gate, "go\n", 3) == 3);
        gate_ = gate;
    }

    void kill() const
    {
        std::string pid;
        REQUIRE(flow::becomes_true([&] {
            pid = std::filesystem::exists(folder_.file("pid")) ? test_support::read_whole(folder_.file("pid")) : "";
            return pid.ends_with('\n');
        }));
        REQUIRE(::kill(std::stoi(pid), SIGKILL) == 0);
    }

    ~shell_agent()
    {
        if (gate_ >= 0) {
            ::close(gate_);
        }
    }
    shell_agent(const shell_agent&) = delete;
    shell_agent& operator=(const shell_agent&) = delete;

    core::agent record;

private:
    test_support::scratch_directory folder_;
    mutable int gate_ = -1;  // open until the end, so that what went through is not lost with it
};

running_gateway gateway_of(const shell_agent& server)
{
    auto settings = quick_settings();
    settings.agents.push_back(server.record);
    return running_gateway{std::move(settings)};
}

bool becomes(const running_gateway& gateway, const char* code, const char* id = "m")
{
    return flow::becomes_true([&] { return get_card(gateway, id).header("Cardea-Error") == code; });
}

bool becomes_served(const running_gateway& gateway, const std::string& id = "m")
{
    return flow::becomes_true([&] { return get_card(gateway, id).status == 200; });
}

// To GET, to HEAD, and of the alias.
void check_unavailable(const running_gateway& gateway, const char* code, const char* retry_after)
{
    const auto answer = get_card(gateway, "m");
    check_refusal(answer, 503, code, "m");
    CHECK(answer.header("Retry-After") == retry_after);
    CHECK(answer.header("ETag").empty());
    const auto error = parsed(answer.body)["error"];
    CHECK(error["retryable"] == true);
    CHECK(!error["message"].get<std::string>().empty());
    const auto head = test_support::request(gateway.port(), "HEAD", card_target("m"));
    CHECK(head.status == 503);
    CHECK(head.header("Cardea-Error") == code);
    CHECK(head.header("Retry-After") == retry_after);
    CHECK(head.body.empty());
    check_refusal(test_support::request(gateway.port(), "GET", "/agents/m/.well-known/agent.json"), 503, code, "m");
}

}  // namespace

TEST_CASE("a server that nobody has asked for yet is 503 session_not_started, and asking begins its session")
{
    shell_agent server;
    server.record.mcp->start = core::mcp_start::lazy;
    server.make_gate();
    const auto gateway = gateway_of(server);
    const auto first = get_card(gateway, "m");
    check_refusal(first, 503, "session_not_started", "m");
    CHECK(first.header("Retry-After") == "1");
    CHECK(parsed(first.body)["error"]["retryable"] == true);
    REQUIRE(becomes(gateway, "session_not_ready"));
    server.open_gate();
    CHECK(becomes_served(gateway));
}

TEST_CASE("a server that has not answered the handshake yet is 503 session_not_ready until it has")
{
    const shell_agent server;
    server.make_gate();
    const auto gateway = gateway_of(server);
    check_unavailable(gateway, "session_not_ready", "1");
    server.open_gate();
    REQUIRE(becomes_served(gateway));
    CHECK(get_card(gateway, "m").header("Retry-After").empty());
}

TEST_CASE("a server whose program has ended is 503 session_crashed, without the previous card")
{
    const shell_agent server;
    const auto gateway = gateway_of(server);
    REQUIRE(becomes_served(gateway));
    const auto etag = get_card(gateway, "m").header("ETag");
    server.kill();
    REQUIRE(becomes(gateway, "session_crashed"));
    check_unavailable(gateway, "session_crashed", an_hour);
    check_refusal(get_card(gateway, "m", {{"If-None-Match", etag}}), 503, "session_crashed", "m");
    CHECK(gateway.log().wait_for([](std::string_view line) {
        return line.find(R"("event":"mcp_session")") != line.npos && line.find(R"("detail":"signal 9")") != line.npos;
    }));
}

TEST_CASE("A program that does not exist is 503 session_misconfigured, not to be tried again by callers")
{
    shell_agent server;
    server.record.mcp->command = "/no/such/program";
    const auto gateway = gateway_of(server);
    REQUIRE(becomes(gateway, "session_misconfigured"));
    const auto answer = get_card(gateway, "m");
    check_refusal(answer, 503, "session_misconfigured", "m");
    CHECK(answer.header("Retry-After").empty());
    CHECK(parsed(answer.body)["error"]["retryable"] == false);
}

TEST_CASE("A program that has not come up yet is 503 session_failed")
{
    shell_agent server;
    server.record.mcp->arguments = {"-c", "exit 3"};
    const auto gateway = gateway_of(server);
    REQUIRE(becomes(gateway, "session_failed"));
    check_unavailable(gateway, "session_failed", an_hour);
    CHECK(parsed(get_card(gateway, "m").body)["error"]["retryable"] == true);
}

TEST_CASE("Retry-After says when a program that has crashed is started again")
{
    shell_agent server;
    server.record.mcp->arguments = {"-c", "exit 3"};
    server.record.mcp->backoff = 40s;  // up to half of it is taken away by chance
    const auto gateway = gateway_of(server);
    REQUIRE(becomes(gateway, "session_failed"));
    const auto seconds = std::stoi(get_card(gateway, "m").header("Retry-After"));
    CHECK(seconds >= 10);
    CHECK(seconds <= 40);
}

TEST_CASE("with stale_if_error the previous card is served while the session has crashed, and says that it is old")
{
    shell_agent server;
    server.record.mcp->stale_if_error = true;
    auto settings = quick_settings();
    settings.cards.stale_if_error = 1h;
    settings.agents.push_back(server.record);
    const running_gateway gateway{std::move(settings)};
    REQUIRE(becomes_served(gateway));
    const auto good = get_card(gateway, "m");
    CHECK(good.header("Cardea-Card").empty());
    server.kill();
    REQUIRE(flow::becomes_true([&] { return !get_card(gateway, "m").header("Cardea-Card").empty(); }));
    const auto stale = get_card(gateway, "m");
    CHECK(stale.status == 200);
    CHECK(stale.body == good.body);
    CHECK(stale.header("ETag") == good.header("ETag"));
    CHECK(stale.header("Cardea-Card").starts_with("stale; age="));
    CHECK(stale.header("Cardea-Card").ends_with("; reason=session_crashed"));
    CHECK(stale.header("Cardea-Error").empty());
    CHECK(stale.header("Retry-After").empty());
    CHECK(stale.header("Cache-Control") == "no-cache");
    CHECK(get_card(gateway, "m", {{"If-None-Match", good.header("ETag")}}).status == 304);
}

TEST_CASE("no cache answers with the card of a session unasked, and a shared one does not keep what is private")
{
    for (const auto& [said, told] :
         {std::pair{R"("ttlMs":0,"cacheScope":"private",)", "private, no-cache"},
          std::pair{R"("ttlMs":60000,"cacheScope":"public",)", "no-cache"},
          std::pair{"", "private, no-cache"}}) {
        CAPTURE(said);
        shell_agent server;
        server.record.mcp->era = core::mcp_era::modern;
        server.say(said);
        const auto gateway = gateway_of(server);
        REQUIRE(becomes_served(gateway));
        const auto got = get_card(gateway, "m");
        CHECK(got.header("Cache-Control") == told);
        const auto same = get_card(gateway, "m", {{"If-None-Match", got.header("ETag")}});
        CHECK(same.status == 304);
        CHECK(same.header("Cache-Control") == told);
        CHECK(same.header("ETag") == got.header("ETag"));
    }
    const shell_agent legacy;
    const auto gateway = gateway_of(legacy);
    REQUIRE(becomes_served(gateway));
    CHECK(get_card(gateway, "m").header("Cache-Control") == "no-cache");
}

TEST_CASE("stale_if_error makes no card where there never was one")
{
    shell_agent server;
    server.record.mcp->stale_if_error = true;
    server.make_gate();
    const auto gateway = gateway_of(server);
    check_unavailable(gateway, "session_not_ready", "1");
    server.kill();
    REQUIRE(becomes(gateway, "session_failed"));
    check_unavailable(gateway, "session_failed", an_hour);
}

TEST_CASE("an agent that nobody declared is 404, and so is a server that is disabled")
{
    shell_agent server;
    server.record.disabled = true;
    const auto gateway = gateway_of(server);
    for (const auto* id : {"m", "nobody"}) {
        const auto answer = get_card(gateway, id);
        check_refusal(answer, 404, "agent_not_found", id);
        CHECK(answer.header("Retry-After").empty());
    }
}

TEST_CASE("A call to a server that is not bridged is answered with 501 and the caller's own id, whatever its session is"
)
{
    shell_agent server;
    server.record.bridge = false;
    server.record.mcp->start = core::mcp_start::lazy;
    const auto gateway = gateway_of(server);
    const auto check_call = [&] {
        const auto answer = flow::post_json(
            gateway.port(),
            "/agents/m",
            R"({"jsonrpc":"2.0","id":"c-1","method":"message/send","params":{}})"
        );
        CHECK(answer.status == 501);
        CHECK(answer.header("Retry-After").empty());
        CHECK(answer.header("Cardea-Error") == "not_implemented");
        CHECK(
            parsed(answer.body) ==
            parsed(
                R"({"jsonrpc":"2.0","id":"c-1","error":{"code":-31501,"message":"This agent is an MCP server: it takes messages of MCP, at the path /mcp below its address.",
                "data":{"code":"not_implemented","agent":"m","retryable":false}}})"
            )
        );
        const auto extended = test_support::request(gateway.port(), "GET", "/agents/m/agent/authenticatedExtendedCard");
        check_refusal(extended, 404, "extended_card_unsupported", "m");
        CHECK(extended.header("Retry-After").empty());
        CHECK(parsed(extended.body)["error"]["retryable"] == false);
    };
    check_call();
    check_refusal(get_card(gateway, "m"), 503, "session_not_started", "m");
    REQUIRE(becomes_served(gateway));
    check_call();
    server.kill();
    REQUIRE(becomes(gateway, "session_crashed"));
    check_call();
}

TEST_CASE("fifty programs that start at once all become agents, whose eras are found out as ever")
{
    constexpr int programs = 50;
    auto settings = quick_settings();
    std::vector<std::unique_ptr<shell_agent>> servers;
    for (int i = 0; i < programs; ++i) {
        servers.push_back(std::make_unique<shell_agent>("m" + std::to_string(i)));
        servers.back()->record.mcp->era = core::mcp_era::automatic;
        settings.agents.push_back(servers.back()->record);
    }
    const running_gateway gateway{std::move(settings)};
    for (const auto& each : servers) {
        CAPTURE(each->record.id);
        REQUIRE(becomes_served(gateway, each->record.id));
        CHECK(parsed(get_card(gateway, each->record.id).body)["skills"][0]["id"] == "one");
    }
}

TEST_SUITE_END();
