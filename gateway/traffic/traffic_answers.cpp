// What the traffic_handler answers itself: cards, management, errors.
#include "core/status.hpp"
#include "gateway/model/content_type.hpp"
#include "gateway/traffic/rpc_exchange.hpp"
#include "gateway/traffic/traffic_handler.hpp"
#include "net/http1/head_writer.hpp"
#include "net/loop/ask.hpp"
#include "net/upstream/via.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <stop_token>
#include <utility>

namespace gateway::traffic {
namespace {

using core::errc;
using net::http1::field_name;

// A new key is found by its `kid`, which no cache has; one that was withdrawn is believed for so long.
constexpr std::string_view key_set_freshness = "Cache-Control: public, max-age=300\r\n";

std::chrono::nanoseconds since(core::steady_time start)
{
    return std::chrono::steady_clock::now() - start;
}

const model::card_bytes* chosen_bytes(const model::card_bytes& all, const net::http1::field_list& asked)
{
    if (!all.by_version) {
        return &all;
    }
    const auto* version = net::http1::find(asked, "A2A-Version");
    return version == nullptr ? &all : &model::for_version(all, *version);
}

void write_cache_control(std::string& text, const model::published_card& card, core::steady_time now)
{
    switch (card.caching) {
        case model::card_caching::asking:
            text += "Cache-Control: no-cache\r\n";
            return;
        case model::card_caching::asking_alone:
            text += "Cache-Control: private, no-cache\r\n";
            return;
        case model::card_caching::while_fresh:
            break;
    }
    text += "Cache-Control: public, max-age=";
    std::array<char, 20> digits{};
    text.append(
        digits.data(),
        std::to_chars(digits.data(), digits.data() + digits.size(), model::max_age(card, now)).ptr
    );
    text += "\r\n";
}

// What stands in front of every path of ours, where a proxy has put the gateway below a path of its own.
std::string_view path_of(std::string_view public_base)
{
    return public_base.substr(std::min(public_base.find('/', public_base.find("//") + 2), public_base.size()));
}

void write_card_fields(std::string& text, const model::card_answer& found, core::steady_time now)
{
    net::http1::head_writer head{text};
    write_cache_control(text, *found.card, now);
    if (found.use == model::card_use::stale) {
        const auto age = std::chrono::duration_cast<std::chrono::seconds>(now - found.card->fetched_at).count();
        const auto reason = found.failure ? core::name(found.failure->code) : std::string_view{"refreshing"};
        head.field("Cardea-Card", "stale; age=" + std::to_string(age) + "; reason=" + std::string(reason));
    }
}

}  // namespace

net::routine<> traffic_handler::card(request_context& request, destination to)
{
    const auto verb = request.caller.head().verb;
    if (verb != net::http1::method::get && verb != net::http1::method::head) {
        auto what = model::method_not_allowed("GET, HEAD");
        co_await answer_error(request, core::caller_error(errc::method_not_allowed), std::move(what));
        co_return;
    }
    const auto* known = find(to.agent);
    if (known == nullptr) {
        auto what = model::error_answer(errc::agent_not_found, to.agent);
        co_await answer_error(request, core::caller_error(errc::agent_not_found), std::move(what));
        co_return;
    }
    request.agent = known->entry;
    request.record.agent = request.agent->record.id;
    model::card_answer found{known->card, model::card_use::hit, std::nullopt};
    if (!found.card || request.caller.owner().now() >= found.card->fresh_until) {
        if (net::way_of(request.caller.head().fields).passes > 0) {
            // A fetch of ours, which would wait for itself.
            auto what = model::error_answer(errc::loop_detected, request.record.agent);
            co_await answer_error(request, core::gateway_error(errc::loop_detected), std::move(what));
            co_return;
        }
        auto asked = control_.card(request.agent->record.id);
        found = co_await net::ask(control_.executor(), request.caller.owner().get_executor(), std::move(asked));
    }
    request.record.card = found.use;
    if (found.card) {
        co_await send_card(request, std::move(found), to.legacy_card);
    } else {
        const auto seconds = found.again_at ? model::retry_after(request.caller.owner().now(), *found.again_at)
                                            : model::usual_retry_after;
        auto why = std::move(found.failure).value_or(core::gateway_error(errc::internal, "no card and no reason"));
        auto what = model::error_answer(why.code, request.record.agent, seconds);
        co_await answer_error(request, std::move(why), std::move(what));
    }
}

// The first calls of an agent wait for its card, which may say where calls go.
net::routine<> traffic_handler::await_card(request_context& request)
{
    auto asked = control_.card(request.agent->record.id);
    const auto found = co_await net::ask(control_.executor(), request.caller.owner().get_executor(), std::move(asked));
    // Without a card the call goes to the agent's own URL, and the relay says what is wrong with that.
    static_cast<void>(found);
    const auto* known = find(request.agent->record.id);
    if (known != nullptr) {
        request.agent = known->entry;
        request.record.agent = request.agent->record.id;
    }
}

net::routine<> traffic_handler::send_card(request_context& request, model::card_answer found, bool legacy)
{
    const auto& bytes = *chosen_bytes(*found.card->bytes, request.caller.head().fields);
    if (bytes.refused) {
        request.record.card = model::card_use::negative;
        auto why = *bytes.refused;
        auto what = model::error_answer(why.code, request.record.agent);
        co_await answer_error(request, std::move(why), std::move(what));
        co_return;
    }
    const auto now = request.caller.owner().now();
    const auto& asked = request.caller.head().fields;
    const model::kept_by_caller kept{
        net::http1::find(asked, field_name::if_none_match),
        net::http1::find(asked, field_name::if_modified_since)
    };
    const bool unchanged = model::has_it(kept, bytes.etag, found.card->modified);
    request.record.status = unchanged ? 304 : 200;
    auto& text = request.caller.scratch();
    model::begin_head(text, request.caller, request.record.status);
    write_card_fields(text, found, now);
    if (legacy) {
        text += "Deprecation: true\r\nLink: <";
        text += path_of(public_base_);
        text += "/agents/";
        text += request.record.agent;
        text += "/.well-known/agent-card.json>; rel=\"successor-version\"\r\n";
    }
    text += bytes.validators;
    if (!found.card->modified.empty()) {
        net::http1::head_writer{text}.field("Last-Modified", found.card->modified);
    }
    if (!unchanged) {
        text += bytes.fields;
    }
    net::http1::head_writer{text}.end();
    net::pieces pieces;
    pieces.add(text);
    if (!unchanged && request.caller.head().verb != net::http1::method::head) {
        pieces.add(bytes.body);
    }
    request.record.first_byte = since(request.caller.started());
    auto sent = co_await request.caller.send(pieces);
    if (!sent) {
        note_failure(request, std::move(sent).error());
    }
}

net::routine<> traffic_handler::key_set(request_context& request)
{
    const auto verb = request.caller.head().verb;
    if (verb != net::http1::method::get && verb != net::http1::method::head) {
        auto what = model::method_not_allowed("GET, HEAD");
        co_await answer_error(request, core::caller_error(errc::method_not_allowed), std::move(what));
        co_return;
    }
    const auto keys = key_set_;
    if (keys == nullptr) {
        co_await refuse_target(request, errc::not_found, /*ends_connection=*/false);
        co_return;
    }
    const auto* asked = net::http1::find(request.caller.head().fields, field_name::if_none_match);
    const bool unchanged = asked != nullptr && model::none_match_hits(*asked, keys->etag);
    model::answer what;
    what.status = unchanged ? 304 : 200;
    what.fields = std::string{key_set_freshness} + keys->validators;
    what.content_type = "application/jwk-set+json";
    what.body = unchanged ? std::string{} : keys->body;
    co_await answer_with(request, std::move(what));
}

net::routine<> traffic_handler::management(request_context& request)
{
    if (const auto objection = objection_to_post(request.caller.head())) {
        co_await refuse_post(request, *objection);
        co_return;
    }
    auto body = co_await request.caller.read_body(
        std::min(model::management_body(settings_.limits, control_.largest_card()), settings_.limits.rpc_body)
    );
    if (!body) {
        auto what = model::error_answer(body.error().code, {});
        co_await answer_error(request, std::move(body).error(), std::move(what));
        co_return;
    }
    std::stop_source leaving;
    auto asked = control_.manage(std::string(*body), leaving.get_token());
    auto done = co_await ask_for(request.caller, control_.executor(), std::move(asked), std::move(leaving));
    request.record.management_method = done.method;
    const auto refused = done.refused;
    auto what = answer_of(std::move(done));
    if (refused) {
        auto why = *refused == errc::caller_gone ? core::caller_error(*refused)
                                                 : core::gateway_error(*refused, "limits.rpc_memory");
        co_await answer_error(request, std::move(why), std::move(what));
        co_return;
    }
    co_await answer_with(request, std::move(what));
}

// What speaks against taking this for a POST of JSON; nothing: it may be read.
std::optional<errc> traffic_handler::objection_to_post(const net::http1::request_head& head)
{
    if (head.verb != net::http1::method::post) {
        return errc::method_not_allowed;
    }
    if (!model::takes_json(head)) {
        return errc::unsupported_media_type;
    }
    return std::nullopt;
}

net::routine<> traffic_handler::refuse_post(request_context& request, errc code, std::string_view allowed)
{
    auto what = code == errc::method_not_allowed ? model::method_not_allowed(allowed)
                                                 : model::error_answer(code, std::string_view{});
    co_await answer_error(request, core::caller_error(code), std::move(what));
}

net::routine<> traffic_handler::answer_with(request_context& request, model::answer what)
{
    request.record.status = what.status;
    request.record.first_byte = since(request.caller.started());
    auto sent = co_await model::send_answer(request.caller, std::move(what));
    if (!sent) {
        note_failure(request, std::move(sent).error());
    }
}

net::routine<> traffic_handler::answer_error(request_context& request, core::error why, model::answer what)
{
    const auto code = why.code;
    note_failure(request, std::move(why));
    if (code == errc::caller_gone) {
        request.caller.cut();
        co_return;
    }
    co_await answer_with(request, std::move(what));
}

net::routine<> traffic_handler::refuse_target(request_context& request, errc code, bool ends_connection)
{
    if (ends_connection) {
        request.caller.close_after_answer();
    }
    auto what = model::error_answer(code, {});
    co_await answer_error(request, core::caller_error(code), std::move(what));
}

void traffic_handler::note_failure(request_context& request, core::error why)
{
    request.record.code = why.code;
    request.record.from = why.from;
    request.detail = std::move(why.detail);
    request.record.detail = request.detail;
    if (why.code == errc::caller_gone) {
        request.record.status = core::http_status(why.code);
    }
}

}  // namespace gateway::traffic
