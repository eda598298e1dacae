// Cards of MCP servers: made from what their sessions list, and there while the session is.
#include "config/signatures.hpp"
#include "gateway/card_plane.hpp"
#include "gateway/session_card.hpp"

#include <utility>

namespace gateway {

using core::errc;

void card_plane::set_session_card(const std::string& id, const mcp::snapshot& from)
{
    const auto found = slots_.find(id);
    if (found == slots_.end()) {
        return;
    }
    auto& which = *found->second;
    const auto& record = which.agent->record;
    const auto shape = record.shape.value_or(settings_.shape);
    const auto rules = config::signature_rules_of(record, settings_);
    auto made = make_session_card(
        from,
        record,
        shape,
        signing{rules.sign ? signer_.get() : nullptr, public_base_},
        settings_.max_size
    );
    if (!made) {
        failed(which, std::move(made).error());
        which.session_trouble = which.state.failure;
        publish_(id, nullptr);
        return;
    }
    which.session_trouble.reset();
    take_rendered(which, {std::move(made->card), std::move(made->variants), shape}, now_(), settings_.ttl);
}

void card_plane::set_session_trouble(const std::string& id, std::optional<core::error> why)
{
    const auto found = slots_.find(id);
    if (found == slots_.end()) {
        return;
    }
    auto& which = *found->second;
    // A card over its limits is none, however well the session is.
    const bool unusable = which.session_trouble && which.session_trouble->code == errc::card_too_large;
    if (!why && unusable) {
        return;
    }
    which.session_trouble = std::move(why);
    which.status.failure = which.session_trouble;
    if (which.session_trouble) {
        publish_(id, nullptr);  // the workers ask from now on
    } else if (which.state.card) {
        renew(which);
    }
}

// What the session vouches for is as fresh as can be.
void card_plane::renew(slot& which)
{
    succeed(which.state, which.state.card->bytes, now_(), settings_.ttl, settings_);
    which.status.card = which.state.card;
    which.status.failure.reset();
    publish_(which.agent->record.id, which.state.card);
}

card_answer card_plane::obtain_from_session(slot& which)
{
    const auto& record = which.agent->record;
    if (!which.session_trouble && which.state.card) {
        renew(which);
        return {which.state.card, card_use::hit, std::nullopt};
    }
    const auto trouble = which.session_trouble.value_or(core::upstream_error(errc::session_not_started));
    if (trouble.code == errc::session_not_started && demand_) {
        demand_(record.id);
    }
    if (record.mcp && record.mcp->stale_if_error && usable(which.state, now_())) {
        return {which.state.card, card_use::stale, trouble};
    }
    return {nullptr, card_use::negative, trouble};
}

}  // namespace gateway
