// Names and URIs of a bundle. Tools and prompts are `<as>__<name>`, of letters, digits, `_` and `-` alone, because the strictest clients take no
// others (`^[a-zA-Z0-9_-]{1,64}$`); they depend on the members and their names, not on an order. Resources are `<scheme>+<uri>`, where
// the scheme is core::bundle_scheme() of the member's prefix; and `ui://x` is `ui://<scheme>+x`, because hosts of MCP Apps look at that
// scheme. URI templates (RFC 6570) alike. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

// With an empty `scheme`: the URI itself. Inverse of own_uri().
std::string exposed_uri(std::string_view scheme, std::string_view uri);

// The member's URI behind an exposed one of a member with this scheme, which counts in any case; with an empty `scheme`: the URI itself.
// Nothing: it does not begin like that.
std::optional<std::string> own_uri(std::string_view scheme, std::string_view exposed);

// Whether the template may expand to the URI: its literal parts are there in their order, and an expression without an operator, `{var}`,
// stands for no `/`. False: it does not, the template is longer than 1 KiB, or the URI than 2 KiB. Linear in both, but for texts
// that are made to be slow to search.
bool may_expand_to(std::string_view uri_template, std::string_view uri) noexcept;

}  // namespace mcp
