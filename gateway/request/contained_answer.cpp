#include "gateway/request/contained_answer.hpp"

#include "core/json/jsonrpc_server.hpp"
#include "gateway/model/containments.hpp"
#include "gateway/request/request_context.hpp"

#include <utility>

namespace gateway::request {
namespace {

bool is_mcp(const request_context& request) noexcept
{
    using enum error_format;
    return request.errors.format == mcp || request.errors.format == mcp_session || request.errors.format == mcp_bundle;
}

}  // namespace

core::error contained_failure(const request_context& request)
{
    return core::caller_error(request.contained.code);
}

responses::answer contained_answer(const request_context& request)
{
    const auto code = request.contained.code;
    const auto& terms = *request.contained.terms;
    const auto& agent = request.record.agent;
    const auto& errors = request.errors;
    responses::answer answer;
    if (errors.format == error_format::rest) {
        answer = responses::rest_error_answer(code, agent, errors.rest_version, errors.profile, terms.notice);
    } else {
        const bool rpc = !errors.call_id.empty() || is_mcp(request);
        auto body = rpc ? core::jsonrpc_error_body(errors.call_id, code, agent, terms.notice)
                        : core::http_error_body(code, agent, terms.notice);
        answer = responses::refusal_answer(code, core::http_status(code), std::move(body));
    }
    if (terms.until) {
        responses::add_to_data(answer.body, "until", model::end_text(terms));
    }
    return answer;
}

std::string contained_event(const request_context& request, bool listens)
{
    if (listens) {
        return ": contained\n\n";
    }
    // Clients of HTTP+JSON take an event without a type for a state of the task.
    const std::string_view type = request.errors.format == error_format::rest ? "event: error\n" : "";
    return std::string{type} + "data: " + contained_answer(request).body + "\n\n";
}

}  // namespace gateway::request
