// A card as it is served: bytes that do not change, and until when they may be called fresh. Immutable; shared by all
// loops.
#pragma once

#include "core/clock.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace gateway {

struct card_bytes {
    std::string body;
    std::string etag;    // strong, over the body
    std::string fields;  // Content-Type, Content-Length and ETag as header lines
};

std::shared_ptr<const card_bytes> make_card_bytes(std::string body);

struct published_card {
    std::shared_ptr<const card_bytes> bytes;
    core::steady_time fetched_at{};
    core::steady_time fresh_until{};   // served without a question until here
    core::steady_time usable_until{};  // served as stale until here, while the agent fails
};

// Whether an If-None-Match field's value matches `etag` (RFC 9110 section 13.1.2: weak comparison, lists, `*`).
bool none_match_hits(std::string_view field_value, std::string_view etag) noexcept;

}  // namespace gateway
