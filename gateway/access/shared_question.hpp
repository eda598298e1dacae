// A question that the requests of several connections wait for, each until its own time, while somebody asks it. One thread.
#pragma once

#include "core/clock.hpp"
#include "net/loop/routine.hpp"
#include "net/loop/signal.hpp"
#include "net/server/timed_ask.hpp"

#include <exception>
#include <list>
#include <memory>
#include <optional>
#include <utility>

namespace gateway::access {

template <class Answer>
class shared_question {
public:
    // For those who wait; each goes on inside these calls, and may let go of the question, which whoever calls holds. Once.
    void answer(Answer value)
    {
        answer_.emplace(std::move(value));
        tell();
    }
    void fail(std::exception_ptr why)
    {
        failure_ = std::move(why);
        tell();
    }

    bool answered() const noexcept { return answer_.has_value() || failure_ != nullptr; }

    // The answer, once it is there. Nothing: as net::wait_until(). The exception of fail() arrives here.
    static net::routine<std::optional<Answer>>
    wait(std::shared_ptr<shared_question> question, net::caller_exchange& caller, core::steady_time due)
    {
        if (!question->answered()) {
            const place taken{*question, caller.clock().wake()};
            auto waits = net::wait_until(caller, due, [question] { return question->answered(); });
            co_await std::move(waits);
        }
        if (question->failure_) {
            std::rethrow_exception(question->failure_);
        }
        co_return question->answer_;
    }

private:
    // Place of one waiter, until it stops waiting.
    class place {
    public:
        place(shared_question& of, net::signal& wake)
            : of_{of},
              wake_{wake},
              at_{of_.waiting_.insert(of_.waiting_.end(), this)}
        {
        }
        ~place()
        {
            if (!told_) {
                of_.waiting_.erase(at_);
            }
        }
        place(const place&) = delete;
        place& operator=(const place&) = delete;

        // Whoever calls has taken it off the list.
        void tell()
        {
            told_ = true;
            wake_.set();
        }

    private:
        shared_question& of_;
        net::signal& wake_;
        bool told_ = false;
        typename std::list<place*>::iterator at_;
    };

    // One that goes on may make others give up.
    void tell()
    {
        while (!waiting_.empty()) {
            auto* const next = waiting_.front();
            waiting_.pop_front();
            next->tell();
        }
    }

    std::optional<Answer> answer_;
    std::exception_ptr failure_;
    std::list<place*> waiting_;  // each leaves it at once, however many there are
};

}  // namespace gateway::access
