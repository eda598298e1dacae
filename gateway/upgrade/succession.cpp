#include "gateway/upgrade/succession.hpp"

#include "net/loop/thrown.hpp"

#include <boost/asio/co_spawn.hpp>

#include <exception>
#include <utility>

namespace gateway::upgrade {

void succession::set_predecessor(predecessor* from, carried_state passed)
{
    predecessor_ = from;
    passed_ = std::move(passed);
}

void succession::give_passed(sessions::session_plane& sessions, wiring::task_keeper& tasks)
{
    tasks_ = &tasks;
    if (predecessor_ == nullptr) {
        return;
    }
    sessions.set_passed(sessions::by_agent(std::exchange(passed_.lists, {})));
    programs_ = &sessions.turns();
    programs_->hold();  // a server may have what only one of its processes can have
}

void succession::start(handover::parts all)
{
    end_ = &all.end;
    handover_ = std::make_unique<handover>(all, std::move(from_), passed_.counts);
    const auto busy = [this] { return handover_->busy() || (predecessor_ != nullptr && predecessor_->expected()); };
    end_->set_others({busy, [this] { let_go(); }, [this] { return handover_->tells(); }});
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
    const auto learn = [this](const model::known_tasks& tasks) { tasks_->learn(tasks); };
    const auto let_programs_go = [this] {
        if (programs_ != nullptr) {
            programs_->let_go();
        }
    };
    predecessor_->say_ready();
    predecessor_->watch(loop_, {learn, std::move(report), let_programs_go});
}

net::task<model::handover_report> succession::hand_over()
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
        [this](const std::exception_ptr& bug, const model::handover_report&) { net::log_thrown(bug, log_, "handover"); }
    );
}

void succession::abort()
{
    handover_->abort();
    if (predecessor_ != nullptr) {
        predecessor_->stop();
    }
}

}  // namespace gateway::upgrade
