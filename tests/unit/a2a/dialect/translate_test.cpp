// What the golden files do not show: limits, buffers, ids, what is told about a translation.
#include "tests/unit/a2a/dialect/wire_text.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

using a2a::operation;

TEST_SUITE_BEGIN("a2a/dialect");

namespace {

constexpr a2a::dialect old_rpc{a2a::generation::v03, a2a::binding::jsonrpc};
constexpr a2a::dialect old_rest{a2a::generation::v03, a2a::binding::rest};
constexpr a2a::dialect new_rpc{a2a::generation::v1, a2a::binding::jsonrpc};
constexpr a2a::dialect new_rest{a2a::generation::v1, a2a::binding::rest};

constexpr std::string_view message = R"({"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]})";

std::string send_params()
{
    return R"({"message":)" + std::string{message} + "}";
}

a2a::translation<a2a::exchange>
request(a2a::dialect from, a2a::dialect to, operation what, std::string_view payload, a2a::outgoing_request& out)
{
    a2a::incoming_request in;
    in.from = from;
    in.what = what;
    in.payload = payload;
    in.id = "1";
    return a2a::translate_request(in, to, {}, out);
}

std::string nested(unsigned depth)
{
    return std::string(depth, '[') + std::string(depth, ']');
}

}  // namespace

TEST_CASE("All of the history is asked for on request, unless the caller says a length")
{
    a2a::request_options options;
    options.whole_history = true;
    a2a::outgoing_request out;
    const auto asked = [&](std::string_view params, a2a::dialect to) {
        const a2a::incoming_request in{new_rpc, a2a::operation::get, params, "1", nullptr};
        REQUIRE(a2a::translate_request(in, to, options, out).has_value());
        return out.target + out.body;
    };
    CHECK(
        asked(R"({"id":"t"})", old_rpc) ==
        R"({"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"t","historyLength":2147483647}})"
    );
    CHECK(asked(R"({"id":"t"})", old_rest) == "/v1/tasks/t?historyLength=2147483647");
    CHECK(
        asked(R"({"id":"t","historyLength":3})", old_rpc) ==
        R"({"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"t","historyLength":3}})"
    );
}

TEST_CASE("a request up to the limit of bytes is translated, and a larger one is refused")
{
    const auto params = send_params();
    a2a::incoming_request in;
    in.from = new_rpc;
    in.what = operation::send;
    in.payload = params;
    a2a::outgoing_request out;
    a2a::request_options options;
    for (const std::size_t more : {1U, 0U}) {
        options.limits.bytes = params.size() + more;
        CHECK(a2a::translate_request(in, old_rpc, options, out).has_value());
    }
    options.limits.bytes = params.size() - 1;
    const auto refused = a2a::translate_request(in, old_rpc, options, out);
    REQUIRE(refused.has_error());
    CHECK(refused.error().code == a2a::rpc_code::invalid_request);
}

TEST_CASE("an answer and an event up to the limit of bytes are translated, and larger ones are refused")
{
    const a2a::exchange how{
        .caller = old_rpc,
        .agent = new_rest,
        .asked = operation::stream,
        .sent = operation::stream
    };
    const auto event = R"({"message":)" + std::string{message} + "}";
    a2a::answer_options options;
    std::string out;
    for (const std::size_t more : {1U, 0U}) {
        options.limits.bytes = event.size() + more;
        CHECK(a2a::translate_event(how, event, options, out).has_value());
        CHECK(a2a::translate_answer(how, {200, event}, options, out).has_value());
    }
    options.limits.bytes = event.size() - 1;
    out = "kept";
    CHECK(a2a::translate_event(how, event, options, out).error().code == a2a::rpc_code::invalid_agent_response);
    CHECK(a2a::translate_answer(how, {200, event}, options, out).error().code == a2a::rpc_code::invalid_agent_response);
    CHECK(out == "kept");
}

TEST_CASE("containers may be nested up to the limit of depth")
{
    const a2a::exchange how{.caller = new_rest, .agent = old_rest, .asked = operation::list, .sent = operation::list};
    a2a::answer_options options;
    for (const unsigned limit : {63U, 64U}) {
        options.limits.depth = limit;
        std::string out;
        CHECK(a2a::translate_answer(how, {200, nested(limit - 1)}, options, out).has_value());
        CHECK(a2a::translate_answer(how, {200, nested(limit)}, options, out).has_value());
        CHECK(a2a::translate_answer(how, {200, nested(limit + 1)}, options, out).has_error());
    }
    options.limits.depth = 100;
    std::string out;
    CHECK(a2a::translate_answer(how, {200, nested(65)}, options, out).has_error());
    for (const unsigned depth : {61U, 62U, 63U}) {
        const auto body = R"({"message":{"messageId":"m","role":"ROLE_USER","content":[],"metadata":{"a":)" +
                          nested(depth - 2) + "}}}";
        a2a::rest_target target;
        target.what = operation::send;
        a2a::incoming_request in;
        in.from = old_rest;
        in.what = operation::send;
        in.payload = body;
        in.target = &target;
        a2a::request_options small;
        small.limits.depth = 63;
        a2a::outgoing_request sent;
        const auto done = a2a::translate_request(in, new_rpc, small, sent);
        CHECK(done.has_value() == (depth <= 62));
        if (!done) {
            CHECK(done.error().code == a2a::rpc_code::parse_error);
        }
    }
}

TEST_CASE("the id of a call goes out as it stands, and comes back as the caller wrote it")
{
    for (const std::string_view id : {R"("a\u0062")", "17", "1.0e2", "null", "-0"}) {
        CAPTURE(id);
        const auto params = send_params();
        a2a::incoming_request in{.from = new_rpc, .what = operation::send, .payload = params, .id = id};
        a2a::outgoing_request out;
        const auto how = a2a::translate_request(in, old_rpc, {}, out);
        REQUIRE(how.has_value());
        CHECK(tests::member_of(out.body, "id") == id);
        a2a::answer_options options;
        options.id = id;
        std::string answer;
        const auto body =
            std::string{R"({"jsonrpc":"2.0","id":"other","result":{"kind":"task","id":"t","contextId":"c",)"} +
            R"("status":{"state":"working"}}})";
        REQUIRE(a2a::translate_answer(*how, {200, body}, options, answer).has_value());
        CHECK(tests::member_of(answer, "id") == id);
    }
    const auto params = send_params();
    a2a::outgoing_request out;
    REQUIRE(a2a::translate_request(
                {.from = new_rpc, .what = operation::send, .payload = params, .id = {}},
                old_rpc,
                {},
                out
    )
                .has_value());
    CHECK(tests::member_of(out.body, "id").empty());
}

TEST_CASE("the tenant of an interface is sent for callers who name none")
{
    a2a::request_options options;
    options.tenant = "a \"b\":c";
    const auto made = [&options](a2a::dialect from, a2a::dialect to, std::string_view row) {
        return tests::translated_request(from, to, operation::get, row, options).text;
    };
    const std::string_view asked = R"({"params":{"id":"t"}})";
    CHECK(made(old_rpc, new_rpc, asked) == R"({"params":{"tenant":"a \"b\":c","id":"t"}})");
    CHECK(made(old_rpc, new_rest, asked) == R"({"verb":"GET","target":"/a%20%22b%22%3Ac/tasks/t"})");
    CHECK(
        made(new_rpc, new_rest, R"({"params":{"tenant":"own","id":"t"}})") ==
        R"({"verb":"GET","target":"/own/tasks/t"})"
    );
    CHECK(made(new_rpc, old_rpc, asked) == asked);
}

TEST_CASE("an exchange says what is left to do with the answer")
{
    a2a::outgoing_request out;
    const auto told = [&out](a2a::dialect from, a2a::dialect to, operation what, std::string_view params) {
        const auto how = request(from, to, what, params, out);
        REQUIRE(how.has_value());
        return *how;
    };
    const auto none = std::string_view{R"({"id":"t","historyLength":0})"};
    CHECK(told(new_rpc, old_rpc, operation::get, none).without_history);
    CHECK(told(new_rpc, old_rest, operation::get, none).without_history);
    CHECK(told(old_rpc, old_rest, operation::get, none).without_history);
    CHECK_FALSE(told(old_rpc, new_rpc, operation::get, none).without_history);
    CHECK_FALSE(told(new_rpc, old_rpc, operation::get, R"({"id":"t","historyLength":1})").without_history);
    CHECK_FALSE(told(new_rpc, new_rest, operation::get, none).without_history);
    const auto sent = R"({"configuration":{"historyLength":0},"message":)" + std::string{message} + "}";
    CHECK(told(new_rpc, old_rpc, operation::send, sent).without_history);

    const auto first = told(old_rpc, new_rest, operation::get_push, R"({"id":"t"})");
    CHECK(first.first_config);
    CHECK(first.sent == operation::list_push);
    CHECK(first.asked == operation::get_push);
    const auto whole = told(old_rpc, new_rest, operation::get_push, R"({"id":"t","pushNotificationConfigId":"p"})");
    CHECK_FALSE(whole.first_config);
    CHECK(whole.sent == operation::get_push);
    CHECK(whole.caller == old_rpc);
    CHECK(whole.agent == new_rest);
}

TEST_CASE("what is of no method of A2A is refused")
{
    a2a::outgoing_request out;
    CHECK(request(new_rpc, old_rpc, operation::none, "{}", out).error().code == a2a::rpc_code::method_not_found);
}

TEST_CASE("a buffer that held another request holds nothing of it")
{
    a2a::outgoing_request out;
    REQUIRE(request(old_rpc, new_rest, operation::cancel, R"({"id":"a","metadata":{},"x":1})", out).has_value());
    CHECK(out.lost == 1);
    REQUIRE(request(old_rpc, new_rest, operation::get, R"({"id":"b"})", out).has_value());
    CHECK(out.target == "/tasks/b");
    CHECK(out.body.empty());
    CHECK(out.lost == 0);
    REQUIRE(request(old_rpc, new_rpc, operation::get, R"({"id":"c"})", out).has_value());
    CHECK(out.target.empty());
    CHECK(out.body == R"({"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"c"}})");
}

TEST_CASE("answers are appended, and a failure appends nothing")
{
    const a2a::exchange how{.caller = old_rpc, .agent = new_rest, .asked = operation::get, .sent = operation::get};
    std::string out = "before";
    REQUIRE(a2a::translate_answer(how, {200, R"( {"id":"t","status":{}} )"}, {}, out).has_value());
    CHECK(
        out ==
        R"(before{"jsonrpc":"2.0","id":null,"result":{"kind":"task","id":"t","contextId":"t","status":{"state":"unknown"}}})"
    );
    for (const std::string_view bad :
         {"", " ", "[", "{}x", R"({"id":"t","status":{},"history":[{"parts":[{}]}]})", "7"}) {
        CAPTURE(bad);
        out = "before";
        CHECK(a2a::translate_answer(how, {200, bad}, {}, out).has_error());
        CHECK(out == "before");
        CHECK(a2a::translate_event(how, bad, {}, out).has_error());
        CHECK(out == "before");
    }
}

TEST_CASE("an agent's error status is an error, whatever its body is")
{
    a2a::exchange how{.caller = new_rest, .agent = old_rpc, .asked = operation::get, .sent = operation::get};
    std::string out;
    const auto told = a2a::translate_answer(
        how,
        {500, R"({"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"gone"}})"},
        {},
        out
    );
    REQUIRE(told.has_value());
    CHECK(told->is_error);
    CHECK(told->status == 404);
    for (const auto& [status, expected] : {std::pair{503U, 503U}, std::pair{401U, 401U}, std::pair{500U, 500U}}) {
        CAPTURE(status);
        const auto silent = a2a::translate_answer(how, {status, "<html>"}, {}, out);
        REQUIRE(silent.has_value());
        CHECK(silent->is_error);
        CHECK(silent->status == expected);
    }
    how.caller = old_rpc;
    how.agent = new_rest;
    const auto rest = a2a::translate_answer(how, {404, ""}, {}, out = "");
    REQUIRE(rest.has_value());
    CHECK(rest->status == 200);
    CHECK(out == R"({"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Task not found"}})");
}

TEST_CASE("a deleted push configuration needs no body")
{
    const a2a::exchange how{
        .caller = old_rpc,
        .agent = new_rest,
        .asked = operation::delete_push,
        .sent = operation::delete_push
    };
    std::string out;
    REQUIRE(a2a::translate_answer(how, {204, ""}, {}, out).has_value());
    CHECK(out == R"({"jsonrpc":"2.0","id":null,"result":null})");
}

TEST_CASE("a page that 0.3 JSON-RPC has no word for is reported")
{
    const a2a::exchange how{
        .caller = old_rpc,
        .agent = new_rpc,
        .asked = operation::list_push,
        .sent = operation::list_push
    };
    std::string out;
    const auto answer = a2a::translate_answer(
        how,
        {200, R"({"jsonrpc":"2.0","id":1,"result":{"configs":[],"nextPageToken":"n\""}})"},
        {},
        out
    );
    REQUIRE(answer.has_value());
    CHECK(answer->next_page == R"("n\"")");
}

TEST_CASE("a translation says what an event is and in which state its task is")
{
    struct row {
        std::string_view event;
        a2a::event_kind kind;
        a2a::task_state state;
    };
    const std::array rows{
        row{R"({"task":{"id":"t","status":{"state":"TASK_STATE_FAILED"}}})",
            a2a::event_kind::task,
            a2a::task_state::failed},
        row{R"({"message":{"messageId":"m","role":"ROLE_AGENT","parts":[]}})",
            a2a::event_kind::message,
            a2a::task_state::unspecified},
        row{R"({"statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_AUTH_REQUIRED"}}})",
            a2a::event_kind::status_update,
            a2a::task_state::auth_required},
        row{R"({"artifactUpdate":{"taskId":"t","artifact":{"artifactId":"a"}}})",
            a2a::event_kind::artifact_update,
            a2a::task_state::unspecified},
    };
    for (const auto& each : rows) {
        CAPTURE(each.event);
        for (const auto caller : {old_rpc, new_rpc, old_rest}) {
            const a2a::exchange how{
                .caller = caller,
                .agent = new_rest,
                .asked = operation::stream,
                .sent = operation::stream
            };
            const auto made = tests::translated_event(how, each.event);
            CHECK(made.facts.kind == each.kind);
            CHECK(made.facts.state == each.state);
        }
    }
}

TEST_CASE("a refusal is written as the caller's dialect writes errors")
{
    const a2a::refusal why{a2a::rpc_code::invalid_params, "message.parts[0]", "has no content"};
    a2a::answer_options options;
    options.id = "\"x\"";
    const auto written = [&](a2a::dialect caller, const a2a::refusal& refused, unsigned status) {
        std::string out;
        CHECK(a2a::append_refusal(out, caller, options, refused) == status);
        return out;
    };
    CHECK(
        written(old_rpc, why, 200) ==
        R"({"jsonrpc":"2.0","id":"x","error":{"code":-32602,"message":"Invalid parameters: message.parts[0] has no content","data":{"field":"message.parts[0]"}}})"
    );
    CHECK(
        written(new_rpc, why, 200) ==
        R"({"jsonrpc":"2.0","id":"x","error":{"code":-32602,"message":"Invalid parameters: message.parts[0] has no content","data":[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"message.parts[0]","description":"has no content"}]}]}})"
    );
    CHECK(
        written(old_rest, why, 400) ==
        R"({"code":-32602,"message":"Invalid parameters: message.parts[0] has no content","data":{"field":"message.parts[0]"}})"
    );
    const a2a::refusal list{a2a::rpc_code::unsupported_operation, {}, "lists tasks, which 0.3 cannot do"};
    CHECK(
        written(new_rest, list, 400) ==
        R"({"error":{"code":400,"status":"FAILED_PRECONDITION","message":"This operation is not supported: the request lists tasks, which 0.3 cannot do","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"UNSUPPORTED_OPERATION","domain":"a2a-protocol.org"}]}})"
    );
    options.profile = a2a::error_profile::v1_0_0;
    const a2a::refusal agent{a2a::rpc_code::invalid_agent_response, {}, "is not JSON"};
    CHECK(
        written(new_rest, agent, 502).find("The agent's answer is not valid: the answer is not JSON") !=
        std::string::npos
    );
}

TEST_SUITE_END();
