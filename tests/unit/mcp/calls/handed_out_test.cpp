#include "mcp/calls/handed_out.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("mcp/calls/handed_out");

using mcp::handing;

namespace {

const mcp::session_ids& seals()
{
    static const std::vector<core::secret> keys{core::secret{std::string(32, 'k')}};
    static const mcp::session_ids all{jose::text_sealer{keys}};
    return all;
}

mcp::handed_out_to client(std::string_view principal)
{
    return {&seals(), {"a", "https://mcp.example/x", "keys", principal}};
}

const auto ada = client("ada");
const auto bob = client("bob");

std::string sealed(std::string_view id, const mcp::handed_out_to& whose = ada)
{
    return seals().seal_handed_out(mcp::handed_out::task, id, whose.binding);
}

std::string sealed_state(std::string_view state, const mcp::handed_out_to& whose = ada)
{
    return seals().seal_handed_out(mcp::handed_out::state, state, whose.binding);
}

// What the server gets, or the code of the refusal.
std::string opened(const std::string& body, const mcp::handed_out_to& whose = ada, bool has_tasks = false)
{
    const auto read = mcp::read_incoming(body);
    REQUIRE_FALSE(read.problem);
    auto result = mcp::open_handed_out(read.message, body, whose, has_tasks);
    return result ? mcp::edited(body, result->edits) : std::string{core::name(result.error().code)};
}

std::string request(std::string_view method, std::string_view params)
{
    return R"({"jsonrpc":"2.0","id":1,"method":")" + std::string{method} + R"(","params":)" + std::string{params} + "}";
}

// What the client gets; "-": nothing.
std::string
shown(std::string_view message, handing what = handing::request, const std::set<std::string, std::less<>>& own = {})
{
    const auto result = mcp::seal_handed_out(message, ada, what, [&](std::string_view id) { return own.contains(id); });
    if (!result) {
        return std::string{core::name(result.error().code)};
    }
    return result->text ? (result->text->empty() ? "-" : *result->text) : std::string{message};
}

std::string named(std::string_view id)
{
    return R"({"taskId":")" + std::string{id} + R"("})";
}

std::string related(std::string_view id)
{
    return R"({"_meta":{"io.modelcontextprotocol/related-task":)" + named(id) + "}}";
}

}  // namespace

TEST_CASE("A task that was handed out is the server's again for its client, and for nobody else")
{
    for (const auto* method :
         {"tasks/get", "tasks/result", "tasks/cancel", "tasks/update", "tasks/list", "tasks/more"}) {
        CAPTURE(method);
        CHECK(opened(request(method, named(sealed("t-1")))) == request(method, named("t-1")));
        for (const auto& other :
             {named("t-1"),
              named(sealed("t-1", bob)),
              named(sealed("t-1") + "A"),
              named(""),
              named(sealed_state("t-1")),
              std::string{R"({"taskId":1})"},
              std::string{R"({"taskId":null})"},
              R"({"taskId":[")" + sealed("t-1") + R"("]})"}) {
            CAPTURE(other);
            CHECK(opened(request(method, other)) == "invalid_params");
        }
        CHECK(opened(request(method, named(sealed("t-1"))), bob) == "invalid_params");
    }
    const auto id = sealed("t-1");
    CHECK(
        opened(request("tasks/get", R"({"t\u0061skId":")" + id + R"("})")) ==
        request("tasks/get", R"({"t\u0061skId":"t-1"})")
    );
    CHECK(opened(request("tasks\\/get", named("t-1"))) == "invalid_params");
    CHECK(opened(request("tasks/get", "{}")) == "invalid_params");
    const auto told = [](std::string_view task) {
        return R"({"jsonrpc":"2.0","method":"tasks/cancel","params":)" + named(task) + "}";
    };
    CHECK(opened(told("t-1"), ada, /*has_tasks=*/true) == "invalid_params");
    CHECK(opened(told(sealed("t-1"))) == told("t-1"));
    CHECK(opened(request("tasks/list", "{}")) == request("tasks/list", "{}"));
    CHECK(opened(request("tasks/get", R"({"taskId":")" + id + R"(","task_id":"t-2"})")) == "invalid_params");
    const auto related =
        R"({"_meta":{"io.modelcontextprotocol/related-task":{"taskId":")" + id + R"(","task_id":"t-2"}}})";
    CHECK(opened(request("tools/list", related)) == "invalid_params");
    CHECK(opened(request("subscriptions/listen", R"({"notifications":{"task_ids":["t-2"]}})")) == "invalid_params");
    CHECK(opened(request("tasks/get", R"({"taskId":")" + id + R"(","x":1,"x":2})")) == "invalid_params");
    // What is no task of MCP passes as it is.
    CHECK(opened(request("x/get", named("t-1"))) == request("x/get", named("t-1")));
    const auto unusual = std::string{"a\"\\\xC3\xA4"};
    CHECK(
        opened(request("tasks/get", named(sealed(unusual)))) ==
        request("tasks/get", "{\"taskId\":\"a\\\"\\\\\xC3\xA4\"}")
    );
}

TEST_CASE("A state that was handed out is the server's again for its client, and for nobody else")
{
    const auto call = [](std::string_view state) {
        return request("tools/call", R"({"name":"x","requestState":)" + std::string{state} + "}");
    };
    const auto quoted = [](const std::string& text) { return '"' + text + '"'; };
    CHECK(opened(call(quoted(sealed_state("s.1")))) == call(R"("s.1")"));
    CHECK(opened(call(quoted(sealed_state("")))) == call(R"("")"));
    CHECK(opened(call(quoted(sealed_state("s.1"))), bob) == "input_expired");
    CHECK(opened(call(R"("s.1")")) == "input_expired");
    CHECK(opened(call(quoted(sealed("s.1")))) == "input_expired");
    CHECK(opened(call(R"({"s":1})")) == "input_expired");
    CHECK(opened(call("null")) == call("null"));
    // Whatever the method.
    const auto update = request("tasks/update", R"({"taskId":")" + sealed("t") + R"(","requestState":"s"})");
    CHECK(opened(update) == "input_expired");
}

TEST_CASE("A task that a message is related to is the client's own, or one that the client itself runs")
{
    const auto id = sealed("t");
    CHECK(opened(request("x", related(id))) == request("x", related("t")));
    CHECK(opened(request("x", related("t"))) == "invalid_params");
    CHECK(opened(request("x", related("t")), ada, /*has_tasks=*/true) == "invalid_params");
    CHECK(opened(request("x", R"({"_meta":{"io.modelcontextprotocol/related-task":"t"}})")) == "invalid_params");
    const auto note = [](std::string_view task) {
        return R"({"jsonrpc":"2.0","method":"notifications/progress","params":)" + related(task) + "}";
    };
    const auto answer = [](std::string_view task) {
        return R"({"jsonrpc":"2.0","id":1,"result":)" + related(task) + "}";
    };
    CHECK(opened(note(id)) == note("t"));
    CHECK(opened(answer(id)) == answer("t"));
    CHECK(opened(note("t")) == "invalid_params");
    CHECK(opened(answer("t")) == "invalid_params");
    CHECK(opened(note("t"), ada, /*has_tasks=*/true) == note("t"));
    CHECK(opened(answer("t"), ada, /*has_tasks=*/true) == answer("t"));
    CHECK(opened(answer(id), bob, /*has_tasks=*/true) == answer(id));
}

TEST_CASE("A subscription to tasks names the client's own")
{
    const auto listen = [](std::string_view ids) {
        return request(
            "subscriptions/listen",
            R"({"notifications":{"toolsListChanged":true,"taskIds":)" + std::string{ids} + "}}"
        );
    };
    CHECK(opened(listen(R"([")" + sealed("t") + R"(", ")" + sealed("u") + R"("])")) == listen(R"(["t", "u"])"));
    CHECK(opened(listen("[]")) == listen("[]"));
    for (const auto& ids :
         {R"([")" + sealed("t") + R"(","u"])", std::string{R"(["t"])"}, std::string{R"("t")"}, std::string{"[1]"}}) {
        CAPTURE(ids);
        CHECK(opened(listen(ids)) == "invalid_params");
    }
}

TEST_CASE("The answer to a client's request hands out tasks and states, which are sealed, and every other byte stays")
{
    const auto answer = [](std::string_view result) {
        return R"({"jsonrpc":"2.0", "id":1,"result":)" + std::string{result} + "}";
    };
    const auto task = [](std::string_view id) {
        return R"({"task":{"status":"working","taskId":")" + std::string{id} + R"(","ttl":1.50}})";
    };
    CHECK(shown(answer(task("t"))) == answer(task(sealed("t"))));
    CHECK(
        shown(answer(R"({"resultType":"task","taskId":"t"})")) ==
        answer(R"({"resultType":"task","taskId":")" + sealed("t") + R"("})")
    );
    CHECK(
        shown(answer(R"({"requestState":"s","inputRequests":{}})")) ==
        answer(R"({"requestState":")" + sealed_state("s") + R"(","inputRequests":{}})")
    );
    CHECK(shown(answer(related("t")), handing::request, {"t"}) == answer(related(sealed("t"))));
    const auto result = mcp::seal_handed_out(answer(task("t")), ada, handing::request, [](auto) { return false; });
    REQUIRE(result.has_value());
    CHECK(result->tasks == std::vector<std::string>{"t"});
    // What a tool says itself is not read.
    for (const auto& same :
         {answer(R"({"structuredContent":{"taskId":"t","requestState":"s"}})"),
          answer(R"({"content":[{"taskId":"t"}]})"),
          answer(related("t")),
          answer(R"({"taskId":7,"task":[],"requestState":{}})"),
          std::string{R"({"taskId")"},
          R"({"error":{"data":)" + task("t") + "}}",
          answer(R"({"taskId":"t","taskId":"u"})")}) {
        CAPTURE(same);
        CHECK(shown(same) == same);
    }
    CHECK(shown(answer(task("t")), handing::other) == answer(task("t")));
    CHECK(shown(answer(task("t")), handing::unknown) == answer(task("t")));
    CHECK(shown(answer(task("t")), handing::unknown, {"t"}) == answer(task(sealed("t"))));
}

TEST_CASE("An answer of the modern era that is complete hands out nothing, which its beginning may say")
{
    const std::string done =
        R"({"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","taskId":"t","content":[1]}})";
    CHECK(shown(done, handing::modern_request) == done);
    CHECK(
        shown(R"({"result":{"resultType":"task","taskId":"t"}})", handing::modern_request) ==
        R"({"result":{"resultType":"task","taskId":")" + sealed("t") + R"("}})"
    );
    const auto said = done.find("complete") + 9;
    for (std::size_t size = 0; size <= done.size(); ++size) {
        CAPTURE(size);
        CHECK(mcp::hands_out_nothing(std::string_view{done}.substr(0, size)) == (size >= said));
    }
    CHECK(mcp::hands_out_nothing(R"( { "result" : { "_meta":{"resultType":"x"}, "resultType" : "complete" )"));
    for (const auto* other :
         {R"({"result":{"resultType":"task"}})",
          R"({"result":{"content":{"resultType":"complete"},)",
          R"({"id":{"result":{"resultType":"complete"}},)",
          R"({"error":{"resultType":"complete"}})",
          R"({"result":[)",
          R"({"resultType":"complete")",
          R"({"result":{"resultType":["complete"])",
          "",
          "[",
          R"({"result":{}})"}) {
        CAPTURE(other);
        CHECK_FALSE(mcp::hands_out_nothing(other));
    }
}

TEST_CASE("Equal ids are sealed equally, and differ for each client, agent and kind")
{
    CHECK(sealed("t") == sealed("t"));
    std::set<std::string> all{sealed("t"), sealed("u"), sealed("t", bob), sealed_state("t")};
    auto elsewhere = ada;
    elsewhere.binding.agent = "b";
    all.insert(sealed("t", elsewhere));
    elsewhere = ada;
    elsewhere.binding.address = "https://mcp.example/y";
    all.insert(sealed("t", elsewhere));
    elsewhere = ada;
    elsewhere.binding.provider = "idp";
    all.insert(sealed("t", elsewhere));
    CHECK(all.size() == 7);
}

TEST_CASE("A list shows the client's own tasks")
{
    const auto list = [](std::string_view tasks) {
        return R"({"jsonrpc":"2.0","id":1,"result":{"tasks":)" + std::string{tasks} + R"(,"nextCursor":"c"}})";
    };
    const std::string all = R"([{"taskId":"t","x":1.50}, {"taskId":"u"},{"taskId":7},"t",{"taskId":"t","taskId":"t"}])";
    CHECK(shown(list(all), handing::task_list, {"t"}) == list(R"([{"taskId":")" + sealed("t") + R"(","x":1.50}])"));
    CHECK(shown(list(all), handing::task_list) == list("[]"));
    CHECK(shown(list("[ ]"), handing::task_list) == list("[]"));
    CHECK(shown(list(all), handing::unknown) == list("[]"));
    CHECK(shown(list(all), handing::other) == list(all));
    const std::string hidden = R"({"jsonrpc":"2.0","id":1,"result":{"t\u0061sks":[{"t\u0061skId":"u"}]}})";
    CHECK(shown(hidden, handing::task_list) == R"({"jsonrpc":"2.0","id":1,"result":{"t\u0061sks":[]}})");
    for (const auto& bad :
         {list(R"({"taskId":"u"})"),
          std::string{R"({"result":{"tasks":[],"tasks":[]}})"},
          std::string{R"({"result":{"tasks":[)"}}) {
        CAPTURE(bad);
        CHECK(shown(bad, handing::task_list) == "upstream_protocol");
    }
    const std::string failed = R"({"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}})";
    CHECK(shown(failed, handing::task_list) == failed);
    // The data of the event that a stream begins with, so that it can be resumed (MCP 2025-11-25, basic/transports).
    for (const std::string blank : {"", " ", "\n", "\r\n\t"}) {
        CHECK(shown(blank, handing::task_list) == blank);
    }
    CHECK(shown(" x", handing::task_list) == "upstream_protocol");
}

TEST_CASE("What a server says of a task reaches the client whose task it is")
{
    const auto note = [](std::string_view method, std::string_view id) {
        return R"({"jsonrpc":"2.0","method":")" + std::string{method} + R"(","params":{"taskId":")" + std::string{id} +
               R"(","status":"x"}})";
    };
    for (const auto what : {handing::request, handing::other, handing::unknown}) {
        for (const auto* method : {"notifications/tasks/status", "notifications/tasks"}) {
            CHECK(shown(note(method, "t"), what, {"t"}) == note(method, sealed("t")));
            CHECK(shown(note(method, "u"), what, {"t"}) == "-");
        }
        // A question about a task that the client runs.
        CHECK(shown(request("tasks/get", named("t")), what, {"t"}) == request("tasks/get", named("t")));
        CHECK(
            shown(request("elicitation/create", related("t")), what, {"t"}) ==
            request("elicitation/create", related(sealed("t")))
        );
        CHECK(
            shown(request("elicitation/create", related("u")), what, {"t"}) ==
            request("elicitation/create", related("u"))
        );
    }
    const auto heard = [](std::string_view ids) {
        return R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"taskIds":)" +
               std::string{ids} + "}}}";
    };
    CHECK(shown(heard(R"(["t","u"])"), handing::other, {"t"}) == heard(R"([")" + sealed("t") + R"(","u"])"));
}

TEST_CASE("At the longest id and the longest state they are sealed, and one byte more is not")
{
    const auto answer = [](std::string_view name, const std::string& text) {
        return R"({"result":{")" + std::string{name} + R"(":")" + text + R"("}})";
    };
    for (const auto most : {mcp::longest_task_id - 1, mcp::longest_task_id}) {
        const std::string id(most, 't');
        CHECK(shown(answer("taskId", id)) == answer("taskId", sealed(id)));
        CHECK(opened(request("tasks/get", named(sealed(id)))) == request("tasks/get", named(id)));
    }
    const std::string long_id(mcp::longest_task_id + 1, 't');
    CHECK(shown(answer("taskId", long_id)) == answer("taskId", long_id));
    for (const auto most : {mcp::longest_state - 1, mcp::longest_state}) {
        const std::string state(most, 's');
        CHECK(shown(answer("requestState", state)) == answer("requestState", sealed_state(state)));
        const auto call = [](const std::string& text) {
            return request("tools/call", R"({"requestState":")" + text + R"("})");
        };
        CHECK(opened(call(sealed_state(state))) == call(state));
    }
    const std::string long_state(mcp::longest_state + 1, 's');
    CHECK(shown(answer("requestState", long_state)) == answer("requestState", long_state));
}

TEST_SUITE_END();
