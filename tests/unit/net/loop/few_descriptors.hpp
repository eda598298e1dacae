// Leaves this process few descriptors, for as long as it lives: some can be opened, and callers would need all of them.
#pragma once

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>

namespace net_test {

class few_descriptors {
public:
    few_descriptors()
    {
        for (auto& each : taken_) {
            each = ::dup(STDIN_FILENO);
        }
        REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
        const ::rlimit now{static_cast<rlim_t>(taken_.back()) + 20, before_.rlim_max};
        REQUIRE(::setrlimit(RLIMIT_NOFILE, &now) == 0);
    }
    ~few_descriptors()
    {
        ::setrlimit(RLIMIT_NOFILE, &before_);
        for (const auto each : taken_) {
            ::close(each);
        }
    }
    few_descriptors(const few_descriptors&) = delete;
    few_descriptors& operator=(const few_descriptors&) = delete;

private:
    std::array<int, 16> taken_{};
    ::rlimit before_{};
};

}  // namespace net_test
