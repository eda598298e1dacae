// Keeps the tasks of one principal from another, if callers need credentials: gateway/access/task_index.hpp knows to whom they belong.
#pragma once

#include "gateway/access/task_index.hpp"
#include "gateway/traffic/relay_call.hpp"
#include "net/loop/routine.hpp"

#include <string_view>

namespace gateway::traffic {

struct request_context;

// What the caller of one request may not know of. A copy may be asked on another thread while the request lasts.
class task_guard {
public:
    // Once the owner and the agent of the request are known. Null: nothing is hidden.
    task_guard(const request_context& request, access::task_index* tasks);

    // Whether the task belongs to another principal. One that is not known does not: the agent may know it.
    bool hides(std::string_view task) const;

    // Whether the parameters of a JSON-RPC call, which have passed a scan, name such a task.
    bool hides_any(std::string_view params) const;

private:
    access::task_index* tasks_ = nullptr;      // null: nothing is hidden
    const core::principal* caller_ = nullptr;  // null: one without a credential
    std::string_view agent_;
    core::steady_time now_;
};

// What becomes of the tasks that the answer to request.call shows: of an operation of A2A whose answer has one.
task_terms shown_tasks(const request_context& request, access::task_index* tasks);

// As for a task that the agent does not know, and notes that it was denied. The request outlives the routine.
net::routine<> respond_hidden_task(request_context& request);

}  // namespace gateway::traffic
