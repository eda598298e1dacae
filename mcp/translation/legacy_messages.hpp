// Requests as servers of the legacy era read them, and answers as its clients do. Pure; any thread.
#pragma once

#include "mcp/calls/client_message.hpp"
#include "mcp/calls/incoming.hpp"
#include "mcp/calls/text_edits.hpp"
#include "mcp/protocol/server_facts.hpp"

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

// The version of a session whose client asked for this one.
std::string_view agreed_version(std::string_view asked) noexcept;

// To `initialize`. `id` is raw; `fallback_name` is that of a server that does not say its name.
std::string initialize_answer(
    std::string_view id,
    std::string_view version,
    const server_facts& facts,
    std::string_view fallback_name
);

}  // namespace mcp
