// Previews: what would be published of an agent's card, and what that would change. On the control loop; changes nothing.
#pragma once

#include "a2a/card/card.hpp"
#include "core/error.hpp"
#include "gateway/cards/card_entry.hpp"
#include "gateway/cards/card_source.hpp"
#include "gateway/cards/served_card.hpp"
#include "mcp/protocol/discovery.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gateway::cards {

// Card that a fetch would publish.
struct card_preview {
    std::shared_ptr<const model::card_bytes> before;  // null: nothing has been published
    std::shared_ptr<const model::card_bytes> after;   // the same object as before: nothing would change
    std::vector<::a2a::card_problem> problems;
    std::string difference;  // what would change: a JSON Patch as text
};

class card_previewer {
public:
    // Both outlive this.
    card_previewer(card_source& source, card_maker& maker)
        : source_{source},
          maker_{maker}
    {
    }

    // Works as card_plane::preview() and card_plane::preview_session_card(), of an agent that is there.
    net::task<core::result<card_preview>> preview(entry_pointer entry);
    net::task<core::result<card_preview>>
    preview_lists(entry_pointer entry, std::shared_ptr<const ::mcp::server_lists> lists);

private:
    net::task<core::result<served_card>> newest(entry_pointer entry);
    net::task<core::result<card_preview>> compared(entry_pointer entry, core::result<served_card> card);

    card_source& source_;
    card_maker& maker_;
};

}  // namespace gateway::cards
