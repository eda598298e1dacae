#include "config/file.hpp"

#include "config/problem.hpp"
#include "core/descriptor.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

namespace config {
namespace {

core::error failed(std::string_view predicate, int number)
{
    return invalid(std::string{predicate} + ": " + std::generic_category().message(number));
}

core::result<std::string> read_opened(const std::string& path, int how, std::size_t most)
{
    if (path.find('\0') != std::string::npos) {
        return invalid("has a NUL in its name");
    }
    const core::descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | how)};
    if (!file.open()) {
        return failed("cannot be opened", errno);
    }
    struct stat status{};
    if (::fstat(file.number(), &status) != 0) {
        return failed("cannot be read", errno);
    }
    if (S_ISDIR(status.st_mode)) {
        return invalid("is a directory; expected a file");
    }
    if ((how & O_NONBLOCK) != 0 && !S_ISREG(status.st_mode)) {
        return invalid("is not a regular file");
    }
    std::string content;
    std::array<char, 64 * 1024> piece{};
    for (;;) {
        const auto got = ::read(file.number(), piece.data(), piece.size());
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return failed("cannot be read", errno);
        }
        if (got == 0) {
            return content;
        }
        content.append(piece.data(), static_cast<std::size_t>(got));
        if (content.size() > most) {
            return invalid("is longer than " + std::to_string(most) + " bytes");
        }
    }
}

}  // namespace

core::result<std::string> read_file(const std::string& path, std::size_t most)
{
    return read_opened(path, 0, most);
}

core::result<std::string> read_regular_file(const std::string& path, std::size_t most)
{
    return read_opened(path, O_NONBLOCK, most);
}

core::result<std::string> read_secret_file(const std::string& path)
{
    auto content = read_file(path, 64 * 1024);
    if (content) {
        content->erase(content->find_last_not_of("\r\n") + 1);
    }
    return content;
}

}  // namespace config
