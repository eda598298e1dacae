// A list of tasks as a caller may see it who may not know of all of them (specification 1.0.1 section 13.1: results are those that the
// caller may see). Pure; any thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace a2a {

// Whether the caller may know of the task with this id, which is unescaped and holds until it returns.
using task_filter = std::function<bool(std::string_view id)>;

// The result of a list with the tasks alone that `keeps`, in the order in which they stand there; all else keeps its bytes. What has
// no id, or an id that is no text, is no task of the caller's. `totalSize` becomes how many are left: the number of all would tell
// of the others. `result`: raw JSON text, an object with `tasks`, in whatever case, or an array; what is neither stays as it is.
std::string kept_tasks(std::string_view result, const task_filter& keeps);

}  // namespace a2a
