#include "net/descriptor_budget.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <limits>

namespace net {

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

std::size_t default_connections() noexcept
{
    const auto usable = descriptor_limit() - std::min<std::size_t>(descriptor_limit(), reserved_descriptors);
    return std::max<std::size_t>(1, usable * 45 / 100);
}

}  // namespace net
