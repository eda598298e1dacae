// Extensions of A2A: those of the gateway (docs/extensions/), and the header fields in which callers say which ones they want, and agents
// which ones they have activated: A2A-Extensions
// (specification 1.0.1 section 4.6), and X-A2A-Extensions of 0.3 (docs/topics/extensions.md of 0.3.0). URIs are compared as they
// are written, and never followed. Pure; any thread.
#pragma once

#include "a2a/method.hpp"
#include "core/json/json.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace a2a {

// The generation whose field this is, in whatever case; nothing: another field.
std::optional<generation> extension_field(std::string_view name) noexcept;

// The name as its generation spells it.
std::string_view extension_field_name(generation of) noexcept;

// Extensions whose URIs begin so are the gateway's own (docs/extensions/): no agent hears of them.
// A breaking change gets another URI (specification 1.0.1 section 4.6.3).
inline constexpr std::string_view own_extensions = "urn:cardea:a2a:extension:";

// The one of them that callers can activate, and that the cards of A2A agents declare whose calls the gateway translates:
// docs/extensions/gateway-v1.md.
inline constexpr std::string_view gateway_facts_extension = "urn:cardea:a2a:extension:gateway:v1";

// The URIs in the fields of one message, each once, in their order. Views into the values.
class extension_list {
public:
    static constexpr std::size_t most = 32;       // URIs, however often each stands there
    static constexpr std::size_t longest = 4096;  // bytes of all values together

    // Adds those of one field: a list with commas between its elements, of which empty ones do not count (RFC 9110 section 5.6.1).
    // False: over a limit; the list is of no more use.
    bool add(std::string_view value) noexcept;

    std::span<const std::string_view> uris() const noexcept { return {uris_.data(), size_}; }
    bool contains(std::string_view uri) const noexcept;

    // The value of one field with those that are not the gateway's own; empty: there are none.
    std::string of_agent() const;

private:
    std::array<std::string_view, most> uris_;
    std::size_t size_ = 0;
    std::size_t seen_ = 0;
    std::size_t bytes_ = 0;
};

// Data-only, of the cards of MCP servers: docs/extensions/mcp-v1.md.
inline constexpr std::string_view mcp_facts_extension = "urn:cardea:a2a:extension:mcp:v1";

// Extensions of which it is known that they only add to the card, so that no caller can activate them.
inline constexpr std::array<std::string_view, 1> data_only_extensions{mcp_facts_extension};

// Declares gateway_facts_extension in `capabilities.extensions` of `card`, for the agent `id`. What a card says of it already,
// because its agent is behind another gateway, goes. A card whose `capabilities` or list is of another type stays as it is.
void declare_gateway_facts(core::json& card, const std::string& id);

}  // namespace a2a
