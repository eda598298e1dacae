// The bytes that are served of one card: one body, or one for each generation that a caller may name. Pure; any thread.
#pragma once

#include "a2a/card.hpp"
#include "core/agent.hpp"
#include "core/error.hpp"
#include "gateway/published_card.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gateway {

// What one shape cannot say of a card.
struct card_loss {
    core::card_shape shape;
    std::vector<std::string> paths;
};

struct card_variants {
    std::shared_ptr<const card_bytes> bytes;
    std::vector<card_loss> losses;  // of the variants that lost something
};

// `rewritten` is what a2a::rewrite_card() made with the same `at`. Equal documents give equal bytes. Fails with
// card_unrewritable.
core::result<card_variants>
make_variants(const core::json& rewritten, core::card_shape shape, const a2a::public_address& at);

}  // namespace gateway
