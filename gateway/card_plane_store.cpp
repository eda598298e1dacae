// What the card_plane has kept and recalled: the last good cards, which outlive the process.
#include "config/signatures.hpp"
#include "gateway/card_plane.hpp"

#include <utility>

namespace gateway {
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

// The last good card of before the start, once; whoever comes meanwhile waits for it.
net::task<> card_plane::recall(slot_pointer which)
{
    net::task_signal done;
    while (which->recalling) {
        which->waiting.push_back(&done);
        co_await done.wait();
    }
    if (std::exchange(which->recalled, true)) {
        co_return;
    }
    which->recalling = true;
    const auto found = co_await keeper_->recall(which->agent->record.id);
    which->recalling = false;
    if (found && !which->gone && found->card.source == source_of(which->agent->record, settings_)) {
        const auto& kept = found->card;
        // One that is not accepted any more is as good as none.
        if (accept(*which, {kept.document, kept.url}, now_() - found->age, kept.fresh_for)) {
            which->validators = {kept.url, kept.etag, kept.last_modified};
            which->status.found_at = kept.url;
        }
    }
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

}  // namespace gateway
