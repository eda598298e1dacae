// A question that several routines wait for, while one of them asks it. One thread.
#pragma once

#include "net/loop/routine.hpp"
#include "net/loop/signal.hpp"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace gateway::access {

template <class Answer>
class shared_question {
public:
    // For those who wait; each goes on inside this call, and may let go of the question. Once.
    void answer(Answer value)
    {
        answer_.emplace(std::move(value));
        for (auto* const each : std::exchange(waiting_, {})) {
            each->set();
        }
    }

    bool answered() const noexcept { return answer_.has_value(); }

    // The answer, once it is there.
    static net::routine<Answer> wait(std::shared_ptr<shared_question> question)
    {
        net::signal told;
        if (!question->answer_) {
            question->waiting_.push_back(&told);
            co_await told.wait();
        }
        co_return *question->answer_;  // NOLINT(bugprone-unchecked-optional-access): it wakes when there is one
    }

private:
    std::optional<Answer> answer_;
    std::vector<net::signal*> waiting_;
};

}  // namespace gateway::access
