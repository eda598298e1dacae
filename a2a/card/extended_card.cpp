#include "a2a/card/extended_card.hpp"

#include <utility>

namespace a2a {
namespace {

using core::json;

// A reader of protobuf's JSON would fail on it.
void erase_removed_members(json& card)
{
    if (const auto found = card.find("capabilities"); found != card.end() && found->is_object()) {
        found->erase("stateTransitionHistory");
    }
}

}  // namespace

core::result<core::jsonrpc_answer> find_answered_card(std::string_view answer)
{
    auto found = core::scan_answer(answer);
    if (found) {
        return found;
    }
    const bool json = found.error().code == core::errc::invalid_request;
    return core::upstream_error(
        json ? core::errc::card_invalid : core::errc::card_not_json,
        "the answer: " + found.error().detail
    );
}

core::result<rewritten_card>
rewrite_extended_card(card source, const public_address& at, const upstream_address& upstream, card_dialect dialect)
{
    const auto generation = source.generation;
    auto rewritten = rewrite_card(std::move(source), at, upstream);
    if (!rewritten) {
        return std::move(rewritten).error();
    }
    auto shape = dialect == card_dialect::v1 ? core::card_shape::v1 : core::card_shape::v03;
    if (dialect == card_dialect::v1 && generation == card_generation::v1) {
        shape = core::card_shape::automatic;
        erase_removed_members(*rewritten);
    } else if (dialect == card_dialect::v03_rest && rewritten->contains("url") &&
               !rewritten->contains("supportedInterfaces")) {
        shape = core::card_shape::automatic;
    }
    return rewritten_card{std::move(*rewritten), shape};
}

}  // namespace a2a
