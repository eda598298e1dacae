// The same verdict for all threads, at once.
#include "gateway/balancing/breaker.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using gateway::balancing::breaker;
using gateway::balancing::breaker_change;
using gateway::balancing::breaker_state;
using gateway::balancing::call_end;

namespace {

const core::steady_time start{1h};

double no_jitter()
{
    return 0;
}

template <class Work>
void on_threads(int count, Work work)
{
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) {
        threads.emplace_back(work);
    }
    for (auto& thread : threads) {
        thread.join();
    }
}

}  // namespace

TEST_SUITE_BEGIN("gateway/balancing/breaker threads");

TEST_CASE("Of 64 callers on 4 threads at most 68 reach an endpoint that always fails")
{
    for (int round = 0; round < 200; ++round) {
        breaker tested{{}, start, no_jitter};
        std::atomic<int> calls{0};
        std::atomic<int> openings{0};
        on_threads(4, [&] {
            // Each thread has 16 calls in flight, and each caller calls again as soon as it is answered.
            std::vector<breaker::permit> flying;
            for (;;) {
                while (flying.size() < 16) {
                    const auto permit = tested.admit(start);
                    if (!permit) {
                        break;
                    }
                    ++calls;
                    flying.push_back(*permit);
                }
                if (flying.empty()) {
                    return;
                }
                const auto ended = flying.back();
                flying.pop_back();
                openings += tested.ended(ended, call_end::failed, start) == breaker_change::opened ? 1 : 0;
            }
        });
        CHECK(calls.load() >= 5);
        CHECK(calls.load() <= 68);
        CHECK(openings.load() == 1);
        CHECK(tested.openings() == 1);
    }
}

TEST_CASE("However many threads ask a breaker that is half open, one call is admitted")
{
    breaker tested{{.failures = 1}, start, no_jitter};
    auto now = start;
    if (const auto first = tested.admit(now)) {
        tested.ended(*first, call_end::failed, now);
    }
    for (int round = 0; round < 200; ++round) {
        now = tested.again_at(now);
        std::atomic<int> admitted{0};
        std::atomic<bool> held{false};
        on_threads(4, [&] {
            const auto permit = tested.admit(now);
            if (!permit) {
                return;
            }
            ++admitted;
            CHECK_FALSE(held.exchange(true));
            held.store(false);
            // Not given back before all have asked, except in every other round.
            if (round % 2 == 0) {
                tested.ended(*permit, call_end::unknown, now);
            }
        });
        CHECK(admitted.load() >= 1);
        if (round % 2 == 1) {
            CHECK(admitted.load() == 1);
            CHECK(tested.close());
            if (const auto next = tested.admit(now)) {
                tested.ended(*next, call_end::failed, now);
            }
        }
        CHECK(tested.state() != breaker_state::closed);
    }
}

TEST_SUITE_END();
