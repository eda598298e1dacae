// The bytes that are served of one card: one body, or one for each generation that a caller may name. Pure; any thread.
#pragma once

#include "a2a/card/card.hpp"
#include "core/agent.hpp"
#include "core/error.hpp"
#include "gateway/cards/card_signer.hpp"
#include "gateway/model/published_card.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gateway::cards {

// What one shape cannot say of a card.
struct card_loss {
    core::card_shape shape;
    std::vector<std::string> paths;
};

// A shape that there is nothing of.
struct card_refusal {
    core::card_shape shape;
    core::error why;
};

struct card_variants {
    std::shared_ptr<const model::card_bytes> bytes;
    std::vector<card_loss> losses;            // of the variants that lost something
    std::vector<card_refusal> refusals = {};  // of versions, while other callers are served
    std::string signed_by;  // the `kid` of the key that those of shape 1.0 are signed with; empty: none is
};

// Who signs what is served, and where callers find the keys.
struct signing {
    const card_signer* by = nullptr;  // null: nobody
    std::string public_base;
};

// `rewritten` is what a2a::rewrite_card() made with the same `at`. Equal documents give equal tags, and equal bytes but for
// the signature. What is signed is a card of 1.0 and nothing else, without members that are empty, so that all who verify it
// mean the same bytes.
class variant_maker {
public:
    variant_maker(core::json rewritten, core::card_shape shape, a2a::public_address at, signing how);

    // One more piece of work: one variant, but that its shape and its bytes are a piece each; false: all are made. Fails with
    // card_unrewritable, and with internal if signing does.
    core::result<bool> step();

    // Once all are made.
    card_variants take() &&;

private:
    core::card_shape next_shape() const noexcept;
    std::size_t all() const noexcept { return shape_ == core::card_shape::automatic ? 3 : 1; }
    core::result<> begin_one();
    core::result<> finish_one();

    core::json rewritten_;
    core::card_shape shape_;
    a2a::public_address at_;
    signing how_;
    bool signed_for_all_ = false;
    std::optional<core::json> shaped_;    // of the variant that is under way
    std::vector<model::card_body> made_;  // the only one; or those of 1.0, of callers who name no version, and of 0.3
    std::vector<card_loss> losses_;
    std::string signed_by_;
};

// All at once.
core::result<card_variants>
make_variants(core::json rewritten, core::card_shape shape, const a2a::public_address& at, const signing& how);

// A card of 1.0, which has none yet, with a signature by `how.by`, which is somebody. Fails with internal.
core::result<model::card_body> signed_body(core::json document, const signing& how);

// `rewritten` in the shape that it has. Fails with card_unrewritable.
core::result<model::card_body> own_body(const core::json& rewritten, const a2a::public_address& at);

}  // namespace gateway::cards
