#include "gateway/traffic_handler.hpp"

#include "a2a/method.hpp"
#include "core/jsonrpc_scan.hpp"
#include "core/status.hpp"
#include "gateway/content_type.hpp"
#include "net/http1/head_writer.hpp"

#include <boost/asio/co_spawn.hpp>

#include <array>
#include <charconv>
#include <chrono>
#include <utility>

namespace gateway {
namespace {

using core::errc;
using net::http1::field_name;

a2a::method method_of(const core::jsonrpc_call& call)
{
    return call.method_escaped ? a2a::find_method(core::unescape_json(call.method)) : a2a::find_method(call.method);
}

std::chrono::nanoseconds since(core::steady_time start)
{
    return std::chrono::steady_clock::now() - start;
}

void write_card_fields(std::string& text, const card_answer& found, core::steady_time now)
{
    net::http1::head_writer head{text};
    const auto left = static_cast<std::uint64_t>(max_age(*found.card, now));
    text += "Cache-Control: public, max-age=";
    std::array<char, 20> digits{};
    text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), left).ptr);
    text += "\r\n";
    if (found.use == card_use::stale) {
        const auto age = std::chrono::duration_cast<std::chrono::seconds>(now - found.card->fetched_at).count();
        const auto reason = found.failure ? core::name(found.failure->code) : std::string_view{"refreshing"};
        head.field("Cardea-Card", "stale; age=" + std::to_string(age) + "; reason=" + std::string(reason));
    }
}

}  // namespace

traffic_handler::traffic_handler(
    control_services& control,
    net::upstream_pool& pool,
    const config::settings& settings,
    access_log& lines,
    const core::logger& log
)
    : control_{control},
      pool_{pool},
      settings_{settings},
      lines_{lines},
      log_{log}
{
}

net::task<> traffic_handler::handle(net::server_connection& caller)
{
    exchange x{caller, {}, nullptr, {}};
    x.record.http_method = net::http1::name(caller.head().verb);
    const auto to = find_destination(caller.head().target);
    x.record.where = to.where;
    if (to.where == route::call) {
        co_await call(x, to);
    } else if (to.where == route::card) {
        co_await card(x, to);
    } else if (to.where == route::management) {
        co_await management(x);
    } else {
        auto what = error_answer(errc::not_found, {});
        co_await answer_error(x, core::caller_error(errc::not_found), std::move(what));
    }
    account(x);
}

net::task<> traffic_handler::refuse(net::server_connection& caller, core::error why)
{
    exchange x{caller, {}, nullptr, {}};
    auto what = error_answer(why.code, {});
    co_await answer_error(x, std::move(why), std::move(what));
    account(x);
}

void traffic_handler::failed(std::string_view what) noexcept
{
    log_.write(core::log_level::error, "bug", {{"where", "request"}, {"what", what}});
}

net::task<> traffic_handler::card(exchange& x, destination to)
{
    const auto verb = x.caller.head().verb;
    if (verb != net::http1::method::get && verb != net::http1::method::head) {
        auto what = method_not_allowed("GET, HEAD");
        co_await answer_error(x, core::caller_error(errc::method_not_allowed), std::move(what));
        co_return;
    }
    const auto* known = find(to.agent);
    if (known == nullptr) {
        auto what = error_answer(errc::agent_not_found, to.agent);
        co_await answer_error(x, core::caller_error(errc::agent_not_found), std::move(what));
        co_return;
    }
    x.agent = known->entry;
    x.record.agent = x.agent->record.id;
    card_answer found{known->card, card_use::hit, std::nullopt};
    if (!found.card || std::chrono::steady_clock::now() >= found.card->fresh_until) {
        auto asked = control_.card(x.agent->record.id);
        found = co_await net::asio::co_spawn(control_.executor(), std::move(asked), net::use_task);
    }
    x.record.card = found.use;
    if (found.card) {
        co_await send_card(x, std::move(found), to.legacy_card);
    } else {
        auto what = error_answer(found.failure->code, x.record.agent);
        co_await answer_error(x, std::move(*found.failure), std::move(what));
    }
}

net::task<> traffic_handler::send_card(exchange& x, card_answer found, bool legacy)
{
    const auto& bytes = *found.card->bytes;
    const auto now = std::chrono::steady_clock::now();
    const auto* asked = net::http1::find(x.caller.head().fields, field_name::if_none_match);
    const bool unchanged = asked != nullptr && none_match_hits(*asked, bytes.etag);
    x.record.status = unchanged ? 304 : 200;
    auto& text = x.caller.scratch();
    begin_head(text, x.caller, x.record.status);
    write_card_fields(text, found, now);
    if (legacy) {
        text += "Deprecation: true\r\nLink: </agents/";
        text += x.record.agent;
        text += "/.well-known/agent-card.json>; rel=\"successor-version\"\r\n";
    }
    net::http1::head_writer head{text};
    if (unchanged) {
        head.field("ETag", bytes.etag);
    } else {
        text += bytes.fields;
    }
    head.end();
    net::pieces pieces;
    pieces.add(text);
    if (!unchanged && x.caller.head().verb != net::http1::method::head) {
        pieces.add(bytes.body);
    }
    x.record.first_byte = since(x.caller.started());
    auto sent = co_await x.caller.send(pieces);
    if (!sent) {
        note_failure(x, std::move(sent).error());
    }
}

// Whether this is a POST with a body that may be JSON; if not, it has been answered.
net::task<bool> traffic_handler::accepts_post(exchange& x)
{
    if (x.caller.head().verb != net::http1::method::post) {
        auto what = method_not_allowed("POST");
        co_await answer_error(x, core::caller_error(errc::method_not_allowed), std::move(what));
        co_return false;
    }
    if (!takes_json(x.caller.head())) {
        auto what = error_answer(errc::unsupported_media_type, {});
        co_await answer_error(x, core::caller_error(errc::unsupported_media_type), std::move(what));
        co_return false;
    }
    co_return true;
}

net::task<> traffic_handler::call(exchange& x, destination to)
{
    const auto* known = find(to.agent);
    if (known != nullptr) {
        x.agent = known->entry;
        x.record.agent = x.agent->record.id;
    }
    const bool acceptable = co_await accepts_post(x);
    if (!acceptable) {
        co_return;
    }
    auto body = co_await x.caller.read_body(settings_.limits.body);
    if (!body) {
        auto what = error_answer(body.error().code, x.record.agent);
        co_await answer_error(x, std::move(body).error(), std::move(what));
        co_return;
    }
    co_await pass_on(x, *body);
}

net::task<> traffic_handler::pass_on(exchange& x, std::string_view body)
{
    const auto scanned = core::scan_jsonrpc(body);
    if (scanned.problem) {
        auto what = jsonrpc_error_answer(*scanned.problem, x.record.agent, scanned.call.id);
        auto why = core::caller_error(*scanned.problem, std::string(scanned.why));
        co_await answer_error(x, std::move(why), std::move(what));
        co_return;
    }
    const auto method = method_of(scanned.call);
    x.record.rpc_method = method;
    if (!x.agent || !x.agent->upstream) {
        // Looked up anew: the head may lie elsewhere since the body was read.
        const auto id = find_destination(x.caller.head().target).agent;
        auto why =
            x.agent ? core::upstream_error(errc::session_not_started) : core::caller_error(errc::agent_not_found);
        auto what = jsonrpc_error_answer(why.code, id, scanned.call.id);
        co_await answer_error(x, std::move(why), std::move(what));
        co_return;
    }
    relay_call what{
        .agent = x.agent,
        .body = body,
        .repeatable = a2a::safe_to_repeat(method),
        .streaming = a2a::streaming(method)
    };
    co_await relay_to_agent(x, std::move(what), scanned.call.id);
}

net::task<> traffic_handler::relay_to_agent(exchange& x, relay_call call, std::string_view id)
{
    const relay_settings waits{
        .connect = settings_.timeouts.connect,
        .upstream_idle = settings_.timeouts.upstream_idle,
        .observer = this
    };
    relay passing{x.caller, pool_, waits, std::move(call)};
    auto outcome = co_await passing.run();
    x.record.status = outcome.status;
    x.record.stream = outcome.stream;
    x.record.upstream_reused = outcome.reused;
    if (outcome.first_byte) {
        x.record.upstream_first_byte = *outcome.first_byte - x.caller.started();
        x.record.first_byte = *x.record.upstream_first_byte;
    }
    if (!outcome.failure) {
        co_return;
    }
    if (outcome.answered || outcome.failure->code == errc::caller_gone) {
        x.caller.cut();
        note_failure(x, std::move(*outcome.failure));
        co_return;
    }
    const auto code = outcome.failure->code;
    auto what = id.empty() ? error_answer(code, x.record.agent) : jsonrpc_error_answer(code, x.record.agent, id);
    co_await answer_error(x, std::move(*outcome.failure), std::move(what));
}

net::task<> traffic_handler::management(exchange& x)
{
    const bool acceptable = co_await accepts_post(x);
    if (!acceptable) {
        co_return;
    }
    auto body = co_await x.caller.read_body(settings_.limits.body);
    if (!body) {
        auto what = error_answer(body.error().code, {});
        co_await answer_error(x, std::move(body).error(), std::move(what));
        co_return;
    }
    auto asked = control_.manage(std::string(*body));
    answer what;
    what.body = co_await net::asio::co_spawn(control_.executor(), std::move(asked), net::use_task);
    what.status = what.body.empty() ? 204 : 200;
    what.fields = "Cache-Control: no-store\r\n";
    co_await answer_with(x, std::move(what));
}

net::task<> traffic_handler::answer_with(exchange& x, answer what)
{
    x.record.status = what.status;
    x.record.first_byte = since(x.caller.started());
    auto sent = co_await send_answer(x.caller, std::move(what));
    if (!sent) {
        note_failure(x, std::move(sent).error());
    }
}

net::task<> traffic_handler::answer_error(exchange& x, core::error why, answer what)
{
    const auto code = why.code;
    note_failure(x, std::move(why));
    if (code == errc::caller_gone) {
        x.caller.cut();
        co_return;
    }
    co_await answer_with(x, std::move(what));
}

void traffic_handler::note_failure(exchange& x, core::error why)
{
    x.record.code = why.code;
    x.record.from = why.from;
    x.detail = std::move(why.detail);
    x.record.detail = x.detail;
    if (why.code == errc::caller_gone) {
        x.record.status = core::http_status(why.code);
    }
}

void traffic_handler::account(exchange& x)
{
    x.record.peer = x.caller.peer();
    x.record.bytes_in = x.caller.request_bytes();
    x.record.bytes_out = x.caller.answer_bytes();
    x.record.total = since(x.caller.started());
    metrics_.count(x.record);
    lines_.write(x.record, std::chrono::system_clock::now());
}

traffic_handler::known_agent* traffic_handler::find(std::string_view id)
{
    const auto found = agents_.find(id);
    return found == agents_.end() ? nullptr : &found->second;
}

void traffic_handler::set_snapshot(const std::shared_ptr<const snapshot>& now)
{
    std::erase_if(agents_, [&](const auto& each) { return !now->agents.contains(each.first); });
    for (const auto& [id, entry] : now->agents) {
        agents_[id].entry = entry;
    }
    metrics_.forget_unless([&](std::string_view id) { return now->agents.contains(id); });
}

void traffic_handler::set_card(const std::string& agent_id, std::shared_ptr<const published_card> card)
{
    if (auto* known = find(agent_id)) {
        known->card = std::move(card);
    }
}

void traffic_handler::stream_began(relay& which)
{
    streams_.push_back(which);
    metrics_.stream_started(which.agent().record.id);
}

void traffic_handler::end_streams()
{
    // Ending one resumes its coroutine, which unlinks it; what goes on meanwhile may unlink others.
    while (!streams_.empty()) {
        auto& first = streams_.front();
        streams_.pop_front();
        first.end_stream();
    }
}

}  // namespace gateway
