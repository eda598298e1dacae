// A card rendered in one go.
#pragma once

#include "gateway/cards/card_renderer.hpp"

#include <utility>

namespace cards_test {

inline core::result<gateway::cards::rendered_card> render_at_once(gateway::cards::card_renderer renderer)
{
    for (;;) {
        const auto more = renderer.step();
        if (!more) {
            return more.error();
        }
        if (!*more) {
            return std::move(renderer).take();
        }
    }
}

}  // namespace cards_test
