#include "gateway/bridge/a2a_server.hpp"

#include "a2a/dialect/answer.hpp"
#include "a2a/dialect/enums.hpp"
#include "a2a/dialect/timestamp.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "gateway/bridge/agent_step.hpp"
#include "gateway/bridge/tool_run.hpp"
#include "gateway/responses/answer.hpp"
#include "mcp/bridge/tool_call.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "net/loop/ask.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>

namespace gateway::bridge {
namespace {

using ::a2a::operation;
using ::a2a::refusal;
using core::errc;
namespace rpc_code = ::a2a::rpc_code;

constexpr auto any_size = std::numeric_limits<std::uint64_t>::max();  // the relay that asks knows the limit
constexpr std::size_t usual_page = 50;
constexpr std::size_t largest_task_page = 100;
constexpr core::duration keep_alive_interval = std::chrono::seconds{15};

// Stays in the list of a task's listeners for as long as it lives.
class listening {
public:
    listening(called_task& task, task_listener& listener)
        : task_{task},
          listener_{listener}
    {
        task_.join(listener_);
    }
    ~listening() { task_.leave(listener_); }
    listening(const listening&) = delete;
    listening& operator=(const listening&) = delete;

private:
    called_task& task_;
    task_listener& listener_;
};

net::routine<> send_text(net::caller_exchange& caller, std::string text)
{
    // Tasks may be long, and callers slow.
    net::budget_share share{caller.bodies()};
    responses::answer out;
    if (share.set(text.size())) {
        out.fields = "Cache-Control: no-store\r\n";
        out.body = std::move(text);
    } else {
        out = responses::error_answer(errc::overloaded, {});
    }
    co_await responses::send_answer(caller, std::move(out));
}

net::routine<> send_refusal(net::caller_exchange& caller, std::string_view id, refusal why)
{
    std::string out;
    constexpr ::a2a::dialect here{::a2a::generation::v1, ::a2a::binding::jsonrpc};
    ::a2a::append_refusal(out, here, {.id = id, .profile = {}, .limits = {}}, why);
    co_await send_text(caller, std::move(out));
}

refusal no_task()
{
    return {rpc_code::task_not_found, {}, "names no task of the caller's"};
}

// The terms of a list of tasks (a2a.proto of 1.0.1, `ListTasksRequest`).
struct list_terms {
    std::string context;
    std::optional<::a2a::task_state> state;
    std::string since;  // RFC 3339 in UTC; empty: any time
    std::uint64_t before = any_size;
    std::size_t page = usual_page;
    bool artifacts = false;
};

::a2a::translation<list_terms> read_list_terms(std::string_view params)
{
    const auto members = ::mcp::members_of(params);
    const auto unfit = [](std::string_view member, std::string_view why) {
        return refusal{rpc_code::invalid_params, std::string{member}, why};
    };
    list_terms out;
    out.context = members.text("contextId");
    if (const auto state = members.find("status"); !state.empty() && state != "null") {
        const auto read = ::a2a::read_state(state);
        out.state = read == ::a2a::task_state::unspecified ? std::nullopt : std::optional{read};
    }
    if (const auto size = members.find("pageSize"); !size.empty() && size != "null" && size != "0") {
        out.page = ::mcp::integer_of<std::size_t>(size).value_or(0);
        if (out.page == 0 || out.page > largest_task_page) {
            return unfit("pageSize", "must be a number from 1 to 100");
        }
    }
    if (const auto token = members.text("pageToken"); !token.empty()) {
        const auto before = ::mcp::integer_of<std::uint64_t>(token);
        if (!before) {
            return unfit("pageToken", "is none that a list has given");
        }
        out.before = *before;
    }
    if (const auto since = members.find("statusTimestampAfter"); !since.empty() && since != "null") {
        std::string time;
        if (!::a2a::append_timestamp(time, since)) {
            return unfit("statusTimestampAfter", "must be a time");
        }
        out.since = time.substr(1, time.size() - 2);
    }
    out.artifacts = members.find("includeArtifacts") == "true";
    return out;
}

bool fits(const called_task& task, const list_terms& terms)
{
    const auto seen = task.view();
    return (terms.context.empty() || seen.context == terms.context) && (!terms.state || seen.state == *terms.state) &&
           (terms.since.empty() || seen.timestamp >= std::string_view{terms.since});
}

constexpr std::size_t largest_page = 1024 * 1024;  // bytes, unless its first task is longer

std::string list_text(const std::vector<std::shared_ptr<called_task>>& all, const list_terms& terms)
{
    std::string tasks{"["};
    std::size_t total = 0;
    std::size_t shown = 0;
    std::string next;
    std::uint64_t last = 0;
    for (const auto& each : all) {
        if (!fits(*each, terms)) {
            continue;
        }
        ++total;
        if (each->order() >= terms.before) {
            continue;
        }
        if (shown == terms.page || (shown > 0 && tasks.size() > largest_page)) {
            next = std::to_string(last);
            continue;
        }
        ++shown;
        last = each->order();
        tasks.append(::mcp::task_text(each->view(), terms.artifacts)) += ',';
    }
    ::mcp::close(tasks, ']');
    std::string out{"{"};
    ::mcp::append_member(out, "tasks", tasks);
    ::mcp::append_text_member(out, "nextPageToken", next);
    ::mcp::append_member(out, "pageSize", std::to_string(terms.page));
    ::mcp::append_member(out, "totalSize", std::to_string(total));
    ::mcp::close(out, '}');
    return out;
}

}  // namespace

struct a2a_server::asked {
    std::string agent;
    model::inner_caller_pointer from;
    std::shared_ptr<const model::agent_entry> entry;  // null: the agent is gone
    std::string owner;
    std::string id;  // raw
    std::string body;
    std::string_view params;  // raw, into `body`
    std::string name;         // of the method

    // A body may be long, and the answer take its time.
    void drop_body()
    {
        params = {};
        std::string{}.swap(body);
    }
};

a2a_server::a2a_server(services with)
    : services_{std::move(with)},
      tasks_{services_.limits}
{
}

void a2a_server::set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
    if (agent != nullptr && agent->record.mcp) {
        agents_.insert_or_assign(id, agent);
    } else {
        agents_.erase(id);
    }
}

void a2a_server::stop()
{
    stopping_ = true;
    for (const auto& each : tasks_.all()) {
        if (!each->has_ended()) {
            each->fail("draining", "the gateway ends");
        }
    }
}

called_task::means a2a_server::means()
{
    return {services_.control, services_.calls, services_.long_texts, services_.log, tasks_};
}

net::routine<> a2a_server::serve(net::caller_exchange& caller, std::string agent, model::inner_caller_pointer from)
{
    if (caller.head().verb != net::http1::method::post) {
        co_await responses::send_answer(caller, responses::method_not_allowed("POST"));
        co_return;
    }
    auto reading = caller.read_body(any_size);
    const auto body = co_await std::move(reading);
    if (!body) {
        co_await responses::send_answer(caller, responses::error_answer(body.error().code, agent));
        co_return;
    }
    asked what{};
    what.owner = owner_of(*from);
    what.from = std::move(from);
    what.body = *body;
    caller.release_request();
    const auto found = agents_.find(agent);
    what.entry = found == agents_.end() ? nullptr : found->second;
    what.agent = std::move(agent);
    const auto scanned = core::scan_jsonrpc(what.body);
    what.id = scanned.call.id;
    what.params = scanned.call.params;
    if (scanned.problem || what.entry == nullptr || stopping_) {
        const auto code = scanned.problem ? *scanned.problem : what.entry == nullptr ? errc::not_found : errc::draining;
        co_await responses::send_answer(caller, responses::jsonrpc_error_answer(code, what.agent, what.id));
        co_return;
    }
    what.name = core::unescape_json(scanned.call.method);
    co_await dispatch(caller, what);
}

net::routine<> a2a_server::dispatch(net::caller_exchange& caller, asked& what)
{
    const auto method = ::a2a::find_method(what.name);
    const bool known = ::a2a::generation_of(method) == ::a2a::generation::v1;
    const auto how = known ? ::a2a::operation_of(method) : operation::none;
    using enum operation;
    if (how == send || how == operation::stream) {
        co_await send_message(caller, what, how == operation::stream);
    } else if (how == get || how == cancel || how == subscribe) {
        co_await about_task(caller, what, how);
    } else if (how == operation::list) {
        co_await list_tasks(caller, what);
    } else {
        auto code = rpc_code::method_not_found;
        if (how == extended_card) {
            code = rpc_code::extended_card_not_configured;
        } else if (how != none) {
            code = rpc_code::push_not_supported;
        }
        refusal why{code, {}, "is not supported by the agent"};
        co_await send_refusal(caller, what.id, std::move(why));
    }
}

net::routine<> a2a_server::send_message(net::caller_exchange& caller, asked& what, bool streams)
{
    using message = std::optional<::a2a::translation<::mcp::a2a_message>>;
    auto reading = worked_out<message>(caller, services_.long_texts, what.params.size(), [params = what.params] {
        return message{::mcp::read_a2a_message(params)};
    });
    auto done = co_await std::move(reading);
    auto& read = *done;  // NOLINT(bugprone-unchecked-optional-access): the work gives one
    what.drop_body();
    if (!read) {
        auto why = std::move(read).error();
        co_await send_refusal(caller, what.id, std::move(why));
    } else if (read->task.empty()) {
        auto said = std::move(*read);
        co_await begin_task(caller, what, std::move(said), streams);
    } else {
        auto said = std::move(*read);
        co_await go_on(caller, what, std::move(said), streams);
    }
}

net::routine<> a2a_server::begin_task(net::caller_exchange& caller, asked& what, ::mcp::a2a_message said, bool streams)
{
    auto lists = services_.lists(what.agent);
    if (lists == nullptr) {
        const auto here = services_.control.get_executor();
        auto reading = services_.read_lists(what.agent);
        const auto how = co_await net::ask(here, here, std::move(reading));
        lists = services_.lists(what.agent);
        if (lists == nullptr) {
            const auto code = how ? errc::session_not_ready : how.error().code;
            co_await responses::send_answer(caller, responses::jsonrpc_error_answer(code, what.agent, what.id));
            co_return;
        }
    }
    const auto* const principal = what.from->principal.get();
    const ::mcp::visible_tools tools{
        *lists,
        what.entry->filters.get(),
        principal == nullptr ? nullptr : &principal->scopes
    };
    auto chosen = ::mcp::choose_tool(said, tools);
    const auto context = said.context.empty() ? new_message_id() : said.context;
    const bool waits = said.waits;
    std::exchange(said, {});  // the call has its own copy
    if (!chosen) {
        auto why = std::move(chosen).error();
        co_await send_refusal(caller, what.id, std::move(why));
        co_return;
    }
    if (!*chosen) {
        auto text = ::mcp::message_text(new_message_id(), context, ::mcp::skills_parts(tools));
        text = ::mcp::answer_text(what.id, "result", R"({"message":)" + text + '}');
        if (streams) {
            event_answer events{caller};
            co_await events.send(std::move(text), true);
        } else {
            co_await send_text(caller, std::move(text));
        }
        co_return;
    }
    called_task::identity who{new_message_id(), context, what.agent, what.owner};
    const auto largest = what.entry->record.mcp->max_message;
    auto& call = **chosen;  // NOLINT(bugprone-unchecked-optional-access): it has been looked at above
    const auto task = std::make_shared<called_task>(means(), std::move(who), std::move(call), what.from, largest);
    if (!tasks_.add(task)) {
        co_await responses::send_answer(caller, responses::jsonrpc_error_answer(errc::overloaded, what.agent, what.id));
        co_return;
    }
    task->begin();
    if (streams) {
        co_await stream(caller, what, task);
    } else {
        co_await answer_with(caller, what, task, waits);
    }
}

net::routine<> a2a_server::go_on(net::caller_exchange& caller, asked& what, ::mcp::a2a_message said, bool streams)
{
    const auto task = tasks_.find(said.task, what.agent, what.owner);
    std::optional<refusal> why;
    if (task == nullptr) {
        why = no_task();
    } else if (!said.context.empty() && said.context != task->who().context) {
        why = refusal{rpc_code::invalid_params, "message.contextId", "is not that of the task"};
    } else if (task->state() != ::a2a::task_state::input_required) {
        why = refusal{rpc_code::unsupported_operation, "message.taskId", "names a task that waits for no message"};
    } else if (auto taken = task->answer(said, what.from); !taken) {
        why = std::move(taken).error();
    }
    const bool waits = said.waits;
    std::exchange(said, {});
    if (why) {
        co_await send_refusal(caller, what.id, std::move(*why));
    } else if (streams) {
        co_await stream(caller, what, task);
    } else {
        co_await answer_with(caller, what, task, waits);
    }
}

net::routine<>
a2a_server::answer_with(net::caller_exchange& caller, asked& what, std::shared_ptr<called_task> task, bool waits)
{
    if (waits) {
        task_listener listener{.wake = caller.clock().wake()};
        const listening place{*task, listener};
        auto settled = wait_for(caller, net::never, [&task] { return task->is_settled(); });
        if (!co_await std::move(settled)) {
            caller.cut();
            co_return;
        }
    }
    co_await send_text(caller, ::mcp::answer_text(what.id, "result", ::mcp::task_event(task->view())));
}

// The task first, then its events, until nothing more comes before the caller does something.
net::routine<> a2a_server::stream(net::caller_exchange& caller, asked& what, std::shared_ptr<called_task> task)
{
    task_listener listener{.wake = caller.clock().wake(), .takes_events = true};
    const listening place{*task, listener};
    event_answer events{caller};
    bool over = task->is_settled();
    auto sent = co_await events.send(::mcp::answer_text(what.id, "result", ::mcp::task_event(task->view())), over);
    while (sent && !over) {
        if (listener.events.empty()) {
            auto due = caller.owner().now() + keep_alive_interval;
            auto some = wait_for(caller, due, [&listener] { return !listener.events.empty(); });
            if (!co_await std::move(some)) {
                break;
            }
        }
        if (listener.events.empty()) {
            sent = co_await events.send_comment();
            continue;
        }
        const auto event = std::move(listener.events.front());
        listener.events.pop_front();
        over = task->is_settled() && listener.events.empty();
        sent = co_await events.send(::mcp::answer_text(what.id, "result", *event), over);
    }
    if (!over) {
        caller.cut();
    }
}

net::routine<> a2a_server::about_task(net::caller_exchange& caller, asked& what, operation how)
{
    const auto id = ::mcp::members_of(what.params).text("id");
    what.drop_body();
    const auto task = tasks_.find(id, what.agent, what.owner);
    if (task == nullptr) {
        co_await send_refusal(caller, what.id, no_task());
        co_return;
    }
    if (how != operation::get && task->has_ended()) {
        const auto code = how == operation::cancel ? rpc_code::task_not_cancelable : rpc_code::unsupported_operation;
        refusal why{code, "id", "names a task that has ended"};
        co_await send_refusal(caller, what.id, std::move(why));
        co_return;
    }
    if (how == operation::subscribe) {
        co_await stream(caller, what, task);
        co_return;
    }
    if (how == operation::cancel) {
        task->cancel();
    }
    co_await send_text(caller, ::mcp::answer_text(what.id, "result", ::mcp::task_text(task->view())));
}

net::routine<> a2a_server::list_tasks(net::caller_exchange& caller, asked& what)
{
    const auto terms = read_list_terms(what.params);
    if (!terms) {
        auto why = terms.error();
        co_await send_refusal(caller, what.id, std::move(why));
        co_return;
    }
    const auto all = tasks_.of(what.agent, what.owner);
    co_await send_text(caller, ::mcp::answer_text(what.id, "result", list_text(all, *terms)));
}

}  // namespace gateway::bridge
