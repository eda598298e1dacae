#include "mcp/calls/list_edit.hpp"

#include "core/json/json.hpp"
#include "core/json/json_cursor.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "mcp/pins/pinned_server.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <utility>

namespace mcp {
namespace {

using cursor_type = core::json_cursor<core::wide_bytes>;

core::error unusable(std::string_view why)
{
    return core::upstream_error(core::errc::upstream_protocol, "a list: " + std::string{why});
}

// Members that pass where tools are compared with approved ones; what else there is could be another list to a lenient reader.
constexpr std::array<std::string_view, 6> message_members{"jsonrpc", "id", "result", "error", "method", "params"};
constexpr std::array<std::string_view, 6>
    result_members{"tools", "nextCursor", "_meta", "resultType", "ttlMs", "cacheScope"};

bool is_named(std::string_view raw_name, bool escaped, std::string_view name)
{
    return escaped ? core::unescape_json(raw_name) == name : raw_name == name;
}

// Where the members of one entry stand that the filter knows.
struct entry_places {
    text_range key;
    std::vector<text_range> descriptions;
    bool usable = true;  // an object with one key
};

entry_places places_in(std::string_view entry, std::string_view key)
{
    entry_places places;
    if (!is_object(entry)) {
        places.usable = false;
        return places;
    }
    cursor_type cursor{entry, cursor_type::deepest};
    cursor.object([&](std::string_view name, bool escaped, std::string_view value) {
        const text_range range{static_cast<std::size_t>(value.data() - entry.data()), value.size()};
        if (is_named(name, escaped, key)) {
            places.usable = places.usable && places.key.empty();
            places.key = range;
        } else if (is_named(name, escaped, "description")) {
            places.descriptions.push_back(range);
        }
        return true;
    });
    places.usable = places.usable && is_string(places.key.of(entry));
    return places;
}

struct list_audience {
    const name_filters& filters;
    const std::vector<std::string>* scopes;
    const pinned_server* pins = nullptr;  // of tools; null: they are not compared
};

// The entries of one list as callers see them.
class entry_editor {
public:
    // `audience`: who sees what of it besides; null: everybody everything.
    entry_editor(const name_filter& filter, list_kind list, const list_audience* audience = nullptr)
        : filter_{filter},
          list_{list},
          audience_{audience}
    {
    }

    // The entry as callers see it. Nothing: they do not.
    std::optional<std::string> shown(std::string_view entry)
    {
        auto places = places_in(entry, key_member(list_));
        const auto name = places.usable ? text_of(places.key.of(entry)) : std::nullopt;
        if (!name) {
            return std::nullopt;
        }
        bool replaced = false;  // by the approved form
        if (audience_ != nullptr && audience_->pins != nullptr && !audience_->pins->leaves_out(*name)) {
            const auto approved = audience_->pins->shown(*name, entry);
            if (!approved) {
                leave_unapproved(*name, entry);
                return std::nullopt;
            }
            replaced = approved->data() != entry.data() && *approved != entry;
            entry = replaced ? *approved : entry;
        }
        const auto seen = filter_.exposed(*name);
        if (!seen || (audience_ != nullptr && !audience_->filters.shows(list_, *seen, audience_->scopes))) {
            return std::nullopt;
        }
        if (!names_.emplace(*seen).second) {
            if (repeated_.size() < most_repeated_names) {
                repeated_.emplace_back(*seen);
            }
            return std::nullopt;
        }
        if (replaced && (*seen != *name || filter_.description(*seen))) {
            places = places_in(entry, key_member(list_));
        } else if (replaced) {
            return std::string{entry};
        }
        return edited(entry, edits(places, *name, *seen));
    }

    // Names of entries that an earlier one has; at most most_repeated_names.
    std::vector<std::string> take_repeated() { return std::move(repeated_); }

    // Tools that nobody has approved and that are news; at most most_unapproved.
    std::vector<listed_item> take_unapproved() { return std::move(unapproved_); }

private:
    void leave_unapproved(const std::string& name, std::string_view entry)
    {
        if (unapproved_.size() < most_unapproved && audience_->pins->is_news(name, entry)) {
            unapproved_.push_back({name, std::string{entry}});
        }
    }

    std::vector<text_edit> edits(const entry_places& places, std::string_view name, std::string_view seen) const
    {
        std::vector<text_edit> all;
        if (seen != name) {
            all.push_back({places.key, {}});
            core::append_json_string(all.back().text, seen);
        }
        const auto description = filter_.description(seen);
        if (!description) {
            return all;
        }
        std::string text;
        core::append_json_string(text, *description);
        for (const auto& place : places.descriptions) {
            all.push_back({place, text});
        }
        if (places.descriptions.empty()) {
            all.push_back({{places.key.at + places.key.size, 0}, R"(,"description":)" + text});
        }
        return all;
    }

    const name_filter& filter_;
    list_kind list_;
    const list_audience* audience_;
    std::set<std::string, std::less<>> names_;
    std::vector<std::string> repeated_;
    std::vector<listed_item> unapproved_;
};

// Copies a message and leaves out what is hidden.
class list_editor {
public:
    list_editor(
        const name_filter& filter,
        list_kind list,
        std::string_view message,
        const list_audience* audience = nullptr
    )
        : list_{list},
          entries_{filter, list, audience},
          strict_{audience != nullptr && audience->pins != nullptr},
          message_{message},
          cursor_{message, cursor_type::deepest}
    {
    }

    core::result<edited_list> edit()
    {
        cursor_.skip_space();
        if (cursor_.peek() != '{') {
            return unusable("not an object");
        }
        if (!copy_members({"result", '{', &list_editor::copy_result, message_members}) || !cursor_.finish()) {
            return unusable(why_.empty() ? cursor_.why() : why_);
        }
        copy_until(message_.size());
        out_.repeated = entries_.take_repeated();
        out_.unapproved = entries_.take_unapproved();
        return std::move(out_);
    }

private:
    using step = bool (list_editor::*)();

    std::size_t offset() const noexcept { return static_cast<std::size_t>(cursor_.position() - message_.data()); }

    bool fail(std::string_view why) noexcept
    {
        why_ = why;
        return false;
    }

    void copy_until(std::size_t end)
    {
        out_.text.append(message_, copied_, end - copied_);
        copied_ = end;
    }

    struct level {
        std::string_view name;  // of the member that goes to `inside` if it opens with `bracket`
        char bracket;
        step inside;
        std::span<const std::string_view> passing;  // members that stay if `strict_`
    };

    bool copy_members(const level& of)
    {
        const auto inside = offset() + 1;
        if (!cursor_.open('{')) {
            return false;
        }
        if (cursor_.close()) {
            return true;
        }
        bool found = false;
        std::size_t kept = inside;  // the end of the last member that stays
        do {
            std::string_view raw_name;
            bool escaped = false;
            if (!cursor_.name(raw_name, escaped)) {
                return false;
            }
            const bool wanted = is_named(raw_name, escaped, of.name);
            if (wanted && std::exchange(found, true)) {
                return fail("a member stands twice");
            }
            const bool opens = wanted && cursor_.peek() == of.bracket;
            if (strict_ && wanted && !opens && cursor_.peek() != 'n') {
                return fail("a member of another type");
            }
            if (!(opens ? (this->*of.inside)() : cursor_.value())) {
                return false;
            }
            const auto end = offset();
            cursor_.skip_space();
            const bool stays = !strict_ || std::ranges::any_of(of.passing, [&](std::string_view each) {
                return is_named(raw_name, escaped, each);
            });
            if (stays) {
                kept = end;
            } else {
                copy_until(std::max(copied_, kept));
                copied_ = kept == inside && cursor_.peek() == ',' ? offset() + 1 : end;
            }
        } while (cursor_.take(','));
        return cursor_.close();
    }

    bool copy_result() { return copy_members({list_member(list_), '[', &list_editor::copy_entries, result_members}); }

    // Before the first entry that stays stands what stood before the first of all, before the others what stood before them.
    bool copy_entries()
    {
        const auto inside = offset() + 1;
        copy_until(inside);
        if (!cursor_.open('[')) {
            return false;
        }
        if (cursor_.close()) {
            return true;
        }
        const text_range first{inside, offset() - inside};
        std::size_t entries = 0;
        bool any = false;
        do {
            const auto at = offset();
            if (!cursor_.value()) {
                return false;
            }
            if (++entries > most_entries) {
                return fail("more entries than a page may have");
            }
            if (auto entry = entries_.shown(message_.substr(at, offset() - at))) {
                out_.text += any ? message_.substr(copied_, at - copied_) : first.of(message_);
                out_.text += *entry;
                any = true;
            } else {
                ++out_.hidden;
            }
            copied_ = offset();
            cursor_.skip_space();
        } while (cursor_.take(','));
        return cursor_.close();
    }

    list_kind list_;
    entry_editor entries_;
    bool strict_;  // tools are compared
    std::string_view message_;
    cursor_type cursor_;
    edited_list out_;
    std::size_t copied_ = 0;  // of `message_`; all before is in `out_`, or left out of it
    std::string_view why_;
};

}  // namespace

std::string_view key_member(list_kind list) noexcept
{
    switch (list) {
        case list_kind::tools:
        case list_kind::prompts:
            return "name";
        case list_kind::resources:
            return "uri";
        case list_kind::templates:
            return "uriTemplate";
    }
    return {};
}

std::string_view list_member(list_kind list) noexcept
{
    switch (list) {
        case list_kind::tools:
            return "tools";
        case list_kind::resources:
            return "resources";
        case list_kind::templates:
            return "resourceTemplates";
        case list_kind::prompts:
            return "prompts";
    }
    return {};
}

core::result<edited_list> edit_list(const name_filter& filter, list_kind list, std::string_view message)
{
    return list_editor{filter, list, message}.edit();
}

core::result<edited_list>
edit_list(const name_filters& filters, list_kind list, std::string_view message, const std::vector<std::string>* scopes)
{
    const list_audience audience{filters, scopes};
    return list_editor{filters.of(list), list, message, &audience}.edit();
}

core::result<edited_list> edit_list(
    const name_filters& filters,
    const pinned_server& pins,
    std::string_view message,
    const std::vector<std::string>* scopes
)
{
    const list_audience audience{filters, scopes, &pins};
    return list_editor{filters.tools, list_kind::tools, message, &audience}.edit();
}

std::vector<listed_item> exposed_items(const name_filter& filter, list_kind list, const std::vector<listed_item>& items)
{
    if (filter.passes_all()) {
        return items;
    }
    entry_editor entries{filter, list};
    std::vector<listed_item> exposed;
    for (const auto& each : items) {
        const auto key = filter.exposed(each.key);
        auto raw = entries.shown(each.raw);
        if (key && raw) {
            exposed.push_back({std::string{*key}, std::move(*raw)});
        }
    }
    return exposed;
}

}  // namespace mcp
