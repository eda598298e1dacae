#include "gateway/model/snapshot.hpp"

#include "config/url.hpp"
#include "gateway/model/agent_filter.hpp"
#include "gateway/model/sent_credentials.hpp"
#include "gateway/model/tls_files.hpp"
#include "net/http1/head_writer.hpp"

#include <chrono>
#include <utility>

namespace gateway::model {
namespace {

void set_heads(agent_entry& entry, const net::upstream_target& target)
{
    auto sent = credentials_of(entry.record, entry.token.reveal());
    net::http1::head_writer fields{entry.fixed_fields};
    fields.field("Host", target.authority);
    for (const auto& [name, value] : sent.headers) {
        fields.field(name, value.reveal());
        entry.own_fields.push_back(name);
    }
    if (exchanges_tokens(entry.record)) {
        entry.own_fields.emplace_back("Authorization");
    } else {
        entry.awaits_token = oauth_client_of(entry.record) != nullptr && entry.token.empty();
    }
    entry.query_key = std::move(sent.query);
    const auto path = with_query(target.path, entry.query_key);
    net::http1::head_writer{entry.call_head}.request_line(net::http1::method::post, path);
    entry.call_head += entry.fixed_fields;
}

// Of a URL that config::parse_http_url() made, without its query.
std::string path_of(const std::string& url)
{
    const auto begin = config::path_begin(url);
    auto path = url.substr(begin, url.find('?', begin) - begin);
    return path.empty() ? "/" : path;
}

std::shared_ptr<reach::breaker>
breaker_for(const core::agent& record, const std::string& endpoint, const entry_defaults& defaults)
{
    reach::breaker_shelf own;
    auto& shelf = defaults.breakers != nullptr ? *defaults.breakers : own;
    const auto settings = core::breaker_of(record, defaults.breaker);
    return shelf.get(record.id + '\n' + endpoint, settings, std::chrono::steady_clock::now());
}

}  // namespace

std::shared_ptr<const core::address_rule>
addresses_of(const core::agent& record, std::span<const std::string> register_allow)
{
    return record.registered ? std::make_shared<const core::address_rule>(register_allow) : nullptr;
}

core::result<std::shared_ptr<const agent_entry>> make_entry(
    const core::agent& record,
    const entry_defaults& defaults,
    net::client_contexts& contexts,
    const std::string& call_url,
    const core::secret& token
)
{
    auto entry = std::make_shared<agent_entry>();
    entry->record = record;
    entry->token = token;
    entry->tags = metadata_tags(record.metadata);
    entry->call_url = call_url.empty() ? record.url : call_url;
    entry->awaits_card = call_url.empty() && record.speaks == core::protocol::a2a && !record.url.empty() &&
                         record.trust == core::card_trust::same_origin;
    entry->head_timeout = record.mcp ? record.mcp->call_timeout : record.timeout.value_or(defaults.head_timeout);
    if (record.mcp && (record.mcp->tools != core::mcp_filter{} || record.mcp->prompts != core::mcp_filter{} ||
                       record.mcp->resources != core::mcp_filter{})) {
        entry->filters = std::make_shared<const mcp::name_filters>(*record.mcp);
    }
    const bool over_http = record.speaks == core::protocol::a2a ||
                           (record.mcp && record.mcp->transport == core::mcp_transport::streamable_http);
    entry->addresses = addresses_of(record, defaults.register_allow);
    if (over_http && !record.url.empty()) {
        auto target = net::make_target(entry->call_url, tls_files(record), contexts, entry->addresses);
        if (!target) {
            return core::gateway_error(target.error().code, "agent " + record.id + ": " + target.error().detail);
        }
        set_heads(*entry, *target);
        entry->own_path = path_of(record.url);
        entry->base_path = entry->own_path.substr(0, entry->own_path.find_last_not_of('/') + 1);
        entry->breaker = breaker_for(record, target->key, defaults);
        entry->upstream = std::make_shared<const net::upstream_target>(std::move(*target));
    }
    return std::shared_ptr<const agent_entry>{std::move(entry)};
}

std::shared_ptr<const agent_entry> with_fallback(const std::shared_ptr<const agent_entry>& agent, bool fell_back)
{
    if (agent->fell_back == fell_back) {
        return agent;
    }
    auto changed = std::make_shared<agent_entry>(*agent);
    changed->fell_back = fell_back;
    return changed;
}

core::result<std::shared_ptr<const snapshot>> make_snapshot(const config::settings& settings, std::string public_base)
{
    auto out = std::make_shared<snapshot>();
    out->public_base = std::move(public_base);
    net::client_contexts contexts;
    for (const auto& record : settings.agents) {
        if (record.disabled) {
            continue;
        }
        auto entry = make_entry(
            record,
            {.head_timeout = settings.timeouts.upstream_head,
             .register_allow = settings.registration.allow,
             .breaker = settings.defaults.breaker},
            contexts
        );
        if (!entry) {
            return std::move(entry).error();
        }
        out->agents.emplace(record.id, std::move(*entry));
    }
    return std::shared_ptr<const snapshot>{std::move(out)};
}

std::string public_address(std::string_view public_base, std::string_view agent_id)
{
    constexpr std::string_view agents = "/agents/";
    std::string address;
    address.reserve(public_base.size() + agents.size() + agent_id.size());
    return address.append(public_base).append(agents).append(agent_id);
}

}  // namespace gateway::model
