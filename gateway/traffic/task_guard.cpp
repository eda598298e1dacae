#include "gateway/traffic/task_guard.hpp"

#include "a2a/dialect/named_tasks.hpp"
#include "gateway/traffic/request_context.hpp"
#include "gateway/traffic/responder.hpp"

namespace gateway::traffic {
namespace {

bool shows_task(a2a::operation what) noexcept
{
    switch (what) {
        case a2a::operation::send:
        case a2a::operation::stream:
        case a2a::operation::get:
        case a2a::operation::cancel:
        case a2a::operation::subscribe:
            return true;
        case a2a::operation::list:
        case a2a::operation::create_push:
        case a2a::operation::get_push:
        case a2a::operation::list_push:
        case a2a::operation::delete_push:
        case a2a::operation::extended_card:
        case a2a::operation::none:
            return false;
    }
    return false;
}

}  // namespace

task_guard::task_guard(const request_context& request, access::task_index* tasks)
{
    if (tasks != nullptr && request.access && request.agent) {
        tasks_ = tasks;
        caller_ = request.principal();
        agent_ = request.agent->record.id;
        now_ = request.caller.owner().now();
    }
}

bool task_guard::hides(std::string_view task) const
{
    if (tasks_ == nullptr) {
        return false;
    }
    const auto known = tasks_->find(agent_, task, now_);
    return known && known->whose != access::task_index::anybody && known->whose != tasks_->owner_of(caller_);
}

bool task_guard::hides_any(std::string_view params) const
{
    return tasks_ != nullptr && !a2a::each_named_task(params, [this](std::string_view task) { return !hides(task); });
}

task_terms shown_tasks(const request_context& request, access::task_index* tasks)
{
    const auto method = request.record.rpc_method;
    if (tasks == nullptr || !method || !shows_task(a2a::operation_of(*method))) {
        return {};
    }
    return {.index = tasks, .owned = request.access != nullptr, .caller = request.principal()};
}

net::routine<> respond_hidden_task(request_context& request)
{
    request.record.denied = model::denial::task;
    return respond_call_error(request, core::caller_error(core::errc::task_not_found, "a task of another principal"));
}

}  // namespace gateway::traffic
