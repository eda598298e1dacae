#include "net/process/spawn.hpp"

#include "core/descriptor.hpp"
#include "net/loop/descriptor_budget.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <mutex>
#include <string_view>
#include <system_error>
#include <vector>

namespace net {
namespace {

constexpr rlim_t most_descriptors = 1024;  // what programs expect that look at each of them
constexpr int not_started = 127;

// An error that remains until somebody changes something.
bool lasts(int number) noexcept
{
    constexpr std::array lasting{ENOENT, EACCES, EISDIR, ELOOP, ENAMETOOLONG, ENOEXEC, ENOTDIR};
    return std::ranges::find(lasting, number) != lasting.end();
}

core::error failure(std::string_view program, std::string_view problem, int number)
{
    return core::upstream_error(
        lasts(number) ? core::errc::session_misconfigured : core::errc::session_crashed,
        std::string{program} + ": " + std::string{problem} + std::generic_category().message(number)
    );
}

struct pipe_ends {
    core::descriptor read;
    core::descriptor write;
};

bool make_pipe(pipe_ends& pipe)
{
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return false;
    }
    pipe.read = core::descriptor{ends[0]};
    pipe.write = core::descriptor{ends[1]};
    return true;
}

bool unblock(const core::descriptor& end)
{
    return ::fcntl(end.number(), F_SETFL, O_NONBLOCK) == 0;
}

// A name that execve() takes; empty: there is no such program. As the shell's search, but for an empty PATH, which means
// nothing here and not the directory that the gateway happens to run in.
std::string found_program(const child_command& command)
{
    if (command.program.find('/') != std::string::npos) {
        return command.program;
    }
    std::string_view path = "/usr/local/bin:/usr/bin:/bin";
    for (const auto& [name, value] : command.environment) {
        path = name == "PATH" ? std::string_view{value} : path;
    }
    while (!path.empty() && !command.program.empty()) {
        const auto end = std::min(path.find(':'), path.size());
        const auto folder = path.substr(0, end);
        path.remove_prefix(std::min(end + 1, path.size()));
        if (!folder.starts_with('/')) {
            continue;
        }
        auto candidate = std::string{folder} + '/' + command.program;
        struct ::stat status{};
        if (::stat(candidate.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
            ::access(candidate.c_str(), X_OK) == 0) {
            return candidate;
        }
    }
    return {};
}

std::vector<char*> pointers_to(std::vector<std::string>& texts)
{
    std::vector<char*> all;
    std::transform(texts.begin(), texts.end(), std::back_inserter(all), [](std::string& each) { return each.data(); });
    all.push_back(nullptr);
    return all;
}

enum class step : int { none, directory, program };

// The child writes this if it does not become the program; else its end of the pipe closes.
struct failed_step {
    step at = step::none;
    int number = 0;
};

// Where the child has its end of that pipe.
constexpr int report_descriptor = STDERR_FILENO + 1;

// Everything that the child needs, made before it exists: between vfork() and execve() it shares our memory and may do nothing but
// system calls.
struct preparation {
    const char* program;
    char* const* arguments;
    char* const* environment;
    const char* directory;  // null: stays
    int input;
    int output;
    int complaints;
    int report;
    pid_t parent;
    rlimit descriptors;
};

[[noreturn]] void give_up(step at)
{
    const failed_step report{at, errno};
    [[maybe_unused]] const auto written = ::write(report_descriptor, &report, sizeof report);
    ::_exit(not_started);
}

// In the child; ends only by becoming the program or by _exit().
[[noreturn]] void become(const preparation& how)
{
    for (int number = 1; number < NSIG; ++number) {
        ::signal(number, SIG_DFL);
    }
    ::setsid();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != how.parent) {
        ::_exit(not_started);
    }
    ::dup2(how.input, STDIN_FILENO);
    ::dup2(how.output, STDOUT_FILENO);
    ::dup2(how.complaints, STDERR_FILENO);
    ::dup3(how.report, report_descriptor, O_CLOEXEC);
    ::syscall(SYS_close_range, report_descriptor + 1, ~0U, 0);
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    ::setrlimit(RLIMIT_NOFILE, &how.descriptors);
    if (how.directory != nullptr && ::chdir(how.directory) != 0) {
        give_up(step::directory);
    }
    sigset_t nothing;
    ::sigemptyset(&nothing);
    ::pthread_sigmask(SIG_SETMASK, &nothing, nullptr);
    ::execve(how.program, how.arguments, how.environment);
    give_up(step::program);
}

// Waits until the child has become the program, which leaves a Report without a value, or has said why not. Our own copy of the other end
// is closed.
template <class Report>
Report read_report(const core::descriptor& from)
{
    Report found{};
    while (::read(from.number(), &found, sizeof found) < 0 && errno == EINTR) {
    }
    return found;
}

rlimit descriptors_of_child()
{
    rlimit now{};
    ::getrlimit(RLIMIT_NOFILE, &now);
    now.rlim_cur = std::min(now.rlim_cur, most_descriptors);
    return now;
}

// Children that could not be reaped when that was asked for.
struct held_children {
    std::mutex mutex;
    std::vector<pid_t> all;

    static held_children& of_process()
    {
        static held_children held;
        return held;
    }
};

// False: it is held.
bool try_to_reap(pid_t child, siginfo_t& how)
{
    how = {};
    int outcome = 0;
    do {
        outcome = ::waitid(P_PID, static_cast<id_t>(child), &how, WEXITED | WNOHANG);
    } while (outcome != 0 && errno == EINTR);
    return outcome != 0 || how.si_pid != 0;
}

void reap_held()
{
    auto& held = held_children::of_process();
    const std::lock_guard lock{held.mutex};
    std::erase_if(held.all, [ignored = siginfo_t{}](pid_t each) mutable { return try_to_reap(each, ignored); });
}

constexpr int first_socket = STDERR_FILENO + 1;
constexpr std::size_t longest_id = 20;

core::error no_successor(std::string_view what, int number)
{
    return core::gateway_error(
        core::errc::internal,
        std::string{what} + ": " + std::generic_category().message(number)
    );
}

// As preparation, of a successor.
struct successor_preparation {
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
[[noreturn]] void become(const successor_preparation& how)
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

// No signal may run a handler of ours in the child, and vfork() costs the same however much memory this process has.
template <class Preparation>
pid_t start(const Preparation& how)
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
            return no_successor("a socket cannot be passed", errno);
        }
    }
    return copies;
}

}  // namespace

std::optional<siginfo_t> reap(pid_t child)
{
    siginfo_t how;
    if (try_to_reap(child, how)) {
        return how;
    }
    auto& held = held_children::of_process();
    const std::lock_guard lock{held.mutex};
    held.all.push_back(child);
    return std::nullopt;
}

core::result<spawned_child> spawn(const child_command& command)
{
    reap_held();
    const auto program = found_program(command);
    if (program.empty()) {
        return failure(command.program, "", ENOENT);
    }
    pipe_ends in;
    pipe_ends out;
    pipe_ends complaints;
    pipe_ends report;
    if (!make_pipe(in) || !make_pipe(out) || !make_pipe(complaints) || !make_pipe(report) || !unblock(in.write) ||
        !unblock(out.read) || !unblock(complaints.read)) {
        return failure(command.program, "no pipe: ", errno);
    }
    if (!leaves_room_for_callers(report.write.number())) {
        return failure(command.program, "the descriptors that are left are kept for callers: ", EMFILE);
    }
    std::vector<std::string> arguments{command.program};
    arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
    std::vector<std::string> environment;
    environment.reserve(command.environment.size());
    for (const auto& [name, value] : command.environment) {
        environment.emplace_back(name).append("=").append(value);
    }
    const auto argument_list = pointers_to(arguments);
    const auto environment_list = pointers_to(environment);
    const preparation how{
        program.c_str(),
        argument_list.data(),
        environment_list.data(),
        command.directory.empty() ? nullptr : command.directory.c_str(),
        in.read.number(),
        out.write.number(),
        complaints.write.number(),
        report.write.number(),
        ::getpid(),
        descriptors_of_child()
    };
    const auto id = start(how);
    if (id < 0) {
        return failure(command.program, "no process: ", errno);
    }
    core::descriptor handle{static_cast<int>(::syscall(SYS_pidfd_open, id, 0))};
    const auto no_handle = handle.open() ? 0 : errno;
    report.write.reset();
    const auto failed = read_report<failed_step>(report.read);
    if (no_handle != 0 || failed.at != step::none) {
        ::kill(-id, SIGKILL);
        ::waitpid(id, nullptr, 0);
    }
    if (failed.at != step::none) {
        return failure(failed.at == step::directory ? command.directory : command.program, "", failed.number);
    }
    if (no_handle != 0) {
        return failure(command.program, "no handle: ", no_handle);
    }
    return spawned_child{id, handle.release(), in.write.release(), out.read.release(), complaints.read.release()};
}

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
        return no_successor("no pipe", errno);
    }
    core::descriptor ours{pipe[0]};
    core::descriptor report{pipe[1]};
    // Above all numbers that the child overwrites.
    core::descriptor theirs{
        ::fcntl(report.number(), F_DUPFD_CLOEXEC, first_socket + static_cast<int>(numbers.size()) + 1)
    };
    if (!theirs.open()) {
        return no_successor("no pipe", errno);
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
    const successor_preparation how{
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
        return no_successor("no process", errno);
    }
    started_successor out{id, core::descriptor{static_cast<int>(::syscall(SYS_pidfd_open, id, 0))}};
    theirs.reset();
    if (const auto number = read_report<int>(ours); number != 0) {
        kill_successor(out);
        return no_successor(command.program, number);
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
