#include "gateway/reload/file_stamp.hpp"

#include <sys/stat.h>

namespace gateway::reload {

file_stamp stamp_of(const std::string& path)
{
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) {
        return {};
    }
    // The time of the latest change of any kind: a file that has become readable is worth another try.
    return {
        .device = status.st_dev,
        .number = status.st_ino,
        .size = status.st_size,
        .seconds = status.st_ctim.tv_sec,
        .nanoseconds = status.st_ctim.tv_nsec
    };
}

}  // namespace gateway::reload
