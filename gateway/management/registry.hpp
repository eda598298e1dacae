// Which agents there are: those that the configuration declares, and those that came through the management API and live
// in the store. On the control loop's thread.
#pragma once

#include "config/agents.hpp"
#include "config/problem.hpp"
#include "config/settings.hpp"
#include "core/error.hpp"
#include "core/json/json.hpp"
#include "core/log.hpp"
#include "core/secret.hpp"
#include "gateway/management/agent_factory.hpp"
#include "gateway/model/audit_trail.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/threads/store_thread.hpp"
#include "gateway/threads/turns.hpp"
#include "net/loop/types.hpp"
#include "store/engine.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::management {

struct registered_agent {
    std::shared_ptr<const model::agent_entry> entry;  // of one with problems: its id and nothing else
    std::uint64_t version = 0;                        // in the store; 0: declared by the configuration
    core::wall_time written{};
    std::vector<config::problem> problems;  // not empty: it was stored under other circumstances, and is not served
    bool contained = false;                 // by an operator: workers refuse its calls, and no plane has it

    bool declared() const noexcept { return version == 0; }
    bool served() const noexcept { return problems.empty() && !entry->record.disabled; }
    // Planes have it: it is served, and gets requests of the gateway's own.
    bool reached() const noexcept { return served() && !contained; }
    // Workers know of it: it is served, or it is disabled, which they tell nobody but the log.
    bool published() const noexcept { return problems.empty(); }
};

// How the registry uses a store that replicas share: apply() gets what each replica writes, and what this one writes.
struct shared_writes {
    // Returns once the change of this version has come, or when it takes too long.
    std::function<net::task<>(std::uint64_t version)> applied;
    // Returns once all that was written before has come. Fails with store_unreachable.
    std::function<net::task<core::result<>>()> refreshed;
};

class registry {
public:
    // By id, which is the order of lists.
    using agents = std::map<std::string, registered_agent, std::less<>>;
    using publisher = std::function<void(const std::string& id, std::shared_ptr<const model::agent_entry> agent)>;

    // References outlive the registry.
    registry(
        const config::settings& settings,
        threads::store_thread& store,
        const core::logger& log,
        threads::turns& by
    );

    // Declared agents, then stored ones; before anything is asked of the store's thread. Fails with config_invalid for
    // a declared agent that cannot be used, and with store_failed. A stored agent that cannot be used stays, unserved.
    core::result<> load();

    const agents& all() const noexcept { return agents_; }
    const registered_agent* find(std::string_view id) const;
    bool durable() const noexcept { return store_.durable(); }

    // All that are served.
    std::shared_ptr<const model::snapshot> take_snapshot(std::string public_base) const;

    // Before load(): as agent_factory::set_bridge().
    void set_bridge(std::function<core::descriptor()> dial) { factory_.set_bridge(std::move(dial)); }

    // Before load(): as agent_factory::set_pins().
    void set_pins(std::function<entry_pins(const core::agent&)> from) { factory_.set_pins(std::move(from)); }

    // The function of set_pins() may say something else of this agent than before.
    void renew_pins(const std::string& id);

    // The gateway's keys in snapshots.
    void set_key_set(std::shared_ptr<const model::card_bytes> keys) { key_set_ = std::move(keys); }

    // From now on every change of what is published goes here; null: it is published no more.
    void set_publisher(publisher publish) { publish_ = std::move(publish); }

    // From now on an agent of this id, be it there or not, is contained, or no longer is. What is published hears of it.
    void set_contained(const std::string& id, bool contained);

    // From now on changes of agents are noted there; it outlives the registry.
    void set_audit(const model::audit_trail& audit) noexcept { audit_ = &audit; }
    const model::audit_trail* audit() const noexcept { return audit_; }

    // The agent that would be written, as agent_factory::propose() makes it.
    proposed_agent propose(std::string_view id, const core::json& definition, std::string_view path)
    {
        return factory_.propose(id, definition, path);
    }

    // Returns the new version, once it is on disk and served. Fails with agent_read_only, version_conflict, store_full,
    // store_failed; nothing is changed then, unless the configuration came to declare the agent meanwhile: it is
    // agent_read_only, and stored beneath.
    net::task<core::result<std::uint64_t>> upsert(std::string id, proposed_agent agent, store::author by);

    // Likewise; the version of the removal. Fails with agent_not_found too.
    net::task<core::result<std::uint64_t>> remove(std::string id, store::author by);

    // From now on calls of this agent go there; without a URL: to its own. What cannot be called stays as it is.
    void route(const std::string& id, const model::call_route& to);

    // From now on calls of this agent carry this token of its OAuth server; empty: they wait for one.
    void set_token(const std::string& id, const core::secret& token);

    // From now on callers of this MCP server reach it over HTTP+SSE, or over streamable HTTP again.
    void set_fell_back(const std::string& id, bool fell_back);

    // Applies a new configuration: `there` are the agents that are new or different in it, `gone` those that it no
    // longer has. One that hides a stored agent, or no longer does, is what a start would make of it. Fails with
    // config_invalid if an agent cannot be used; nothing is changed then. Else agents change one after the other, in turns:
    // what else happens meanwhile finds some of them changed. `files_changed`: the agents' TLS files are read again.
    net::task<core::result<>>
    declare(std::vector<core::agent> there, std::vector<std::string> gone, bool files_changed = false);

    // From now on the store is shared: what upsert() and remove() write is served once it has come to apply().
    void set_shared(shared_writes writes) { shared_ = std::move(writes); }

    // Returns once what others have written before has come. Fails with store_unreachable.
    net::task<core::result<>> refresh();

    bool is_shared() const noexcept { return static_cast<bool>(shared_.applied); }

    // A change in the store, in the order of their versions. `now`: what the agent is in the store, perhaps by a later change; null: it is
    // gone. `own`: this process has written it, so that it has the line of the change.
    void apply(const store::change& change, const store::record* now, bool own);

    // These are all agents of the store, however they came to be. In turns.
    net::task<> apply_all(std::shared_ptr<const std::vector<store::record>> all);

    // The stored record of an agent, also of one that a declared agent hides; nothing: it has none.
    net::task<core::result<std::optional<store::record>>> stored(std::string id);

    // The audit trail behind `after`, oldest first.
    net::task<core::result<std::vector<store::change>>> changes(std::uint64_t after, std::size_t most);

private:
    void take_declared(std::shared_ptr<const model::agent_entry> entry);
    // In these the lack of `by` means that another process has noted the change.
    void adopt(const store::record& record, const config::tls_checks& checks, std::optional<std::string_view> by);
    void take(const std::string& id, registered_agent agent, std::optional<std::string_view> by);
    bool remake(const std::string& id, const model::call_route& to, const core::secret& token);
    void drop(const std::string& id, std::optional<std::string_view> by);
    void end_write(const std::string& id, const model::agent_entry& of);
    void apply_one(const store::record& record, const config::tls_checks& checks);
    net::task<core::error> refused(std::string id, core::error why);
    core::result<> may_write(const std::string& id) const;
    void hide(const std::string& id);
    net::task<std::vector<store::record>> hidden_among(std::vector<std::string> ids);
    net::task<> look_again(std::string id, core::error why);

    const config::settings& settings_;
    threads::store_thread& store_;
    const core::logger& log_;
    threads::turns& turns_;
    publisher publish_;
    const model::audit_trail* audit_ = nullptr;  // null: nowhere
    std::shared_ptr<const model::card_bytes> key_set_;
    agent_factory factory_;
    agents agents_;
    std::set<std::string> hidden_;  // in the store, and declared by the configuration
    std::set<std::string> contained_;
    shared_writes shared_;  // empty: this process has the store for itself
    // Agents whose write to a shared store is under way, or has an unknown outcome; the latest of an id.
    struct own_write {
        std::shared_ptr<const model::agent_entry> entry;
        std::string definition;
        std::string who;

        bool is(const store::record& record) const { return record.definition == definition; }
    };
    std::map<std::string, own_write> writing_;
};

// True: the next one is wanted.
using agent_visitor = std::function<bool(const std::string& id, const registered_agent& agent)>;

// Visits the agents behind `after` in the order of their ids, each once, in turns, until `left` says that nobody waits for it.
// Between two turns agents may come and go: one that is there all the time is visited. Gives whether agents follow the one
// at which the visitor had enough. References outlive the walk.
net::task<bool>
walk_agents(const registry& agents, threads::turns& by, std::string after, agent_visitor each, std::stop_token left);

}  // namespace gateway::management
