// Cards of MCP servers: made from what their sessions list, and there while the session is.
#include "config/signatures.hpp"
#include "gateway/card_plane.hpp"
#include "gateway/session_card.hpp"
#include "gateway/session_settings.hpp"
#include "gateway/shown_words.hpp"

#include <utility>

namespace gateway {

using core::errc;

core::result<card_plane::rendered> card_plane::render_session(const core::agent& record, const mcp::snapshot& from)
    const
{
    const auto shape = record.shape.value_or(settings_.shape);
    const auto rules = config::signature_rules_of(record, settings_);
    const signing how{rules.sign ? signer_.get() : nullptr, public_base_};
    auto made = make_session_card(from, record, shape, how, settings_.max_size);
    if (!made) {
        return std::move(made).error();
    }
    // Their paths name members as the server calls them.
    const auto secrets = secrets_of(record);
    for (auto& each : made->card.problems) {
        each.path = shown_words(secrets, each.path);
    }
    return rendered{std::move(made->card), std::move(made->variants), shape};
}

core::result<card_preview> card_plane::preview_session_card(const std::string& id, const mcp::snapshot& from) const
{
    const auto found = slots_.find(id);
    if (found == slots_.end()) {
        return core::caller_error(errc::agent_not_found);
    }
    auto made = render_session(found->second->agent->record, from);
    if (!made) {
        return std::move(made).error();
    }
    return preview_of(*found->second, std::move(*made));
}

bool card_plane::set_session_card(const std::string& id, const mcp::snapshot& from)
{
    const auto found = slots_.find(id);
    if (found == slots_.end()) {
        return false;
    }
    auto& which = *found->second;
    auto made = render_session(which.agent->record, from);
    if (!made) {
        failed(which, std::move(made).error());
        which.card_trouble = which.state.failure;
        which.session_trouble = which.card_trouble;
        withdraw(which);
        return false;
    }
    which.session_trouble.reset();
    which.card_trouble.reset();
    which.status.vouched = true;
    which.state.caching = from.shareable ? card_caching::asking : card_caching::asking_alone;
    take_rendered(which, std::move(*made), now_(), settings_.ttl);
    return true;
}

void card_plane::set_session_trouble(const std::string& id, std::optional<core::error> why)
{
    const auto found = slots_.find(id);
    if (found == slots_.end()) {
        return;
    }
    auto& which = *found->second;
    // What makes no card makes none, however well the session is.
    which.session_trouble = why ? std::move(why) : which.card_trouble;
    which.status.failure = which.session_trouble;
    if (which.session_trouble) {
        withdraw(which);
    } else if (which.state.card) {
        renew(which);
    }
}

// The workers ask from now on. What the session vouched for was right until this moment, and counts beyond it only where the
// operator wants that.
void card_plane::withdraw(slot& which)
{
    const auto& record = which.agent->record;
    if (std::exchange(which.status.vouched, false)) {
        const bool counts = record.mcp && record.mcp->stale_if_error;
        outdate(which.state, now_(), counts ? settings_.stale_if_error : core::duration{0});
        which.status.card = which.state.card;
    }
    publish_(record.id, nullptr);
}

// What the session vouches for is as fresh as can be.
void card_plane::renew(slot& which)
{
    which.status.vouched = true;
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
    if (usable(which.state, now_())) {
        return {which.state.card, card_use::stale, trouble};
    }
    card_answer none{nullptr, card_use::negative, trouble};
    const bool comes_back = trouble.code == errc::session_crashed || trouble.code == errc::session_failed ||
                            trouble.code == errc::session_not_ready || trouble.code == errc::session_not_started;
    if (comes_back) {
        none.again_at = (next_attempt_ ? next_attempt_(record.id) : std::nullopt).value_or(now_());
    }
    return none;
}

}  // namespace gateway
