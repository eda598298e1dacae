// Which tasks and contexts a call names, in its parameters, whatever the method and its generation. For whoever must not let a call
// reach one: every spelling counts that some reader takes for the name of a task (`taskId`, `task_id`, in any case, standing twice),
// so that none passes by. Pure; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace a2a {

// `unclear`: readers do not agree on the name. It is not a text (some make one of `["t"]`, or of `1.0`), or it stands twice in one
// object, or in nested arrays.
enum class named : std::uint8_t { task, context, unclear };

// True: go on. `id` is unescaped and holds until it returns; of what is unclear it is empty.
using name_visitor = std::function<bool(named what, std::string_view id)>;

// Calls `each` with every `id`, `taskId` and `contextId` of the parameters, and with every `taskId`, `contextId` and element of
// `referenceTaskIds` of the message in them, these last, and with every segment of the resource names (`name`, `parent`) of the parameters
// and of the push configurations in them, which have a `taskId` too; an id may be of something else, such as a push configuration. An
// array counts as each of its objects, which some readers take for it. `null` is absent. `params`: a
// JSON value that has passed a scan (core/json/jsonrpc_scan.hpp), from its first byte on, or empty. False: `each` said so, and was not
// called again.
bool each_named(std::string_view params, const name_visitor& each);

}  // namespace a2a
