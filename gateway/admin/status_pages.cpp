#include "gateway/admin/status_pages.hpp"

#include "gateway/telemetry/metric_family.hpp"
#include "net/http1/head_writer.hpp"
#include "net/loop/ask.hpp"
#include "net/upstream/via.hpp"

#include <utility>

namespace gateway::admin {
namespace {

using net::http1::method;

constexpr std::string_view metrics_path = "/metrics";
constexpr std::string_view alive_path = "/healthz";
constexpr std::string_view ready_path = "/readyz";

responses::answer text_answer(unsigned status, std::string body)
{
    responses::answer out;
    out.status = status;
    out.content_type = "text/plain; charset=utf-8";
    out.fields = "Cache-Control: no-store\r\n";
    out.body = std::move(body);
    return out;
}

responses::answer probe_answer(const status_services& services, std::string_view path)
{
    if (path == alive_path) {
        return text_answer(200, "alive\n");
    }
    if (!services.ready()) {
        return text_answer(503, "draining\n");
    }
    return text_answer(200, services.audit_fails() ? "ready\nwarning: the audit cannot be written\n" : "ready\n");
}

}  // namespace

bool status_pages::serves(std::string_view path) noexcept
{
    return path == metrics_path || path == alive_path || path == ready_path;
}

net::routine<> status_pages::answer(net::caller_exchange& caller, std::string path)
{
    const auto verb = caller.head().verb;
    const bool reads = verb == method::get || verb == method::head;
    if (reads && path == metrics_path) {
        co_await send_metrics(caller);
        co_return;
    }
    auto reply = reads ? probe_answer(services_, path) : responses::method_not_allowed("GET, HEAD");
    co_await responses::send_answer(caller, std::move(reply));
}

// Piece by piece, the next one when the last one has been taken: a scrape of many agents is long.
net::routine<> status_pages::send_metrics(net::caller_exchange& caller)
{
    const auto here = caller.owner().get_executor();
    const auto page = services_.metrics();
    const bool headed = caller.head().verb == method::head;
    auto& head = caller.scratch();
    responses::begin_head(head, caller, 200);
    net::http1::head_writer out{head};
    out.field("Content-Type", telemetry::metrics_content_type);
    out.field("Cache-Control", "no-store");
    caller.complete_head(head, net::answer_length::open());
    const net::answer_part first{.head = head, .last = headed};
    auto sent = co_await caller.send(first);
    if (headed) {
        co_return;
    }
    std::string text;
    do {
        auto asked = page->next();
        text = co_await net::ask(here, here, std::move(asked));
        net::answer_part piece{.last = text.empty()};
        piece.body.add(text);
        sent = co_await caller.send(piece);
    } while (sent && !text.empty());
}

operator_handler::operator_handler(std::string_view listener, const core::logger& log) noexcept
    : listener_{listener},
      log_{log}
{
}

std::optional<responses::answer> operator_handler::refusal_of_relayed(const net::caller_exchange& caller)
{
    if (net::way_of(caller.head().fields).hops == 0) {
        return std::nullopt;
    }
    return responses::explained_answer(
        core::errc::origin_forbidden,
        "This request has come through a Cardea gateway, as its Via says; operators' pages are not for those."
    );
}

net::routine<> operator_handler::refuse(net::caller_exchange& caller, core::error why)
{
    auto reply = responses::error_answer(why.code, {});
    co_await responses::send_answer(caller, std::move(reply));
}

void operator_handler::failed(std::string_view problem) noexcept
{
    log_.write(core::log_level::error, "internal_error", {{"where", listener_}, {"what", problem}});
}

void operator_handler::on_handshake(net::handshake how, std::string_view peer, std::string_view why) noexcept
{
    if (how == net::handshake::failed) {
        log_.write(
            core::log_level::debug,
            "handshake_failed",
            {{"listener", listener_}, {"peer", peer}, {"reason", why}}
        );
    }
}

void operator_handler::on_abuse(std::string_view peer, net::http2::limit which) noexcept
{
    log_.write(
        core::log_level::warn,
        "http2_abuse_detected",
        {{"listener", listener_}, {"peer", peer}, {"limit", net::http2::name(which)}}
    );
}

scrape_handler::scrape_handler(const status_services& services, const core::logger& log)
    : operator_handler{"metrics", log},
      pages_{services}
{
}

net::routine<> scrape_handler::handle(net::caller_exchange& caller)
{
    std::string path{caller.head().target.substr(0, caller.head().target.find('?'))};
    if (auto refusal = refusal_of_relayed(caller)) {
        co_await responses::send_answer(caller, std::move(*refusal));
        co_return;
    }
    if (status_pages::serves(path)) {
        co_await pages_.answer(caller, std::move(path));
        co_return;
    }
    auto reply = responses::error_answer(core::errc::not_found, {});
    co_await responses::send_answer(caller, std::move(reply));
}

}  // namespace gateway::admin
