#include "net/loop/directory_watch.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace net {
namespace {

// Without IN_MODIFY: a file that is being written is not yet worth reading.
constexpr std::uint32_t interesting =
    IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;

core::error failure(std::string problem)
{
    return core::gateway_error(
        core::errc::internal,
        std::move(problem) + ": " + std::generic_category().message(errno)
    );
}

}  // namespace

directory_watch::directory_watch(executor where, std::function<void()> changed)
    : events_{where},
      changed_{std::move(changed)}
{
}

core::result<> directory_watch::open()
{
    if (events_.is_open()) {
        return {};
    }
    const int descriptor = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (descriptor < 0) {
        return failure("inotify_init1");
    }
    events_.assign(descriptor);
    wait();
    return {};
}

core::result<bool> directory_watch::set(const std::set<std::string>& directories)
{
    if (directories.empty()) {
        close();
        return false;
    }
    if (const auto ready = open(); !ready) {
        return ready.error();
    }
    std::erase_if(watched_, [&](const auto& each) {
        if (directories.contains(each.first)) {
            return false;
        }
        ::inotify_rm_watch(events_.native_handle(), each.second);
        return true;
    });
    bool any_new = false;
    for (const auto& each : directories) {
        const int number = ::inotify_add_watch(events_.native_handle(), each.c_str(), interesting | IN_ONLYDIR);
        if (number >= 0) {
            const auto [known, added] = watched_.emplace(each, number);
            any_new = any_new || added || std::exchange(known->second, number) != number;
        } else if (errno == ENOSPC || errno == ENOMEM) {
            return failure("inotify_add_watch");
        }
    }
    return any_new;
}

void directory_watch::close()
{
    error_code ignored;
    events_.close(ignored);
    watched_.clear();
}

void directory_watch::wait()
{
    events_.async_wait(asio::posix::descriptor_base::wait_read, [this](error_code ec) {
        if (ec || !events_.is_open()) {
            return;
        }
        const bool any = take_events();
        wait();
        if (any) {
            changed_();
        }
    });
}

// True: there was one that matters.
bool directory_watch::take_events()
{
    alignas(inotify_event) std::array<char, 16 * 1024> buffer{};
    bool any = false;
    for (;;) {
        const auto got = ::read(events_.native_handle(), buffer.data(), buffer.size());
        if (got <= 0) {
            return any;
        }
        for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
            inotify_event event{};
            std::memcpy(&event, buffer.data() + at, sizeof event);
            at += sizeof event + event.len;
            // After inotify_rm_watch, too; a directory that is gone has said so before.
            const bool gone = (event.mask & IN_IGNORED) != 0;
            any = any || !gone;
            std::erase_if(watched_, [gone, number = event.wd](const auto& each) {
                return gone && each.second == number;
            });
        }
    }
}

}  // namespace net
