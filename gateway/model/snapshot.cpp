#include "gateway/model/snapshot.hpp"

#include "config/agent_hosts.hpp"
#include "config/url.hpp"
#include "core/ascii.hpp"
#include "core/url.hpp"
#include "gateway/model/agent_filter.hpp"
#include "gateway/model/agent_record.hpp"
#include "gateway/model/call_address.hpp"
#include "gateway/model/plane.hpp"
#include "gateway/model/tls_files.hpp"
#include "net/http1/head_writer.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace gateway::model {
namespace {

// Nobody's name: connections to it stay within the process.
constexpr std::string_view bridge_origin = "http://bridge";
constexpr core::duration bridge_margin = std::chrono::minutes{1};  // the bridge says itself that a call took too long

// `at`: the address of the entry.
void set_heads(agent_entry& entry, const net::upstream_target& target, const std::string& at)
{
    auto here = entry.record;
    here.url = at;
    auto sent = credentials_of(here, entry.token.reveal());
    net::http1::head_writer fields{entry.fixed_fields};
    fields.field("Host", target.authority);
    for (const auto& [name, value] : sent.headers) {
        fields.field(name, value.reveal());
        entry.own_fields.push_back(name);
    }
    entry.exchanges_tokens = exchanges_tokens(entry.record);
    if (entry.exchanges_tokens) {
        entry.own_fields.emplace_back("Authorization");
    } else {
        entry.awaits_token = oauth_client_of(entry.record) != nullptr && entry.token.empty();
    }
    entry.query_key = std::move(sent.query);
    const auto path = with_query(target.path, entry.query_key);
    net::http1::head_writer{entry.call_head}.request_line(net::http1::method::post, path);
    entry.call_head += entry.fixed_fields;
}

// The path of a URL that config::parse_http_url() made, without its query.
std::string own_path_of(const std::string& url)
{
    const auto begin = config::path_begin(url);
    auto path = url.substr(begin, url.find('?', begin) - begin);
    return path.empty() ? "/" : path;
}

std::string without_slashes_at_end(const std::string& path)
{
    return path.substr(0, path.find_last_not_of('/') + 1);
}

// All are on the host and port of the agent's own URL.
void set_interfaces(agent_entry& entry, const call_route& route)
{
    auto whole = completed(entry.record, route);
    for (auto& each : whole.interfaces) {
        agent_interface made;
        made.speaks = dialect_of(each.speaks);
        const auto path = own_path_of(each.url);
        made.base_path = without_slashes_at_end(path);
        if (made.speaks.over == ::a2a::binding::jsonrpc && each.url != entry.call_url) {
            net::http1::head_writer{made.call_head}.request_line(
                net::http1::method::post,
                with_query(path, entry.query_key)
            );
            made.call_head += entry.fixed_fields;
        }
        made.at = std::move(each);
        entry.interfaces.push_back(std::move(made));
    }
    entry.several_addresses = has_several_addresses(entry.interfaces);
}

std::shared_ptr<balancing::breaker>
breaker_for(const core::agent& record, const std::string& endpoint, const entry_defaults& defaults)
{
    balancing::breaker_shelf own;
    auto& shelf = defaults.breakers != nullptr ? *defaults.breakers : own;
    const auto settings = core::breaker_of(record, defaults.breaker);
    return shelf.get(record.id + '\n' + endpoint, settings, std::chrono::steady_clock::now());
}

void set_gate(agent_entry& entry, const entry_defaults& defaults)
{
    balancing::gate_shelf own;
    auto& shelf = defaults.gates != nullptr ? *defaults.gates : own;
    entry.terms = shelf.share(
        {core::limits_of(entry.record, defaults.calls), core::retry_of(entry.record, defaults.endpoints.retry)}
    );
    entry.calls = shelf.get(entry.record.id, entry.terms->limits);
}

// Terms under which a record becomes an entry at one of its addresses.
struct making {
    const core::agent& record;
    const entry_defaults& defaults;
    net::client_contexts& contexts;
    const call_route& route;  // of the agent's own URL
    const core::secret& token;
};

// Where the agent takes gRPC. Empty: nowhere.
std::string place_of_grpc(const agent_entry& entry)
{
    const auto by_grpc = [](const agent_interface& each) { return each.speaks.over == ::a2a::binding::grpc; };
    const auto found = std::ranges::find_if(entry.interfaces, by_grpc);
    if (found != entry.interfaces.end()) {
        return found->at.url;
    }
    return entry.record.relay_services.empty() ? std::string{}
                                               : entry.call_url.substr(0, config::path_begin(entry.call_url));
}

// The entry for where the agent takes gRPC, unless that is its own target. Null: there is none.
core::result<std::shared_ptr<const agent_entry>> grpc_entry(const agent_entry& entry, const making& of)
{
    const auto& record = entry.record;
    const auto place = place_of_grpc(entry);
    const bool here = entry.upstream->http2 && core::origin_of(place) == core::origin_of(entry.call_url);
    if (place.empty() || here) {
        return std::shared_ptr<const agent_entry>{};
    }
    auto target = net::make_target(place, tls_files(record), of.contexts, entry.addresses, record.proxy);
    if (!target) {
        return core::gateway_error(target.error().code, "agent " + record.id + ": " + target.error().detail);
    }
    *target = net::over_http2(std::move(*target));
    auto out = std::make_shared<agent_entry>(entry);
    for (auto* text : {&out->call_head, &out->fixed_fields}) {
        text->clear();
    }
    out->own_fields.clear();
    out->call_url = place;
    set_heads(*out, *target, place);
    out->own_path = "/";
    out->base_path.clear();
    out->breaker = breaker_for(record, target->key, of.defaults);
    out->reach = nullptr;
    out->upstream = std::make_shared<const net::upstream_target>(std::move(*target));
    return std::shared_ptr<const agent_entry>{std::move(out)};
}

// `where`: the address.
std::optional<core::error> fill(agent_entry& entry, const making& of, const std::string& where)
{
    const auto& record = of.record;
    const auto at = core::http_form(where);
    const auto route = moved_route(of.route, core::http_form(record.url), at);
    entry.record = record;
    entry.token = of.token;
    entry.tags = metadata_tags(record.metadata);
    entry.hosts = config::hosts_of(record, of.defaults.agent_hosts);
    entry.call_url = route.url.empty() ? at : route.url;
    entry.awaits_card = route.url.empty() && record.speaks == core::protocol::a2a && !record.url.empty() &&
                        record.trust == core::card_trust::same_origin;
    entry.mediates_push = record.push.value_or(of.defaults.push) == core::push_mode::mediate;
    entry.head_timeout = record.mcp ? record.mcp->call_timeout : record.timeout.value_or(of.defaults.head_timeout);
    entry.read_timeout = record.mcp
                             ? entry.head_timeout
                             : std::min(record.read_timeout.value_or(of.defaults.read_timeout), entry.head_timeout);
    if (record.mcp && (record.mcp->tools != core::mcp_filter{} || record.mcp->prompts != core::mcp_filter{} ||
                       record.mcp->resources != core::mcp_filter{} || !record.skills.empty())) {
        entry.filters = std::make_shared<const ::mcp::name_filters>(*record.mcp, record.skills);
    }
    const bool over_http = record.speaks == core::protocol::a2a ||
                           (record.mcp && record.mcp->transport == core::mcp_transport::streamable_http);
    entry.addresses = addresses_of(record, of.defaults.register_allow);
    if (!over_http || record.url.empty()) {
        return std::nullopt;
    }
    auto target = net::make_target(entry.call_url, tls_files(record), of.contexts, entry.addresses, record.proxy);
    if (!target) {
        return core::gateway_error(target.error().code, "agent " + record.id + ": " + target.error().detail);
    }
    if (record.http == core::http_version::v2 || core::only_grpc(record)) {
        *target = net::over_http2(std::move(*target));
    }
    set_heads(entry, *target, at);
    entry.own_path = own_path_of(at);
    entry.base_path = without_slashes_at_end(entry.own_path);
    if (record.speaks == core::protocol::a2a) {
        auto whole = route;
        whole.url = entry.call_url;
        set_interfaces(entry, whole);
    }
    const bool alone = core::rules_of(record).upstreams.empty();
    entry.breaker = breaker_for(record, alone ? target->key : target->key + '\n' + target->path, of.defaults);
    set_gate(entry, of.defaults);
    entry.upstream = std::make_shared<const net::upstream_target>(std::move(*target));
    auto grpc = grpc_entry(entry, of);
    if (!grpc) {
        return std::move(grpc).error();
    }
    entry.grpc = std::move(*grpc);
    return std::nullopt;
}

// Null: it is not bridged.
std::shared_ptr<const bridged_agent> bridge_to(const agent_entry& own, const entry_defaults& defaults)
{
    const auto& of = own.record;
    if (!defaults.bridge || (of.mcp ? !of.bridge : !own.upstream || of.as_tools == core::tool_form::off)) {
        return nullptr;
    }
    return std::make_shared<const bridged_agent>(defaults.bridge);
}

// Its calls have no breaker, and no limits of their own: those of the agent count for the calls that the bridge makes.
std::shared_ptr<const agent_entry> bridged_entry(const core::agent& of, const std::function<core::descriptor()>& dial)
{
    const bool to_a2a = of.mcp.has_value();
    auto out = std::make_shared<agent_entry>();
    auto& record = out->record;
    record.id = of.id;
    record.url = std::string{bridge_origin} + (to_a2a ? "/a2a/" : "/mcp/") + of.id;
    record.discover = of.discover;
    record.call = of.call;
    record.push = core::push_mode::passthrough;
    if (to_a2a) {
        record.dialects = {core::a2a_dialect::v1_jsonrpc};
        out->head_timeout = of.mcp->longest_call + bridge_margin;
    } else {
        record.speaks = core::protocol::mcp;
        core::mcp_server server;
        server.era = core::mcp_era::modern;
        record.mcp = std::move(server);
        out->head_timeout = record.mcp->call_timeout;
    }
    out->read_timeout = out->head_timeout;
    out->call_url = record.url;
    net::upstream_target target;
    target.key = bridge_origin;
    target.host = bridge_origin.substr(bridge_origin.rfind('/') + 1);
    target.authority = target.host;
    target.path = record.url.substr(bridge_origin.size());
    target.dial = dial;
    set_heads(*out, target, record.url);
    out->own_path = target.path;
    out->base_path = target.path;
    if (to_a2a) {
        set_interfaces(*out, {record.url, {}});
    }
    out->upstream = std::make_shared<const net::upstream_target>(std::move(target));
    return out;
}

// Shared reachability of entries that are called over HTTP. Null: a single one without checks.
std::shared_ptr<balancing::agent_reach> reach_of(std::span<const agent_entry> entries, const entry_defaults& defaults)
{
    const auto& record = entries.front().record;
    const auto& rules = core::rules_of(record);
    if (entries.size() == 1 && health_check_of(record, defaults.endpoints.health) == core::health_check::none) {
        return nullptr;
    }
    balancing::reach_terms terms{
        .rules =
            {.balance = rules.balance.value_or(defaults.endpoints.balance),
             .failback = rules.failback.value_or(defaults.endpoints.failback)},
        .members = {}
    };
    for (const auto& each : entries) {
        terms.members.push_back({each.breaker, std::hash<std::string>{}(each.upstream->key + each.upstream->path)});
    }
    balancing::reach_shelf own;
    auto& shelf = defaults.reaches != nullptr ? *defaults.reaches : own;
    return shelf.get(record.id, terms, std::chrono::steady_clock::now());
}

core::result<std::shared_ptr<const agent_entry>> make_several(const making& of, const std::vector<std::string>& at)
{
    auto made = std::make_shared<endpoint_entries>();
    made->all.resize(at.size());
    for (std::size_t i = 0; i < at.size(); ++i) {
        auto& entry = made->all[i];
        if (auto failed = fill(entry, of, at[i])) {
            return std::move(*failed);
        }
        entry.siblings = made.get();
        entry.number = i;
    }
    const auto reach = reach_of(made->all, of.defaults);
    const auto bridged = bridge_to(made->all.front(), of.defaults);
    for (auto& each : made->all) {
        each.reach = reach;
        each.calls = made->all.front().calls;
        each.bridged = bridged;
    }
    return std::shared_ptr<const agent_entry>{made, &made->all.front()};
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
    const call_route& route,
    const core::secret& token
)
{
    const making of{record, defaults, contexts, route, token};
    if (const auto& several = core::rules_of(record).upstreams; !several.empty()) {
        return make_several(of, several);
    }
    auto entry = std::make_shared<agent_entry>();
    if (auto failed = fill(*entry, of, record.url)) {
        return std::move(*failed);
    }
    if (entry->upstream) {
        entry->reach = reach_of({entry.get(), 1}, defaults);
    }
    entry->bridged = bridge_to(*entry, defaults);
    return std::shared_ptr<const agent_entry>{std::move(entry)};
}

core::health_check health_check_of(const core::agent& record, const core::health_settings& defaults) noexcept
{
    const auto check = record.mcp ? core::health_check::none : core::health_of(record, defaults).check;
    if (check != core::health_check::automatic) {
        return check;
    }
    return core::rules_of(record).upstreams.empty() ? core::health_check::none : core::health_check::tcp;
}

const std::shared_ptr<const agent_entry>& bridged_agent::entry(const core::agent& of) const
{
    std::call_once(once_, [&] { made_ = bridged_entry(of, dial_); });
    return made_;
}

call_route agent_entry::route() const
{
    call_route out{call_url, {}};
    for (const auto& each : interfaces) {
        out.interfaces.push_back(each.at);
    }
    return out;
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

std::shared_ptr<const agent_entry> with_version(const std::shared_ptr<const agent_entry>& agent, std::uint64_t version)
{
    if (agent->version == version) {
        return agent;
    }
    // The entries that stand beside it live as long as the one that was.
    struct copied_entry {
        agent_entry now;
        std::shared_ptr<const agent_entry> was;
    };
    const auto changed = std::make_shared<copied_entry>(*agent, agent->siblings == nullptr ? nullptr : agent);
    changed->now.version = version;
    return {changed, &changed->now};
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
        const entry_defaults defaults{
            .head_timeout = settings.timeouts.upstream_head,
            .read_timeout = settings.timeouts.upstream_read,
            .register_allow = settings.registration.allow,
            .agent_hosts = settings.agent_hosts,
            .push = settings.push,
            .breaker = settings.defaults.breaker,
            .endpoints = settings.defaults.endpoints,
            .calls = settings.defaults.calls
        };
        auto entry = make_entry(record, defaults, contexts);
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

std::string own_origin(std::string_view public_base, std::string_view host)
{
    auto url = core::http_url::parse(public_base);
    if (!url) {
        return {};  // config::parse_base_url() and public_base_of() make others
    }
    url->encoded_host = core::in_lower_case(host);
    return (url->secure ? "https://" : "http://") + url->authority();
}

void plane::set_agents(const std::shared_ptr<const snapshot>& now)
{
    for (const auto& [id, agent] : now->agents) {
        set_agent(id, agent);
    }
}

std::shared_ptr<const agent_entry> endpoint_of(const std::shared_ptr<const agent_entry>& agent, std::size_t i)
{
    if (agent->siblings == nullptr || i >= agent->siblings->all.size()) {
        return agent;
    }
    return {agent, &agent->siblings->all[i]};
}

const agent_entry& first_of(const agent_entry& agent) noexcept
{
    return agent.siblings == nullptr ? agent : agent.siblings->all.front();
}

std::vector<std::string_view> keys_that_leave(const agent_entry* before, const agent_entry* now)
{
    const auto keys_of = [](const agent_entry* agent) {
        std::vector<std::string_view> keys;
        const auto count = agent == nullptr ? 0 : endpoint_count(*agent);
        for (std::size_t i = 0; i < count; ++i) {
            const auto& each = agent->siblings == nullptr ? *agent : agent->siblings->all[i];
            if (each.upstream != nullptr) {
                keys.emplace_back(each.upstream->key);
            }
            if (each.grpc != nullptr) {
                keys.emplace_back(each.grpc->upstream->key);
            }
        }
        return keys;
    };
    auto left = keys_of(before);
    std::erase_if(left, [stay = keys_of(now)](std::string_view key) {
        return std::ranges::find(stay, key) != stay.end();
    });
    return left;
}

std::size_t endpoint_count(const agent_entry& agent) noexcept
{
    return agent.siblings == nullptr ? 1 : agent.siblings->all.size();
}

core::steady_time again_at(const agent_entry& agent, core::steady_time now) noexcept
{
    if (agent.reach != nullptr) {
        return agent.reach->group->again_at(now);
    }
    return agent.breaker == nullptr ? now : agent.breaker->again_at(now);
}

std::string moved_path(std::string_view path, const agent_entry& from, const agent_entry& to)
{
    const auto query = path.find('?') == path.npos ? std::string_view{} : path.substr(path.find('?'));
    const auto only = path.substr(0, path.size() - query.size());
    auto moved = moved_below(only, from.own_path, to.own_path).append(query);
    if (from.query_key == to.query_key) {
        return moved;
    }
    return with_query(core::without_parameters(std::move(moved), from.query_key.reveal()), to.query_key);
}

std::string moved_head(std::string_view head, const agent_entry& from, const agent_entry& to)
{
    const auto line_end = head.find("\r\n") + 2;
    const auto line = head.substr(0, line_end);
    const auto begin = line.find(' ') + 1;
    const auto end = line.find(' ', begin);
    std::string out{line.substr(0, begin)};
    out += moved_path(line.substr(begin, end - begin), from, to);
    out += line.substr(end);
    out += to.fixed_fields;
    if (const auto rest = head.substr(line_end); rest.starts_with(from.fixed_fields)) {
        out += rest.substr(from.fixed_fields.size());
    }
    return out;
}

}  // namespace gateway::model
