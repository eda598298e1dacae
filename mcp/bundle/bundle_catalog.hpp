// The catalog of a bundle: the entries of all members, and the way from a name or URI of a client to a member. Immutable; any thread.
#pragma once

#include "mcp/bundle/member_catalog.hpp"
#include "mcp/protocol/message.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mcp {

inline constexpr std::size_t most_shown_tools = 5000;  // of one bundle

// Who sees what. `member` is an index of bundle_catalog::members(). Null: everything.
struct bundle_sight {
    // Whether the caller may use what this list of the member shows; asked before `entry`.
    std::function<bool(std::size_t member, list_kind list)> member{};
    std::function<bool(std::size_t member, list_kind list, const shown_entry& entry)> entry{};
};

enum class reach : std::uint8_t { none, one, several };

// Where a name or URI leads.
struct found_place {
    reach to = reach::none;
    std::size_t member = 0;
    std::string own;                        // its name or URI at /agents/<id>/mcp of the member
    const shown_entry* entry = nullptr;     // null: a URI that is not in a list; lives as long as the catalog
    bool prefixed = true;                   // false: the client has left out the prefix, and the answer is to have none
    std::vector<std::string> full_forms{};  // of `several`: one for each member that has it, in their order
};

class bundle_catalog {
public:
    using member_list = std::vector<std::shared_ptr<const member_catalog>>;

    // `members`: none is null, all have the same name_length(), and at most one has no prefix. `taken`: names of tools that no member
    // gets. Tools beyond most_shown_tools are left out, those of the last members first.
    explicit bundle_catalog(
        member_list members,
        std::span<const std::string> taken = {},
        std::size_t most_tools = most_shown_tools
    );

    bundle_catalog(const bundle_catalog&) = delete;
    bundle_catalog& operator=(const bundle_catalog&) = delete;

    const member_list& members() const noexcept { return members_; }

    // The number of entries that somebody may see.
    std::size_t shown(list_kind list) const noexcept { return shown_[index_of(list)]; }

    // Tools of all members beyond the limit, and entries that cannot be told apart from others.
    std::size_t left_out(list_kind list) const noexcept { return left_out_[index_of(list)]; }

    // The entry at this place of a member's list; null: it is left out.
    const shown_entry* at(std::size_t member, list_kind list, std::size_t index) const;

    struct place {
        std::size_t member = 0;
        std::size_t index = 0;  // in the member's list
    };

    // Calls `visit` with each entry from that place on that is seen, in the order of members and of their lists, until it says false.
    void walk(
        list_kind list,
        const bundle_sight& sight,
        place from,
        const std::function<bool(place at, const shown_entry& entry)>& visit
    ) const;

    // Calls `visit` with each entry that is seen, in the order of members and of their lists.
    void each(
        list_kind list,
        const bundle_sight& sight,
        const std::function<void(std::size_t member, const shown_entry& entry)>& visit
    ) const;

    // A tool or prompt, by its exposed name; or by its own name, if only one member of those that are seen has that.
    found_place find_named(list_kind list, std::string_view name, const bundle_sight& sight) const;

    // A resource or template, in this order: an exposed URI that is listed or that a template may expand to; a URI without a prefix that
    // one member has in this way; an exposed URI that nothing lists, as links in results may be; and any other of the member without a
    // prefix. What the filters of the bundle hide is not found.
    found_place find_uri(std::string_view uri, const bundle_sight& sight) const;

    // A number for all that is seen in the list, for comparison within the process: another one as soon as an entry has changed, but for
    // chance. Resources and templates have one each.
    std::uint64_t digest(list_kind list, const bundle_sight& sight) const;

private:
    // How a member stands to a URI: it is hidden there, may be there, or is listed or fits a template.
    enum class hold : std::uint8_t { no, may, has };
    struct holding {
        hold how = hold::no;
        const shown_entry* entry = nullptr;
    };

    static found_place settled(found_place found);
    bool sees(const bundle_sight& sight, std::size_t member, list_kind list) const;
    bool sees(const bundle_sight& sight, std::size_t member, list_kind list, const shown_entry& entry) const;
    void take_entries(list_kind list, std::size_t most);
    bool index_names(list_kind list, std::span<const std::string> taken);
    void settle_names(list_kind list, std::span<const std::string> taken);
    void leave_out_shadows(list_kind list);
    holding held(std::size_t member, std::string_view own, const bundle_sight& sight) const;

    member_list members_;
    // Of each list, by member; null: it is left out.
    std::array<std::vector<std::vector<const shown_entry*>>, list_kinds> entries_;
    std::deque<shown_entry> renamed_;
    std::array<std::unordered_map<std::string_view, place, text_hasher>, list_kinds>
        by_exposed_;  // of tools and prompts
    std::array<std::size_t, list_kinds> shown_{};
    std::array<std::size_t, list_kinds> left_out_{};
};

}  // namespace mcp
