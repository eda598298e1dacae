#include "gateway/management/pin_desk.hpp"

#include "jose/digest.hpp"
#include "mcp/pins/definition.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gateway::management {

core::result<> pin_desk::load(const std::string& id, std::string_view text)
{
    auto read = ::mcp::pin_ledger::read(text);
    auto& entry = entries_[id];
    bytes_ -= entry.bytes;
    entry.ledger = read ? std::move(*read) : ::mcp::pin_ledger::of_nothing();
    entry.bytes = entry.ledger.bytes();
    entry.pins.reset();
    bytes_ += entry.bytes;
    return read ? core::result<>{} : core::result<>{std::move(read).error()};
}

void pin_desk::note_kept(const std::string& id, std::string_view text)
{
    if (const auto found = entries_.find(id); found != entries_.end()) {
        found->second.kept = jose::sha256_hex(text);
    }
}

core::result<std::optional<pin_desk::locked>>
pin_desk::learn(const std::string& id, std::string_view text, const ::mcp::pin_terms& terms)
{
    auto digest = jose::sha256_hex(text);
    if (std::exchange(entries_[id].kept, digest) == digest) {
        return std::nullopt;
    }
    const auto card = [&] {
        const auto* const approved = entries_[id].ledger.card();
        return approved == nullptr ? std::string{} : approved->sha256;
    };
    const auto was = card();
    if (auto loaded = load(id, text); !loaded) {
        return std::move(loaded).error();
    }
    entries_[id].ledger.set_lock(lock_of(id, terms.mode));
    return std::optional{locked{{view(id, terms)}, card() != was}};
}

std::optional<::mcp::locked_agent> pin_desk::lock_of(const std::string& id, core::pin_mode mode) const
{
    if (lock_ == nullptr) {
        return std::nullopt;
    }
    if (const auto found = lock_->find(id); found != lock_->end()) {
        return found->second;
    }
    return mode == core::pin_mode::enforce ? std::optional<::mcp::locked_agent>{std::in_place} : std::nullopt;
}

pin_desk::desk_entry& pin_desk::entry_of(const std::string& id, ::mcp::pin_terms& terms)
{
    auto& entry = entries_[id];
    entry.ledger.set_source(terms.source);
    terms.lock = lock_of(id, terms.mode);
    terms.room = ::mcp::most_pinned_of_all - std::min(::mcp::most_pinned_of_all, bytes_ - entry.bytes);
    return entry;
}

pin_view pin_desk::view_of(desk_entry& entry, const ::mcp::pin_terms& terms)
{
    const auto& ledger = entry.ledger;
    const bool enforces = terms.mode == core::pin_mode::enforce;
    if (!enforces || !terms.server) {
        entry.pins.reset();
    } else if (entry.pins == nullptr || entry.shown != ledger.revision() || entry.pins->except() != terms.except) {
        entry.pins = std::make_shared<const ::mcp::pinned_server>(ledger.approved(), terms.except);
        entry.shown = ledger.revision();
    }
    pin_view out{entry.pins, terms.server ? ledger.waits() : ledger.card() == nullptr};
    out.source = ledger.source();
    for (std::size_t i = 0; enforces && i < out.held.size(); ++i) {
        out.held[i] = ledger.held_count(static_cast<::mcp::pin_kind>(i));
    }
    return out;
}

pin_outcome pin_desk::settled(desk_entry& entry, const ::mcp::pin_terms& terms, std::uint64_t before)
{
    pin_outcome out{view_of(entry, terms)};
    if (entry.ledger.revision() != before) {
        bytes_ -= entry.bytes;
        entry.bytes = entry.ledger.bytes();
        bytes_ += entry.bytes;
        out.text = entry.ledger.text();
    }
    return out;
}

pin_desk::judged_lists
pin_desk::take_lists(const std::string& id, std::shared_ptr<const ::mcp::server_lists> seen, ::mcp::pin_terms terms)
{
    auto& entry = entry_of(id, terms);
    const auto before = entry.ledger.revision();
    auto changes = entry.ledger.take_lists(*seen, terms);
    judged_lists out{settled(entry, terms, before), std::move(seen)};
    out.outcome.changes = std::move(changes);
    if (const auto& pins = out.outcome.view.pins) {
        out.lists = std::make_shared<const ::mcp::server_lists>(::mcp::approved_lists(*pins, *out.lists));
    }
    return out;
}

pin_desk::judged_card
pin_desk::take_card(const std::string& id, const std::string& text, std::size_t most, ::mcp::pin_terms terms)
{
    auto& entry = entry_of(id, terms);
    const auto before = entry.ledger.revision();
    const auto print = ::mcp::print_of_card(text, most);
    if (!print) {
        return {settled(entry, terms, before), {}};  // its reader has refused it
    }
    auto changes = entry.ledger.take_card(text, *print, terms);
    judged_card out{settled(entry, terms, before), {}};
    out.outcome.changes = std::move(changes);
    const auto* const approved = entry.ledger.card();
    const bool fits = approved != nullptr && approved->sha256 == *print && approved->text == text;
    if (terms.mode == core::pin_mode::enforce && !fits) {
        out.verdict = {true, approved == nullptr ? "" : approved->text, entry.ledger.card_place()};
    }
    return out;
}

pin_outcome
pin_desk::take_tools(const std::string& id, const std::vector<::mcp::listed_item>& tools, ::mcp::pin_terms terms)
{
    auto& entry = entry_of(id, terms);
    const auto before = entry.ledger.revision();
    std::vector<::mcp::pin_change> changes;
    for (const auto& each : tools) {
        std::ranges::move(entry.ledger.take_tool(each, terms), std::back_inserter(changes));
    }
    auto out = settled(entry, terms, before);
    out.changes = std::move(changes);
    return out;
}

core::result<pin_outcome>
pin_desk::approve(const std::string& id, const std::vector<::mcp::pin_key>& items, const ::mcp::pin_terms& terms)
{
    const auto found = entries_.find(id);
    if (found == entries_.end()) {
        return core::caller_error(core::errc::version_conflict, "nothing of it waits");
    }
    const auto before = found->second.ledger.revision();
    found->second.ledger.set_source(terms.source);
    if (auto approved = found->second.ledger.approve(items); !approved) {
        return std::move(approved).error();
    }
    return settled(found->second, terms, before);
}

pin_desk::locked pin_desk::apply_lock(const std::string& id, const ::mcp::pin_terms& terms)
{
    auto& entry = entries_[id];
    const auto card = [&] { return entry.ledger.card() == nullptr ? std::string{} : entry.ledger.card()->sha256; };
    const auto before = entry.ledger.revision();
    const auto was = card();
    entry.ledger.set_source(terms.source);
    entry.ledger.set_lock(lock_of(id, terms.mode));
    return {settled(entry, terms, before), card().empty() || card() != was};
}

pin_view pin_desk::view(const std::string& id, const ::mcp::pin_terms& terms)
{
    return view_of(entries_[id], terms);
}

core::json pin_desk::shown(const std::string& id, bool with_diff) const
{
    const auto found = entries_.find(id);
    return found == entries_.end() ? ::mcp::pin_ledger{}.shown(false) : found->second.ledger.shown(with_diff);
}

void pin_desk::forget(const std::string& id)
{
    if (const auto found = entries_.find(id); found != entries_.end()) {
        bytes_ -= found->second.bytes;
        entries_.erase(found);
    }
}

}  // namespace gateway::management
