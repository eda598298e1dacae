// The card of an MCP server as it is served. Pure; any thread.
#pragma once

#include "core/agent.hpp"
#include "core/error.hpp"
#include "gateway/card_variants.hpp"
#include "mcp/discovery.hpp"

#include <cstddef>

namespace gateway {

struct session_card {
    card_variants variants;
    a2a::card card;  // the default one, for what is said of it
};

// Equal for snapshots with the same content. Fails with card_too_large if what callers get who name no version is over `limit`
// bytes, and as make_variants() does; a version that is over it is refused to those who name it.
core::result<session_card> make_session_card(
    const mcp::snapshot& from,
    const core::agent& record,
    core::card_shape shape,
    const signing& how,
    std::size_t limit
);

}  // namespace gateway
