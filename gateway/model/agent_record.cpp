#include "gateway/model/agent_record.hpp"

#include "core/ascii.hpp"
#include "core/base64.hpp"
#include "core/url.hpp"
#include "jose/digest.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

namespace gateway::model {
namespace {

constexpr std::string_view upper_hex = "0123456789ABCDEF";

using core::credential_place;
using core::secret;

void add_authorization(sent_credentials& sent, std::string_view scheme, std::string_view value)
{
    sent.headers.emplace_back("Authorization", secret{std::string{scheme}.append(" ").append(value)});
}

void add_key(sent_credentials& sent, const core::key_credential& key)
{
    switch (key.place) {
        case credential_place::header:
            sent.headers.emplace_back(key.name, key.value);
            break;
        case credential_place::cookie:
            sent.headers.emplace_back("Cookie", secret{key.name + '=' + key.value.reveal()});
            break;
        case credential_place::query:
            // A key takes the place of a parameter of its name in the URL.
            sent.query = secret{
                core::with_parameters('?' + sent.query.reveal(), encoded(key.name) + '=' + encoded(key.value.reveal()))
                    .substr(1)
            };
            break;
    }
}

}  // namespace

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

sent_credentials credentials_of(const core::agent& record, std::string_view token)
{
    sent_credentials sent{.headers = {}, .query = core::query_of(record)};
    const auto* const bearer = std::get_if<secret>(&record.credentials);
    const auto* const basic = std::get_if<core::basic_credentials>(&record.credentials);
    const auto* const key = std::get_if<core::key_credential>(&record.credentials);
    const bool authorized = std::ranges::any_of(record.headers, [](const auto& each) {
        return core::equal_ignoring_case(each.first, "authorization");
    });
    // An MCP server's own headers may say who is calling, instead of its bearer.
    if (!authorized && !record.bearer.empty()) {
        add_authorization(sent, "Bearer", record.bearer.reveal());
    } else if (bearer != nullptr && !bearer->empty()) {
        add_authorization(sent, "Bearer", bearer->reveal());
    } else if (basic != nullptr) {
        add_authorization(sent, "Basic", core::base64(basic->username + ':' + basic->password.reveal()));
    } else if (oauth_client_of(record) != nullptr && !token.empty()) {
        add_authorization(sent, "Bearer", token);
    }
    if (key != nullptr) {
        add_key(sent, *key);
    }
    sent.headers.insert(sent.headers.end(), record.headers.begin(), record.headers.end());
    return sent;
}

const core::oauth_client* oauth_client_of(const core::agent& record) noexcept
{
    const auto* client = std::get_if<core::boxed<core::oauth_client>>(&record.credentials);
    return client == nullptr ? nullptr : &**client;
}

bool exchanges_tokens(const core::agent& record) noexcept
{
    const auto* const client = oauth_client_of(record);
    return client != nullptr && client->grant == core::oauth_grant::token_exchange;
}

std::string encoded(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        if (core::is_letter(c) || core::is_digit(c) || c == '-' || c == '.' || c == '_' || c == '~') {
            out += c;
        } else {
            const auto byte = static_cast<unsigned char>(c);
            out += '%';
            out += upper_hex[byte / 16];
            out += upper_hex[byte % 16];
        }
    }
    return out;
}

std::string with_query(std::string target, const core::secret& query)
{
    return core::with_parameters(std::move(target), query.reveal());
}

}  // namespace gateway::model
