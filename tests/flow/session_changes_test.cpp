// Agents that change while a session with their MCP server runs: there is never more than one.
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/scratch.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

TEST_SUITE_BEGIN("flow/session_changes");

namespace {

using core::json;
using flow::check_refusal;
using flow::get_card;
using flow::manage;
using flow::parsed;
using flow::running_gateway;

// Takes a lock, and gives it back at its end once there is a file `go`; its one tool is $TOOL. Whoever starts is in the file `starts`, and who finds the lock
// taken in the file `clashes`.
constexpr const char* locking_server = R"(
trap '' TERM
echo $TOOL >> starts
mkdir lock || { echo $TOOL >> clashes; exit 1; }
while read -r line; do
  id=${line#*'"id":'}
  id=${id%%[!0-9]*}
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"shell","version":"1.5"}}}';;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"'$TOOL'","inputSchema":{}}]}}';;
  esac
done
while [ ! -e go ]; do sleep 0.02; done
rmdir lock
)";

config::settings settings_for_programs()
{
    auto settings = flow::quick_settings();
    settings.admin_programs = true;
    return settings;
}

struct rig {
    void write(const char* tool, const char* start = "eager") const
    {
        const json agent{
            {"protocol", "mcp"},
            {"command", "sh"},
            {"args", {"-c", locking_server}},
            {"env", {{"TOOL", tool}}},
            {"cwd", folder.path().string()},
            {"era", "legacy"},
            {"start", start}
        };
        manage(gateway, "agents/upsert", {{"id", "m"}, {"agent", agent}});
    }

    void let_end() const { test_support::write_whole(folder.file("go"), ""); }

    void remove() const { manage(gateway, "agents/delete", {{"id", "m"}}); }

    bool serves(const char* tool) const
    {
        return flow::becomes_true([&] {
            const auto got = get_card(gateway, "m");
            return got.status == 200 && parsed(got.body)["skills"][0]["name"] == tool;
        });
    }

    std::string starts() const { return test_support::read_whole(folder.file("starts")); }
    bool clashed() const { return std::filesystem::exists(folder.file("clashes")); }

    test_support::scratch_directory folder;
    running_gateway gateway{settings_for_programs()};
};

}  // namespace

TEST_CASE("the server of an agent that has changed is started when the previous one has ended, and only the latest")
{
    const rig x;
    x.write("one");
    REQUIRE(x.serves("one"));
    x.write("two");
    check_refusal(get_card(x.gateway, "m"), 503, "session_not_ready", "m");
    x.write("three");
    check_refusal(get_card(x.gateway, "m"), 503, "session_not_ready", "m");
    CHECK(flow::error_of(x.gateway, "agents/refreshCard", R"({"id":"m"})")["data"]["code"] == "session_not_ready");
    CHECK(manage(x.gateway, "agents/get", {{"id", "m"}})["session"]["state"] == "starting");
    CHECK(manage(x.gateway, "agents/health", {{"id", "m"}})["reason"] == "session_not_ready");
    CHECK(x.gateway.metric(R"(cardea_mcp_session_state{agent="m",state="starting"})") == 1);
    x.let_end();
    REQUIRE(x.serves("three"));
    CHECK_FALSE(x.clashed());
    CHECK(x.starts() == "one\nthree\n");
}

TEST_CASE("an agent that is removed and added again gets a server when the previous one has ended")
{
    const rig x;
    x.write("one");
    REQUIRE(x.serves("one"));
    x.remove();
    CHECK(get_card(x.gateway, "m").status == 404);
    x.write("one");
    check_refusal(get_card(x.gateway, "m"), 503, "session_not_ready", "m");
    x.let_end();
    REQUIRE(x.serves("one"));
    std::filesystem::remove(x.folder.file("go"));
    x.write("two");
    x.remove();
    x.write("three");
    x.let_end();
    REQUIRE(x.serves("three"));
    CHECK_FALSE(x.clashed());
    CHECK(x.starts() == "one\none\nthree\n");
}

TEST_CASE("an agent that is removed while its server waits to be started gets none")
{
    const rig x;
    x.write("one");
    REQUIRE(x.serves("one"));
    x.write("two");
    x.remove();
    CHECK(get_card(x.gateway, "m").status == 404);
    x.let_end();
    REQUIRE(flow::becomes_true([&] { return !std::filesystem::exists(x.folder.file("lock")); }));
    x.write("three");
    REQUIRE(x.serves("three"));
    CHECK(x.starts() == "one\nthree\n");
}

TEST_CASE("an agent that has become lazy is started by the first request for it, once the previous server has ended")
{
    const rig x;
    x.write("one");
    REQUIRE(x.serves("one"));
    x.write("two", "lazy");
    check_refusal(get_card(x.gateway, "m"), 503, "session_not_ready", "m");
    x.let_end();
    CHECK(x.serves("two"));
    CHECK_FALSE(x.clashed());
}

TEST_SUITE_END();
