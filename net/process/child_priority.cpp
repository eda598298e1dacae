#include "net/process/child_priority.hpp"

#include "core/descriptor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace net {
namespace {

constexpr std::chrono::milliseconds pause{110};  // the system's own is a tenth of a second

// False: not now.
bool write_nice(pid_t child, int nice)
{
    const auto path = "/proc/" + std::to_string(child) + "/autogroup";
    const core::descriptor file{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
    const auto text = std::to_string(nice);
    return !file.open() || ::write(file.number(), text.data(), text.size()) >= 0 || errno != EAGAIN;
}

}  // namespace

child_priority::child_priority(loop& on, pid_t child)
    : child_{child},
      again_{on.get_executor()}
{
}

void child_priority::set(int nice)
{
    nice_ = nice;
    apply();
}

void child_priority::apply()
{
    again_.cancel();
    if (write_nice(child_, nice_)) {
        return;
    }
    again_.expires_after(pause);
    again_.async_wait([this, alive = std::weak_ptr<bool>{alive_}](error_code cancelled) {
        if (!cancelled && !alive.expired()) {
            apply();
        }
    });
}

}  // namespace net
