#include "net/loop/memory_reserve.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <chrono>
#include <new>

using net::memory_reserve::give_up;
using net::memory_reserve::patience;
using net::memory_reserve::refill;

TEST_SUITE_BEGIN("net/memory_reserve");

namespace {

std::chrono::nanoseconds time_of(auto&& act)
{
    const auto begun = std::chrono::steady_clock::now();
    act();
    return std::chrono::steady_clock::now() - begun;
}

void give_up_all()
{
    bool all = true;
    for (std::size_t i = 0; i < net::memory_reserve::pieces; ++i) {
        all = give_up() && all;
    }
    CHECK(all);
}

// The process gets no more addresses.
class no_memory {
public:
    no_memory()
    {
        ::getrlimit(RLIMIT_AS, &before_);
        const rlimit none{.rlim_cur = 1, .rlim_max = before_.rlim_max};
        ::setrlimit(RLIMIT_AS, &none);
    }
    ~no_memory() { ::setrlimit(RLIMIT_AS, &before_); }
    no_memory(const no_memory&) = delete;
    no_memory& operator=(const no_memory&) = delete;

private:
    rlimit before_{};
};

}  // namespace

TEST_CASE("An allocation is tried again for each piece of the reserve, then for as long as a thread has patience")
{
    CHECK(refill());  // nothing is kept, so nothing is missing
    CHECK_FALSE(give_up());
    net::memory_reserve::keep();
    const auto handler = std::get_new_handler();
    REQUIRE((handler != nullptr));
    CHECK(time_of(give_up_all) < patience / 2);
    const auto try_until_it_fails = [&] {
        CHECK_THROWS_AS(
            [&] {
                for (;;) {
                    handler();
                }
            }(),
            std::bad_alloc
        );
    };
    CHECK(time_of(try_until_it_fails) >= patience);
    CHECK(refill());
    CHECK(time_of(give_up_all) < patience / 2);
    bool whole = true;
    {
        const no_memory system;
        whole = refill();
    }
    CHECK_FALSE(whole);
    CHECK(refill());
    std::set_new_handler(nullptr);
}

TEST_SUITE_END();
