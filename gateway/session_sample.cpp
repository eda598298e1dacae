#include "gateway/session_sample.hpp"

namespace gateway {

telemetry::session_sample sample_of(const sessions::session_facts& session)
{
    const auto& counts = session.counts;
    telemetry::session_sample out;
    out.state = mcp::name(session.state);
    out.up = session.ready_since.has_value();
    for (std::size_t i = 0; i < session.losses.size(); ++i) {
        if (session.losses[i] > 0) {
            out.losses.emplace_back(mcp::name(static_cast<mcp::session_reason>(i)), session.losses[i]);
        }
    }
    out.restarts = sessions::restarts_of(session);
    if (counts.handshakes > 0) {
        out.initialize = counts.latest_handshake;
    }
    out.walks_changed = counts.walks_changed;
    out.walks_incomplete = counts.walks_incomplete;
    out.walks_unchanged = counts.walks - counts.walks_changed - counts.walks_incomplete;
    out.walks_failed = counts.walks_failed;
    out.received = counts.received;
    out.sent = counts.sent;
    out.refused = counts.refused;
    if (session.transport == core::mcp_transport::stdio) {
        out.queued = session.queued;
    }
    return out;
}

}  // namespace gateway
