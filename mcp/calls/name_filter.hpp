// Which of a server's tools, prompts or resources callers get, and under which names (core::mcp_filter). Immutable; any thread.
#pragma once

#include "core/agent.hpp"
#include "core/error.hpp"
#include "core/mcp_server.hpp"
#include "mcp/calls/incoming.hpp"
#include "mcp/calls/text_edits.hpp"
#include "mcp/protocol/message.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcp {

class pinned_server;

// Not: white space, a control character, a backslash or a fragment; capitals in the scheme, or in the host of a scheme that
// browsers know; user information, or a port, of such a scheme; `.` and `..` as segments; an escape of what needs none, or in
// small letters; anything beyond ASCII. Of `file` neither a query, an empty segment, nor an escaped slash or backslash: file systems
// read past them.
bool is_canonical_uri(std::string_view uri) noexcept;

// The name of the file behind a `file:` URI, or a pattern for such: without escapes, in `room`. Programs do not agree on which
// characters they escape. As it is: another URI, one without escapes, or one that is longer than `room`.
std::string_view unescaped_file(std::string_view uri, std::span<char> room) noexcept;

// Names beyond this are hidden where there are patterns, each of which takes time in proportion to the name.
inline constexpr std::size_t longest_matched_name = 2048;

// Why callers do not get something: a pattern of `deny` has it, none of `allow`, it is too long for patterns, the configuration
// gives its name to another one, or nobody has approved what the server says it is (mcp/pins/pinned_server.hpp): another shape than the
// approved one, or a name that is not approved at all.
enum class hiding : std::uint8_t { denied, not_allowed, too_long, displaced, changed, added };

std::string_view name(hiding why) noexcept;

// Views that it returns are into itself or into the argument.
class name_filter {
public:
    name_filter() = default;
    explicit name_filter(core::mcp_filter filter);

    // Nothing is hidden, renamed or described: lists and calls need not be looked at.
    bool passes_all() const noexcept;

    // The callers' name for the server's `name`. Nothing: it is hidden, by a pattern or because the configuration gives its name to
    // another one.
    std::optional<std::string_view> exposed(std::string_view name) const noexcept;

    // Why callers do not get the server's `name`. Nothing: they do.
    std::optional<hiding> why_hidden(std::string_view name) const noexcept;

    // The server's name for the exposed `name`. Nothing: nothing that callers see has it. Inverse of exposed().
    std::optional<std::string_view> original(std::string_view name) const noexcept;

    // The description that callers read instead of the server's. Nothing: the server's.
    std::optional<std::string_view> description(std::string_view exposed_name) const noexcept;

private:
    using pairs = std::vector<std::pair<std::string, std::string>>;

    std::optional<hiding> hidden_by_pattern(std::string_view name) const noexcept;

    std::vector<std::string> allow_;
    std::vector<std::string> deny_;  // of files without escapes too
    pairs exposed_;                  // by the server's name
    pairs originals_;                // by the exposed name
    pairs descriptions_;             // by the exposed name
};

// The three of an agent, and who sees which of its tools and prompts.
struct name_filters {
    name_filter tools;
    name_filter prompts;
    name_filter resources;                 // by URI, and by URI template
    std::vector<core::skill_rule> skills;  // by exposed name

    explicit name_filters(const core::mcp_server& server, std::vector<core::skill_rule> rules = {});
    name_filters() = default;

    const name_filter& of(list_kind list) const noexcept;

    // Whether callers may get another list than the server's.
    bool edits(list_kind list) const noexcept;

    // Whether a principal with these scopes sees the entry of a list that callers call `name`; null: a caller without a credential.
    bool shows(list_kind list, std::string_view name, const std::vector<std::string>* scopes) const;
};

// The edits of a request before it goes to the server: the name or URI of tools/call, prompts/get, resources/read,
// resources/subscribe and resources/unsubscribe, or of the reference of completion/complete. Nothing: as it is. Fails with
// invalid_params if that is hidden or unknown, is not a string, or is a URI with other spellings (is_canonical_uri()), while
// resources are filtered; and for changes of single resources in subscriptions/listen then; every other method passes.
core::result<std::optional<text_edit>> admit(const name_filters& filters, const incoming& call, std::string_view body);

// Works as admit(); and tools/call is for tools alone that `pins` admits. Fails with session_not_ready while nothing is known of the server
// that could be approved.
core::result<std::optional<text_edit>>
admit(const name_filters& filters, const pinned_server& pins, const incoming& call, std::string_view body);

// Whether the caller, of whom name_filters::shows() asks, sees the tool or the prompt that an admitted request names; one that names
// none is for everybody.
bool shows_named(
    const name_filters& filters,
    const incoming& call,
    std::string_view body,
    const std::vector<std::string>* scopes
);

}  // namespace mcp
