#include "net/loop/descriptor_budget.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <limits>

namespace net {
namespace {

std::size_t usable_descriptors() noexcept
{
    const auto limit = descriptor_limit();
    return limit - std::min<std::size_t>(limit, reserved_descriptors);
}

}  // namespace

std::size_t descriptor_limit() noexcept
{
    ::rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > std::numeric_limits<int>::max()) {
        return std::numeric_limits<int>::max();
    }
    return limit.rlim_cur;
}

void raise_descriptor_limit() noexcept
{
    ::rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        ::setrlimit(RLIMIT_NOFILE, &limit);  // if it fails, there are fewer
    }
}

bool is_reserved(int number) noexcept
{
    return static_cast<std::size_t>(number) + reserved_descriptors >= descriptor_limit();
}

bool leaves_room_for_callers(int number) noexcept
{
    return static_cast<std::size_t>(number) + usable_descriptors() / 4 < usable_descriptors();
}

std::size_t default_connections() noexcept
{
    return std::max<std::size_t>(1, usable_descriptors() * 45 / 100);
}

}  // namespace net
