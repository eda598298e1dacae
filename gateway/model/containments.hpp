// The agents and principals that operators contain (docs/operations/contain.md), as the control loop publishes them. Immutable; any
// thread.
#pragma once

#include "core/access.hpp"
#include "core/clock.hpp"
#include "core/log.hpp"
#include "gateway/model/snapshot.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::model {

// The words for callers. The reason is for operators alone, and not here.
struct containment_terms {
    std::string notice;                    // empty: the usual sentence of its code
    std::optional<core::wall_time> until;  // nullopt: until it is released

    friend bool operator==(const containment_terms&, const containment_terms&) = default;
};

// Its end in RFC 3339; empty: there is none.
inline std::string end_text(const containment_terms& terms)
{
    std::string text;
    if (terms.until) {
        core::append_timestamp(text, *terms.until);
    }
    return text;
}

// By the name of a principal; found without a copy of one.
struct principal_order {
    using is_transparent = void;

    template <class Left, class Right>
    bool operator()(const Left& left, const Right& right) const noexcept
    {
        return key(left) < key(right);
    }

private:
    using views = std::pair<std::string_view, std::string_view>;

    static views key(const core::principal_name& name) noexcept { return {name.provider, name.principal}; }
    static views key(const core::principal& owner) noexcept { return {owner.provider, owner.id}; }
};

using contained_principals = std::map<core::principal_name, containment_terms, principal_order>;

struct containments {
    string_map<containment_terms> agents;  // by id, of agents that may not be there
    // Contained by themselves, or because a contained agent acts as them or was registered by them.
    contained_principals principals;

    // Null: it is not contained.
    const containment_terms* find_agent(std::string_view id) const
    {
        const auto found = agents.find(id);
        return found == agents.end() ? nullptr : &found->second;
    }

    // Null: it is not contained, or an anonymous caller.
    const containment_terms* find_principal(const core::principal* caller) const
    {
        const auto found = caller == nullptr || principals.empty() ? principals.end() : principals.find(*caller);
        return found == principals.end() ? nullptr : &found->second;
    }
};

// The work that a containment ends, or would.
struct cut_counts {
    std::uint64_t calls = 0;     // that had no head of an answer yet
    std::uint64_t streams = 0;   // of calls whose answer had begun
    std::uint64_t sessions = 0;  // of MCP clients

    cut_counts& operator+=(const cut_counts& other) noexcept
    {
        calls += other.calls;
        streams += other.streams;
        sessions += other.sessions;
        return *this;
    }
};

// Null: nothing is contained.
using containments_pointer = std::shared_ptr<const containments>;

}  // namespace gateway::model
