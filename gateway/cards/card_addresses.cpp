#include "gateway/cards/card_addresses.hpp"

#include "gateway/model/snapshot.hpp"

namespace gateway::cards {

bool is_bridged(const core::agent& agent) noexcept
{
    return agent.bridge && agent.speaks == core::protocol::a2a;
}

::a2a::public_address public_address_of(const core::agent& agent, std::string_view public_base, bool authenticates)
{
    ::a2a::public_address at{.base = model::public_address(public_base, agent.id), .bridged = is_bridged(agent)};
    switch (core::extended_card_of(agent, authenticates)) {
        case core::extended_card_access::managed:
            at.extended_card = ::a2a::extended_card_flag::yes;
            break;
        case core::extended_card_access::off:
            at.extended_card = ::a2a::extended_card_flag::no;
            break;
        default:
            break;
    }
    return at;
}

::a2a::upstream_address upstream_address_of(const core::agent& agent)
{
    return {.url = agent.url, .card_url = agent.card_url, .reachable = !agent.dialects.empty()};
}

}  // namespace gateway::cards
