#include "config/url.hpp"
#include "gateway/a2a/a2a_routes.hpp"
#include "net/http1/head_writer.hpp"
#include "net/loop/ask.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <string>
#include <utility>

namespace gateway::a2a {
namespace {

using core::errc;
using net::http1::field_name;

const model::card_bytes& chosen_bytes(const model::card_bytes& all, const net::http1::field_list& asked)
{
    const auto* version = all.by_version ? net::http1::find(asked, "A2A-Version") : nullptr;
    return version == nullptr ? all : model::for_version(all, *version);
}

// `shared`: a cache may show it to everybody.
void write_cache_control(std::string& text, const model::published_card& card, bool shared, core::steady_time now)
{
    switch (card.caching) {
        case model::card_caching::asking:
            text += shared ? "Cache-Control: no-cache\r\n" : "Cache-Control: private, no-cache\r\n";
            return;
        case model::card_caching::asking_alone:
            text += "Cache-Control: private, no-cache\r\n";
            return;
        case model::card_caching::while_fresh:
            break;
    }
    text += shared ? "Cache-Control: public, max-age=" : "Cache-Control: private, max-age=";
    std::array<char, 20> digits{};
    text.append(
        digits.data(),
        std::to_chars(digits.data(), digits.data() + digits.size(), model::max_age(card, now)).ptr
    );
    text += "\r\n";
}

// The path in front of every path of ours, where a proxy has put the gateway below a path of its own.
std::string_view path_of(std::string_view public_base)
{
    return public_base.substr(config::path_begin(public_base));
}

void write_card_fields(std::string& text, const model::card_answer& found, bool shared, core::steady_time now)
{
    write_cache_control(text, *found.card, shared, now);
    if (found.use == model::card_use::stale) {
        const auto age = std::chrono::duration_cast<std::chrono::seconds>(now - found.card->fetched_at).count();
        const auto reason = found.failure ? core::name(found.failure->code) : std::string_view{"refreshing"};
        net::http1::head_writer{text}.field(
            "Cardea-Card",
            "stale; age=" + std::to_string(age) + "; reason=" + std::string(reason)
        );
    }
}

}  // namespace

net::routine<> card_route::serve(request_context& request)
{
    if (find_agent(request) == nullptr) {
        auto answer = responses::error_answer(errc::agent_not_found, asked_agent(request));
        co_await request::respond_error(request, core::caller_error(errc::agent_not_found), std::move(answer));
        co_return;
    }
    auto found = co_await obtain_card(request);
    if (found.card) {
        auto bytes = core::result<card_pointer>{found.card->bytes};
        if (request.origin) {
            bytes = co_await at_origin(request, found.card->bytes);
        }
        if (!bytes) {
            co_await request::respond_error(request, std::move(bytes).error());
            co_return;
        }
        co_await send(request, found, **bytes);
        co_return;
    }
    const auto seconds = found.again_at ? responses::retry_after(request.caller.owner().now(), *found.again_at)
                                        : responses::usual_retry_after;
    auto failure = std::move(*found.failure);  // NOLINT(bugprone-unchecked-optional-access): obtain_card() has set it
    auto answer = responses::error_answer(failure.code, request.record.agent, seconds);
    co_await request::respond_error(request, std::move(failure), std::move(answer));
}

net::routine<core::result<card_route::card_pointer>> card_route::at_origin(request_context& request, card_pointer bytes)
{
    const std::string host{request.origin->host};  // NOLINT(*-optional-access): answer() has looked
    if (const auto known = kept_.find(host); known != kept_.end() && known->second.of.lock() == bytes) {
        if (auto kept = known->second.moved.lock()) {
            co_return core::result<card_pointer>{std::move(kept)};
        }
    }
    auto question = control_.move(model::rebased_card{request.agent, bytes, own_origin(request)});
    auto moved = co_await net::ask(control_.card_executor, request.caller.owner().get_executor(), std::move(question));
    if (moved) {
        if (kept_.size() >= most_kept) {
            kept_.clear();
        }
        kept_.insert_or_assign(host, kept_card{bytes, *moved});
    }
    co_return moved;
}

// `found` and `all` outlive the routine.
net::routine<> card_route::send(request_context& request, const model::card_answer& found, const model::card_bytes& all)
{
    const auto& asked = request.caller.head().fields;
    const auto& bytes = chosen_bytes(all, asked);
    if (bytes.refused) {
        request.record.card = model::card_use::negative;
        return request::respond_error(request, *bytes.refused);
    }
    const model::kept_by_caller kept{
        net::http1::find(asked, field_name::if_none_match),
        net::http1::find(asked, field_name::if_modified_since)
    };
    auto& text = request::begin_document(request, model::has_it(kept, bytes.etag, found.card->modified));
    write_card_fields(text, found, request.open_to_anyone(), request.caller.owner().now());
    if (request.to.legacy_card) {
        text += "Deprecation: true\r\nLink: <";
        if (!request.origin) {
            text += path_of(known_.public_base());
            text += "/agents/";
            text += request.record.agent;
        }
        text += "/.well-known/agent-card.json>; rel=\"successor-version\"\r\n";
    }
    text += bytes.validators;
    if (!found.card->modified.empty()) {
        net::http1::head_writer{text}.field("Last-Modified", found.card->modified);
    }
    return request::send_document(request, bytes.fields, bytes.body);
}

}  // namespace gateway::a2a
