// Cards of MCP servers: made from what their sessions list, and there while the session is.
#include "gateway/cards/card_plane.hpp"

#include <utility>

namespace gateway::cards {

using core::errc;

void card_plane::set_session_card(const std::string& id, std::shared_ptr<const mcp::server_lists> from, card_told done)
{
    const auto found = slots_.find(id);
    if (found == slots_.end() || stopped_) {
        done(false);
        return;
    }
    const auto which = found->second;
    which->listed = std::move(from);
    which->told.push_back(std::move(done));
    which->lost_meanwhile = false;
    if (!std::exchange(which->making, true)) {
        spawn(make_of_session(which), "session_card");
    }
}

// Of lists that change faster than cards are made, only the latest count.
net::task<> card_plane::make_of_session(slot_pointer which)
{
    while (which->listed != nullptr) {
        const auto from = std::exchange(which->listed, nullptr);
        const auto told = std::exchange(which->told, {});
        auto record = which->record();
        auto made = co_await maker_.make_of_lists(std::move(record), from);
        const bool is_card = !which->gone && take_session(*which, std::move(made), *from);
        for (const auto& tell : told) {
            tell(is_card);
        }
    }
    which->making = false;
    wake(*which);
}

bool card_plane::take_session(slot& which, core::result<made_card> made, const mcp::server_lists& from)
{
    if (!made) {
        failed(which, std::move(made).error());
        which.card_trouble = which.state.failure;
        which.session_trouble = which.card_trouble;
        withdraw(which);
        return false;
    }
    auto lost = which.lost_meanwhile ? which.session_trouble : std::nullopt;
    which.session_trouble.reset();
    which.card_trouble.reset();
    which.status.vouched = true;
    which.state.caching = from.shareable ? model::card_caching::asking : model::card_caching::asking_alone;
    take_made(which, std::move(*made), now_(), settings_.ttl);
    if (lost) {
        which.session_trouble = std::move(lost);
        which.status.failure = which.session_trouble;
        withdraw(which);
    }
    return true;
}

void card_plane::set_session_trouble(const std::string& id, std::optional<core::error> why)
{
    const auto found = slots_.find(id);
    if (found == slots_.end()) {
        return;
    }
    auto& which = *found->second;
    which.lost_meanwhile = why.has_value();
    // What makes no card makes none, however well the session is.
    which.session_trouble = why ? std::move(why) : which.card_trouble;
    which.status.failure = which.session_trouble;
    if (which.session_trouble) {
        withdraw(which);
        wake(which);
    } else if (which.state.card && !which.making) {
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
    which.status.vouched = which.agent->record.card.empty();
    succeed(which.state, which.state.card->bytes, now_(), settings_.ttl, settings_);
    which.status.card = which.state.card;
    which.status.failure.reset();
    publish_(which.agent->record.id, which.state.card);
}

model::card_answer card_plane::obtain_from_session(slot& which)
{
    const auto& record = which.agent->record;
    if (!which.session_trouble && which.state.card) {
        renew(which);
        return {which.state.card, model::card_use::hit, std::nullopt};
    }
    const auto trouble = which.session_trouble.value_or(core::upstream_error(errc::session_not_started));
    if (trouble.code == errc::session_not_started && demand_) {
        demand_(record.id);
    }
    if (usable(which.state, now_())) {
        return {which.state.card, model::card_use::stale, trouble};
    }
    model::card_answer none{nullptr, model::card_use::negative, trouble};
    const bool comes_back = trouble.code == errc::session_crashed || trouble.code == errc::session_failed ||
                            trouble.code == errc::session_not_ready || trouble.code == errc::session_not_started;
    if (comes_back) {
        none.again_at = (next_attempt_ ? next_attempt_(record.id) : std::nullopt).value_or(now_());
    }
    return none;
}

}  // namespace gateway::cards
