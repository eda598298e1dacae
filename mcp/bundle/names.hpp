// The names of tools and prompts in a bundle: `<as>__<name>`, of letters, digits, `_` and `-` alone, because the strictest clients take
// no others (`^[a-zA-Z0-9_-]{1,64}$`). They depend on the members and their names, not on an order. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcp {

// How a name is told apart from others: as it is, or by 8 hex digits behind it: of the SHA-256 of the name at the member, or, if that is
// not enough, of that with its prefix.
enum class name_form : std::uint8_t { plain, marked, marked_twice };

// `<as>__<own>`; with `as` empty: `own`.
std::string joined_name(std::string_view as, std::string_view own);

// joined_name() with `_` for every other character of `own`, and marked if it is then longer than `longest` (at least 24) bytes.
std::string
exposed_name(std::string_view as, std::string_view own, std::size_t longest, name_form form = name_form::plain);

struct name_claim {
    std::string_view as;
    std::string_view own;  // at the member, as callers of the agent have it
    name_form at_least = name_form::plain;
};

struct settled_name {
    std::string exposed;  // empty: it cannot be told apart from another one (two SHA-256 agree in 32 bits)
    name_form form = name_form::plain;
};

// The names of all claims, in their order: no two are equal, and none is `taken`. Of equal ones all are marked; but beside claims with a
// prefix only those without, so that a member without a prefix renames nothing of others.
std::vector<settled_name>
settled_names(std::span<const name_claim> claims, std::size_t longest, std::span<const std::string> taken = {});

}  // namespace mcp
