// Compares what agents say of themselves with what was approved, and says what of it reaches callers (docs/operations/pins.md): cards,
// lists of MCP servers, and their instructions. On the control loop's thread; the comparisons are made on one of its own.
#pragma once

#include "config/settings.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "gateway/management/agent_factory.hpp"
#include "gateway/management/pin_desk.hpp"
#include "gateway/management/registry.hpp"
#include "gateway/model/audit_trail.hpp"
#include "gateway/model/pin_judges.hpp"
#include "gateway/model/plane.hpp"
#include "gateway/threads/side_thread.hpp"
#include "gateway/threads/store_thread.hpp"
#include "net/loop/deadlines.hpp"
#include "net/loop/types.hpp"
#include "store/engine.hpp"
#include "store/feed.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::management {

// References outlive the book.
struct pin_services {
    net::executor where;
    const config::settings& settings;
    registry& agents;
    threads::store_thread& store;
    const core::logger& log;
    std::function<core::wall_time()> clock;
    std::function<core::steady_time()> now;
    // The approved card of this agent is another one.
    std::function<void(const std::string& id)> card_changed;
};

class pin_book final : public model::plane, public net::timed {
public:
    static constexpr std::chrono::seconds event_interval{10};  // between two events of an agent
    static constexpr std::chrono::seconds retry_pause{1};      // after the store has failed
    static constexpr std::size_t most_reports = 64;            // of tools in callers' lists, that wait to be compared

    // Before load(): `by` calls on_due().
    pin_book(net::deadlines& by, pin_services services);

    // The lock file, and what the store has; before the registry loads, and before anything is asked of the store's thread. Fails as the store
    // does, and with config_invalid for a lock file that cannot be read.
    core::result<> load(store::engine& records);

    // From now on changes and approvals are noted there; it outlives the book.
    void set_audit(const model::audit_trail& audit) noexcept { audit_ = &audit; }

    // By these an entry of this agent is published from now on.
    entry_pins pins_of(const core::agent& record);

    // These work as model::card_judge and model::list_judge.
    net::task<model::card_verdict>
    judge_card(std::shared_ptr<const model::agent_entry> agent, std::string text, std::string place);
    net::task<std::shared_ptr<const ::mcp::server_lists>>
    judge_lists(std::shared_ptr<const model::agent_entry> agent, std::shared_ptr<const ::mcp::server_lists> seen);

    // Tools that a server has listed for a caller, and that nobody has approved.
    void note_tools(std::string id, std::vector<::mcp::listed_item> tools);

    // The text that `write` makes of the members `approved`, `held` and `volatile` of the agent. It is called on the book's own thread, because
    // they may be megabytes.
    net::task<std::string> shown(std::string id, bool with_diff, std::function<std::string(core::json pins)> write);

    struct approval {
        std::size_t held = 0;  // that still wait
        bool durable = false;  // the store has it
    };
    // Fails with agent_read_only while there is a lock file, with version_conflict as ::mcp::pin_ledger::approve(), with agent_not_found.
    net::task<core::result<approval>> approve(std::string id, std::vector<::mcp::pin_key> items, std::string by);

    // Takes over what replicas have kept in the store that they share, this one too. False: something of it has changed here since `began`,
    // and is wanted again.
    bool learn_kept(std::vector<store::document_change> documents, core::steady_time began);

    bool is_locked() const noexcept { return lock_ != nullptr; }
    core::pin_mode mode_of(const core::agent& record) const;

    // Whether there is anything of the agent that is compared.
    bool compares(const core::agent& record) const;

    // How many items of an agent with `enforce` wait.
    std::size_t held_of(const std::string& id) const;

    void set_agents(const std::shared_ptr<const model::snapshot>& now) override;
    void set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent) override;
    void contain(const std::string& /*id*/) override {}  // it is still there
    void apply(const config::settings& now, const model::changed_settings& changed) override;
    void collect(telemetry::metrics& into) const override;
    void stop() override { stopped_ = true; }
    bool busy() const noexcept override { return under_way_ > 0; }

    // Reports changes whose time has come, and writes again what the store did not take.
    void on_due() override;

private:
    struct known_agent {
        pin_view view;
        std::string source{};          // of ::mcp::pin_terms, as the agent's newest entry has it
        core::steady_time reported{};  // the last event
        std::vector<::mcp::pin_change> unreported{};
        core::steady_time touched{};  // when this process changed it last
    };
    using known_pointer = std::shared_ptr<known_agent>;
    // For the store, which has it last.
    struct unwritten_document {
        std::shared_ptr<const std::string> text;  // null: there is to be none
        std::uint64_t number = 0;                 // no other has it
    };

    ::mcp::pin_terms terms_of(const core::agent& record) const;
    known_pointer known(const std::string& id);
    bool take(const std::string& id, const known_pointer& of, pin_outcome outcome);
    void report(const std::string& id, known_agent& of);
    void put(const std::string& id, std::shared_ptr<const std::string> text);
    void begin_write();
    net::task<> write();
    net::task<core::result<>> write_latest(std::string id);
    net::task<> learn(std::string id, std::string text);
    net::task<> renew(std::string id, ::mcp::pin_terms terms);
    net::task<> take_tools(std::string id, std::vector<::mcp::listed_item> tools, std::shared_ptr<const int> under_way);
    net::task<> look(std::string id);
    net::task<> read_lock();
    core::result<std::shared_ptr<const ::mcp::lock_file>> lock_in(const std::string& path) const;
    void forget(const std::string& id);
    void spawn(net::task<> work);

    pin_services services_;
    const model::audit_trail* audit_ = nullptr;  // null: nowhere
    std::shared_ptr<pin_desk> desk_ = std::make_shared<pin_desk>();
    bool begun_ = false;                            // the desk is the side thread's
    std::shared_ptr<const ::mcp::lock_file> lock_;  // null: there is none
    std::map<std::string, known_pointer, std::less<>> agents_;
    std::map<std::string, unwritten_document, std::less<>> unwritten_;     // by agent; until the store has it
    std::uint64_t documents_ = 0;                                          // that were to be written
    std::shared_ptr<const int> reports_ = std::make_shared<const int>(0);  // held by each take_tools() that goes on
    std::size_t under_way_ = 0;                                            // work that nobody awaits
    bool writing_ = false;
    bool failing_ = false;
    bool stopped_ = false;
    threads::side_thread thread_;  // last: what it still does uses the desk
};

}  // namespace gateway::management
