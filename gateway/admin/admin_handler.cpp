#include "gateway/admin/admin_handler.hpp"

#include "gateway/model/management_call.hpp"
#include "gateway/model/version.hpp"
#include "gateway/pages/page_routes.hpp"
#include "gateway/responses/content_type.hpp"
#include "gateway/responses/index_page.hpp"
#include "net/loop/ask.hpp"

#include <array>
#include <optional>
#include <span>
#include <utility>

namespace gateway::admin {
namespace {

using core::errc;
using net::http1::method;

using model::registration_path;

constexpr std::array routes{
    responses::index_route{"GET", "/console/", "the console, for browsers"},
    responses::index_route{"POST", "/try/agents/<id>", "a call to an agent, as any caller's"},
    responses::index_route{"GET", "/events", "the log, live"},
    responses::index_route{"GET", "/healthz", "whether the gateway runs"},
    responses::index_route{"GET", "/readyz", "whether it accepts traffic"},
    responses::index_route{"GET", "/metrics", "metrics for Prometheus"},
    responses::index_route{"POST", "/rpc", "management: what `cardea agents` uses"},
    responses::index_route{"POST", "/reload", "reads the configuration again"},
    responses::index_route{"POST", "/handover", "a new process of the installed version takes over"},
    responses::index_route{"POST", model::registration_path, "registers an agent"},
};

// Those that there are: the first are the console's.
std::span<const responses::index_route> routes_of(const config::settings& settings)
{
    constexpr std::size_t of_console = 2;
    return std::span{routes}.subspan(settings.console ? 0 : of_console);
}

responses::answer json_answer(const core::json& body)
{
    responses::answer out;
    out.fields = "Cache-Control: no-store\r\n";
    out.body = core::to_text(body);
    return out;
}

}  // namespace

admin_handler::admin_handler(admin_services services, const config::settings& settings, const core::logger& log)
    : operator_handler{"admin", log},
      services_{std::move(services)},
      guard_{services_.control, settings},
      pages_{services_.status},
      tries_{settings, services_.public_base, services_.serve_within},
      hosts_{responses::host_policy::of_operators(settings)},
      settings_{settings}
{
}

net::routine<> admin_handler::handle(net::caller_exchange& caller)
{
    const auto verb = caller.head().verb;
    std::string path{caller.head().target.substr(0, caller.head().target.find('?'))};
    responses::answer reply;
    admin_rights rights;
    const bool ours = hosts_.answers(caller.head().authority) && !caller.misdirected();
    auto refusal = refusal_of_page(caller, path);
    if (refusal) {
        rights.address = caller.peer();
        guard_.note_forbidden(rights);
    } else if (ours) {
        if (settings_.console && path == "/" && console::wants_page(caller.head())) {
            refusal = console::lead_to_page();
        } else {
            refusal = co_await guard_.refuse(caller, path, rights);
        }
    }
    if (refusal) {
        reply = std::move(*refusal);
    } else if (!ours) {
        caller.close_after_answer();
        reply = responses::error_answer(errc::misdirected_request, {});
    } else if (path == "/rpc" || path == "/reload" || path == "/handover" || path == model::registration_path) {
        if (verb == method::post) {
            reply = co_await answer_post(caller, std::move(path), std::move(rights));
        } else {
            reply = responses::method_not_allowed("POST");
        }
    } else if (path == "/") {
        const bool reads = verb == method::get || verb == method::head;
        reply = reads ? responses::index_answer(caller.head(), model::version(), routes_of(settings_))
                      : responses::method_not_allowed("GET, HEAD");
    } else if (settings_.console && console::is_page_path(path)) {
        reply = page_.answer(caller.head(), path);
    } else if (status_pages::serves(path)) {
        co_await pages_.answer(caller, std::move(path));
        co_return;
    } else if (path == console::events_path) {
        admin_guard::open_answer open{guard_, caller, rights.owner};
        co_await services_.events.serve(caller);
        co_return;
    } else if (console::is_try_path(path)) {
        admin_guard::open_answer open{guard_, caller, rights.owner};
        co_await tries_.serve(caller);
        auto contained = open.containment();
        if (!contained) {
            co_return;
        }
        reply = std::move(*contained);
    } else {
        reply = responses::error_answer(errc::not_found, {});
    }
    // A caller that left before its answer was out is nobody's concern here: no line, no counter.
    co_await responses::send_answer(caller, std::move(reply));
}

// A refusal of requests that no page of another site may make, and nobody through a gateway of this kind.
std::optional<responses::answer> admin_handler::refusal_of_page(net::caller_exchange& caller, std::string_view path)
{
    if (is_cross_site(caller.head(), path)) {
        return responses::error_answer(errc::origin_forbidden, {});
    }
    return refusal_of_relayed(caller);
}

net::routine<responses::answer>
admin_handler::answer_post(net::caller_exchange& caller, std::string path, admin_rights rights)
{
    if (!responses::takes_json(caller.head())) {
        co_return responses::error_answer(errc::unsupported_media_type, {});
    }
    auto body = co_await caller.read_body(model::management_body(settings_.limits, settings_.cards.max_size));
    if (!body) {
        co_return responses::error_answer(body.error().code, {});
    }
    if (path == "/reload") {
        co_return co_await reload(caller);
    }
    if (path == "/handover") {
        co_return co_await hand_over(caller);
    }
    std::string whole{*body};
    if (path == model::registration_path) {
        co_return co_await enroll(caller, std::move(whole), std::move(rights));
    }
    co_return co_await manage(caller, std::move(whole), std::move(rights));
}

net::routine<responses::answer> admin_handler::reload(net::caller_exchange& caller)
{
    const auto here = caller.owner().get_executor();
    auto asked = services_.reloads.reload(reload::reload_trigger::request);
    const auto report = co_await net::ask(here, here, std::move(asked));
    if (report.draining) {
        co_return responses::error_answer(errc::draining, {});
    }
    if (!report.problems.empty()) {
        co_return responses::problems_answer(errc::config_invalid, report.problems);
    }
    co_return json_answer(reload::to_json(report));
}

net::routine<responses::answer> admin_handler::hand_over(net::caller_exchange& caller)
{
    const auto here = caller.owner().get_executor();
    auto asked = services_.hand_over();
    const auto report = co_await net::ask(here, here, std::move(asked));
    if (!report.refused.empty()) {
        co_return responses::explained_answer(errc::handover_failed, report.refused);
    }
    co_return json_answer({{"process", report.process}, {"version", report.version}});
}

net::routine<responses::answer>
admin_handler::manage(net::caller_exchange& caller, std::string body, admin_rights rights)
{
    std::stop_source leaving;
    model::rpc_rights may;
    may.may_write = rights.writes;
    may.who = "admin " + rights.who;
    if (rights.owner) {
        may.self = {rights.owner->provider, rights.owner->id};
    }
    management::rpc_caller who{std::move(may), leaving.get_token()};
    auto asked = services_.methods.handle(std::move(body), std::move(who));
    auto done = co_await pages::ask_for(caller, caller.owner().get_executor(), std::move(asked), std::move(leaving));
    if (done.denied) {
        guard_.note_forbidden(rights);
    }
    co_return pages::answer_of(std::move(done));
}

net::routine<responses::answer>
admin_handler::enroll(net::caller_exchange& caller, std::string body, admin_rights rights)
{
    const auto here = caller.owner().get_executor();
    model::registrant by{.who = "agent/register " + rights.who, .operates = rights.writes};
    if (rights.owner) {
        by.owns_as = model::registered_by(*rights.owner);
    }
    auto asked = services_.methods.enroll(std::move(body), std::move(by));
    auto done = co_await net::ask(here, here, std::move(asked));
    if (done.refused && done.refused->code == errc::forbidden) {
        guard_.note_forbidden(rights);
    }
    co_return std::move(done.reply);
}

}  // namespace gateway::admin
