#include "gateway/request/contained_answer.hpp"

#include "core/json/json.hpp"
#include "core/json/jsonrpc_server.hpp"
#include "core/log.hpp"
#include "gateway/request/request_context.hpp"

#include <cstddef>
#include <string_view>
#include <utility>

namespace gateway::request {
namespace {

bool is_mcp(const request_context& request) noexcept
{
    using enum error_format;
    return request.errors.format == mcp || request.errors.format == mcp_session || request.errors.format == mcp_bundle;
}

std::string until_of(const request_context& request)
{
    std::string member;
    if (const auto& until = request.contained.terms->until) {
        core::append_timestamp(member += R"("until":")", *until);
        member += '"';
    }
    return member;
}

// Into the object whose end is so many bytes in front of that of the text.
void add_member(std::string& body, std::string_view before, const std::string& member, std::size_t from_end)
{
    if (!member.empty()) {
        body.insert(body.size() - from_end, std::string{before} + member);
    }
}

// The metadata of an ErrorInfo has the agent, if one is named.
void add_to_details(std::string& body, std::string_view agent, const std::string& until)
{
    constexpr std::size_t behind_metadata = std::string_view{"}]}}"}.size();
    if (!agent.empty()) {
        add_member(body, ",", until, behind_metadata + 1);
    } else if (!until.empty()) {
        add_member(body, R"(,"metadata":)", '{' + until + '}', behind_metadata);
    }
}

}  // namespace

core::error contained_failure(const request_context& request)
{
    return core::caller_error(request.contained.code);
}

responses::answer contained_answer(const request_context& request)
{
    const auto code = request.contained.code;
    const auto& said = request.contained.terms->notice;
    const auto& agent = request.record.agent;
    const auto& errors = request.errors;
    const auto until = until_of(request);
    if (errors.format == error_format::rest) {
        auto answer = responses::rest_error_answer(code, agent, errors.rest_version, errors.profile, said);
        if (errors.rest_version == ::a2a::generation::v1) {
            add_to_details(answer.body, agent, until);
        } else {
            add_member(answer.body, ",", until, std::string_view{"}}"}.size());
        }
        return answer;
    }
    const bool rpc = !errors.call_id.empty() || is_mcp(request);
    auto body =
        rpc ? core::jsonrpc_error_body(errors.call_id, code, agent, said) : core::http_error_body(code, agent, said);
    add_member(body, ",", until, rpc ? std::string_view{"}}}"}.size() : std::string_view{"}}"}.size());
    return responses::refusal_answer(code, core::http_status(code), std::move(body));
}

std::string contained_event(const request_context& request, bool listens)
{
    return listens ? ": contained\n\n" : "data: " + contained_answer(request).body + "\n\n";
}

}  // namespace gateway::request
