#include "gateway/a2a/task_list_edit.hpp"

#include "a2a/dialect/task_list.hpp"

#include <string_view>
#include <utility>

namespace gateway::a2a {

core::result<model::edited_answer> task_list_edit::edit_here(std::string text) const
{
    const auto result = result_of(caller_, text);
    if (result.empty()) {
        return model::edited_answer{std::move(text), false};
    }
    const auto kept = ::a2a::kept_tasks(result, [this](std::string_view task) { return guard_.knows_own(task); });
    const auto begin = static_cast<std::size_t>(result.data() - text.data());
    auto whole = text.substr(0, begin);
    whole.append(kept).append(text, begin + result.size());
    return model::edited_answer{std::move(whole), true};
}

void keep_list_apart(
    request::request_context& request,
    ::a2a::dialect caller,
    ::a2a::operation what,
    model::control_services& control,
    std::uint64_t limit
)
{
    if (!request.call || !request.access || what != ::a2a::operation::list) {
        return;
    }
    relay::chained_edit::means with{limit, control.long_bodies(), request.caller.owner().get_executor()};
    const task_guard guard{request, control.tasks()};
    request.edit = std::make_unique<task_list_edit>(caller, guard, std::move(with), std::move(request.edit));
    request.call->edit = request.edit.get();
}

}  // namespace gateway::a2a
