// A running gateway takes a new configuration over: by POST /reload, by SIGHUP and when its file changes.
#include "tests/flow/reload_fixture.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <string>

TEST_SUITE_BEGIN("flow/reload");

namespace {

using core::json;
using flow::inline_agent;
using flow::parsed;
using flow::reloading_gateway;
using test_support::http_client;
using test_support::request;
using test_support::scratch_directory;
using test_support::scripted_agent;
using test_support::write_whole;
namespace fs = std::filesystem;

constexpr const char* some_call = R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{}})";

std::string agents(const std::string& all)
{
    // One worker, so that calls share connections.
    return "reload: {watch: false}\nworkers: 1\nagents:\n" + all;
}

std::string watched(const std::string& all)
{
    return "agents:\n" + all;
}

// As editors do it: whole, under another name, then in one step.
void put(const std::string& file, const std::string& text)
{
    write_whole(file + ".new", text);
    fs::rename(file + ".new", file);
}

}  // namespace

TEST_CASE("POST /reload adds, changes and removes agents, and says so")
{
    const scratch_directory here;
    const auto file = here.file("c.yml");
    write_whole(file, agents(inline_agent("a", "A") + inline_agent("b", "B") + inline_agent("same", "S")));
    reloading_gateway gateway{file};
    CHECK(gateway.card_name("a") == "A");
    write_whole(
        file,
        agents(inline_agent("same", "S") + inline_agent("a", "A2", ", version: x") + inline_agent("c", "C"))
    );

    const auto answer = gateway.reloaded();
    CHECK(answer["agents"]["added"] == json{"c"});
    CHECK(answer["agents"]["removed"] == json{"b"});
    CHECK(answer["agents"]["changed"] == parsed(R"([{"id":"a","keys":["card","version"]}])"));
    CHECK(answer["agents"]["unchanged"] == 1);
    CHECK(answer["needs_restart"] == json::array());
    CHECK(gateway.card_name("a") == "A2");
    CHECK(gateway.card_name("c") == "C");
    CHECK(gateway.card("b").status == 404);
    CHECK(flow::post_json(gateway.port, "/agents/b", some_call).status == 404);

    CHECK(gateway.event("agent_changed", R"("agent":"b","action":"deleted")", R"("by":"configuration")").has_value());
    CHECK(gateway.event("agent_changed", R"("agent":"a","action":"updated","keys":"card,version")").has_value());
    CHECK(gateway.event("config_reloaded", R"("trigger":"request","added":1,"changed":1,"removed":1,"unchanged":1)")
              .has_value());
    CHECK(gateway.metric(R"(cardea_config_reloads_total{outcome="ok"})") == "1");
    CHECK(gateway.metric("cardea_config_last_reload_successful") == "1");
    CHECK(gateway.metric("cardea_agents") == "3");
}

TEST_CASE("an agent that a reload does not change keeps its card and its connection")
{
    scripted_agent agent{[](const auto& asked) {
        return asked.method == "GET" ? test_support::answer_json(R"({"name":"A"})", {{"ETag", "\"1\""}})
                                     : test_support::answer_json("{}");
    }};
    const scratch_directory here;
    const auto file = here.file("c.yml");
    const auto kept = "  kept: {url: \"" + agent.url("/") + "\"}\n";
    write_whole(file, agents(kept));
    const reloading_gateway gateway{file};
    CHECK(gateway.card_name("kept") == "A");
    CHECK(flow::post_json(gateway.port, "/agents/kept", some_call).status == 200);
    const auto before = agent.requests();
    write_whole(file, agents(inline_agent("new", "N") + kept));
    CHECK(gateway.reloaded()["agents"]["unchanged"] == 1);
    CHECK(gateway.card_name("kept") == "A");
    CHECK(flow::post_json(gateway.port, "/agents/kept", some_call).status == 200);
    const auto after = agent.requests();
    REQUIRE(after.size() == before.size() + 1);
    CHECK(after.back().method == "POST");
    CHECK(after.back().connection == before.back().connection);

    write_whole(file, agents("  kept: {url: \"" + agent.url("/") + "\", bearer: other}\n"));
    CHECK(gateway.reloaded()["agents"]["changed"][0]["keys"] == json{"bearer"});
    CHECK(gateway.card_name("kept") == "A");
    REQUIRE(agent.wait_for_requests(after.size() + 1));
    CHECK(agent.request(after.size()).header("Authorization") == "Bearer other");
}

TEST_CASE("an agent of the management API outlives reloads, and is hidden for as long as the file has its id")
{
    const scratch_directory here;
    const auto file = here.file("c.yml");
    write_whole(file, agents(inline_agent("a", "A")));
    reloading_gateway gateway{file};
    const auto upsert =
        flow::managing("agents/upsert", R"({"id":"own","agent":{"url":"http://127.0.0.1:9/","card":{"name":"Own"}}})");
    CHECK(parsed(flow::post_json(gateway.admin_port, "/rpc", upsert).body)["result"]["created"] == true);
    CHECK(gateway.reloaded()["agents"]["unchanged"] == 1);
    CHECK(gateway.card_name("own") == "Own");

    write_whole(file, agents(inline_agent("own", "Declared")));
    CHECK(gateway.reloaded()["agents"]["added"] == json{"own"});
    CHECK(gateway.card_name("own") == "Declared");
    CHECK(gateway.event("stored_agent_hidden", R"("agent":"own")").has_value());
    const auto refused = parsed(flow::post_json(gateway.admin_port, "/rpc", upsert).body);
    CHECK(refused["error"]["data"]["code"] == "agent_read_only");

    write_whole(file, agents(inline_agent("a", "A")));
    CHECK(gateway.reloaded()["agents"]["removed"] == json{"own"});
    CHECK(gateway.card_name("own") == "Own");
}

TEST_CASE("a file with problems changes nothing, and answer, log and metric say why")
{
    const scratch_directory here;
    const auto file = here.file("c.yml");
    write_whole(file, agents(inline_agent("a", "A")));
    reloading_gateway gateway{file};
    const auto good_since = gateway.metric("cardea_config_last_success_timestamp_seconds");
    write_whole(file, agents(inline_agent("b", "B")) + "  c: {url: 7}\nwrokers: 2\n");
    const auto answer = gateway.reload();
    CHECK(answer.status == 422);
    CHECK(answer.header("Cardea-Error") == "config_invalid");
    const auto error = parsed(answer.body)["error"];
    CHECK(error["code"] == "config_invalid");
    REQUIRE(error["problems"].size() == 2);
    CHECK(error["problems"][0].get<std::string>().starts_with(file + ":5:12: agents.c.url: "));
    CHECK(error["problems"][1] == file + ":6:1: wrokers: is not a known key; did you mean `workers`?");
    CHECK(gateway.card_name("a") == "A");
    CHECK(gateway.card("b").status == 404);
    CHECK(gateway.event("config_rejected", R"("trigger":"request","problems":2)", "did you mean `workers`?").has_value()
    );
    CHECK(gateway.metric(R"(cardea_config_reloads_total{outcome="refused"})") == "1");
    CHECK(gateway.metric(R"(cardea_config_reloads_total{outcome="ok"})") == "0");
    CHECK(gateway.metric("cardea_config_last_reload_successful") == "0");
    CHECK(gateway.metric("cardea_config_last_success_timestamp_seconds") == good_since);

    fs::remove(file);
    CHECK(gateway.reload().status == 422);
    write_whole(file, agents(inline_agent("a", "A2")));
    CHECK(gateway.reload().status == 200);
    CHECK(gateway.card_name("a") == "A2");
    CHECK(gateway.metric("cardea_config_last_reload_successful") == "1");
}

TEST_CASE("what takes a restart is named each time, and what does not takes effect")
{
    const scratch_directory here;
    const auto file = here.file("c.yml");
    write_whole(file, agents(inline_agent("a", "A")));
    reloading_gateway gateway{file};
    CHECK(flow::max_age_of(gateway.card("a")) > 100);
    write_whole(
        file,
        agents(inline_agent("a", "A")) + "trusted_proxies: [10.0.0.1]\nlimits: {body: 2MiB}\ncards: {ttl: 100s}\n" +
            "metrics_agents: 0\n"
    );
    for (int round = 0; round < 2; ++round) {
        const auto answer = gateway.reloaded();
        CHECK(answer["needs_restart"] == json{"trusted_proxies", "limits.body"});
        CHECK(answer["settings"] == (round == 0 ? json{"metrics_agents", "cards.ttl"} : json::array()));
        CHECK(gateway.metric("cardea_config_restart_needed") == "1");
        CHECK(gateway.metric("cardea_metrics_agents_omitted") == "1");
    }
    CHECK(gateway.event("config_needs_restart", R"("settings":"trusted_proxies,limits.body")").has_value());
    write_whole(file, agents(inline_agent("a", "A2")) + "cards: {ttl: 100s}\n");
    CHECK(gateway.reloaded()["needs_restart"] == json::array());
    CHECK(gateway.metric("cardea_config_restart_needed") == "0");
    CHECK(gateway.serves("a", "A2"));
    CHECK(flow::max_age_of(gateway.card("a")) <= 100);
}

TEST_CASE("SIGHUP reloads")
{
    const scratch_directory here;
    const auto file = here.file("c.yml");
    write_whole(file, agents(inline_agent("a", "A")));
    reloading_gateway gateway{file};
    write_whole(file, agents(inline_agent("a", "A2")));
    gateway.process.signal(SIGHUP);
    CHECK(gateway.event("config_reloaded", R"("trigger":"signal")").has_value());
    CHECK(gateway.card_name("a") == "A2");
    write_whole(file, "agents: [");
    gateway.process.signal(SIGHUP);
    CHECK(gateway.event("config_rejected", R"("trigger":"signal")").has_value());
    CHECK(gateway.card_name("a") == "A2");
}

TEST_CASE("a file that is written, replaced, removed or created again is noticed")
{
    const scratch_directory here;
    const auto file = here.file("c.yml");
    write_whole(file, watched(inline_agent("a", "First")));
    reloading_gateway gateway{file};
    CHECK(gateway.serves("a", "First"));
    write_whole(file, watched(inline_agent("a", "Written")));
    CHECK(gateway.serves("a", "Written"));
    CHECK(gateway.event("config_reloaded", R"("trigger":"file")").has_value());
    put(file, watched(inline_agent("a", "Replaced")));
    CHECK(gateway.serves("a", "Replaced"));
    fs::rename(file, file + "~");
    CHECK(gateway.event("config_rejected", R"("trigger":"file")", "No such file").has_value());
    CHECK(gateway.card_name("a") == "Replaced");
    write_whole(file, watched(inline_agent("a", "Anew")));
    CHECK(gateway.serves("a", "Anew"));
    write_whole(file, "agents: [");
    CHECK(gateway.event("config_rejected", R"("trigger":"file")", "c.yml:1:").has_value());
    CHECK(gateway.card_name("a") == "Anew");
}

TEST_CASE("a link beside the file that is swapped is noticed, as Kubernetes mounts a ConfigMap")
{
    const scratch_directory here;
    const auto mount = [&](const std::string& name, const std::string& text) {
        fs::create_directory(here.path() / name);
        write_whole(here.file(name + "/c.yml"), text);
        fs::create_directory_symlink(name, here.path() / "..data_tmp");
        fs::rename(here.path() / "..data_tmp", here.path() / "..data");
    };
    mount("..1", watched(inline_agent("a", "First")));
    fs::create_symlink("..data/c.yml", here.path() / "c.yml");
    reloading_gateway gateway{here.file("c.yml")};
    for (const std::string name : {"Second", "Third"}) {
        mount(".." + name, watched(inline_agent("a", name)));
        CHECK(gateway.serves("a", name));
    }
    fs::remove_all(here.path() / "..1");
    write_whole(here.file("..Third/c.yml"), watched(inline_agent("a", "Written")));
    CHECK(gateway.serves("a", "Written"));
}

TEST_CASE("a bearer in a file of its own is noticed, and so is the file's whole directory made again")
{
    scripted_agent agent{[](const auto&) { return test_support::answer_json("{}"); }};
    const scratch_directory here;
    fs::create_directory(here.path() / "secrets");
    const auto token = here.file("secrets/token");
    write_whole(token, "first\n");
    write_whole(
        here.file("c.yml"),
        watched("  a: {url: \"" + agent.url("/") + "\", card: {name: A}, bearer_file: \"" + token + "\"}\n")
    );
    reloading_gateway gateway{here.file("c.yml")};
    const auto sent = [&] {
        flow::post_json(gateway.port, "/agents/a", some_call);
        return agent.requests().back().header("Authorization");
    };
    CHECK(sent() == "Bearer first");
    put(token, "second\n");
    CHECK(flow::becomes_true([&] { return sent() == "Bearer second"; }));
    fs::rename(here.path() / "secrets", here.path() / "old");
    CHECK(gateway.event("config_rejected", "agents.a.bearer_file", "No such file").has_value());
    CHECK(sent() == "Bearer second");
    fs::create_directory(here.path() / "secrets");
    write_whole(token, "third\n");
    CHECK(flow::becomes_true([&] { return sent() == "Bearer third"; }));
    CHECK(gateway.process.err().find("first\"") == std::string::npos);
}

TEST_CASE("a secret of credentials in a file of its own is noticed when it changes")
{
    scripted_agent agent{[](const auto&) { return test_support::answer_json("{}"); }};
    const scratch_directory here;
    const auto key = here.file("key");
    write_whole(key, "first\n");
    write_whole(
        here.file("c.yml"),
        watched(
            "  a: {url: \"" + agent.url("/") +
            "\", card: {name: A}, credentials: {api_key: {header: X-Key, value_file: \"" + key + "\"}}}\n"
        )
    );
    reloading_gateway gateway{here.file("c.yml")};
    const auto sent = [&] {
        flow::post_json(gateway.port, "/agents/a", some_call);
        return agent.requests().back().header("X-Key");
    };
    CHECK(sent() == "first");
    put(key, "second\n");
    CHECK(flow::becomes_true([&] { return sent() == "second"; }));
    CHECK(gateway.process.err().find("first\"") == std::string::npos);
}

TEST_CASE("with reload.watch off a file that changes waits for POST /reload")
{
    const scratch_directory here;
    const auto file = here.file("c.yml");
    write_whole(file, agents(inline_agent("a", "A")));
    write_whole(here.file("other.yml"), watched(inline_agent("a", "A")));
    reloading_gateway gateway{file};
    reloading_gateway other{here.file("other.yml")};
    write_whole(file, agents(inline_agent("a", "A2")));
    write_whole(here.file("other.yml"), watched(inline_agent("a", "A2")));
    CHECK(other.serves("a", "A2"));
    CHECK(gateway.card_name("a") == "A");
    CHECK(gateway.reloaded()["agents"]["changed"].size() == 1);

    write_whole(file, watched(inline_agent("a", "A2")));
    CHECK(gateway.reloaded()["settings"] == json{"reload.watch"});
    write_whole(file, watched(inline_agent("a", "A3")));
    CHECK(gateway.serves("a", "A3"));
}

TEST_CASE("limits of rates apply at once, on every worker, and end at once")
{
    const scratch_directory here;
    const auto file = here.file("c.yml");
    const auto with = [&](const std::string& limits) {
        write_whole(file, "reload: {watch: false}\nworkers: 2\n" + limits + "agents:\n" + inline_agent("a", "A"));
    };
    with("");
    reloading_gateway gateway{file};
    const auto refused = [&] {
        int count = 0;
        for (int i = 0; i < 20; ++i) {
            count += gateway.card("a").status == 429 ? 1 : 0;
        }
        return count;
    };
    CHECK(refused() == 0);
    with("rate_limits: {agent: {rate: 1}}\n");
    CHECK(gateway.reloaded()["settings"] == json{"rate_limits.agent.rate"});
    CHECK(refused() >= 10);  // of both workers together: a new connection goes to either
    with("");
    CHECK(gateway.reloaded()["settings"] == json{"rate_limits.agent.rate"});
    CHECK(refused() == 0);
}

TEST_CASE("Limits of chains apply at once, and chains that are there keep what they have")
{
    scripted_agent agent{[](const auto&) { return test_support::answer_json("{}"); }};
    const scratch_directory here;
    const auto file = here.file("c.yml");
    const auto with = [&](const std::string& limits) {
        const auto url = agent.url("/");
        write_whole(file, limits + agents("  a: {url: \"" + url + "\", card: {name: A}}\n"));
    };
    with("");
    const reloading_gateway gateway{file};
    const auto refused = [&] {
        int count = 0;
        for (int i = 0; i < 5; ++i) {
            const auto got = request(
                gateway.port,
                "POST",
                "/agents/a",
                {{"Content-Type", "application/json"}},
                R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"contextId":"one"}}})"
            );
            count += got.status == 508 ? 1 : 0;
        }
        return count;
    };
    CHECK(refused() == 0);
    with("chains: {calls: 2}\n");
    CHECK(gateway.reloaded()["settings"] == json{"chains.calls"});
    CHECK(refused() == 3);
    with("chains: {calls: 4, in_flight: 0, window: 1h}\n");
    CHECK(gateway.reloaded()["settings"].size() == 3);
    CHECK(refused() == 3);
    with("");
    CHECK(gateway.reloaded()["needs_restart"] == json::array());
    CHECK(refused() == 0);
}

TEST_CASE("a stream goes on when its agent is removed")
{
    scripted_agent agent{[](const auto&) { return test_support::event_stream(); }};
    const scratch_directory here;
    const auto file = here.file("c.yml");
    write_whole(file, agents("  a: {url: \"" + agent.url("/") + "\", card: {name: A}}\n"));
    const reloading_gateway gateway{file};
    http_client caller{gateway.port};
    caller.send(test_support::request_text(
        "POST",
        "/agents/a",
        {{"Content-Type", "application/json"}},
        R"({"jsonrpc":"2.0","id":1,"method":"message/stream","params":{}})"
    ));
    CHECK(caller.read_head().status == 200);
    REQUIRE(agent.wait_for_streams(1));
    agent.send_event("before");
    caller.read_until("data: before\n\n");
    write_whole(file, agents(inline_agent("b", "B")));
    CHECK(gateway.reloaded()["agents"]["removed"] == json{"a"});
    CHECK(flow::post_json(gateway.port, "/agents/a", some_call).status == 404);
    agent.send_event("after");
    caller.read_until("data: after\n\n");
    agent.end_streams();
    caller.read_until("0\r\n\r\n");
}

TEST_CASE("POST /reload is for POST only, not for pages of other sites and not for other names of Host")
{
    const scratch_directory here;
    write_whole(here.file("c.yml"), agents(inline_agent("a", "A")));
    const reloading_gateway gateway{here.file("c.yml")};
    const auto got = request(gateway.admin_port, "GET", "/reload");
    CHECK(got.status == 405);
    CHECK(got.header("Allow") == "POST");
    CHECK(request(gateway.admin_port, "POST", "/reload", {{"Origin", "http://evil.test"}}).status == 403);
    CHECK(request(gateway.admin_port, "POST", "/reload", {{"Content-Type", "text/plain"}}, "x").status == 415);
    CHECK(request(gateway.admin_port, "POST", "/reload", {{"Host", "evil.test"}}).status == 421);
    CHECK(request(gateway.port, "POST", "/reload").status == 404);
    CHECK(gateway.metric(R"(cardea_config_reloads_total{outcome="ok"})") == "0");
}

TEST_SUITE_END();
