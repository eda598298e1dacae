#include "gateway/session_settings.hpp"

#include <doctest/doctest.h>

TEST_SUITE_BEGIN("gateway/session_settings");

TEST_CASE(
    "a server of the HTTP+SSE transport is one with sessions and is not asked for its era; the others are as configured"
)
{
    using core::mcp_era;
    using core::mcp_transport;
    using mcp::era_policy;
    struct row {
        mcp_transport transport;
        mcp_era era;
        era_policy meant;
    };
    for (const auto& [transport, era, meant] : {
             row{mcp_transport::sse, mcp_era::automatic, era_policy::legacy},
             row{mcp_transport::sse, mcp_era::legacy, era_policy::legacy},
             row{mcp_transport::streamable_http, mcp_era::automatic, era_policy::automatic},
             row{mcp_transport::streamable_http, mcp_era::legacy, era_policy::legacy},
             row{mcp_transport::streamable_http, mcp_era::modern, era_policy::modern},
             row{mcp_transport::stdio, mcp_era::automatic, era_policy::automatic},
         }) {
        core::agent record;
        record.url = "http://h/";
        record.mcp.emplace();
        record.mcp->transport = transport;
        record.mcp->era = era;
        CHECK(gateway::runner_settings_of(record).states.era == meant);
    }
}

TEST_SUITE_END();
