// Callers of A2A, of both generations and over both bindings, that call tools of MCP servers: programs, and over HTTP.
#include "tests/flow/contained_fixture.hpp"
#include "tests/flow/mcp_fixture.hpp"
#include "tests/flow/mcp_program_fixture.hpp"

#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

TEST_SUITE_BEGIN("flow/a2a_tools");

using namespace flow;
using flow::mcp_programs::json;
using flow::mcp_programs::program_gateway;
using namespace test_support;

namespace {

// The tool `echo` answers at once, `pic` with an image and data, `no` fails, `grow` says how far it is, `hang` never ends, `ask` asks first.
constexpr const char* tool_server = R"(
echo $$ >> pids
while read -r line; do
  printf '%s\n' "$line" >> got
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\),.*/\1/p')
  token=$(printf '%s' "$line" | sed -n 's/.*"progressToken":\("[^"]*"\|[0-9]*\).*/\1/p')
  say() { echo '{"jsonrpc":"2.0","id":'$1',"result":{"content":['"$2"']'"$3"'}}'; }
  case "$line" in
    *'"initialize"'*)
      echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"shell","version":"1"}}}';;
    *'"tools/list"'*)
      echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"echo","description":"Says it.","inputSchema":{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}},{"name":"pic","inputSchema":{}},{"name":"no","inputSchema":{}},{"name":"grow","inputSchema":{}},{"name":"hang","inputSchema":{}},{"name":"ask","inputSchema":{}}]}}';;
    *'"notifications/'*) ;;
    *'"action":"accept"'*) say "$asked" '{"type":"text","text":"accepted"}';;
    *'"action":"decline"'*) say "$asked" '{"type":"text","text":"declined"}';;
    *'"name":"echo"'*) say "$id" '{"type":"text","text":"said"}';;
    *'"name":"pic"'*) say "$id" '{"type":"image","data":"AA==","mimeType":"image/png"}' ',"structuredContent":{"n":1.50}';;
    *'"name":"no"'*) say "$id" '{"type":"text","text":"cannot"}' ',"isError":true';;
    *'"name":"grow"'*)
      for n in 1 2 3; do echo '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":'$token',"progress":'$n',"total":3}}'; done
      while [ ! -e go ]; do sleep 0.01; done
      say "$id" '{"type":"text","text":"grown"}';;
    *'"name":"hang"'*) ;;
    *'"name":"ask"'*) asked=$id; echo '{"jsonrpc":"2.0","id":77,"method":"elicitation/create","params":{"message":"Sure?","requestedSchema":{"type":"object","properties":{"why":{"type":"string"}}}}}';;
    *) say "$id" '';;
  esac
done
)";

program_gateway tools_gateway(const program_gateway::adjustment& adjust = {})
{
    return program_gateway{[adjust](config::settings& settings) {
        settings.agents[0].mcp->arguments = {"-c", tool_server};
        if (adjust) {
            adjust(settings);
        }
    }};
}

std::string method_of(std::string_view method, std::string_view params)
{
    return R"({"jsonrpc":"2.0","id":"c-1","method":")" + std::string{method} + R"(","params":)" + std::string{params} +
           '}';
}

std::string call_params(std::string_view tool, std::string_view more = {}, std::string_view arguments = "{}")
{
    return R"({"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":{"skill":")" + std::string{tool} +
           R"(","arguments":)" + std::string{arguments} + R"(}}]})" + std::string{more} + '}';
}

std::string request_of(std::string_view body)
{
    return request_text("POST", "/agents/a", {{"Content-Type", "application/json"}, {"A2A-Version", "1.0"}}, body);
}

json ask(std::uint16_t port, std::string_view method, std::string_view params)
{
    http_client caller{port};
    caller.send(request_of(method_of(method, params)));
    const auto got = caller.read_response();
    CHECK(got.status == 200);
    auto read = json::parse(got.body);
    CHECK(read["id"] == "c-1");
    return read;
}

// The task of an answer, or an empty object.
json task_of(const json& answer)
{
    return answer.value("result", json::object()).value("task", json::object());
}

// The `result` of each event.
std::vector<json> events_in(std::string_view body)
{
    constexpr std::string_view begin = "data: ";
    std::vector<json> all;
    for (auto at = body.find(begin); at != std::string_view::npos; at = body.find(begin, at)) {
        at += begin.size();
        all.push_back(json::parse(body.substr(at, body.find('\n', at) - at))["result"]);
    }
    return all;
}

json begin_task(std::uint16_t port, std::string_view tool)
{
    auto task = task_of(ask(port, "SendMessage", call_params(tool, R"(,"configuration":{"returnImmediately":true})")));
    CHECK(task["status"]["state"] == "TASK_STATE_WORKING");
    return task;
}

std::string named(const json& task)
{
    return R"({"id":)" + task["id"].dump() + '}';
}

std::string state_of(std::uint16_t port, const json& task)
{
    return ask(port, "GetTask", named(task))["result"]["status"]["state"].get<std::string>();
}

bool comes_to(std::uint16_t port, const json& task, std::string_view state)
{
    return program_gateway::becomes_true([&] { return state_of(port, task) == state; });
}

std::string answer_params(const json& task, std::string_view part)
{
    return R"({"message":{"messageId":"n","role":"ROLE_USER","taskId":)" + task["id"].dump() + R"(,"parts":[)" +
           std::string{part} + "]}}";
}

}  // namespace

TEST_CASE("A call is a task whose artifact has what the tool sent, and a failure has the tool's reason")
{
    const auto x = tools_gateway();
    const auto said = task_of(ask(x.port(), "SendMessage", call_params("echo", {}, R"({"message":"hi","n":1.50})")));
    CHECK(said["status"]["state"] == "TASK_STATE_COMPLETED");
    CHECK(said["artifacts"][0]["parts"] == json::parse(R"([{"text":"said"}])"));
    CHECK(x.got(R"("n":1.50)").find(R"("arguments":{"message":"hi","n":1.50})") != std::string::npos);

    const auto picture = task_of(ask(x.port(), "SendMessage", call_params("pic")));
    CHECK(
        picture["artifacts"][0]["parts"] ==
        json::parse(R"([{"raw":"AA==","mediaType":"image/png"},{"data":{"n":1.5},"mediaType":"application/json"}])")
    );

    const auto failed = task_of(ask(x.port(), "SendMessage", call_params("no")));
    CHECK(failed["status"]["state"] == "TASK_STATE_FAILED");
    CHECK(failed["status"]["message"]["parts"][0]["text"] == "cannot");
    CHECK_FALSE(failed.contains("artifacts"));
}

TEST_CASE("Callers of both generations and both bindings call a tool")
{
    const auto x = tools_gateway();
    const auto send = [&](std::string_view target, std::string_view version, std::string_view body) {
        http_client caller{x.port()};
        caller.send(request_text(
            "POST",
            target,
            {{"Content-Type", "application/json"}, {"A2A-Version", std::string{version}}},
            body
        ));
        const auto got = caller.read_response();
        CHECK(got.status == 200);
        return json::parse(got.body);
    };
    constexpr std::string_view old_message =
        R"({"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"}],"metadata":{"skillId":"echo"}}})";
    const auto v03 = send("/agents/a", "0.3", method_of("message/send", old_message))["result"];
    CHECK(v03["kind"] == "task");
    CHECK(v03["status"]["state"] == "completed");
    CHECK(v03["artifacts"][0]["parts"][0]["text"] == "said");
    const auto v1_rest = send(
        "/agents/a/rest/message:send",
        "1.0",
        R"({"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}],"metadata":{"skillId":"echo"}}})"
    );
    CHECK(v1_rest["task"]["artifacts"][0]["parts"][0]["text"] == "said");
    const auto v03_rest = send(
        "/agents/a/rest/v1/message:send",
        "0.3",
        R"({"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"hi"}],"metadata":{"skillId":"echo"}}})"
    );
    CHECK(v03_rest["task"]["status"]["state"] == "TASK_STATE_COMPLETED");
    const auto got = x.got("notifications/initialized");
    const std::string_view call = R"("name":"echo","arguments":{"message":"hi"})";
    CHECK(got.find(call) != got.rfind(call));
}

TEST_CASE("A message without a skill is answered with the skills, and an unknown skill or a bad argument is refused")
{
    const auto x = tools_gateway();
    const auto skills =
        ask(x.port(),
            "SendMessage",
            R"({"message":{"messageId":"m","role":"ROLE_USER","contextId":"ctx","parts":[{"text":"hi"}]}})");
    const auto message = skills["result"]["message"];
    CHECK(message["contextId"] == "ctx");
    CHECK(message["parts"][1]["data"]["skills"].size() == 6);
    CHECK(ask(x.port(), "SendMessage", call_params("none"))["error"]["code"] == -32602);
    CHECK(ask(x.port(), "SendMessage", call_params("echo", {}, "[1]"))["error"]["code"] == -32602);
    CHECK(ask(x.port(), "GetTask", R"({"id":"none"})")["error"]["code"] == -32001);
    CHECK(
        ask(x.port(), "CreateTaskPushNotificationConfig", R"({"taskId":"t","url":"https://a/"})")["error"]["code"] ==
        -32003
    );
    CHECK(x.got("tools/list").find("tools/call") == std::string::npos);
}

TEST_CASE("A stream has the task first, then its progress at most ten times a second, then its artifact and its end")
{
    const auto x = tools_gateway();
    http_client caller{x.port()};
    caller.send(request_of(method_of("SendStreamingMessage", call_params("grow"))));
    const auto begun = std::chrono::steady_clock::now();
    static_cast<void>(caller.read_until("3/3"));
    CHECK(std::chrono::steady_clock::now() - begun >= std::chrono::milliseconds{100});
    x.touch("go");
    const auto rest = caller.read_until("TASK_STATE_COMPLETED");
    CHECK(rest.find("artifactUpdate") != std::string::npos);
    CHECK(rest.find("grown") != std::string::npos);

    http_client again{x.port()};
    again.send(request_of(method_of("SendStreamingMessage", call_params("grow"))));
    const auto whole = again.read_response();
    CHECK(whole.header("Content-Type") == "text/event-stream");
    const auto events = events_in(whole.body);
    REQUIRE(events.size() >= 4);
    CHECK(events.size() <= 6);
    CHECK(events[0]["task"]["status"]["state"] == "TASK_STATE_WORKING");
    CHECK(events[1]["statusUpdate"]["status"]["message"]["parts"][0]["text"] == "1/3");
    CHECK(events[events.size() - 2].contains("artifactUpdate"));
    CHECK(events.back()["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED");
}

TEST_CASE(
    "A task outlives its caller, is listed, subscribed to and cancelled, and its program hears of that within 100 ms"
)
{
    const auto x = tools_gateway();
    json task;
    {
        http_client leaves{x.port()};
        leaves.send(request_of(method_of("SendStreamingMessage", call_params("hang"))));
        task = events_in(leaves.read_until("\n\n"))[0]["task"];
    }
    static_cast<void>(x.got(R"("name":"hang")"));
    CHECK(state_of(x.port(), task) == "TASK_STATE_WORKING");
    const auto list = ask(x.port(), "ListTasks", R"({"pageSize":1})")["result"];
    CHECK(list["tasks"].size() == 1);
    CHECK(list["totalSize"] == 1);
    CHECK(list["nextPageToken"] == "");

    http_client follows{x.port()};
    follows.send(request_of(method_of("SubscribeToTask", named(task))));
    static_cast<void>(follows.read_until("TASK_STATE_WORKING"));
    const auto programs = x.programs();
    const auto begun = std::chrono::steady_clock::now();
    const auto canceled = ask(x.port(), "CancelTask", named(task))["result"];
    CHECK(canceled["status"]["state"] == "TASK_STATE_CANCELED");
    CHECK(x.got("notifications/cancelled").find("notifications/cancelled") != std::string::npos);
    CHECK(std::chrono::steady_clock::now() - begun < std::chrono::milliseconds{100});
    CHECK(follows.read_until("TASK_STATE_CANCELED").find("statusUpdate") != std::string::npos);
    CHECK(ask(x.port(), "CancelTask", named(task))["error"]["code"] == -32002);
    CHECK(ask(x.port(), "SubscribeToTask", named(task))["error"]["code"] == -32004);
    CHECK(program_gateway::becomes_true([&] { return !x.running(programs.back()); }));
}

TEST_CASE("A question is the state input-required, and the next message of the task answers it")
{
    const auto x = tools_gateway();
    const auto task = task_of(ask(x.port(), "SendMessage", call_params("ask")));
    REQUIRE(task["status"]["state"] == "TASK_STATE_INPUT_REQUIRED");
    CHECK(task["status"]["message"]["parts"][0]["text"] == "Sure?");
    CHECK(task["status"]["message"]["parts"][1]["data"]["requestedSchema"]["properties"]["why"]["type"] == "string");
    CHECK(
        ask(x.port(), "SendMessage", answer_params(task, R"({"data":{"action":"maybe"}})"))["error"]["code"] == -32602
    );
    const auto accepted = task_of(ask(x.port(), "SendMessage", answer_params(task, R"({"text":"because"})")));
    CHECK(accepted["id"] == task["id"]);
    CHECK(accepted["status"]["state"] == "TASK_STATE_COMPLETED");
    CHECK(accepted["artifacts"][0]["parts"][0]["text"] == "accepted");
    CHECK(x.got("because").find(R"("content":{"why":"because"})") != std::string::npos);
    CHECK(ask(x.port(), "SendMessage", answer_params(task, R"({"text":"more"})"))["error"]["code"] == -32004);

    const auto other = task_of(ask(x.port(), "SendMessage", call_params("ask")));
    http_client streams{x.port()};
    streams.send(request_of(method_of("SendStreamingMessage", answer_params(other, R"({"data":{"action":"decline"}})")))
    );
    const auto events = events_in(streams.read_response().body);
    CHECK(events.front()["task"]["id"] == other["id"]);
    CHECK(events.back()["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED");
}

TEST_CASE("A program that ends during a call fails the task, and a hidden tool is unknown")
{
    const auto x = tools_gateway([](config::settings& settings) { settings.agents[0].mcp->tools.deny = {"pic"}; });
    CHECK(ask(x.port(), "SendMessage", call_params("pic"))["error"]["code"] == -32602);
    const auto task = begin_task(x.port(), "hang");
    static_cast<void>(x.got(R"("name":"hang")"));
    const auto programs = x.programs();
    REQUIRE_FALSE(programs.empty());
    ::kill(std::stoi(programs.back()), SIGKILL);
    CHECK(comes_to(x.port(), task, "TASK_STATE_FAILED"));
}

TEST_CASE("A call through the bridge counts once in its chain and as one call of its caller")
{
    const auto x = tools_gateway([](config::settings& settings) {
        settings.chains.in_flight = 1;
        settings.chains.calls = 2;
    });
    const auto call = [&](const char* trace) {
        http_client caller{x.port()};
        caller.send(request_text(
            "POST",
            "/agents/a",
            {{"Content-Type", "application/json"}, {"A2A-Version", "1.0"}, {"traceparent", trace}},
            method_of("SendMessage", call_params("echo"))
        ));
        return caller.read_response();
    };
    constexpr const char* one = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    for (int i = 0; i < 2; ++i) {
        const auto got = call(one);
        CHECK(got.status == 200);
        CHECK(got.body.find("TASK_STATE_COMPLETED") != std::string::npos);
    }
    CHECK(call(one).status == 508);
    CHECK(call("00-0af7651916cd43dd8448eb211c80319d-b7ad6b7169203331-01").status == 200);
    const auto edges = [&] {
        const auto answer = test_support::request(
            x.gateway().admin_port(),
            "POST",
            "/rpc",
            {{"Content-Type", "application/json"}},
            R"({"jsonrpc":"2.0","id":1,"method":"calls/edges"})"
        );
        return json::parse(answer.body)["result"]["edges"];
    };
    for (int i = 0; i < 100 && (edges().empty() || edges()[0]["calls"] != 4); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds{50});
    }
    CHECK(edges().size() == 1);
    CHECK(edges()[0]["calls"] == 4);
    CHECK(edges()[0]["refused"] == 1);
}

TEST_CASE("Access lines, the metric and the event name the bridge, and `bridge: false` keeps 501")
{
    auto x = tools_gateway([](config::settings& settings) {
        settings.agents.push_back(settings.agents[0]);
        settings.agents[1].id = "plain";
        settings.agents[1].bridge = false;
    });
    static_cast<void>(ask(x.port(), "SendMessage", call_params("no")));
    CHECK(x.gateway().wait_for_metric(R"(cardea_bridge_tasks{agent="a",direction="a2a_mcp",state="failed"})", 1));
    http_client caller{x.port()};
    caller.send(request_text(
        "POST",
        "/agents/plain",
        {{"Content-Type", "application/json"}},
        method_of("SendMessage", call_params("no"))
    ));
    CHECK(caller.read_response().status == 501);
}

TEST_CASE("A gateway that stops ends its tasks and programs")
{
    auto x = tools_gateway();
    static_cast<void>(begin_task(x.port(), "hang"));
    static_cast<void>(x.got(R"("name":"hang")"));
    x.gateway().stop();
    CHECK(x.gateway().wait_until_stopped());
    for (const auto& each : x.programs()) {
        CHECK_FALSE(x.running(each));
    }
}

namespace {

std::string http_result(const json& id, std::string_view result)
{
    return R"({"jsonrpc":"2.0","id":)" + id.dump() + R"(,"result":)" + std::string{result} + '}';
}

constexpr std::string_view one_tool = R"("tools":[{"name":"t","inputSchema":{}},{"name":"hang","inputSchema":{}}])";

// A server of the legacy era over HTTP, with sessions.
script legacy_tools(const recorded_request& request)
{
    const auto body = json::parse(request.body, nullptr, /*allow_exceptions=*/false);
    const auto method = body.is_object() ? body.value("method", "") : std::string{};
    if (method == "initialize") {
        constexpr std::string_view opened =
            R"({"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}})";
        return answer_json(http_result(body["id"], opened), {{"Mcp-Session-Id", "s-1"}});
    }
    if (request.method != "POST") {
        return answer(request.method == "GET" ? 405 : 200, "");
    }
    if (!body.contains("id") || method.empty()) {
        return answer(method == "server/discover" ? 400 : 202, "");
    }
    if (method == "tools/list") {
        return answer_json(http_result(body["id"], '{' + std::string{one_tool} + '}'));
    }
    if (request.body.find("\"hang\"") != std::string::npos) {
        return event_stream();
    }
    return method == "tools/call"
               ? answer_json(http_result(body["id"], R"({"content":[{"type":"text","text":"old"}]})"))
               : answer(400, "");
}

// A server of the modern era over HTTP.
script modern_tools(const recorded_request& request)
{
    const auto body = json::parse(request.body, nullptr, /*allow_exceptions=*/false);
    const auto method = body.is_object() ? body.value("method", "") : std::string{};
    if (method == "server/discover") {
        return answer_json(http_result(
            body["id"],
            R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"})"
        ));
    }
    if (method == "tools/list") {
        return answer_json(http_result(
            body["id"],
            R"({"resultType":"complete","ttlMs":60000,"cacheScope":"public",)" + std::string{one_tool} + '}'
        ));
    }
    if (method == "tools/call" && body["params"]["name"] == "t") {
        return answer_json(
            http_result(body["id"], R"({"resultType":"complete","content":[{"type":"text","text":"new"}]})")
        );
    }
    return method == "tools/call" ? event_stream()
                                  : answer(404, R"({"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}})");
}

}  // namespace

TEST_CASE("Servers over HTTP of both eras are called, and hear within 100 ms that a task is cancelled")
{
    SUBCASE("legacy")
    {
        relayed x{legacy_tools, mcp_calls::make_mcp};
        CHECK(task_of(ask(x.port(), "SendMessage", call_params("t")))["artifacts"][0]["parts"][0]["text"] == "old");
        const auto task = begin_task(x.port(), "hang");
        const auto has = [&x](std::string_view text) {
            const auto all = x.agent.requests();
            return std::ranges::any_of(all, [&](const auto& each) {
                return each.body.find(text) != std::string::npos;
            });
        };
        REQUIRE(program_gateway::becomes_true([&] { return has(R"("name":"hang")"); }));
        const auto begun = std::chrono::steady_clock::now();
        static_cast<void>(ask(x.port(), "CancelTask", named(task)));
        CHECK(program_gateway::becomes_true([&] { return has("notifications/cancelled"); }));
        CHECK(std::chrono::steady_clock::now() - begun < std::chrono::milliseconds{100});
    }
    SUBCASE("modern")
    {
        relayed x{modern_tools, mcp_calls::make_mcp};
        CHECK(task_of(ask(x.port(), "SendMessage", call_params("t")))["artifacts"][0]["parts"][0]["text"] == "new");
        const auto all = x.agent.requests();
        const auto call =
            std::ranges::find_if(all, [](const auto& each) { return each.header("Mcp-Method") == "tools/call"; });
        REQUIRE(call != all.end());
        CHECK(call->header("Mcp-Name") == "t");
        CHECK(call->header("Cardea-Caller").empty());
        const auto task = begin_task(x.port(), "hang");
        static_cast<void>(ask(x.port(), "CancelTask", named(task)));
        CHECK(state_of(x.port(), task) == "TASK_STATE_CANCELED");
    }
}

TEST_CASE("A server over HTTP that is contained during a call is not told that its session ends")
{
    relayed x{legacy_tools, mcp_calls::make_mcp};
    begin_task(x.port(), "hang");
    REQUIRE(x.agent.wait_for([](const auto& all) {
        return all.back().body.find(R"("name":"hang")") != std::string::npos;
    }));
    const auto seen = x.agent.request_count();
    contain(x.gateway, "a");
    CHECK_FALSE(x.agent.wait_for_requests(seen + 1, std::chrono::milliseconds{500}));
}

TEST_SUITE_END();
