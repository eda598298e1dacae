// MCP servers over HTTP that want a token of an OAuth server: from the gateway's own session, and with callers' calls.
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/reload_fixture.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("flow/mcp_tokens");

namespace {

using namespace flow;
using namespace std::chrono_literals;
using core::json;
using test_support::answer;
using test_support::answer_json;
using test_support::handler;
using test_support::recorded_request;
using test_support::script;
using test_support::scripted_agent;

std::string granted(const std::string& token, int seconds = 3600)
{
    return R"({"access_token":")" + token + R"(","token_type":"Bearer","expires_in":)" + std::to_string(seconds) + "}";
}

// Gives planted-token-1, planted-token-2, and so on.
struct oauth_server {
    std::atomic<int> given{0};
    int life = 3600;  // of each, in seconds
    scripted_agent server{[this](const recorded_request&) {
        return answer_json(granted("planted-token-" + std::to_string(++given), life));
    }};
};

// A server of the legacy era with one tool.
script as_server(const recorded_request& asked)
{
    if (asked.method != "POST") {
        return answer(asked.method == "GET" ? 405 : 200, "");
    }
    const auto body = json::parse(asked.body);
    if (!body.contains("id")) {
        return answer(202, "");
    }
    const auto method = body["method"].get<std::string>();
    json result = json::object();
    if (method == "initialize") {
        result = {
            {"protocolVersion", "2025-06-18"},
            {"capabilities", {{"tools", json::object()}}},
            {"serverInfo", {{"name", "s"}, {"version", "1"}}}
        };
    } else if (method == "tools/list") {
        result = {{"tools", {{{"name", "one"}, {"inputSchema", json::object()}}}}};
    }
    const json whole{{"jsonrpc", "2.0"}, {"id", body["id"]}, {"result", std::move(result)}};
    return answer_json(whole.dump(), {{"Mcp-Session-Id", "session-of-server"}});
}

// A server that takes no token but this one, and repeats what it was shown.
handler takes_only(const std::string& token)
{
    return [token](const recorded_request& asked) {
        const auto shown = asked.header("Authorization");
        return shown == "Bearer " + token ? as_server(asked)
                                          : answer(401, "not " + shown, {{"WWW-Authenticate", "Bearer is=" + shown}});
    };
}

core::agent with_tokens(const std::string& url, const std::string& token_url)
{
    core::agent record;
    record.id = "m";
    record.url = url;
    record.speaks = core::protocol::mcp;
    record.trust = core::card_trust::never;
    auto& server = record.mcp.emplace();
    server.era = core::mcp_era::legacy;
    server.backoff = 20ms;
    server.max_backoff = 50ms;
    server.ping_interval = 50ms;
    core::oauth_client client;
    client.token_url = token_url;
    client.client_id = "cardea";
    client.client_secret = core::secret{"planted-secret"};
    record.credentials = std::move(client);
    return record;
}

config::settings settings_with(core::agent record)
{
    auto settings = quick_settings();
    settings.log_level = core::log_level::debug;
    settings.agents = {std::move(record)};
    return settings;
}

bool has_card(const running_gateway& gateway)
{
    return becomes_true([&] { return get_card(gateway, "m").status == 200; });
}

json session_of(const running_gateway& gateway)
{
    return manage(gateway, "agents/get", {{"id", "m"}})["session"];
}

test_support::http_response begin_as_caller(const running_gateway& gateway)
{
    return test_support::request(
        gateway.port(),
        "POST",
        "/agents/m/mcp",
        {{"Content-Type", "application/json"},
         {"Accept", "application/json, text/event-stream"},
         {"Authorization", "Bearer of-caller"}},
        R"({"jsonrpc":"2.0","id":"of-caller","method":"initialize","params":{"protocolVersion":"2025-06-18",)"
        R"("capabilities":{},"clientInfo":{"name":"test","version":"1"}}})"
    );
}

bool is_of_caller(const recorded_request& asked)
{
    return asked.body.find("of-caller") != std::string::npos;
}

std::vector<std::string> tokens_shown(const std::vector<recorded_request>& requests, bool to_callers)
{
    std::vector<std::string> shown;
    for (const auto& each : requests) {
        CHECK(each.count("Authorization") == 1);
        if (is_of_caller(each) == to_callers) {
            shown.push_back(each.header("Authorization"));
        }
    }
    return shown;
}

std::size_t sessions_begun(const scripted_agent& server)
{
    const auto all = server.requests();
    return static_cast<std::size_t>(std::ranges::count_if(all, [](const auto& each) {
        return !is_of_caller(each) && each.body.find("\"initialize\"") != std::string::npos;
    }));
}

const std::string first_shown = "Bearer planted-token-1";
const std::string second_shown = "Bearer planted-token-2";

}  // namespace

TEST_CASE("The session of an MCP server and the calls of its callers show the token of its OAuth server")
{
    oauth_server tokens;
    scripted_agent server{as_server};
    running_gateway gateway{settings_with(with_tokens(server.url("/mcp"), tokens.server.url("/token")))};
    REQUIRE(has_card(gateway));
    CHECK(begin_as_caller(gateway).status == 200);
    const auto all = server.requests();
    const auto own = tokens_shown(all, false);
    CHECK(own.size() >= 3);
    CHECK(std::ranges::count(own, first_shown) == static_cast<std::ptrdiff_t>(own.size()));
    CHECK(tokens_shown(all, true) == std::vector{first_shown});
    REQUIRE(tokens.server.request_count() == 1);
    CHECK(tokens.server.request(0).body == "grant_type=client_credentials");
}

TEST_CASE("A session waits for the first token before it connects, and so do callers")
{
    test_support::gate gate;
    scripted_agent tokens;
    tokens.next(
        script{test_support::pass_gate{gate.shared()}, test_support::message{200, {}, granted("planted-token-1")}}
    );
    scripted_agent server{as_server};
    running_gateway gateway{settings_with(with_tokens(server.url("/mcp"), tokens.url("/token")))};
    REQUIRE(gate.wait_until_reached());
    std::jthread caller{[&] { CHECK(begin_as_caller(gateway).status == 200); }};
    CHECK(get_card(gateway, "m").status == 503);
    CHECK(server.accepted_connections() == 0);
    gate.release();
    REQUIRE(has_card(gateway));
    caller.join();
    for (const auto& each : server.requests()) {
        CHECK(each.header("Authorization") == first_shown);
    }
    CHECK(tokens.request_count() == 1);
}

TEST_CASE("A 401 brings another token for the session and for callers, without another session")
{
    oauth_server tokens;
    scripted_agent server{as_server};
    auto record = with_tokens(server.url("/mcp"), tokens.server.url("/token"));
    record.mcp->ping_interval = 1h;
    running_gateway gateway{settings_with(std::move(record))};
    REQUIRE(has_card(gateway));
    REQUIRE(server.wait_for([](const auto& all) {
        return std::ranges::find(all, "GET", &recorded_request::method) != all.end();
    }));
    server.otherwise(takes_only("planted-token-2"));
    CHECK(begin_as_caller(gateway).status == 200);
    CHECK(tokens_shown(server.requests(), true) == std::vector{first_shown, second_shown});
    CHECK(manage(gateway, "agents/refreshCard", {{"id", "m"}}).is_object());
    CHECK(server.requests().back().header("Authorization") == second_shown);
    CHECK(sessions_begun(server) == 1);
    CHECK(tokens.given == 2);

    // The second refusal within 10 seconds brings no third token: it is the answer.
    server.otherwise(takes_only("planted-token-9"));
    const auto refused = begin_as_caller(gateway);
    CHECK(refused.status == 502);
    CHECK(refused.header("Cardea-Error") == "upstream_status");
    CHECK(tokens.given == 2);
}

TEST_CASE("A session renews the token that its server refuses, once for each request")
{
    oauth_server tokens;
    scripted_agent server{takes_only("planted-token-2")};
    auto record = with_tokens(server.url("/mcp"), tokens.server.url("/token"));
    record.mcp->ping_interval = 1h;
    running_gateway gateway{settings_with(std::move(record))};
    REQUIRE(has_card(gateway));
    CHECK(sessions_begun(server) == 2);
    const auto shown = tokens_shown(server.requests(), false);
    CHECK(std::ranges::count(shown, first_shown) == 1);
    CHECK(shown.front() == first_shown);
    CHECK(session_of(gateway)["restarts"] == 0);
    CHECK(tokens.given == 2);
}

TEST_CASE("A server that takes no token has a session that says so, and neither side is asked without pause")
{
    oauth_server tokens;
    scripted_agent server{takes_only("none")};
    running_gateway gateway{settings_with(with_tokens(server.url("/mcp"), tokens.server.url("/token")))};
    REQUIRE(becomes_true([&] { return session_of(gateway).value("restarts", 0) >= 3; }));
    CHECK(session_of(gateway).value("detail", "").find("status 401 to initialize") != std::string::npos);
    CHECK(get_card(gateway, "m").status == 503);
    CHECK(tokens.given <= 2);  // one more in 10 seconds
    CHECK(server.request_count() <= static_cast<std::size_t>(session_of(gateway)["restarts"].get<int>()) + 2);
}

TEST_CASE("While the OAuth server gives no token the session says so and sends nothing, and begins when it does")
{
    scripted_agent tokens;  // 404
    scripted_agent server{as_server};
    running_gateway gateway{settings_with(with_tokens(server.url("/mcp"), tokens.url("/token")))};
    REQUIRE(becomes_true([&] { return session_of(gateway).value("restarts", 0) >= 5; }));
    const auto session = session_of(gateway);
    CHECK(session["reason"] == "start_failed");
    CHECK(
        session.value("detail", "").find("upstream_credentials: the agent's OAuth server gives no token") !=
        std::string::npos
    );
    check_refusal(get_card(gateway, "m"), 503, "session_failed", "m");
    const auto refused = begin_as_caller(gateway);
    CHECK(refused.status == 503);
    CHECK(refused.header("Cardea-Error") == "upstream_credentials");
    CHECK(server.accepted_connections() == 0);
    CHECK(tokens.request_count() < session_of(gateway)["restarts"].get<std::size_t>());
    tokens.otherwise([](const recorded_request&) { return answer_json(granted("planted-token-1")); });
    CHECK(has_card(gateway));
    CHECK(begin_as_caller(gateway).status == 200);
}

TEST_CASE("A token is renewed before it ends, and the session goes on with the next one")
{
    oauth_server tokens;
    tokens.life = 10;  // renewed after 5 seconds
    scripted_agent server{as_server};
    running_gateway gateway{settings_with(with_tokens(server.url("/mcp"), tokens.server.url("/token")))};
    REQUIRE(has_card(gateway));
    REQUIRE(server.wait_for([](const auto& all) { return all.back().header("Authorization") == second_shown; }));
    CHECK(begin_as_caller(gateway).status == 200);
    CHECK(tokens_shown(server.requests(), true) == std::vector{second_shown});
    CHECK(sessions_begun(server) == 1);
    CHECK(session_of(gateway)["state"] == "ready");
}

TEST_CASE("Neither a client's secret nor a token is in a log line or an answer, whatever the server repeats")
{
    oauth_server tokens;
    std::atomic<int> asked_before{0};
    scripted_agent server{[&](const recorded_request& asked) {
        if (++asked_before <= 3) {
            return takes_only("none")(asked);
        }
        const auto words = R"({"jsonrpc":"2.0","id":)" + json::parse(asked.body)["id"].dump() +
                           R"(,"error":{"code":-32000,"message":"not )" + asked.header("Authorization") + "\"}}";
        return answer_json(words);
    }};
    running_gateway gateway{settings_with(with_tokens(server.url("/mcp"), tokens.server.url("/token")))};
    REQUIRE(becomes_true([&] { return session_of(gateway).value("detail", "") == "not Bearer ********"; }));
    for (const auto* told :
         {"WWW-Authenticate: Bearer is=Bearer ********; not Bearer ********", "\"not Bearer ********"}) {
        CAPTURE(told);
        CHECK(gateway.log().wait_for([&](std::string_view line) { return line.find(told) != line.npos; }));
    }
    auto seen = session_of(gateway).dump();
    seen += get_card(gateway, "m").body;
    seen += manage(gateway, "agents/get", {{"id", "m"}}).dump();
    seen += test_support::request(gateway.admin_port(), "GET", "/metrics").body;
    CHECK(seen.find("planted") == std::string::npos);
    gateway.stop();
    CHECK(gateway.wait_until_stopped());
    for (const auto& line : gateway.log().all()) {
        CAPTURE(line);
        CHECK(line.find("planted") == std::string::npos);
    }
}

TEST_CASE("A reload with another client secret ends the session with the old token and begins one with a new token")
{
    oauth_server tokens;
    scripted_agent server{as_server};
    const test_support::scratch_directory directory;
    const auto file = directory.file("cardea.yml");
    const auto write = [&](const std::string& secret) {
        test_support::write_whole(
            file,
            "reload: {watch: false}\nagents:\n  m: {protocol: mcp, era: legacy, url: \"" + server.url("/mcp") +
                "\", credentials: {oauth2: {token_url: \"" + tokens.server.url("/token") +
                "\", client_id: cardea, client_secret: " + secret + "}}}\n"
        );
    };
    write("planted-secret-1");
    reloading_gateway gateway{file};
    REQUIRE(becomes_true([&] { return gateway.card("m").status == 200; }));
    write("planted-secret-2");
    CHECK(gateway.reloaded()["agents"]["changed"][0]["keys"] == json::array({"credentials"}));
    REQUIRE(server.wait_for([](const auto& all) { return all.back().header("Authorization") == second_shown; }));
    REQUIRE(becomes_true([&] { return gateway.card("m").status == 200; }));
    CHECK(sessions_begun(server) == 2);
    const auto all = server.requests();
    const auto ended = std::ranges::find(all, "DELETE", &recorded_request::method);
    REQUIRE(ended != all.end());
    CHECK(ended->header("Authorization") == first_shown);
    REQUIRE(tokens.server.request_count() == 2);
    CHECK(tokens.server.request(0).header("Authorization") == "Basic Y2FyZGVhOnBsYW50ZWQtc2VjcmV0LTE=");
    CHECK(tokens.server.request(1).header("Authorization") == "Basic Y2FyZGVhOnBsYW50ZWQtc2VjcmV0LTI=");
}

TEST_SUITE_END();
