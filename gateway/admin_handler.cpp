#include "gateway/admin_handler.hpp"

#include "gateway/model/content_type.hpp"
#include "gateway/model/registration.hpp"
#include "gateway/telemetry/metrics_page.hpp"
#include "gateway/traffic/rpc_exchange.hpp"
#include "net/http1/chunked.hpp"
#include "net/http1/head_writer.hpp"
#include "net/loop/ask.hpp"

#include <optional>
#include <utility>

namespace gateway {
namespace {

using core::errc;
using net::http1::method;

using model::registration_path;

model::answer json_answer(const core::json& body)
{
    model::answer out;
    out.fields = "Cache-Control: no-store\r\n";
    out.body = core::to_text(body);
    return out;
}

model::answer text_answer(unsigned status, std::string body)
{
    model::answer out;
    out.status = status;
    out.content_type = "text/plain; charset=utf-8";
    out.fields = "Cache-Control: no-store\r\n";
    out.body = std::move(body);
    return out;
}

}  // namespace

admin_handler::admin_handler(
    admin_services& services,
    model::control_services& control,
    management::management& methods,
    const config::settings& settings,
    const core::logger& log
)
    : services_{services},
      guard_{control, settings},
      methods_{methods},
      hosts_{settings, settings.admin},
      settings_{settings},
      log_{log}
{
}

net::routine<> admin_handler::handle(net::server_connection& caller)
{
    const auto verb = caller.head().verb;
    std::string path{caller.head().target.substr(0, caller.head().target.find('?'))};
    const bool reads = verb == method::get || verb == method::head;
    model::answer reply;
    admin_rights rights;
    std::optional<model::answer> refusal;
    if (hosts_.answers(caller.head().authority)) {
        refusal = co_await guard_.refuse(caller, path, rights);
    }
    if (refusal) {
        reply = std::move(*refusal);
    } else if (!hosts_.answers(caller.head().authority)) {
        caller.close_after_answer();
        reply = model::error_answer(errc::misdirected_request, {});
    } else if (path == "/rpc" || path == "/reload" || path == registration_path) {
        if (verb == method::post) {
            reply = co_await answer_post(caller, std::move(path), std::move(rights));
        } else {
            reply = model::method_not_allowed("POST");
        }
    } else if (path != "/metrics" && path != "/healthz" && path != "/readyz") {
        reply = model::error_answer(errc::not_found, {});
    } else if (!reads) {
        reply = model::method_not_allowed("GET, HEAD");
    } else if (path == "/metrics") {
        co_await send_metrics(caller);
        co_return;
    } else {
        reply = answer_get(path);
    }
    // A caller that left before its answer was out is nobody's concern here: no line, no counter.
    co_await model::send_answer(caller, std::move(reply));
}

model::answer admin_handler::answer_get(std::string_view path) const
{
    if (path == "/healthz") {
        return text_answer(200, "alive\n");
    }
    if (!services_.ready()) {
        return text_answer(503, "draining\n");
    }
    return text_answer(200, services_.audit_fails() ? "ready\nwarning: the audit cannot be written\n" : "ready\n");
}

// Piece by piece, the next one when the last one has been taken: a scrape of many agents is long.
net::routine<> admin_handler::send_metrics(net::server_connection& caller)
{
    const auto here = caller.owner().get_executor();
    const bool chunked = caller.head().minor_version == 1;
    if (!chunked) {
        caller.end_body_with_connection();
    }
    auto& head = caller.scratch();
    model::begin_head(head, caller, 200);
    net::http1::head_writer out{head};
    out.field("Content-Type", telemetry::metrics_content_type);
    out.field("Cache-Control", "no-store");
    if (chunked) {
        out.field("Transfer-Encoding", "chunked");
    }
    out.end();
    net::pieces first;
    first.add(head);
    auto sent = co_await caller.send(first);
    if (caller.head().verb == method::head) {
        co_return;
    }
    const auto page = services_.metrics();
    std::string text;
    do {
        auto asked = page->next();
        text = co_await net::ask(here, here, std::move(asked));
        const net::http1::chunk_header size{text.size()};
        net::pieces piece;
        if (chunked) {
            piece.add(text.empty() ? net::http1::last_chunk : size.text());
        }
        piece.add(text);
        if (chunked && !text.empty()) {
            piece.add(net::http1::chunk_end);
        }
        if (piece.size() > 0) {
            sent = co_await caller.send(piece);
        }
    } while (sent && !text.empty());
}

net::routine<model::answer>
admin_handler::answer_post(net::server_connection& caller, std::string path, admin_rights rights)
{
    if (!model::takes_json(caller.head())) {
        co_return model::error_answer(errc::unsupported_media_type, {});
    }
    auto body = co_await caller.read_body(model::management_body(settings_.limits, settings_.cards.max_size));
    if (!body) {
        co_return model::error_answer(body.error().code, {});
    }
    if (path == "/reload") {
        co_return co_await reload(caller);
    }
    std::string whole{*body};
    if (path == registration_path) {
        co_return co_await enroll(caller, std::move(whole), std::move(rights));
    }
    co_return co_await manage(caller, std::move(whole), std::move(rights));
}

net::routine<model::answer> admin_handler::reload(net::server_connection& caller)
{
    const auto here = caller.owner().get_executor();
    auto asked = services_.reload();
    const auto report = co_await net::ask(here, here, std::move(asked));
    if (report.draining) {
        co_return model::error_answer(errc::draining, {});
    }
    if (!report.problems.empty()) {
        co_return model::problems_answer(errc::config_invalid, report.problems);
    }
    co_return json_answer(to_json(report));
}

net::routine<model::answer> admin_handler::manage(net::server_connection& caller, std::string body, admin_rights rights)
{
    std::stop_source leaving;
    model::rpc_rights may;
    may.may_write = rights.writes;
    may.sees_addresses = true;
    may.who = "admin " + rights.who;
    management::rpc_caller who{std::move(may), leaving.get_token()};
    auto asked = methods_.handle(std::move(body), std::move(who));
    auto done = co_await traffic::ask_for(caller, caller.owner().get_executor(), std::move(asked), std::move(leaving));
    if (done.denied) {
        guard_.note_forbidden(rights);
    }
    co_return traffic::answer_of(std::move(done));
}

net::routine<model::answer> admin_handler::enroll(net::server_connection& caller, std::string body, admin_rights rights)
{
    const auto here = caller.owner().get_executor();
    model::registrant by{.who = "agent/register " + rights.who, .operates = rights.writes};
    if (rights.owner) {
        by.owns_as = model::registered_by(*rights.owner);
    }
    auto asked = methods_.enroll(std::move(body), std::move(by));
    auto done = co_await net::ask(here, here, std::move(asked));
    if (done.refused && done.refused->code == errc::forbidden) {
        guard_.note_forbidden(rights);
    }
    co_return std::move(done.reply);
}

net::routine<> admin_handler::refuse(net::server_connection& caller, core::error why)
{
    auto reply = model::error_answer(why.code, {});
    co_await model::send_answer(caller, std::move(reply));
}

void admin_handler::failed(std::string_view problem) noexcept
{
    log_.write(core::log_level::error, "internal_error", {{"where", "admin"}, {"what", problem}});
}

void admin_handler::on_handshake(net::handshake how, std::string_view peer, std::string_view why) noexcept
{
    if (how == net::handshake::failed) {
        log_.write(
            core::log_level::debug,
            "handshake_failed",
            {{"listener", "admin"}, {"peer", peer}, {"reason", why}}
        );
    }
}

}  // namespace gateway
