#include "gateway/model/agent_record.hpp"
#include "gateway/sessions/server_reach.hpp"

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
        CHECK(gateway::sessions::runner_settings_of(record).states.era == meant);
    }
}

TEST_CASE(
    "The lists are walked as often as the agent says, else as mcp.walk does, and another interval is no other session"
)
{
    using namespace std::chrono_literals;
    core::agent record;
    record.url = "http://h/";
    record.mcp.emplace();
    CHECK(gateway::sessions::runner_settings_of(record, nullptr, 300s).states.walk == 300s);
    auto other = record;
    other.mcp->walk = 0s;
    CHECK(gateway::sessions::runner_settings_of(other, nullptr, 300s).states.walk == 0s);
    CHECK(gateway::model::same_session(record, other));
    other.mcp->start = core::mcp_start::lazy;
    CHECK_FALSE(gateway::model::same_session(record, other));
    other = record;
    other.mcp->request_timeout = 1s;
    CHECK_FALSE(gateway::model::same_session(record, other));
}

TEST_CASE("The time for the handshake is that of the whole start")
{
    core::agent record;
    record.mcp.emplace();
    record.mcp->initialize_timeout = core::duration{120'000};
    CHECK(gateway::sessions::runner_settings_of(record).states.start_timeout == core::duration{120'000});
}

namespace {

gateway::model::agent_entry entry_of(const core::agent& record)
{
    gateway::model::agent_entry entry;
    entry.record = record;
    return entry;
}

}  // namespace

TEST_CASE("an MCP server gets its agent's credentials with every request, and another credential is another session")
{
    core::agent record;
    record.id = "m";
    record.url = "http://h/mcp";
    record.mcp.emplace();
    record.credentials = core::basic_credentials{"me", core::secret{"word"}};
    record.headers = {{"X-Team", core::secret{"words"}}};
    auto settings = gateway::sessions::http_settings_of(entry_of(record));
    REQUIRE(settings.headers.size() == 2);
    CHECK(settings.headers[0].second.reveal() == "Basic bWU6d29yZA==");
    CHECK(settings.headers[1].first == "X-Team");
    auto other = record;
    other.credentials = core::key_credential{core::credential_place::query, "key", core::secret{"k"}};
    CHECK_FALSE(gateway::model::same_session(record, other));
    settings = gateway::sessions::http_settings_of(entry_of(other));
    CHECK(settings.url == "http://h/mcp");
    CHECK(settings.query.reveal() == "key=k");
    CHECK(settings.headers.size() == 1);
    other.headers.clear();
    other.credentials = {};
    other.bearer = core::secret{"t"};
    CHECK(gateway::sessions::http_settings_of(entry_of(other)).headers[0].second.reveal() == "Bearer t");
}

TEST_SUITE_END();
