// Agents that are written, found and removed through the management methods, and what is left of them after a restart.
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/plain_agent.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("flow/agents_written");

namespace {

using namespace std::chrono_literals;
using core::json;
using flow::a2a_agent;
using flow::get_card;
using flow::parsed;
using flow::post_json;
using flow::quick_settings;
using flow::running_gateway;
using test_support::answer_json;
using test_support::scratch_directory;
using test_support::scripted_agent;

json asked(std::uint16_t port, std::string_view method, const json& params)
{
    json body{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}};
    if (!params.is_null()) {
        body["params"] = params;
    }
    const auto answer = post_json(port, "/rpc", body.dump());
    CHECK(answer.status == 200);
    return parsed(answer.body);
}

// The result on the admin listener, or the test has failed.
json result_of(const running_gateway& gateway, std::string_view method, const json& params)
{
    auto answer = asked(gateway.admin_port(), method, params);
    CAPTURE(answer.dump());
    REQUIRE(answer.contains("result"));
    return answer["result"];
}

json error_of(const running_gateway& gateway, std::string_view method, const json& params)
{
    auto answer = asked(gateway.admin_port(), method, params);
    CAPTURE(answer.dump());
    REQUIRE(answer.contains("error"));
    return answer["error"];
}

std::string call_of(const running_gateway& gateway, const std::string& agent)
{
    const auto body = R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{}})";
    return post_json(gateway.port(), "/agents/" + agent, body).body;
}

std::vector<std::string> ids_of(const json& listed)
{
    std::vector<std::string> ids;
    for (const auto& each : listed["agents"]) {
        ids.push_back(each["id"].get<std::string>());
    }
    return ids;
}

config::settings stored_in(const scratch_directory& scratch)
{
    auto settings = quick_settings();
    settings.store = "sqlite:" + scratch.file("s.db");
    return settings;
}

using strings = std::vector<std::string>;

}  // namespace

TEST_CASE("an agent that is written is served at once, and so is every change of it, until it is deleted")
{
    scripted_agent first{[](const auto&) { return answer_json(R"({"name":"First"})"); }};
    scripted_agent second{[](const auto&) { return answer_json(R"({"name":"Second"})"); }};
    const running_gateway gateway{quick_settings()};
    CHECK(get_card(gateway, "a").status == 404);

    const auto created = result_of(gateway, "agents/upsert", {{"id", "a"}, {"agent", {{"url", first.url()}}}});
    CHECK(created["id"] == "a");
    CHECK(created["created"] == true);
    CHECK(created["version"] == 1);
    CHECK(created["durable"] == false);
    CHECK(created["agent"]["url"] == first.url());
    CHECK(created["agent"]["stored"]["version"] == 1);
    CHECK(parsed(get_card(gateway, "a").body)["name"] == "First");
    CHECK(call_of(gateway, "a") == R"({"name":"First"})");

    const json change{{"agent", {{"id", "a"}, {"url", second.url()}}}, {"ifVersion", 1}};
    const auto updated = result_of(gateway, "agents.upsert", change);
    CHECK(updated["created"] == false);
    CHECK(updated["version"] == 2);
    CHECK(parsed(get_card(gateway, "a").body)["name"] == "Second");
    CHECK(call_of(gateway, "a") == R"({"name":"Second"})");

    result_of(gateway, "agents/upsert", {{"id", "a"}, {"agent", {{"url", second.url()}, {"disabled", true}}}});
    CHECK(get_card(gateway, "a").status == 404);
    CHECK(result_of(gateway, "agents/get", {{"id", "a"}})["disabled"] == true);

    const auto deleted = result_of(gateway, "agents/delete", {{"id", "a"}});
    CHECK(deleted == json{{"id", "a"}, {"version", 4}, {"deleted", true}, {"durable", false}});
    CHECK(get_card(gateway, "a").status == 404);
    CHECK(error_of(gateway, "agents/get", {{"id", "a"}})["data"]["code"] == "agent_not_found");
    CHECK(error_of(gateway, "agents/delete", {{"id", "a"}})["data"]["code"] == "agent_not_found");
}

TEST_CASE("An agent that is deleted and written again while it streams keeps its counters when the stream ends")
{
    std::promise<void> end;
    const auto ended = end.get_future().share();
    const test_support::plain_agent agent{[&](const test_support::plain_exchange& request) {
        request.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n");
        ended.wait();
        return false;
    }};
    const running_gateway gateway{quick_settings()};
    const json record{{"id", "a"}, {"agent", {{"url", agent.url("/rpc")}, {"trust_card_url", "never"}}}};
    result_of(gateway, "agents/upsert", record);
    test_support::http_client caller{gateway.port()};
    const std::string body = R"({"jsonrpc":"2.0","id":1,"method":"message/stream","params":{}})";
    caller.send(test_support::request_text("POST", "/agents/a", {{"Content-Type", "application/json"}}, body));
    caller.read_until("data: 1\n\n");
    result_of(gateway, "agents/delete", {{"id", "a"}});
    result_of(gateway, "agents/upsert", record);
    end.set_value();
    caller.read_until("\r\n0\r\n\r\n");
    CHECK(gateway.wait_for_metric(R"(cardea_streams_active{agent="a"})", 0));
    CHECK(
        gateway.metric(
            R"(cardea_agent_requests_total{agent="a",protocol="a2a",rpc_method="message/stream",outcome="ok"})"
        ) == 1
    );
}

TEST_CASE("a write under a condition says which version is there when it is another one")
{
    const running_gateway gateway{quick_settings()};
    const json agent{{"url", "http://127.0.0.1:1"}};
    const auto conflict = [&](std::string_view method, json params, std::uint64_t there) {
        params["id"] = "a";
        const auto error = error_of(gateway, method, params);
        CHECK(error["code"] == -31409);
        CHECK(
            error["data"] ==
            json{{"code", "version_conflict"}, {"agent", "a"}, {"retryable", false}, {"version", there}}
        );
    };
    conflict("agents/upsert", {{"agent", agent}, {"ifVersion", 3}}, 0);
    CHECK(result_of(gateway, "agents/upsert", {{"id", "a"}, {"agent", agent}, {"ifVersion", 0}})["version"] == 1);
    conflict("agents/upsert", {{"agent", agent}, {"ifVersion", 0}}, 1);
    conflict("agents/delete", {{"ifVersion", 2}}, 1);
    CHECK(result_of(gateway, "agents/upsert", {{"id", "a"}, {"agent", agent}, {"ifVersion", 1}})["version"] == 2);
    conflict("agents/upsert", {{"agent", agent}, {"ifVersion", 1}}, 2);
    CHECK(result_of(gateway, "agents/delete", {{"id", "a"}, {"ifVersion", 2}})["deleted"] == true);
}

TEST_CASE("what is wrong with an agent is said as for the file: where, what, and what was expected")
{
    const running_gateway gateway{quick_settings()};
    const auto problems = [&](const json& params) {
        const auto error = error_of(gateway, "agents/upsert", params);
        CHECK(error["code"] == -32602);
        CHECK(error["data"]["code"] == "invalid_params");
        std::string lines;
        for (const auto& each : error["data"]["problems"]) {
            lines += each["path"].get<std::string>() + ": " + each["what"].get<std::string>() + '\n';
        }
        return lines;
    };
    const auto of_agent = [&](const json& agent) { return problems({{"id", "a"}, {"agent", agent}}); };
    const std::string url_meant = "; expected an http or https URL such as http://10.0.0.7:9000/a2a\n";
    CHECK(of_agent({}) == "agent: is no object; expected a map of the agent's settings\n");
    CHECK(of_agent(json::object()) == "agent.url: is missing" + url_meant);
    CHECK(of_agent({{"url", "ftp://h"}}).starts_with("agent.url: "));
    CHECK(
        of_agent({{"urk", "http://h"}, {"url", "http://h"}, {"timeout", 5}}) ==
        "agent.urk: is not a known key; did you mean `url`?\n"
        "agent.timeout: \"5\" has no unit; expected a duration such as 500ms, 5s, 5m or 1h\n"
    );
    CHECK(of_agent({{"url", "http://h"}, {"tls", {{"ca_file", "/none.pem"}}}}).starts_with("agent.tls.ca_file: "));
    CHECK(
        of_agent({{"url", "http://h"}, {"bearer_file", "/etc/hostname"}}) ==
        "agent.bearer_file: \"/etc/hostname\" cannot be read here; expected the path of a file with a token\n"
    );
    CHECK(
        of_agent({{"url", "http://h"}, {"bearer", core::masked}, {"card_headers", {{"X-Key", "${HOME}"}}}}) ==
        "agent.bearer: is the mask of a credential; expected the credential itself\n"
        "agent.card_headers.X-Key: has a variable in it, which only the configuration file may; expected its value\n"
    );
    CHECK(
        problems({{"id", "a b"}, {"agent", {{"url", "http://h"}}}}) ==
        "agent: is not an agent's id; expected 1 to 128 letters, digits, '.', '_' and '-', without '..'\n"
    );
    CHECK(problems({{"agent", {{"url", "http://h"}}}}) == "id: is missing; expected the agent's id\n");
    CHECK(
        problems({{"id", "a"}, {"agent", {{"id", "b"}, {"url", "http://h"}}}}) ==
        "agent.id: is not the id; expected the same id\n"
    );
    CHECK(
        problems({{"id", "a"}, {"agent", {{"url", "http://h"}}}, {"ifversion", 1}, {"ifVersion", "1"}}) ==
        "ifversion: is not a known key; did you mean `ifVersion`?\n"
        "ifVersion: expected a whole number, 0 or greater\n"
    );
    CHECK(problems(json::array({"a"})).find("agent: is missing") != std::string::npos);
    CHECK(result_of(gateway, "agents/list", {})["agents"].empty());
}

TEST_CASE("an agent of the configuration cannot be written, also where the store has one with its id")
{
    const scratch_directory scratch;
    {
        const running_gateway gateway{stored_in(scratch)};
        result_of(gateway, "agents/upsert", {{"id", "a"}, {"agent", {{"url", "http://stored:1"}}}});
    }
    auto settings = stored_in(scratch);
    settings.agents.push_back(a2a_agent("a", "http://declared:1"));
    const running_gateway gateway{std::move(settings)};
    const json upsert{{"id", "a"}, {"agent", {{"url", "http://stored:2"}}}};
    for (const auto& error :
         {error_of(gateway, "agents/upsert", upsert), error_of(gateway, "agents/delete", {{"id", "a"}})}) {
        CHECK(error["code"] == -31403);
        CHECK(error["data"] == json{{"code", "agent_read_only"}, {"agent", "a"}, {"retryable", false}});
    }
    const auto record = result_of(gateway, "agents/get", {{"id", "a"}});
    CHECK(record["url"] == "http://declared:1");
    CHECK(record["declared"] == true);
    CHECK_FALSE(record.contains("stored"));
    CHECK(gateway.log().wait_for([](auto line) {
        return line.find(R"("event":"stored_agent_hidden","agent":"a")") != std::string_view::npos;
    }));
}

TEST_CASE("a program is refused as an agent by default, and one that was stored before is never started")
{
    const scratch_directory scratch;
    const auto marker = scratch.file("ran");
    const json program{{"type", "stdio"}, {"command", "/bin/sh"}, {"args", {"-c", "touch " + marker}}};
    const json params{{"id", "m"}, {"agent", {{"protocol", "mcp"}, {"transport", program}}}};
    const auto said = [](const running_gateway& gateway, std::string_view words) {
        return gateway.log().wait_for([&](auto line) { return line.find(words) != std::string_view::npos; });
    };
    {
        const running_gateway gateway{stored_in(scratch)};
        const auto error = error_of(gateway, "agents/upsert", params);
        CHECK(error["code"] == -32602);
        CHECK(
            error["data"]["problems"] ==
            parsed(R"([{"path":"agent.transport","what":"is a program, which only agents of the configuration may be; )"
                   R"(expected a url, or `admin_programs: true`"}])")
        );
        CHECK(error_of(gateway, "agents/get", {{"id", "m"}})["data"]["code"] == "agent_not_found");
    }
    CHECK_FALSE(std::filesystem::exists(marker));
    {
        auto settings = stored_in(scratch);
        settings.admin_programs = true;
        const running_gateway gateway{std::move(settings)};
        result_of(gateway, "agents/upsert", params);
        CHECK(said(gateway, R"("event":"mcp_session","agent":"m","state":"backoff")"));
        CHECK(std::filesystem::remove(marker));
    }
    std::filesystem::remove(marker);
    const running_gateway gateway{stored_in(scratch)};
    CHECK(said(gateway, R"("event":"stored_agent_unusable","agent":"m","key":"agent.transport")"));
    CHECK(get_card(gateway, "m").status == 404);
    CHECK(result_of(gateway, "agents/health", {{"id", "m"}})["reason"] == "unusable");
    CHECK(error_of(gateway, "agents/refreshCard", {{"id", "m"}})["data"]["code"].is_string());
    CHECK_FALSE(std::filesystem::exists(marker));
    CHECK(result_of(gateway, "agents/delete", {{"id", "m"}})["deleted"] == true);
}

TEST_CASE("the traffic listener refuses to write, and to say who wrote")
{
    const running_gateway gateway{quick_settings()};
    for (const auto* method : {"agents/upsert", "agents.upsert", "agents/delete", "agents.delete", "agents/changes"}) {
        CAPTURE(method);
        const auto answer = asked(gateway.port(), method, {{"id", "a"}, {"agent", {{"url", "http://127.0.0.1:1"}}}});
        CHECK(answer["error"]["code"] == -31403);
        CHECK(answer["error"]["data"]["code"] == "admin_only");
    }
    CHECK(result_of(gateway, "agents/list", {})["agents"].empty());
}

TEST_CASE("agents, versions and the trail survive a restart; credentials are sent and never shown")
{
    scripted_agent agent{[](const auto&) { return answer_json(R"({"name":"A"})"); }};
    const scratch_directory scratch;
    std::string seen;
    {
        const running_gateway gateway{stored_in(scratch)};
        const json written{{"url", agent.url()}, {"bearer", "hunter2"}, {"metadata", {{"team", "x"}}}};
        const auto created = result_of(gateway, "agents/upsert", {{"id", "a"}, {"agent", written}});
        CHECK(created["durable"] == true);
        seen += created.dump();
        result_of(gateway, "agents/upsert", {{"id", "b"}, {"agent", {{"url", agent.url()}}}});
        result_of(gateway, "agents/delete", {{"id", "b"}});
    }
    const running_gateway gateway{stored_in(scratch)};
    const auto record = result_of(gateway, "agents/get", {{"id", "a"}});
    CHECK(record["stored"]["version"] == 1);
    CHECK(record["bearer"] == core::masked);
    CHECK(record["metadata"] == json{{"team", "x"}});
    CHECK(call_of(gateway, "a") == R"({"name":"A"})");
    CHECK(agent.request(agent.request_count() - 1).header("Authorization") == "Bearer hunter2");
    CHECK(result_of(gateway, "agents/upsert", {{"id", "b"}, {"agent", {{"url", agent.url()}}}})["version"] == 4);

    const auto trail = result_of(gateway, "agents/changes", {})["changes"];
    REQUIRE(trail.size() == 4);
    const char* const actions[] = {"created", "created", "deleted", "created"};
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(trail[i]["version"] == i + 1);
        CHECK(trail[i]["action"] == actions[i]);
        CHECK(trail[i]["by"] == "admin 127.0.0.1");
        CHECK(trail[i]["at"].get<std::string>().ends_with("Z"));
    }
    CHECK(result_of(gateway, "agents/changes", {{"after", 3}})["changes"].size() == 1);
    CHECK(result_of(gateway, "agents/changes", {{"limit", 2}})["changes"].size() == 2);
    seen += record.dump() + trail.dump();
    REQUIRE(gateway.log().wait_for([](auto line) { return line.find("agent_changed") != std::string_view::npos; }));
    for (const auto& line : gateway.log().all()) {
        seen += line;
    }
    CHECK(seen.find("hunter2") == std::string::npos);
}

TEST_CASE("a list is filtered by tag, protocol and text, and given out in pages")
{
    scripted_agent tagged{[](const auto&) {
        return answer_json(
            R"({"name":"Poet","description":"Writes ODES","skills":[{"id":"s","tags":["verse","rhyme"]}]})"
        );
    }};
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("poet", tagged.url()));
    const running_gateway gateway{std::move(settings)};
    const auto add = [&](const char* id, const json& agent) {
        result_of(gateway, "agents/upsert", {{"id", id}, {"agent", agent}});
    };
    add("a1", {{"url", "http://127.0.0.1:1"}, {"metadata", {{"tags", {"verse", 7}}, {"team", "Blue"}}}});
    add("a2", {{"url", "http://127.0.0.1:1"}});
    add("m1", {{"url", "http://127.0.0.1:1"}, {"protocol", "mcp"}});
    CHECK(get_card(gateway, "poet").status == 200);
    const auto listed = [&](const json& filter) { return ids_of(result_of(gateway, "agents/list", filter)); };
    CHECK(listed({}) == strings{"a1", "a2", "m1", "poet"});
    CHECK(listed({{"tag", "verse"}}) == strings{"a1", "poet"});
    CHECK(listed({{"tag", "rhyme"}}) == strings{"poet"});
    CHECK(listed({{"tag", "Verse"}}).empty());
    CHECK(listed({{"protocol", "mcp"}}) == strings{"m1"});
    CHECK(listed({{"protocol", "a2a"}, {"tag", "verse"}, {"text", "BLUE"}}) == strings{"a1"});
    CHECK(listed({{"text", "odes"}}) == strings{"poet"});
    CHECK(listed({{"text", "A"}, {"protocol", "a2a"}}) == strings{"a1", "a2"});

    strings paged;
    json cursor;
    for (int pages = 0; pages < 10; ++pages) {
        const auto page = result_of(gateway, "agents/list", {{"limit", 1}, {"after", cursor}});
        for (auto& id : ids_of(page)) {
            paged.push_back(std::move(id));
        }
        if (!page.contains("next")) {
            break;
        }
        cursor = page["next"];
    }
    CHECK(paged == listed({}));
    for (const json& bad :
         {json{{"limit", 0}}, {{"limit", 1001}}, {{"limit", "5"}}, {{"protocol", "http"}}, {{"tag", 7}}}) {
        const auto error = error_of(gateway, "agents/list", bad);
        CHECK(error["data"]["code"] == "invalid_params");
        CHECK(error["data"]["problems"].size() == 1);
        CHECK(error["data"]["problems"][0]["path"] == bad.begin().key());
    }
}

TEST_CASE("after a restart the last good card of an agent that is down is served as stale, but not for another address")
{
    const scratch_directory scratch;
    auto settings = stored_in(scratch);
    settings.public_url = "https://agents.example.com";
    settings.cards.ttl = 1ms;
    settings.cards.min_ttl = 0ms;
    std::string body;
    std::string address;
    {
        scripted_agent agent{[](const auto&) { return answer_json(R"({"name":"A"})"); }};
        address = agent.url();
        settings.agents = {a2a_agent("a", address), a2a_agent("moved", address)};
        const running_gateway gateway{settings};
        body = get_card(gateway, "a").body;
        REQUIRE(parsed(body)["name"] == "A");
        REQUIRE(get_card(gateway, "moved").status == 200);
        result_of(gateway, "agents/upsert", {{"id", "written"}, {"agent", {{"url", address}}}});
        REQUIRE(get_card(gateway, "written").status == 200);
    }
    settings.agents[1].url = address + "/elsewhere";
    const running_gateway gateway{settings};
    for (const auto* id : {"a", "written"}) {
        CAPTURE(id);
        const auto card = get_card(gateway, id);
        CHECK(card.status == 200);
        CHECK(card.header("Cardea-Card").starts_with("stale; age="));
        CHECK(card.header("Cardea-Card").ends_with("; reason=upstream_refused"));
    }
    CHECK(get_card(gateway, "a").body == body);
    CHECK(get_card(gateway, "moved").status == 502);
}

TEST_CASE("a kept card is asked for again with its validators, and one that was written again is not taken from before")
{
    const scratch_directory scratch;
    scripted_agent agent{[](const auto&) {
        return test_support::answer(
            200,
            R"({"name":"A"})",
            {{"ETag", "\"one\""}, {"Content-Type", "application/json"}}
        );
    }};
    auto settings = stored_in(scratch);
    settings.cards.ttl = 1ms;
    settings.cards.min_ttl = 0ms;
    settings.agents = {a2a_agent("a", agent.url())};
    {
        const running_gateway gateway{settings};
        REQUIRE(get_card(gateway, "a").status == 200);
        REQUIRE(agent.request(0).count("If-None-Match") == 0);
    }
    const auto before = agent.request_count();
    agent.otherwise([](const auto&) { return test_support::answer(304, ""); });
    const running_gateway gateway{settings};
    CHECK(parsed(get_card(gateway, "a").body)["name"] == "A");
    CHECK(agent.request(before).header("If-None-Match") == "\"one\"");
}

TEST_SUITE_END();
