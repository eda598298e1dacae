// Who may start a program now: so many at a time, in the order of asking. Programs that all start at once have every thread of
// the machine wait behind them, the workers' too, and none of them is up sooner for it. On the loop's thread.
#pragma once

#include "core/clock.hpp"
#include "mcp/session/session_timers.hpp"
#include "net/loop/loop.hpp"

#include <cstddef>
#include <functional>
#include <list>
#include <memory>

namespace mcp {

class start_turns {
public:
    class turn;

    // `most`: at a time, at least 1. Whoever has had a turn for `longest` keeps nobody waiting any more. Outlives its turns.
    start_turns(net::loop& on, std::size_t most, core::duration longest);
    ~start_turns();
    start_turns(const start_turns&) = delete;
    start_turns& operator=(const start_turns&) = delete;

    // `begin` is called once, after this has returned, when the turn has come; never once the turn is destroyed, which it may do.
    // `overlaps`: also while turns are held.
    std::unique_ptr<turn> ask(std::function<void()> begin, bool overlaps = false);

    // Before anybody asks: no turn comes until let_go(), but for those that overlap.
    void hold() noexcept { held_ = true; }
    void let_go();

    std::size_t waiting() const noexcept { return waiting_.size() + held_back_.size(); }

private:
    void leave(turn& ended);
    void let_next();
    void begin_next();

    net::loop& loop_;
    std::size_t most_;
    core::duration longest_;
    std::size_t taken_ = 0;
    bool posted_ = false;
    bool held_ = false;
    std::list<turn*> waiting_;
    std::list<turn*> held_back_;  // behind them after let_go()
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

// A place among those who wait, then a turn. It is given back when this is destroyed.
class start_turns::turn {
public:
    turn(start_turns& of, std::function<void()> begin);
    ~turn();
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;

    // The turn has come, and is not over.
    bool has_come() const noexcept { return stage_ == stage::taken; }

    // The turn has not come yet.
    bool waits() const noexcept { return stage_ == stage::waits; }

private:
    friend class start_turns;
    enum class stage : unsigned char { waits, taken, over };

    start_turns& of_;
    std::function<void()> begin_;
    timer deadline_;
    stage stage_ = stage::waits;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

// Where a program asks for its turn. `turns`: null: it has to wait for none; it outlives this.
struct start_place {
    start_place(start_turns* of = nullptr, bool beside_the_old = false) noexcept
        : turns{of},
          overlaps{beside_the_old}
    {
    }

    start_turns* turns;
    bool overlaps;
};

}  // namespace mcp
