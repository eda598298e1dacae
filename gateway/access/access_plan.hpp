// The access settings, prepared for requests: how a credential is found, whose it is, what a refused caller is told, and the
// policies of agents. Immutable, so that all workers share one; any thread.
#pragma once

#include "core/access.hpp"
#include "core/agent.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/secret.hpp"
#include "gateway/access/credential_reader.hpp"
#include "gateway/model/credential_checks.hpp"
#include "net/tls/client_certificate.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gateway::access {

// The resource that a request is for: the gateway, one of its agents, be it there or not, or the MCP server that the agent is.
struct protected_resource {
    std::string_view agent;  // the id in the path, or anything else; empty: the gateway
    std::string_view
        below;  // what follows the agent in the path of the resource: model::mcp_path, or nothing; of a bundle its path
    std::string_view host = {};  // a name of the agent's own, where the request came; empty: it came to the gateway's
    const core::agent* record = nullptr;  // of the agent, if there is one
};

class access_plan;
class failure_limit;

// Access plans of a listener.
struct access_plans {
    std::shared_ptr<const access_plan> callers;       // null: no credential
    std::shared_ptr<const access_plan> registration;  // of those that register agents; null: none may
    std::shared_ptr<failure_limit> failures;          // of all workers; not null with a plan
};

class access_plan {
public:
    // Null: the settings have no provider and there is no `before`: callers need no credential.
    // With `before`, nobody is allowed what that plan does not allow too: for the time between two configurations, when the
    // agents of one may meet the policies of the other.
    // `public_base` is the address of the gateway as callers see it.
    static std::shared_ptr<const access_plan> make(
        const core::access_settings& settings,
        std::shared_ptr<const access_plan> before = nullptr,
        std::string public_base = {}
    );

    // For those that register agents: the providers of the settings, and one more that knows `token`, whose owner has the scope
    // cardea:register and is called `register`. It has no policies. Null: nobody can have a credential for that.
    static std::shared_ptr<const access_plan>
    make_for_registration(const core::access_settings& settings, const core::secret& token, std::string public_base);

    const credential_reader& reader() const noexcept { return reader_; }

    // The owner of a credential. Fails with unauthenticated. nullopt: a provider has to be asked, see model::credential_checks::verify().
    std::optional<core::result<model::accepted_credential>> judge(const credential& found, core::wall_time now) const;

    // The owner of a client certificate that the handshake has verified. Null: certificates identify nobody here.
    std::optional<core::result<model::accepted_credential>>
    judge(const net::client_certificate& shown, core::wall_time now) const;

    // Whether the principals of the provider of this name are those of client certificates.
    bool knows_by_certificate(std::string_view provider) const noexcept
    {
        return certificates_ && certificates_->provider == provider;
    }

    // config::exchanged_as() of the provider of this name; empty also if there is none.
    std::string_view exchanged_as(std::string_view provider) const noexcept;

    // Header lines of a 401, one WWW-Authenticate for each provider. `refused`: a credential was sent. The scopes that the rules
    // of the agent need are named only if anyone may know of it: else the answer would tell it from one that does not exist.
    std::string challenges(bool refused, const protected_resource& asked) const;

    // Header lines of a 403: the scopes that the caller lacks, if more of them would help (RFC 6750 section 3.1) and its provider's
    // issuer can give them; empty: not so.
    std::string scope_challenge(
        const protected_resource& asked,
        const core::principal& caller,
        const std::vector<std::string>& scopes
    ) const;

    // To a call of the agent with this method, as missing_scopes() has it.
    std::string scope_challenge(
        const protected_resource& asked,
        const core::principal& caller,
        std::optional<std::string_view> method
    ) const;

    // The metadata of a protected resource (RFC 9728 section 2). nullopt: no provider has an authorization server.
    std::optional<std::string> resource_metadata(const protected_resource& asked) const;

    // Who may know of the agent, and who may call it: as its record says, else as the first rule for it says, else nobody.
    const core::access_policy& discover(const core::agent& agent) const;
    const core::access_policy& call(const core::agent& agent) const;

    // The path of that policy in a configuration: `agents.ID.call`, `access.rules[2].call`; empty: no rule is for the agent.
    std::string discover_path(const core::agent& agent) const;
    std::string call_path(const core::agent& agent) const;

    // Whether they allow it; `caller` is null for an anonymous one, `method` as allows() has it.
    bool may_discover(const core::agent& agent, const core::principal* caller) const;
    bool may_call(const core::agent& agent, const core::principal* caller, std::string_view method) const;
    bool may_call_somehow(const core::agent& agent, const core::principal* caller) const;

private:
    access_plan(
        const core::access_settings& settings,
        std::shared_ptr<const access_plan> before,
        std::string public_base
    );

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

    struct challenge_line {
        std::string text;                                        // without its end
        std::string provider;                                    // its name
        bool is_bearer = false;                                  // RFC 6750
        bool has_server = false;                                 // callers get its tokens from an authorization server
        std::optional<std::string> scope_prefix = std::nullopt;  // nullopt: callers cannot ask for scopes
    };

    struct certificate_rules {
        std::string provider;
        core::certificate_name principal;
    };

    void add(const core::access_provider& provider);
    void add(const core::api_key_provider& keys, const core::access_provider& provider);
    void add_challenge(const std::string& scheme, const core::access_provider& provider, const std::string& parameters);
    void add_metadata_address(std::string& line, const protected_resource& asked) const;
    std::vector<std::string> public_scopes(const protected_resource& asked) const;
    std::optional<core::result<model::accepted_credential>> judge_key(const credential& found, core::wall_time now)
        const;
    using policy_of_rule = std::optional<core::access_policy> core::access_default::*;
    const core::access_policy& rule_for(std::string_view id, policy_of_rule policy) const;
    std::string path_of(const core::agent& agent, policy_of_rule policy, std::string_view key) const;

    credential_reader reader_;
    std::vector<known_token> tokens_;
    std::unordered_map<std::string, known_key> keys_;                     // by the SHA-256 of the key, in hex
    bool asks_about_bearers_ = false;                                     // that are not among tokens_
    std::vector<std::pair<std::string, std::string_view>> exchanged_as_;  // by the provider
    std::vector<const key_field*> asked_fields_;                          // whose credentials may be others than keys_
    std::optional<certificate_rules> certificates_;                       // nullopt: they identify nobody
    std::vector<challenge_line> challenges_;
    std::vector<std::string> servers_;  // authorization servers
    std::string public_base_;
    std::vector<core::access_default> rules_;
    std::shared_ptr<const access_plan> before_;  // null: nothing but this plan counts
};

}  // namespace gateway::access
