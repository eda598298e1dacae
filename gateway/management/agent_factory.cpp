#include "gateway/management/agent_factory.hpp"

#include "config/agent_hosts.hpp"
#include "config/file.hpp"
#include "config/signatures.hpp"
#include "core/ip.hpp"
#include "core/url.hpp"
#include "gateway/cards/card_signer.hpp"
#include "gateway/model/agent_record.hpp"
#include "net/tls/tls_files.hpp"
#include "net/upstream/own_listeners.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace gateway::management {

host_claims::host_claims(const config::process_settings& settings)
    : own_{config::own_hosts(settings)}
{
}

std::optional<std::string> host_claims::refusal(std::string_view name, std::string_view id) const
{
    if (is_own(name)) {
        return config::claimed_by_gateway(name);
    }
    const auto other = owner(name);
    return other.empty() || other == id ? std::nullopt : std::optional{config::claimed_by_agent(name, other)};
}

bool host_claims::is_own(std::string_view name) const noexcept
{
    return std::ranges::find(own_, name) != own_.end();
}

std::string_view host_claims::owner(std::string_view name) const
{
    if (const auto found = owners_.find(name); found != owners_.end()) {
        return found->second;
    }
    const auto held = held_->find(name);
    return held == held_->end() ? std::string_view{} : held->second.id;
}

std::shared_ptr<const void> host_claims::hold(const model::agent_entry& agent)
{
    for (const auto& name : agent.hosts) {
        auto& each = (*held_)[name];
        each.id = agent.record.id;
        ++each.holds;
    }
    return {nullptr, [held = held_, names = agent.hosts](const void*) {
                for (const auto& name : names) {
                    const auto each = held->find(name);
                    if (each != held->end() && --each->second.holds == 0) {
                        held->erase(each);
                    }
                }
            }};
}

void host_claims::release(const std::set<std::string_view>& ids)
{
    std::erase_if(owners_, [&](const auto& each) { return ids.contains(each.second); });
}

void host_claims::move(const model::agent_entry* was, const model::agent_entry* now)
{
    static const std::vector<std::string> none;
    for (const auto& name : was == nullptr ? none : was->hosts) {
        if (owner(name) == was->record.id) {
            owners_.erase(name);
        }
    }
    for (const auto& name : now == nullptr ? none : now->hosts) {
        owners_.insert_or_assign(name, now->record.id);
    }
}

namespace {

// OpenSSL would wait for whoever writes to a pipe.
core::result<> readable(const std::string& path)
{
    const auto text = config::read_regular_file(path);
    return text ? core::result<>{} : text.error();
}

bool starts_program(const core::agent& agent)
{
    return agent.mcp && agent.mcp->transport == core::mcp_transport::stdio;
}

// Why an agent that registered itself may not be at this URL; empty: it may, or its host is a name, which whoever connects looks up.
std::string_view objection_to(const std::string& url, const core::address_rule& allowed)
{
    const auto parsed = core::http_url::parse(core::http_form(url));
    const auto address = parsed ? core::parse_ip(parsed->host) : std::nullopt;
    if (!address) {
        return {};
    }
    if (!allowed.allows(*address)) {
        return "is not at a public address; expected one, or one of `register.allow`";
    }
    return net::is_own_listener(*address, parsed->port) ? "is at an address of this gateway; expected the agent's own"
                                                        : std::string_view{};
}

}  // namespace

config::tls_checks tls_checks()
{
    const auto known = std::make_shared<std::map<std::string, core::result<>>>();
    const auto authorities = [known](const std::string& ca_file) {
        auto found = known->find(ca_file);
        if (found == known->end()) {
            const auto there = readable(ca_file);
            found = known->emplace(ca_file, there ? net::check_trust(ca_file) : there).first;
        }
        return found->second;
    };
    const auto certificate = [](const std::string& cert, bool by_name) {
        const auto there = readable(cert);
        return there ? net::check_certificate(cert, by_name) : there;
    };
    const auto key = [](const std::string& cert, const std::string& path) {
        const auto there = readable(path);
        return there ? net::check_key(cert, path) : there;
    };
    return {
        .authorities = authorities,
        .certificate = certificate,
        .key = key,
        .signing_key = cards::check_signing_key,
        .key_set = cards::check_key_set
    };
}

core::result<std::shared_ptr<const model::agent_entry>>
agent_factory::make(const core::agent& record, const model::call_route& route, const core::secret& token)
{
    const model::entry_defaults defaults{
        .head_timeout = settings_.timeouts.upstream_head,
        .read_timeout = settings_.timeouts.upstream_read,
        .register_allow = settings_.registration.allow,
        .agent_hosts = settings_.agent_hosts,
        .push = settings_.push,
        .breaker = settings_.defaults.breaker,
        .breakers = &breakers_,
        .endpoints = settings_.defaults.endpoints,
        .reaches = &reaches_,
        .calls = settings_.defaults.calls,
        .gates = &gates_,
        .bridge = bridge_
    };
    auto made = model::make_entry(record, defaults, contexts_, route, token);
    return made ? pinned(std::move(*made)) : std::move(made);
}

std::shared_ptr<const model::agent_entry> agent_factory::pinned(std::shared_ptr<const model::agent_entry> entry) const
{
    // A copy of an entry that others stand beside holds the one that holds them, and not the copies before it.
    struct holder {
        std::shared_ptr<const model::agent_entry> of_siblings;  // null: there are none
        void operator()(const model::agent_entry* gone) const { std::default_delete<const model::agent_entry>{}(gone); }
    };
    const auto now = pins_ ? pins_(entry->record) : entry_pins{};
    if (now.pins == entry->pins && now.held == entry->held) {
        return entry;
    }
    auto changed = std::make_unique<model::agent_entry>(*entry);
    changed->pins = now.pins;
    changed->held = now.held;
    const auto* const copied = std::get_deleter<holder>(entry);
    holder with{copied == nullptr ? entry : copied->of_siblings};
    if (entry->siblings == nullptr) {
        with.of_siblings = nullptr;
    }
    return {changed.release(), std::move(with)};
}

std::shared_ptr<const model::agent_entry>
agent_factory::renewed(const model::agent_entry* was, std::shared_ptr<const model::agent_entry> is, bool served)
{
    claims_.move(was, is.get());
    is = pinned(std::move(is));
    if (was == nullptr) {
        return is;
    }
    const bool moves = !was->awaits_card && (is->awaits_card || !was->interfaces.empty()) && was->record == is->record;
    // While nobody may call the agent, nobody renews its token.
    const bool has_token = served && !was->token.empty() && was->record.credentials == is->record.credentials;
    const bool fell_back = served && was->fell_back && model::same_session(was->record, is->record);
    if (moves || has_token) {
        auto entry =
            make(is->record, moves ? was->route() : model::call_route{}, has_token ? was->token : core::secret{});
        if (entry) {
            is = std::move(*entry);
        }
    }
    return model::with_fallback(is, fell_back);
}

std::optional<core::error> agent_factory::claim(
    const std::vector<std::shared_ptr<const model::agent_entry>>& declared,
    const std::vector<std::string>& gone,
    const std::function<bool(std::string_view id)>& stays
)
{
    std::set<std::string_view> replaced;
    for (const auto& each : declared) {
        replaced.insert(each->record.id);
    }
    for (const auto& each : declared) {
        const auto& id = each->record.id;
        for (const auto& name : each->hosts) {
            const auto other = claims_.owner(name);
            std::string why;
            if (claims_.is_own(name)) {
                why = config::claimed_by_gateway(name);
            } else if (!other.empty() && !replaced.contains(other) && stays(other)) {
                why = config::claimed_by_agent(name, other);
            }
            if (!why.empty()) {
                std::string whose{"agent "};
                return core::gateway_error(core::errc::config_invalid, whose.append(id).append(": ").append(why));
            }
        }
    }
    std::set<std::string_view> free;
    std::ranges::copy_if(gone, std::inserter(free, free.end()), [&](const auto& id) { return !stays(id); });
    claims_.release(free);
    for (const auto& each : declared) {
        claims_.move(nullptr, each.get());
    }
    return std::nullopt;
}

proposed_agent agent_factory::propose(
    std::string_view id,
    const core::json& definition,
    std::string_view path,
    const config::tls_checks& checks
)
{
    auto read = config::read_agent(id, definition, path, checks);
    proposed_agent out{core::to_text(definition), nullptr, std::move(read.problems), nullptr};
    const auto refuse = [&](std::string_view key, std::string why) {
        out.problems.push_back({{}, 1, 1, std::string{path}.append(key), std::move(why)});
    };
    if (!out.problems.empty()) {
        return out;
    }
    if (auto contradiction = config::signature_contradiction(read.agent, settings_.cards)) {
        refuse(".signatures", std::move(*contradiction));
    } else if (!settings_.admin_programs && starts_program(read.agent)) {
        refuse(
            definition.contains("command") ? ".command" : ".transport",
            "is a program, which only agents of the configuration may be; expected a url, or `admin_programs: true`"
        );
    } else if (auto entry = make(read.agent)) {
        out.entry = std::move(*entry);
    } else {
        refuse("", entry.error().detail);
    }
    if (!out.entry) {
        return out;
    }
    for (const auto& name : out.entry->hosts) {
        if (auto why = claims_.refusal(name, id)) {
            const auto& given = read.agent.hosts;
            refuse(std::ranges::find(given, name) == given.end() ? "" : ".hosts", std::move(*why));
        }
    }
    if (out.entry->addresses) {
        for (const auto& [key, url] :
             {std::pair{".url", &read.agent.url},
              std::pair{".grpc_url", &read.agent.grpc_url},
              std::pair{".card_url", &read.agent.card_url}}) {
            if (const auto why = objection_to(*url, *out.entry->addresses); !why.empty()) {
                refuse(key, std::string{why});
            }
        }
    }
    if (!out.problems.empty()) {
        out.entry = nullptr;
    } else if (!out.entry->hosts.empty()) {
        out.names = claims_.hold(*out.entry);
    }
    return out;
}

}  // namespace gateway::management
