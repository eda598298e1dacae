// The members of a card as the specification has them, once before 1.0 and once since: what lint compares a card with,
// and what a card of the served shape `v1` may consist of. Sources: types.ts of 0.3.0, whose cards are a superset of those
// of 0.2.x; section 5.5 of 0.1.0 for `authentication`; a2a.proto of 1.0.1 in its JSON form. Internal to a2a.
#pragma once

#include "a2a/card/card.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace a2a {

enum class value_kind : std::uint8_t {
    text,
    url,  // a string; absolute (RFC 3986 section 4.3)
    flag,
    texts,     // a list of strings
    text_map,  // an object whose values are strings
    open,      // an object with any members
    one,       // an object by member_rule::of
    list,      // a list of these
    map,       // an object whose values are these
    schemes,   // the same, of the form before 1.0: which rule says the member `type` (typed_scheme())
    demands,   // a list of objects whose values are lists of strings: `security` before 1.0
};

struct object_rule;

struct member_rule {
    std::string_view name;
    value_kind kind;
    bool required = false;
    const object_rule* of = nullptr;  // of one, list, map and schemes; of the last for its section only
};

struct object_rule {
    std::string_view name;     // as the specification calls it
    std::string_view section;  // of the specification, where it is defined
    std::span<const member_rule> members;
    bool one_of = false;  // exactly one of the members
};

const object_rule& card_before_1() noexcept;
const object_rule& card_since_1() noexcept;

// The security scheme of 0.2 and 0.3 whose `type` this is; null: there is no such type.
const object_rule* typed_scheme(std::string_view type) noexcept;

// Null: there is no such member.
const member_rule* find_member(const object_rule& rule, std::string_view name) noexcept;

}  // namespace a2a
