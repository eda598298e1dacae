// A served card in the shape of one generation. Pure; any thread.
#pragma once

#include "a2a/card/card.hpp"
#include "core/agent.hpp"

#include <string>
#include <vector>

namespace a2a {

struct shaped_card {
    core::json document;
    std::vector<std::string> lost;  // paths in `rewritten` of what the shape cannot say
};

// `rewritten` is what rewrite_card() made with the same `at`; equal documents give equal results.
//   v1:     what a2a.proto of 1.0.1 has and nothing else; security in its forms; an OAuth scheme with several flows becomes
//           several schemes, `X` and `X__<flow>`, any of which will do.
//   v03:    what types.ts of 0.3.0 has, and the members that no version knows.
//   hybrid: v03 with all that v1 has beside it, both security forms in one scheme; with `at.bridged` also `protocol: "a2a"`,
//           unless the card has a `protocol`.
//   automatic: `rewritten` itself.
// With `at.bridged` every shape offers each generation that it can name over every binding; else a shape of one generation
// names the version that its agent speaks, even if that is the other one.
// Fails with card_unrewritable if an address in the result is not the gateway's, or there is none.
core::result<shaped_card> shape_card(core::json rewritten, core::card_shape shape, const public_address& at);

// Only checks a card that is served in the shape that it has.
core::result<> check_addresses(const core::json& served, const public_address& at);

}  // namespace a2a
