#include "gateway/traffic/task_list_edit.hpp"

#include "a2a/dialect/task_list.hpp"

#include <string_view>
#include <utility>

namespace gateway::traffic {

model::edited_answer task_list_edit::edit_here(const std::string& text) const
{
    const auto result = result_of(caller_, text);
    if (result.empty()) {
        return {text, false};
    }
    const auto kept = a2a::kept_tasks(result, [this](std::string_view task) { return guard_.knows_own(task); });
    auto whole = text.substr(0, static_cast<std::size_t>(result.data() - text.data()));
    whole.append(kept).append(result.data() + result.size(), text.data() + text.size());
    return {std::move(whole), true};
}

void keep_list_apart(
    request_context& request,
    a2a::dialect caller,
    a2a::operation what,
    model::control_services& control,
    std::uint64_t limit
)
{
    if (!request.call || !request.access || what != a2a::operation::list) {
        return;
    }
    chained_edit::means with{limit, control.long_bodies(), request.caller.owner().get_executor()};
    const task_guard guard{request, control.tasks()};
    request.edit = std::make_unique<task_list_edit>(caller, guard, std::move(with), std::move(request.edit));
    request.call->edit = request.edit.get();
}

}  // namespace gateway::traffic
