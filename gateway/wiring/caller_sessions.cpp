#include "gateway/wiring/caller_sessions.hpp"

#include "gateway/model/agent_record.hpp"
#include "gateway/model/version.hpp"
#include "gateway/sessions/server_reach.hpp"
#include "jose/sealed_text.hpp"
#include "mcp/calls/session_id.hpp"

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace gateway::wiring {
namespace {

using telemetry::metric;

// As calls reach it: with the token of the agent's OAuth server too, if it has one.
::mcp::http_settings settings_of(const model::agent_entry& agent)
{
    auto settings = sessions::http_settings_of(agent);
    auto sent = model::credentials_of(agent.record, agent.token.reveal());
    settings.query = std::move(sent.query);
    settings.headers = std::move(sent.headers);
    return settings;
}

// With a key that no other process has, and none keeps.
std::shared_ptr<const ::mcp::session_ids> own_seals()
{
    std::array<unsigned char, jose::sealing_key_bytes> bytes{};
    jose::system_random(bytes);
    const core::secret key{std::string{bytes.begin(), bytes.end()}};
    return std::make_shared<const ::mcp::session_ids>(jose::text_sealer{{&key, 1}});
}

}  // namespace

// Of an agent of A2A its card says them.
net::task<core::result<>> read_lists(sessions::session_plane& own, bridge::agent_server& bridged, std::string id)
{
    if (!bridged.serves(id)) {
        auto walked = own.refresh(std::move(id));
        co_return co_await std::move(walked);
    }
    auto read = bridged.read_lists(std::move(id));
    co_await std::move(read);
    co_return core::result<>{};
}

caller_sessions::caller_sessions(const caller_services& given, const config::mcp_settings& settings)
    : own_{given.own},
      bridged_{given.bridged},
      programs_{mcp::table::local_session_services{
          given.control,
          given.own.turns(),
          [&own = given.own](const model::agent_entry& agent) { return own.reach().of_callers(agent); },
          [&own = given.own](const core::agent& record) {
              return record.mcp->era == core::mcp_era::modern || own.speaks_modern(record.id);
          },
          std::chrono::steady_clock::now,
          given.log,
          [&own = given.own](const std::string& id) { return own.control(id); },
          [&own = given.own](const std::string& id) { return own.lane(id); },
          [&own = given.own, &bridged = given.bridged](const std::string& id) {
              return bridged.serves(id) ? bridged.lists(id) : own.known_lists(id);
          },
          settings_of,
          [&own = given.own, &bridged = given.bridged](const std::string& id) {
              return bridged.serves(id) ? bridged.lists(id) : own.lists(id);
          },
          [&own = given.own](const std::string& id) { return own.find_era(id); },
          [&own = given.own, &bridged = given.bridged](const std::string& id) { return read_lists(own, bridged, id); },
          own_seals(),
          ::mcp::replay_limits{
              .events = settings.replay_events,
              .stream_bytes = settings.replay_stream,
              .bytes = settings.replay_memory,
              .life = settings.replay_time
          },
          [&bridged = given.bridged](const std::string& id) { return bridged.server(id); }
      }},
      over_http_{mcp::http::http_session_services{
          .loop = given.control,
          .settings = settings_of,
          .client = {"cardea", std::string{model::version()}},
          .clock = std::chrono::steady_clock::now,
          .mark =
              [&workers = given.workers](const ::mcp::session_digest& id, bool ask) {
                  for (const auto& each : workers) {
                      each->post([id, ask](worker::worker& on) { on.handler().ask_about(id, ask); });
                  }
              },
          .log = given.log,
          .has_agent = [this](const std::string& id) { return programs_.has_agent(id); },
          .is_contained = [this](const std::string& id) { return programs_.is_contained(id); }
      }}
{
    const auto listed = [this](const std::string& id, const std::shared_ptr<const ::mcp::server_lists>& lists) {
        programs_.lists_changed(id, lists);
        if (listed_) {
            listed_(id);
        }
    };
    own_.set_listed(listed);
    bridged_.set_listed(listed);
}

std::unique_ptr<caller_sessions>
make_caller_sessions(const caller_services& given, const config::mcp_settings& settings)
{
    return std::make_unique<caller_sessions>(given, settings);
}

caller_sessions::~caller_sessions()
{
    own_.set_listed({});
    bridged_.set_listed({});
}

void caller_sessions::set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
    if (agent == nullptr || agent->record.mcp) {
        programs_.set_agent(id, agent);
    } else if (programs_.keeps(id)) {
        programs_.set_agent(id, agent->other_side());
    }
    if (agent == nullptr) {
        over_http_.forget(id);
    }
}

void caller_sessions::stop()
{
    programs_.stop();
    over_http_.stop();
}

void caller_sessions::collect(telemetry::metrics& into) const
{
    into.add(metric("cardea_mcp_recoveries_total"), over_http_.recovered() + programs_.counts().recovered);
    into.add(metric("cardea_mcp_parked_calls"), std::uint64_t{programs_.parked_calls()});
    constexpr std::array<std::string_view, ::mcp::question_tally::ends> ends{"passed", "answered"};
    const auto& asked = programs_.asked_of_callers();
    telemetry::family requests{metric("cardea_mcp_server_requests_total")};
    for (std::size_t method = 0; method < asked.counts.size(); ++method) {
        for (std::size_t end = 0; end < ends.size(); ++end) {
            requests.add_some(
                {{"method", ::mcp::question_tally::methods[method]}, {"outcome", ends[end]}},
                asked.counts[method][end]
            );
        }
    }
    into.add(std::move(requests));
    into.add_agents(metric("cardea_mcp_client_sessions"), [this](auto& family, const auto& id) {
        if (const auto live = programs_.live(id)) {
            family.add({{"agent", id}}, std::uint64_t{live->sessions});
        }
    });
    into.add_agents(metric("cardea_mcp_warm_programs"), [this](auto& family, const auto& id) {
        if (const auto live = programs_.live(id); live && live->warm) {
            family.add({{"agent", id}}, std::uint64_t{*live->warm});
        }
    });
}

telemetry::loop_totals caller_sessions::totals() const
{
    telemetry::loop_totals out;
    const auto& ended = programs_.counts().ended;
    for (std::size_t i = 0; i < ended.size(); ++i) {
        out.sessions_ended.add(static_cast<model::session_end>(i), ended[i]);
    }
    return out;
}

}  // namespace gateway::wiring
