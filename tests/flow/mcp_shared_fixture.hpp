// What the tests of shared sessions have in common: a gateway whose control session with a shell script serves all callers.
#pragma once

#include "tests/flow/mcp_program_fixture.hpp"

#include <string>
#include <string_view>

namespace flow::mcp_shared {

using namespace flow::mcp_programs;

// As mcp_programs::shell_server, in builtins only. A call is answered with the text of its argument `mark`. It does what stands
// in the line: `report` tells of progress first, with the mark; `chat` logs the mark and asks for roots before the answer;
// `relists` and `updates` say that the tools, or the resource `file:///x/1`, have changed. A file `no_subscriptions` refuses these. With `MODERN` in its environment it speaks the modern era.
inline constexpr const char* shell_server = R"(
echo $$ >> pids
while IFS= read -r line; do
  printf '%s\n' "$line" >> got
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  token=${line#*\"progressToken\":}; token=${token%%[,\}]*}
  mark=${line#*\"mark\":\"}; mark=${mark%%\"*}
  done='{"jsonrpc":"2.0","id":'$id',"result":{"content":[{"type":"text","text":"'$mark'"}]}}'
  case "$line" in
    *'"server/discover"'*)
      [ -n "$MODERN" ] && { echo '{"jsonrpc":"2.0","id":'$id',"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete","ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"shell","version":"1.50"}}}}'; continue; }
      echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"unknown"}}';;
    *'"initialize"'*)
      echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true},"logging":{},"tasks":{"list":{}}},"serverInfo":{"name":"shell","version":"1.50"},"instructions":"Use it \"well\"."}}';;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"one","inputSchema":{}},{"name":"secret","inputSchema":{}}]}}';;
    *'"resources/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"resources":[]}}';;
    *'"resources/templates/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"resourceTemplates":[]}}';;
    *'"resources/subscribe"'*)
      [ -e no_subscriptions ] && { echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32002,"message":"no"}}'; continue; }
      echo '{"jsonrpc":"2.0","id":'$id',"result":{}}';;
    *'"resources/unsubscribe"'*|*'"ping"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{}}';;
    *'"notifications/'*) ;;
    *'"result":'*|*'"error":'*) ;;
    *hang*) ;;
    *crash*) kill -9 $$;;
    *report*) echo '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":'$token',"progress":1,"message":"'$mark'"}}'; echo "$done";;
    *chat*)
      echo '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"'$mark'"}}'
      echo '{"jsonrpc":"2.0","id":77,"method":"roots/list"}'
      echo "$done";;
    *relists*) echo "$done"; echo '{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{}}}';;
    *updates*) echo "$done"; echo '{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///x/1"}}';;
    *) echo "$done";;
  esac
done
)";

inline void make_shared(config::settings& settings)
{
    auto& server = *settings.agents[0].mcp;
    server.sessions = core::mcp_sessions::shared;
    server.arguments = {"-c", shell_server};
    server.start = core::mcp_start::eager;
    server.ping_interval = core::duration{0};
    server.backoff = core::duration{5};
}

class shared_gateway : public program_gateway {
public:
    explicit shared_gateway(const adjustment& adjust = {})
        : program_gateway{[adjust](config::settings& settings) {
              make_shared(settings);
              if (adjust) {
                  adjust(settings);
              }
          }}
    {
        REQUIRE(becomes_ready());
    }

    // The control session is.
    bool becomes_ready() const
    {
        return becomes_true([this] { return begins(); });
    }

    // The session is not kept.
    bool begins() const
    {
        const auto got = post(initialize_body);
        return got.status == 200 && send("DELETE", {{"Mcp-Session-Id", got.header("Mcp-Session-Id")}}).status == 200;
    }

    field_list begin(const field_list& fields = {}) const
    {
        auto session = program_gateway::begin(fields);
        session.back().second = "2025-06-18";
        return session;
    }

    // How many lines with this text were sent to the programs.
    std::size_t sent(std::string_view text) const
    {
        std::size_t count = 0;
        std::ifstream in{folder().file("got")};
        for (std::string line; std::getline(in, line);) {
            count += line.find(text) != line.npos ? 1 : 0;
        }
        return count;
    }
};

inline std::string marked_call(std::string_view tool, std::string_view mark, std::string_view id = "1")
{
    return R"({"jsonrpc":"2.0","id":)" + std::string{id} + R"(,"method":"tools/call","params":{"name":")" +
           std::string{tool} + R"(","arguments":{"mark":")" + std::string{mark} +
           R"("},"_meta":{"progressToken":"t"}}})";
}

inline std::string marked_answer(std::string_view mark, std::string_view id = "1")
{
    return R"({"jsonrpc":"2.0","id":)" + std::string{id} + R"(,"result":{"content":[{"type":"text","text":")" +
           std::string{mark} + R"("}]}})";
}

inline std::string request_of(std::string_view method, std::string_view params = "{}", std::string_view id = "1")
{
    return R"({"jsonrpc":"2.0","id":)" + std::string{id} + R"(,"method":")" + std::string{method} + R"(","params":)" +
           std::string{params} + "}";
}

}  // namespace flow::mcp_shared
