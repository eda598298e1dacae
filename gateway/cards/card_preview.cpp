#include "gateway/cards/card_preview.hpp"

#include "gateway/cards/card_source.hpp"

#include <utility>

namespace gateway::cards {

net::task<core::result<card_preview>> card_previewer::preview(entry_pointer entry)
{
    auto card = co_await newest(entry);
    co_return co_await compared(std::move(entry), std::move(card));
}

net::task<core::result<card_preview>>
card_previewer::preview_lists(entry_pointer entry, std::shared_ptr<const ::mcp::server_lists> lists)
{
    auto record = entry->record();
    listed_card listed{std::move(lists), entry->agent->token};
    auto card = co_await maker_.make_of_lists(std::move(record), std::move(listed));
    co_return co_await compared(std::move(entry), std::move(card));
}

net::task<core::result<served_card>> card_previewer::newest(entry_pointer entry)
{
    auto record = entry->record();
    if (entry->is_written()) {
        card_document document{.text = record->card};
        co_return co_await maker_.make(std::move(record), std::move(document));
    }
    if (!entry->is_fetched()) {
        co_return core::upstream_error(core::errc::session_not_started);
    }
    constexpr core::duration patience{10'000};
    card_validators place;
    place.url = entry->validators.url;
    auto fetched = co_await fetch_card(source_, entry->agent, place, patience);
    if (!fetched) {
        co_return std::move(fetched).error();
    }
    co_return std::move(fetched->card);
}

net::task<core::result<card_preview>> card_previewer::compared(entry_pointer entry, core::result<served_card> card)
{
    if (!card) {
        co_return std::move(card).error();
    }
    card_preview preview{nullptr, std::move(card->bytes), std::move(card->problems), "[]"};
    if (entry->status.card) {
        preview.before = entry->status.card->bytes;
        if (model::same_bytes(*preview.before, *preview.after)) {
            preview.after = preview.before;
            co_return preview;
        }
    }
    card_pair both{preview.before, preview.after};
    auto difference = co_await maker_.compare(entry->record(), std::move(both));
    if (!difference) {
        co_return std::move(difference).error();
    }
    preview.difference = std::move(*difference);
    co_return preview;
}

}  // namespace gateway::cards
