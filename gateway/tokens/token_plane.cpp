#include "gateway/tokens/token_plane.hpp"

#include "gateway/model/agent_record.hpp"
#include "gateway/telemetry/metric_family.hpp"

#include <utility>

namespace gateway::tokens {

token_plane::token_plane(net::deadlines& by, token_services services)
    : services_{std::move(services)}
{
    by.add(*this);
}

void token_plane::set_agents(const std::shared_ptr<const model::snapshot>& now)
{
    for (const auto& [id, agent] : now->agents) {
        take(id, agent);
    }
    on_sweep(services_.now());
}

void token_plane::set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
    if (const auto source = take(id, agent)) {
        source->wake();
        arrange(id);
    }
}

// The new source of the agent, if it has one, which has asked for nothing yet.
std::shared_ptr<token_source>
token_plane::take(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
    const auto* client = agent == nullptr ? nullptr : model::oauth_client_of(agent->record);
    const auto there = sources_.find(id);
    if (there != sources_.end()) {
        if (client != nullptr && there->second.source->client() == *client) {
            return nullptr;
        }
        drop(there);
    }
    if (client == nullptr || stopped_) {
        return nullptr;
    }
    auto source = std::make_shared<token_source>(id, *client, services_, [this, id] { arrange(id); });
    auto callers =
        model::exchanges_tokens(agent->record) ? std::make_shared<token_exchanger>(id, *client, services_) : nullptr;
    sources_.emplace(id, kept_source{source, std::move(callers), {}});
    arrange(id);
    return source;
}

// Puts the agent where its time comes next.
void token_plane::arrange(const std::string& id)
{
    const auto there = sources_.find(id);
    if (there == sources_.end()) {
        return;
    }
    auto& kept = there->second;
    due_.erase({kept.due, id});
    kept.due = kept.source->due();
    if (kept.due != net::never) {
        due_.emplace(kept.due, id);
    }
}

void token_plane::drop(sources::iterator place)
{
    end(place->second);
    due_.erase({place->second.due, place->first});
    sources_.erase(place);
}

void token_plane::end(const kept_source& kept) noexcept
{
    kept.source->stop();
    if (kept.callers) {
        kept.callers->stop();
    }
}

net::task<core::result<core::secret>> token_plane::token(std::string id, core::secret refused)
{
    const auto there = sources_.find(id);
    if (there == sources_.end()) {
        co_return core::upstream_error(core::errc::upstream_credentials, "the agent has no OAuth server");
    }
    const auto source = there->second.source;
    auto token = co_await source->token(std::move(refused));
    co_return token;
}

net::task<std::shared_ptr<const model::agent_entry>> token_plane::agent(std::string id, core::secret refused)
{
    auto asked = token(id, std::move(refused));
    const auto found = co_await std::move(asked);
    auto entry = found ? services_.find(id) : nullptr;
    const bool has_it = entry != nullptr && entry->token == *found;
    co_return has_it ? std::move(entry) : nullptr;
}

net::task<core::result<model::exchanged_token>> token_plane::exchange(model::exchange_request asked)
{
    const auto there = sources_.find(asked.agent);
    const auto callers = there == sources_.end() ? nullptr : there->second.callers;
    if (!callers || callers->client() != asked.client) {
        co_return core::upstream_error(core::errc::upstream_credentials, "the agent's credentials have changed");
    }
    auto exchanged = callers->token(std::move(asked));
    auto outcome = co_await std::move(exchanged);
    co_return outcome;
}

std::optional<token_facts> token_plane::facts(const std::string& id) const
{
    const auto there = sources_.find(id);
    if (there == sources_.end()) {
        return std::nullopt;
    }
    auto facts = there->second.source->facts();
    if (const auto& callers = there->second.callers) {
        facts.renewed += callers->exchanged();
        facts.failed += callers->failed();
    }
    return facts;
}

void token_plane::stop() noexcept
{
    stopped_ = true;
    for (const auto& [id, kept] : sources_) {
        end(kept);
    }
    due_.clear();
}

void token_plane::on_sweep(core::steady_time /*now*/)
{
    // Thousands of agents may have got their tokens together.
    constexpr unsigned most_at_once = 32;
    const auto now = services_.now();
    for (unsigned begun = 0; begun < most_at_once && !due_.empty() && due_.begin()->first <= now; ++begun) {
        const auto id = due_.begin()->second;
        due_.erase(due_.begin());
        if (const auto there = sources_.find(id); there != sources_.end()) {
            there->second.source->wake();
            arrange(id);
        }
    }
}

void token_plane::collect(telemetry::metrics& into) const
{
    into.add_agents(telemetry::metric("cardea_agent_token_refreshes_total"), [this](auto& family, const auto& id) {
        if (const auto known = facts(id)) {
            family.add_some({{"agent", id}, {"outcome", "ok"}}, known->renewed);
            family.add_some({{"agent", id}, {"outcome", "failed"}}, known->failed);
        }
    });
    into.add_agents(telemetry::metric("cardea_agent_token_age_seconds"), [this](auto& family, const auto& id) {
        if (const auto known = facts(id); known && known->age) {
            family.add({{"agent", id}}, telemetry::seconds(*known->age));
        }
    });
}

}  // namespace gateway::tokens
