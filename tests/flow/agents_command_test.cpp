// `cardea agents` as a process, against a gateway in this one.
#include "tests/flow/child_process.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/scripted_agent.hpp"
#include "tests/support/test_ca.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("flow/agents_command");

namespace {

using core::json;
using flow::a2a_agent;
using flow::parsed;
using flow::quick_settings;
using flow::running_gateway;
using test_support::answer_json;
using test_support::scripted_agent;

using arguments = std::vector<std::string>;

struct outcome {
    int code = -1;
    std::string out;
    std::string err;
};

outcome cardea(arguments given)
{
    given.insert(given.begin(), "agents");
    flow::child_process child{CARDEA_BIN, given};
    const auto code = child.wait();
    REQUIRE(code.has_value());
    return {*code, child.out(), child.err()};
}

class asked_gateway {
public:
    explicit asked_gateway(config::settings settings)
        : gateway{std::move(settings)}
    {
    }

    outcome ask(arguments given) const
    {
        given.insert(given.begin(), {"--admin", "127.0.0.1:" + std::to_string(gateway.admin_port())});
        return cardea(std::move(given));
    }

    // What is printed by a command that is done.
    std::string said(arguments given) const
    {
        const auto done = ask(std::move(given));
        CHECK(done.code == 0);
        CHECK(done.err.empty());
        return done.out;
    }

    running_gateway gateway;
};

config::settings with_agents(const std::vector<std::string>& ids, const std::string& url)
{
    auto settings = quick_settings();
    for (const auto& id : ids) {
        settings.agents.push_back(a2a_agent(id, url));
    }
    return settings;
}

std::vector<std::string> ids(const std::string& text)
{
    std::vector<std::string> out;
    const auto listed = parsed(text);
    for (const auto& each : listed["agents"]) {
        out.push_back(each["id"].get<std::string>());
    }
    return out;
}

}  // namespace

TEST_CASE("agents are listed as a table or as JSON, filtered, and as many as are asked for")
{
    auto settings = with_agents({"a", "b", "c"}, "http://127.0.0.1:1/");
    settings.agents[1].metadata = R"({"tags":["geo"]})";
    settings.agents[2].disabled = true;
    const asked_gateway x{std::move(settings)};
    CHECK(
        x.said({"list", "--output", "table"}) ==
        "ID  PROTOCOL  SOURCE         CARD      SKILLS  URL\n"
        "a   a2a       configuration  unknown           http://127.0.0.1:1/\n"
        "b   a2a       configuration  unknown           http://127.0.0.1:1/\n"
        "c   a2a       configuration  disabled          http://127.0.0.1:1/\n"
    );
    CHECK(ids(x.said({"list"})) == arguments{"a", "b", "c"});
    CHECK(ids(x.said({"list", "--tag", "geo"})) == arguments{"b"});
    CHECK(ids(x.said({"list", "--text", "C"})) == arguments{"c"});
    CHECK(ids(x.said({"list", "--protocol", "mcp"})).empty());
    CHECK(ids(x.said({"list", "--after", "a", "--limit", "1"})) == arguments{"b"});
    const auto cut = x.ask({"list", "--limit", "1", "-o", "table"});
    CHECK(cut.err == "cardea: there may be more agents; continue with --after a\n");
    CHECK(cut.code == 0);
}

TEST_CASE("a list goes through all pages")
{
    std::vector<std::string> all;
    for (int i = 1000; i < 2100; ++i) {
        all.push_back("agent-" + std::to_string(i));
    }
    const asked_gateway x{with_agents(all, "http://127.0.0.1:1/")};
    const auto text = x.said({"list", "-o", "table"});
    CHECK(std::count(text.begin(), text.end(), '\n') == 1101);
    const auto some = x.ask({"list", "-o", "table", "--limit", "750"}).out;
    CHECK(some.find("\nagent-1749 ") != std::string::npos);
    CHECK(some.find("\nagent-1750 ") == std::string::npos);
}

TEST_CASE("Health is shown as a table with why and a summary or as JSON, and an unhealthy agent that is asked for fails"
)
{
    auto settings = with_agents({"a", "b"}, "http://127.0.0.1:" + std::to_string(test_support::unused_port()));
    settings.agents[1].disabled = true;
    const asked_gateway x{std::move(settings)};
    CHECK(x.ask({"refresh", "a"}).code == 1);
    const auto table = x.said({"health", "--output", "table"});
    CHECK(table.starts_with(
        "ID  PROTOCOL  STATUS                        CARD                       SESSION  UPTIME  RESTARTS  WHY\n"
        "a   a2a       unhealthy (upstream_refused)  failed (upstream_refused)                             "
        "The agent could not be reached"
    ));
    CHECK(table.ends_with(
        "\nb   a2a       unknown (disabled)                                                                  "
        "The agent is disabled.\n0 healthy, 0 degraded, 1 unhealthy, 1 unknown\n"
    ));
    CHECK(ids(x.said({"health"})) == arguments{"a", "b"});
    CHECK(ids(x.said({"health", "--status", "unknown"})) == arguments{"b"});
    CHECK(parsed(x.said({"health"}))["summary"]["unhealthy"] == 1);
    const auto ill = x.ask({"health", "a"});
    CHECK(ill.code == 1);
    CHECK(parsed(ill.out)["reason"] == "upstream_refused");
    CHECK(ill.err == "cardea: a: unhealthy (upstream_refused)\n");
    CHECK(parsed(x.said({"health", "b"}))["status"] == "unknown");
    CHECK(x.ask({"health", "ghost"}).code == 1);
    CHECK(x.ask({"health", "--status", "ill"}).err.find("status: is no status") != std::string::npos);
}

TEST_CASE("Agents and principals are contained, listed and released")
{
    auto settings = with_agents({"a"}, "http://127.0.0.1:1/");
    settings.access.providers = {{"keys", core::api_key_provider{}}};
    settings.agents[0].acts_as = {{"keys", "ci"}};
    const asked_gateway x{settings};
    const auto principals = [&](arguments given) {
        given.insert(given.begin(), {"principals", "--admin", "127.0.0.1:" + std::to_string(x.gateway.admin_port())});
        flow::child_process child{CARDEA_BIN, given};
        CHECK(child.wait() == 0);
        return child.out();
    };
    const std::string nothing{"0 calls, 0 streams and 0 sessions\n"};
    CHECK(
        x.said({"contain", "a", "--reason", "leak", "--dry-run", "-o", "table"}) ==
        "a: would be contained until it is released; would cut " + nothing
    );
    const auto done = x.ask({"contain", "a", "--reason", "leak", "--until", "2199-01-31T12:00:00Z", "-o", "table"});
    CHECK(done.code == 0);
    CHECK(done.out == "a: contained until 2199-01-31T12:00:00.000Z; cut " + nothing);
    CHECK(done.err == "cardea: a: holds, but is not on disk: a restart lifts it\n");  // the store is in memory
    CHECK(x.said({"health", "-o", "table"}).ends_with("\n0 healthy, 0 degraded, 0 unhealthy, 0 unknown, 1 contained\n")
    );
    CHECK(x.said({"wait", "a", "--for", "contained"}).find("agent_contained") != std::string::npos);
    CHECK(principals({"list", "-o", "table"}).find("\nkeys      ci         a ") != std::string::npos);
    {
        const auto admin = "127.0.0.1:" + std::to_string(x.gateway.admin_port());
        flow::child_process child{CARDEA_BIN, {"principals", "--admin", admin, "release", "keys", "ci", "-o", "table"}};
        CHECK(child.wait() == 1);
        CHECK(child.out().empty());
        CHECK(child.err().starts_with("cardea: keys ci: "));
        CHECK(child.err().ends_with("still contained, with the agent a\n"));
    }
    CHECK(x.ask({"contain", "no", "--reason", "leak"}).err == "cardea: no: No such agent. (agent_not_found)\n");
    CHECK(x.ask({"contain", "a", "--reason", "leak", "--until", "soon"}).code == 1);
    CHECK(parsed(x.ask({"release", "a"}).out)["contained"].is_null());
    CHECK(principals({"list", "-o", "table"}) == "No principal is contained.\n");
    CHECK(principals({"contain", "keys", "ci", "--reason", "leak", "-o", "table"})
              .starts_with("keys ci: contained until it is released; "));
    CHECK(principals({"release", "keys", "ci", "-o", "table"}) == "keys ci: released\n");
}

TEST_CASE("who contains is told what goes on: agents at the same address, and a name that nobody has")
{
    auto settings = with_agents({"a", "b", "c", "d"}, "http://127.0.0.1:1/");
    settings.agents[1].url = "http://127.0.0.1:1/other";
    settings.agents[2].url = "http://127.0.0.1:2/";
    settings.agents[3].url = "http://127.0.0.1:3/";
    settings.agents[3].rules = core::endpoint_rules{};
    settings.agents[3].rules->upstreams = {"http://127.0.0.1:3/", "http://127.0.0.1:1/"};
    const auto known = [](const std::string& id, const std::string& provider) {
        core::principal who;
        who.id = id;
        who.provider = provider;
        return who;
    };
    core::api_key_provider keys;
    keys.keys.push_back({std::string(64, '0'), {}, false, known("ci", "keys")});
    settings.access.providers = {
        {"keys", keys},
        {"token", core::static_token_provider{core::secret{"token-0123456789"}, known("t", "token")}}
    };
    const asked_gateway x{settings};
    const auto contain = [&](const std::string& provider, const std::string& principal, const std::string& form) {
        flow::child_process child{
            CARDEA_BIN,
            {"principals",
             "--admin",
             "127.0.0.1:" + std::to_string(x.gateway.admin_port()),
             "contain",
             provider,
             principal,
             "--reason",
             "r",
             "--dry-run",
             "-o",
             form}
        };
        CHECK(child.wait() == 0);
        return std::pair{child.out(), child.err()};
    };
    const auto done = x.ask({"contain", "a", "--reason", "r", "--dry-run", "-o", "table"});
    CHECK(done.code == 0);
    CHECK(done.err == "cardea: a: not contained with it, though at the same address: b, d\n");
    CHECK(parsed(x.ask({"contain", "a", "--reason", "r", "--dry-run"}).out)["also_at"] == json{"b", "d"});
    CHECK_FALSE(parsed(x.ask({"contain", "c", "--reason", "r", "--dry-run"}).out).contains("also_at"));

    CHECK(contain("keys", "ci", "json").second.empty());
    CHECK(contain("token", "t", "json").second.empty());
    for (const std::string provider : {"keys", "token"}) {
        const auto [out, err] = contain(provider, "typo", "json");
        CHECK(parsed(out)["warning"] == "The provider has no principal of this id now. It is contained if it comes.");
        CHECK(
            err == "cardea: " + provider +
                       " typo: The provider has no principal of this id now. It is contained if it comes.\n"
        );
    }
}

TEST_CASE("an agent is added, changed, shown, refreshed and removed")
{
    scripted_agent agent{[](const auto&) { return answer_json(flow::card_text("Weather", "http://10.0.0.1/")); }};
    const test_support::scratch_directory scratch;
    std::ofstream{scratch.file("bearer")} << "s3cret\n";
    const asked_gateway x{quick_settings()};
    CHECK(
        x.said({"add", "w", agent.url("/"), "--tag", "geo", "--bearer-file", scratch.file("bearer"), "-o", "table"}) ==
        "w: added, version 1, until the gateway stops\n"
    );
    const auto shown = x.said({"get", "w", "-o", "table"});
    CHECK(shown.find("metadata.tags[0]") != std::string::npos);
    CHECK(shown.find("bearer                ********\n") != std::string::npos);
    CHECK(shown.find("s3cret") == std::string::npos);
    const auto early = x.ask({"card", "w"});
    CHECK(early.code == 1);
    CHECK(early.err == "cardea: w: has no card yet; its state is unknown\n");
    const auto seen = x.said({"refresh", "w", "--dry-run", "-o", "table"});
    CHECK(seen.starts_with("w: would change\n  add  {"));
    CHECK(x.said({"refresh", "w", "-o", "table"}).starts_with("w: changed\n"));
    CHECK(agent.request(0).header("Authorization") == "Bearer s3cret");
    CHECK(parsed(x.said({"card", "w"}))["name"] == "Weather");
    CHECK(x.said({"card", "w", "-o", "table"}).find(" Weather\n") != std::string::npos);
    CHECK(parsed(x.said({"refresh", "w"}))["changed"] == false);
    const auto late = x.ask({"add", "w", agent.url("/"), "--if-version", "7"});
    CHECK(late.code == 1);
    CHECK(late.err == "cardea: w: The agent has another version. (version_conflict)\ncardea: w: its version is 1\n");
    CHECK(parsed(x.said({"add", "w", agent.url("/"), "--if-version", "1"}))["version"] == 2);
    CHECK(x.said({"remove", "w", "-o", "table"}) == "w: removed\n");
    CHECK(ids(x.said({"list"})).empty());
}

TEST_CASE("agents of a file are added one by one, and those that are refused are said")
{
    const test_support::scratch_directory scratch;
    const asked_gateway x{quick_settings()};
    std::ofstream{scratch.file("a.yml")
    } << "agents:\n  one: {url: http://127.0.0.1:5/, metadata: {tags: [t]}}\n  two: {url: 'ftp://h'}\n"
         "  three:\n    url: http://127.0.0.1:6/\n    relay_paths: [/v1/*]\n";
    const auto done = x.ask({"add", "-f", scratch.file("a.yml"), "-o", "table"});
    CHECK(done.code == 1);
    CHECK(
        done.out == "one: added, version 1, until the gateway stops\nthree: added, version 2, until the gateway stops\n"
    );
    CHECK(done.err.starts_with(
        "cardea: two: The parameters do not fit the method. (invalid_params)\ncardea: two: agent.url: "
    ));
    CHECK(ids(x.said({"list", "--tag", "t"})) == arguments{"one"});
    for (const auto* bad : {"a: 1\n", "agents: []\n", "agents: {}\nlisten: x\n", "agents: {a: {}\n"}) {
        std::ofstream{scratch.file("b.yml")} << bad;
        const auto refused = x.ask({"add", "-f", scratch.file("b.yml")});
        CHECK(refused.code == 2);
        CHECK(refused.out.empty());
        CHECK(refused.err.starts_with("cardea: " + scratch.file("b.yml") + ":"));
    }
    CHECK(x.ask({"add", "-f", "/no/such/file"}).code == 2);
    CHECK(x.ask({"add", "a", "http://h/", "--bearer-file", "/no/such/file"}).code == 2);
}

TEST_CASE("An agent that has failed gets calls again when its breaker is reset")
{
    auto settings = with_agents({"a"}, "http://127.0.0.1:1/");
    settings.defaults.breaker = {};
    const asked_gateway x{std::move(settings)};
    CHECK(x.said({"reset", "a", "-o", "table"}) == "a: its breaker was closed already\n");
    const auto status = [&x] {
        constexpr auto body = R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{}})";
        return flow::post_json(x.gateway.port(), "/agents/a", body).status;
    };
    for (int i = 0; i < 5; ++i) {
        CHECK(status() == 502);
    }
    CHECK(status() == 503);
    CHECK(x.said({"reset", "a", "-o", "table"}) == "a: gets calls again\n");
    CHECK(status() == 502);
    CHECK(parsed(x.said({"reset", "a"})) == json{{"id", "a"}, {"reset", false}});
    CHECK(x.ask({"reset", "b"}).err == "cardea: b: No such agent. (agent_not_found)\n");
}

TEST_CASE("the exit code says whether the gateway refused, was not reached, or was not even asked")
{
    const asked_gateway x{with_agents({"a"}, "http://127.0.0.1:1/")};
    const auto refused = x.ask({"remove", "a"});
    CHECK(refused.code == 1);
    CHECK(refused.err == "cardea: a: The configuration declares this agent; it is changed there. (agent_read_only)\n");
    CHECK(x.ask({"get", "nobody"}).err == "cardea: nobody: No such agent. (agent_not_found)\n");
    const auto failed = x.ask({"refresh", "a"});
    CHECK(failed.code == 1);
    CHECK(failed.err == "cardea: a: The agent could not be reached. (upstream_refused)\n");
    const auto wrong = x.ask({"get"});
    CHECK(wrong.code == 2);
    CHECK(wrong.err.find("see cardea agents get --help") != std::string::npos);
    const auto nobody = cardea({"list", "--admin", "127.0.0.1:1"});
    CHECK(nobody.code == 3);
    CHECK(nobody.err.starts_with("cardea: cannot reach the gateway at 127.0.0.1:1: "));
    scripted_agent other{[](const auto&) { return test_support::answer(404, "<html>"); }};
    const auto stranger = cardea({"list", "--admin", other.url()});
    CHECK(stranger.code == 3);
    CHECK(
        stranger.err == "cardea: " + other.url() +
                            " is not a Cardea admin listener (it answered with status 404); pass --admin HOST:PORT\n"
    );
    const auto traffic = cardea({"remove", "a", "--admin", x.gateway.base()});
    CHECK(traffic.code == 1);
    CHECK(
        traffic.err ==
        "cardea: a: This method is for the admin listener and needs the scopes cardea:read and cardea:write there. "
        "(admin_only)\n"
    );
    const auto help = cardea({"add", "--help"});
    CHECK(help.code == 0);
    CHECK(help.out.find("\nUsage: cardea agents add ") != std::string::npos);
}

TEST_CASE("a gateway whose admin listener speaks TLS is reached with its authority")
{
    test_support::test_ca ca;
    const auto shown = ca.issue({"127.0.0.1"});
    auto settings = quick_settings();
    settings.admin_tls = {{shown.cert_file, shown.key_file, {}}};
    const running_gateway gateway{std::move(settings)};
    const auto address = "https://127.0.0.1:" + std::to_string(gateway.admin_port());
    CHECK(cardea({"list", "--admin", address, "--ca-file", ca.ca_file()}).code == 0);
    CHECK(cardea({"list", "--admin", address}).code == 3);
}

TEST_CASE("an admin listener that needs scopes is asked with the token of a file")
{
    const test_support::scratch_directory scratch;
    test_support::write_whole(scratch.file("token"), "reader-token-0123456789\n");
    auto settings = quick_settings();
    core::principal reader;
    reader.id = "reader";
    reader.provider = "ops";
    reader.scopes = {core::scope_read};
    settings.access.providers = {
        {"ops", core::static_token_provider{core::secret{"reader-token-0123456789"}, std::move(reader)}}
    };
    settings.admin_access = core::admin_access::scopes;
    const running_gateway gateway{std::move(settings)};
    const auto address = "127.0.0.1:" + std::to_string(gateway.admin_port());
    CHECK(cardea({"list", "--admin", address, "--token-file", scratch.file("token")}).code == 0);
    const auto refused = cardea({"list", "--admin", address});
    CHECK(refused.code == 1);
    CHECK(refused.err.find("(unauthenticated)") != std::string::npos);
    const auto unread = cardea({"list", "--admin", address, "--token-file", scratch.file("none")});
    CHECK(unread.code == 2);
    CHECK(unread.err.find("--token-file: ") != std::string::npos);
}

TEST_CASE("what an agent says of itself cannot command the terminal")
{
    scripted_agent agent{[](const auto&) {
        return answer_json(
            R"({"name":"\u001b]0;owned\u0007\u009b2J\u202e","description":"\u007f","skills":[{"id":"\u001b[2J"}]})"
        );
    }};
    const asked_gateway x{with_agents({"a"}, agent.url("/"))};
    std::string all;
    for (const arguments& command :
         {arguments{"refresh", "a", "--dry-run", "-o", "table"},
          {"refresh", "a", "-o", "table"},
          {"refresh", "a"},
          {"get", "a"},
          {"card", "a"},
          {"card", "a", "-o", "table"},
          {"list", "-o", "table"}}) {
        all += x.said(command);
    }
    for (const auto* raw : {"\x1b", "\x07", "\x7f", "\xc2\x9b", "\xe2\x80\xae"}) {
        CHECK(all.find(raw) == std::string::npos);
    }
    CHECK(all.find(R"(\u001b]0;owned\u0007\u009b2J\u202e)") != std::string::npos);
    const auto echoed = x.ask({"get", "\x1b[2J"});
    CHECK(echoed.code == 1);
    CHECK(echoed.err == "cardea: \\u001b[2J: No such agent. (agent_not_found)\n");
}

TEST_SUITE_END();
