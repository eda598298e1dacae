#include "gateway/a2a/task_guard.hpp"

#include "a2a/dialect/named_tasks.hpp"
#include "a2a/dialect/task_scan.hpp"
#include "gateway/request/request_context.hpp"
#include "gateway/request/responder.hpp"

#include <functional>

namespace gateway::a2a {
namespace {

bool shows_task(::a2a::operation what) noexcept
{
    switch (what) {
        case ::a2a::operation::send:
        case ::a2a::operation::stream:
        case ::a2a::operation::get:
        case ::a2a::operation::cancel:
        case ::a2a::operation::subscribe:
            return true;
        case ::a2a::operation::list:
        case ::a2a::operation::create_push:
        case ::a2a::operation::get_push:
        case ::a2a::operation::list_push:
        case ::a2a::operation::delete_push:
        case ::a2a::operation::extended_card:
        case ::a2a::operation::none:
            return false;
    }
    return false;
}

bool has_message(::a2a::operation what) noexcept
{
    return what == ::a2a::operation::send || what == ::a2a::operation::stream;
}

}  // namespace

task_guard::task_guard(const request_context& request, access::task_index* tasks, const access::chain_limits* chains)
    : chains_{chains != nullptr && chains->active() && request.sender.inner == nullptr ? chains : nullptr}
{
    const auto* agent = request.agent.get();
    // A card that has not been seen may have interfaces at several addresses.
    const bool routes = agent != nullptr && (agent->several_addresses || agent->awaits_card);
    if (tasks != nullptr && agent != nullptr && (request.sender.access || routes)) {
        tasks_ = tasks;
        hides_ = request.sender.access != nullptr;
        caller_ = request.principal();
        agent_ = agent->record.id;
        now_ = request.caller.owner().now();
    }
}

bool task_guard::note_task(std::string_view task, task_references& in) const
{
    in.task = true;
    if (tasks_ == nullptr) {
        return true;
    }
    const auto known = tasks_->find(agent_, task, now_);
    if (!known) {
        return true;
    }
    in.home = in.home == 0 ? known->interface : in.home;
    in.hidden_task = hides_ && known->whose != access::task_index::anybody && known->whose != tasks_->owner_of(caller_);
    return !in.hidden_task;
}

bool task_guard::knows_own(std::string_view task) const
{
    const auto known = tasks_ != nullptr ? tasks_->find(agent_, task, now_) : std::nullopt;
    return known && (known->whose == access::task_index::anybody || known->whose == tasks_->owner_of(caller_));
}

bool task_guard::note_context(std::string_view context, ::a2a::operation what, task_references& in) const
{
    // Tasks of others are taken out of the answer to a list.
    if (!hides_ || what == ::a2a::operation::list) {
        return true;
    }
    const auto caller = tasks_->owner_of(caller_);
    const auto known = tasks_->find_context(agent_, context, now_);
    in.hidden_context = known.whose != access::task_index::anybody && known.whose != caller;
    if (has_message(what)) {
        in.context = known.name;
    }
    return !in.hidden_context;
}

bool task_guard::note_value(std::string_view value, ::a2a::operation what, task_references& in) const
{
    // A name of 1.0 drafts: the id of the task stands behind this, and perhaps something behind the id.
    constexpr std::string_view of_tasks = "tasks/";
    if (value.starts_with(of_tasks)) {
        const auto id = value.substr(of_tasks.size());
        if (!note_task(id.substr(0, id.find('/')), in)) {
            return false;
        }
    }
    const auto context = in.context;
    const bool own = note_task(value, in) && note_context(value, what, in);
    in.context = context;
    return own;
}

// Most messages have no context, and their letters x tell so at once.
bool task_guard::may_name_chain(std::string_view params, ::a2a::operation what) const noexcept
{
    constexpr std::string_view part = "ontext";  // `contextId`, `context_id`
    constexpr std::size_t before = part.find('x');
    return chains_ != nullptr && has_message(what) && ::a2a::any_place(params, 'x', [&](std::size_t at) {
               return at >= before && params.substr(at - before, part.size()) == part;
           });
}

bool task_guard::note_named(::a2a::named kind, std::string_view id, ::a2a::operation what, task_references& in) const
{
    if (kind == ::a2a::named::unclear) {
        in.unclear = looks();
        return false;
    }
    if (kind == ::a2a::named::task) {
        return note_task(id, in);
    }
    if (chains_ != nullptr && has_message(what)) {
        in.chain = chains_->name_of_context(id);
    }
    return note_context(id, what, in);
}

task_references task_guard::look(std::string_view params, ::a2a::operation what) const
{
    task_references found;
    const bool extends = what == ::a2a::operation::none;
    const bool looks_at_tasks = tasks_ != nullptr && (!extends || hides_);
    const bool looks_at_chain = may_name_chain(params, what);
    if (!looks_at_tasks && !looks_at_chain) {
        return found;
    }
    // By position is not how A2A calls its methods.
    found.unclear = looks_at_tasks && !extends && params.starts_with('[');
    if (!found.unclear) {
        auto visit = [&](::a2a::named kind, std::string_view id) { return note_named(kind, id, what, found); };
        static_cast<void>(::a2a::each_named(params, std::ref(visit)));  // no copy, which would be allocated
    }
    return found;
}

held_context::held_context(const relay::task_terms& terms, core::steady_time now) noexcept
{
    if (terms.index != nullptr && terms.context != 0) {
        index_ = terms.index;
        name_ = terms.context;
        whose_ = index_->owner_of(terms.caller);
        holding_ = index_->hold_context(name_, whose_, now);
    }
}

held_context::~held_context()
{
    if (holding_ == access::task_index::holding::held) {
        index_->release_context(name_, whose_);
    }
}

relay::task_terms shown_tasks(
    const request_context& request,
    const task_references& named,
    model::task_home home,
    access::task_index* tasks
)
{
    const auto method = request.record.rpc_method;
    if (tasks == nullptr || !method || !shows_task(::a2a::operation_of(*method))) {
        return {};
    }
    const bool sends = has_message(::a2a::operation_of(*method));
    return {
        .index = tasks,
        .interface = home,
        .owned = request.sender.access != nullptr,
        .caller = request.principal(),
        .context = named.context,
        .new_task = sends && !named.task,
        .new_context = sends && named.context == 0
    };
}

core::error refusal_of(request_context& request, const task_references& named)
{
    if (named.unclear) {
        return core::caller_error(core::errc::invalid_params, "an id that is no text, or a member that stands twice");
    }
    request.record.denied = model::denial::task;
    return named.hidden_task ? core::caller_error(core::errc::task_not_found, "a task of another principal")
                             : core::caller_error(core::errc::invalid_params, "a context of another principal");
}

net::routine<> respond_named(request_context& request, const task_references& named)
{
    return request::respond_call_error(request, refusal_of(request, named));
}

void note_conversation_at(request_context& request, std::string_view context)
{
    constexpr std::size_t longest = 256;
    if (request.trace.recorded() && context.size() <= longest) {
        request.trace.set_conversation(context);
    }
}

void note_conversation(request_context& request, std::string_view params)
{
    if (!request.trace.recorded()) {
        return;
    }
    auto visit = [&](::a2a::named kind, std::string_view id) {
        if (kind == ::a2a::named::context) {
            note_conversation_at(request, id);
        }
        return true;
    };
    static_cast<void>(::a2a::each_named(params, std::ref(visit)));
}

}  // namespace gateway::a2a
