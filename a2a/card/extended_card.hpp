// Cards inside answers: which methods are answered with one, where it stands, and what callers get to see of it. Bytes in,
// bytes out. Pure; any thread. (Specification 1.0.1 section 3.1.11, and before it the method of the
// same purpose in 0.2.6 and 0.3.0.)
#pragma once

#include "a2a/card/card.hpp"
#include "a2a/method.hpp"
#include "core/agent.hpp"
#include "core/error.hpp"
#include "core/json/jsonrpc_scan.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace a2a {

// In whose words an answer holds a card.
enum class card_dialect : std::uint8_t {
    v03,       // JSON-RPC of 0.2 and 0.3, and the address of 0.2
    v03_rest,  // HTTP+JSON of 0.3, which writes security schemes in the form of its protocol buffers
    v1,
};

// The dialect in which the answer to this method holds a card. Nothing: it holds none.
constexpr std::optional<card_dialect> answered_card(method m) noexcept
{
    switch (m) {
        case method::authenticated_extended_card:
        case method::get_authenticated_extended_card:
            return card_dialect::v03;
        case method::get_extended_agent_card:
            return card_dialect::v1;
        default:
            return std::nullopt;
    }
}

// Scans like core::scan_answer(). Fails with errors of the agent: card_not_json, or card_invalid for anything but one answer.
core::result<core::jsonrpc_answer> find_answered_card(std::string_view answer);

// A card in an answer as callers see it, before shape_card() brings it into `shape`.
struct rewritten_card {
    core::json document;
    core::card_shape shape = core::card_shape::automatic;
};

// Rewrites like rewrite_card(), for an answer in `dialect`. A card of that dialect stays as it is (`automatic`): one of
// 1.0 with what no version knows, but for what 1.0 has taken away; one of HTTP+JSON of 0.3 without interfaces of 1.0. Any
// other is translated. To v1 that costs what no version knows: readers of 1.0 may refuse a result that has some. So none
// is ever a hybrid.
core::result<rewritten_card>
rewrite_extended_card(card source, const public_address& at, const upstream_address& upstream, card_dialect dialect);

}  // namespace a2a
