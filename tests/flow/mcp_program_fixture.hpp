// What the tests of messages to programs share: a gateway in front of MCP servers that are shell scripts, and one client.
#pragma once

#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/script.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace flow::mcp_programs {

using namespace test_support;
using nlohmann::json;

// Each line that comes is kept in the file `got`, its process id in `pids`. It does what stands in the line: `hang` gets no
// answer, `crash` ends it, `talk` says something before the answer, `wait` answers when there is a file `go`, `ask` asks for
// the client's roots and answers when that is answered, `both` asks and answers, `tell` says something unasked, `twice` answers twice and
// `stray` answers what nobody has asked before. With a file `differ` each program lists a tool of its own.
inline constexpr const char* shell_server = R"(
echo $$ >> pids
asked=
while read -r line; do
  printf '%s\n' "$line" >> got
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\),.*/\1/p')
  done='{"jsonrpc":"2.0","id":'$id',"result":{"content":[]}}'
  case "$line" in
    *'"initialize"'*)
      [ -e refuse ] && { echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32600,"message":"not today"}}'; continue; }
      [ -e strange ] && { echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2031-01-01","capabilities":{}}}'; continue; }
      [ -e greet ] && echo '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"hello"}}'
      echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"shell","version":"1.50"}}}';;
    *'"tools/list"'*)
      [ -e differ ] && { echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"of'$$'","inputSchema":{}}]}}'; continue; }
      echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"one","inputSchema":{}},{"name":"secret","inputSchema":{}}]}}';;
    *'"notifications/'*) ;;
    *'"roots":'*) echo '{"jsonrpc":"2.0","id":'$asked',"result":{"content":[{"type":"text","text":"asked"}]}}';;
    *hang*) ;;
    *crash*) kill -9 $$;;
    *talk*) echo '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1}}'; echo "$done";;
    *wait*) while [ ! -e go ]; do sleep 0.01; done; echo "$done";;
    *fail-*) code=$(printf '%s' "$line" | sed -n 's/.*fail\(-[0-9]*\).*/\1/p')
      echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":'$code',"message":"no"}}';;
    *ask*) asked=$id; echo '{"jsonrpc":"2.0","id":77,"method":"roots/list"}';;
    *both*) echo '{"jsonrpc":"2.0","id":78,"method":"roots/list"}'; echo "$done";;
    *twice*) echo "$done"; echo '{"jsonrpc":"2.0","id":'$id',"result":{"again":true}}';;
    *stray*) echo '{"jsonrpc":"2.0","id":999,"result":{"stray":true}}'; echo "$done";;
    *tell*) echo "$done"; echo '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';;
    *) echo "$done";;
  esac
done
)";

inline const std::string initialize_body =
    R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
    R"("capabilities":{"roots":{}},"clientInfo":{"name":"test","version":"1"}}})";

inline std::string call_of(std::string_view tool, std::string_view id = "1")
{
    return R"({"jsonrpc":"2.0","id":)" + std::string{id} + R"(,"method":"tools/call","params":{"name":")" +
           std::string{tool} + R"(","arguments":{"n":1.50},"_meta":{"progressToken":7}}})";
}

inline std::string done_of(std::string_view id)
{
    return R"({"jsonrpc":"2.0","id":)" + std::string{id} + R"(,"result":{"content":[]}})";
}

inline std::string event_of(std::string_view text)
{
    return "event: message\ndata: " + std::string{text} + "\n\n";
}

// Of the events in it, in order.
inline std::vector<std::string> ids_in(std::string_view stream)
{
    constexpr std::string_view begin = "id: ";
    std::vector<std::string> ids;
    for (auto at = stream.find(begin); at != std::string_view::npos; at = stream.find(begin, at)) {
        at += begin.size();
        ids.emplace_back(stream.substr(at, stream.find('\n', at) - at));
    }
    return ids;
}

// A stream but for the ids of its events, which are of chance.
inline std::string without_ids(std::string stream)
{
    for (const auto& each : ids_in(stream)) {
        const auto line = "id: " + each + "\n";
        stream.erase(stream.find(line), line.size());
    }
    return stream;
}

class program_gateway {
public:
    using adjustment = std::function<void(config::settings&)>;  // agents[0] is `a`

    explicit program_gateway(const adjustment& adjust = {})
        : gateway_{settings(adjust)}
    {
    }

    std::uint16_t port() const noexcept { return gateway_.port(); }
    running_gateway& gateway() noexcept { return gateway_; }
    const running_gateway& gateway() const noexcept { return gateway_; }
    const scratch_directory& folder() const noexcept { return folder_; }

    http_response send(
        std::string_view method,
        const field_list& fields,
        std::string_view body = {},
        std::string_view agent = "a"
    ) const
    {
        http_client caller{port()};
        caller.send(text(method, fields, body, agent));
        return caller.read_response();
    }

    static std::string
    text(std::string_view method, const field_list& fields, std::string_view body = {}, std::string_view agent = "a")
    {
        field_list all{{"Accept", "application/json, text/event-stream"}};
        all.insert(all.end(), fields.begin(), fields.end());
        if (!body.empty()) {
            all.emplace_back("Content-Type", "application/json");
        }
        return request_text(method, "/agents/" + std::string{agent} + "/mcp", all, body);
    }

    http_response post(std::string_view body, const field_list& fields = {}) const
    {
        return send("POST", fields, body);
    }

    // The fields of a new session.
    field_list begin(const field_list& fields = {}) const
    {
        const auto got = post(initialize_body, fields);
        REQUIRE(got.status == 200);
        auto session = fields;
        session.emplace_back("Mcp-Session-Id", got.header("Mcp-Session-Id"));
        session.emplace_back("MCP-Protocol-Version", "2025-11-25");
        return session;
    }

    // What the programs were sent, one line each; waited for until it has this text.
    std::string got(std::string_view wanted) const
    {
        std::string all;
        becomes_true([&] {
            all = read_whole(folder_.file("got"));
            return all.find(wanted) != std::string::npos;
        });
        return all;
    }

    std::vector<std::string> programs() const
    {
        std::ifstream in{folder_.file("pids")};
        return {std::istream_iterator<std::string>{in}, {}};
    }

    bool running(const std::string& program) const { return std::filesystem::exists("/proc/" + program); }

    static bool becomes_true(const std::function<bool()>& reached)
    {
        const auto by = std::chrono::steady_clock::now() + patience;
        while (!reached()) {
            if (std::chrono::steady_clock::now() >= by) {
                return false;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds{2});
        }
        return true;
    }

    void touch(const std::string& name) const { write_whole(folder_.file(name), "x"); }

private:
    config::settings settings(const adjustment& adjust) const
    {
        auto all = quick_settings();
        core::agent record;
        record.id = "a";
        record.speaks = core::protocol::mcp;
        auto& server = record.mcp.emplace();
        server.transport = core::mcp_transport::stdio;
        server.command = "sh";
        server.arguments = {"-c", shell_server};
        server.directory = folder_.path().string();
        server.start = core::mcp_start::lazy;
        server.warm = 0;
        all.agents.push_back(std::move(record));
        if (adjust) {
            adjust(all);
        }
        return all;
    }

    scratch_directory folder_;
    running_gateway gateway_;
};

inline void check_error(const http_response& got, unsigned status, int code, std::string_view name)
{
    CHECK(got.status == status);
    const auto body = json::parse(got.body);
    CHECK(body["error"]["code"] == code);
    CHECK(got.header("Cardea-Error") == name);
}

}  // namespace flow::mcp_programs
