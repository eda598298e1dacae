#include "core/descriptor.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <utility>

TEST_SUITE_BEGIN("core/descriptor");

namespace {

bool is_open(int number)
{
    return ::fcntl(number, F_GETFD) != -1;
}

}  // namespace

TEST_CASE("a descriptor is closed when its owner goes or takes another")
{
    int first = -1;
    {
        core::descriptor owner{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
        first = owner.number();
        CHECK(owner.open());
        CHECK(is_open(first));
        core::descriptor other{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
        const int second = other.number();
        owner = std::move(other);
        CHECK_FALSE(is_open(first));
        CHECK(owner.number() == second);
        first = second;
    }
    CHECK_FALSE(is_open(first));
}

TEST_CASE("a descriptor that was released stays open")
{
    core::descriptor owner{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    const int number = owner.release();
    CHECK_FALSE(owner.open());
    owner.reset();
    CHECK(is_open(number));
    ::close(number);
}

TEST_SUITE_END();
