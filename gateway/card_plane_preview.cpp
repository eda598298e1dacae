#include "config/signatures.hpp"
#include "gateway/card_plane.hpp"

#include <utility>

namespace gateway {

using core::errc;

core::result<card_plane::rendered> card_plane::render(const core::agent& record, std::string_view document) const
{
    auto parsed = a2a::parse_card(document, {.bytes = settings_.max_size, .depth = 64});
    if (!parsed) {
        return std::move(parsed).error();
    }
    const a2a::public_address at{public_address(public_base_, record.id), core::passes_extended_card(record)};
    const auto rewritten = a2a::rewrite_card(*parsed, at, {.url = record.url, .card_url = record.card_url});
    if (!rewritten) {
        return rewritten.error();
    }
    const auto shape = record.shape.value_or(settings_.shape);
    const auto rules = config::signature_rules_of(record, settings_);
    auto variants = make_variants(*rewritten, shape, at, signing{rules.sign ? signer_.get() : nullptr, public_base_});
    if (!variants) {
        return std::move(variants).error();
    }
    return rendered{std::move(*parsed), std::move(*variants), shape};
}

net::task<core::result<card_preview>> card_plane::preview(std::string id)
{
    const auto found = slots_.find(id);
    if (found == slots_.end()) {
        co_return core::caller_error(errc::agent_not_found);
    }
    const auto which = found->second;
    const auto& record = which->agent->record;
    auto document = record.card;
    if (document.empty()) {
        if (which->agent->upstream == nullptr) {
            co_return core::upstream_error(errc::session_not_started);
        }
        if (stopped_) {
            co_return core::gateway_error(errc::draining);
        }
        card_validators place;
        place.url = which->validators.url;
        auto fetched = co_await source_.fetch(record, place);
        if (!fetched) {
            co_return std::move(fetched).error();
        }
        document = std::move(fetched->document);
    }
    auto made = render(record, document);
    if (!made) {
        co_return std::move(made).error();
    }
    co_return preview_of(*which, std::move(*made));
}

card_preview card_plane::preview_of(const slot& which, rendered made)
{
    card_preview out{nullptr, std::move(made.variants.bytes), std::move(made.card.problems)};
    if (which.state.card) {
        out.before = which.state.card->bytes;
        if (same_bytes(*out.before, *out.after)) {
            out.after = out.before;
        }
    }
    return out;
}

}  // namespace gateway
