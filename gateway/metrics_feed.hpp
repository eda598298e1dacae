// The metrics page, piece by piece, so that neither its making nor its sending holds a loop or needs memory for all of it,
// however many agents there are. On the control loop's thread; asks the workers by posting.
#pragma once

#include "gateway/access/credential_verifier.hpp"
#include "gateway/caller_sessions.hpp"
#include "gateway/cards/card_plane.hpp"
#include "gateway/management/registry.hpp"
#include "gateway/model/turns.hpp"
#include "gateway/sessions/session_plane.hpp"
#include "gateway/telemetry/metrics_page.hpp"
#include "gateway/tokens/token_plane.hpp"
#include "gateway/traffic/worker.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace gateway {

// How old the keys are that providers' tokens are checked with.
std::vector<telemetry::key_set_sample> samples_of(const std::vector<access::provider_key_set>& key_sets);

class metrics_feed {
public:
    // Agents that are asked of a worker at a time.
    static constexpr std::size_t slice = 512;

    // A piece of the page is sent when it has so many bytes.
    static constexpr std::size_t piece = 32 * 1024;

    // References outlive the feed.
    struct sources {
        const std::vector<std::unique_ptr<traffic::worker>>& workers;
        const management::registry& agents;
        const cards::card_plane& cards;
        const sessions::session_plane& sessions;
        const tokens::token_plane& tokens;
        const caller_sessions& callers;
        const telemetry::loop_totals& admin;
        model::turns& by;
    };

    metrics_feed(sources from, telemetry::gateway_sample gateway);

    // The next piece; empty: that was all. An agent that comes or goes meanwhile is in a part of the families, and no series
    // comes twice.
    net::task<std::string> next();

private:
    net::task<std::string> begin();
    std::vector<std::string> next_agents() const;
    net::task<> add(std::vector<std::string> agents);
    net::task<std::vector<telemetry::agent_counters>> counters_of(std::vector<std::string> agents) const;

    sources from_;
    telemetry::gateway_sample gateway_;
    std::set<std::string, std::less<>> lingering_;       // agents that are gone, whose streams are not
    std::size_t counted_ = 0;                            // agents that any worker has counters of
    std::span<const telemetry::agent_family> families_;  // that are not finished
    std::optional<telemetry::family> current_;           // the first of them, if it has been begun
    std::string after_;                                  // the last agent in it
    bool begun_ = false;
};

}  // namespace gateway
