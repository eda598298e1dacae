// The hand-over: this process starts the binary that is at its path now, gives it the listening sockets and what only memory holds, and
// ends when the new process serves. Until then nothing is lost: if the new process fails, it is killed and this one goes on. On the
// control loop's thread.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "gateway/lifecycle/graceful_shutdown.hpp"
#include "gateway/lifecycle/listeners.hpp"
#include "gateway/lifecycle/service_reports.hpp"
#include "gateway/model/upgrade.hpp"
#include "gateway/sessions/session_plane.hpp"
#include "gateway/threads/store_thread.hpp"
#include "gateway/upgrade/upgrade_messages.hpp"
#include "gateway/upgrade/upgrade_state.hpp"
#include "mcp/session/start_turns.hpp"
#include "net/loop/loop.hpp"
#include "net/process/service_manager.hpp"
#include "net/process/spawn.hpp"
#include "store/engine.hpp"

#include <sys/types.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gateway::upgrade {

class old_process;

// To whom tasks belong, as the two processes tell each other.
struct task_owners {
    std::function<net::task<>()> flush;  // writes new ones to the store now
    std::function<void(std::function<void(model::known_tasks)> heir)>
        set_heir;                                                // the heir gets later ones, instead of the store
    std::function<void(const model::known_tasks& known)> learn;  // what the old process has learnt in its drain
};

// Containments, as the two processes tell each other of them.
struct passed_containments {
    std::function<std::vector<store::kept_document>()> unwritten;
    std::function<void(std::function<void(const store::kept_document& later)> heir)>
        set_heir;                                                     // the heir gets later ones, instead of the store
    std::function<void(const store::kept_document& document)> learn;  // what the other process has been told meanwhile
    std::function<void(std::function<void(const store::kept_document& later)> predecessor)>
        set_predecessor;  // the predecessor gets later ones, too
};

// How this process was started.
struct handover_source {
    std::string program;                 // an absolute path; empty: there can be no hand-over
    std::vector<std::string> arguments;  // the first one is the program's name
    net::service_manager manager;
    reload::inherited_addresses configured;    // as in handover_hello
    threads::store_thread::opener open_store;  // the same file again; not used for a store in memory
};

class handover {
public:
    // Everything that is handed over, which outlives the hand-over.
    struct parts {
        net::loop& control;
        const config::settings& settings;
        const core::logger& log;
        lifecycle::listeners& addresses;
        lifecycle::service_reports& reports;
        threads::store_thread& store;
        const sessions::session_plane& sessions;
        task_owners tasks;
        passed_containments contained;
        lifecycle::graceful_shutdown& end;
    };

    handover(parts all, handover_source from, handover_counts before);
    ~handover();

    // One at a time. If it is done, the owner ends this process.
    net::task<model::handover_report> run();

    // The one under way fails: the gateway is told to stop.
    void abort();

    bool busy() const noexcept { return busy_; }

    // Nothing of this process needs what a second process cannot have any more: the programs of MCP servers are gone.
    void free();

    // False: something was not sent yet to the process that has taken this one's place. Else nothing is heard of it any more.
    bool end();

    const handover_counts& counts() const noexcept { return counts_; }

private:
    struct attempt;

    std::string refusal() const;
    core::result<> start(attempt& now);
    net::task<core::result<>> pass(attempt& now);
    net::task<core::result<handover_prepared>> prepare(attempt& now);
    net::task<core::result<>> pass_state(attempt& now);
    net::task<core::result<>> reason_for(attempt& now, core::error why);
    net::task<core::result<>> expect_ready(attempt& now);
    void complete(attempt& now);
    net::task<> take_back(attempt& now, const core::error& why);
    void tell(std::string frame);
    net::task<> tell_all();

    parts all_;
    handover_source from_;
    handover_counts counts_;
    std::unique_ptr<attempt> now_;     // also after its end, for free()
    std::deque<std::string> to_tell_;  // frames, after the hand-over
    bool telling_ = false;
    bool busy_ = false;
    bool done_ = false;
};

// The gateway at either end of a hand-over: after the process that has served before, and before the one that serves next.
class process_upgrade {
public:
    // References outlive this; `log` is of the gateway.
    process_upgrade(net::loop& control, const core::logger& log)
        : loop_{control},
          log_{log}
    {
    }

    // Before start(). Without it each hand-over is refused.
    void set_source(handover_source from) { from_ = std::move(from); }

    // Before start(): the process whose place this one takes, which outlives this, and what it passed; null: there is none.
    void set_old_process(old_process* from, upgrade_state passed);

    // Before the first agent: what was passed goes to whom it is for. Programs of MCP servers begin when those of the old process are
    // gone, but for those that overlap. References outlive this.
    void give_passed(sessions::session_plane& sessions);

    // Containments that the old process could not write.
    const std::vector<store::kept_document>& unwritten() const noexcept { return passed_.unwritten; }

    // Sets the parts that are handed over, and the end that follows, which waits for this.
    void start(handover::parts all);

    // Connections are accepted. `report` tells the service manager: at once, or when that knows of this process.
    void serve(std::function<void()> report);

    // A hand-over, after which this process ends.
    net::task<model::handover_report> hand_over();
    void begin_handover();

    // The gateway is told to stop.
    void abort();

    const handover_counts& counts() const noexcept { return handover_->counts(); }

private:
    void let_go();

    net::loop& loop_;
    const core::logger& log_;
    handover_source from_;
    upgrade_state passed_;
    old_process* old_process_ = nullptr;      // null: this process has taken nobody's place
    ::mcp::start_turns* programs_ = nullptr;  // that are held back
    std::function<void(const model::known_tasks& known)> learn_;
    passed_containments contained_;
    lifecycle::graceful_shutdown* end_ = nullptr;
    std::unique_ptr<handover> handover_;
};

}  // namespace gateway::upgrade
