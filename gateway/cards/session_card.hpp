// The card of an MCP server as it is served. Pure; any thread.
#pragma once

#include "core/agent.hpp"
#include "core/error.hpp"
#include "gateway/cards/card_variants.hpp"
#include "mcp/card/card.hpp"
#include "mcp/protocol/discovery.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace gateway::cards {

struct session_card {
    card_variants variants;
    a2a::card card;  // the default one, for what is said of it
};

// Equal for snapshots with the same content; in pieces, as variant_maker.
class session_card_maker {
public:
    // The snapshot outlives this.
    session_card_maker(
        const mcp::server_lists& from,
        const core::agent& record,
        core::card_shape shape,
        signing how,
        std::size_t limit
    );

    // One more piece of work; false: it is done. Fails with card_too_large if what callers get who name no version is over
    // `limit` bytes, and as variant_maker does; a version that is over it is refused to those who name it.
    core::result<bool> step();

    // Once it is done.
    session_card take() &&;

private:
    core::card_shape next_shape() const noexcept;
    std::size_t all() const noexcept { return shape_ == core::card_shape::automatic ? 3 : 1; }
    core::result<> read_own();
    core::result<> write_one();
    core::result<> sign_one();

    const mcp::server_lists& from_;
    core::card_shape shape_;
    signing how_;
    std::size_t limit_;
    mcp::card_writer writer_;
    std::optional<core::json> unsigned_;  // of the body that is under way
    std::vector<core::result<model::card_body>>
        bodies_;  // the only one; or of callers who name no version, of 1.0 and of 0.3
    std::optional<a2a::card> card_;
    std::vector<card_refusal> refusals_;
    std::string signed_by_;
};

}  // namespace gateway::cards
