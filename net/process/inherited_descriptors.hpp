// Sockets that this process was started with, as systemd's socket activation passes them (sd_listen_fds(3)): LISTEN_PID,
// LISTEN_FDS and LISTEN_FDNAMES say which, and they begin at 3. Linux.
#pragma once

#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "net/loop/types.hpp"

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace net {

// The value of a variable of the environment; nothing: it is not set.
using variables = std::function<std::optional<std::string>(std::string_view name)>;

struct inherited_descriptor {
    int number = -1;
    std::string name;

    friend bool operator==(const inherited_descriptor&, const inherited_descriptor&) = default;
};

// Of a process `self`. None: nothing was passed, or it was passed to another process. Fails with config_invalid: LISTEN_FDS is no
// number up to 1024, or does not have as many names. Pure.
core::result<std::vector<inherited_descriptor>> inherited_descriptors(const variables& environment, pid_t self);

// A socket that listens already; another process may have it, too.
struct inherited_socket {
    core::descriptor socket;
    tcp::endpoint local;
};

// Takes one of them; programs that this process starts do not get it. Fails with config_invalid, and leaves the descriptor as it
// is: it is not open, or no TCP socket that listens.
core::result<inherited_socket> take_listening_socket(const inherited_descriptor& from);

// The same of an end of a socket pair. Fails with config_invalid: it is no connected Unix-domain stream.
core::result<core::descriptor> take_socket_pair(const inherited_descriptor& from);

}  // namespace net
