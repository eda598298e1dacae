// The tokens of one agent that stand for those of its callers (RFC 8693): asked for once, however many requests of a caller
// wait, and kept while they hold. A refusal is kept for a while too, so that the OAuth server is not flooded. Control loop.
#pragma once

#include "core/agent_credentials.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/model/credential_checks.hpp"
#include "gateway/tokens/token_request.hpp"
#include "gateway/tokens/token_source.hpp"
#include "net/loop/types.hpp"
#include "net/loop/waiting_tasks.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

namespace gateway::tokens {

inline constexpr std::chrono::seconds refusal_holds{10};  // of a caller's token
inline constexpr std::chrono::seconds failure_holds{1};   // of the server itself

// Held by shared_ptr: an exchange goes on when whoever began it has left.
class token_exchanger : public std::enable_shared_from_this<token_exchanger> {
public:
    static constexpr std::size_t most_kept = 1024;     // answers; over that the one goes that ends first
    static constexpr std::size_t most_exchanges = 64;  // under way
    static constexpr std::size_t most_waiting = 256;   // requests that wait for their answers

    // Largest part of each of these for one principal, so that others find a place.
    static constexpr std::size_t share(std::size_t all) noexcept { return all / 2; }

    using answer = core::result<model::exchanged_token>;

    token_exchanger(std::string agent, core::oauth_client client, const token_services& services);
    token_exchanger(const token_exchanger&) = delete;
    token_exchanger& operator=(const token_exchanger&) = delete;

    const core::oauth_client& client() const noexcept { return client_; }

    // For whose token it is, and nobody else. Of refusals of the agent within pause_between_refusals only the first one makes
    // the exchanger ask for another.
    // Fails with forbidden, upstream_credentials, and with overloaded over the limits.
    net::task<answer> token(model::exchange_request asked);

    // Tokens that were given, and questions that the server did not answer; a caller whom it refuses is no failure.
    std::uint64_t exchanged() const noexcept { return exchanged_; }
    std::uint64_t failed() const noexcept { return failed_; }

    // Nothing is asked any more.
    void stop() noexcept { stopped_ = true; }

private:
    struct exchange {
        std::string principal;              // who began it first
        std::optional<answer> outcome;      // nothing: the first is under way
        core::steady_time until{};          // from then on it does not hold
        core::steady_time replaces_from{};  // before, it is not replaced if the agent refuses it
        bool under_way = false;
        net::waiting_tasks waiting;
    };

    std::optional<answer> kept(const exchange& about, const model::exchange_request& asked) const;
    bool has_place(const std::string& principal, bool begins) const;
    void make_room(const std::string& principal);
    static net::task<>
    run(std::shared_ptr<token_exchanger> self, std::shared_ptr<exchange> about, model::exchange_request asked);
    net::task<core::result<granted_token>> ask(model::exchange_request asked);
    void end(exchange& about, core::result<granted_token> outcome);

    std::string agent_;
    core::oauth_client client_;
    const token_services& services_;
    std::unordered_map<std::string, std::shared_ptr<exchange>> exchanges_;  // by the SHA-256 of the caller's token
    std::size_t under_way_ = 0;
    std::size_t waiting_ = 0;
    std::uint64_t exchanged_ = 0;
    std::uint64_t failed_ = 0;
    bool failing_ = false;  // the server did not answer the last question
    bool stopped_ = false;
};

}  // namespace gateway::tokens
