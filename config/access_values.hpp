// The values of which `access` and policies consist, and the maps below it. Each reader reports what is wrong and goes on. Pure.
#pragma once

#include "config/access_table.hpp"
#include "config/fields.hpp"
#include "config/problem.hpp"
#include "config/value_kind.hpp"
#include "core/access.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/json/json.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace config {

inline constexpr std::size_t most_elements = 64;  // of one list, and of one map of claims
inline constexpr std::size_t longest_text = 256;  // bytes

// Whether a list may be without elements. In a condition it may not: it would ask for nothing, and let everybody in.
enum class emptiness : bool { refused, allowed };

// One line of at most `longest_text` bytes.
std::optional<std::string> read_short_text(const field& f, std::string_view expected, problem_list& problems);

// A list, or one value that stands for a list of one.
std::vector<field> read_elements(const field& f, std::string_view expected, emptiness empty, problem_list& problems);

// read_elements() for short texts.
std::vector<std::string> read_texts(const field& f, emptiness empty, problem_list& problems);

// read_elements() for scopes, which have no blank (RFC 6749 section 3.3).
std::vector<std::string> read_scopes(const field& f, emptiness empty, problem_list& problems);

// A map from names to values or lists of values. Truth values become the text that they are in JSON.
std::vector<core::claim> read_claims(const field& f, emptiness empty, problem_list& problems);

// The inverse: a map from names to lists.
core::json shown_claims(const std::vector<core::claim>& claims);

// An https URL, or an http URL of a loopback host; it may have a query, and is never quoted. Empty: it is reported.
inline constexpr std::string_view expected_secure_url = "an https URL, or an http URL of a loopback host";
std::string read_secure_url(field f, problem_list& problems);
bool is_secure(std::string_view url);

// Whether it has the characters of an agent's id, or `*`; at most 128 of them.
bool is_id_pattern(std::string_view text);

// A map that has to be there: unlike read_map(), no value at all is reported.
const node* read_given_map(const field& f, std::string_view expected, problem_list& problems);

// `2027-01-01` is its first second in UTC; or `2027-01-01T12:00:00Z` (RFC 3339). Years from 1970 to 2200. The detail of the
// error is a predicate.
core::result<core::wall_time> parse_time(std::string_view text);

// Such a time, to the second.
std::string time_text(core::wall_time time);

class access_members {
public:
    // Keys that such a map does not have are reported. `f` is the map's own field; `with` outlives this.
    access_members(const field& f, const node& map, access_map kind, const reading& with);

    // Null: it is not given.
    const field* find(std::string_view key) const { return find_field(given_, key); }

    // Null: it is not given, which is reported.
    const field* require(std::string_view key, std::string_view expected) const;

    // Whether exactly one of the two is given. Anything else is reported.
    bool require_one(std::string_view first, std::string_view second, std::string_view expected) const;

    // Sets the members of `into` that keys of the table set. A required one that is missing is reported.
    template <class Owner>
    void read(Owner& into) const
    {
        for (const auto& row : all_access_keys()) {
            const auto* key = row.of == kind_ ? dynamic_cast<const key_of<Owner>*>(row.key.get()) : nullptr;
            if (key == nullptr) {
                continue;
            }
            if (const auto* f = find(row.name)) {
                key->read(*f, with_, into);
            } else if (row.usual == is_required) {
                const auto& form = key->form();
                require(row.name, form.missing.empty() ? form.described : form.missing);
            }
        }
    }

    const reading& with() const { return with_; }
    problem_list& problems() const { return with_.problems; }

private:
    std::string path_;
    place at_;
    access_map kind_;
    const reading& with_;
    members given_;
};

// The inverse of access_members::read(): adds the keys that have a value and are not off.
template <class Owner>
void show_members(access_map kind, const Owner& from, core::json& shown)
{
    for (const auto& row : all_access_keys()) {
        const auto* key = row.of == kind ? dynamic_cast<const key_of<Owner>*>(row.key.get()) : nullptr;
        auto value = key == nullptr ? core::json{} : key->print(from);
        if (!value.empty() && value != core::json(false)) {
            shown[std::string{row.name}] = std::move(value);
        }
    }
}

}  // namespace config
