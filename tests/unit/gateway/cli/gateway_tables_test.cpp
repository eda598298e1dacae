#include "gateway/cli/gateway_tables.hpp"

#include "config/dump.hpp"
#include "gateway/cli/agent_tables.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <utility>

TEST_SUITE_BEGIN("gateway/cli/tables");

namespace {

using core::json;
using namespace gateway::cli;

json read(std::string_view text)
{
    auto out = core::parse_json(text);
    REQUIRE(out.has_value());
    return std::move(*out);
}

}  // namespace

TEST_CASE("The gateway is told in five lines, and below them what needs attention")
{
    auto info = read(
        R"({"version":"1.2","process":7,"started":"2026-11-28T11:00:00Z","public_url":"https://h","listeners":)"
        R"([{"name":"traffic","address":"0.0.0.0:4000","tls":true},{"name":"admin","address":"127.0.0.1:4001","tls":false}],)"
        R"("in_flight":1,"connections":2,"memory":{"resident":25952256},"descriptors":{"open":3,"limit":4},)"
        R"("overload":{"level":0},"store":{"kind":"sqlite","ok":false,"failure":"store_failed"},)"
        R"("certificates":[{"listener":"traffic","file":"a.pem","days":1}],"reload":{"at":"2026-11-28T11:01:00Z",)"
        R"("trigger":"file","outcome":"refused"},"counts":{"bundles":1,"healthy":1,"degraded":0,"unhealthy":2,)"
        R"("unknown":0,"agents":3},"attention":[{"severity":"critical","subject":"w","why":"It\u001b[2J is away.",)"
        R"("advice":"Start it.","agent":"w"},{"severity":"warning","subject":"log","why":"Lost.","advice":"Look."}]})"
    );
    constexpr std::string_view lines =
        "Cardea     1.2, process 7, started 2026-11-28T11:00:00Z\n"
        "Listeners  traffic 0.0.0.0:4000 (TLS), admin 127.0.0.1:4001; public URL https://h\n"
        "Agents     3: 1 healthy, 0 degraded, 2 unhealthy, 0 unknown; 1 bundle\n"
        "Load       1 call in flight, 2 connections, 24.8 MiB, 3 of 4 descriptors, overload 0 of 3\n"
        "Files      reload refused (file, 2026-11-28T11:01:00Z); store sqlite fails (store_failed); certificates a.pem "
        "1 day\n"
        "\n";
    CHECK(
        info_text(info) == std::string{lines} +
                               "Needs attention:\n"
                               "  critical  w: It\\u001b[2J is away. Start it.\n"
                               "  warning   log: Lost. Look.\n"
    );
    info["attention"] = json::array();
    CHECK(info_text(info) == std::string{lines} + "Nothing needs you.\n");
    CHECK_FALSE(info_text(json::object()).empty());
}

TEST_CASE("Who calls whom is a table, in which an agent stands before its principal")
{
    CHECK(edges_table(read(R"({"edges":[],"total":0})")) == "No calls since the start.\n");
    CHECK(
        edges_table(read(
            R"({"edges":[{"provider":"certs","principal":"spiffe://x/w","caller":"words","agent":"maps","calls":12,)"
            R"("failed":1,"refused":2,"last":"2026-11-28T11:00:00Z"},{"provider":"","principal":"","agent":"maps",)"
            R"("calls":3,"failed":0,"refused":0,"last":"2026-11-28T11:01:00Z"}],"total":9})"
        )) ==
        "CALLER                PROVIDER  AGENT  CALLS  FAILED  REFUSED  LAST\n"
        "words (spiffe://x/w)  certs     maps   12     1       2        2026-11-28T11:00:00Z\n"
        "(no credential)                 maps   3      0       0        2026-11-28T11:01:00Z\n"
        "These are 2 of 9.\n"
    );
}

TEST_CASE("Replicas are a table, in which the one that was asked is marked")
{
    CHECK(replicas_table(read(R"({"replicas":[]})")) == "The store of this gateway is not shared.\n");
    CHECK(
        replicas_table(read(
            R"({"replicas":[{"name":"cardea-0","id":"00000000000000a1","url":"http://10.0.0.7:4000","version":"1.2",)"
            R"("configuration":"0123456789abcdef0123","applied":12,"silent_seconds":0,"self":false},)"
            R"({"name":"cardea-1","id":"00000000000000b2","url":"","version":"1.3","configuration":"ff",)"
            R"("applied":9,"silent_seconds":14,"self":true}]})"
        )) ==
        "NAME        ID                VERSION  CONFIGURATION  APPLIED  SILENT  URL\n"
        "cardea-0    00000000000000a1  1.2      0123456789ab   12       0 s     http://10.0.0.7:4000\n"
        "cardea-1 *  00000000000000b2  1.3      ff             9        14 s\n"
    );
}

TEST_CASE("Agents are a table of their calls and of why they are not healthy")
{
    CHECK(
        calls_table(read(R"({"agents":[{"id":"w","status":"unhealthy","why":"It is away.","calls_per_minute":12.25,)"
                         R"("failed_ratio":0.125,"p99_ms":35.04},{"id":"x","status":"healthy","calls_per_minute":0,)"
                         R"("failed_ratio":null,"p99_ms":null}]})")) ==
        "ID  STATUS     CALLS/MIN  FAILED  P99    WHY\n"
        "w   unhealthy  12.3       12.5 %  35 ms  It is away.\n"
        "x   healthy    0\n"
    );
    CHECK(calls_table(read(R"({"agents":[]})")) == "No agents.\n");
}

TEST_CASE("A reload is told with each agent and setting that it changed")
{
    CHECK(
        reload_text(read(
            R"({"agents":{"added":["n"],"changed":[{"id":"c","keys":["url","tags"]}],"removed":["r"],"unchanged":4},)"
            R"("settings":["limits.body"],"warnings":["f:1: warning: x"],"needs_restart":["listen"]})"
        )) ==
        "Reloaded; agents: 1 added, 1 changed, 1 removed, 4 unchanged.\n"
        "  added agent n\n"
        "  changed agent c: url, tags\n"
        "  removed agent r\n"
        "  changed setting limits.body\n"
        "  needs a restart: listen\n"
        "  warning: f:1: warning: x\n"
    );
}

TEST_CASE("The values of a running gateway become the dump that they come from, also below keys with dots")
{
    const auto dumped = dump_of(
        read(R"({"values":[{"path":"listen","value":":1","origin":"f:1"},{"path":"agents.\"a.b\".url","value":"u",)"
             R"("origin":"f:2"},{"path":"agents.\"a.b\".tags","value":[1],"origin":"default"},)"
             R"({"path":"agents.c.url","value":null,"origin":"default"}]})")
    );
    CHECK(dumped["listen"] == json{{"value", ":1"}, {"origin", "f:1"}});
    CHECK(
        config::dump_text(dumped) ==
        "listen: \":1\"  # f:1\n"
        "agents:\n"
        "  a.b:\n"
        "    url: \"u\"  # f:2\n"
        "    tags: [1]  # default\n"
        "  c:\n"
        "    url: null  # default\n"
    );
    for (const auto* odd :
         {R"({"values":[{"path":"\"a","value":1,"origin":""}]})",
          R"({"values":[{"path":"\"a\\","value":1,"origin":""},{"path":"","value":1}]})",
          R"({"values":[{"path":"a","value":1,"origin":""},{"path":"a.value.b","value":1,"origin":""}]})"}) {
        CHECK(dump_of(read(odd)).is_object());
    }
}

TEST_CASE("The differences of a card have their reasons, and a history its patches")
{
    CHECK(
        changes_text(
            read(R"([{"op":"replace","path":"/url","why":"rewritten","from":"a","to":"b"},{"op":"add","path":"/x",)"
                 R"("why":"added","to":{"n":1}},{"op":"remove","path":"/\u202e","why":"dropped","from":1}])")
        ) ==
        "replace /url (rewritten)\n"
        "  - \"a\"\n"
        "  + \"b\"\n"
        "add /x (added)\n"
        "  + {\"n\":1}\n"
        "remove /\\u202e (dropped)\n"
        "  - 1\n"
    );
    CHECK(changes_text(json::array()) == "Callers get the card as the agent wrote it.\n");
    CHECK(
        history_text(
            read(R"({"id":"a","cards":[{"at":"T2","sha256":"0123456789abcdef","size":9,"patch":[{"op":"replace",)"
                 R"("path":"/version","value":"2"},{"op":"remove","path":"/x"}]},{"at":"T1","sha256":"ff","size":8,)"
                 R"("patch":null},{"at":"T0","sha256":"fe","size":7,"patch":null}]})")
        ) ==
        "T2  0123456789ab  9 bytes\n"
        "  replace /version \"2\"\n"
        "  remove /x\n"
        "T1  ff  8 bytes, too many differences to show\n"
        "T0  fe  7 bytes, the first one that is known\n"
    );
    CHECK(history_text(read(R"({"id":"a","cards":[]})")) == "No card has been published yet.\n");
}

TEST_CASE("The health of agents is a table with why, and one agent is a line with its sentences")
{
    const auto found = read(
        R"({"agents":[{"id":"a","protocol":"a2a","status":"unhealthy","reason":"upstream_refused","why":"It is away.",)"
        R"("advice":"Start it."}],"summary":{"healthy":0,"unhealthy":1}})"
    );
    CHECK(
        health_table(found) ==
        "ID  PROTOCOL  STATUS                        CARD  SESSION  UPTIME  RESTARTS  WHY\n"
        "a   a2a       unhealthy (upstream_refused)                                   It is away.\n"
        "0 healthy, 1 unhealthy\n"
    );
    CHECK(status_line(found["agents"][0]) == "a: unhealthy (upstream_refused): It is away. Start it.");
    CHECK(status_line(read(R"({"id":"b","status":"healthy"})")) == "b: healthy");
}

TEST_SUITE_END();
