#include "gateway/responses/answer.hpp"

#include "a2a/dialect/error.hpp"
#include "core/error.hpp"
#include "core/json/jsonrpc_server.hpp"
#include "net/http1/head_writer.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace gateway::responses {
namespace {

answer failure(core::errc code, std::string body, std::uint64_t retry_after = usual_retry_after)
{
    answer out;
    out.status = core::http_status(code);
    net::http1::head_writer head{out.fields};
    head.field("Cardea-Error", core::name(code));
    head.field("Cache-Control", "no-store");
    if (out.status == 503 && core::retryable(code)) {
        head.field("Retry-After", retry_after);
    } else if (out.status == 429) {
        head.field("Retry-After", std::uint64_t{1});  // the limits are for a second
    }
    out.body = std::move(body);
    return out;
}

}  // namespace

answer error_answer(core::errc code, std::string_view agent, std::uint64_t retry_after)
{
    return failure(code, core::http_error_body(code, agent), retry_after);
}

void set_retry_after(answer& of, std::uint64_t seconds)
{
    constexpr std::string_view name = "Retry-After: ";
    const auto at = of.fields.find(name);
    if (at != std::string::npos) {
        const auto from = at + name.size();
        of.fields.replace(from, of.fields.find("\r\n", from) - from, std::to_string(seconds));
    }
}

std::uint64_t retry_after(core::steady_time now, core::steady_time again_at) noexcept
{
    using std::chrono::seconds;
    constexpr seconds least{1};
    constexpr seconds most{300};
    const auto left = std::chrono::ceil<seconds>(again_at - now);
    return static_cast<std::uint64_t>(std::clamp(left, least, most).count());
}

answer explained_answer(core::errc code, std::string_view message)
{
    std::string body = R"({"error":{"code":)";
    core::append_json_string(body, core::name(code));
    body += R"(,"message":)";
    core::append_json_string(body, message);
    body += core::retryable(code) ? R"(,"retryable":true}})" : R"(,"retryable":false}})";
    return failure(code, std::move(body));
}

answer problems_answer(core::errc code, core::json problems)
{
    const core::json error{
        {"code", core::name(code)},
        {"message", core::message(code)},
        {"retryable", core::retryable(code)},
        {"problems", std::move(problems)}
    };
    return failure(code, core::to_text({{"error", error}}));
}

answer no_calls_answer(std::string_view agent, std::string_view id)
{
    constexpr auto code = core::errc::not_implemented;
    constexpr std::string_view said =
        "This agent is an MCP server: it takes messages of MCP, at the path /mcp below its address.";
    return failure(
        code,
        id.empty() ? core::http_error_body(code, agent, said) : core::jsonrpc_error_body(id, code, agent, said)
    );
}

answer jsonrpc_error_answer(core::errc code, std::string_view agent, std::string_view id)
{
    auto out = failure(code, core::jsonrpc_error_body(id, code, agent));
    out.status = core::jsonrpc_http_status(code);
    return out;
}

answer mcp_error_answer(core::errc code, std::string_view agent, std::string_view id, std::string_view data)
{
    if (data.empty()) {
        return failure(code, core::jsonrpc_error_body(id, code, agent));
    }
    std::string body = R"({"jsonrpc":"2.0","id":)";
    body += id.empty() ? "null" : id;
    body += R"(,"error":{"code":)" + std::to_string(core::jsonrpc_code(code)) + R"(,"message":)";
    core::append_json_string(body, core::message(code));
    body.append(R"(,"data":)").append(data).append("}}");
    return failure(code, std::move(body));
}

void add_upstream_status(std::string& body, unsigned status)
{
    constexpr std::size_t brackets = std::string_view{"}}}"}.size();
    body.insert(body.size() - brackets, R"(,"status":)" + std::to_string(status));
    if (core::passes(status)) {
        set_retryable(body);
    }
}

void set_retryable(std::string& body)
{
    constexpr std::string_view before = R"("retryable":false)";
    if (const auto at = body.rfind(before); at != std::string::npos) {
        body.replace(at, before.size(), R"("retryable":true)");
    }
}

void add_to_data(std::string& body, std::string_view name, std::string_view text)
{
    constexpr std::string_view before = R"("retryable":false)";
    constexpr std::string_view end_of_info = R"(}]}})";
    std::string member;
    core::append_json_string(member += ',', name);
    core::append_json_string(member += ':', text);
    const auto at = body.rfind(before);
    if (at != std::string::npos) {
        body.insert(at + before.size(), member);
    } else if (body.ends_with('}' + std::string{end_of_info})) {
        body.insert(body.size() - end_of_info.size() - 1, member);
    } else {
        body.insert(body.size() - end_of_info.size(), R"(,"metadata":{)" + member.substr(1) + '}');
    }
}

answer call_error(core::errc code, std::string_view agent, std::string_view id)
{
    return id.empty() ? error_answer(code, agent) : jsonrpc_error_answer(code, agent, id);
}

answer rest_error_answer(
    core::errc code,
    std::string_view agent,
    ::a2a::generation of,
    ::a2a::error_profile profile,
    std::string_view said
)
{
    said = said.empty() ? core::message(code) : said;
    const int number = core::jsonrpc_code(code);
    const auto reason = ::a2a::reason_of(number);
    const auto http = core::http_status(code);
    constexpr int gateways_own = -31000;  // codes that hold the status of HTTP (core/error.hpp)
    const auto status = ::a2a::status_of(reason.empty() ? gateways_own - static_cast<int>(http) : number, profile);
    std::string body;
    if (of == ::a2a::generation::v1) {
        body = R"({"error":{"code":)" + std::to_string(status.http) + R"(,"status":")";
        body.append(status.grpc).append(R"(","message":)");
        core::append_json_string(body, said);
        body += R"(,"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":)";
        core::append_json_string(body, reason.empty() ? core::name(code) : reason);
        body += reason.empty() ? R"(,"domain":"cardea")" : R"(,"domain":"a2a-protocol.org")";
        if (!agent.empty()) {
            body += R"(,"metadata":{"agent":)";
            core::append_json_string(body, agent);
            body += '}';
        }
        body += "}]}}";
    } else {
        body = R"({"code":)" + std::to_string(number) + R"(,"message":)";
        core::append_json_string(body, said);
        body += R"(,"data":{"code":)";
        core::append_json_string(body, core::name(code));
        if (!agent.empty()) {
            body += R"(,"agent":)";
            core::append_json_string(body, agent);
        }
        body += core::retryable(code) ? R"(,"retryable":true}})" : R"(,"retryable":false}})";
    }
    return refusal_answer(code, reason.empty() ? http : status.http, std::move(body));
}

answer refusal_answer(core::errc code, unsigned status, std::string body)
{
    auto out = failure(code, std::move(body));
    out.status = status;
    return out;
}

answer a2x_unauthenticated_answer(std::string_view id)
{
    std::string body = R"({"jsonrpc":"2.0","id":)";
    body += id.empty() ? "null" : id;
    body += R"(,"error":{"code":-32008,"message":"Authentication required","data":{"code":"unauthenticated",)";
    body += R"("retryable":false}}})";
    return failure(core::errc::unauthenticated, std::move(body));
}

std::string refusal_of_connection()
{
    const auto reply = error_answer(core::errc::overloaded, {});
    std::string text;
    net::http1::head_writer head{text};
    head.status_line(reply.status);
    head.field("Connection", "close");
    head.field("Content-Type", reply.content_type);
    head.field("Content-Length", reply.body.size());
    text += reply.fields;
    head.end();
    return text + reply.body;
}

answer method_not_allowed(std::string_view allowed)
{
    auto out = error_answer(core::errc::method_not_allowed, {});
    net::http1::head_writer head{out.fields};
    head.field("Allow", allowed);
    return out;
}

answer options_answer()
{
    answer out;
    out.status = 204;
    net::http1::head_writer head{out.fields};
    head.field("Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
    return out;
}

void begin_head(std::string& head, const net::caller_exchange& caller, unsigned status, std::string_view reason)
{
    head.clear();
    net::http1::head_writer out{head};
    out.status_line(status, reason);
    out.field("Date", caller.owner().http_date());
}

net::routine<core::result<>> send_answer(net::caller_exchange& caller, answer reply)
{
    auto& head = caller.scratch();
    begin_head(head, caller, reply.status, reply.reason);
    const bool has_body = reply.status != 204 && reply.status != 304;
    if (has_body) {
        net::http1::head_writer{head}.field("Content-Type", reply.content_type);
    }
    head += reply.fields;
    const auto length = has_body ? net::answer_length::known(reply.body.size() + reply.rest.size() + reply.end.size())
                                 : net::answer_length::untold();
    caller.complete_head(head, length);
    net::answer_part whole{.head = head, .last = true};
    if (has_body && caller.head().verb != net::http1::method::head) {
        whole.body.add(reply.body);
        whole.body.add(reply.rest);
        whole.body.add(reply.end);
    }
    co_return co_await caller.send(whole);
}

}  // namespace gateway::responses
