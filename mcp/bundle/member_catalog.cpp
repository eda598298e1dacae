#include "mcp/bundle/member_catalog.hpp"

#include "core/json/json_cursor.hpp"
#include "core/json/json_writer.hpp"
#include "mcp/bundle/names.hpp"
#include "mcp/bundle/result_edit.hpp"
#include "mcp/calls/list_edit.hpp"
#include "mcp/calls/text_edits.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace mcp {
namespace {

bool is_named_list(list_kind list) noexcept
{
    return list == list_kind::tools || list == list_kind::prompts;
}

std::string json_text(std::string_view text)
{
    std::string out;
    core::append_json_string(out, text);
    return out;
}

struct entry_words {
    std::string_view scheme;
    std::optional<std::string_view> description;  // instead of the server's
};

// Fills in what the item of the server becomes. False: its key cannot be found, which usable items have.
bool write_entry(shown_entry& entry, std::string_view item, list_kind list, const entry_words& words)
{
    std::vector<text_edit> edits;
    text_range key;
    bool described = !words.description;
    core::json_cursor<core::wide_bytes> cursor{item, 64};
    const bool read = is_object(item) && cursor.object([&](std::string_view raw, bool escaped, std::string_view value) {
        const auto name = escaped ? text_of('"' + std::string{raw} + '"').value_or("") : std::string{raw};
        const text_range place{static_cast<std::size_t>(value.data() - item.data()), value.size()};
        if (name == key_member(list)) {
            key = place;
            if (entry.exposed != entry.original) {
                edits.push_back({place, json_text(entry.exposed)});
            }
        } else if (name == "description" && words.description) {
            edits.push_back({place, json_text(*words.description)});
            described = true;
        } else if (name == "_meta") {
            for (auto& edit : exposed_meta(value, words.scheme)) {
                edits.push_back({{place.at + edit.place.at, edit.place.size}, std::move(edit.text)});
            }
        }
        return true;
    });
    if (!read || key.empty()) {
        return false;
    }
    if (!described) {
        edits.push_back({{key.at + key.size, 0}, R"(,"description":)" + json_text(*words.description)});
    }
    entry.raw = edited(item, edits);
    entry.key = moved(key, edits);
    entry.digest = std::hash<std::string>{}(entry.raw);
    return true;
}

}  // namespace

name_filters filters_of(const core::mcp_bundle& bundle)
{
    core::mcp_server words;
    words.tools = bundle.tools;
    words.prompts = bundle.prompts;
    words.resources = bundle.resources;
    // Programs do not agree on which characters of a file's name they escape: a pattern counts without escapes too.
    std::array<char, longest_matched_name> room{};
    for (const auto& pattern : bundle.resources.deny) {
        const auto at = pattern.find("+file:");
        if (at == std::string::npos) {
            continue;
        }
        const auto file = std::string_view{pattern}.substr(at + 1);
        if (const auto plain = unescaped_file(file, room); plain != file) {
            words.resources.deny.push_back(pattern.substr(0, at + 1).append(plain));
        }
    }
    return name_filters{words};
}

member_catalog::member_catalog(
    const server_lists* lists,
    std::shared_ptr<const name_filters> own,
    std::shared_ptr<const name_filters> bundle,
    member_terms terms
)
    : own_{std::move(own)},
      bundle_{std::move(bundle)},
      terms_{std::move(terms)},
      scheme_{core::bundle_scheme(terms_.as)},
      known_{lists != nullptr}
{
    if (lists == nullptr) {
        return;
    }
    for (const auto list : {list_kind::tools, list_kind::resources, list_kind::templates, list_kind::prompts}) {
        show(*lists, list);
        index(list);
    }
}

std::vector<settled_name> member_catalog::names_of(list_kind list, const std::vector<shown_entry>& entries) const
{
    if (is_named_list(list)) {
        std::vector<name_claim> claims;
        claims.reserve(entries.size());
        for (const auto& each : entries) {
            claims.push_back({terms_.as, each.own});
        }
        return settled_names(claims, terms_.name_length);
    }
    std::vector<settled_name> uris;
    uris.reserve(entries.size());
    for (const auto& each : entries) {
        uris.push_back({exposed_uri(scheme_, each.own)});
    }
    return uris;
}

void member_catalog::show(const server_lists& lists, list_kind list)
{
    const auto& own = own_->of(list);
    const auto& bundle = bundle_->of(list);
    std::vector<shown_entry> seen;
    std::vector<const listed_item*> items;
    for (const auto& item : lists[list]) {
        if (const auto name = own.exposed(item.key)) {
            auto& entry = seen.emplace_back();
            entry.own = *name;
            entry.original = item.key;
            items.push_back(&item);
        }
    }
    auto names = names_of(list, seen);
    auto& shown = entries_[index_of(list)];
    shown.reserve(seen.size());
    for (std::size_t i = 0; i < seen.size(); ++i) {
        if (names[i].exposed.empty() || !bundle.exposed(names[i].exposed)) {
            continue;
        }
        auto& entry = seen[i];
        entry.exposed = std::move(names[i].exposed);
        entry.form = names[i].form;
        const entry_words words{scheme_, own.description(entry.own)};
        if (write_entry(entry, items[i]->raw, list, words)) {
            shown.push_back(std::move(entry));
        }
    }
}

void member_catalog::index(list_kind list)
{
    const auto& shown = entries_[index_of(list)];
    auto& by_own = by_own_[index_of(list)];
    by_own.reserve(shown.size());
    for (std::size_t i = 0; i < shown.size(); ++i) {
        by_own.emplace(shown[i].own, i);
    }
}

std::optional<std::size_t> member_catalog::place_of(list_kind list, std::string_view own) const
{
    const auto& by_own = by_own_[index_of(list)];
    const auto found = by_own.find(own);
    return found != by_own.end() ? std::optional{found->second} : std::nullopt;
}

bool member_catalog::admits(std::string_view own) const
{
    const auto& filter = bundle_->resources;
    if (filter.passes_all()) {
        return true;
    }
    if (!is_canonical_uri(own) || !filter.original(exposed_uri(scheme_, own))) {
        return false;
    }
    std::array<char, longest_matched_name> room;
    return filter.why_hidden(exposed_uri(scheme_, unescaped_file(own, room))) != hiding::denied;
}

bool member_catalog::may_have(std::string_view own) const
{
    if (place_of(list_kind::resources, own)) {
        return true;
    }
    const auto& templates = entries_[index_of(list_kind::templates)];
    const auto some = std::span{templates}.first(std::min(templates.size(), most_matched));
    return std::ranges::any_of(some, [own](const shown_entry& each) { return may_expand_to(each.own, own); }) &&
           own_->resources.original(own);
}

shown_entry renamed(const shown_entry& entry, const settled_name& name)
{
    auto other = entry;
    other.exposed = name.exposed;
    other.form = name.form;
    const text_edit edit{entry.key, json_text(name.exposed)};
    other.raw = edited(entry.raw, {&edit, 1});
    other.key.size = edit.text.size();
    other.digest = std::hash<std::string>{}(other.raw);
    return other;
}

}  // namespace mcp
