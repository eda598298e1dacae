// The tokens of one agent from its OAuth server: asked for by one task at a time, however many wait; renewed before they end;
// and used to their end when there is no next one. Control loop.
#pragma once

#include "core/agent_credentials.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "core/secret.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/tokens/token_request.hpp"
#include "net/client/fetch.hpp"
#include "net/loop/types.hpp"
#include "net/loop/waiting_tasks.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace gateway::tokens {

// Outlives the sources.
struct token_services {
    net::fetcher& fetcher;
    net::executor where;
    const core::logger& log;
    std::function<core::steady_time()> now;
    std::function<double()> random;  // from [0, 1)
    // Told each token of an agent that its calls have, and an empty one when the last has ended.
    std::function<void(const std::string& agent, const core::secret& token)> publish;
    // The agent as it is served now; null: it is not.
    std::function<std::shared_ptr<const model::agent_entry>(const std::string& agent)> find;
};

struct token_facts {
    std::optional<core::duration> age;  // of the token in use; nothing: there is none
    std::uint64_t renewed = 0;
    std::uint64_t failed = 0;
};

// By up to this part of its time a token is renewed earlier, at random: what was asked for together is renewed apart.
inline constexpr double most_early = 0.1;
inline constexpr std::chrono::seconds pause_between_tokens{5};     // of a server that gives short ones
inline constexpr std::chrono::seconds pause_between_refusals{10};  // that make the gateway ask for another token
inline constexpr std::chrono::seconds first_pause{1};              // after a failure; twice as long after each
inline constexpr std::chrono::seconds longest_pause{60};
inline constexpr std::size_t most_waiting = 4096;  // for one request; some of them for a call that has given up

// Held by shared_ptr: a request goes on when whoever began it has left.
class token_source : public std::enable_shared_from_this<token_source> {
public:
    // `ended`: called after each request, until stop().
    token_source(
        std::string agent,
        core::oauth_client client,
        const token_services& services,
        std::function<void()> ended
    );
    token_source(const token_source&) = delete;
    token_source& operator=(const token_source&) = delete;

    const core::oauth_client& client() const noexcept { return client_; }

    // When wake() has something to do.
    core::steady_time due() const noexcept;

    // Does what is due: asks for a token, and gives up one that has ended.
    void wake();

    // A token other than `refused`, which the agent did not take; empty: any. Waits for the request under way. Within
    // pause_between_refusals only the first refusal counts. Fails with upstream_credentials, also if too many wait.
    net::task<core::result<core::secret>> token(core::secret refused);

    token_facts facts() const;

    // Nothing is asked any more, and nobody told.
    void stop() noexcept { stopped_ = true; }

private:
    void begin();
    static net::task<> run(std::shared_ptr<token_source> source);
    net::task<core::result<granted_token>> ask();
    void end(core::result<granted_token> outcome);
    void tell() const;
    void log_outcome(const core::result<granted_token>& outcome) const;

    std::string agent_;
    core::oauth_client client_;
    const token_services& services_;
    std::function<void()> ended_;
    core::secret token_;  // empty: there is none
    core::steady_time since_{};
    core::steady_time until_{};          // of the token
    core::steady_time next_{};           // when the next request begins
    core::steady_time replaces_from_{};  // when a refusal counts again
    core::duration pause_{first_pause};
    std::uint64_t renewed_ = 0;
    std::uint64_t failed_ = 0;
    bool asking_ = false;
    bool failing_ = false;  // the last request failed
    bool stopped_ = false;
    net::waiting_tasks waiting_;
};

}  // namespace gateway::tokens
