#include "tests/support/fault_plan.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

using namespace std::chrono_literals;
using namespace test_support;

namespace {

std::string joined(const std::vector<fault_plan::piece>& pieces)
{
    return std::accumulate(pieces.begin(), pieces.end(), std::string{}, [](std::string all, const auto& each) {
        return std::move(all) + each.data;
    });
}

std::chrono::milliseconds total(const std::vector<fault_plan::piece>& pieces)
{
    return std::accumulate(pieces.begin(), pieces.end(), 0ms, [](auto all, const auto& each) {
        return all + each.pause;
    });
}

int wrong_bits(std::string_view sent, std::string_view got)
{
    int wrong = 0;
    for (std::size_t at = 0; at < sent.size(); ++at) {
        wrong += std::popcount(
            static_cast<unsigned char>(static_cast<unsigned char>(sent[at]) ^ static_cast<unsigned char>(got[at]))
        );
    }
    return wrong;
}

}  // namespace

TEST_CASE("without a fault a block passes whole and at once")
{
    fault_plan plan{{}, 1};
    const auto pieces = plan.take("abc");
    REQUIRE(pieces.size() == 1);
    CHECK(pieces[0].data == "abc");
    CHECK(pieces[0].pause == 0ms);
    CHECK(plan.take("").empty());
    CHECK_FALSE(plan.spent());
}

TEST_CASE("a limit lets exactly its bytes pass, at every number of them and however they are cut")
{
    for (std::uint64_t limit = 0; limit <= 7; ++limit) {
        for (std::size_t cut = 0; cut <= 6; ++cut) {
            CAPTURE(limit);
            CAPTURE(cut);
            fault_plan plan{{.limit = limit}, 1};
            const std::string_view text = "abcdef";
            auto passed = joined(plan.take(text.substr(0, cut)));
            CHECK(plan.spent() == (limit <= cut));
            passed += joined(plan.take(text.substr(cut)));
            CHECK(passed == text.substr(0, limit));
            CHECK(plan.spent() == (limit <= 6));
        }
    }
}

TEST_CASE("a slicer makes a write of each so many bytes")
{
    fault_plan plan{{.slice = 2}, 1};
    const auto pieces = plan.take("abcde");
    REQUIRE(pieces.size() == 3);
    CHECK(pieces[0].data == "ab");
    CHECK(pieces[2].data == "e");
    CHECK(total(pieces) == 0ms);
}

TEST_CASE("a latency comes before each block, once however it is sliced, and jitter stays within its bounds")
{
    fault_plan plan{{.latency = 100ms, .slice = 1}, 1};
    const auto pieces = plan.take("abc");
    REQUIRE(pieces.size() == 3);
    CHECK(pieces[0].pause == 100ms);
    CHECK(total(pieces) == 100ms);

    fault_plan jittery{{.latency = 10ms, .jitter = 20ms}, 1};
    auto shortest = 1h + 0ms;
    auto longest = 0ms;
    for (int i = 0; i < 1000; ++i) {
        const auto pause = total(jittery.take("a"));
        shortest = std::min<std::chrono::milliseconds>(shortest, pause);
        longest = std::max<std::chrono::milliseconds>(longest, pause);
    }
    CHECK(shortest == 0ms);
    CHECK(longest == 30ms);
}

TEST_CASE("a bandwidth gives every byte its time, and loses no fraction of it")
{
    fault_plan plan{{.bytes_per_second = 1000}, 1};
    const auto pieces = plan.take(std::string(100, 'x'));
    CHECK(pieces.size() == 5);
    CHECK(total(pieces) == 100ms);

    fault_plan thirds{{.bytes_per_second = 3000}, 1};
    auto time = 0ms;
    for (int i = 0; i < 3000; ++i) {
        time += total(thirds.take("x"));
    }
    CHECK(time >= 998ms);  // a third of a millisecond each, in whole microseconds
    CHECK(time <= 1000ms);
}

TEST_CASE("corruption flips one bit in each so many bytes, the same ones for the same seed however the bytes come")
{
    const std::string sent(10'000, 'x');
    fault_plan whole{{.corrupt_every = 1000}, 7};
    const auto got = joined(whole.take(sent));
    CHECK(got.size() == sent.size());
    CHECK(wrong_bits(sent, got) == 10);
    for (std::size_t at = 0; at < sent.size(); at += 1000) {
        CHECK(wrong_bits(sent.substr(at, 1000), got.substr(at, 1000)) == 1);
    }

    fault_plan bytewise{{.corrupt_every = 1000}, 7};
    std::string again;
    for (const char byte : sent) {
        again += joined(bytewise.take({&byte, 1}));
    }
    CHECK(again == got);

    fault_plan other{{.corrupt_every = 1000}, 8};
    CHECK(joined(other.take(sent)) != got);
}
