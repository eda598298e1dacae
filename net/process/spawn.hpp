// Starts programs: a child of this process, with nothing of it but three pipes, and a successor that takes this process's place and
// outlives it. Blocking for as long as the system takes to start them; the thread that starts children must outlive them
// (PR_SET_PDEATHSIG). Linux.
#pragma once

#include "core/descriptor.hpp"
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

// The successor has our standard streams, user, directory and group, and beside them the sockets that it is given, as systemd's socket
// activation passes them (sd_listen_fds(3)).
struct successor_command {
    std::string program;                               // a path with a '/'
    std::vector<std::string> arguments;                // the first one is the program's name
    std::vector<std::string> environment;              // NAME=VALUE, all of it, without what is below
    std::vector<std::pair<std::string, int>> sockets;  // names and numbers: LISTEN_FDNAMES, and 3, 4, … there
    std::vector<std::string> own_id;                   // names of variables that say its id, beside LISTEN_PID
};

// A process that was started. Whoever has it kills or forgets it.
struct started_successor {
    pid_t id = -1;
    core::descriptor handle;  // a pidfd: readable when it has ended
};

// Blocking for as long as the system takes to start it. Fails with internal: the detail says what is missing.
core::result<started_successor> start_successor(const successor_command& command);

// SIGKILL, and waits until it is gone, so that what it held is free. One that has ended already is only taken from the system's table.
void kill_successor(const started_successor& which);

}  // namespace net
