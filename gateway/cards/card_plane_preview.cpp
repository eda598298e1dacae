#include "gateway/cards/card_plane.hpp"

#include <utility>

namespace gateway::cards {

using core::errc;

net::task<core::result<card_preview>> card_plane::preview(std::string id)
{
    const auto found = slots_.find(id);
    if (found == slots_.end()) {
        co_return core::caller_error(errc::agent_not_found);
    }
    const auto which = found->second;
    const auto agent = which->agent;
    if (!agent->record.card.empty()) {
        auto record = which->record();
        card_document what{.text = record->card};
        auto made = co_await maker_.make(std::move(record), std::move(what));
        if (!made) {
            co_return std::move(made).error();
        }
        co_return co_await previewed(which, std::move(*made));
    }
    if (agent->upstream == nullptr) {
        co_return core::upstream_error(errc::session_not_started);
    }
    if (stopped_) {
        co_return core::gateway_error(errc::draining);
    }
    card_validators place;
    place.url = which->validators.url;
    auto fetched = co_await source_.fetch(agent->record, place);
    if (!fetched) {
        co_return std::move(fetched).error();
    }
    co_return co_await previewed(which, std::move(fetched->made));
}

net::task<core::result<card_preview>>
card_plane::preview_session_card(std::string id, std::shared_ptr<const mcp::server_lists> from)
{
    const auto found = slots_.find(id);
    if (found == slots_.end()) {
        co_return core::caller_error(errc::agent_not_found);
    }
    const auto which = found->second;
    auto record = which->record();
    auto made = co_await maker_.make_of_lists(std::move(record), std::move(from));
    if (!made) {
        co_return std::move(made).error();
    }
    co_return co_await previewed(which, std::move(*made));
}

net::task<core::result<card_preview>> card_plane::previewed(slot_pointer which, made_card made)
{
    card_preview out{nullptr, std::move(made.bytes), std::move(made.problems), "[]"};
    if (which->state.card) {
        out.before = which->state.card->bytes;
        if (model::same_bytes(*out.before, *out.after)) {
            out.after = out.before;
            co_return out;
        }
    }
    auto record = which->record();
    card_pair both{out.before, out.after};
    auto difference = co_await maker_.compare(std::move(record), std::move(both));
    if (!difference) {
        co_return std::move(difference).error();
    }
    out.difference = std::move(*difference);
    co_return out;
}

}  // namespace gateway::cards
