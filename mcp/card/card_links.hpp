// Which addresses of a server's a card shows: whoever reads cards in a browser follows them. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace mcp {

// An http or https URL (RFC 3986) with a host and without a user.
bool is_page(std::string_view address);

// An https URL with a host and without a user, or an image as a `data:` URL.
bool is_icon(std::string_view address);

// Whether a member of this name may not be shown as it is.
bool holds_links(std::string_view member);

// `raw`, an object, without those of its `icons` whose `src` is no is_icon(), also in another case; without `websiteUrl` that
// is no is_page(). If there is nothing of that kind, its bytes.
std::string with_safe_links(std::string_view raw);

}  // namespace mcp
