// How much ballast is held, on disks whose room is made up.
#include "store/ballast.hpp"

#include "tests/support/scratch.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <string>

TEST_SUITE_BEGIN("store/ballast");

namespace {

constexpr std::uint64_t kibibyte = 1024;
constexpr std::uint64_t size = 1024 * kibibyte;

std::uint64_t left_on_disk = 0;  // what the next fill() finds

store::ballast ballast_in(const test_support::scratch_directory& scratch)
{
    return store::ballast{scratch.file("ballast"), size, [](int) noexcept { return left_on_disk; }};
}

std::uint64_t filled(store::ballast& some, std::uint64_t left)
{
    left_on_disk = left;
    some.fill();
    return some.held();
}

}  // namespace

TEST_CASE("A ballast takes its size, or an eighth of the disk's room if that is less")
{
    struct row {
        std::uint64_t left;
        std::uint64_t held;
    };
    for (const auto& each :
         {row{100 * size, size},
          row{8 * size, size},
          row{8 * size - 8 * kibibyte, size - kibibyte},
          row{size, size / 8},
          row{128 * kibibyte, 64 * kibibyte},
          row{128 * kibibyte - 2, 0},
          row{0, 0}}) {
        CAPTURE(each.left);
        const test_support::scratch_directory scratch;
        auto some = ballast_in(scratch);
        CHECK(filled(some, each.left) == each.held);
        CHECK(std::filesystem::exists(scratch.file("ballast")) == (each.held != 0));
    }
}

TEST_CASE("A ballast that was given back is taken again whole, as far as its room is still there")
{
    const test_support::scratch_directory scratch;
    auto some = ballast_in(scratch);
    REQUIRE(filled(some, 100 * size) == size);
    REQUIRE(some.release());
    CHECK(some.held() == 0);
    CHECK_FALSE(std::filesystem::exists(scratch.file("ballast")));
    CHECK(filled(some, size) == size);
    CHECK(std::filesystem::file_size(scratch.file("ballast")) == size);
    REQUIRE(some.release());
    CHECK(filled(some, size / 2) == size / 2);
}

TEST_CASE("A ballast of an earlier process is found with its own size, and keeps that size when it is given back")
{
    const test_support::scratch_directory scratch;
    test_support::write_whole(scratch.file("ballast"), std::string(512 * kibibyte, '\0'));
    auto some = ballast_in(scratch);
    REQUIRE(some.find());
    CHECK(some.held() == 512 * kibibyte);
    CHECK(filled(some, 100 * size) == 512 * kibibyte);  // it is held: nothing more is taken
    REQUIRE(some.release());
    CHECK(filled(some, 600 * kibibyte) == 512 * kibibyte);
}

TEST_SUITE_END();
