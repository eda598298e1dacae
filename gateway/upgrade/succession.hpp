// Who has served before this process and who serves after it: what the gateway does at either end of a hand-over. On the control loop's
// thread.
#pragma once

#include "core/log.hpp"
#include "gateway/lifecycle/orderly_end.hpp"
#include "gateway/upgrade/carried_state.hpp"
#include "gateway/upgrade/handover.hpp"
#include "gateway/upgrade/predecessor.hpp"
#include "mcp/session/start_turns.hpp"
#include "net/loop/loop.hpp"

#include <functional>
#include <memory>

namespace gateway::upgrade {

class succession {
public:
    // References outlive this; `log` is of the gateway.
    succession(net::loop& control, const core::logger& log)
        : loop_{control},
          log_{log}
    {
    }

    // Before start(). Without it each hand-over is refused.
    void set_source(handover_source from) { from_ = std::move(from); }

    // Before start(): the process whose place this one takes, which outlives this, and what it passed; null: there is none.
    void set_predecessor(predecessor* from, carried_state passed);

    // Before the first agent: what was passed goes to whom it is for. Programs of MCP servers begin when those of the predecessor are
    // gone, but for those that overlap. References outlive this.
    void give_passed(sessions::session_plane& sessions, wiring::task_keeper& tasks);

    // What is handed over, and the end that follows; it waits for this.
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
    carried_state passed_;
    predecessor* predecessor_ = nullptr;      // null: this process has taken nobody's place
    ::mcp::start_turns* programs_ = nullptr;  // that are held back
    wiring::task_keeper* tasks_ = nullptr;
    lifecycle::orderly_end* end_ = nullptr;
    std::unique_ptr<handover> handover_;
};

}  // namespace gateway::upgrade
