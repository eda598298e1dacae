// URIs in messages of a member, as clients of the bundle have them. All other bytes stay. Pure; any thread.
#pragma once

#include "mcp/calls/text_edits.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcp {

// Who has said it.
struct member_prefix {
    std::string_view scheme;  // core::bundle_scheme() of the member's prefix; empty: nothing changes
    bool tasks = false;       // ids of tasks begin with `<scheme>+` too
};

// Whether exposed_message() may change the message, which is JSON: a search for words, without reading it. Most messages have none of them.
bool may_name_uris(std::string_view message) noexcept;

// The message with exposed URIs: in results of tools/call and prompts/get, and in questions and `inputRequests`, the `uri` of a
// `resource_link` and the `resource.uri` of an embedded resource, also within `tool_result`; in results of resources/read `contents[].uri`;
// in notifications/resources/updated `params.uri`; and `_meta.ui.resourceUri`, with its older spelling `_meta["ui/resourceUri"]` and
// `_meta["openai/outputTemplate"]`, beside all of these. Of `structuredContent` and of texts nothing changes. Batches too. Nothing: it stays
// as it is, also if it is not JSON. Linear in the message.
std::optional<std::string> exposed_message(std::string_view message, const member_prefix& member);

// The edits for the `_meta` of an entry of a list; `meta` is its raw value, in which the places lie.
std::vector<text_edit> exposed_meta(std::string_view meta, std::string_view scheme);

// notifications/resources/updated with this URI instead; for a client that has subscribed without the prefix, or to another spelling.
// Nothing: it is no such notification.
std::optional<std::string> updated_with_uri(std::string_view message, std::string_view uri);

// The URI that a notifications/resources/updated names, as it stands there. Nothing: it is no such notification.
std::optional<std::string> updated_uri(std::string_view message);

}  // namespace mcp
