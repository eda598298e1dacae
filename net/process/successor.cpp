#include "net/process/successor.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <system_error>

namespace net {
namespace {

constexpr int first_socket = STDERR_FILENO + 1;
constexpr int not_started = 127;
constexpr std::size_t longest_id = 20;

core::error failure(std::string_view what, int number)
{
    return core::gateway_error(
        core::errc::internal,
        std::string{what} + ": " + std::generic_category().message(number)
    );
}

std::vector<char*> pointers_to(std::vector<std::string>& texts)
{
    std::vector<char*> all;
    std::ranges::transform(texts, std::back_inserter(all), [](std::string& each) { return each.data(); });
    all.push_back(nullptr);
    return all;
}

// Everything that the child needs, made before it exists: between vfork() and execve() it shares our memory and may do nothing but
// system calls.
struct preparation {
    const char* program;
    char* const* arguments;
    char* const* environment;
    char* const* own_ids;  // where the digits of its id belong; ends with a null
    const int* sockets;    // none of their numbers is one that a socket gets there
    int count;
    int report;
};

// std::to_string() allocates.
void write_digits(char* to, pid_t value)
{
    std::array<char, longest_id> digits{};
    std::size_t used = 0;
    do {
        digits[used++] = static_cast<char>('0' + value % 10);
        value /= 10;
    } while (value > 0);
    while (used > 0) {
        *to++ = digits[--used];
    }
    *to = '\0';
}

// In the child; ends only by becoming the program or by _exit().
[[noreturn]] void become(const preparation& how)
{
    for (int number = 1; number < NSIG; ++number) {
        ::signal(number, SIG_DFL);
    }
    for (auto* const* each = how.own_ids; *each != nullptr; ++each) {
        write_digits(*each, ::getpid());
    }
    for (int i = 0; i < how.count; ++i) {
        ::dup2(how.sockets[i], first_socket + i);
    }
    const int report = first_socket + how.count;
    ::dup3(how.report, report, O_CLOEXEC);
    ::syscall(SYS_close_range, report + 1, ~0U, 0);
    sigset_t nothing;
    ::sigemptyset(&nothing);
    ::pthread_sigmask(SIG_SETMASK, &nothing, nullptr);
    ::execve(how.program, how.arguments, how.environment);
    const int number = errno;
    [[maybe_unused]] const auto written = ::write(report, &number, sizeof number);
    ::_exit(not_started);
}

// Starts a child as spawn.cpp does.
pid_t start(const preparation& how)
{
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const auto id = ::vfork();  // NOLINT(bugprone-unsafe-functions)
    if (id == 0) {
        become(how);
    }
    const auto number = errno;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = number;
    return id;
}

// 0: it has become the program.
int failure_of(core::descriptor& ours, core::descriptor& theirs)
{
    theirs.reset();
    int number = 0;
    while (::read(ours.number(), &number, sizeof number) < 0 && errno == EINTR) {
    }
    return number;
}

// Variables with room for an id, and where it is to be written.
struct id_variables {
    std::vector<std::string> texts;
    std::vector<char*> places;
};

id_variables variables_for_ids(const std::vector<std::string>& names)
{
    id_variables out;
    out.texts.reserve(names.size() + 1);
    const auto add = [&out](const std::string& name) {
        auto& text = out.texts.emplace_back(name + '=');
        const auto begin = text.size();
        text.append(longest_id + 1, '\0');
        out.places.push_back(text.data() + begin);
    };
    add("LISTEN_PID");
    std::ranges::for_each(names, add);
    out.places.push_back(nullptr);
    return out;
}

// Copies of the sockets whose numbers are none that a socket gets there.
core::result<std::vector<core::descriptor>> out_of_the_way(const std::vector<std::pair<std::string, int>>& sockets)
{
    std::vector<core::descriptor> copies;
    const int above = first_socket + static_cast<int>(sockets.size()) + 1;
    for (const auto& [name, number] : sockets) {
        copies.emplace_back(::fcntl(number, F_DUPFD_CLOEXEC, above));
        if (!copies.back().open()) {
            return failure("a socket cannot be passed", errno);
        }
    }
    return copies;
}

}  // namespace

core::result<started_successor> start_successor(const successor_command& command)
{
    auto copies = out_of_the_way(command.sockets);
    if (!copies) {
        return std::move(copies).error();
    }
    std::vector<int> numbers;
    std::string names;
    for (std::size_t i = 0; i < copies->size(); ++i) {
        numbers.push_back((*copies)[i].number());
        names += (i == 0 ? "" : ":") + command.sockets[i].first;
    }
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
        return failure("no pipe", errno);
    }
    core::descriptor ours{pipe[0]};
    core::descriptor report{pipe[1]};
    // Above all numbers that the child overwrites.
    core::descriptor theirs{
        ::fcntl(report.number(), F_DUPFD_CLOEXEC, first_socket + static_cast<int>(numbers.size()) + 1)
    };
    if (!theirs.open()) {
        return failure("no pipe", errno);
    }
    report.reset();
    auto arguments = command.arguments;
    auto environment = command.environment;
    environment.push_back("LISTEN_FDS=" + std::to_string(numbers.size()));
    environment.push_back("LISTEN_FDNAMES=" + names);
    auto ids = variables_for_ids(command.own_id);
    const auto argument_list = pointers_to(arguments);
    auto environment_list = pointers_to(environment);
    environment_list.pop_back();
    for (auto& each : ids.texts) {
        environment_list.push_back(each.data());
    }
    environment_list.push_back(nullptr);
    const preparation how{
        command.program.c_str(),
        argument_list.data(),
        environment_list.data(),
        ids.places.data(),
        numbers.data(),
        static_cast<int>(numbers.size()),
        theirs.number()
    };
    const auto id = start(how);
    if (id < 0) {
        return failure("no process", errno);
    }
    started_successor out{id, core::descriptor{static_cast<int>(::syscall(SYS_pidfd_open, id, 0))}};
    if (const int number = failure_of(ours, theirs); number != 0) {
        kill_successor(out);
        return failure(command.program, number);
    }
    return out;
}

void kill_successor(const started_successor& which)
{
    ::kill(which.id, SIGKILL);
    while (::waitpid(which.id, nullptr, 0) < 0 && errno == EINTR) {
    }
}

}  // namespace net
