#include "gateway/pages/registration_endpoint.hpp"

#include "gateway/responses/content_type.hpp"
#include "net/loop/ask.hpp"

#include <algorithm>
#include <utility>

namespace gateway::pages {

using core::errc;

net::routine<> registration_endpoint::answer(request::request_context& request)
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
    const auto* caller = request.principal();
    model::registrant by{
        .who = "agent/register " + caller->provider + ' ' + caller->id,
        .owns_as = model::registered_by(*caller)
    };
    auto asked = control_.enroll(std::string(*body), std::move(by));
    const auto here = request.caller.owner().get_executor();
    auto done = co_await net::ask(control_.executor(), here, std::move(asked));
    if (!done.refused) {
        co_await request::respond(request, std::move(done.reply));
        co_return;
    }
    co_await request::respond_error(request, std::move(*done.refused), std::move(done.reply));
}

}  // namespace gateway::pages
