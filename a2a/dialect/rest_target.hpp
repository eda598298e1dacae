// Targets of HTTP+JSON: what a verb and a path ask for, and the path that asks for it (specification 0.3.0 section
// 3.5.6, 1.0.1 section 11.3; google.api.http of their protocol buffers). Pure; any thread.
#pragma once

#include "a2a/method.hpp"
#include "core/error.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace a2a {

struct rest_target {
    operation what = operation::none;
    generation version = generation::v03;
    // Decoded; empty: there is none.
    std::string tenant;  // of 1.0 only
    std::string task_id;
    std::string config_id;
    std::string_view query;  // without the question mark; a view of the target
};

// `target` is what follows the address of the interface: `/v1/tasks/t-1:cancel`, `/acme/tasks?pageSize=5`. Of 1.0 it
// may begin with a tenant. The path says the generation (`/v1/` is 0.3), unless `said` does: a tenant of 1.0 may be
// called v1. Subscribe may be GET or POST in both. The part behind the last colon is a verb if an operation has it,
// else belongs to the id. Fails with not_found, also for ids that are not UTF-8 and for what servers read in different ways (an id
// or tenant with a semicolon, a GET of a task whose id ends in an encoded `:subscribe`), and with method_not_allowed for a path
// that other verbs have.
core::result<rest_target>
read_rest_target(std::string_view verb, std::string_view target, std::optional<generation> said = std::nullopt);

// Appends the path, with tenant and ids percent-encoded. False, with nothing appended: an id or tenant that a path needs is empty,
// or other readers of paths see more in it: `.` and `..`, a slash, a backslash or a zero byte, `:subscribe` at the end of the id
// of a task to get, and the tenant `tasks` of a list or of the extended card.
bool append_rest_path(std::string& out, const rest_target& from);

// Appends `name=value`, percent-encoded, behind `?` or `&`. `path` is where the target begins in `out`.
void append_query(std::string& out, std::size_t path, std::string_view name, std::string_view value);

}  // namespace a2a
