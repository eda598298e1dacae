// What the card_plane has kept and recalled: the last good cards, which outlive the process.
#include "config/signatures.hpp"
#include "gateway/cards/card_plane.hpp"

#include <utility>

namespace gateway::cards {
namespace {

// What a kept card was fetched for: with another address it would be another agent's, and one that others vouch for, or
// nobody, is none that was verified.
std::string source_of(const core::agent& record, const config::card_settings& settings)
{
    auto source = record.url + '\n' + record.card_url;
    const auto rules = config::signature_rules_of(record, settings);
    if (rules.verify) {
        source += "\nverified\n" + rules.trusted_keys;
        for (const auto& origin : rules.key_set_origins) {
            source += '\n' + origin;
        }
    }
    return source;
}

}  // namespace

// The last good card from before the start, once; whoever comes meanwhile waits for it.
net::task<> card_plane::recall(slot_pointer which)
{
    co_await wait_while(which, &slot::recalling);
    if (std::exchange(which->recalled, true)) {
        co_return;
    }
    which->recalling = true;
    auto found = co_await keeper_->recall(which->agent->record.id);
    if (found && !which->gone && found->card.source == source_of(which->agent->record, settings_)) {
        auto& kept = found->card;
        auto record = which->record();
        const auto fetched_at = now_() - found->age;
        card_document what{.text = std::move(kept.document), .url = kept.url};
        auto made = co_await maker_.make(std::move(record), std::move(what));
        // One that is not accepted any more is as good as none.
        if (made && !which->gone) {
            accept(*which, std::move(*made), fetched_at, kept.fresh_for);
            which->validators = {kept.url, kept.etag, kept.last_modified};
            which->status.found_at = kept.url;
        }
    }
    which->recalling = false;
    wake(*which);
}

void card_plane::keep(const slot& which, const fetched_card& fetched)
{
    if (keeper_ == nullptr) {
        return;
    }
    const auto& record = which.agent->record;
    const auto& found = which.validators;
    keeper_->keep(
        {record.id,
         source_of(record, settings_),
         fetched.not_modified ? std::string{} : fetched.document,
         found.url,
         found.etag,
         found.last_modified,
         {},
         fetched.fresh_for}
    );
}

}  // namespace gateway::cards
