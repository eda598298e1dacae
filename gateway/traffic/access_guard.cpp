#include "gateway/traffic/access_guard.hpp"

#include "gateway/access/policy.hpp"

#include <utility>

namespace gateway::traffic {
namespace {

model::access_outcome outcome_of(const core::result<access::caller>& owner) noexcept
{
    if (owner) {
        return *owner ? model::access_outcome::accepted : model::access_outcome::anonymous;
    }
    switch (owner.error().code) {
        case core::errc::bad_request:
            return model::access_outcome::ambiguous;
        case core::errc::access_unavailable:
            return model::access_outcome::unavailable;
        case core::errc::rate_limited:
            return model::access_outcome::limited;
        default:
            return model::access_outcome::refused;
    }
}

std::string_view address_of(const request_context& request) noexcept
{
    return request.client.empty() ? std::string_view{request.caller.peer()} : request.client;
}

}  // namespace

bool access_guard::identify(request_context& request)
{
    request.access = gate_.plan();
    if (!request.access) {
        return true;
    }
    auto owner = gate_.identify(request.caller, address_of(request));
    if (!owner) {
        return false;
    }
    request.owner = std::move(*owner);
    return true;
}

net::routine<> access_guard::ask(request_context& request)
{
    request.owner = co_await gate_.ask(request.caller, address_of(request));
}

std::optional<net::routine<>> access_guard::admit(request_context& request) const
{
    const auto where = request.to.where;
    if (!request.access || where == model::route::key_set || where == model::route::resource_metadata) {
        return std::nullopt;
    }
    request.record.access = outcome_of(request.owner);
    if (!request.owner) {
        return respond_unidentified(request, request.owner.error());
    }
    if (const auto* caller = request.principal()) {
        request.record.principal = caller->id;
        request.record.provider = caller->provider;
    }
    switch (request.to.where) {
        case model::route::card:
        case model::route::call:
        case model::route::relay:
            return admit_to_agent(request);
        case model::route::management:
            if (!access::has_scope(request.principal(), core::scope_read)) {
                return respond_forbidden(request);
            }
            return std::nullopt;
        case model::route::key_set:
        case model::route::resource_metadata:
        case model::route::directory:
        case model::route::none:
            break;
    }
    return request.principal() == nullptr ? std::optional{respond_forbidden(request)} : std::nullopt;
}

std::optional<net::routine<>> access_guard::admit_to_agent(request_context& request) const
{
    const auto* known = known_.find(request.to.agent);
    const auto* caller = request.principal();
    request.sees_agent = known != nullptr && request.access->may_discover(known->entry->record, caller);
    if (!request.sees_agent) {
        // To a caller with a credential an agent that it may not know of is one that does not exist.
        return caller == nullptr ? std::optional{respond_forbidden(request)} : std::nullopt;
    }
    request.may_call = request.access->may_call_somehow(known->entry->record, caller);
    return std::nullopt;
}

}  // namespace gateway::traffic
