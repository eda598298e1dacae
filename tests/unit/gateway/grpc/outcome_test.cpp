#include "gateway/grpc/outcome.hpp"

#include "a2a/dialect/error.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace gateway::grpc;
using a2a::generation;
using core::grpc_code;

namespace {

constexpr outcome_terms v1{.version = generation::v1, .what = a2a::operation::get};
constexpr outcome_terms v03{.version = generation::v03, .what = a2a::operation::get};

using metadata = std::vector<std::pair<std::string, std::string>>;

}  // namespace

TEST_CASE("an error of the gateway's own has its sentence and its reason")
{
    const auto status = own_status(core::errc::overloaded, "dice", v1);
    CHECK(status.code == grpc_code::unavailable);
    CHECK(status.message == core::message(core::errc::overloaded));
    CHECK(status.info.reason == "overloaded");
    CHECK(status.info.domain == "cardea");
    CHECK(status.info.metadata == metadata{{"agent", "dice"}});
}

TEST_CASE("an error that A2A has says its reason, and to callers of 0.3 its name")
{
    auto status = own_status(core::errc::task_not_found, {}, v1);
    CHECK(status.code == grpc_code::not_found);
    CHECK(status.info.reason == "TASK_NOT_FOUND");
    CHECK(status.info.domain == "a2a-protocol.org");
    CHECK(status.message == core::message(core::errc::task_not_found));
    status = own_status(core::errc::task_not_found, {}, v03);
    CHECK(status.message == "TaskNotFoundError: " + std::string{core::message(core::errc::task_not_found)});
}

TEST_CASE("the edition decides about the codes that 1.0.1 has changed")
{
    auto terms = v1;
    CHECK(own_status(core::errc::operation_unsupported, {}, terms).code == grpc_code::failed_precondition);
    terms.profile = a2a::error_profile::v1_0_0;
    CHECK(own_status(core::errc::operation_unsupported, {}, terms).code == grpc_code::unimplemented);
}

TEST_CASE("an error of JSON-RPC becomes a status with its details")
{
    const auto status = status_of_json(
        200,
        R"({"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"No: \u00e4.","data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_CANCELABLE","domain":"a2a-protocol.org","metadata":{"taskId":"t","n":1}}]}})",
        std::nullopt,
        v1
    );
    CHECK(status.code == grpc_code::failed_precondition);
    CHECK(status.message == "No: \xC3\xA4.");
    CHECK(status.info.reason == "TASK_NOT_CANCELABLE");
    CHECK(status.info.metadata == metadata{{"taskId", "t"}});
}

TEST_CASE("an error of HTTP+JSON 0.3 becomes a status whose message begins with its name")
{
    const auto status = status_of_json(404, R"({"code":-32001,"message":"Task not found"})", std::nullopt, v03);
    CHECK(status.code == grpc_code::not_found);
    CHECK(status.message == "TaskNotFoundError: Task not found");
    CHECK(status.info.reason == "TASK_NOT_FOUND");
}

TEST_CASE("a body that says nothing leaves the status of HTTP")
{
    for (const auto* const body : {"", "<html>", "[]", "{}", R"({"error":7})"}) {
        CAPTURE(body);
        CHECK(status_of_json(503, body, std::nullopt, v1).code == grpc_code::unavailable);
        CHECK(status_of_json(401, body, std::nullopt, v1).code == grpc_code::unauthenticated);
        CHECK(status_of_json(200, body, std::nullopt, v1).code == grpc_code::internal);
    }
}

TEST_CASE("a status of an agent becomes an error of its generation, and that the same status again")
{
    for (const int code :
         {a2a::rpc_code::task_not_found,
          a2a::rpc_code::task_not_cancelable,
          a2a::rpc_code::push_not_supported,
          a2a::rpc_code::unsupported_operation,
          a2a::rpc_code::content_type_not_supported,
          a2a::rpc_code::invalid_agent_response,
          a2a::rpc_code::extended_card_not_configured,
          a2a::rpc_code::extension_support_required,
          a2a::rpc_code::version_not_supported}) {
        CAPTURE(code);
        const net::grpc::status from{
            *core::grpc_code_named(a2a::status_of(code, a2a::error_profile::v1_0_1).grpc),
            "Said \"so\".",
            {std::string{a2a::reason_of(code)}, "a2a-protocol.org", {{"k", "v"}}}
        };
        const auto json = json_of_status(from, v1, "7");
        CHECK(json.body.starts_with(R"({"jsonrpc":"2.0","id":7,"error":{"code":)" + std::to_string(code)));
        const auto back = status_of_json(json.http, json.body, std::nullopt, v1);
        CHECK(back.code == from.code);
        CHECK(back.message == from.message);
        CHECK(back.info.reason == from.info.reason);
        CHECK(back.info.metadata == from.info.metadata);
    }
}

TEST_CASE("the name in a message of 0.3 is the error, and is not said twice")
{
    const net::grpc::status from{grpc_code::unimplemented, "TaskNotCancelableError: It is over.", {}};
    const auto json = json_of_status(from, v03, {});
    CHECK(json.body == R"({"code":-32002,"message":"It is over."})");
    CHECK(status_of_json(json.http, json.body, std::nullopt, v03).message == from.message);
}

TEST_CASE("a status without a reason is told by its code")
{
    CHECK(json_of_status({grpc_code::not_found, "m", {}}, v1, "1").body.find(R"("code":-32001)") != std::string::npos);
    CHECK(json_of_status({grpc_code::unavailable, "m", {}}, v1, "1").http == 503);
    CHECK(json_of_status({grpc_code::unauthenticated, "m", {}}, v1, "1").http == 401);
    const auto json = json_of_status({grpc_code::invalid_argument, "m", {}}, v1, "1");
    CHECK(json.body.find(R"("code":-32602)") != std::string::npos);
}
