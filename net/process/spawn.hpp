// Starts a program as a child of this process, with nothing of it but three pipes. Blocking for as long as the system takes
// to start it; the thread that starts children must outlive them (PR_SET_PDEATHSIG). Linux.
#pragma once

#include "core/error.hpp"

#include <sys/types.h>

#include <csignal>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace net {

struct child_command {
    std::string program;  // a path, or a name without '/' that is looked up in the PATH of `environment`
    std::vector<std::string> arguments;
    std::vector<std::pair<std::string, std::string>> environment;  // all of it: nothing is inherited
    std::string directory;                                         // where it runs; empty: where the gateway runs
};

// Descriptors that the receiver closes.
struct spawned_child {
    pid_t id = -1;        // also of its session and its process group
    int handle = -1;      // a pidfd: readable when it has ended
    int input = -1;       // writes to its stdin
    int output = -1;      // reads its stdout
    int complaints = -1;  // reads its stderr
};

// The child leads a session and a process group of its own, has default signal handling, at most 1024 descriptors, writes no core, and
// is killed when this thread ends. No shell is involved. Our ends do not block. Fails with
// session_misconfigured: no such program, not executable, no such directory; with session_crashed: no processes or descriptors
// left (leaves_room_for_callers()). The detail holds neither arguments nor environment.
core::result<spawned_child> spawn(const child_command& command);

// Takes a child that has ended from the system's table: to be called once. Nothing: it cannot be had, because it is traced by
// somebody or does not end; later calls of spawn() take it. Does not block; the thread that starts children.
std::optional<siginfo_t> reap(pid_t child);

}  // namespace net
