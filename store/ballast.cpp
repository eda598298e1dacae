#include "store/ballast.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>

namespace store {
namespace {

constexpr std::uint64_t least = 64 * 1024;  // less would not let a deletion through

}  // namespace

void ballast::fill() noexcept
{
    if (held_ || size_ < least) {
        return;
    }
    struct stat there{};
    if (::stat(path_.c_str(), &there) == 0 && static_cast<std::uint64_t>(there.st_size) >= least) {
        held_ = true;
        return;
    }
    const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) {
        return;
    }
    struct statvfs disk{};
    std::uint64_t wanted = 0;
    if (::fstatvfs(file, &disk) == 0) {
        wanted = std::min<std::uint64_t>(size_, disk.f_bavail * disk.f_frsize / 8);
    }
    held_ = wanted >= least && ::posix_fallocate(file, 0, static_cast<off_t>(wanted)) == 0;
    ::close(file);
    if (!held_) {
        ::unlink(path_.c_str());
    }
}

bool ballast::release() noexcept
{
    if (!held_) {
        return false;
    }
    held_ = false;
    return ::unlink(path_.c_str()) == 0;
}

}  // namespace store
