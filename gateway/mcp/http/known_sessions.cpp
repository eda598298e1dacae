#include "gateway/mcp/http/known_sessions.hpp"

#include <iterator>

namespace gateway::mcp::http {

bool known_sessions::is_due(const known_session& each, core::steady_time now) noexcept
{
    const bool idle = each.upstream && !each.over && now - each.used >= longest_idle;
    return !each.under_way && (idle || now - each.began >= longest_life);
}

known_sessions::shelf::iterator known_sessions::drop(shelf::iterator which)
{
    if (is_marked(*which)) {
        mark_(which->id, false);
    }
    clear_state(*which);
    by_id_.erase(which->id);
    return shelf_of(*which).erase(which);
}

// The server's id and its cookies go when nobody has used them for long; what the next session has to be told stays as long as the session may
// live. False: all of it has gone.
bool known_sessions::outlives(shelf::iterator due, core::steady_time now)
{
    if (due->over || now - due->began >= longest_life || due->state.bytes() == 0) {
        drop(due);
        return false;
    }
    due->upstream.reset();
    mark_(due->id, false);
    return true;
}

known_session* known_sessions::look(const ::mcp::session_digest& id, core::steady_time now)
{
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) {
        return nullptr;
    }
    const auto known = found->second;
    if (is_due(*known, now) && !outlives(known, now)) {
        return nullptr;
    }
    known->used = now;
    auto& in = shelf_of(*known);
    in.splice(in.begin(), in, known);
    return &*known;
}

known_session& known_sessions::touch(const ::mcp::session_digest& id, core::steady_time now)
{
    if (auto* const known = look(id, now)) {
        return *known;
    }
    make_room(all_, most - 1);
    all_.push_front({.id = id, .began = now, .used = now});
    by_id_.emplace(id, all_.begin());
    return all_.front();
}

void known_sessions::keep(known_session& of, ::mcp::upstream_session upstream)
{
    const bool marked = is_marked(of);
    of.upstream = std::move(upstream);
    if (!marked) {
        mark_(of.id, true);
    }
}

void known_sessions::end(known_session& known)
{
    if (known.over) {
        return;
    }
    clear_state(known);
    const auto at = by_id_.find(known.id)->second;
    make_room(over_, most_over - 1);
    over_.splice(over_.begin(), all_, at);
    known.over = true;
    mark_(known.id, true);
}

// An attempt has to find what it is for.
void known_sessions::make_room(shelf& in, std::size_t room_for)
{
    for (auto at = in.end(); at != in.begin() && in.size() > room_for;) {
        --at;
        if (!at->under_way) {
            at = drop(at);
        }
    }
}

void known_sessions::note(known_session& of, const ::mcp::client_message& request)
{
    const auto before = of.state.bytes();
    of.state.note(request);
    recount(of, before);
    bound_states();
}

// Its state had so many bytes before.
void known_sessions::recount(const known_session& changed, std::size_t before)
{
    const auto now = changed.state.bytes();
    bytes_ = bytes_ - before + now;
    by_size_.erase({before, changed.id});
    if (now > 0) {
        by_size_.emplace(now, changed.id);
    }
}

void known_sessions::clear_state(known_session& of)
{
    const auto before = of.state.bytes();
    of.state = {};
    recount(of, before);
}

// The session with the largest state loses it, and nothing else goes: the rest takes few bytes, and callers rely on it.
void known_sessions::bound_states()
{
    while (bytes_ > most_bytes) {
        const auto largest = by_id_.find(std::prev(by_size_.end())->second)->second;
        if (is_marked(*largest) || largest->under_way) {
            clear_state(*largest);
        } else {
            drop(largest);
        }
    }
}

std::size_t known_sessions::sweep(core::steady_time now, std::size_t most_gone)
{
    std::size_t gone = 0;
    for (auto* const in : {&all_, &over_}) {
        while (gone < most_gone && !in->empty() && is_due(in->back(), now)) {
            outlives(std::prev(in->end()), now);
            ++gone;
        }
    }
    return gone;
}

std::size_t known_sessions::clear(std::size_t most_gone)
{
    std::size_t gone = 0;
    for (auto* const in : {&all_, &over_}) {
        while (gone < most_gone && !in->empty()) {
            drop(in->begin());
            ++gone;
        }
    }
    return gone;
}

}  // namespace gateway::mcp::http
