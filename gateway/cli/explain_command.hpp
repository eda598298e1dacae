// `cardea explain`: why a running gateway, or a configuration, lets a request pass or denies it.
#pragma once

#include "config/settings.hpp"
#include "gateway/cli/admin_options.hpp"

#include <string>
#include <vector>

namespace gateway::cli {

// The arguments of one command. Text that was not given is empty. `token_file` is the credential for the admin listener.
struct explain_command : admin_options {
    std::string agent;
    std::string method;
    std::string tool;
    std::string principal;  // its id
    std::string provider;
    std::vector<std::string> scopes;  // instead of those of a key or a token of the configuration, as the next three
    std::vector<std::string> groups;
    std::string tenant;
    std::vector<std::string> claims;  // NAME=VALUE
    std::string credential_file;      // with a credential instead of a principal, `-` for stdin
    std::string field;                // of the credential; empty: a bearer token
    bool anonymous = false;
};

// Prints the explanation to stdout, failures to stderr; what is printed is safe for a terminal. exit_code::done: the request is let pass;
// refused: it is denied. Blocking.
exit_code run_explain_command(const explain_command& command, const environment& variable);

// Decides by these settings instead, without a gateway: credentials of keys and static tokens alone are known.
exit_code explain_by(const config::settings& settings, const explain_command& command);

}  // namespace gateway::cli
