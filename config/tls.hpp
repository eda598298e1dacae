// Certificates, keys and authorities: files that are named here and used elsewhere.
#pragma once

#include "config/fields.hpp"
#include "config/problem.hpp"
#include "config/settings.hpp"
#include "core/agent.hpp"
#include "core/error.hpp"

#include <functional>
#include <string>
#include <vector>

namespace config {

// Whether a file can be used; if not, the detail says why, as a predicate: "cannot be opened: …". What is not set is not
// looked at.
struct tls_checks {
    std::function<core::result<>(const std::string& ca_file)> authorities;
    // `by_name`: there are others before it, so that it needs a DNS name to be chosen by.
    std::function<core::result<>(const std::string& cert, bool by_name)> certificate;
    std::function<core::result<>(const std::string& cert, const std::string& key)> key;
    std::function<core::result<>(const std::string& path)> signing_key;
    std::function<core::result<>(const std::string& path)> key_set;
};

// `tls`: one map with `cert`, `key` and perhaps `names`, or a list of them.
std::vector<certificate_files> read_certificates(const field& f, const tls_checks& checks, problem_list& problems);

// `agents.<id>.tls`: `ca_file`, and `cert` with `key`.
void read_agent_tls(const field& f, const tls_checks& checks, core::agent& into, problem_list& problems);

}  // namespace config
