#include "gateway/tokens/token_plane.hpp"

#include "gateway/model/sent_credentials.hpp"

#include <utility>

namespace gateway::tokens {

token_plane::token_plane(net::deadlines& by, token_services services)
    : services_{std::move(services)}
{
    by.add(*this);
}

void token_plane::set_agents(const model::snapshot& now)
{
    for (const auto& [id, agent] : now.agents) {
        set_agent(id, agent);
    }
}

void token_plane::set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
    const auto* client = agent == nullptr ? nullptr : model::oauth_client_of(agent->record);
    const auto there = sources_.find(id);
    if (there != sources_.end()) {
        if (client != nullptr && there->second.source->client() == *client) {
            return;
        }
        drop(there);
    }
    if (client == nullptr || stopped_) {
        return;
    }
    auto source = std::make_shared<token_source>(id, *client, services_, [this, id] { arrange(id); });
    source->wake();
    sources_.emplace(id, kept_source{std::move(source), {}});
    arrange(id);
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
    place->second.source->stop();
    due_.erase({place->second.due, place->first});
    sources_.erase(place);
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

std::optional<token_facts> token_plane::facts(const std::string& id) const
{
    const auto there = sources_.find(id);
    return there == sources_.end() ? std::nullopt : std::optional{there->second.source->facts()};
}

void token_plane::stop() noexcept
{
    stopped_ = true;
    for (const auto& [id, kept] : sources_) {
        kept.source->stop();
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

}  // namespace gateway::tokens
