#include "config/agents.hpp"
#include "config/compare.hpp"
#include "config/dump.hpp"
#include "core/agent.hpp"
#include "tests/unit/config/agent_rows.hpp"
#include "tests/unit/config/support.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <variant>

using namespace std::chrono_literals;
using namespace config::testing;

TEST_SUITE_BEGIN("config/agent_upstreams");

namespace {

std::string agent(const std::string& keys)
{
    return "agents: {a: {" + keys + "}}";
}

// `count` different URLs.
std::string urls(int count)
{
    std::string list;
    for (int i = 0; i < count; ++i) {
        list += (i == 0 ? "" : ", ") + std::string{"\"http://h"} + std::to_string(i) + "\"";
    }
    return "upstreams: [" + list + "]";
}

bool says(const std::string& keys, const std::string& what)
{
    const auto problems = problems_of(agent(keys));
    INFO(problems);
    return problems.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("An agent has 1 to 32 addresses, and one alone is its url")
{
    const auto one = right(agent(urls(1))).agents.at(0);
    CHECK(one.url == "http://h0");
    CHECK_FALSE(one.rules.has_value());
    const auto most = right(agent(urls(32))).agents.at(0);
    CHECK(most.url == "http://h0");
    CHECK(core::rules_of(most).upstreams.size() == 32);
    CHECK(core::rules_of(most).upstreams.back() == "http://h31");
    CHECK(says(urls(33), "agents.a.upstreams: has 33 URLs; expected a list of 1 to 32 URLs, each once"));
    CHECK(says(urls(0), "agents.a.upstreams: has no URL; expected a list of 1 to 32 URLs, each once"));
}

TEST_CASE("Addresses stand once, are URLs, and not beside url")
{
    CHECK(says("upstreams: [\"http://h\", \"http://h\"]", "is given twice"));
    CHECK(says("upstreams: [\"http://h\", \"ftp://h\"]", "agents.a.upstreams[1]"));
    CHECK(says("upstreams: [\"http://h?x=1\", \"http://h?x=2\"]", "agents.a.upstreams[1]: is given twice"));
    CHECK(says("url: \"http://h\", " + urls(2), "stands beside agents.a.url; expected one of the two"));
    CHECK(says("balance: fastest, " + urls(2), "agents.a.balance"));
}

TEST_CASE("The query of an address is kept apart from it, and no shown value has it")
{
    const auto one = right(agent("url: \"https://H/api/a2a?code=s3cr3t%3D&v=1\"")).agents.at(0);
    CHECK(one.url == "https://h/api/a2a");
    CHECK(core::query_of(one).reveal() == "code=s3cr3t%3D&v=1");
    CHECK(core::has_credentials(one));
    CHECK(config::given_values(one)["url"] == "https://h/api/a2a?********");
    const auto dumped = config::dump_text(config::dump(right(agent("url: \"https://h?code=s3cr3t\"")), {}));
    CHECK(dumped.find("\"https://h?********\"") != std::string::npos);
    CHECK(dumped.find("s3cr3t") == std::string::npos);

    auto several = right(agent("upstreams: [\"http://a\", \"http://b/x?k=s3cr3t\"]")).agents.at(0);
    CHECK(core::rules_of(several).upstreams == std::vector<std::string>{"http://a", "http://b/x"});
    CHECK(core::query_of(several).empty());
    several.url = "http://b/x";
    CHECK(core::query_of(several).reveal() == "k=s3cr3t");
    CHECK(core::to_text(config::given_values(several)["upstreams"]) == R"(["http://a","http://b/x?********"])");

    for (const auto* const none :
         {"url: \"http://h\"", "url: \"http://h?\"", "upstreams: [\"http://h\", \"http://i\"]"}) {
        CAPTURE(none);
        const auto read = right(agent(none)).agents.at(0);
        CHECK(read.queries.empty());
        CHECK(core::query_of(read).empty());
        CHECK_FALSE(core::has_credentials(read));
    }
    const auto flag = config::parse_agent_flag("a=https://h/x?code=s3cr3t").value();
    CHECK(flag.url == "https://h/x");
    CHECK(core::query_of(flag).reveal() == "code=s3cr3t");
}

TEST_CASE("A reload sees that the query of an address has changed")
{
    const auto changed = [](const std::string& before, const std::string& now) {
        return config::compare(right(agent(before)), right(agent(now))).changed;
    };
    const auto one = changed("url: \"http://h?k=1\"", "url: \"http://h?k=2\"");
    REQUIRE(one.size() == 1);
    CHECK(one[0].keys == std::vector<std::string_view>{"url"});
    CHECK(changed("url: \"http://h?k=1\"", "url: \"http://h?k=1\"").empty());
}

TEST_CASE("Over the management API the mask of a query is no query")
{
    const auto said = [](const std::string& definition) {
        const auto read = config::read_agent("a", *core::parse_json(definition), "agent", {});
        return read.problems.empty() ? std::string{} : read.problems.front().key + ": " + read.problems.front().what;
    };
    const std::string why = "has the mask of a query; expected the query itself";
    CHECK(said(R"({"url":"http://h/?code=x"})") == "");
    CHECK(said(R"({"url":"http://h/?********"})") == "agent.url: " + why);
    CHECK(said(R"({"httpUrl":"http://h/?********"})") == "agent.httpUrl: " + why);
    CHECK(said(R"({"url":"http://h","card_url":"http://h/?********"})") == "agent.card_url: " + why);
    CHECK(said(R"({"upstreams":["http://h","http://i?********"]})") == "agent.upstreams[1]: " + why);
    CHECK(said(R"({"transport":{"url":"http://h/?********"}})") == "agent.transport.url: " + why);
}

TEST_CASE("What is for several endpoints is refused for an MCP server")
{
    for (const std::string key : {"upstreams: []", "balance: spread", "failback: 1s", "health: {check: tcp}"}) {
        CAPTURE(key);
        const auto name = key.substr(0, key.find(':'));
        CHECK(says("command: c, " + key, "agents.a." + name + ": is for A2A agents; remove it"));
    }
    CHECK(problems_of(agent("command: c, retry: {attempts: 1}")) == "");
}

TEST_CASE("SuperX's keys of its breaker and its limit are those of ours, with times in milliseconds")
{
    const std::string written = "failureThreshold: 7, failureWindowMs: 20000, cooldownMs: 1500, maxInFlight: 9";
    const auto read = right(agent("url: \"http://h\", " + written)).agents.at(0);
    CHECK(read.most_in_flight == 9);
    CHECK(read.breaker_failures == 7);
    CHECK(read.breaker_window == 20s);
    CHECK(read.breaker_cooldown == 1500ms);
    const std::string url = "url: \"http://h\", ";
    CHECK(says(url + "cooldownMs: 1s", "expected a whole number of milliseconds"));
    CHECK(says(url + "cooldownMs: 99", "agents.a.cooldownMs"));
    CHECK(problems_of(agent(url + "cooldownMs: 100")) == "");
    CHECK(says(url + "maxInFlight: 0", "agents.a.maxInFlight"));
    CHECK(says(url + "maxInFlight: 5, limits: {in_flight: 5}", "is the same as agents.a.limits.in_flight"));
    CHECK(says(url + "failureWindowMs: 3600001", "agents.a.failureWindowMs"));
    CHECK(says(url + "cooldownMs: 1000, breaker: {cooldown: 1s}", "is the same as agents.a.breaker.cooldown"));
    CHECK(says(url + "\"breaker.failures\": 5", "is not a known key"));
}

TEST_CASE("every member of the rules of endpoints has a key")
{
    core::agent changed;
    for (const auto& row : config::all_agent_settings()) {
        if (!config::only_of_mcp(row)) {
            change(row, changed);
        }
    }
    const core::endpoint_rules usual;
    const auto& [upstreams, balance, failback, check, path, interval, timeout, fail, pass, attempts, budget] =
        core::rules_of(changed);
    CHECK(upstreams != usual.upstreams);
    CHECK(balance != usual.balance);
    CHECK(failback != usual.failback);
    CHECK(check != usual.check);
    CHECK(path != usual.health_path);
    CHECK(interval != usual.health_interval);
    CHECK(timeout != usual.health_timeout);
    CHECK(fail != usual.health_fail);
    CHECK(pass != usual.health_pass);
    CHECK(attempts != usual.retry_attempts);
    CHECK(budget != usual.retry_budget);
}

TEST_CASE("A path of a check is absolute and visible")
{
    const std::string url = "url: \"http://h\", ";
    CHECK(problems_of(agent(url + "health: {check: http, path: \"/healthz?a=1\"}")) == "");
    CHECK(says(url + "health: {path: healthz}", "expected an absolute path such as /healthz"));
    CHECK(says(url + "health: {path: \"/a b\"}", "expected an absolute path such as /healthz"));
    CHECK(says(url + "health: {path: \"/a#b\"}", "expected an absolute path such as /healthz"));
}

TEST_SUITE_END();
