#include "gateway/sessions/session_settings.hpp"

#include "gateway/model/agent_record.hpp"
#include "gateway/model/tls_files.hpp"
#include "gateway/model/version.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace gateway::sessions {
namespace {

// The HTTP+SSE transport is older than the modern era, and some that speak it answer nothing before `initialize`.
::mcp::era_policy policy_of(const core::mcp_server& server) noexcept
{
    if (server.transport == core::mcp_transport::sse) {
        return ::mcp::era_policy::legacy;
    }
    switch (server.era) {
        case core::mcp_era::automatic:
            return ::mcp::era_policy::automatic;
        case core::mcp_era::legacy:
            return ::mcp::era_policy::legacy;
        case core::mcp_era::modern:
            return ::mcp::era_policy::modern;
    }
    return ::mcp::era_policy::automatic;
}

}  // namespace

::mcp::runner_settings runner_settings_of(const core::agent& record, ::mcp::start_turns* turns, core::duration walk)
{
    const auto& server = *record.mcp;
    ::mcp::runner_settings settings;
    settings.turns = {server.transport == core::mcp_transport::stdio ? turns : nullptr, server.overlap};
    auto& states = settings.states;
    states.era = policy_of(server);
    states.silence_is_legacy = server.transport == core::mcp_transport::stdio;
    settings.headers = server.transport == core::mcp_transport::streamable_http ? ::mcp::tool_headers::checked
                                                                                : ::mcp::tool_headers::ignored;
    states.lazy = server.start == core::mcp_start::lazy;
    states.start_timeout = server.initialize_timeout;
    states.walk = server.walk.value_or(walk);
    states.backoff_first = server.backoff;
    states.backoff_longest = server.max_backoff;
    states.ping_interval = server.ping_interval;
    states.ping_timeout = std::min(server.request_timeout, states.ping_timeout);
    settings.request_timeout = server.request_timeout;
    settings.call_timeout = server.call_timeout;
    settings.messages.bytes = server.max_message;
    settings.client = {"cardea", std::string{model::version()}};
    return settings;
}

::mcp::http_settings http_settings_of(const model::agent_entry& agent)
{
    const auto& record = agent.record;
    ::mcp::http_settings settings;
    settings.addresses = agent.addresses;
    settings.tls = model::tls_files(record);
    settings.proxy = record.proxy;
    settings.server = *record.mcp;
    auto sent = model::credentials_of(record);
    settings.url = record.url;
    settings.query = std::move(sent.query);
    settings.headers = std::move(sent.headers);
    return settings;
}

}  // namespace gateway::sessions
