// The snapshot of one worker: what the control loop published, kept current agent by agent and card by card. One thread.
#pragma once

#include "gateway/model/containments.hpp"
#include "gateway/model/published_card.hpp"
#include "gateway/model/push_addresses.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/request/route.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::request {

struct known_agent {
    std::shared_ptr<const model::agent_entry> entry;
    std::shared_ptr<const model::published_card> card;  // null: none was published
    mutable bool refresh_asked = false;                 // of the control loop, once for each card: an answer with it
};

class local_snapshot {
public:
    // Null: no such agent. The pointer holds until the next change, so not across a co_await.
    const known_agent* find(std::string_view id) const;

    // A request has one agent but asks for it in several phases: while nothing changes, it is looked up once.
    const known_agent* find(std::string_view id, cached_lookup& last) const
    {
        if (last.version != version_) {
            last = {find(id), version_};
        }
        return last.agent;
    }

    // The agent that has this name, in lower case, among its own `hosts`; null: none has.
    const known_agent* find_by_host(std::string_view name) const;
    bool has_hosts() const noexcept { return !hosts_.empty(); }

    // Whether any agent has this name, also one that is disabled.
    bool knows_host(std::string_view name) const { return hosts_.contains(name); }

    // A disabled agent, for the log: callers hear of it what they hear of one that does not exist. Null: there is none.
    std::shared_ptr<const model::agent_entry> find_disabled(std::string_view id) const;
    std::shared_ptr<const model::agent_entry> find_disabled_by_host(std::string_view name) const;

    const std::string& public_base() const noexcept { return public_base_; }
    const std::shared_ptr<const model::card_bytes>& key_set() const noexcept { return key_set_; }  // null: none

    // Changes with everything that a list of the agents shows; never 0.
    std::uint64_t version() const noexcept { return version_; }

    // Null: none have been set.
    const std::shared_ptr<const model::push_addresses>& push_addresses() const noexcept { return push_addresses_; }
    void set_push_addresses(std::shared_ptr<const model::push_addresses> addresses)
    {
        push_addresses_ = std::move(addresses);
    }

    // Null: nothing is contained.
    const model::containments_pointer& containments() const noexcept { return containments_; }
    void set_containments(model::containments_pointer now) { containments_ = std::move(now); }

    // Agents of the previous snapshot keep their cards.
    void replace(const model::snapshot& snapshot);
    // Null: it is gone.
    void set_agent(const std::string& id, std::shared_ptr<const model::agent_entry> entry);
    void set_card(const std::string& id, std::shared_ptr<const model::published_card> card);

private:
    void move_hosts(const std::string& id, const model::agent_entry* before, const model::agent_entry* now);

    model::string_map<known_agent> agents_;
    model::string_map<std::shared_ptr<const model::agent_entry>> disabled_;
    model::string_map<std::string> hosts_;  // ids
    std::shared_ptr<const model::card_bytes> key_set_;
    std::shared_ptr<const model::push_addresses> push_addresses_;
    model::containments_pointer containments_;
    std::string public_base_;
    std::uint64_t version_ = 1;
};

}  // namespace gateway::request
