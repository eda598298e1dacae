// Starts a program that is to take this process's place: it has our standard streams, user, directory and group, and beside them the
// sockets that it is given, as systemd's socket activation passes them (sd_listen_fds(3)). It outlives us. Linux.
#pragma once

#include "core/descriptor.hpp"
#include "core/error.hpp"

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace net {

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
