#include "gateway/request/contained_answer.hpp"

#include "core/json/jsonrpc_server.hpp"
#include "gateway/model/containments.hpp"
#include "gateway/request/request_context.hpp"

#include <utility>

namespace gateway::request {
namespace {

bool is_mcp(error_format format) noexcept
{
    using enum error_format;
    return format == mcp || format == mcp_session || format == mcp_bundle;
}

}  // namespace

core::error contained_failure(const request_context& request)
{
    return core::caller_error(request.contained.code);
}

responses::answer contained_answer(const request_context& request)
{
    return contained_answer(request.errors, request.contained, request.record.agent);
}

responses::answer contained_answer(const error_terms& errors, const met_containment& met, std::string_view agent)
{
    const auto code = met.code;
    const auto& terms = *met.terms;
    responses::answer answer;
    if (errors.format == error_format::rest) {
        answer = responses::rest_error_answer(code, agent, errors.rest_version, errors.profile, terms.notice);
    } else {
        const bool rpc = !errors.call_id.empty() || is_mcp(errors.format);
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
