#include "tests/flow/child_process.hpp"

#include "core/descriptor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <stdexcept>
#include <system_error>

namespace flow {
namespace {

void check(int outcome, const char* what)
{
    if (outcome != 0) {
        throw std::system_error{outcome, std::generic_category(), what};
    }
}

std::array<int, 2> make_pipe()
{
    std::array<int, 2> ends{};
    check(::pipe2(ends.data(), O_CLOEXEC) == 0 ? 0 : errno, "pipe2");
    return ends;
}

// Copies whose numbers are none of those that a child is to have them under.
std::vector<core::descriptor> out_of_the_way(const std::vector<int>& descriptors)
{
    constexpr int above_all = 200;
    std::vector<core::descriptor> copies;
    for (const auto each : descriptors) {
        copies.emplace_back(::fcntl(each, F_DUPFD_CLOEXEC, above_all));
        check(copies.back().open() ? 0 : errno, "F_DUPFD_CLOEXEC");
    }
    return copies;
}

// Ours, but for where the program keeps its state, and `more`.
std::vector<std::string> environment(const std::string& state, const std::vector<std::string>& more)
{
    auto all = more;
    all.push_back("XDG_STATE_HOME=" + state);
    for (char** each = environ; *each != nullptr; ++each) {
        const std::string_view variable{*each};
        if (!variable.starts_with("XDG_STATE_HOME=") && !variable.starts_with("STATE_DIRECTORY=")) {
            all.emplace_back(*each);
        }
    }
    return all;
}

}  // namespace

child_process::child_process(const std::string& program, std::vector<std::string> arguments, const handed_over& more)
{
    const auto out = make_pipe();
    const auto err = make_pipe();
    out_.descriptor = out[0];
    err_.descriptor = err[0];
    arguments.insert(arguments.begin(), program);
    // Only the process itself knows its id; exec keeps it.
    const std::string shell = "/bin/sh";
    if (!more.descriptors.empty()) {
        arguments.insert(arguments.begin(), {shell, "-c", R"(export LISTEN_PID=$$; exec "$0" "$@")"});
    }
    std::vector<char*> words;
    for (auto& each : arguments) {
        words.push_back(each.data());
    }
    words.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
    const auto copies = out_of_the_way(more.descriptors);
    for (std::size_t i = 0; i < copies.size(); ++i) {
        ::posix_spawn_file_actions_adddup2(&actions, copies[i].number(), STDERR_FILENO + 1 + static_cast<int>(i));
    }
    // What the test has open beside them would stay open with the process.
    ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1 + static_cast<int>(copies.size()));
    // A shell that runs tests in the background has made them ignore SIGINT.
    sigset_t by_default;
    ::sigemptyset(&by_default);
    ::sigaddset(&by_default, SIGINT);
    ::sigaddset(&by_default, SIGTERM);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setsigdefault(&attributes, &by_default);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    auto variables = environment(state_.path().string(), more.variables);
    std::vector<char*> pointers;
    for (auto& each : variables) {
        pointers.push_back(each.data());
    }
    pointers.push_back(nullptr);
    const auto& begins = more.descriptors.empty() ? program : shell;
    const auto outcome = ::posix_spawn(&id_, begins.c_str(), &actions, &attributes, words.data(), pointers.data());
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(out[1]);
    ::close(err[1]);
    check(outcome, program.c_str());
}

child_process::~child_process()
{
    if (!ended_) {
        ::kill(id_, SIGKILL);
        ::waitpid(id_, nullptr, 0);
    }
    for (const auto descriptor : {out_.descriptor, err_.descriptor}) {
        if (descriptor >= 0) {
            ::close(descriptor);
        }
    }
}

void child_process::signal(int number) const
{
    check(::kill(id_, number) == 0 ? 0 : errno, "kill");
}

void child_process::take(pipe_end& from)
{
    std::array<char, 4096> block;
    const auto count = ::read(from.descriptor, block.data(), block.size());
    if (count > 0) {
        from.text.append(block.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
        ::close(from.descriptor);
        from.descriptor = -1;
    }
}

// Reads what there is; waits for something if there is nothing. False: both pipes are at their end, or it is too late.
bool child_process::pump(std::chrono::steady_clock::time_point until)
{
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if ((out_.descriptor < 0 && err_.descriptor < 0) || left.count() <= 0) {
        return false;
    }
    std::array<pollfd, 2> watched{{{out_.descriptor, POLLIN, 0}, {err_.descriptor, POLLIN, 0}}};
    if (::poll(watched.data(), watched.size(), static_cast<int>(left.count())) <= 0) {
        return true;
    }
    for (auto* end : {&out_, &err_}) {
        const auto& seen = watched[end == &out_ ? 0 : 1];
        if (end->descriptor >= 0 && seen.revents != 0) {
            take(*end);
        }
    }
    return true;
}

std::optional<std::string> child_process::wait_for_line(
    const std::function<bool(std::string_view line)>& wanted,
    std::chrono::milliseconds timeout
)
{
    const auto until = std::chrono::steady_clock::now() + timeout;
    std::size_t from = 0;
    do {
        for (auto end = err_.text.find('\n', from); end != std::string::npos; end = err_.text.find('\n', from)) {
            auto line = err_.text.substr(from, end - from);
            if (wanted(line)) {
                return line;
            }
            from = end + 1;
        }
    } while (pump(until));
    return std::nullopt;
}

std::optional<int> child_process::wait(std::chrono::milliseconds timeout)
{
    const auto until = std::chrono::steady_clock::now() + timeout;
    while (pump(until)) {
    }
    // Both pipes are at their end: the process is gone, or about to be.
    while (!ended_ && std::chrono::steady_clock::now() < until) {
        int status = 0;
        const auto outcome = ::waitpid(id_, &status, WNOHANG);
        if (outcome == id_) {
            ended_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
        } else if (outcome < 0 && errno != EINTR) {
            check(errno, "waitpid");
        }
    }
    return ended_;
}

std::optional<std::uint64_t> child_process::private_memory() const
{
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    return std::nullopt;
#else
    // Anybody may read it: smaps_rollup is closed for a process that cannot be dumped.
    std::ifstream file{"/proc/" + std::to_string(id_) + "/status"};
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("RssAnon:")) {
            return std::stoull(line.substr(line.find(':') + 1)) * 1024;
        }
    }
    return std::nullopt;
#endif
}

std::uint16_t listening_port(std::string_view line, std::string_view listener)
{
    const auto key = '"' + std::string{listener} + R"(":")";
    const auto begin = line.find(key);
    if (begin == std::string_view::npos) {
        throw std::runtime_error{"no " + key + " in " + std::string{line}};
    }
    const auto end = line.find('"', begin + key.size());
    return static_cast<std::uint16_t>(std::stoul(std::string{line.substr(line.rfind(':', end) + 1)}));
}

}  // namespace flow
