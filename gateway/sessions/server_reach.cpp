#include "gateway/sessions/server_reach.hpp"

#include "core/ascii.hpp"
#include "gateway/model/agent_record.hpp"
#include "gateway/model/tls_files.hpp"
#include "gateway/model/version.hpp"
#include "mcp/protocol/discovery.hpp"
#include "mcp/protocol/read_text.hpp"
#include "mcp/transport/http_transport.hpp"
#include "mcp/transport/offloading_transport.hpp"
#include "mcp/transport/stdio_transport.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace gateway::sessions {
namespace {

// For the session that the card is made of, instead of what callers' sessions send in these fields.
void add_card_headers(::mcp::http_settings& settings, const core::agent& record)
{
    for (const auto& [name, value] : record.card_headers) {
        std::erase_if(settings.headers, [&](const auto& each) { return core::equal_ignoring_case(each.first, name); });
        settings.headers.emplace_back(name, value);
    }
}

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
    settings.dial = agent.upstream ? agent.upstream->dial : nullptr;
    settings.http2 = record.http == core::http_version::v2 && !settings.dial;
    settings.server = *record.mcp;
    auto sent = model::credentials_of(record);
    settings.url = record.url;
    settings.query = std::move(sent.query);
    settings.headers = std::move(sent.headers);
    return settings;
}

::mcp::transport_factory read_on(
    threads::side_thread* thread,
    net::loop& loop,
    ::mcp::transport_factory made,
    std::size_t largest,
    std::size_t most_items
)
{
    using texts_read = std::shared_ptr<const ::mcp::read_text>;
    if (made == nullptr || thread == nullptr) {
        return made;
    }
    auto reading = [thread, &loop, largest, most_items](std::string text, std::function<void(texts_read)> done) {
        auto held = std::make_shared<std::string>(std::move(text));
        std::function<texts_read()> read = [held, largest, most_items] {
            return ::mcp::read_apart(std::move(*held), {.bytes = largest}, most_items);
        };
        net::asio::co_spawn(
            loop.get_executor(),
            thread->ask<texts_read>(std::move(read)),
            [done = std::move(done)](const std::exception_ptr& bug, texts_read got) {
                if (bug) {
                    std::rethrow_exception(bug);
                }
                done(std::move(got));
            }
        );
    };
    return ::mcp::reading_apart(std::move(made), std::move(reading), largest);
}

server_reach::server_reach(
    net::loop& control,
    const core::logger& log,
    std::vector<std::pair<std::string, std::string>> inherited,
    threads::side_thread* long_bodies
)
    : loop_{control},
      log_{log},
      exchanges_{control, "cardea/" + std::string{model::version()}},
      inherited_{std::move(inherited)},
      long_bodies_{long_bodies}
{
}

::mcp::transport_factory server_reach::of_callers(const model::agent_entry& agent)
{
    auto hidden = secrets_of_callers(agent);
    if (agent.fell_back) {
        // Facts that the gateway's own session has found out need not be tried again for each.
        return reading(::mcp::sse_factory(loop_, exchanges_, over_http(agent, std::move(hidden))), agent.record);
    }
    return reading(made_for(agent, std::move(hidden), nullptr), agent.record);
}

::mcp::transport_factory
server_reach::reading(::mcp::transport_factory made, const core::agent& record, std::size_t most_items)
{
    return read_on(long_bodies_, loop_, std::move(made), record.mcp->max_message, most_items);
}

std::shared_ptr<const core::redaction> server_reach::secrets_of_callers(const model::agent_entry& agent)
{
    auto& given = given_[agent.record.id];
    auto own = model::secrets_of(agent.record);
    auto hidden = given.hidden.lock();
    if (hidden == nullptr || own != given.own) {
        hidden = std::make_shared<core::redaction>(model::secrets_of(agent.record, {agent.token.reveal()}));
        given = {std::move(own), agent.token, hidden};
    }
    return hidden;
}

void server_reach::renew(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
    const auto found = given_.find(id);
    if (found == given_.end()) {
        return;
    }
    auto& given = found->second;
    const auto hidden = given.hidden.lock();
    if (agent == nullptr || hidden == nullptr) {
        given_.erase(found);
    } else if (agent->token != given.token) {
        // The server may still repeat the previous one.
        *hidden = model::secrets_of(agent->record, {agent->token.reveal(), given.token.reveal()});
        given.token = agent->token;
    }
}

::mcp::transport_factory server_reach::of_gateway(
    const model::agent_entry& agent,
    std::shared_ptr<const core::redaction> secrets,
    std::shared_ptr<::mcp::stderr_lines> complaints
)
{
    auto made = made_for(agent, std::move(secrets), std::move(complaints), /*own=*/true);
    return reading(std::move(made), agent.record, ::mcp::discovery_limits{}.items);
}

::mcp::transport_factory server_reach::made_for(
    const model::agent_entry& agent,
    std::shared_ptr<const core::redaction> secrets,
    std::shared_ptr<::mcp::stderr_lines> complaints,
    bool own
)
{
    const auto& record = agent.record;
    auto settings = over_http(agent, std::move(secrets));
    if (own) {
        add_card_headers(settings, record);
    }
    switch (record.mcp->transport) {
        case core::mcp_transport::stdio:
            return ::mcp::stdio_factory(
                loop_,
                *record.mcp,
                inherited_,
                {record.id, core::redaction_of(*record.mcp), log_, std::move(complaints)}
            );
        case core::mcp_transport::streamable_http:
            return ::mcp::fallback_factory(loop_, exchanges_, std::move(settings));
        case core::mcp_transport::sse:
            return ::mcp::sse_factory(loop_, exchanges_, std::move(settings));
        case core::mcp_transport::unsupported:
            break;
    }
    return nullptr;
}

::mcp::http_settings
server_reach::over_http(const model::agent_entry& agent, std::shared_ptr<const core::redaction> secrets)
{
    auto settings = http_settings_of(agent);
    settings.secrets = std::move(secrets);
    if (model::oauth_client_of(agent.record) != nullptr) {
        settings.tokens = [this, id = agent.record.id](core::secret refused) {
            return tokens_(id, std::move(refused));
        };
    }
    return settings;
}

}  // namespace gateway::sessions
