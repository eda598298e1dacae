#include "gateway/tokens/token_source.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace gateway::tokens {
namespace {

using core::errc;

core::error no_token(std::string why)
{
    return core::upstream_error(errc::upstream_credentials, std::move(why));
}

}  // namespace

token_source::token_source(
    std::string agent,
    core::oauth_client client,
    const token_services& services,
    std::function<void()> ended
)
    : agent_{std::move(agent)},
      client_{std::move(client)},
      services_{services},
      ended_{std::move(ended)},
      next_{services.now()}
{
}

core::steady_time token_source::due() const noexcept
{
    if (stopped_) {
        return core::steady_time::max();
    }
    const auto ends = token_.empty() ? core::steady_time::max() : until_;
    return std::min(ends, asking_ ? core::steady_time::max() : next_);
}

void token_source::wake()
{
    const auto now = services_.now();
    if (stopped_) {
        return;
    }
    if (!asking_ && now >= next_) {
        begin();
    }
    if (!token_.empty() && now >= until_) {
        token_ = {};
        tell();
    }
}

net::task<core::result<core::secret>> token_source::token(core::secret refused)
{
    const auto self = shared_from_this();
    const auto now = services_.now();
    const bool replace = !refused.empty() && refused == token_;
    if (!token_.empty() && !replace && now < until_) {
        co_return token_;
    }
    if (replace && !asking_) {
        if (now < replaces_from_) {
            co_return no_token("the agent refuses one token after the other");
        }
        replaces_from_ = now + pause_between_refusals;
        next_ = std::min(next_, now);
    }
    wake();
    if (asking_ && waiting_.size() >= most_waiting) {
        co_return no_token("too many calls wait for a token");
    }
    if (asking_) {
        co_await waiting_.wait();
    }
    if (token_.empty() || token_ == refused) {
        co_return no_token("the agent's OAuth server gives no token");
    }
    co_return token_;
}

token_facts token_source::facts() const
{
    token_facts facts{.age = {}, .renewed = renewed_, .failed = failed_};
    if (!token_.empty()) {
        facts.age = std::chrono::duration_cast<core::duration>(services_.now() - since_);
    }
    return facts;
}

void token_source::begin()
{
    asking_ = true;
    net::asio::co_spawn(services_.where, run(shared_from_this()), net::asio::detached);
}

net::task<> token_source::run(std::shared_ptr<token_source> source)
{
    core::result<granted_token> outcome = no_token("could not be asked for");
    try {
        outcome = co_await source->ask();
    } catch (const std::exception& thrown) {
        outcome = no_token(thrown.what());
    }
    source->end(std::move(outcome));
}

net::task<core::result<granted_token>> token_source::ask()
{
    auto request = token_request(client_);
    const auto answer = co_await services_.fetcher.fetch(std::move(request));
    if (!answer) {
        const auto& why = answer.error();
        co_return no_token(std::string{"token endpoint: "}.append(core::name(why.code)) + ": " + why.detail);
    }
    co_return read_token(*answer);
}

void token_source::end(core::result<granted_token> outcome)
{
    const auto now = services_.now();
    asking_ = false;
    if (!stopped_) {
        log_outcome(outcome);
    }
    failing_ = !outcome;
    if (outcome) {
        ++renewed_;
        token_ = std::move(outcome->text);
        since_ = now;
        until_ = now + outcome->life;
        const auto part = 1.0 - most_early * services_.random();
        const auto renewal = std::chrono::duration_cast<core::duration>(renewal_after(outcome->life) * part);
        next_ = now + std::max<core::duration>(renewal, pause_between_tokens);
        pause_ = first_pause;
    } else {
        ++failed_;
        next_ = now + pause_;
        pause_ = std::min<core::duration>(pause_ * 2, longest_pause);
    }
    std::exception_ptr bug;
    try {
        if (!failing_ && !stopped_) {
            tell();
        }
    } catch (...) {
        bug = std::current_exception();
    }
    if (!stopped_) {
        ended_();
    }
    waiting_.wake();
    if (bug) {
        std::rethrow_exception(bug);
    }
}

// Calls that have tokens of their callers never have the gateway's own.
void token_source::tell() const
{
    if (client_.grant == core::oauth_grant::client_credentials) {
        services_.publish(agent_, token_);
    }
}

// Only what changes: a server that is down is not a line for every attempt.
void token_source::log_outcome(const core::result<granted_token>& outcome) const
{
    if (!outcome && !failing_) {
        const auto& why = outcome.error().detail;
        services_.log.write(core::log_level::warn, "agent_token_failed", {{"agent", agent_}, {"reason", why}});
    } else if (outcome && failing_) {
        services_.log.write(core::log_level::info, "agent_token_recovered", {{"agent", agent_}});
    }
}

}  // namespace gateway::tokens
