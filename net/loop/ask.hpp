// A question of a routine to another loop: a task of Asio's that runs there, while the routine waits here.
#pragma once

#include "net/loop/routine.hpp"
#include "net/loop/types.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace net {

// To be awaited at once: `auto answer = co_await ask(there, here, std::move(question));`. The routine goes on on `here`,
// its own loop, which runs until then. Exceptions of the task arrive here.
template <class T>
class ask {
public:
    ask(executor there, executor here, task<T> question)
        : there_{there},
          here_{asio::make_work_guard(here)},
          question_{std::move(question)}
    {
    }

    bool await_ready() const noexcept { return false; }

    void await_suspend(std::coroutine_handle<> asker)
    {
        asio::co_spawn(there_, std::move(question_), [this, asker](const std::exception_ptr& failure, T answer) {
            failure_ = failure;
            answer_.emplace(std::move(answer));
            asio::post(here_.get_executor(), [asker] { asker.resume(); });
        });
    }

    T await_resume()
    {
        if (failure_) {
            std::rethrow_exception(failure_);
        }
        return std::move(*answer_);  // NOLINT(bugprone-unchecked-optional-access): it resumes when there is one
    }

private:
    executor there_;
    asio::executor_work_guard<executor> here_;
    task<T> question_;
    std::exception_ptr failure_;
    std::optional<T> answer_;
};

}  // namespace net
