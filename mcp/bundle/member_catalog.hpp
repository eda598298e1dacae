// The catalog of one member in a bundle. It is immutable, so that a change of one member leaves those of the others as they are; any
// thread.
#pragma once

#include "core/keyed_hash.hpp"
#include "core/mcp_bundle.hpp"
#include "mcp/bundle/names.hpp"
#include "mcp/calls/incoming.hpp"
#include "mcp/calls/name_filter.hpp"
#include "mcp/protocol/discovery.hpp"
#include "mcp/protocol/message.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mcp {

// One tool, prompt, resource or resource template.
struct shown_entry {
    std::string exposed;   // its name, URI or URI template for clients of the bundle
    std::string own;       // as callers of /agents/<id>/mcp have it: name_filters::shows() asks for it
    std::string original;  // as the server has it
    std::string
        raw;  // the item for clients of the bundle: exposed name and URIs, description of the filters; all other bytes are the server's
    text_range key;  // the string of the exposed one in `raw`, quotes included
    name_form form = name_form::plain;
    std::uint64_t digest = 0;  // of `raw`, for comparison within the process
};

// The filters of a bundle, for its member catalogs.
name_filters filters_of(const core::mcp_bundle& bundle);

struct member_terms {
    std::string as;                // its prefix; empty: none
    std::size_t name_length = 48;  // bytes of an exposed name: 24 to 128
};

// Texts by a hash that strangers cannot make collide.
struct text_hasher {
    core::keyed_hash hash;

    std::size_t operator()(std::string_view text) const noexcept { return hash({}, text)[0]; }
};
using text_index = std::unordered_map<std::string_view, std::size_t, text_hasher>;

class member_catalog {
public:
    // `lists`: null as long as the member is starting and nothing is known of it. `own`: the filters of the agent; `bundle`: those of the
    // bundle, by exposed name and URI. Neither is null, and both are kept.
    member_catalog(
        const server_lists* lists,
        std::shared_ptr<const name_filters> own,
        std::shared_ptr<const name_filters> bundle,
        member_terms terms
    );

    member_catalog(const member_catalog&) = delete;
    member_catalog& operator=(const member_catalog&) = delete;

    bool known() const noexcept { return known_; }
    const std::string& as() const noexcept { return terms_.as; }
    const std::string& scheme() const noexcept { return scheme_; }
    std::size_t name_length() const noexcept { return terms_.name_length; }

    // In the server's order.
    const std::vector<shown_entry>& operator[](list_kind list) const noexcept { return entries_[index_of(list)]; }

    // The place in the list of what callers of the agent call `own`. Nothing: nothing that is shown has it.
    std::optional<std::size_t> place_of(list_kind list, std::string_view own) const;

    // Whether the filters of the bundle let a resource of the member pass: its URI as callers of the agent have it. While they hide some, a
    // URI with other spellings (is_canonical_uri()) does not.
    bool admits(std::string_view own) const;

    // Whether a resource with this URI is listed, or one of the first most_matched templates may expand to it, as callers of the agent
    // have them.
    static constexpr std::size_t most_matched = 100;
    bool may_have(std::string_view own) const;

private:
    std::vector<settled_name> names_of(list_kind list, const std::vector<shown_entry>& entries) const;
    void show(const server_lists& lists, list_kind list);
    void index(list_kind list);

    std::shared_ptr<const name_filters> own_;
    std::shared_ptr<const name_filters> bundle_;
    member_terms terms_;
    std::string scheme_;
    bool known_;
    std::array<std::vector<shown_entry>, list_kinds> entries_;
    std::array<text_index, list_kinds> by_own_;
};

// The entry under another exposed name, for members that have the same one.
shown_entry renamed(const shown_entry& entry, const settled_name& name);

}  // namespace mcp
