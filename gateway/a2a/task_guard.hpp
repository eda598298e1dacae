// Looks up the tasks and contexts of a call: where its task lives, and, if callers need credentials, whether they belong to another
// principal. gateway/access/task_index.hpp knows both. Finds the chain of calls that the context of a message is.
#pragma once

#include "a2a/dialect/named_tasks.hpp"
#include "a2a/method.hpp"
#include "core/error.hpp"
#include "gateway/access/chain_limits.hpp"
#include "gateway/access/task_index.hpp"
#include "gateway/relay/relay_call.hpp"
#include "net/loop/routine.hpp"

#include <cstdint>
#include <string_view>

namespace gateway::request {
struct request_context;
}

namespace gateway::a2a {

using request::request_context;

// The tasks and contexts that a call names.
struct task_references {
    bool task = false;         // it names one
    bool hidden_task = false;  // of another principal
    bool hidden_context = false;
    bool unclear = false;                  // it names one in a way that readers do not agree on
    model::task_home home = 0;             // where its task lives; 0: it is not known
    std::uint64_t context = 0;             // that a message names, as task_index::context_facts::name; 0: none
    access::chain_limits::name chain = 0;  // that this context is; 0: none

    bool refused() const noexcept { return hidden_task || hidden_context || unclear; }
};

// Knows what the caller of one request may not see. A copy may be asked on another thread while the request lasts.
class task_guard {
public:
    // Once the owner and the agent of the request are known. Null: no task is known, or no chain is counted.
    task_guard(const request_context& request, access::task_index* tasks, const access::chain_limits* chains);

    // Whether there is anything to be found of a task.
    bool looks() const noexcept { return tasks_ != nullptr; }

    // Whether the parameters of this operation may name a chain, by a look that reads no JSON.
    bool may_name_chain(std::string_view params, ::a2a::operation what) const noexcept;

    // Adds what is known of an id that the call names. False: nothing else is to be looked for, the call may be refused.
    bool note_named(::a2a::named kind, std::string_view id, ::a2a::operation what, task_references& in) const;

    // Finds the references in the parameters of a JSON-RPC call, which have passed a scan.
    task_references look(std::string_view params, ::a2a::operation what) const;

    // Adds what is known of a value that some reader may take for a task or a context that the call names. False: it belongs to another
    // principal.
    bool note_value(std::string_view value, ::a2a::operation what, task_references& in) const;

    // Adds what is known of a task that the call names. False: the task belongs to another principal. A task that is not known belongs to
    // nobody, since the agent may know it.
    bool note_task(std::string_view task, task_references& in) const;

    // Whether the task is known, and the caller may know of it.
    bool knows_own(std::string_view task) const;

private:
    bool note_context(std::string_view context, ::a2a::operation what, task_references& in) const;

    access::task_index* tasks_ = nullptr;           // null: nothing is to be found of a task
    const access::chain_limits* chains_ = nullptr;  // null: no chain is to be found
    const core::principal* caller_ = nullptr;       // null: one without a credential
    bool hides_ = false;
    std::string_view agent_;
    core::steady_time now_;
};

// The terms of the tasks that the answer shows, of an operation of A2A whose answer has one. `home`: of new tasks.
relay::task_terms shown_tasks(
    const request_context& request,
    const task_references& named,
    model::task_home home,
    access::task_index* tasks
);

// While a message is under way: nobody else gets into its context before the agent's answer has made it the caller's. Outlived by
// what `terms` refers to.
class held_context {
public:
    held_context(const relay::task_terms& terms, core::steady_time now) noexcept;
    held_context(const held_context&) = delete;
    held_context& operator=(const held_context&) = delete;
    ~held_context();

    // False: another principal was first.
    bool holds() const noexcept { return holding_ != access::task_index::holding::refused; }

private:
    access::task_index* index_ = nullptr;  // null: there is nothing to be held
    std::uint64_t name_ = 0;
    access::task_index::owner whose_ = access::task_index::anybody;
    access::task_index::holding holding_ = access::task_index::holding::open;
};

// Why a call is refused for what it names. Of what belongs to another principal it notes that it was denied: a task is one
// that the agent does not know.
core::error refusal_of(request_context& request, const task_references& named);

// Answers it so. The request outlives the routine.
net::routine<> respond_named(request_context& request, const task_references& named);

// Keeps the context of a recorded call for its span.
void note_conversation_at(request_context& request, std::string_view context);

// Keeps the one that the parameters of such a call name. They have passed a scan.
void note_conversation(request_context& request, std::string_view params);

}  // namespace gateway::a2a
