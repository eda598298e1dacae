// One containment: of whom, on what terms, and as a document of the store. Pure; any thread.
#pragma once

#include "core/access.hpp"
#include "core/clock.hpp"
#include "core/json/json.hpp"
#include "store/engine.hpp"

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::management {

// An agent, or a principal.
struct contained_subject {
    std::string agent;  // its id; empty: the principal
    core::principal_name principal{};

    bool is_agent() const noexcept { return !agent.empty(); }
    friend auto operator<=>(const contained_subject&, const contained_subject&) = default;
};

// The terms of a containment, as its operator wrote them.
struct containment_order {
    core::wall_time since{};
    std::optional<core::wall_time> until;  // nullopt: until it is released
    std::string reason;                    // for operators
    std::string by;
    std::string notice;  // for callers; empty: the usual sentence

    friend bool operator==(const containment_order&, const containment_order&) = default;
};

// One of the table, with the principals of an agent as they were when it was last there.
struct containment_record {
    containment_order order;
    std::vector<core::principal_name> acts_as{};
    std::vector<core::principal_name> registrants{};  // that registered it since it is contained

    friend bool operator==(const containment_record&, const containment_record&) = default;
};

// The document of the store, and what it says. Nothing: it is none.
store::kept_document document_of(const contained_subject& subject, const containment_record& record);
std::optional<std::pair<contained_subject, containment_record>> containment_in(const store::kept_document& document);

// The subject whose document has this name.
contained_subject subject_named(std::string_view document);

// `{since, until, reason, by, notice}`, without what there is not.
core::json shown_containment(const containment_order& order);

}  // namespace gateway::management
