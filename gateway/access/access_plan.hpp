// The access settings, prepared for requests: how a credential is found, whose it is, what a refused caller is told, and the
// policies of agents. Immutable, so that all workers share one; any thread.
#pragma once

#include "core/access.hpp"
#include "core/agent.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/access/credential_reader.hpp"
#include "gateway/model/accepted_credential.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gateway::access {

class access_plan {
public:
    // Null: the settings have no provider and there is no `before`: callers need no credential.
    // With `before`, nobody is allowed what that plan does not allow too: for the time between two configurations, when the
    // agents of one may meet the policies of the other.
    static std::shared_ptr<const access_plan>
    make(const core::access_settings& settings, std::shared_ptr<const access_plan> before = nullptr);

    const credential_reader& reader() const noexcept { return reader_; }

    // Whose credential it is. Fails with unauthenticated. nullopt: it may be a token whose signature has to be checked.
    std::optional<core::result<model::accepted_credential>> judge(const credential& found, core::wall_time now) const;

    // Header lines of a 401, one WWW-Authenticate for each provider. `refused`: a credential was sent.
    const std::string& challenges(bool refused) const noexcept { return refused ? refusals_ : challenges_; }

    // Who may know of the agent, and who may call it: as its record says, else as the first rule for it says, else nobody.
    const core::access_policy& discover(const core::agent& agent) const;
    const core::access_policy& call(const core::agent& agent) const;

    // Whether they allow it; `caller` is null for an anonymous one, `method` as allows() has it.
    bool may_discover(const core::agent& agent, const core::principal* caller) const;
    bool may_call(const core::agent& agent, const core::principal* caller, std::string_view method) const;
    bool may_call_somehow(const core::agent& agent, const core::principal* caller) const;

private:
    access_plan(const core::access_settings& settings, std::shared_ptr<const access_plan> before);

    struct known_token {
        std::string digest;
        std::shared_ptr<const core::principal> owner;
    };

    struct known_key {
        const key_field* field;
        std::optional<core::wall_time> expires;
        bool disabled;
        std::shared_ptr<const core::principal> owner;
    };

    void add(const core::access_provider& provider);
    void challenge(const std::string& scheme, const core::access_provider& provider, const std::string& parameters);
    core::result<model::accepted_credential> judge_key(const credential& found, core::wall_time now) const;
    const core::access_policy&
    rule_for(std::string_view id, std::optional<core::access_policy> core::access_default::* policy) const;

    credential_reader reader_;
    std::vector<known_token> tokens_;
    std::unordered_map<std::string, known_key> keys_;  // by the SHA-256 of the key, in hex
    bool reads_tokens_ = false;                        // whose signature has to be checked
    std::string challenges_;
    std::string refusals_;
    std::vector<core::access_default> rules_;
    std::shared_ptr<const access_plan> before_;  // null: nothing but this plan counts
};

}  // namespace gateway::access
