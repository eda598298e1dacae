#include "gateway/tokens/token_exchanger.hpp"

#include "jose/digest.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace gateway::tokens {
namespace {

using core::errc;

core::error unavailable(std::string why)
{
    return core::upstream_error(errc::upstream_credentials, std::move(why));
}

}  // namespace

token_exchanger::token_exchanger(std::string agent, core::oauth_client client, const token_services& services)
    : agent_{std::move(agent)},
      client_{std::move(client)},
      services_{services}
{
}

// Nothing: it has to be asked for.
std::optional<token_exchanger::answer>
token_exchanger::kept(const exchange& about, const model::exchange_request& asked) const
{
    const auto now = services_.now();
    if (about.under_way || !about.outcome || now >= about.until) {
        return std::nullopt;
    }
    const auto& outcome = *about.outcome;
    const bool refused = outcome && outcome->text == asked.refused;
    if (!refused) {
        return outcome;
    }
    return now < about.replaces_from ? std::optional<answer>{unavailable("the agent refuses one token after the other")}
                                     : std::nullopt;
}

net::task<token_exchanger::answer> token_exchanger::token(model::exchange_request asked)
{
    const auto self = shared_from_this();
    const auto key = jose::sha256(asked.subject.reveal());
    const auto there = exchanges_.find(key);
    auto about = there == exchanges_.end() ? nullptr : there->second;
    if (auto known = about ? kept(*about, asked) : std::nullopt) {
        co_return std::move(*known);
    }
    const bool begins = !about || !about->under_way;
    if (stopped_) {
        co_return core::gateway_error(errc::draining);
    }
    if (!has_place(asked.principal, begins)) {
        co_return core::gateway_error(errc::overloaded, "too many callers wait for a token of " + agent_);
    }
    if (!about) {
        make_room(asked.principal);
        about = std::make_shared<exchange>();
        about->principal = asked.principal;
        exchanges_.emplace(key, about);
    }
    const auto refused = asked.refused;
    if (begins) {
        if (!refused.empty()) {
            about->replaces_from = services_.now() + pause_between_refusals;
        }
        about->under_way = true;
        ++under_way_;
        net::asio::co_spawn(services_.where, run(self, about, std::move(asked)), net::asio::detached);
    }
    if (about->under_way) {
        ++waiting_;
        co_await about->waiting.wait();
        --waiting_;
    }
    auto outcome = about->outcome.value_or(unavailable("the exchange has no outcome"));
    if (outcome && outcome->text == refused) {
        co_return unavailable("the OAuth server gives the token again that the agent refuses");
    }
    co_return outcome;
}

// Whether one more request of the principal may wait, which begins an exchange or not.
bool token_exchanger::has_place(const std::string& principal, bool begins) const
{
    std::size_t waiting = 0;
    std::size_t under_way = 0;
    for (const auto& [key, each] : exchanges_) {
        if (each->principal == principal) {
            waiting += each->waiting.size();
            under_way += each->under_way ? 1 : 0;
        }
    }
    const bool may_wait = waiting_ < most_waiting && waiting < share(most_waiting);
    return may_wait && (!begins || (under_way_ < most_exchanges && under_way < share(most_exchanges)));
}

void token_exchanger::make_room(const std::string& principal)
{
    const auto is_own = [&](const auto& each) { return each.second->principal == principal; };
    const auto has_share = [&] {
        return static_cast<std::size_t>(std::ranges::count_if(exchanges_, is_own)) >= share(most_kept);
    };
    if (exchanges_.size() < most_kept && !has_share()) {
        return;
    }
    const auto now = services_.now();
    std::erase_if(exchanges_, [now](const auto& each) { return !each.second->under_way && now >= each.second->until; });
    const bool own_goes = has_share();
    if (exchanges_.size() < most_kept && !own_goes) {
        return;
    }
    // There are fewer under way than kept.
    const auto end_of = [&](const auto& each) {
        const bool stays = each.second->under_way || (own_goes && !is_own(each));
        return stays ? core::steady_time::max() : each.second->until;
    };
    exchanges_.erase(std::ranges::min_element(exchanges_, {}, end_of));
}

net::task<> token_exchanger::run(
    std::shared_ptr<token_exchanger> self,
    std::shared_ptr<exchange> about,
    model::exchange_request asked
)
{
    core::result<granted_token> outcome = unavailable("could not be asked for");
    try {
        auto question = self->ask(std::move(asked));
        outcome = co_await std::move(question);
    } catch (const std::exception& thrown) {
        outcome = unavailable(thrown.what());
    }
    self->end(*about, std::move(outcome));
}

net::task<core::result<granted_token>> token_exchanger::ask(model::exchange_request asked)
{
    if (stopped_) {
        co_return core::gateway_error(errc::draining);
    }
    auto request = exchange_request(client_, asked);
    const auto answered = co_await services_.fetcher.fetch(std::move(request));
    if (!answered) {
        const auto& why = answered.error();
        co_return unavailable(std::string{"token endpoint: "}.append(core::name(why.code)) + ": " + why.detail);
    }
    co_return read_exchanged_token(*answered);
}

void token_exchanger::end(exchange& about, core::result<granted_token> outcome)
{
    const auto now = services_.now();
    const bool fails = !outcome && outcome.error().code != errc::forbidden;
    // Only what changes, as token_source does.
    if (fails && !failing_ && !stopped_) {
        const auto& why = outcome.error().detail;
        services_.log.write(core::log_level::warn, "agent_token_failed", {{"agent", agent_}, {"reason", why}});
    } else if (!fails && failing_ && !stopped_) {
        services_.log.write(core::log_level::info, "agent_token_recovered", {{"agent", agent_}});
    }
    failing_ = fails;
    failed_ += fails ? 1 : 0;
    exchanged_ += outcome ? 1 : 0;
    if (outcome) {
        about.until = now + renewal_after(outcome->life);
        about.outcome = model::exchanged_token{std::move(outcome->text), about.until};
    } else {
        about.until = now + (fails ? failure_holds : refusal_holds);
        about.outcome = std::move(outcome).error();
    }
    about.under_way = false;
    --under_way_;
    about.waiting.wake();
}

}  // namespace gateway::tokens
