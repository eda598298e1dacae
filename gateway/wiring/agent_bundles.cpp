#include "gateway/wiring/agent_bundles.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace gateway::wiring {
namespace {

using model::member_state;

member_state state_of(const sessions::session_plane& sessions, const std::string& id)
{
    const auto facts = sessions.facts(id);
    if (!facts) {
        return member_state::down;  // a server without a session of the gateway's own lists nothing
    }
    using enum ::mcp::session_state;
    switch (facts->state) {
        case ready:
        case degraded:
            return member_state::known;
        case configured:
        case starting:
        case initializing:
        case discovering:
            return sessions.known_lists(id) == nullptr && !facts->needs_operator ? member_state::starting
                                                                                 : member_state::known;
        case backoff:
        case failed:
        case stopping:
        case stopped:
            break;
    }
    return member_state::down;
}

// Its card says what it lists.
member_state state_of(const bridge::agent_server& bridged, const std::string& id)
{
    if (bridged.lists(id) != nullptr) {
        return member_state::known;
    }
    return bridged.has_failed(id) ? member_state::down : member_state::starting;
}

bundles::bundle_sources sources_of(const agent_bundles::parts& of, bundles::tool_searches& searches)
{
    return {
        of.control,
        of.log,
        [&sessions = of.sessions, &bridged = of.bridged](const std::string& id) {
            return bridged.serves(id) ? bridged.lists(id) : sessions.known_lists(id);
        },
        [&sessions = of.sessions, &bridged = of.bridged](const std::string& id) {
            return bridged.serves(id) ? state_of(bridged, id) : state_of(sessions, id);
        },
        [&sessions = of.sessions, &bridged = of.bridged](const std::string& id) {
            if (bridged.serves(id)) {
                bridged.begin_reading(id);
            } else {
                static_cast<void>(sessions.control(id));
            }
        },
        [&workers = of.workers](const std::shared_ptr<const model::published_bundles>& all) {
            for (const auto& each : workers) {
                each->post([all](worker::worker& on) { on.handler().set_bundles(all); });
            }
        },
        searches
    };
}

}  // namespace

agent_bundles::agent_bundles(const parts& of)
    : control_{of.control},
      members_{sources_of(of, searches_)},
      sessions_{
          of.control,
          of.calls,
          of.log,
          [&workers = of.workers](const ::mcp::session_digest& id, bool ended) {
              for (const auto& each : workers) {
                  each->post([id, ended](worker::worker& on) { on.handler().forget_bundle_session(id, ended); });
              }
          }
      },
      streams_{of.control, of.calls, members_, sessions_}
{
}

model::bundle_services agent_bundles::services()
{
    return {
        .wait = [this](auto bundle) { return members_.wait(std::move(bundle)); },
        .enter = [this](auto call) { return sessions_.enter(std::move(call)); },
        .tell =
            [this](auto message) {
                net::asio::post(control_.get_executor(), [this, told = std::move(message)]() mutable {
                    sessions_.tell(std::move(told));
                });
            },
        .end = [this](auto session) { return end_session(std::move(session)); },
        .streams = &streams_,
        .searches = &searches_
    };
}

net::task<bool> agent_bundles::end_session(model::bundle_session session)
{
    sessions_.tell({.in = std::move(session), .act = model::bundle_act::end});
    co_return true;
}

void agent_bundles::stop()
{
    members_.stop();
    streams_.stop();
    sessions_.stop();
}

}  // namespace gateway::wiring
