#include "tests/flow/mcp_program_fixture.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

TEST_SUITE_BEGIN("flow/mcp_program_ids");

using namespace flow;
using namespace flow::mcp_programs;

namespace {

// Answers with the id that the tool's name says: `text`, `fraction`, and an error for `null`, `empty` and `absent`; `neither` has an id
// and nothing else, `cut` cannot be read. `hang` gets no answer.
constexpr const char* sloppy_server = R"(
while read -r line; do
  printf '%s\n' "$line" >> got
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\),.*/\1/p')
  error='"error":{"code":-32600,"message":"not today"}}'
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":"'$id'","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"shell","version":"1"}}}';;
    *'"notifications/'*) ;;
    *hang*) ;;
    *text*) echo '{"jsonrpc":"2.0","id":"'$id'","result":{"content":[]}}';;
    *fraction*) echo '{"jsonrpc":"2.0","id":'$id'.0,"result":{"content":[]}}';;
    *null*) echo '{"jsonrpc":"2.0","id":null,'"$error";;
    *empty*) echo '{"jsonrpc":"2.0","id":"",'"$error";;
    *absent*) echo '{"jsonrpc":"2.0",'"$error";;
    *neither*) echo '{"jsonrpc":"2.0","id":'$id'}';;
    *cut*) echo '{"jsonrpc":"2.0","result":{"content":[}';;
    *) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[]}}';;
  esac
done
)";

void make_sloppy(config::settings& settings)
{
    settings.agents[0].mcp->arguments = {"-c", sloppy_server};
}

}  // namespace

TEST_CASE("A caller gets the answer whose id is its own as a text or with a fraction of 0, also to initialize")
{
    const program_gateway x{make_sloppy};
    const auto session = x.begin();
    CHECK(x.post(call_of("text", "3"), session).body == done_of("3"));
    CHECK(x.post(call_of("fraction", "4"), session).body == done_of("4"));
}

TEST_CASE("An error without an id answers the only call")
{
    const program_gateway x{make_sloppy};
    const auto session = x.begin();
    int id = 5;
    for (const auto* const tool : {"null", "empty", "absent"}) {
        CAPTURE(tool);
        const auto body = json::parse(x.post(call_of(tool, std::to_string(++id)), session).body);
        CHECK(body["id"] == id);
        CHECK(body["error"]["message"] == "not today");
    }
}

TEST_CASE("An answer with neither result nor error, and one that cannot be read, end the only call at once")
{
    const program_gateway x{make_sloppy};
    const auto session = x.begin();
    for (const auto* const tool : {"neither", "cut"}) {
        CAPTURE(tool);
        const auto got = x.post(call_of(tool, std::string{tool} == "cut" ? "9" : "8"), session);
        CHECK(json::parse(got.body)["error"]["data"]["code"] == "upstream_protocol");
    }
}

TEST_CASE("An error without an id ends no call of several, and the log says so")
{
    const program_gateway x{[](config::settings& settings) {
        make_sloppy(settings);
        settings.agents[0].mcp->call_timeout = std::chrono::seconds{2};
    }};
    const auto session = x.begin();
    http_client waits{x.port()};
    waits.send(program_gateway::text("POST", session, call_of("hang", "10")));
    REQUIRE(x.got("\"hang\"").find("\"hang\"") != std::string::npos);
    const auto got = x.post(call_of("null", "11"), session);
    CHECK(got.body.find("upstream_timeout") != std::string::npos);
}

TEST_SUITE_END();
