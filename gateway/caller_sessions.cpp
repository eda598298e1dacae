#include "gateway/caller_sessions.hpp"

#include "gateway/model/sent_credentials.hpp"
#include "gateway/model/version.hpp"
#include "gateway/sessions/session_settings.hpp"

#include <chrono>
#include <string>
#include <utility>

namespace gateway {
namespace {

// As calls reach it: with the token of the agent's OAuth server too, if it has one.
mcp::http_settings settings_of(const model::agent_entry& agent)
{
    auto settings = sessions::http_settings_of(agent);
    auto sent = model::credentials_of(agent.record, agent.token.reveal());
    settings.query = std::move(sent.query);
    settings.headers = std::move(sent.headers);
    return settings;
}

}  // namespace

std::unique_ptr<mcp_path::http_sessions> make_caller_sessions(
    net::loop& control,
    const std::vector<std::unique_ptr<traffic::worker>>& workers,
    const core::logger& log
)
{
    return std::make_unique<mcp_path::http_sessions>(mcp_path::http_session_services{
        .loop = control,
        .settings = settings_of,
        .client = {"cardea", std::string{model::version()}},
        .clock = std::chrono::steady_clock::now,
        .mark =
            [&workers](const mcp::session_digest& id, bool ask) {
                for (const auto& each : workers) {
                    each->ask_about(id, ask);
                }
            },
        .log = log
    });
}

}  // namespace gateway
