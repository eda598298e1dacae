// URIs of resources in a bundle: `<scheme>+<uri>`, where the scheme is core::bundle_scheme() of the member's prefix; and `ui://x` is
// `ui://<scheme>+x`, because hosts of MCP Apps look at that scheme. URI templates (RFC 6570) alike. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mcp {

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
