// Renders a card: the bytes that are served, one body or one for each generation that a caller may name. Pure; any thread.
#pragma once

#include "a2a/card/card.hpp"
#include "core/agent.hpp"
#include "core/error.hpp"
#include "core/json/json.hpp"
#include "gateway/cards/card_signer.hpp"
#include "gateway/model/published_card.hpp"
#include "mcp/card/card.hpp"
#include "mcp/protocol/discovery.hpp"

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace gateway::cards {

// Parts that one shape cannot express.
struct card_loss {
    core::card_shape shape;
    std::vector<std::string> paths;
};

// A shape that is not served.
struct card_refusal {
    core::card_shape shape;
    core::error why;
};

struct rendered_card {
    std::shared_ptr<const model::card_bytes> bytes;
    std::vector<card_loss> losses;       // of the shapes that lost something
    std::vector<card_refusal> refusals;  // of versions, while other callers are served
    std::string signed_by;               // the `kid` of the key that those of shape 1.0 are signed with; empty: none is
};

// Who signs what is served, and where callers find the keys.
struct signing {
    const card_signer* by = nullptr;  // null: nobody
    std::string public_base;
};

// The body of a card of 1.0 without `signatures`, signed. Its ETag is weak, and the same for equal cards. `signature.by` is not null.
core::result<model::card_body> signed_body(core::json document, const signing& signature);

// Equal cards give equal tags, and equal bytes but for the signature. What is signed is a card of 1.0 and nothing else,
// without members that are empty, so that all who verify it mean the same bytes.
class card_renderer {
public:
    // Renders what a2a::rewrite_card() made with the same `at`. `automatic`: callers who name a version get its shape, others the
    // signed card of 1.0 if the agent's is one and cards are signed, else the hybrid with `at.bridged`, else what the agent wrote.
    card_renderer(core::json rewritten, ::a2a::public_address at, core::card_shape shape, signing signature);

    // Renders the card of an MCP server. The lists outlive the renderer.
    card_renderer(const ::mcp::server_lists& lists, ::mcp::card_request asked, signing signature);

    // One more piece of work: what the shapes have in common, or one body, whose shape and bytes may be a piece each; false:
    // all are made. Fails with card_unrewritable, with card_too_large if what callers get who name no version is too large (a
    // version that is too large is refused to those who name it), and with internal if signing does.
    core::result<bool> step();

    // Once step() has returned false.
    rendered_card take() &&;

private:
    struct written_shape {
        core::json document;
        std::string text;  // the bytes of the document; empty: to be made
        std::vector<std::string> lost;
    };

    bool is_signed(core::card_shape shape) const noexcept;
    core::result<> prepare();
    core::result<written_shape> written(core::card_shape shape, bool last);
    core::result<> write();
    core::result<> finish();

    std::variant<core::json, ::mcp::card_writer> source_;
    ::a2a::public_address at_;
    core::card_shape shape_;
    signing signature_;
    std::vector<core::card_shape> wanted_;  // the first is also that of callers who name no version
    std::vector<core::result<model::card_body>> bodies_;
    std::optional<core::json> unfinished_;  // the document of the next body
    rendered_card card_;
};

}  // namespace gateway::cards
