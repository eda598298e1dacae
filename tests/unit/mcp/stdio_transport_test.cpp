#include "mcp/stdio_transport.hpp"

#include "tests/unit/mcp/runner_rig.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("mcp/stdio_transport");

namespace {

using mcp::session_state;
using mcp_test::rig;

// A program that answers as the protocol wants, in the shell's own words.
constexpr const char* shell_server = R"(
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}';;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"t'$CARDEA_T'","inputSchema":{}}]}}'; echo said >&2;;
    *'"server/discover"'*) EXIT;;
    *'"id"'*) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"no"}}';;
  esac
done
)";

core::mcp_server shell_program(const char* on_discover)
{
    std::string script = shell_server;
    script.replace(script.find("EXIT"), 4, on_discover);
    core::mcp_server made;
    made.transport = core::mcp_transport::stdio;
    made.command = "sh";
    made.arguments = {"-c", script};
    made.environment = {{"CARDEA_T", core::secret{"1"}}};
    return made;
}

}  // namespace

TEST_CASE("a program is a server, also one that ends when it is asked for its era, or says nothing to that")
{
    for (const auto* on_discover : {"exit 0", "true", "echo garbage", "kill -9 $$"}) {
        CAPTURE(on_discover);
        rig x;
        x.settings.states.start_timeout = core::duration{500};
        x.start(mcp::stdio_factory(x.loop, shell_program(on_discover), mcp::inherited_environment(), "sh", x.log));
        REQUIRE(x.wait_for(session_state::ready));
        REQUIRE(x.published.size() == 1);
        CHECK((*x.published[0])[mcp::list_kind::tools][0].key == "t1");
        CHECK(x.published[0]->server.protocol_version == "2024-11-05");
        CHECK(x.wait_until([&] { return x.sink.text.find(R"("event":"mcp_stderr")") != std::string::npos; }));
        x.runner->stop();
        CHECK(x.wait_for(session_state::stopped));
    }
}

TEST_CASE("a program that cannot be started is tried again, and the log says why")
{
    rig x;
    core::mcp_server server;
    server.transport = core::mcp_transport::stdio;
    server.command = "/no/such/program";
    server.arguments = {"--token", "s3cr3t"};
    x.start(mcp::stdio_factory(x.loop, server, {}, "sh", x.log));
    REQUIRE(x.wait_until([&] { return x.runner->state() == session_state::backoff; }));
    CHECK(x.sink.text.find("/no/such/program: No such file or directory") != std::string::npos);
    CHECK(x.sink.text.find("s3cr3t") == std::string::npos);
}

TEST_CASE("what a program says on stderr reaches the log within bounds")
{
    rig x;
    core::mcp_server server;
    server.command = "sh";
    server.arguments = {
        "-c",
        "i=0; while [ $i -lt 500 ]; do echo line$i >&2; i=$((i+1)); done; head -c 100000 /dev/zero | tr '\\0' x >&2"
    };
    x.start(mcp::stdio_factory(x.loop, server, mcp::inherited_environment(), "sh", x.log));
    REQUIRE(x.wait_until([&] { return x.sink.text.find("mcp_stderr_dropped") != std::string::npos; }));
    CHECK(x.sink.text.find("line0") != std::string::npos);
    CHECK(x.sink.text.size() < 20'000);
}

TEST_SUITE_END();
