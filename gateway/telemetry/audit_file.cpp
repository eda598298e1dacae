#include "gateway/telemetry/audit_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace gateway::telemetry {
namespace {

constexpr std::string_view file_prefix = "file:";
constexpr std::size_t queue = 16'384;  // lines of less than 4 kB, which the disk has not taken

core::error unusable(const std::string& path, std::string_view reason)
{
    return core::gateway_error(core::errc::config_invalid, "audit: " + path + ": " + std::string{reason});
}

core::result<core::descriptor> open_file(const std::string& path)
{
    // Without O_NONBLOCK a pipe that nobody reads would be waited for. With O_NOFOLLOW nobody who may write into the directory
    // alone can send the lines to a file of others.
    constexpr int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW;
    core::descriptor file{::open(path.c_str(), flags, S_IRUSR | S_IWUSR)};
    if (!file.open() && errno == ELOOP) {
        return unusable(path, "is a symbolic link, or behind too many");
    }
    if (!file.open()) {
        return unusable(path, std::generic_category().message(errno));
    }
    struct ::stat status{};
    if (::fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode)) {
        return unusable(path, "is not a regular file");
    }
    return file;
}

}  // namespace

core::result<std::unique_ptr<audit_file>> audit_file::open(const std::string& place)
{
    if (!place.starts_with(file_prefix)) {
        return std::unique_ptr<audit_file>{new audit_file{{}, {}}};
    }
    auto path = place.substr(file_prefix.size());
    auto file = open_file(path);
    if (!file) {
        return std::move(file).error();
    }
    return std::unique_ptr<audit_file>{new audit_file{std::move(path), std::move(*file)}};
}

audit_file::audit_file(std::string path, core::descriptor file)
    : path_{std::move(path)},
      file_{std::move(file)},
      output_{{.descriptor = file_.open() ? file_.number() : STDOUT_FILENO, .queue = queue}}
{
}

core::result<> audit_file::reopen()
{
    if (path_.empty()) {
        return {};
    }
    const auto file = open_file(path_);
    if (!file) {
        return file.error();
    }
    // At once for the thread that writes: each of its writes goes to one of the two.
    if (::dup3(file->number(), file_.number(), O_CLOEXEC) < 0) {
        return unusable(path_, std::generic_category().message(errno));
    }
    return {};
}

}  // namespace gateway::telemetry
