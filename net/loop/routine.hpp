// The coroutines of traffic. They wait for a signal, for one another, or for an answer of another loop (net/loop/ask.hpp), and
// for nothing else, so that a step costs a jump and a frame from a free list: an Asio awaitable costs ten times that,
// and a relayed call takes a dozen steps. Lazy: a routine begins when it is awaited or started, on the thread that does
// it, and runs to its end before it is destroyed. Exceptions go to whoever awaits it.
#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace net {

// Memory for coroutine frames, from a free list of the thread: they come and go a dozen times a call, in few sizes.
namespace frame_pool {

void* take(std::size_t size);

// On any thread; `size` is the one that was asked for.
void give(void* frame, std::size_t size) noexcept;

}  // namespace frame_pool

template <class T = void>
class routine;

namespace detail {

struct routine_promise_base {
    struct final_step {
        bool await_ready() noexcept { return false; }
        template <class Promise>
        std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) noexcept
        {
            return ended.promise().awaited_by;
        }
        void await_resume() noexcept {}
    };

    static void* operator new(std::size_t size) { return frame_pool::take(size); }
    static void operator delete(void* frame, std::size_t size) noexcept { frame_pool::give(frame, size); }

    std::suspend_always initial_suspend() noexcept { return {}; }
    final_step final_suspend() noexcept { return {}; }
    void unhandled_exception() noexcept { failure = std::current_exception(); }

    std::coroutine_handle<> awaited_by;
    std::exception_ptr failure;
};

template <class T>
struct routine_promise : routine_promise_base {
    routine<T> get_return_object() noexcept;
    template <class Value>
    void return_value(Value&& result)
    {
        value.emplace(std::forward<Value>(result));
    }
    T take()
    {
        return std::move(*value);  // NOLINT(bugprone-unchecked-optional-access): it has returned
    }

    std::optional<T> value;
};

template <>
struct routine_promise<void> : routine_promise_base {
    routine<void> get_return_object() noexcept;
    void return_void() noexcept {}
    void take() noexcept {}
};

}  // namespace detail

template <class T>
class [[nodiscard]] routine {
public:
    using promise_type = detail::routine_promise<T>;

    explicit routine(std::coroutine_handle<promise_type> frame) noexcept
        : frame_{frame}
    {
    }
    routine(routine&& other) noexcept
        : frame_{std::exchange(other.frame_, nullptr)}
    {
    }
    routine(const routine&) = delete;
    routine& operator=(const routine&) = delete;
    ~routine()
    {
        if (frame_) {
            frame_.destroy();
        }
    }

    // Awaited once.
    auto operator co_await() && noexcept
    {
        struct step {
            std::coroutine_handle<promise_type> frame;
            bool await_ready() noexcept { return false; }
            std::coroutine_handle<> await_suspend(std::coroutine_handle<> by) noexcept
            {
                frame.promise().awaited_by = by;
                return frame;
            }
            T await_resume()
            {
                if (frame.promise().failure) {
                    std::rethrow_exception(std::exchange(frame.promise().failure, nullptr));
                }
                return frame.promise().take();
            }
        };
        return step{frame_};
    }

private:
    std::coroutine_handle<promise_type> frame_;
};

namespace detail {

template <class T>
routine<T> routine_promise<T>::get_return_object() noexcept
{
    return routine<T>{std::coroutine_handle<routine_promise<T>>::from_promise(*this)};
}

inline routine<void> routine_promise<void>::get_return_object() noexcept
{
    return routine<void>{std::coroutine_handle<routine_promise<void>>::from_promise(*this)};
}

// Nobody awaits it: it destroys itself.
struct started {
    struct promise_type {
        static void* operator new(std::size_t size) { return frame_pool::take(size); }
        static void operator delete(void* frame, std::size_t size) noexcept { frame_pool::give(frame, size); }

        started get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }  // `done` has thrown: a bug with nobody to tell
    };
};

template <class Done>
started drive(routine<> work, Done done)
{
    std::exception_ptr failure;
    try {
        co_await std::move(work);
    } catch (...) {
        failure = std::current_exception();
    }
    done(failure);
}

}  // namespace detail

// Runs it up to its first wait, inside this call. `done(std::exception_ptr)` is called at its end.
template <class Done>
void start(routine<> work, Done done)
{
    detail::drive(std::move(work), std::move(done));
}

}  // namespace net
