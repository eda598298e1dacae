// The configuration: the file, and the command line, which overrides it. Read at the start, and again on every reload. Blocking.
#pragma once

#include "config/expand.hpp"
#include "config/settings.hpp"
#include "gateway/cli/command_line.hpp"
#include "gateway/reload/changed_files.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::reload {

// `text` is shown as `file:line:column: warning: key: what`; the settings are usable.
struct config_warning {
    std::string text;
    std::string_view event = "config_warning";  // of the line about it in the log

    bool operator==(const config_warning&) const = default;
};

// The text, with the event's name in brackets if it has one of its own.
std::string shown(const config_warning& warning);

// The addresses of sockets that the process was started with. They replace what the file and the command line say, so that an address is judged by
// where it really is; a socket on every address (0.0.0.0, ::) is open to other machines.
struct inherited_addresses {
    std::optional<config::endpoint> listen;
    std::optional<config::endpoint> admin;
    std::optional<config::endpoint> metrics;
};

struct configuration {
    config::settings settings;          // usable only if there are no problems
    std::vector<std::string> problems;  // as they are shown: `file:line:column: key: what`
    std::vector<config_warning> warnings;
    std::string text;                         // of the file
    std::string sha256;                       // of the file's text, in hex; empty: there is none
    std::map<std::string, file_stamp> files;  // what it was read from, as they were before they were read

    std::map<std::string, std::size_t> tls_files;  // of agents: a hash of what was in each

    inherited_addresses written;  // the addresses of the file and the command line, without inherited sockets
};

// Whether one of the files is another one now.
bool outdated(const std::map<std::string, file_stamp>& files);

enum class reading : bool { first, again };

// Read again, a file has to be a regular one: a pipe has nothing more to say, and waiting for it would take forever.
configuration read_configuration(
    const cli::command_line& asked,
    const config::environment& variables,
    reading turn,
    const inherited_addresses& inherited = {}
);

// Which settings and agents the command line gives, and by which flag.
std::map<std::string, std::string> flags_of(const cli::command_line& asked);

// Where a change of what these paths lead to shows: the directories of the files, and those of every symbolic link on
// the way; where a part is missing, the one in which it would appear. Kubernetes swaps a link beside the file, editors
// rename.
std::set<std::string> directories_of(const std::map<std::string, file_stamp>& files);

// Scheme and authority of the gateway for callers. `bound`: where the traffic listener is. Pure; any thread.
std::string public_base_of(const config::settings& settings, const std::string& bound);

// Whether `url` (http or https) is at `listen` or `admin`, or below `public_url`. All names of loopback are one host, and a listener
// on every address (0.0.0.0, ::) is on loopback too. Other names of this machine are not looked up.
bool is_own_address(const std::string& url, const config::settings& settings);

}  // namespace gateway::reload
