#include "gateway/cards/managed_card.hpp"

#include "a2a/card/card_edits.hpp"
#include "config/agent_cards.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/calls/list_edit.hpp"

#include <string>
#include <utility>
#include <vector>

namespace gateway::cards {

server_lists_pointer exposed_lists(const server_lists_pointer& lists, const core::mcp_server& server)
{
    const ::mcp::name_filters filters{server};
    auto exposed = std::make_shared<::mcp::server_lists>(*lists);
    for (std::size_t i = 0; i < ::mcp::list_kinds; ++i) {
        const auto list = static_cast<::mcp::list_kind>(i);
        exposed->lists[i] = ::mcp::exposed_items(filters.of(list), list, lists->lists[i]);
    }
    return exposed;
}

server_lists_pointer visible_lists(const server_lists_pointer& lists, const ::a2a::skill_audience& audience)
{
    if (audience.rules.empty()) {
        return lists;
    }
    auto shown = std::make_shared<::mcp::server_lists>(*lists);
    for (const auto list : {::mcp::list_kind::tools, ::mcp::list_kind::prompts}) {
        std::erase_if(shown->lists[::mcp::index_of(list)], [&](const ::mcp::listed_item& each) {
            return !::a2a::is_visible(each.key, audience);
        });
    }
    return shown;
}

core::result<core::json> whole_document(const model::extended_request& asked, ::mcp::card_request as)
{
    const auto& whole = *asked.card;
    if (whole.lists == nullptr) {
        return core::parse_json(whole.text, {.bytes = whole.text.size()});
    }
    const auto scopes = asked.caller ? asked.caller->scopes : std::vector<std::string>{};
    const auto shown = visible_lists(whole.lists, {asked.agent->record.skills, &scopes});
    const auto shape = as.shape;
    auto written = ::mcp::card_writer{*shown, std::move(as)}.write(shape);
    if (!written) {
        return std::move(written).error();
    }
    return std::move(written->document);
}

core::result<::a2a::card> overlaid_card(core::json document, const model::extended_request& asked)
{
    const auto& overlays = asked.agent->record.overlays;
    for (const auto index : asked.overlays) {
        const auto overlay = core::parse_json(overlays.at(index).card, {.bytes = config::longest_overlay});
        if (!overlay) {
            return core::gateway_error(core::errc::internal, "an overlay cannot be read");
        }
        ::a2a::apply_overlay(document, *overlay);
    }
    if (auto checked = ::a2a::check_overlaid(document); !checked) {
        return std::move(checked).error();
    }
    return ::a2a::repair_card(std::move(document));
}

}  // namespace gateway::cards
