#include "store/sqlite_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>

namespace store {
namespace {

// A process that was killed holds its files until the kernel has taken it apart, also when its peers see that it is gone.
constexpr std::chrono::milliseconds longest_end{1000};
constexpr std::chrono::milliseconds look_again{5};

// errno as flock(2) leaves it.
bool lock(int file)
{
    const auto until = std::chrono::steady_clock::now() + longest_end;
    while (::flock(file, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK || std::chrono::steady_clock::now() >= until) {
            return false;
        }
        std::this_thread::sleep_for(look_again);
    }
    return true;
}

core::error unusable(std::string_view problem, int number)
{
    return core::gateway_error(
        core::errc::config_invalid,
        std::string{problem} + ": " + std::generic_category().message(number)
    );
}

std::filesystem::path directory_of(const std::string& path)
{
    const auto directory = std::filesystem::path{path}.parent_path();
    return directory.empty() ? std::filesystem::path{"."} : directory;
}

// With access for nobody else: definitions hold credentials.
core::result<> make_directories(const std::filesystem::path& directory)
{
    if (::mkdir(directory.c_str(), 0700) == 0 || errno == EEXIST) {
        return {};
    }
    if (errno == ENOENT && directory.has_parent_path() && directory.parent_path() != directory) {
        if (auto parent = make_directories(directory.parent_path()); !parent) {
            return parent;
        }
        if (::mkdir(directory.c_str(), 0700) == 0 || errno == EEXIST) {
            return {};
        }
    }
    return unusable(directory.string() + ": cannot be made", errno);
}

}  // namespace

core::result<file_lock> file_lock::take(const std::string& path)
{
    if (auto directories = make_directories(directory_of(path)); !directories) {
        return std::move(directories).error();
    }
    const auto name = path + ".lock";
    file_lock held{core::descriptor{::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)}};
    if (!held.file_.open()) {
        return unusable(name + ": cannot be opened", errno);
    }
    if (!lock(held.file_.number())) {
        if (errno == EWOULDBLOCK) {
            return core::gateway_error(core::errc::config_invalid, path + ": is in use by another process");
        }
        return unusable(name + ": cannot be locked", errno);
    }
    return held;
}

core::result<presence> look_for(const std::string& path)
{
    struct stat found{};
    if (::stat(path.c_str(), &found) == 0) {
        if (!S_ISREG(found.st_mode)) {
            return core::gateway_error(core::errc::config_invalid, path + ": is no file");
        }
        return presence::present;
    }
    if (errno != ENOENT) {
        return unusable(path + ": cannot be looked at", errno);
    }
    return ::stat((path + "-wal").c_str(), &found) == 0 ? presence::remains : presence::absent;
}

core::result<> make_empty(const std::string& path)
{
    for (const auto* part : {"", "-wal", "-shm", "-journal"}) {
        ::unlink((path + part).c_str());
    }
    const core::descriptor file{::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
    return file.open() ? core::result<>{} : core::result<>{unusable("cannot be made", errno)};
}

core::result<> rename_durably(const std::string& from, const std::string& to)
{
    if (::rename(from.c_str(), to.c_str()) != 0) {
        return unusable("cannot be made", errno);
    }
    const core::descriptor directory{::open(directory_of(to).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    const bool synced = directory.open() && ::fsync(directory.number()) == 0;
    return synced ? core::result<>{} : core::result<>{unusable("cannot be made durable", errno)};
}

}  // namespace store
