#include "store/ballast.hpp"

#include "core/descriptor.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace store {
namespace {

constexpr std::uint64_t least = 64 * 1024;  // less would not let a deletion through

}  // namespace

std::uint64_t room_on_disk_of(int file) noexcept
{
    struct statvfs disk{};
    return ::fstatvfs(file, &disk) == 0 ? disk.f_bavail * disk.f_frsize : 0;
}

bool ballast::find() noexcept
{
    struct stat there{};
    if (held_ == 0 && size_ >= least && ::stat(path_.c_str(), &there) == 0) {
        const auto bytes = static_cast<std::uint64_t>(there.st_size);
        held_ = bytes >= least ? bytes : 0;
    }
    return held_ != 0;
}

void ballast::fill() noexcept
{
    if (size_ < least || find()) {
        return;
    }
    const core::descriptor file{::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)};
    if (!file.open()) {
        return;
    }
    for (auto bytes = wanted(file.number()); bytes >= least && held_ == 0; bytes -= bytes / 8) {
        held_ = ::posix_fallocate(file.number(), 0, static_cast<off_t>(bytes)) == 0 ? bytes : 0;
    }
    if (held_ == 0) {
        ::unlink(path_.c_str());
    }
}

// A nearly full disk gives the least as long as it leaves as much: after a crash the ballast may be gone.
std::uint64_t ballast::wanted(int file) const noexcept
{
    const auto left = left_(file);
    return std::min(size_, std::max({left / 8, std::min(last_, left), std::min(least, left / 2)}));
}

bool ballast::release() noexcept
{
    if (held_ == 0) {
        return false;
    }
    last_ = std::exchange(held_, 0);
    return ::unlink(path_.c_str()) == 0;
}

std::uint64_t room_beside(const std::string& path) noexcept
{
    struct statvfs disk{};
    return ::statvfs(path.c_str(), &disk) == 0 ? disk.f_bavail * disk.f_frsize
                                               : std::numeric_limits<std::uint64_t>::max();
}

}  // namespace store
