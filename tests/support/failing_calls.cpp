// The library of failing_calls.hpp. It stands before the C library: each function here fails if the board says so, and else is the C
// library's own.
#include "tests/support/failing_calls.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

using test_support::failing;
using test_support::fault_board;

fault_board* board = nullptr;

template <class Function>
Function next_of(const char* name)
{
    return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

bool fails(failing kind)
{
    if (board == nullptr) {
        return false;
    }
    auto& rule = board->rules[static_cast<std::size_t>(kind)];
    if (rule.first == 0) {
        return false;
    }
    const auto call = ++rule.calls;
    const std::uint64_t every = rule.every;
    const std::uint64_t first = rule.first;
    if (first == 0 || call < first || call > rule.last || (every > 1 && (call - first) % every != 0)) {
        return false;
    }
    ++rule.failed;
    errno = rule.error;
    return true;
}

bool is_meant(const char* path)
{
    return board != nullptr && (board->path[0] == '\0' || std::strstr(path, board->path.data()) != nullptr);
}

// Of a descriptor that is used.
bool fails(failing kind, int descriptor)
{
    if (board == nullptr || board->rules[static_cast<std::size_t>(kind)].first == 0) {
        return false;
    }
    if (board->path[0] == '\0') {
        return fails(kind);
    }
    std::array<char, 64> link{};
    std::array<char, 512> path{};
    constexpr std::size_t prefix = 14;  // "/proc/self/fd/"
    std::memcpy(link.data(), "/proc/self/fd/", prefix);
    std::array<char, 16> digits{};
    std::size_t count = 0;
    for (auto left = static_cast<unsigned>(descriptor); left > 0 || count == 0; left /= 10) {
        digits[count++] = static_cast<char>('0' + left % 10);
    }
    for (std::size_t i = 0; i < count; ++i) {
        link[prefix + i] = digits[count - 1 - i];
    }
    return ::readlink(link.data(), path.data(), path.size() - 1) > 0 && is_meant(path.data()) && fails(kind);
}

void do_nothing(int /*signal*/) {}

__attribute__((constructor)) void begin()
{
    const char* const file = std::getenv("CARDEA_FAULT_BOARD");
    const int opened = file == nullptr ? -1 : static_cast<int>(::syscall(SYS_open, file, O_RDWR | O_CLOEXEC, 0));
    if (opened < 0) {
        return;
    }
    auto* const memory = ::mmap(nullptr, sizeof(fault_board), PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
    ::close(opened);
    if (memory != MAP_FAILED) {
        board = static_cast<fault_board*>(memory);
        struct sigaction interrupt{};
        interrupt.sa_handler = do_nothing;  // without SA_RESTART: SIGURG interrupts what waits
        ::sigaction(SIGURG, &interrupt, nullptr);
    }
}

void stop_if_asked()
{
    if (board == nullptr) {
        return;
    }
    auto& asked = ::syscall(SYS_gettid) == ::getpid() ? board->stop_main_loop : board->stop_another_loop;
    if (const auto time = asked.exchange(0); time > 0) {
        ++board->stopped_loops;
        timespec left{time / 1000, time % 1000 * 1'000'000};
        while (::nanosleep(&left, &left) != 0 && errno == EINTR) {
        }
    }
}

void shift(timespec& time)
{
    constexpr std::int64_t second = 1'000'000'000;
    const std::int64_t offset = board->clock_offset;
    time.tv_sec += offset / second;
    time.tv_nsec += offset % second;
    if (time.tv_nsec < 0) {
        time.tv_nsec += second;
        --time.tv_sec;
    } else if (time.tv_nsec >= second) {
        time.tv_nsec -= second;
        ++time.tv_sec;
    }
}

int mode_of(int flags, va_list& more)
{
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, int) : 0;
}

}  // namespace

extern "C" {

int accept4(int socket, sockaddr* peer, socklen_t* size, int flags)
{
    static const auto real = next_of<decltype(&accept4)>("accept4");
    return fails(failing::accept) ? -1 : real(socket, peer, size, flags);
}

int accept(int socket, sockaddr* peer, socklen_t* size)
{
    static const auto real = next_of<decltype(&accept)>("accept");
    return fails(failing::accept) ? -1 : real(socket, peer, size);
}

int socket(int family, int type, int protocol)
{
    static const auto real = next_of<decltype(&socket)>("socket");
    return is_meant("socket:") && fails(failing::open) ? -1 : real(family, type, protocol);
}

int open(const char* path, int flags, ...)
{
    static const auto real = next_of<decltype(&open)>("open");
    va_list more;
    va_start(more, flags);
    const auto mode = mode_of(flags, more);
    va_end(more);
    return is_meant(path) && fails(failing::open) ? -1 : real(path, flags, mode);
}

int open64(const char* path, int flags, ...)
{
    static const auto real = next_of<decltype(&open64)>("open64");
    va_list more;
    va_start(more, flags);
    const auto mode = mode_of(flags, more);
    va_end(more);
    return is_meant(path) && fails(failing::open) ? -1 : real(path, flags, mode);
}

ssize_t read(int descriptor, void* into, std::size_t size)
{
    static const auto real = next_of<decltype(&read)>("read");
    return fails(failing::read, descriptor) ? -1 : real(descriptor, into, size);
}

ssize_t pread64(int descriptor, void* into, std::size_t size, off64_t from)
{
    static const auto real = next_of<decltype(&pread64)>("pread64");
    return fails(failing::read, descriptor) ? -1 : real(descriptor, into, size, from);
}

ssize_t recv(int descriptor, void* into, std::size_t size, int flags)
{
    static const auto real = next_of<decltype(&recv)>("recv");
    return fails(failing::read, descriptor) ? -1 : real(descriptor, into, size, flags);
}

ssize_t recvmsg(int descriptor, msghdr* message, int flags)
{
    static const auto real = next_of<decltype(&recvmsg)>("recvmsg");
    return fails(failing::read, descriptor) ? -1 : real(descriptor, message, flags);
}

ssize_t write(int descriptor, const void* from, std::size_t size)
{
    static const auto real = next_of<decltype(&write)>("write");
    return fails(failing::write, descriptor) ? -1 : real(descriptor, from, size);
}

ssize_t pwrite64(int descriptor, const void* from, std::size_t size, off64_t at)
{
    static const auto real = next_of<decltype(&pwrite64)>("pwrite64");
    return fails(failing::write, descriptor) ? -1 : real(descriptor, from, size, at);
}

ssize_t send(int descriptor, const void* from, std::size_t size, int flags)
{
    static const auto real = next_of<decltype(&send)>("send");
    return fails(failing::write, descriptor) ? -1 : real(descriptor, from, size, flags);
}

ssize_t sendmsg(int descriptor, const msghdr* message, int flags)
{
    static const auto real = next_of<decltype(&sendmsg)>("sendmsg");
    return fails(failing::write, descriptor) ? -1 : real(descriptor, message, flags);
}

int fsync(int descriptor)
{
    static const auto real = next_of<decltype(&fsync)>("fsync");
    return fails(failing::sync, descriptor) ? -1 : real(descriptor);
}

int fdatasync(int descriptor)
{
    static const auto real = next_of<decltype(&fdatasync)>("fdatasync");
    return fails(failing::sync, descriptor) ? -1 : real(descriptor);
}

int epoll_wait(int set, epoll_event* events, int most, int timeout)
{
    static const auto real = next_of<decltype(&epoll_wait)>("epoll_wait");
    const auto count = real(set, events, most, timeout);
    stop_if_asked();
    return count;
}

int clock_gettime(clockid_t clock, timespec* time)
{
    static const auto real = next_of<decltype(&clock_gettime)>("clock_gettime");
    const auto outcome = real(clock, time);
    if (board != nullptr && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        shift(*time);
    }
    return outcome;
}

int gettimeofday(timeval* time, void* zone)
{
    static_cast<void>(zone);
    timespec now{};
    const auto outcome = clock_gettime(CLOCK_REALTIME, &now);
    *time = {now.tv_sec, now.tv_nsec / 1000};
    return outcome;
}

time_t time(time_t* into)
{
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    if (into != nullptr) {
        *into = now.tv_sec;
    }
    return now.tv_sec;
}

}  // extern "C"
