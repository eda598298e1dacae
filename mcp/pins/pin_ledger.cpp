#include "mcp/pins/pin_ledger.hpp"

#include "core/pattern.hpp"
#include "mcp/pins/definition.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <ranges>

namespace mcp {
namespace {

using core::json;

constexpr std::array<std::string_view, 3> pin_kinds{"card", "instructions", "tool"};

std::string place_of(const pin_key& key)
{
    return key.kind == pin_kind::tool ? "/tools/" + key.name : '/' + std::string{name(key.kind)};
}

std::string_view fingerprint(const locked_agent& lock, const pin_key& key)
{
    if (key.kind != pin_kind::tool) {
        return key.kind == pin_kind::card ? lock.card : lock.instructions;
    }
    const auto found = lock.tools.find(key.name);
    return found == lock.tools.end() ? std::string_view{} : std::string_view{found->second};
}

bool approves(const locked_agent& lock, const pin_key& key)
{
    return fingerprint(lock, key) == key.sha256;
}

std::vector<std::string> changed_members(const pin_key& key, const pinned_text* before, std::string_view now)
{
    std::vector<std::string> all;
    const auto patch = core::parse_json(difference(key.kind, before, now), {.bytes = 64 * 1024 * 1024});
    for (const auto& each : patch ? *patch : json::array()) {
        const auto path = core::text_member(each, "path");
        const bool counts = key.kind != pin_kind::card || (path != "/version" && !path.starts_with("/signatures"));
        if (counts && all.size() < most_changed_members) {
            all.push_back(place_of(key) + path);
        }
    }
    return all;
}

}  // namespace

std::string_view name(pin_kind kind) noexcept
{
    return pin_kinds[static_cast<std::size_t>(kind)];
}

std::optional<pin_kind> pin_kind_of(std::string_view name) noexcept
{
    const auto found = std::ranges::find(pin_kinds, name);
    return found == pin_kinds.end() ? std::nullopt : std::optional{static_cast<pin_kind>(found - pin_kinds.begin())};
}

template <class Test>
void pin_ledger::drop_held(const Test& is_dropped)
{
    revision_ += std::erase_if(held_, is_dropped) > 0;
}

void pin_ledger::set_source(const std::string& source)
{
    if (source.empty() || source == source_) {
        return;
    }
    if (!source_.empty()) {
        auto next = of_nothing();
        next.revision_ = revision_;
        *this = std::move(next);
    }
    source_ = source;
    ++revision_;
}

// Whether this is the first sight, and approves what it sees.
bool pin_ledger::begins(const pin_terms& terms)
{
    const bool asks = terms.registered && terms.mode == core::pin_mode::enforce;
    if (std::exchange(seen_, true)) {
        return false;
    }
    ++revision_;
    return !asks && !terms.lock;
}

std::vector<pin_change> pin_ledger::take_lists(const server_lists& lists, const pin_terms& terms)
{
    const bool first = begins(terms);
    drop_old(terms.now);
    std::vector<pin_change> changes;
    std::set<pin_key> listed;
    decltype(own_shapes_) shapes;
    const auto& said = lists.server.instructions;
    const seen_item instructions{{pin_kind::instructions, {}, print_of_words(said)}, {}, said};
    listed.insert(instructions.key);
    take_one(instructions, terms, first, changes);
    for (const auto& each : lists[list_kind::tools]) {
        if (std::ranges::any_of(terms.except, [&](const auto& pattern) { return core::fits(pattern, each.key); })) {
            continue;
        }
        auto print = print_of_tool(each.raw);
        // One that cannot be read is none of the approved ones.
        seen_item seen{{pin_kind::tool, each.key, print ? print->whole : std::string{}}, {}, each.raw};
        seen.shape = print ? std::move(print->shape) : std::string{};
        listed.insert(seen.key);
        take_one(seen, terms, first, changes);
        const auto approved = approved_forms(seen.key);
        const auto [at, is_new] = shapes.emplace(each.key, seen.shape);
        if (!is_new && at->second != seen.shape &&
            std::ranges::none_of(approved, [&](const auto* form) { return form->shape == seen.shape; })) {
            at->second.clear();
        }
    }
    drop_unlisted(listed);
    revision_ += shapes != own_shapes_;
    own_shapes_ = std::move(shapes);
    return changes;
}

std::vector<pin_change> pin_ledger::take_card(std::string_view text, const std::string& print, const pin_terms& terms)
{
    const bool first = begins(terms);
    std::vector<pin_change> changes;
    const seen_item seen{{pin_kind::card, {}, print}, {}, text};
    take_one(seen, terms, first, changes);
    if (card_ && card_->sha256 == print) {
        if (terms.mode != core::pin_mode::enforce || may_replace_card(card_->text, text)) {
            revision_ += card_->text != text || card_place_ != terms.place;
            card_->text = text;  // another version, signature or order
            card_place_ = terms.place;
        }
        drop_held([](const auto& each) { return each.first.kind == pin_kind::card; });
    } else {
        held_card_place_ = terms.place;
        drop_held([&](const auto& each) { return each.first.kind == pin_kind::card && each.first.sha256 != print; });
    }
    return changes;
}

std::vector<pin_change> pin_ledger::take_tool(const listed_item& tool, const pin_terms& terms)
{
    drop_old(terms.now);
    std::vector<pin_change> changes;
    const auto print = print_of_tool(tool.raw);
    if (!print) {
        return changes;
    }
    const seen_item seen{{pin_kind::tool, tool.key, print->whole}, print->shape, tool.raw};
    const auto approved = approved_forms(seen.key);
    const bool known = std::ranges::any_of(approved, [&](const auto* each) { return each->shape == seen.shape; });
    if (known || takes_lock(seen, terms)) {
        return changes;
    }
    if (hold(seen, approved.empty() ? held_for::added : held_for::changed, terms, /*own=*/false)) {
        changes.push_back(change_of(seen, approved, true));
    }
    return changes;
}

void pin_ledger::take_one(const seen_item& seen, const pin_terms& terms, bool first, std::vector<pin_change>& changes)
{
    const auto approved = approved_forms(seen.key);
    if (std::ranges::any_of(approved, [&](const auto* each) { return each->sha256 == seen.key.sha256; }) ||
        takes_lock(seen, terms)) {
        return;
    }
    const auto same_shape = [&](const auto* each) { return each->shape == seen.shape; };
    const bool is_known = seen.key.kind != pin_kind::card && std::ranges::any_of(approved, same_shape);
    auto why = approved.empty() ? held_for::added : (is_known ? held_for::words : held_for::changed);
    const bool room = has_room(seen, terms);
    const pinned_text text{seen.key.sha256, seen.shape, std::string{seen.text}};
    if (first) {
        room ? put(seen.key, text, true) : void(hold(seen, held_for::pins_full, terms, true));
        return;
    }
    if (why == held_for::words && is_volatile(seen.key, approved, terms.now)) {
        return;
    }
    const bool enforces = terms.mode == core::pin_mode::enforce;
    if (enforces || terms.lock) {
        if (hold(seen, why, terms, true)) {
            changes.push_back(change_of(seen, approved, enforces));
        }
    } else if (room) {
        changes.push_back(change_of(seen, approved, false));
        put(seen.key, text, true);
    }
}

// The lock file approves a text as soon as it is seen.
bool pin_ledger::takes_lock(const seen_item& seen, const pin_terms& terms)
{
    if (!terms.lock || !approves(*terms.lock, seen.key) || !has_room(seen, terms)) {
        return false;
    }
    put(seen.key, {seen.key.sha256, seen.shape, std::string{seen.text}}, true);
    held_.erase(seen.key);
    return true;
}

// Notes the text, and whether there have been too many of them to report another one.
bool pin_ledger::is_volatile(const pin_key& key, const forms& approved, core::wall_time now)
{
    auto& known = words_[place_of(key)];
    std::erase_if(known.texts, [now](const auto& each) { return now - each.second > volatile_within; });
    const auto note = [&](const std::string& sha256) {
        const auto at = std::ranges::find(known.texts, sha256, &std::pair<std::string, core::wall_time>::first);
        if (at != known.texts.end()) {
            at->second = now;
        } else if (known.texts.size() < volatile_texts) {
            known.texts.emplace_back(sha256, now);
            ++revision_;
        }
    };
    note(approved.back()->sha256);
    note(key.sha256);
    if (known.texts.size() >= volatile_texts && !std::exchange(known.is_volatile, true)) {
        drop_held([&](const auto& each) {
            return each.second.why == held_for::words && place_of(each.first) == place_of(key);
        });
    }
    return known.is_volatile;
}

// True: it did not wait before.
bool pin_ledger::hold(const seen_item& seen, held_for why, const pin_terms& terms, bool own)
{
    if (const auto there = held_.find(seen.key); there != held_.end()) {
        revision_ += own && !there->second.own;
        there->second.own = there->second.own || own;
        return false;
    }
    if (!makes_room(seen.text.size(), own, terms.now)) {
        return false;
    }
    held_text text;
    text.sha256 = seen.key.sha256;
    text.shape = seen.shape;
    text.why = has_room(seen, terms) ? why : held_for::pins_full;
    text.text = text.why == held_for::pins_full ? std::string_view{} : seen.text;
    text.since = terms.now;
    text.own = own;
    held_.emplace(seen.key, std::move(text));
    ++revision_;
    return true;
}

// An item that only callers were listed has a share of the room, in which the oldest gives way; all of it gives way to the gateway's own.
bool pin_ledger::makes_room(std::size_t bytes, bool own, core::wall_time now)
{
    if (!own && bytes > most_callers_bytes) {
        return false;
    }
    for (;;) {
        std::size_t count = 0;
        std::size_t size = bytes;
        auto oldest = held_.end();
        for (auto each = held_.begin(); each != held_.end(); ++each) {
            if (!each->second.own) {
                ++count;
                size += each->second.text.size();
                oldest = oldest == held_.end() || each->second.since < oldest->second.since ? each : oldest;
            }
        }
        if (held_.size() < most_held && (own || (count < most_of_callers && size <= most_callers_bytes))) {
            return true;
        }
        if (oldest == held_.end() || (!own && now - oldest->second.since < callers_turn)) {
            return false;
        }
        held_.erase(oldest);
        ++revision_;
    }
}

// An item that a caller is still listed will be seen again.
void pin_ledger::drop_old(core::wall_time now)
{
    drop_held([now](const auto& each) { return !each.second.own && now - each.second.since > callers_within; });
}

// Items that the gateway's own list no longer has wait no longer.
void pin_ledger::drop_unlisted(const std::set<pin_key>& listed)
{
    drop_held([&](const auto& each) {
        return each.second.own && each.first.kind != pin_kind::card && !listed.contains(each.first);
    });
    for (const auto& key : listed) {
        const auto approved = approved_forms(key);
        if (std::ranges::any_of(approved, [&](const auto* each) { return each->sha256 == key.sha256; })) {
            revision_ += held_.erase(key);
        }
    }
}

pin_ledger::forms pin_ledger::approved_forms(const pin_key& key) const
{
    forms all;
    if (key.kind == pin_kind::tool) {
        if (const auto found = tools_.find(key.name); found != tools_.end()) {
            std::ranges::transform(found->second, std::back_inserter(all), [](const auto& each) { return &each; });
        }
    } else if (const auto& one = key.kind == pin_kind::card ? card_ : instructions_) {
        all.push_back(&*one);
    }
    return all;
}

bool pin_ledger::has_room(const seen_item& seen, const pin_terms& terms) const noexcept
{
    const bool is_new = seen.key.kind == pin_kind::tool && !tools_.contains(seen.key.name);
    return (!is_new || tools_.size() < most_pinned_tools) && !(seen.key.kind == pin_kind::tool && seen.shape.empty()) &&
           bytes() + seen.text.size() <= std::min(most_pinned_bytes, terms.room);
}

// `alone`: other forms are approved no longer; else it replaces the one of its shape, or the oldest if there are too many.
void pin_ledger::put(const pin_key& key, pinned_text text, bool alone)
{
    ++revision_;
    if (key.kind != pin_kind::tool) {
        (key.kind == pin_kind::card ? card_ : instructions_) = std::move(text);
        return;
    }
    auto& all = tools_[key.name];
    std::erase_if(all, [&](const auto& each) { return alone || each.shape == text.shape; });
    if (all.size() >= most_variants) {
        all.erase(all.begin());
    }
    all.push_back(std::move(text));
}

pin_change pin_ledger::change_of(const seen_item& seen, const forms& approved, bool held) const
{
    const auto* const before = approved.empty() ? nullptr : approved.back();
    return {seen.key, before == nullptr ? "" : before->sha256, changed_members(seen.key, before, seen.text), held};
}

core::result<std::vector<pin_key>> pin_ledger::approve(const std::vector<pin_key>& items)
{
    for (const auto& each : items) {
        const auto found = held_.find(each);
        if (found == held_.end()) {
            return core::caller_error(core::errc::version_conflict, place_of(each) + " does not wait in this form");
        }
        if (found->second.why == held_for::pins_full) {
            return core::caller_error(core::errc::version_conflict, place_of(each) + " has no room (pins_full)");
        }
    }
    for (const auto& each : items) {
        auto waited = held_.extract(each);
        if (waited.empty()) {
            continue;  // named twice
        }
        if (each.kind == pin_kind::card) {
            card_place_ = held_card_place_;
        }
        put(each, std::move(waited.mapped()), /*alone=*/false);
        words_.erase(place_of(each));
    }
    return items;
}

void pin_ledger::set_lock(const std::optional<locked_agent>& lock)
{
    if (!lock) {
        return;
    }
    const auto is_out = [&](const pin_key& key) { return !approves(*lock, key); };
    std::size_t gone = 0;
    if (card_ && is_out({pin_kind::card, {}, card_->sha256})) {
        card_.reset();
        ++gone;
    }
    if (instructions_ && is_out({pin_kind::instructions, {}, instructions_->sha256})) {
        instructions_.reset();
        ++gone;
    }
    for (auto& [tool, all] : tools_) {
        gone += std::erase_if(all, [&](const auto& each) { return is_out({pin_kind::tool, tool, each.sha256}); });
    }
    revision_ += gone > 0 ? 1 : 0;
    std::erase_if(tools_, [](const auto& each) { return each.second.empty(); });
    std::vector<pin_key> now;
    for (const auto& [key, each] : held_) {
        if (approves(*lock, key) && each.why != held_for::pins_full) {
            now.push_back(key);
        }
    }
    static_cast<void>(approve(now));  // each of them waits
}

approved_server pin_ledger::approved() const
{
    approved_server out;
    out.seen = seen_;
    if (instructions_) {
        out.instructions = instructions_->text;
    }
    for (const auto& [tool, all] : tools_) {
        auto& to = out.tools[tool];
        for (const auto& each : all) {
            to.variants.push_back({each.shape, each.text});
        }
        const auto own = own_shapes_.find(tool);
        to.callable = own == own_shapes_.end() ||
                      std::ranges::find(to.variants, own->second, &approved_variant::shape) != to.variants.end();
    }
    return out;
}

std::size_t pin_ledger::bytes() const noexcept
{
    std::size_t sum = (card_ ? card_->text.size() : 0) + (instructions_ ? instructions_->text.size() : 0);
    for (const auto& all : tools_ | std::views::values) {
        for (const auto& each : all) {
            sum += each.text.size();
        }
    }
    for (const auto& each : held_ | std::views::values) {
        sum += each.text.size();
    }
    return sum;
}

std::size_t pin_ledger::held_count(pin_kind kind) const noexcept
{
    return static_cast<std::size_t>(std::ranges::count_if(held_, [kind](const auto& each) {
        return each.first.kind == kind;
    }));
}

}  // namespace mcp
