#include "gateway/sessions/server_reach.hpp"

#include "core/ascii.hpp"
#include "gateway/model/agent_record.hpp"
#include "gateway/model/version.hpp"
#include "gateway/sessions/long_texts.hpp"
#include "gateway/sessions/session_settings.hpp"
#include "mcp/protocol/discovery.hpp"
#include "mcp/transport/sse_transport.hpp"
#include "mcp/transport/stdio_transport.hpp"

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

}  // namespace

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
