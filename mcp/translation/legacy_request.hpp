// A request of a client of the modern era as a server of the legacy era takes it (MCP 2026-07-28, basic, "_meta"). Pure; any
// thread.
#pragma once

#include "mcp/calls/client_message.hpp"
#include "mcp/calls/incoming.hpp"
#include "mcp/calls/text_edits.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mcp {

// The edits of `text`, which `request` was read from: the members of `_meta` that only the modern era has go, each
// with one comma. Every other byte stays.
std::vector<text_edit> edits_for_legacy(const incoming& request, std::string_view text);

// Where the parts of a checked message stand, as what passes messages on needs them. Views into `text` and `room`.
client_message client_message_of(const incoming& message, std::string_view text, std::string& room);

// The request, whole.
class legacy_request {
public:
    legacy_request(const incoming& request, std::string_view text);

    // Views into this.
    client_message view() const;

private:
    std::string text_;
    incoming read_;
    std::string method_;
};

}  // namespace mcp
