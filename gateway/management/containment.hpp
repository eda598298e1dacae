// The agents and principals that operators contain (docs/operations/contain.md): which, for how long, and that the store has them. A
// containment holds from the moment it is made, and is written then; a release is written first. What is contained is a matter of ids and
// names alone: it stays so whatever becomes of the agent. On the control loop's thread.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "gateway/management/containment_record.hpp"
#include "gateway/management/registry.hpp"
#include "gateway/model/containments.hpp"
#include "gateway/model/plane.hpp"
#include "gateway/threads/store_thread.hpp"
#include "net/loop/deadlines.hpp"
#include "net/loop/types.hpp"
#include "net/loop/waiting_tasks.hpp"
#include "store/engine.hpp"
#include "store/feed.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::management {

// How the parts of the gateway hear of it. References outlive the table.
struct containment_services {
    net::executor where;
    registry& agents;
    threads::store_thread& store;
    const core::logger& log;
    std::function<core::wall_time()> clock;
    std::function<core::steady_time()> now;
    // From now on these hold, on all loops; returns what that has cut. Null: nothing is contained.
    std::function<net::task<model::cut_counts>(model::containments_pointer now)> publish;
    // Counts what they would cut.
    std::function<net::task<model::cut_counts>(model::containments_pointer these)> count;
};

class containment_table final : public model::plane, public net::timed {
public:
    static constexpr std::size_t most = 1000;           // of agents, and of principals
    static constexpr std::chrono::seconds patience{1};  // with the store, before an answer
    static constexpr std::chrono::seconds retry_pause{1};

    // Before load(): `by` calls on_due().
    containment_table(net::deadlines& by, containment_services services);

    // Takes over the documents of the store, and those that an earlier process could not write; before the registry loads, and before anything
    // is asked of the store's thread. Fails with store_failed if the store cannot say it: then nothing may be served.
    core::result<> load(store::engine& records, const std::vector<store::kept_document>& unwritten);

    // From now on it is contained, with these terms. `durable`: that is on disk. Fails with invalid_params: there are `most` of its kind.
    struct outcome {
        std::optional<containment_order> now{};  // nullopt: it is not contained
        model::cut_counts cut{};
        bool durable = false;
    };
    net::task<core::result<outcome>> contain(contained_subject subject, containment_order order);

    // The outcome that contain() would have; nothing changes.
    net::task<core::result<outcome>> try_to_contain(contained_subject subject, containment_order order);

    // Writes, then lifts. One that was contained again meanwhile stays so. Fails as the store does, and stays contained.
    net::task<core::result<outcome>> release(contained_subject subject, std::string by);

    // All that holds now. Null: nothing is contained.
    model::containments_pointer now() const;

    core::wall_time clock() const { return services_.clock(); }

    // Null: it is not contained by itself.
    const containment_order* find(const contained_subject& subject) const;

    // A principal that is contained, and why: by itself, or through an agent.
    struct contained_principal {
        core::principal_name name;
        const containment_order* order;
        std::string agent;  // empty: by itself
    };
    // Those behind `after`, in the order of their names.
    std::vector<contained_principal> principals(const std::optional<core::principal_name>& after) const;

    // Principals that would be contained with this agent as it is now.
    std::vector<core::principal_name> principals_of(const std::string& agent) const;

    // The ids of those that are contained, also of agents that are not there.
    std::vector<std::string> agents() const;

    // The documents that the store does not have yet.
    std::vector<store::kept_document> unwritten() const;

    // From now on what the store does not have goes there, instead of to the store.
    void set_heir(std::function<void(const store::kept_document& document)> heir);

    // From now on what is contained goes there, too: to an earlier process that still drains.
    void set_predecessor(std::function<void(const store::kept_document& document)> predecessor);

    // Takes over what replicas have kept in the store that they share, this one too; with a reload there are no others. It is theirs to log
    // and to write. What the store has lost, and nobody has dropped, is written again. False: something of it has changed here since `began`, and is wanted again.
    bool
    learn_kept(const std::vector<store::document_change>& documents, store::feed_reload why, core::steady_time began);

    // Takes over a document that another process passes on, as if this one had contained it; with an heir it is the heir's to write.
    void learn(const store::kept_document& document);

    void set_agents(const std::shared_ptr<const model::snapshot>& now) override;
    void contain(const std::string& id) override;
    void collect(telemetry::metrics& into) const override;
    void stop() override;
    bool busy() const noexcept override { return under_way_ > 0; }

    // Ends what has come to its end, and writes what is not written.
    void on_due() override;

private:
    struct entry {
        containment_record record;
        std::uint64_t act = 0;       // of the operator, which made it what it is
        std::uint64_t revision = 0;  // of the record
        std::uint64_t written = 0;   // revision that the store has
        std::uint64_t releases = 0;  // the act that is being released; 0: none
        core::steady_time next_try{};
        std::optional<core::steady_time> begun{};  // writing now
        bool failed = false;                       // the last write of this act
        bool reported = false;                     // that the store does not take it
        bool audited = true;                       // the act has its line

        bool is_written() const noexcept { return written == revision; }
    };
    using entries = std::map<contained_subject, entry>;

    // A change, for log and audit.
    struct change {
        bool contains = false;  // else it is released
        std::string_view by;
        std::optional<model::cut_counts> cut;
    };

    std::size_t count_of(bool agents) const;
    static void add(model::containments& to, const contained_subject& subject, const containment_record& record);
    containment_record completed(const contained_subject& subject, containment_order order) const;
    bool refresh(const std::string& id);
    core::result<> check_room(const contained_subject& subject) const;
    entry* of_act(const contained_subject& subject, std::uint64_t act);
    void lift(entries::iterator which, std::string_view by);
    void touch(const contained_subject& subject);
    bool take_kept(const contained_subject& subject, std::optional<containment_record> kept);
    net::task<> counted(net::task<model::cut_counts> publishing);
    net::task<core::result<>> drop_in_store(contained_subject subject);
    void begin_write(const contained_subject& subject);
    net::task<> write(contained_subject subject);
    net::task<> drop(contained_subject subject);
    net::task<bool> is_written(contained_subject subject, std::uint64_t act, core::steady_time latest);
    void report(const contained_subject& subject, entry& of, const core::error& why);
    void log_of(const contained_subject& subject, core::log_level level, std::string_view event, const core::error& why)
        const;
    void log_change(const contained_subject& subject, const containment_order& order, const change& what) const;
    void audit(const contained_subject& subject, const containment_order& order, const change& what) const;
    void audit_contained(const contained_subject& subject, entry& of, std::optional<model::cut_counts> cut) const;
    void plan();
    void spawn(net::task<> work);

    containment_services services_;
    entries all_;
    std::map<contained_subject, core::steady_time> to_drop_;  // ended, and still in the store; when to try next
    std::set<contained_subject> dropping_;
    std::map<contained_subject, core::steady_time> touched_;  // by this process, and when; for learn_kept()
    std::uint64_t acts_ = 0;
    std::function<void(const store::kept_document& document)> heir_;         // empty: none
    std::function<void(const store::kept_document& document)> predecessor_;  // the same
    net::waiting_tasks waiting_;
    model::cut_counts cut_;
    std::size_t under_way_ = 0;
    bool stopped_ = false;
};

}  // namespace gateway::management
