// Calls whose caller or agent is by gRPC, and the other side is not, or of another generation.
#include "a2a/protobuf/codec.hpp"
#include "a2a/protobuf/methods.hpp"
#include "net/grpc/messages.hpp"
#include "tests/flow/grpc_fixture.hpp"
#include "tests/flow/relay_fixture.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("flow/grpc_translation");

namespace {

namespace h2 = test_support::h2;
using a2a::generation;
using a2a::operation;
using core::a2a_dialect;
using flow::grpc_answer;
using flow::grpc_call;
using flow::grpc_message;
using flow::grpc_relayed;
using flow::http2_caller;
using flow::relayed;
using test_support::answer_json;

const a2a::protobuf::service_method& method(operation what, generation of)
{
    return *a2a::protobuf::service_method_for(what, of);
}

std::string written(const a2a::protobuf::message_type& type, std::string_view json)
{
    std::string out;
    REQUIRE(a2a::protobuf::to_protobuf(type, json, {}, out).has_value());
    return grpc_message(out);
}

// The messages in a body, one after the other.
std::string read(const a2a::protobuf::message_type& type, std::string_view body)
{
    std::string out;
    while (body.size() >= 5) {
        const auto size = test_support::http2::number_in(body.substr(1, 4));
        REQUIRE(a2a::protobuf::to_json(type, body.substr(5, size), {}, out).has_value());
        body.remove_prefix(5 + size);
        out += body.empty() ? "" : " ";
    }
    return out;
}

std::string answer_of(operation what, generation of, std::string_view json)
{
    return written(*method(what, of).response, json);
}

constexpr std::string_view v1_send =
    R"({"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]},"configuration":{"returnImmediately":false}})";
constexpr std::string_view v1_task = R"({"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}})";

std::string rpc(std::string_view name, std::string_view params)
{
    return R"({"jsonrpc":"2.0","id":7,"method":")" + std::string{name} + R"(","params":)" + std::string{params} + "}";
}

grpc_relayed agent_of(a2a_dialect speaks, test_support::http2_agent::handler by_default)
{
    return grpc_relayed{std::move(by_default), [speaks](auto& settings) { settings.agents[0].dialects = {speaks}; }};
}

// An agent of JSON behind the gateway.
relayed agent_of_json(a2a_dialect speaks, test_support::handler by_default)
{
    return relayed{std::move(by_default), [speaks](auto& settings) {
                       settings.agents[0].dialects = {speaks};
                       settings.grpc.default_agent = "a";
                   }};
}

struct answered {
    std::string status;
    std::string message;
    std::string json;
};

answered called(std::uint16_t port, const a2a::protobuf::service_method& what, std::string_view json)
{
    http2_caller caller{port};
    caller.send(grpc_call(1, what.path, written(*what.request, json)));
    for (const std::uint32_t stream : {0U, 1U}) {
        caller.send(test_support::http2::update_frame(stream, 16 * 1024 * 1024));
    }
    REQUIRE(caller.answered(1));
    return {caller.field(1, "grpc-status"), caller.field(1, "grpc-message"), read(*what.response, caller.body(1))};
}

}  // namespace

TEST_CASE("A call of JSON-RPC 1.0 reaches an agent by gRPC 1.0, and its answer comes back")
{
    const auto with = agent_of(a2a_dialect::v1_grpc, [](const auto&) {
        return grpc_answer(answer_of(operation::send, generation::v1, R"({"task":)" + std::string{v1_task} + "}"));
    });
    const auto got = flow::call(with.port(), rpc("SendMessage", v1_send));
    CHECK(got.status == 200);
    CHECK(got.body == R"({"jsonrpc":"2.0","id":7,"result":{"task":)" + std::string{v1_task} + "}}");
    const auto sent = with.agent.request(0);
    CHECK(sent.header(":path") == "/lf.a2a.v1.A2AService/SendMessage");
    CHECK(sent.header("content-type") == "application/grpc");
    CHECK(sent.header("te") == "trailers");
    CHECK(sent.header("grpc-accept-encoding") == "identity");
    CHECK(
        read(*method(operation::send, generation::v1).request, sent.body).find(R"("text":"hi")") != std::string::npos
    );
}

TEST_CASE("Messages of a stream become events, and its status an event if it is an error")
{
    const auto with = agent_of(a2a_dialect::v1_grpc, [](const auto&) {
        const auto event = [](std::string_view json) { return answer_of(operation::stream, generation::v1, json); };
        return grpc_answer(
            event(R"({"task":{"id":"t","status":{"state":"TASK_STATE_WORKING"}}})") +
                event(R"({"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}})"),
            {{"grpc-status", "14"}, {"grpc-message", "gone"}}
        );
    });
    const auto got = flow::call(with.port(), rpc("SendStreamingMessage", v1_send));
    CHECK(got.status == 200);
    CHECK(got.header("content-type") == "text/event-stream");
    CHECK(got.body.find(R"(data: {"jsonrpc":"2.0","id":7,"result":{"task":)") != std::string::npos);
    CHECK(got.body.find(R"("statusUpdate")") != std::string::npos);
    CHECK(got.body.find(R"("error":{"code":)") != std::string::npos);
    CHECK(got.body.find("gone") != std::string::npos);
}

TEST_CASE("A status of an agent by gRPC counts at the end of its answer alone")
{
    const auto with = agent_of(a2a_dialect::v1_grpc, [](const auto&) {
        return grpc_answer(
            answer_of(
                operation::stream,
                generation::v1,
                R"({"task":{"id":"t","status":{"state":"TASK_STATE_WORKING"}}})"
            ),
            {{"grpc-status", "5"}, {"grpc-message", "lost"}},
            {{"grpc-status", "0"}}
        );
    });
    const auto got = flow::call(with.port(), rpc("SendStreamingMessage", v1_send));
    CHECK(got.body.find("TASK_STATE_WORKING") != std::string::npos);
    CHECK(got.body.find("lost") != std::string::npos);
}

TEST_CASE("A status of an agent by gRPC is an error of the caller's generation")
{
    const auto with =
        agent_of(a2a_dialect::v1_grpc, [](const auto&) { return flow::grpc_failure("5", "No such task"); });
    const auto v1 = flow::call(with.port(), rpc("GetTask", R"({"id":"t"})"));
    CHECK(v1.status == 200);
    CHECK(v1.body.find(R"("code":-32001)") != std::string::npos);
    CHECK(v1.body.find("TASK_NOT_FOUND") != std::string::npos);
    const auto v03 = flow::call(with.port(), rpc("tasks/get", R"({"id":"t"})"));
    CHECK(v03.body.find(R"("code":-32001)") != std::string::npos);
    CHECK(v03.body.find("No such task") != std::string::npos);
}

TEST_CASE("A call of JSON-RPC 0.3 reaches an agent by gRPC 0.3")
{
    const auto with = agent_of(a2a_dialect::v03_grpc, [](const auto&) {
        return grpc_answer(answer_of(
            operation::get,
            generation::v03,
            R"({"id":"t","contextId":"c","status":{"state":"TASK_STATE_CANCELLED"}})"
        ));
    });
    const auto got = flow::call(with.port(), rpc("tasks/get", R"({"id":"t","historyLength":2})"));
    CHECK(
        got.body ==
        R"({"jsonrpc":"2.0","id":7,"result":{"kind":"task","id":"t","contextId":"c","status":{"state":"canceled"}}})"
    );
    const auto sent = with.agent.request(0);
    CHECK(sent.header(":path") == "/a2a.v1.A2AService/GetTask");
    CHECK(
        read(*method(operation::get, generation::v03).request, sent.body) == R"({"name":"tasks/t","historyLength":2})"
    );
}

TEST_CASE("A name of an error in front of a message of 0.3 is the error")
{
    const auto with = agent_of(a2a_dialect::v03_grpc, [](const auto&) {
        return flow::grpc_failure("12", "TaskNotCancelableError: It is over.");
    });
    const auto got = flow::call(with.port(), rpc("tasks/cancel", R"({"id":"t"})"));
    CHECK(got.body.find(R"("code":-32002,"message":"It is over.")") != std::string::npos);
}

TEST_CASE("A call by gRPC 1.0 reaches an agent of JSON-RPC 1.0")
{
    auto with = agent_of_json(a2a_dialect::v1_jsonrpc, [](const auto&) {
        return answer_json(R"({"jsonrpc":"2.0","id":1,"result":{"task":)" + std::string{v1_task} + "}}");
    });
    const auto got = called(with.port(), method(operation::send, generation::v1), v1_send);
    CHECK(got.status == "0");
    CHECK(got.json == R"({"task":)" + std::string{v1_task} + "}");
    CHECK(with.agent.request(0).body.find(R"("method":"SendMessage")") != std::string::npos);
    CHECK(with.agent.request(0).header("te").empty());
    CHECK(with.agent.request(0).header("content-type") == "application/json");
}

TEST_CASE("Events become messages of a stream, and an error in one its status")
{
    auto with = agent_of_json(a2a_dialect::v1_jsonrpc, [](const auto&) {
        return test_support::answer(
            200,
            "data: "
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"task\":{\"id\":\"t\",\"status\":{\"state\":\"TASK_STATE_"
            "WORKING\"}}}}\n\n"
            ": comment\n\n"
            "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32004,\"message\":\"No more.\"}}\n\n",
            {{"Content-Type", "text/event-stream"}}
        );
    });
    const auto got = called(with.port(), method(operation::stream, generation::v1), v1_send);
    CHECK(got.json == R"({"task":{"id":"t","status":{"state":"TASK_STATE_WORKING"}}})");
    CHECK(got.status == "9");
    CHECK(got.message == "No more.");
}

TEST_CASE("An error of an agent of JSON is a status, which begins with its name for callers of 0.3")
{
    auto with = agent_of_json(a2a_dialect::v1_jsonrpc, [](const auto&) {
        return answer_json(R"({"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"Lost."}})");
    });
    const auto v1 = called(with.port(), method(operation::get, generation::v1), R"({"id":"t"})");
    CHECK(v1.status == "5");
    CHECK(v1.message == "Lost.");
    const auto v03 = called(with.port(), method(operation::get, generation::v03), R"({"name":"tasks/t"})");
    CHECK(v03.status == "5");
    CHECK(v03.message == "TaskNotFoundError: Lost.");
}

TEST_CASE("A call by gRPC 0.3 reaches an agent of HTTP+JSON 1.0")
{
    auto with = agent_of_json(a2a_dialect::v1_rest, [](const auto&) { return answer_json(std::string{v1_task}); });
    const auto got =
        called(with.port(), method(operation::get, generation::v03), R"({"name":"tasks/t","historyLength":3})");
    CHECK(got.status == "0");
    CHECK(got.json.find(R"("id":"t")") != std::string::npos);
    CHECK(with.agent.request(0).target == "/rpc/tasks/t?historyLength=3");
}

TEST_CASE("A call by gRPC 1.0 reaches an agent by gRPC 0.3, and the other way round")
{
    {
        const auto with = agent_of(a2a_dialect::v03_grpc, [](const auto&) {
            return grpc_answer(
                answer_of(operation::get, generation::v03, R"({"id":"t","status":{"state":"TASK_STATE_CANCELLED"}})")
            );
        });
        const auto got = called(with.port(), method(operation::get, generation::v1), R"({"id":"t"})");
        CHECK(got.status == "0");
        CHECK(got.json.find("TASK_STATE_CANCELED") != std::string::npos);
        CHECK(with.agent.request(0).header(":path") == "/a2a.v1.A2AService/GetTask");
    }
    const auto with = agent_of(a2a_dialect::v1_grpc, [](const auto&) {
        return grpc_answer(
            answer_of(operation::cancel, generation::v1, R"({"id":"t","status":{"state":"TASK_STATE_CANCELED"}})")
        );
    });
    const auto got = called(with.port(), method(operation::cancel, generation::v03), R"({"name":"tasks/t"})");
    CHECK(got.status == "0");
    CHECK(got.json.find("TASK_STATE_CANCELLED") != std::string::npos);
    CHECK(with.agent.request(0).header(":path") == "/lf.a2a.v1.A2AService/CancelTask");
}

TEST_CASE("Metadata behind an answer pass between generations, and those of an error, too")
{
    const auto with = agent_of(a2a_dialect::v03_grpc, [fails = false](const auto&) mutable {
        const test_support::field_list behind{{"grpc-status", fails ? "5" : "0"}, {"cost", "7"}, {"sum-bin", "AAE"}};
        const auto* const task = R"({"id":"t","status":{"state":"TASK_STATE_CANCELLED"}})";
        return grpc_answer(
            std::exchange(fails, true) ? std::string{} : answer_of(operation::get, generation::v03, task),
            behind
        );
    });
    for (const auto* const status : {"0", "5"}) {
        CAPTURE(status);
        http2_caller caller{with.port()};
        const auto& get = method(operation::get, generation::v1);
        caller.send(grpc_call(1, get.path, written(*get.request, R"({"id":"t"})")));
        REQUIRE(caller.until([](const auto& each) { return each.type == test_support::http2::headers; }));
        CHECK(caller.field(1, ":status") == "200");
        CHECK(caller.field(1, "cost").empty());  // not in the head, whose fields browsers obey
        REQUIRE(caller.answered(1));
        CHECK(caller.field(1, "grpc-status") == status);
        CHECK(caller.field(1, "cost") == "7");
        CHECK(caller.field(1, "sum-bin") == "AAE");
    }
}

TEST_CASE("A compressed request that has to be read is refused with the codings that are taken")
{
    auto with = agent_of_json(a2a_dialect::v1_jsonrpc, [](const auto&) { return answer_json("{}"); });
    http2_caller caller{with.port()};
    caller.send(
        grpc_call(1, flow::v1_get, grpc_message("packed", '\1'), {{"grpc-encoding", "gzip"}, {"cardea-agent", "a"}})
    );
    REQUIRE(caller.answered(1));
    CHECK(caller.field(1, "grpc-status") == "12");
    CHECK(caller.field(1, "grpc-accept-encoding") == "identity");
    CHECK(with.agent.requests().empty());
}

TEST_CASE("A number that no double equals is refused in requests, and rounded and counted in answers")
{
    const auto with =
        agent_of(a2a_dialect::v1_grpc, [](const auto&) { return grpc_answer(grpc_message("\x0A\x01t")); });
    const auto refused = flow::call(
        with.port(),
        rpc("SendMessage",
            R"({"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":{"n":9007199254740993}}]}})")
    );
    CHECK(refused.body.find(R"("code":-32602)") != std::string::npos);
    CHECK(with.agent.requests().empty());
    auto json = agent_of_json(a2a_dialect::v1_jsonrpc, [](const auto&) {
        return answer_json(
            R"({"jsonrpc":"2.0","id":1,"result":{"id":"t","status":{"state":"TASK_STATE_COMPLETED"},"metadata":{"n":9007199254740993}}})"
        );
    });
    const auto got = called(json.port(), method(operation::get, generation::v1), R"({"id":"t"})");
    CHECK(got.status == "0");
    CHECK(got.json.find("9007199254740992") != std::string::npos);
    CHECK(json.gateway.wait_for_metric(R"(cardea_grpc_numbers_rounded_total{agent="a"})", 1));
}

TEST_CASE("A translated answer is measured as a message")
{
    constexpr std::size_t limit = 2'000;
    std::string task;
    relayed with{
        test_support::handler{[&](const auto&) {
            return answer_json(R"({"jsonrpc":"2.0","id":1,"result":)" + task + "}");
        }},
        [](auto& settings) {
            settings.agents[0].dialects = {a2a_dialect::v1_jsonrpc};
            settings.grpc.default_agent = "a";
            settings.limits.grpc_message = limit;
        }
    };
    const auto status_with = [&](std::size_t text) {
        task = R"({"id":"t","status":{"state":"TASK_STATE_WORKING"},"artifacts":[{"parts":[{"text":")" +
               std::string(text, 'x') + R"("}]}]})";
        return flow::status_of(with.port(), flow::v1_get, grpc_message(flow::get_request({})));
    };
    CHECK(status_with(1'900) == "0");
    const auto around = answer_of(operation::get, generation::v1, task).size() - net::grpc::prefix_size - 1'900;
    CHECK(status_with(limit - around - 1) == "0");
    CHECK(status_with(limit - around) == "0");
    CHECK(status_with(limit - around + 1) == "8");
    CHECK(with.gateway.log().wait_for([](auto line) { return line.find("message_too_large") != line.npos; }));
}

TEST_CASE("An agent's stream that ends within a message is no end in order for a caller of JSON")
{
    const auto event = answer_of(
        operation::stream,
        generation::v1,
        R"({"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}})"
    );
    for (const bool after_one : {false, true}) {
        for (const bool status : {false, true}) {
            CAPTURE(after_one);
            CAPTURE(status);
            const auto with = agent_of(a2a_dialect::v1_grpc, [&](const auto&) {
                const auto half = (after_one ? event : "") + event.substr(0, event.size() / 2);
                auto answer = grpc_answer(half);
                if (!status) {
                    answer.pop_back();
                    answer.back() = h2::data{half, true};
                }
                return answer;
            });
            test_support::http_client caller{with.port()};
            caller.send(flow::call_text(rpc("SendStreamingMessage", v1_send), {{"Connection", "close"}}));
            const auto all = caller.read_until_closed();
            CHECK((all.find("\"code\":-32") != all.npos || !all.ends_with("0\r\n\r\n")));
        }
    }
}

namespace {

// A StreamResponse whose message has so many bytes of text.
std::string long_event(char of, std::size_t size)
{
    return R"({"message":{"messageId":")" + std::string(1, of) + R"(","role":"ROLE_AGENT","parts":[{"text":")" +
           std::string(size, of) + R"("}]}})";
}

// The letters of long_event() whose messages stand in the text, in order.
std::string letters_in(std::string_view text)
{
    constexpr std::string_view before = R"("messageId":")";
    std::string out;
    for (auto at = text.find(before); at != text.npos; at = text.find(before, at + 1)) {
        out += text[at + before.size()];
    }
    return out;
}

constexpr std::size_t long_text = 600'000;

}  // namespace

TEST_CASE("Long messages of an agent by gRPC come in their order, and the status behind them")
{
    std::string status = "0";
    const auto with = agent_of(a2a_dialect::v1_grpc, [&](const test_support::recorded_request& request) {
        const auto event = [](char of, std::size_t size) {
            return answer_of(operation::stream, generation::v1, long_event(of, size));
        };
        if (request.header(":path").ends_with("/SendMessage")) {
            return grpc_answer(event('z', long_text));
        }
        return grpc_answer(
            event('a', 1) + event('b', long_text) + event('c', 1) + event('d', long_text) + event('e', long_text),
            {{"grpc-status", status}}
        );
    });
    auto got = flow::call(with.port(), rpc("SendStreamingMessage", v1_send));
    CHECK(got.status == 200);
    CHECK(letters_in(got.body) == "abcde");
    CHECK(got.body.size() > 3 * long_text);
    CHECK(got.body.find("\"error\"") == std::string::npos);
    status = "14";
    got = flow::call(with.port(), rpc("SendStreamingMessage", v1_send));
    CHECK(letters_in(got.body) == "abcde");
    CHECK(got.body.find("\"error\"") > 3 * long_text);
    got = flow::call(with.port(), rpc("SendMessage", v1_send));
    CHECK(letters_in(got.body) == "z");
    CHECK(got.body.size() > long_text);
}

TEST_CASE("A long message of an agent by gRPC that cannot be said in JSON is an error")
{
    const auto with = agent_of(a2a_dialect::v1_grpc, [](const auto&) {
        return grpc_answer(grpc_message(flow::pb_field(2, flow::pb_field(1, std::string(long_text, '\xFF')))));
    });
    const auto got = flow::call(with.port(), rpc("SendMessage", v1_send));
    CHECK(got.header("cardea-error") == "answer_untranslatable");
    CHECK(got.body.find(R"("code":-32006)") != std::string::npos);
}

TEST_CASE("Long answers of JSON become messages in their order, and an error behind them the status")
{
    auto with = agent_of_json(a2a_dialect::v1_jsonrpc, [](const test_support::recorded_request& request) {
        const auto result = [](char of, std::size_t size) {
            return R"({"jsonrpc":"2.0","id":1,"result":)" + long_event(of, size) + "}";
        };
        if (request.body.find("SendMessage") != std::string::npos) {
            return answer_json(result('z', long_text));
        }
        std::string events = ": comment\n\n";
        for (const char of : std::string_view{"abcd"}) {
            events += "data: " + result(of, of % 2 == 0 ? long_text : 1) + "\n\n";
        }
        events += R"(data: {"jsonrpc":"2.0","id":1,"error":{"code":-32004,"message":"No more."}})"
                  "\n\n";
        return test_support::answer(200, std::move(events), {{"Content-Type", "text/event-stream"}});
    });
    auto got = called(with.port(), method(operation::stream, generation::v1), v1_send);
    CHECK(letters_in(got.json) == "abcd");
    CHECK(got.json.size() > 2 * long_text);
    CHECK(got.status == "9");
    got = called(with.port(), method(operation::send, generation::v1), v1_send);
    CHECK(got.status == "0");
    CHECK(letters_in(got.json) == "z");
}

TEST_CASE("Calls by gRPC are counted by the method that gRPC names, in both generations")
{
    auto with = agent_of_json(a2a_dialect::v1_jsonrpc, [](const auto&) {
        return answer_json(R"({"jsonrpc":"2.0","id":1,"result":{"task":)" + std::string{v1_task} + "}}");
    });
    const auto params = R"({"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"hi"}]}})";
    CHECK(called(with.port(), method(operation::send, generation::v1), v1_send).status == "0");
    CHECK(called(with.port(), method(operation::send, generation::v03), params).status == "0");
    CHECK(with.gateway.wait_for_metric(R"(cardea_grpc_calls_total{agent="a",method="SendMessage",status="OK"})", 2));
}

TEST_CASE("A call whose push notifications are mediated passes byte for byte, unless it asks for them")
{
    const auto task = answer_of(operation::send, generation::v1, R"({"task":)" + std::string{v1_task} + "}");
    const grpc_relayed with{
        [&](const auto&) { return grpc_answer(task, {{"grpc-status", "0"}, {"x-trail", "1"}}); },
        [](auto& settings) {
            settings.agents[0].push = core::push_mode::mediate;
            settings.push_allow = {"127.0.0.0/8"};
        }
    };
    const auto& send = method(operation::send, generation::v1);
    const auto unknown = flow::pb_field(14, "unknown");
    const auto sent = [&](std::string_view json) {
        const auto message = written(*send.request, json).substr(5) + unknown;
        http2_caller caller{with.port()};
        caller.send(grpc_call(1, send.path, grpc_message(message)));
        REQUIRE(caller.answered(1));
        CHECK(caller.field(1, "grpc-status") == "0");
        CHECK(caller.field(1, "x-trail") == "1");
        return with.agent.requests().back().body == grpc_message(message);
    };
    CHECK(sent(v1_send));
    CHECK_FALSE(sent(
        R"({"message":{"messageId":"m"},"configuration":{"taskPushNotificationConfig":{"url":"http://127.0.0.1:1/hook"}}})"
    ));
    CHECK(with.agent.requests().back().body.find("/hook") == std::string::npos);
}

TEST_CASE("The rest of a caller's deadline goes to an agent of JSON in the configured field")
{
    relayed with{
        test_support::handler{[](const auto&) {
            return answer_json(R"({"jsonrpc":"2.0","id":1,"result":{"id":"t","status":{"state":"TASK_STATE_WORKING"}}})"
            );
        }},
        [](auto& settings) {
            settings.agents[0].dialects = {a2a_dialect::v1_jsonrpc};
            settings.grpc.default_agent = "a";
            settings.deadlines.fields = {"X-Wait-Ms"};
        }
    };
    http2_caller caller{with.port()};
    caller.send(grpc_call(1, flow::v1_get, grpc_message(flow::get_request({})), {{"grpc-timeout", "1S"}}));
    REQUIRE(caller.answered(1));
    CHECK(caller.field(1, "grpc-status") == "0");
    const auto told = std::stoi(with.agent.request(0).header("x-wait-ms"));
    CHECK(told > 500);
    CHECK(told <= 1'000);
}

TEST_SUITE_END();
