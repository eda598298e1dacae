#include "gateway/pages/resource_metadata_endpoint.hpp"

#include "core/json/json.hpp"
#include "gateway/access/access_plan.hpp"
#include "gateway/model/agent_record.hpp"
#include "gateway/model/well_known.hpp"
#include "gateway/relay/deadline_fields.hpp"
#include "net/server/timed_ask.hpp"

#include <utility>

namespace gateway::pages {
namespace {

net::routine<> respond_metadata(request::request_context& request, std::optional<std::string> metadata)
{
    if (!metadata) {
        return request::respond_error(request, core::caller_error(core::errc::not_found));
    }
    responses::answer answer;
    answer.status = 200;
    answer.fields = "Cache-Control: public, max-age=300\r\n";
    answer.content_type = "application/json";
    answer.body = std::move(*metadata);
    return request::respond(request, std::move(answer));
}

}  // namespace

net::routine<> resource_metadata_endpoint::answer(request::request_context& request)
{
    if (logs_callers_in(request)) {
        return answer_for_server(request);
    }
    const auto host = request.origin ? request.origin->host : std::string_view{};
    const auto* const known = known_.find(request.to.agent);
    const auto* const record = known == nullptr ? nullptr : &known->entry->record;
    auto metadata = request.access
                        ? request.access->resource_metadata({request.to.agent, request.to.below, host, record})
                        : std::nullopt;
    return respond_metadata(request, std::move(metadata));
}

// Whether it is asked about the messages of an MCP server that anybody may know of.
bool resource_metadata_endpoint::logs_callers_in(request::request_context& request) const
{
    const auto id = request.origin ? std::string_view{request.origin->id} : request.to.agent;
    const auto* const known = request.to.below == model::mcp_path ? known_.find(id) : nullptr;
    if (known == nullptr || !model::passes_logins(known->entry->record) ||
        (request.access && !request.access->may_discover(known->entry->record, nullptr))) {
        return false;
    }
    request.set_agent(known->entry);
    return true;
}

net::routine<> resource_metadata_endpoint::answer_for_server(request::request_context& request)
{
    const auto& id = request.agent->record.id;
    auto asked = control_.login_of(request.agent);
    const auto& caller = request.caller;
    const auto due = relay::caller_deadline(caller.head().fields, settings_.deadlines.fields, caller.started());
    auto answered = co_await net::ask_until(request.caller, due, control_.executor(), std::move(asked));
    if (!answered) {
        co_await request::respond_error(request, net::gave_up(request.caller));
        co_return;
    }
    auto& login = *answered;
    if (!login) {
        co_await request::respond_error(request, std::move(login).error());
        co_return;
    }
    const auto own = own_origin(request);
    core::json metadata{
        {"resource",
         (own.empty() ? model::public_address(known_.public_base(), id) : own) + std::string{model::mcp_path}},
        {"authorization_servers", login->authorization_servers}
    };
    if (!login->scopes.empty()) {
        metadata["scopes_supported"] = login->scopes;
    }
    metadata["bearer_methods_supported"] = {"header"};
    co_await respond_metadata(request, core::to_text(metadata));
}

}  // namespace gateway::pages
