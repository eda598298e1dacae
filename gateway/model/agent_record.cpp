#include "gateway/model/agent_record.hpp"

#include "core/url.hpp"
#include "gateway/model/sent_credentials.hpp"
#include "jose/digest.hpp"

#include <algorithm>
#include <string>
#include <variant>

namespace gateway::model {

core::redaction secrets_of(const core::agent& record, std::initializer_list<std::string_view> tokens)
{
    auto sent = credentials_of(record);
    sent.headers.insert(sent.headers.end(), record.card_headers.begin(), record.card_headers.end());
    // A server that repeats what it was given may take it apart before.
    if (const auto* basic = std::get_if<core::basic_credentials>(&record.credentials)) {
        sent.headers.emplace_back("Authorization", basic->password);
    } else if (const auto* key = std::get_if<core::key_credential>(&record.credentials)) {
        sent.headers.emplace_back(key->name, key->value);
    } else if (const auto* client = oauth_client_of(record)) {
        sent.headers.emplace_back("Authorization", client->client_secret);
    }
    for (const auto token : tokens) {
        sent.headers.emplace_back("Authorization", core::secret{std::string{token}});
    }
    auto address = with_query(record.url, sent.query);
    for (const auto& query : record.queries) {
        address += (address.find('?') == std::string::npos ? '?' : '&') + query.reveal();
    }
    const std::string_view all = address;
    for (auto at = all.find('?'); at < all.size(); at = all.find('&', at + 1)) {
        const auto pair = all.substr(at + 1, all.find('&', at + 1) - at - 1);
        sent.headers.emplace_back(
            "",
            core::secret{core::decoded(pair.substr(std::min(pair.find('=') + 1, pair.size())))}
        );
    }
    return core::redaction_of(record.mcp.value_or(core::mcp_server{}), sent.headers, address);
}

bool same_session(const core::agent& a, const core::agent& b)
{
    // An inline card needs no session.
    return a.card.empty() && b.card.empty() && a.card_headers == b.card_headers && same_callers_sessions(a, b);
}

std::string session_fingerprint(const core::agent& record)
{
    if (!record.mcp) {
        return {};
    }
    std::string all;
    const auto add = [&all](std::string_view part) {
        all += std::to_string(part.size());
        all += ':';
        all += part;
    };
    const auto& server = *record.mcp;
    add(core::name(server.transport));
    add(core::name(server.era));
    add(server.command);
    std::ranges::for_each(server.arguments, add);
    for (const auto& [name, value] : server.environment) {
        add(name);
        add(value.reveal());
    }
    add(server.directory);
    add(record.url);
    if (!record.proxy.empty()) {
        add(record.proxy.reveal());
    }
    auto sent = credentials_of(record);
    sent.headers.insert(sent.headers.end(), record.card_headers.begin(), record.card_headers.end());
    add(sent.query.reveal());
    for (const auto& [name, value] : sent.headers) {
        add(name);
        add(value.reveal());
    }
    return jose::sha256(all);
}

bool passes_logins(const core::agent& record)
{
    return record.mcp && !record.of_callers.names.empty();
}

bool needs_session(const core::agent& record)
{
    return record.mcp && (record.card.empty() || record.mcp->sessions == core::mcp_sessions::shared ||
                          record.mcp->sessionless == core::mcp_sessionless::shared);
}

bool keeps_session(const core::agent& a, const core::agent& b)
{
    return needs_session(a) && needs_session(b) && a.card.empty() == b.card.empty() &&
           a.card_headers == b.card_headers && same_callers_sessions(a, b);
}

bool same_callers_sessions(const core::agent& a, const core::agent& b)
{
    if (!a.mcp || !b.mcp) {
        return false;
    }
    auto server = *a.mcp;
    server.stale_if_error = b.mcp->stale_if_error;  // what callers are told without one
    server.walk = b.mcp->walk;                      // runner::set_walk()
    // Callers' sessions do not depend on this.
    server.sessions = b.mcp->sessions;
    server.sessionless = b.mcp->sessionless;
    server.on_lost = b.mcp->on_lost;
    server.warm = b.mcp->warm;
    server.max_sessions = b.mcp->max_sessions;
    server.overlap = b.mcp->overlap;  // of a hand-over
    server.call_timeout = b.mcp->call_timeout;
    server.tools = b.mcp->tools;
    server.prompts = b.mcp->prompts;
    server.resources = b.mcp->resources;
    server.forward_headers = b.mcp->forward_headers;
    server.bind = b.mcp->bind;
    return a.id == b.id && server == *b.mcp && a.speaks == b.speaks && a.url == b.url && a.registered == b.registered &&
           a.bearer == b.bearer && a.credentials == b.credentials && a.headers == b.headers && a.ca_file == b.ca_file &&
           a.cert_file == b.cert_file && a.key_file == b.key_file && a.proxy == b.proxy;
}

}  // namespace gateway::model
