#include "gateway/succession.hpp"

#include "net/loop/thrown.hpp"

#include <boost/asio/co_spawn.hpp>

#include <exception>
#include <utility>

namespace gateway {

void succession::set_predecessor(predecessor* from, const handover_counts& counts)
{
    predecessor_ = from;
    before_ = counts;
}

void succession::hold(mcp::start_turns& programs)
{
    if (predecessor_ != nullptr) {
        programs_ = &programs;
        programs.hold();  // a server may have what only one of its processes can have
    }
}

void succession::start(handover::parts all, orderly_end& end)
{
    end_ = &end;
    tasks_ = &all.tasks;
    handover_ = std::make_unique<handover>(all, std::move(from_), before_);
    const auto busy = [this] { return handover_->busy() || (predecessor_ != nullptr && predecessor_->expected()); };
    end.set_others({busy, [this] { let_go(); }, [this] { return handover_->tells(); }});
}

// The programs of this process are gone, and so are those of its predecessor.
void succession::let_go()
{
    handover_->free();
    if (predecessor_ != nullptr) {
        predecessor_->stop();
    }
}

void succession::serve(std::function<void()> report)
{
    if (predecessor_ == nullptr) {
        report();
        return;
    }
    const auto learn = [this](const known_tasks& tasks) { tasks_->learn(tasks); };
    const auto let_programs_go = [this] {
        if (programs_ != nullptr) {
            programs_->let_go();
        }
    };
    predecessor_->say_ready();
    predecessor_->watch(loop_, {learn, std::move(report), let_programs_go});
}

net::task<handover_report> succession::hand_over()
{
    auto report = co_await handover_->run();
    if (report.refused.empty()) {
        end_->begin_handed_over();
    }
    co_return report;
}

void succession::begin_handover()
{
    net::asio::co_spawn(
        loop_.get_executor(),
        hand_over(),
        [this](const std::exception_ptr& bug, const handover_report&) { net::log_thrown(bug, log_, "handover"); }
    );
}

void succession::abort()
{
    handover_->abort();
    if (predecessor_ != nullptr) {
        predecessor_->stop();
    }
}

}  // namespace gateway
