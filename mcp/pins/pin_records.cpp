#include "core/json/json_patch.hpp"
#include "mcp/pins/definition.hpp"
#include "mcp/pins/pin_ledger.hpp"

#include <algorithm>
#include <array>
#include <ranges>

namespace mcp {
namespace {

using core::json;

constexpr std::array<std::string_view, 4> hold_reasons{"new", "changed", "words", "pins_full"};

// A text as it is compared.
json document_of(pin_kind kind, std::string_view text)
{
    if (kind == pin_kind::instructions) {
        return text;
    }
    auto read = core::parse_json(text, {.bytes = text.size(), .depth = 64, .members = 10000});
    if (!read) {
        return nullptr;
    }
    return kind == pin_kind::tool ? counted_tool(*read) : std::move(*read);
}

json key_record(const pin_key& key)
{
    json out{{"kind", name(key.kind)}};
    if (key.kind == pin_kind::tool) {
        out["name"] = key.name;
    }
    out["sha256"] = key.sha256;
    return out;
}

json stored(const pinned_text& text)
{
    return {{"sha256", text.sha256}, {"shape", text.shape}, {"text", text.text}};
}

pinned_text text_in(const json& from)
{
    return {core::text_member(from, "sha256"), core::text_member(from, "shape"), core::text_member(from, "text")};
}

std::int64_t epoch_seconds(core::wall_time at)
{
    return std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count();
}

core::wall_time time_in(const json* from)
{
    const auto count = from != nullptr && from->is_number_integer() ? from->get<std::int64_t>() : 0;
    return core::wall_time{std::chrono::seconds{std::clamp<std::int64_t>(count, 0, 253402300799)}};
}

}  // namespace

std::string_view name(held_for why) noexcept
{
    return hold_reasons[static_cast<std::size_t>(why)];
}

// RFC 6902, as text.
std::string difference(pin_kind kind, const pinned_text* before, std::string_view now)
{
    const auto after = document_of(kind, now);
    return before == nullptr ? core::json_patch_of_whole("add", after)
                             : core::json_patch(document_of(kind, before->text), after);
}

json pin_ledger::shown(bool with_diff) const
{
    auto approved = json::array();
    for (const auto& [kind, one] : {std::pair{pin_kind::card, &card_}, {pin_kind::instructions, &instructions_}}) {
        if (*one) {
            approved.push_back(key_record({kind, {}, (*one)->sha256}));
        }
    }
    for (const auto& [tool, all] : tools_) {
        auto record = key_record({pin_kind::tool, tool, all.back().sha256});
        if (all.size() > 1) {
            record["variants"] = all.size();
        }
        approved.push_back(std::move(record));
    }
    auto held = json::array();
    for (const auto& [key, each] : held_) {
        auto record = key_record(key);
        record["why"] = name(each.why);
        record["since"] = epoch_seconds(each.since);
        if (with_diff && each.why != held_for::pins_full) {
            const auto before = approved_forms(key);
            const auto diff = difference(key.kind, before.empty() ? nullptr : before.back(), each.text);
            auto read = core::parse_json(diff, {.bytes = diff.size(), .depth = 64, .members = 10000});
            record["diff"] = read ? std::move(*read) : json{};
        }
        held.push_back(std::move(record));
    }
    auto noise = json::array();
    for (const auto& [place, each] : words_) {
        if (each.is_volatile) {
            noise.push_back(place);
        }
    }
    return {{"approved", std::move(approved)}, {"held", std::move(held)}, {"volatile", std::move(noise)}};
}

std::string pin_ledger::text() const
{
    json out{{"seen", seen_}, {"source", source_}};
    if (card_) {
        out["card"] = stored(*card_);
        out["place"] = card_place_;
    }
    if (instructions_) {
        out["instructions"] = stored(*instructions_);
    }
    auto& tools = out["tools"] = json::array();
    for (const auto& [tool, all] : tools_) {
        for (const auto& each : all) {
            tools.push_back(stored(each));
            tools.back()["name"] = tool;
        }
    }
    // No call depends on the shapes of names of which nothing is approved.
    auto& own = out["own_shapes"] = json::array();
    for (const auto& [tool, shape] : own_shapes_) {
        if (tools_.contains(tool)) {
            own.push_back({{"name", tool}, {"shape", shape}});
        }
    }
    auto& held = out["held"] = json::array();
    for (const auto& [key, each] : held_) {
        auto record = stored(each);
        record["kind"] = name(key.kind);
        record["name"] = key.name;
        record["why"] = name(each.why);
        record["since"] = epoch_seconds(each.since);
        record["own"] = each.own;
        held.push_back(std::move(record));
    }
    out["held_place"] = held_card_place_;
    auto& history = out["words"] = json::array();
    for (const auto& [place, each] : words_) {
        auto texts = json::array();
        for (const auto& [sha256, at] : each.texts) {
            texts.push_back({{"sha256", sha256}, {"at", epoch_seconds(at)}});
        }
        history.push_back({{"place", place}, {"texts", std::move(texts)}, {"volatile", each.is_volatile}});
    }
    return core::to_text(out);
}

pin_ledger pin_ledger::of_nothing()
{
    pin_ledger out;
    out.seen_ = true;
    return out;
}

core::result<pin_ledger> pin_ledger::read(std::string_view text)
{
    constexpr std::size_t most = 16 * most_pinned_bytes;  // texts within texts are escaped
    const auto from = core::parse_json(text, {.bytes = most, .depth = 8});
    if (!from) {
        return from.error();
    }
    const auto list = [&](std::string_view name) {
        const auto* found = core::member(*from, name);
        return found != nullptr && found->is_array() ? *found : json::array();
    };
    const auto is_set = [](const json& of, std::string_view name) {
        const auto* found = core::member(of, name);
        return found != nullptr && *found == true;
    };
    pin_ledger out;
    out.seen_ = is_set(*from, "seen");
    out.source_ = core::text_member(*from, "source");
    out.card_place_ = core::text_member(*from, "place");
    out.held_card_place_ = core::text_member(*from, "held_place");
    if (const auto* card = core::member(*from, "card")) {
        out.card_ = text_in(*card);
    }
    if (const auto* instructions = core::member(*from, "instructions")) {
        out.instructions_ = text_in(*instructions);
    }
    for (const auto& each : list("tools")) {
        out.tools_[core::text_member(each, "name")].push_back(text_in(each));
    }
    for (const auto& each : list("own_shapes")) {
        out.own_shapes_.emplace(core::text_member(each, "name"), core::text_member(each, "shape"));
    }
    for (const auto& each : list("held")) {
        const auto kind = pin_kind_of(core::text_member(each, "kind"));
        const auto why = std::ranges::find(hold_reasons, core::text_member(each, "why"));
        if (kind && why != hold_reasons.end()) {
            held_text one{text_in(each), static_cast<held_for>(why - hold_reasons.begin())};
            one.since = time_in(core::member(each, "since"));
            one.own = is_set(each, "own");
            out.held_.emplace(pin_key{*kind, core::text_member(each, "name"), one.sha256}, std::move(one));
        }
    }
    for (const auto& each : list("words")) {
        auto& known = out.words_[core::text_member(each, "place")];
        known.is_volatile = is_set(each, "volatile");
        const auto* texts = core::member(each, "texts");
        for (const auto& one : texts != nullptr && texts->is_array() ? *texts : json::array()) {
            known.texts.emplace_back(core::text_member(one, "sha256"), time_in(core::member(one, "at")));
        }
    }
    return out;
}

}  // namespace mcp
