// Sessions with MCP servers that are programs, as operators see them.
#include "tests/flow/access_fixture.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/scratch.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <filesystem>
#include <future>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("flow/sessions");

namespace {

using core::json;
using flow::error_of;
using flow::manage;
using flow::managing;
using flow::parsed;
using flow::post_json;
using flow::quick_settings;
using flow::running_gateway;

// A server in the shell's own words: its tools are the content of the file `tools`, its process id is in the file `pid`; while
// there is a file `silent` it lists nothing, and with one named `deaf` it does not begin.
constexpr const char* shell_server = R"(
echo $$ > pid
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) [ -e deaf ] || echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"shell","version":"1.5"}}}';;
    *'"tools/list"'*) echo asked >> asked; [ -e silent ] || echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":'$(cat tools)'}}';;
    *'"ping"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{}}';;
  esac
done
)";

constexpr const char* one_tool = R"([{"name":"one","inputSchema":{}}])";
constexpr const char* two_tools = R"([{"name":"one","inputSchema":{}},{"name":"two","inputSchema":{}}])";

class shell_agent {
public:
    explicit shell_agent(std::string id, core::mcp_start start = core::mcp_start::eager)
    {
        record.id = std::move(id);
        record.speaks = core::protocol::mcp;
        record.mcp.emplace();
        auto& server = *record.mcp;
        server.transport = core::mcp_transport::stdio;
        server.command = "sh";
        server.arguments = {"-c", shell_server};
        server.directory = folder_.path().string();
        server.era = core::mcp_era::legacy;
        server.start = start;
        write("tools", one_tool);
    }

    void write(const std::string& file, const std::string& text) const
    {
        // Never seen half written.
        test_support::write_whole(folder_.file(file + ".new"), text);
        std::filesystem::rename(folder_.file(file + ".new"), folder_.file(file));
    }

    void kill() const
    {
        const auto pid = std::stoi(test_support::read_whole(folder_.file("pid")));
        REQUIRE(::kill(pid, SIGKILL) == 0);
    }

    // How often it was asked for its tools.
    long asked() const
    {
        const auto text = test_support::read_whole(folder_.file("asked"));
        return std::ranges::count(text, '\n');
    }

    core::agent record;

private:
    test_support::scratch_directory folder_;
};

config::settings settings_with(const std::vector<const shell_agent*>& agents)
{
    auto settings = quick_settings();
    for (const auto* each : agents) {
        settings.agents.push_back(each->record);
    }
    return settings;
}

json session_of(const running_gateway& gateway, const char* id)
{
    return manage(gateway, "agents/get", {{"id", id}})["session"];
}

bool becomes(const running_gateway& gateway, const char* id, const char* state)
{
    return flow::becomes_true([&] { return session_of(gateway, id)["state"] == state; });
}

json skills_of(const running_gateway& gateway, const char* id)
{
    auto names = json::array();
    const auto card = parsed(flow::get_card(gateway, id).body);
    for (const auto& each : card["skills"]) {
        names.push_back(each["name"]);
    }
    return names;
}

}  // namespace

TEST_CASE("what a server was given and says again is neither logged nor shown")
{
    shell_agent refusing{"refusing"};
    shell_agent telling{"telling"};
    const std::string says = R"(
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  echo "the key is $KEY" >&2
  case "$line" in
    *'"initialize"'*) [ -e deaf ] || echo '{"jsonrpc":"2.0","id":'$id','"$ANSWER"'}';;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[]}}';;
  esac
done
)";
    for (auto* each : {&refusing, &telling}) {
        each->record.mcp->arguments = {"-c", says};
        each->record.mcp->environment = {{"KEY", core::secret{"hunter2-hunter2"}}};
    }
    const auto answer = [](const char* text) { return std::pair{std::string{"ANSWER"}, core::secret{text}}; };
    refusing.record.mcp->environment.push_back(answer(R"("error":{"code":1,"message":"bad key hunter2-hunter2"})"));
    telling.record.mcp->environment.push_back(answer(
        R"("result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"I hunter2-hunter2","version":"1 hunter2-hunter2"}})"
    ));
    const running_gateway gateway{settings_with({&refusing, &telling})};
    REQUIRE(becomes(gateway, "telling", "ready"));
    REQUIRE(becomes(gateway, "refusing", "backoff"));
    CHECK(session_of(gateway, "telling")["server"] == parsed(R"({"name":"I ********","version":"1 ********"})"));
    const auto logged = [&](std::string_view words) {
        return gateway.log().wait_for([&](auto line) { return line.find(words) != std::string_view::npos; });
    };
    CHECK(logged(R"("detail":"bad key ********")"));
    CHECK(logged(R"("text":"the key is ********")"));
    CHECK(logged(R"("event":"card_published","agent":"telling","name":"telling","version":"1 ********")"));
    for (const auto& line : gateway.log().all()) {
        CHECK(line.find("hunter2") == std::string::npos);
    }
    for (const auto* method : {"agents/list", "agents/health"}) {
        CHECK(manage(gateway, method, json::object()).dump().find("hunter2") == std::string::npos);
    }
    const auto metrics = test_support::request(gateway.admin_port(), "GET", "/metrics");
    CHECK(metrics.status == 200);
    CHECK(metrics.body.find("hunter2") == std::string::npos);
    for (const auto* id : {"refusing", "telling"}) {
        REQUIRE(flow::becomes_true([&] { return manage(gateway, "agents/get", {{"id", id}}).contains("stderr"); }));
        auto record = manage(gateway, "agents/get", {{"id", id}});
        record.erase("card");  // what callers are shown
        CHECK(record.dump().find("hunter2") == std::string::npos);
        CHECK(record["stderr"].back() == "the key is ********");
        const auto asked = flow::managing("agents/get", R"({"id":")" + std::string{id} + R"("})");
        const auto elsewhere = parsed(flow::post_json(gateway.port(), "/rpc", asked).body)["result"];
        CHECK(elsewhere["id"] == id);
        CHECK_FALSE(elsewhere.contains("stderr"));
        CHECK_FALSE(elsewhere.contains("session"));
    }
    CHECK(
        session_of(gateway, "refusing")["failure"]["detail"].get<std::string>().find("bad key ****") !=
        std::string::npos
    );
}

TEST_CASE("arguments of a program are for operators: on listen they are neither shown nor found by a search")
{
    shell_agent server{"m"};
    server.record.metadata = R"({"note":"kept","transport":{"command":"sh","args":["-c","/srv/notes"]}})";
    const running_gateway gateway{settings_with({&server})};
    const auto asked = [](std::uint16_t port, const char* method, const char* params) {
        return parsed(flow::post_json(port, "/rpc", flow::managing(method, params)).body)["result"];
    };
    const auto own = asked(gateway.admin_port(), "agents/get", R"({"id":"m"})");
    CHECK(own["metadata"]["transport"]["args"] == parsed(R"(["-c","/srv/notes"])"));
    CHECK_FALSE(asked(gateway.port(), "agents/get", R"({"id":"m"})").contains("metadata"));
    const auto listed = asked(gateway.port(), "agents/list", "{}")["agents"];
    REQUIRE(listed.size() == 1);
    CHECK_FALSE(listed[0].contains("metadata"));
    const auto* search = R"({"text":"/srv/no"})";
    CHECK(asked(gateway.admin_port(), "agents/list", search)["agents"].size() == 1);
    CHECK(asked(gateway.port(), "agents/list", search)["agents"].empty());
}

TEST_CASE("get, list and health show the same of a session")
{
    const shell_agent server{"m"};
    const running_gateway gateway{settings_with({&server})};
    REQUIRE(becomes(gateway, "m", "ready"));
    REQUIRE(flow::get_card(gateway, "m").status == 200);  // it is made a moment later
    auto session = session_of(gateway, "m");
    CHECK(session["uptime_seconds"].get<int>() >= 0);
    session.erase("uptime_seconds");
    CHECK(session == parsed(R"({"state":"ready","transport":"stdio","era":"legacy","protocolVersion":"2025-06-18",
            "server":{"name":"shell","version":"1.5"},"restarts":0,"attempts":1})"));
    auto listed = manage(gateway, "agents/list", json::object())["agents"][0];
    auto health = manage(gateway, "agents.health", {{"id", "m"}});
    CHECK(health["status"] == "healthy");
    CHECK_FALSE(health.contains("reason"));
    CHECK(health["card"] == parsed(R"({"state":"fresh","age_seconds":0})"));
    for (auto* each : {&listed, &health}) {
        (*each)["session"].erase("uptime_seconds");
        CHECK((*each)["session"] == session);
    }
}

TEST_CASE("a server that is killed is unhealthy until it is back, and that it was restarted is seen")
{
    shell_agent server{"m"};
    server.record.mcp->backoff = core::duration{300};
    const running_gateway gateway{settings_with({&server})};
    REQUIRE(becomes(gateway, "m", "ready"));
    server.kill();
    REQUIRE(becomes(gateway, "m", "backoff"));
    const auto ill = manage(gateway, "agents/health", {{"id", "m"}});
    CHECK(ill["status"] == "unhealthy");
    CHECK(ill["reason"] == "session_crashed");
    CHECK(ill["session"]["reason"] == "exited");
    CHECK(ill["session"]["failure"]["reason"] == "exited");
    CHECK(ill["session"]["failure"]["detail"] == ill["session"]["detail"]);
    const auto next = ill["session"].value("next_attempt_in_seconds", -1);
    CHECK((next == 0 || next == 1));
    CHECK(ill["card"]["failure"] == "session_crashed");
    CHECK(ill["card"]["state"] == "failed");
    CHECK(manage(gateway, "agents/get", {{"id", "m"}})["card_status"]["state"] == "failed");
    CHECK_FALSE(ill["session"].contains("uptime_seconds"));
    for (const auto* params : {R"({"id":"m"})", R"({"id":"m","dryRun":true})"}) {
        CHECK(error_of(gateway, "agents/refreshCard", params)["data"]["code"] == "session_crashed");
    }
    REQUIRE(becomes(gateway, "m", "ready"));
    const auto well = session_of(gateway, "m");
    CHECK(well["restarts"] == 1);
    CHECK(well["attempts"] == 2);
    CHECK(well["failure"]["reason"] == "exited");
    CHECK_FALSE(well.contains("next_attempt_in_seconds"));
    CHECK(manage(gateway, "agents/health", {{"id", "m"}})["status"] == "healthy");
}

TEST_CASE("health of all counts every agent, shows those that are wanted page by page, and asks nobody")
{
    const shell_agent good{"good"};
    const shell_agent lazy{"lazy", core::mcp_start::lazy};
    auto settings = settings_with({&good, &lazy});
    settings.agents.push_back(flow::a2a_agent("a", "http://127.0.0.1:1"));
    settings.agents.push_back(flow::a2a_agent("off", "http://127.0.0.1:1"));
    settings.agents.back().disabled = true;
    const running_gateway gateway{std::move(settings)};
    REQUIRE(becomes(gateway, "good", "ready"));
    const auto all = manage(gateway, "agents/health", json::object());
    CHECK(all["summary"] == parsed(R"({"healthy":1,"degraded":0,"unhealthy":0,"unknown":3,"contained":0})"));
    REQUIRE(all["agents"].size() == 4);
    CHECK_FALSE(all.contains("next"));
    auto first_of_all = all["agents"][0];
    CHECK(first_of_all["public_url"] == gateway.base() + "/agents/a");
    for (const auto* sentence : {"why", "advice"}) {
        CHECK_FALSE(first_of_all[sentence].get<std::string>().empty());
        first_of_all.erase(sentence);
    }
    first_of_all.erase("public_url");
    CHECK(first_of_all == parsed(R"({"id":"a","protocol":"a2a","status":"unknown","reason":"not_fetched",
        "card":{"state":"unknown"},
        "endpoints":[{"endpoint":1,"breaker":"closed","healthy":true,"in_flight":0,"url":"http://127.0.0.1:1"}]})"));
    CHECK(all["agents"][1]["id"] == "good");
    CHECK(all["agents"][2]["reason"] == "session_not_started");
    CHECK(all["agents"][3]["reason"] == "disabled");
    CHECK(all["agents"][3]["status"] == "unknown");

    const json page{{"status", "unknown"}, {"limit", 2}};
    const auto first = manage(gateway, "agents/health", page);
    CHECK(first["agents"].size() == 2);
    CHECK(first["next"] == "lazy");
    CHECK(first["summary"] == all["summary"]);
    const auto second = manage(gateway, "agents/health", {{"status", "unknown"}, {"limit", 2}, {"after", "lazy"}});
    REQUIRE(second["agents"].size() == 1);
    CHECK(second["agents"][0]["id"] == "off");
    CHECK_FALSE(second.contains("next"));
    CHECK_FALSE(second.contains("summary"));
    CHECK(manage(gateway, "agents/health", {{"protocol", "mcp"}})["agents"].size() == 2);

    CHECK(session_of(gateway, "lazy")["state"] == "configured");
    CHECK(manage(gateway, "agents/get", {{"id", "a"}})["card_status"]["state"] == "unknown");
    for (const auto* params : {R"({"id":5})", R"({"name":""})", R"([5])", R"({"status":"ill"})", R"({"limit":0})"}) {
        CAPTURE(params);
        CHECK(error_of(gateway, "agents/health", params)["data"]["code"] == "invalid_params");
    }
    CHECK(error_of(gateway, "agents/health", R"(["ghost"])")["data"]["code"] == "agent_not_found");
}

TEST_CASE("refreshCard has the lists walked now, and says whether the card has changed")
{
    const shell_agent server{"m"};
    const running_gateway gateway{settings_with({&server})};
    REQUIRE(becomes(gateway, "m", "ready"));
    REQUIRE(flow::get_card(gateway, "m").status == 200);  // it is made a moment later
    const auto same = manage(gateway, "agents/refreshCard", {{"id", "m"}});
    CHECK(same["changed"] == false);
    CHECK(same["session"]["state"] == "ready");
    server.write("tools", two_tools);
    CHECK(skills_of(gateway, "m") == json{"one"});
    const auto other = manage(gateway, "agents/refreshCard", {{"id", "m"}});
    CHECK(other["changed"] == true);
    CHECK(other["card_status"]["changes"] == 2);
    CHECK(skills_of(gateway, "m") == json{"one", "two"});
    server.write("tools", "1");
    CHECK(error_of(gateway, "agents/refreshCard", R"({"id":"m"})")["data"]["code"] == "upstream_protocol");
    CHECK(skills_of(gateway, "m") == json{"one", "two"});
    const auto health = manage(gateway, "agents/health", {{"id", "m"}});
    CHECK(health["status"] == "degraded");
    CHECK(health["reason"] == "refresh_failed");
}

TEST_CASE("refreshCard with dryRun says what a walk would change, and changes nothing")
{
    const shell_agent server{"m"};
    const running_gateway gateway{settings_with({&server})};
    REQUIRE(becomes(gateway, "m", "ready"));
    const json dry{{"id", "m"}, {"dryRun", true}};
    const auto same = manage(gateway, "agents/refreshCard", dry);
    CHECK(same["changed"] == false);
    CHECK(same["diff"] == json::array());
    server.write("tools", two_tools);
    const auto other = manage(gateway, "agents/refreshCard", dry);
    CHECK(other["changed"] == true);
    const auto before = manage(gateway, "agents/get", {{"id", "m"}});
    CHECK(before["card_status"]["changes"] == 1);
    CHECK(skills_of(gateway, "m") == json{"one"});
    manage(gateway, "agents/refreshCard", {{"id", "m"}});
    const auto after = manage(gateway, "agents/get", {{"id", "m"}});
    CHECK(nlohmann::json(before["card"]).patch(nlohmann::json(other["diff"])) == nlohmann::json(after["card"]));
    CHECK(other["etag"] == after["card_status"]["etag"]);
    CHECK(after["card_status"]["changes"] == 2);
}

TEST_CASE("refreshCard begins a lazy session, unless it is to change nothing")
{
    const shell_agent server{"m", core::mcp_start::lazy};
    const running_gateway gateway{settings_with({&server})};
    CHECK(
        error_of(gateway, "agents/refreshCard", R"({"id":"m","dryRun":true})")["data"]["code"] == "session_not_started"
    );
    CHECK(session_of(gateway, "m")["state"] == "configured");
    CHECK(manage(gateway, "agents/refreshCard", {{"id", "m"}})["changed"] == true);
    CHECK(skills_of(gateway, "m") == json{"one"});
}

TEST_CASE("a server that does not answer is waited for no longer than timeouts.request")
{
    shell_agent server{"m"};
    server.record.mcp->request_timeout = core::duration{200};
    const running_gateway gateway{settings_with({&server})};
    REQUIRE(becomes(gateway, "m", "ready"));
    server.write("silent", "");
    for (const auto* params : {R"({"id":"m","dryRun":true})", R"({"id":"m"})"}) {
        CAPTURE(params);
        CHECK(error_of(gateway, "agents/refreshCard", params)["data"]["code"] == "upstream_timeout");
    }
    CHECK(flow::get_card(gateway, "m").status == 200);
}

TEST_CASE("a session that is only being made is waited for too, and not without an end")
{
    shell_agent server{"m"};
    server.record.mcp->request_timeout = core::duration{200};
    server.write("deaf", "");
    const running_gateway gateway{settings_with({&server})};
    CHECK(error_of(gateway, "agents/refreshCard", R"({"id":"m"})")["data"]["code"] == "session_not_ready");
    const auto health = manage(gateway, "agents/health", {{"id", "m"}});
    CHECK(health["status"] == "unknown");
    CHECK(health["reason"] == "session_not_ready");
}

TEST_CASE("who only reads has an MCP server asked at most once in cards.min_ttl")
{
    const shell_agent server{"m"};
    auto settings = settings_with({&server});
    settings.access.providers = {flow::token("reader", "reader-token-0123456789", {core::scope_read})};
    settings.cards.min_ttl = std::chrono::minutes{1};
    const running_gateway gateway{std::move(settings)};
    REQUIRE(becomes(gateway, "m", "ready"));
    const auto ask = [&](const char* params) {
        return parsed(flow::rpc(gateway.port(), flow::reader, "agents/refreshCard", params).body);
    };
    CHECK(ask(R"({"id":"m"})").contains("result"));
    CHECK(ask(R"({"id":"m"})")["error"]["data"]["code"] == "overloaded");
    CHECK(ask(R"({"id":"m","dryRun":true})")["error"]["data"]["code"] == "overloaded");
}

TEST_CASE("who waits for a server that does not answer does not keep the gateway from ending")
{
    for (const auto* params : {R"({"id":"m"})", R"({"id":"m","dryRun":true})"}) {
        CAPTURE(params);
        shell_agent server{"m"};
        server.record.mcp->request_timeout = std::chrono::minutes{10};
        running_gateway gateway{settings_with({&server})};
        REQUIRE(becomes(gateway, "m", "ready"));
        server.write("silent", "");
        const auto asked = server.asked();
        const auto waiting = std::async(std::launch::async, [&] {
            try {
                post_json(gateway.admin_port(), "/rpc", managing("agents/refreshCard", params));
            } catch (const std::exception&) {  // cut with the rest
            }
        });
        REQUIRE(flow::becomes_true([&] { return server.asked() > asked; }));
        gateway.stop();
        CHECK(gateway.wait_until_stopped());
    }
}

TEST_CASE("the metrics follow a session")
{
    shell_agent server{"m"};
    server.record.mcp->backoff = core::duration{20};
    const shell_agent lazy{"lazy", core::mcp_start::lazy};
    const running_gateway gateway{settings_with({&server, &lazy})};
    REQUIRE(becomes(gateway, "m", "ready"));
    CHECK(gateway.metric(R"(cardea_mcp_session_up{agent="m"})") == 1);
    CHECK(gateway.metric(R"(cardea_mcp_session_state{agent="m",state="ready"})") == 1);
    CHECK(gateway.metric(R"(cardea_mcp_session_up{agent="lazy"})") == 0);
    CHECK(gateway.metric(R"(cardea_mcp_session_state{agent="lazy",state="configured"})") == 1);
    CHECK(gateway.metric(R"(cardea_mcp_initialize_seconds{agent="m"})").value_or(-1) >= 0);
    CHECK_FALSE(gateway.metric(R"(cardea_mcp_initialize_seconds{agent="lazy"})").has_value());
    CHECK(gateway.metric(R"(cardea_mcp_write_queue_bytes{agent="m"})") == 0);
    // initialize, initialized, tools/list; an answer to the first and to the last.
    CHECK(gateway.metric(R"(cardea_mcp_messages_total{agent="m",direction="sent"})") == 3);
    CHECK(gateway.metric(R"(cardea_mcp_messages_total{agent="m",direction="received"})") == 2);
    CHECK(gateway.metric(R"(cardea_mcp_list_refreshes_total{agent="m",outcome="changed"})") == 1);
    manage(gateway, "agents/refreshCard", {{"id", "m"}});
    CHECK(gateway.metric(R"(cardea_mcp_list_refreshes_total{agent="m",outcome="unchanged"})") == 1);
    server.write("tools", "1");
    CHECK(error_of(gateway, "agents/refreshCard", R"({"id":"m"})")["data"]["code"] == "upstream_protocol");
    CHECK(gateway.metric(R"(cardea_mcp_list_refreshes_total{agent="m",outcome="failed"})") == 1);
    CHECK(gateway.metric(R"(cardea_mcp_session_state{agent="m",state="degraded"})") == 1);
    CHECK(gateway.metric(R"(cardea_mcp_session_state{agent="m",state="ready"})") == 0);
    server.write("tools", one_tool);
    server.kill();
    CHECK(gateway.wait_for_metric(R"(cardea_mcp_session_restarts_total{agent="m"})", 1));
    CHECK(gateway.metric(R"(cardea_mcp_session_losses_total{agent="m",reason="exited"})") == 1);
    CHECK(gateway.wait_for_metric(R"(cardea_mcp_session_up{agent="m"})", 1));
}

TEST_CASE("what a program says that is no message is counted")
{
    shell_agent server{"m"};
    server.record.mcp->arguments = {
        "-c",
        "echo '{\"jsonrpc\":\"2.0\",\"method\":\"x\"}'; echo nonsense; cat >/dev/null"
    };
    const running_gateway gateway{settings_with({&server})};
    REQUIRE(gateway.wait_for_metric(R"(cardea_mcp_messages_refused_total{agent="m"})", 1));
    CHECK(gateway.metric(R"(cardea_mcp_messages_total{agent="m",direction="received"})") == 2);
    CHECK(gateway.metric(R"(cardea_mcp_messages_total{agent="m",direction="sent"})") == 1);
    CHECK(gateway.metric(R"(cardea_mcp_session_state{agent="m",state="initializing"})") == 1);
}

TEST_CASE("The card of an MCP server has a history and no raw form")
{
    const shell_agent server{"s"};
    const running_gateway gateway{settings_with({&server})};
    REQUIRE(becomes(gateway, "s", "ready"));
    // The card is made on another thread, after that.
    const std::string card = "/agents/s/.well-known/agent-card.json";
    REQUIRE(flow::becomes_true([&] { return test_support::request(gateway.port(), "GET", card).status == 200; }));
    const auto shown = manage(gateway, "agents/card", {{"id", "s"}});
    CHECK(shown["raw"].is_null());
    CHECK(shown["served"] == manage(gateway, "agents/get", {{"id", "s"}})["card"]);
    CHECK(shown["changes"] == json::array());
    CHECK(shown["lint"] == json::array());
    server.write("tools", two_tools);
    manage(gateway, "agents/refreshCard", {{"id", "s"}});
    const auto cards = [&] { return manage(gateway, "agents/history", {{"id", "s"}})["cards"]; };
    CHECK(flow::becomes_true([&] { return cards().size() == 2; }));
    CHECK(core::to_text(cards()[0]["patch"]).find("\"two\"") != std::string::npos);
}

TEST_SUITE_END();
