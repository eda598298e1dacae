// The tokens of all agents whose credentials come from an OAuth server. On the control loop's thread.
#pragma once

#include "core/error.hpp"
#include "core/secret.hpp"
#include "gateway/model/plane.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/tokens/token_exchanger.hpp"
#include "gateway/tokens/token_source.hpp"
#include "net/loop/deadlines.hpp"
#include "net/loop/types.hpp"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace gateway::tokens {

class token_plane final : public net::timed, public model::plane {
public:
    // Everything that the services refer to outlives the plane and the loop, and so does the plane the tasks of its sources. `by` calls
    // on_sweep().
    token_plane(net::deadlines& by, token_services services);

    // Begins to ask for tokens of an agent that needs some; null: it is gone. One whose OAuth client is the same keeps its token.
    void set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent) override;
    // If many come together, agents that calls wait for ask for theirs at once, the others one after the other.
    void set_agents(const std::shared_ptr<const model::snapshot>& now) override;

    // Works as token_source::token(). Fails with upstream_credentials also for an agent that needs no token.
    net::task<core::result<core::secret>> token(std::string id, core::secret refused);

    // The agent with such a token; null: it has none, or is not served.
    net::task<std::shared_ptr<const model::agent_entry>> agent(std::string id, core::secret refused);

    // For a caller of the agent: as token_exchanger::token(). Fails with upstream_credentials also for an agent that has another
    // client now, or exchanges no tokens.
    net::task<core::result<model::exchanged_token>> exchange(model::exchange_request asked);

    // With what its callers' tokens were exchanged for. Nothing: the agent needs no token.
    std::optional<token_facts> facts(const std::string& id) const;

    void collect(telemetry::metrics& into) const override;

    // Before the fetcher ends: nothing is asked any more.
    void stop() noexcept override;

    void on_due() override {}
    void on_sweep(core::steady_time now) override;

private:
    struct kept_source {
        std::shared_ptr<token_source> source;
        std::shared_ptr<token_exchanger> callers;  // null: calls have the token of the source
        core::steady_time due{};                   // its place in due_
    };
    using sources = std::map<std::string, kept_source, std::less<>>;

    std::shared_ptr<token_source> take(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent);
    void arrange(const std::string& id);
    void drop(sources::iterator place);
    static void end(const kept_source& kept) noexcept;

    token_services services_;
    sources sources_;
    std::set<std::pair<core::steady_time, std::string>> due_;
    bool stopped_ = false;
};

}  // namespace gateway::tokens
