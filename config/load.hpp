// A configuration's text to one validated value. Pure: files and the environment come in as functions. Never throws.
#pragma once

#include "config/agents.hpp"
#include "config/expand.hpp"
#include "config/problem.hpp"
#include "config/settings.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace config {

struct loaded {
    settings value;                              // usable only if there are no problems
    std::vector<problem> problems;               // all of them, in the order of the file; at most problem_list::most
    std::vector<problem> warnings;               // in the order of the file; at most problem_list::most
    std::optional<place> listen_at;              // where the value of `listen` is, if the file has it
    std::optional<place> admin_at;               // the same of `admin`
    std::map<std::string, place> agent_urls_at;  // the same of addresses of agents, by key: `agents.a.url`
};

// Whether `listen` is an address for strangers is not looked at: the command line may replace it (config/exposure.hpp).
// `file_name` is what problems are reported with. `variables` expands `${NAME}`; `secrets` reads what `bearer_file`
// names: without it, such a key is a problem. `tls` looks at certificates, keys and authorities.
loaded load(
    std::string_view text,
    std::string_view file_name,
    const environment& variables,
    const secret_reader& secrets = {},
    const tls_checks& tls = {}
);

}  // namespace config
