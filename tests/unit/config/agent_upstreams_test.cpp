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

TEST_CASE("Addresses stand once, are URLs without a query, and not beside url")
{
    CHECK(says("upstreams: [\"http://h\", \"http://h\"]", "is given twice"));
    CHECK(says("upstreams: [\"http://h\", \"ftp://h\"]", "agents.a.upstreams[1]"));
    CHECK(says("upstreams: [\"http://h?x=1\"]", "agents.a.upstreams[0]"));
    CHECK(says("url: \"http://h\", " + urls(2), "stands beside agents.a.url; expected one of the two"));
    CHECK(says("balance: fastest, " + urls(2), "agents.a.balance"));
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
        const bool of_mcp = config::only_of_mcp(row);
        const bool written = std::holds_alternative<config::transport_key>(row.type);
        if (!of_mcp && !written) {
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
