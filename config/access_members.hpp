// One map below `access`: its keys, and what is required of them. Pure.
#pragma once

#include "config/access_table.hpp"
#include "config/fields.hpp"
#include "config/problem.hpp"
#include "core/access.hpp"
#include "core/json/json.hpp"

#include <string>
#include <string_view>

namespace config {

class access_members {
public:
    // Keys that such a map does not have are reported. `f` is the map's own field; `problems` outlives this.
    access_members(const field& f, const node& map, access_map kind, problem_list& problems);

    // Null: it is not given.
    const field* find(std::string_view key) const { return find_field(given_, key); }

    // Null: it is not given, which is reported.
    const field* require(std::string_view key, std::string_view expected) const;

    // Whether exactly one of the two is given. Anything else is reported.
    bool require_one(std::string_view first, std::string_view second, std::string_view expected) const;

    // The principal that the keys `scopes`, `groups`, `tenant` and `claims` describe.
    core::principal principal(std::string id, const std::string& provider) const;

    problem_list& problems() const { return problems_; }

private:
    std::string path_;
    place at_;
    problem_list& problems_;
    members given_;
};

// The inverse of access_members::principal(): adds these keys to `shown`.
void show_principal(const core::principal& principal, core::json& shown);

}  // namespace config
