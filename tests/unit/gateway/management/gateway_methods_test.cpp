#include "gateway/management/gateway_methods.hpp"

#include "gateway/management/advice.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/management/gateway methods");

namespace {

using namespace std::chrono_literals;
using gateway::management::attention;
using gateway::management::attention_of;
using gateway::management::health;
using gateway::management::process_facts;
using gateway::management::words_of;
using ::mcp::session_reason;

const core::wall_time now{std::chrono::sys_days{std::chrono::year{2026} / 11 / 28}};

std::vector<attention> found(const process_facts& facts, std::uint64_t descriptors = 10, std::uint64_t most = 1000)
{
    return attention_of(facts, descriptors, most, now);
}

gateway::sessions::session_facts lost(session_reason reason, std::string detail = {})
{
    gateway::sessions::session_facts session;
    session.state = ::mcp::session_state::backoff;
    session.failure = {reason, std::move(detail), {}};
    return session;
}

}  // namespace

TEST_CASE("a gateway that is well needs nobody")
{
    CHECK(found({}).empty());
}

TEST_CASE("a certificate is told of from 14 days before its end, and is critical from its end on")
{
    process_facts facts;
    const auto severity = [&](std::chrono::seconds left) {
        facts.certificates = {{"traffic", "/etc/a.pem", now + left}};
        const auto all = found(facts);
        return all.empty() ? std::string{"none"} : all[0].critical ? std::string{"critical"} : all[0].why;
    };
    CHECK(severity(14 * 24h) == "none");
    CHECK(severity(14 * 24h - 1s) == "The certificate of the listener traffic expires in 13 days.");
    CHECK(severity(36h) == "The certificate of the listener traffic expires in 1 day.");
    CHECK(severity(1s) == "The certificate of the listener traffic expires in 0 days.");
    CHECK(severity(0s) == "critical");
}

TEST_CASE("descriptors are told of beyond 80 percent")
{
    CHECK(found({}, 800, 1000).empty());
    REQUIRE(found({}, 801, 1000).size() == 1);
    CHECK(found({}, 801, 1000)[0].why == "801 of 1000 descriptors are in use.");
}

TEST_CASE("a refused reload says its first problem, and settings that need a restart are named")
{
    process_facts facts;
    facts.reload = {now, "request", {"c.yml:3:1: agents.a.url: is no URL", "more"}, {}};
    REQUIRE(found(facts).size() == 1);
    CHECK(found(facts)[0].critical);
    CHECK(found(facts)[0].why == "The latest configuration was refused: c.yml:3:1: agents.a.url: is no URL.");
    facts.reload = {now, "request", {}, {"listen", "workers"}};
    REQUIRE(found(facts).size() == 1);
    CHECK(!found(facts)[0].critical);
    CHECK(found(facts)[0].why == "These settings need a restart: listen, workers.");
    facts.reload.needs_restart.assign(100, "a.long.path");
    CHECK(found(facts)[0].why.size() <= 200);
}

TEST_CASE("a failing store, an audit that loses lines, overload and lost lines are told of")
{
    process_facts facts;
    facts.store_trouble = core::errc::store_full;
    facts.audit_fails = true;
    facts.overload = 1;
    facts.lost_lines = 7;
    const auto all = found(facts);
    REQUIRE(all.size() == 4);
    CHECK((all[0].critical && all[1].critical && !all[2].critical && !all[3].critical));
    facts.overload = 2;
    CHECK(found(facts)[2].critical);
}

TEST_CASE("a program that ended is told of with its detail, its last words and the variable that it misses")
{
    const auto session = lost(session_reason::exited, "exit code 3");
    const auto words =
        words_of({health::unhealthy, "session_crashed"}, nullptr, &session, {"starting", "TOKEN is missing.", "  "});
    CHECK(words.why == "The program ended with exit code 3; it wrote: TOKEN is missing.");
    CHECK(words.what_to_do == "Set TOKEN in env of the agent, then restart the session.");
    const auto silent = words_of({health::unhealthy, "session_crashed"}, nullptr, &session, {});
    CHECK(silent.why == "The program ended with exit code 3.");
    CHECK(silent.what_to_do == "Correct what its stderr complains of, then restart the session.");
    const auto told = lost(session_reason::exited, "exit code 3; it wrote: TOKEN is missing.");
    CHECK(words_of({health::unhealthy, "session_crashed"}, nullptr, &told, {"TOKEN is missing."}).why == words.why);
    const auto other = words_of({health::unhealthy, "session_crashed"}, nullptr, &session, {"ERROR: file not found"});
    CHECK(other.what_to_do == silent.what_to_do);
}

TEST_CASE("words of an agent have at most 200 bytes, and are whole characters")
{
    const auto session = lost(session_reason::exited, "exit code 3");
    std::string line;
    for (int i = 0; i < 300; ++i) {
        line += "ü";
    }
    const auto words = words_of({health::unhealthy, "session_crashed"}, nullptr, &session, {line});
    CHECK(words.why.size() <= 200);
    CHECK(words.why.ends_with("ü…."));
}

TEST_CASE("words of an agent have no secret that a program wrote, and nothing that a terminal obeys")
{
    const auto said = [](const std::string& line) {
        const auto session = lost(session_reason::exited, "exit code 3");
        return words_of({health::unhealthy, "session_crashed"}, nullptr, &session, {line}).why;
    };
    const std::string begin = "The program ended with exit code 3; it wrote: ";
    CHECK(
        said("sent Authorization: Bearer abc.def-1, got 401") == begin + "sent Authorization: Bearer ********, got 401."
    );
    CHECK(said("no route postgres://me:pw@db/x today") == begin + "no route postgres://********@db/x today.");
    CHECK(said("PASSWORD=hunter2 token=t;x=1 is wrong") == begin + "PASSWORD=******** token=********;x=1 is wrong.");
    CHECK(said(R"(client_secret="a b" api_key=k&y)") == begin + R"(client_secret="********" api_key=********&y.)");
    CHECK(said("Bearer token is missing") == begin + "Bearer token is missing.");
    CHECK(said("at http://host:80/a@b, token is wrong") == begin + "at http://host:80/a@b, token is wrong.");
    CHECK(said("\x1b[31mred\x07") == begin + R"(\u001b[31mred\u0007.)");
    gateway::cards::card_status card;
    card.failure = core::upstream_error(core::errc::upstream_refused, "fetch: \x1b]0;x");
    CHECK(words_of({health::unhealthy, "upstream_refused"}, &card, nullptr, {}).why.find('\x1b') == std::string::npos);
}

TEST_CASE("an agent without a reason has no words, and one with a code has those of the code")
{
    CHECK(words_of({health::healthy, {}}, nullptr, nullptr, {}).why.empty());
    gateway::cards::card_status card;
    card.failure = core::upstream_error(core::errc::upstream_refused, "fetch: connect 127.0.0.1:9");
    const auto words = words_of({health::unhealthy, "upstream_refused"}, &card, nullptr, {});
    CHECK(words.why == "The agent could not be reached (connect 127.0.0.1:9).");
    CHECK(
        words_of({health::degraded, "calls_failing"}, &card, nullptr, {}).why.find("five minutes") != std::string::npos
    );
}

TEST_CASE("settings are a list with the path, value and origin of each, and say how many agents are left out")
{
    const core::json dumped{
        {"listen", {{"value", ":4000"}, {"origin", "default"}}},
        {"agents", {{"a.b", {{"url", {{"value", "http://a/"}, {"origin", "c.yml:3"}}}}}}}
    };
    const auto shown = core::parse_json(gateway::management::settings_text(dumped, 0)).value();
    CHECK(
        shown ==
        core::json{
            {"values",
             core::json::array(
                 {{{"path", "listen"}, {"value", ":4000"}, {"origin", "default"}},
                  {{"path", R"(agents."a.b".url)"}, {"value", "http://a/"}, {"origin", "c.yml:3"}}}
             )}
        }
    );
    CHECK(gateway::management::settings_text(core::json::object(), 7) == R"({"values":[],"agents_omitted":7})");
}

TEST_SUITE_END();
