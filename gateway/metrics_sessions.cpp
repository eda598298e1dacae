#include "gateway/metrics_sessions.hpp"

#include <algorithm>
#include <functional>

namespace gateway {
namespace {

using sorted_sessions = std::vector<std::reference_wrapper<const session_sample>>;

void add_states(families& page, const sorted_sessions& sessions)
{
    auto up = gauge("cardea_mcp_session_up", "1 while the session with an MCP server is there, else 0.");
    auto state = gauge("cardea_mcp_session_state", "1, for the state that the session with an MCP server is in.");
    auto losses = counter(
        "cardea_mcp_session_losses_total",
        "Sessions with an MCP server that were lost or could not begin, by why."
    );
    auto restarts =
        counter("cardea_mcp_session_restarts_total", "Connections to an MCP server that were made after the first.");
    auto handshake = gauge("cardea_mcp_initialize_seconds", "How long the latest handshake with an MCP server took.");
    for (const session_sample& each : sessions) {
        up.add({{"agent", each.agent}}, each.up ? 1.0 : 0.0);
        state.add({{"agent", each.agent}, {"state", text(each.state)}}, 1.0);
        for (const auto& [reason, n] : each.losses) {
            losses.add_some({{"agent", each.agent}, {"reason", text(reason)}}, n);
        }
        restarts.add_some({{"agent", each.agent}}, each.restarts);
        if (each.initialize) {
            handshake.add({{"agent", each.agent}}, seconds(*each.initialize));
        }
    }
    for (auto* family : {&up, &state, &losses, &restarts, &handshake}) {
        page.push_back(family->take());
    }
}

void add_messages(families& page, const sorted_sessions& sessions)
{
    auto walks = counter(
        "cardea_mcp_list_refreshes_total",
        "Walks over the lists of an MCP server, by outcome: changed, unchanged, incomplete, failed."
    );
    auto messages = counter("cardea_mcp_messages_total", "Messages from and to an MCP server.");
    auto refused =
        counter("cardea_mcp_messages_refused_total", "What an MCP server sent that is no message of the protocol.");
    auto queued = gauge("cardea_mcp_write_queue_bytes", "Bytes that an MCP server has not read from its input yet.");
    for (const session_sample& each : sessions) {
        for (const auto& [outcome, n] :
             {std::pair{"changed", each.walks_changed},
              {"unchanged", each.walks_unchanged},
              {"incomplete", each.walks_incomplete},
              {"failed", each.walks_failed}}) {
            walks.add_some({{"agent", each.agent}, {"outcome", outcome}}, n);
        }
        messages.add_some({{"agent", each.agent}, {"direction", "received"}}, each.received);
        messages.add_some({{"agent", each.agent}, {"direction", "sent"}}, each.sent);
        refused.add_some({{"agent", each.agent}}, each.refused);
        if (each.queued) {
            queued.add({{"agent", each.agent}}, static_cast<std::uint64_t>(*each.queued));
        }
    }
    for (auto* family : {&walks, &messages, &refused, &queued}) {
        page.push_back(family->take());
    }
}

}  // namespace

void add_sessions(families& page, const std::vector<session_sample>& sessions)
{
    sorted_sessions sorted{sessions.begin(), sessions.end()};
    std::ranges::sort(sorted, {}, [](const session_sample& each) -> const std::string& { return each.agent; });
    add_states(page, sorted);
    add_messages(page, sorted);
}

}  // namespace gateway
