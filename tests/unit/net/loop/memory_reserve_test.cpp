#include "net/loop/memory_reserve.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <chrono>

using net::memory_reserve::patience;
using net::memory_reserve::refill;
using net::memory_reserve::until_given;

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
    std::chrono::milliseconds waited{0};
    for (std::size_t i = 0; i < net::memory_reserve::pieces; ++i) {
        all = net::memory_reserve::give_up(waited) && all;
    }
    CHECK(all);
    CHECK(waited.count() == 0);
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

TEST_CASE("An allocation is tried again for each piece of the reserve, then for as long as it has patience")
{
    const auto fail = [] { return static_cast<void*>(nullptr); };
    CHECK(refill());  // nothing is kept, so nothing is missing
    CHECK(time_of([&] { CHECK(until_given(fail) == nullptr); }) < patience / 2);
    net::memory_reserve::keep();
    CHECK(time_of(give_up_all) < patience / 2);
    CHECK(time_of([&] { CHECK(until_given(fail) == nullptr); }) >= patience);
    CHECK(refill());
    CHECK(time_of(give_up_all) < patience / 2);
    bool whole = true;
    {
        const no_memory system;
        whole = refill();
    }
    CHECK_FALSE(whole);
    CHECK(refill());
}

TEST_CASE("A thread whose allocations each wait a little waits without end, and gets them all")
{
    net::memory_reserve::keep();
    give_up_all();
    const auto each = patience / 4;
    for (int i = 0; i < 5; ++i) {
        int left = static_cast<int>(each.count());
        int memory = 0;
        CHECK(until_given([&] { return left-- > 0 ? nullptr : static_cast<void*>(&memory); }) == &memory);
    }
    CHECK(refill());
}

TEST_SUITE_END();
