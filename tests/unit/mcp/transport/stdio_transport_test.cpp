#include "mcp/transport/stdio_transport.hpp"

#include "tests/support/scratch.hpp"
#include "tests/unit/mcp/session/runner_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>

TEST_SUITE_BEGIN("mcp/transport/stdio_transport");

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

constexpr const char* legacy_answer = R"(echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"no"}}')";

core::mcp_server shell_program(const std::string& on_discover)
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

TEST_CASE("A program that answers the probe is kept, and its stderr is logged at debug level until then")
{
    const test_support::scratch_directory folder;
    const auto starts = folder.file("starts");
    auto program = shell_program("echo before >&2; sleep 0.1; " + std::string{legacy_answer} + "; echo after >&2");
    program.arguments[1] = "echo start >> " + starts + "\n" + program.arguments[1];
    rig x;
    x.start(mcp::stdio_factory(x.loop, program, mcp::inherited_environment(), "sh", x.log));
    REQUIRE(x.wait_for(session_state::ready));
    REQUIRE(x.wait_until([&] { return x.sink.text.find(R"("text":"said")") != std::string::npos; }));
    CHECK(test_support::read_whole(starts) == "start\n");
    CHECK(x.runner->counts().connections == 1);
    CHECK(
        x.sink.text.find(R"("level":"debug","event":"mcp_stderr","agent":"sh","text":"before")") != std::string::npos
    );
    CHECK(x.sink.text.find(R"("level":"info","event":"mcp_stderr","agent":"sh","text":"said")") != std::string::npos);
    x.runner->stop();
    CHECK(x.wait_for(session_state::stopped));
}

TEST_CASE(
    "A program that never answers the probe serves through another one of it, and may put things in order when it ends"
)
{
    const test_support::scratch_directory folder;
    const auto ends = folder.file("ends");
    auto program = shell_program("true");
    program.arguments[1] += "\nsleep 0.2; echo end >> " + ends + "\n";
    rig x;
    x.settings.states.probe_patience = core::duration{50};
    SUBCASE("while the other one serves")
    {
        x.settings.states.start_timeout = core::duration{1000};
        x.start(mcp::stdio_factory(x.loop, program, mcp::inherited_environment(), "sh", x.log));
        REQUIRE(x.wait_for(session_state::ready));
        CHECK(x.wait_until([&] { return test_support::read_whole(ends) == "end\n"; }));
        CHECK(x.runner->state() == session_state::ready);
        CHECK(x.runner->counts().connections == 1);
    }
    SUBCASE("also if the session is stopped meanwhile")
    {
        x.start(mcp::stdio_factory(x.loop, program, mcp::inherited_environment(), "sh", x.log));
        REQUIRE(x.wait_for(session_state::ready));
        x.runner->stop();
        CHECK(x.wait_until([&] { return x.states.back().first == session_state::stopped; }));
        CHECK(test_support::read_whole(ends) == "end\nend\n");
    }
}

TEST_CASE("What a program says once another one of it serves is logged at debug level, and not kept as the server's")
{
    auto program = shell_program(
        "sleep 0.5; echo '{\"jsonrpc\":\"2.0\",\"id\":'$id',\"result\":{\"supportedVersions\":[\"2026-07-28\"],"
        "\"capabilities\":{\"tools\":{}}}}'"
    );
    program.arguments[1] += "\necho bye >&2\n";
    rig x;
    x.settings.states.probe_patience = core::duration{50};
    x.settings.states.start_timeout = core::duration{5'000};
    const auto kept = std::make_shared<mcp::stderr_lines>();
    x.start(mcp::stdio_factory(
        x.loop,
        program,
        mcp::inherited_environment(),
        mcp::stderr_log{"sh", core::redaction{}, x.log, kept}
    ));
    // The probe's late answer ends the one that serves by then.
    REQUIRE(x.wait_until([&] { return x.sink.text.find(R"("text":"bye")") != std::string::npos; }));
    CHECK(x.runner->counts().connections == 2);
    CHECK(x.sink.text.find(R"("level":"debug","event":"mcp_stderr","agent":"sh","text":"bye")") != std::string::npos);
    CHECK(x.sink.text.find(R"("level":"info","event":"mcp_stderr","agent":"sh","text":"bye")") == std::string::npos);
    CHECK(std::ranges::find(kept->lines(), "bye") == kept->lines().end());
    CHECK(std::ranges::find(kept->lines(), "said") != kept->lines().end());
    REQUIRE(x.wait_for(session_state::ready));
    x.runner->stop();
    CHECK(x.wait_for(session_state::stopped));
}

TEST_CASE("What a program wrote last is told when it has ended, and when it does not answer")
{
    rig x;
    core::mcp_server server;
    server.command = "sh";
    server.environment = {{"API_KEY", core::secret{"hunter2-hunter2"}}};
    x.settings.states.era = mcp::era_policy::legacy;
    x.settings.states.backoff_first = std::chrono::hours{1};
    x.settings.states.backoff_longest = std::chrono::hours{1};
    std::string expected;
    SUBCASE("with its exit")
    {
        server.arguments = {"-c", "read -r line; echo first >&2; printf 'no key: %s' \"$API_KEY\" >&2; exit 3"};
        expected = "exit code 3; it wrote: no key: ********";
    }
    SUBCASE("with its error before what a runtime says behind that")
    {
        server.arguments = {
            "-c",
            "read -r line; printf 'Error: no such file\\n    at main\\n\\nNode.js v20\\n' >&2; exit 1"
        };
        expected = "exit code 1; it wrote: Error: no such file … Node.js v20";
    }
    SUBCASE("with its silence")
    {
        x.settings.states.start_timeout = core::duration{500};
        server.arguments = {"-c", "echo waiting for the database >&2; exec sleep 60"};
        expected = "no answer to the handshake; it wrote: waiting for the database";
    }
    x.start(mcp::stdio_factory(x.loop, server, mcp::inherited_environment(), "sh", x.log));
    REQUIRE(x.wait_for(session_state::backoff));
    CHECK(x.runner->detail() == expected);
    CHECK_FALSE(x.runner->needs_operator());
    x.runner->stop();
    CHECK(x.wait_for(session_state::stopped));
}

TEST_CASE("a line over max_message ends the walk that it answers, with the reason")
{
    auto program = shell_program("exit 0");
    program.max_message = 1000;
    auto& script = program.arguments[1];
    const std::string short_list = R"("inputSchema":{}}]}}'; echo said >&2)";
    script.replace(script.find(short_list), short_list.size(), R"("inputSchema":{},"x":"'$(printf %02000d 0)'"}]}}')");
    rig x;
    x.start(mcp::stdio_factory(x.loop, program, mcp::inherited_environment(), "sh", x.log));
    REQUIRE(x.wait_for(session_state::degraded));
    CHECK(x.runner->reason() == mcp::session_reason::refresh_failed);
    CHECK(x.runner->detail() == "message_too_large: answer refused: a message is over max_message, 1000 bytes");
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
    CHECK(x.runner->needs_operator());
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

TEST_CASE("what a program says on stderr reaches the log without the values that it was given, also across the cut")
{
    rig x;
    core::mcp_server server;
    server.command = "sh";
    server.arguments = {
        "-c",
        R"(echo "key=$API_KEY d=$DEBUG arg=$1" >&2; head -c 490 /dev/zero | tr '\0' x >&2; echo "$API_KEY" >&2; exit 1)",
        "sh",
        "--token=argument-value"
    };
    server.environment = {{"API_KEY", core::secret{"hunter2-hunter2"}}, {"DEBUG", core::secret{"1"}}};
    x.start(mcp::stdio_factory(x.loop, server, mcp::inherited_environment(), "sh", x.log));
    REQUIRE(x.wait_until([&] { return x.sink.text.find("xxx") != std::string::npos; }));
    CHECK(x.sink.text.find(R"("text":"key=******** d=1 arg=********")") != std::string::npos);
    CHECK(x.sink.text.find(std::string(490, 'x') + "********\"") != std::string::npos);
    CHECK(x.sink.text.find("hunter") == std::string::npos);
}

TEST_CASE("what a program has not read is told in bytes")
{
    class listener final : public mcp::transport_observer {
    public:
        void connected() override { is_connected = true; }
        void received(std::string_view) override {}
        void refused(std::string_view, std::size_t) override {}
        void failed(std::uint64_t, core::error, std::optional<mcp::era>) override {}
        void session_lost() override {}
        void stream_changed(mcp::stream_news) override {}
        void lost(core::error) override {}
        void closed() override {}

        bool is_connected = false;
    };

    rig x;
    core::mcp_server server;
    server.command = "sh";
    server.arguments = {"-c", "exec sleep 60"};
    listener told;
    const auto wire = mcp::stdio_factory(x.loop, server, mcp::inherited_environment(), "sh", x.log)(told);
    CHECK(wire->queued() == 0);
    wire->open();
    REQUIRE(x.wait_until([&] { return told.is_connected; }));
    CHECK(wire->queued() == 0);
    constexpr std::size_t size = 1024 * 1024;  // more than a pipe holds
    REQUIRE(wire->send({std::string(size, ' '), 1, "ping"}).has_value());
    CHECK(wire->queued() > 0);
    CHECK(wire->queued() <= size + 1);
}

TEST_SUITE_END();
