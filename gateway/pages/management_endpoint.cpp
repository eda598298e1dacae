#include "gateway/pages/management_endpoint.hpp"

#include "gateway/access/policy.hpp"
#include "gateway/pages/rpc_exchange.hpp"
#include "gateway/responses/content_type.hpp"

#include <algorithm>
#include <stop_token>

namespace gateway::pages {

using core::errc;

namespace {

// A caller without a credential sees no more than a principal without the scope, also where nobody needs one.
model::rpc_rights rights_of(const request::request_context& request)
{
    model::rpc_rights rights;
    const auto* caller = request.principal();
    if (caller != nullptr) {
        rights.who = caller->provider + ' ' + caller->id;
    }
    const bool reads = access::has_scope(caller, core::scope_read);
    rights.may_write = reads && access::has_scope(caller, core::scope_write);
    if (!reads) {
        rights.shows = [plan = request.access, owner = request.owner](const core::agent& agent) {
            return plan == nullptr || plan->may_discover(agent, owner ? owner->get() : nullptr);
        };
    }
    return rights;
}

}  // namespace

net::routine<> management_endpoint::answer(request::request_context& request)
{
    if (!responses::takes_json(request.caller.head())) {
        co_await request::respond_error(request, core::caller_error(errc::unsupported_media_type));
        co_return;
    }
    const auto most = model::management_body(settings_.limits, control_.largest_card());
    auto body = co_await request.caller.read_body(std::min(most, settings_.limits.rpc_body));
    if (!body) {
        co_await request::respond_error(request, std::move(body).error());
        co_return;
    }
    std::stop_source leaving;
    auto asked = control_.manage(std::string(*body), rights_of(request), leaving.get_token());
    auto done = co_await ask_for(request.caller, control_.executor(), std::move(asked), std::move(leaving));
    request.record.management_method = done.method;
    if (done.denied) {
        request.record.denied = model::denial::forbidden;
    }
    const auto refused = done.refused;
    auto answer = answer_of(std::move(done));
    if (!refused) {
        co_await request::respond(request, std::move(answer));
        co_return;
    }
    auto failure = *refused == errc::caller_gone ? core::caller_error(*refused)
                                                 : core::gateway_error(*refused, "limits.rpc_memory");
    co_await request::respond_error(request, std::move(failure), std::move(answer));
}

}  // namespace gateway::pages
