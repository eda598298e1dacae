#include "gateway/wiring/agent_publication.hpp"

#include "jose/sealed_text.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <random>
#include <utility>

namespace gateway::wiring {
namespace {

std::function<double()> any_fraction()
{
    return [engine = std::mt19937_64{std::random_device{}()}]() mutable {
        return std::uniform_real_distribution{0.0, 1.0}(engine);
    };
}

std::function<std::shared_ptr<const model::agent_entry>(const std::string&)> served_by(management::registry& registry)
{
    return [&registry](const std::string& id) { return served_agent(registry, id); };
}

// Without those that are contained, which no plane has.
std::shared_ptr<const model::snapshot>
reached(std::shared_ptr<const model::snapshot> all, const management::registry& registry)
{
    const auto is_contained = [&](const std::string& id) { return registry.find(id)->contained; };
    if (std::ranges::none_of(all->agents, [&](const auto& each) { return is_contained(each.first); })) {
        return all;
    }
    auto out = std::make_shared<model::snapshot>(*all);
    std::erase_if(out->agents, [&](const auto& each) { return is_contained(each.first); });
    return out;
}

// Null: it is gone, or disabled.
void tell(
    model::plane& plane,
    const std::string& id,
    const std::shared_ptr<const model::agent_entry>& agent,
    bool contained
)
{
    if (agent != nullptr && contained) {
        plane.contain(id);
    } else {
        plane.set_agent(id, agent);
    }
}

// Those that are contained since before the start.
void contain_kept(model::plane& plane, const management::registry& registry)
{
    for (const auto& [id, each] : registry.all()) {
        if (each.served() && each.contained) {
            plane.contain(id);
        }
    }
}

}  // namespace

void publish_agents(agent_audience audience, std::string public_base)
{
    const auto now = audience.registry.take_snapshot(std::move(public_base));
    for (const auto& each : audience.workers) {
        each->post([now](worker::worker& on) { on.handler().set_snapshot(*now); });
    }
    audience.directory.set_public_base(now->public_base);
    audience.cards.set_publisher([audience](const std::string& id, std::shared_ptr<const model::published_card> card) {
        audience.bridge.set_card(id, card);
        for (const auto& each : audience.workers) {
            each->post([id, card](worker::worker& on) { on.handler().set_card(id, card); });
        }
    });
    audience.registry.set_publisher([audience](const std::string& id, std::shared_ptr<const model::agent_entry> agent) {
        if (agent != nullptr && agent->calls) {
            agent->calls->set_limits(agent->terms->limits);
        }
        for (const auto& each : audience.workers) {
            each->post([id, agent](worker::worker& on) { on.handler().set_agent(id, agent); });
        }
        agent = agent && agent->record.disabled ? nullptr : std::move(agent);
        const auto* const known = audience.registry.find(id);
        const bool contained = known != nullptr && known->contained;
        for (auto* const each : audience.planes) {
            tell(*each, id, agent, contained);
        }
    });
    audience.cards.set_pathfinder([audience](const std::string& id, const model::call_route& route) {
        audience.registry.route(id, route);
    });
    audience.sessions.set_fallback_observer([audience](const std::string& id, bool fell_back) {
        audience.registry.set_fell_back(id, fell_back);
    });
    const auto there = reached(now, audience.registry);
    for (auto* const each : audience.planes) {
        each->set_agents(there);
        contain_kept(*each, audience.registry);
    }
}

std::shared_ptr<const model::agent_entry> served_agent(const management::registry& registry, const std::string& id)
{
    const auto* agent = registry.find(id);
    return agent != nullptr && agent->reached() ? agent->entry : nullptr;
}

bundles::bundle_plane::agent_source agents_of_bundles(const management::registry& registry)
{
    return {
        [&registry] {
            bundles::bundle_plane::agent_map out;
            for (const auto& [id, each] : registry.all()) {
                if (each.served()) {
                    out.emplace_hint(out.end(), id, each.entry);
                }
            }
            return out;
        },
        [&registry](const std::string& id) {
            const auto* const agent = registry.find(id);
            return agent != nullptr && agent->served() ? agent->entry : nullptr;
        }
    };
}

std::unique_ptr<tokens::token_plane>
make_token_plane(net::loop& control, net::fetcher& fetcher, management::registry& registry, const core::logger& log)
{
    return std::make_unique<tokens::token_plane>(
        control.timers(),
        tokens::token_services{
            fetcher,
            control.get_executor(),
            log,
            std::chrono::steady_clock::now,
            any_fraction(),
            [&registry](const std::string& id, const core::secret& token) { registry.set_token(id, token); },
            served_by(registry)
        }
    );
}

std::unique_ptr<push::push_plane>
make_push_plane(net::loop& control, push_sources from, const config::settings& settings)
{
    return std::make_unique<push::push_plane>(
        control.timers(),
        push::push_services{
            from.fetcher,
            control.get_executor(),
            from.log,
            push::deliveries_in(from.store),
            std::chrono::steady_clock::now,
            std::chrono::system_clock::now,
            any_fraction(),
            jose::system_random,
            served_by(from.registry),
            &from.long_bodies
        },
        settings
    );
}

void sign_deliveries(
    push::push_plane& deliveries,
    std::shared_ptr<const cards::card_signer> signer,
    std::string public_base
)
{
    const auto thread = std::make_shared<threads::side_thread>();
    deliveries.set_signer(
        [thread, signer = std::move(signer), base = std::move(public_base)](std::string body, std::string id) {
            return thread->ask<core::result<std::string>>([signer, base, body = std::move(body), id = std::move(id)] {
                return signer->detached_signature(body, id, base);
            });
        }
    );
}

core::result<> load_all(
    management::containment_table& contained,
    management::registry& registry,
    push::push_plane& deliveries,
    store::engine& records,
    const std::vector<store::kept_document>& unwritten
)
{
    auto loaded = contained.load(records, unwritten);
    if (loaded) {
        loaded = registry.load();
    }
    return loaded ? deliveries.load(records) : loaded;
}

void supply_tokens(tokens::token_plane& from, cards::card_source& cards, sessions::session_plane& sessions)
{
    const auto supply = [&from](std::string id, core::secret refused) {
        return from.token(std::move(id), std::move(refused));
    };
    cards.set_tokens(supply);
    sessions.set_tokens(supply);
}

}  // namespace gateway::wiring
