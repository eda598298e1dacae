#include "gateway/bridge/agent_server.hpp"

#include "a2a/dialect/dialect.hpp"
#include "core/json/json.hpp"
#include "gateway/responses/answer.hpp"
#include "mcp/bridge/agent_tools.hpp"
#include "mcp/calls/client_capabilities.hpp"
#include "mcp/protocol/message.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/translation/list_subscription.hpp"
#include "mcp/translation/modern_messages.hpp"
#include "net/server/timed_ask.hpp"

#include <boost/asio/co_spawn.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

namespace gateway::bridge {
namespace {

using ::mcp::client_method;
using ::mcp::routed;

constexpr std::uint64_t most_request_bytes = 8 * 1024 * 1024;
constexpr core::duration card_wait = std::chrono::seconds{10};
constexpr core::duration task_wait = std::chrono::minutes{2};  // for what an agent says of a task
constexpr std::size_t most_told_later = 1000;
constexpr std::int64_t unknown_task = -32602;
constexpr std::int64_t internal_error = -32603;
constexpr std::string_view accepted = R"({"resultType":"complete"})";

net::routine<> answer_text_as(net::caller_exchange& caller, unsigned status, std::string body)
{
    responses::answer out;
    out.status = status;
    out.body = std::move(body);
    co_await responses::send_answer(caller, std::move(out));
}

std::string raw_text(std::string_view raw)
{
    return std::string{raw == "null" ? std::string_view{} : raw};
}

bool is_served(const std::shared_ptr<const model::agent_entry>& agent)
{
    return agent != nullptr && !agent->record.mcp && agent->bridged != nullptr;
}

}  // namespace

// One request, read; whose it is, and of which agent.
struct agent_server::asked {
    agent_step::target at;
    tools_pointer tools;
    std::string body;
    ::mcp::incoming message;
    net::budget_share share;  // for what the agent has answered, and for the answer to it

    std::string raw(routed member) const { return raw_text(message.raw(member, body)); }
    std::string text(routed member) const
    {
        std::string room;
        return std::string{message.text(member, body, room).value_or("")};
    }
    std::string id() const { return raw(routed::id); }

    bool takes_tasks() const
    {
        const auto declared = ::mcp::members_of(message.raw(routed::meta_capabilities, body));
        return !::mcp::members_of(declared.object("extensions")).object(::mcp::tasks_extension).empty();
    }

    bool takes_forms() const
    {
        using enum ::mcp::client_capability;
        const auto declared = ::mcp::client_capabilities::read(message.raw(routed::meta_capabilities, body));
        return declared.has(elicitation) && (declared.has(elicitation_form) || !declared.has(elicitation_url));
    }
};

void agent_server::set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
    const auto found = agents_.find(id);
    if (!is_served(agent) && found != agents_.end()) {
        found->second.tools = nullptr;
        found->second.failed = false;
        wake_subscriptions(id, /*changed=*/false);
        forget_unused(id);
    }
}

void agent_server::set_card(const std::string& id, const std::shared_ptr<const model::published_card>& card)
{
    if (card == nullptr || card->as_tools == nullptr) {
        return;
    }
    auto& known = agents_[id];
    const auto before = std::exchange(known.tools, card->as_tools);
    if (before != nullptr && ::mcp::same_content(before->lists, known.tools->lists)) {
        return;
    }
    if (listed_) {
        listed_(id, lists(id));
    }
    if (before != nullptr) {
        wake_subscriptions(id, /*changed=*/true);
    }
}

agent_server::lists_pointer agent_server::lists(const std::string& id) const
{
    const auto found = agents_.find(id);
    const bool known = found != agents_.end() && found->second.tools != nullptr;
    return known ? lists_pointer{found->second.tools, &found->second.tools->lists} : nullptr;
}

net::task<bool> agent_server::read_lists(std::string id)
{
    if (lists(id) == nullptr && services_.fetch_card) {
        auto fetched = services_.fetch_card(id);
        co_await std::move(fetched);
    }
    co_return true;  // this may be gone
}

void agent_server::begin_reading(const std::string& id)
{
    if (!serves(id) || lists(id) != nullptr || std::exchange(agents_[id].reading, true)) {
        return;
    }
    net::asio::co_spawn(
        services_.control,
        read_lists(id),
        [this, id, alive = std::weak_ptr<bool>{alive_}](const std::exception_ptr& bug, bool /*done*/) {
            if (bug) {
                std::rethrow_exception(bug);
            }
            if (!alive.expired()) {
                auto& read = agents_[id];
                read.reading = false;
                read.failed = read.tools == nullptr && serves(id);
                forget_unused(id);
            }
        }
    );
}

bool agent_server::has_failed(const std::string& id) const
{
    const auto found = agents_.find(id);
    return found != agents_.end() && found->second.failed;
}

bool agent_server::serves(const std::string& id) const
{
    return entry_of(id) != nullptr;
}

std::shared_ptr<const model::agent_entry> agent_server::server(const std::string& id) const
{
    const auto entry = entry_of(id);
    return entry == nullptr ? nullptr : entry->other_side();
}

// Null: it is gone, or another kind of agent.
std::shared_ptr<const model::agent_entry> agent_server::entry_of(const std::string& id) const
{
    auto agent = services_.agent ? services_.agent(id) : nullptr;
    return is_served(agent) ? agent : nullptr;
}

std::size_t agent_server::running(const std::string& id) const
{
    const auto found = agents_.find(id);
    return found == agents_.end() ? 0 : found->second.running;
}

net::routine<> agent_server::serve(net::caller_exchange& caller, std::string agent, model::inner_caller_pointer from)
{
    if (caller.head().verb != net::http1::method::post) {
        co_await responses::send_answer(caller, responses::method_not_allowed("POST"));
        co_return;
    }
    auto reading = caller.read_body(most_request_bytes);
    const auto body = co_await std::move(reading);
    if (!body) {
        co_await responses::send_answer(caller, responses::error_answer(body.error().code, agent));
        co_return;
    }
    asked what{
        .at = {services_.calls, std::move(from), std::move(agent), caller.bodies()},
        .tools = {},
        .body = std::string{*body},
        .message = {},
        .share = net::budget_share{caller.bodies()}
    };
    const auto read = ::mcp::read_incoming(what.body);
    if (read.problem) {
        const auto id = read.id.of(what.body);
        co_await responses::send_answer(caller, responses::mcp_error_answer(*read.problem, what.at.agent, id));
        co_return;
    }
    what.message = read.message;
    caller.release_request();
    if (what.message.kind != ::mcp::incoming_kind::request) {
        responses::answer out;
        out.status = 202;
        co_await responses::send_answer(caller, std::move(out));
        co_return;
    }
    auto finding = tools_of(caller, what.at.agent);
    what.tools = co_await std::move(finding);
    if (what.tools == nullptr) {
        const auto code = serves(what.at.agent) ? core::errc::session_not_ready : core::errc::agent_not_found;
        co_await responses::send_answer(caller, responses::mcp_error_answer(code, what.at.agent, what.id()));
        co_return;
    }
    auto answering = dispatch(caller, what);
    co_await std::move(answering);
}

// Null: the agent is gone, or its card cannot be had within card_wait.
net::routine<agent_server::tools_pointer> agent_server::tools_of(net::caller_exchange& caller, std::string id)
{
    if (serves(id) && lists(id) == nullptr) {
        const auto due = caller.owner().now() + card_wait;
        auto waits = net::ask_until(caller, due, caller.owner().get_executor(), read_lists(id));
        static_cast<void>(co_await std::move(waits));
    }
    const auto found = agents_.find(id);
    co_return found == agents_.end() || !serves(id) ? nullptr : found->second.tools;
}

net::routine<> agent_server::dispatch(net::caller_exchange& caller, asked& what)
{
    const auto method = what.message.method;
    const auto& lists = what.tools->lists;
    switch (method) {
        case client_method::discover:
            return answer_text_as(
                caller,
                200,
                ::mcp::modern_answer(method, ::mcp::discover_answer(what.id(), lists.server, /*tells_changes=*/true))
            );
        case client_method::tools_list: {
            auto page = ::mcp::list_answer(what.id(), ::mcp::list_kind::tools, lists, what.raw(routed::cursor));
            auto text =
                page ? std::move(*page) : ::mcp::error_answer(what.id(), ::mcp::invalid_params, "Unknown cursor");
            return answer_text_as(caller, 200, ::mcp::modern_answer(method, std::move(text)));
        }
        case client_method::tools_call:
            return call(caller, what);
        case client_method::listen:
            return listen(caller, what);
        case client_method::tasks_get:
            return get_task(caller, what);
        case client_method::tasks_update:
            return update_task(caller, what);
        case client_method::tasks_cancel:
            return cancel_task(caller, what);
        default:
            break;
    }
    return answer_text_as(
        caller,
        404,
        ::mcp::error_answer(what.id(), ::mcp::method_not_found, "The agent has only tools")
    );
}

net::routine<> agent_server::call(net::caller_exchange& caller, asked& what)
{
    const auto entry = entry_of(what.at.agent);
    tool_terms terms{
        .at = what.at,
        .tools = what.tools,
        .long_texts = services_.long_texts,
        .patience = entry == nullptr ? core::duration{} : entry->record.tool_wait,
        .tell_later = [this, at = what.at](std::string request) { tell_later(at, std::move(request)); }
    };
    tool_request request{
        .id = what.id(),
        .tool = what.text(routed::name),
        .arguments = what.raw(routed::arguments),
        .progress_token = what.raw(routed::progress_token),
        .state = what.raw(routed::request_state),
        .responses = what.raw(routed::input_responses),
        .takes_tasks = what.takes_tasks(),
        .takes_forms = what.takes_forms()
    };
    ++agents_[what.at.agent].running;
    tool_run run{caller, std::move(terms), std::move(request)};
    auto running = run.run();
    co_await std::move(running);
    --agents_[what.at.agent].running;
    forget_unused(what.at.agent);
}

net::routine<> agent_server::listen(net::caller_exchange& caller, asked& what)
{
    const auto id = what.id();
    const auto lists = ::mcp::lists_listened_to(what.raw(routed::listen_to));
    ::mcp::list_set tools;
    tools[::mcp::index_of(::mcp::list_kind::tools)] = lists[::mcp::index_of(::mcp::list_kind::tools)];
    event_answer events{caller};
    subscription own{caller, what.at.agent};
    subscriptions_.insert(&own);
    auto acknowledged = ::mcp::acknowledged_text(id, tools, std::vector<std::string>());
    auto sent = co_await events.send(std::move(acknowledged), false);
    while (sent && !stopping_ && serves(own.agent)) {
        if (std::exchange(own.changed, false) && tools.any()) {
            for (auto& each : ::mcp::changed_texts(id, tools)) {
                if (sent) {
                    sent = co_await events.send(std::move(each), false);
                }
            }
            continue;
        }
        const auto due = caller.owner().now() + tool_run::heartbeat;
        const auto has_news = [this, &own] { return own.changed || stopping_ || !serves(own.agent); };
        auto waits = wait_for(caller, due, has_news);
        if (!co_await std::move(waits)) {
            break;
        }
        if (!own.changed && !stopping_) {
            sent = co_await events.send_comment();
        }
    }
    subscriptions_.erase(&own);
    if (sent && !caller.caller_left() && !caller.aborted()) {
        auto last = ::mcp::modern_answer(client_method::listen, ::mcp::listened_answer(id));
        co_await events.send(std::move(last), true);
    }
}

net::routine<> agent_server::answer_result(net::caller_exchange& caller, const asked& what, std::string_view result)
{
    return answer_text_as(caller, 200, ::mcp::answer_text(what.id(), "result", result));
}

net::routine<> agent_server::get_task(net::caller_exchange& caller, asked& what)
{
    ::mcp::agent_reply reply;
    auto asking = ask(caller, what, ::mcp::get_request(what.text(routed::task), std::nullopt), reply);
    if (!co_await std::move(asking)) {
        co_return;
    }
    if (reply.task().empty()) {
        const auto why = core::errc::upstream_protocol;
        co_await responses::send_answer(caller, responses::mcp_error_answer(why, what.at.agent, what.id()));
        co_return;
    }
    auto making = worked_out<std::string>(caller, services_.long_texts, reply.bytes(), [&what, &reply] {
        const auto send_tool = what.tools->skills.empty() ? ::mcp::send_tool : "the tool that began the task";
        const auto details = reply.task_details(now_text(), what.takes_forms(), send_tool);
        return ::mcp::answer_text(what.id(), "result", details);
    });
    auto text = co_await std::move(making);
    if (!what.share.set(reply.bytes() + text.size())) {
        auto refusal = responses::mcp_error_answer(core::errc::overloaded, what.at.agent, what.id());
        co_await responses::send_answer(caller, std::move(refusal));
        co_return;
    }
    co_await answer_text_as(caller, 200, std::move(text));
}

// An answer counts if it is one to the question that the agent asks now.
net::routine<> agent_server::update_task(net::caller_exchange& caller, asked& what)
{
    ::mcp::agent_reply reply;
    const auto task = what.text(routed::task);
    auto asking = ask(caller, what, ::mcp::get_request(task, std::nullopt), reply);
    if (!co_await std::move(asking)) {
        co_return;
    }
    const auto given =
        reply.asks() ? ::mcp::answer_given(what.raw(routed::input_responses), reply.question_key()) : std::nullopt;
    if (given) {
        ::mcp::agent_order order;
        order.task = task;
        order.context = reply.context();
        order.message = given->text;
        order.data = given->data;
        auto request = given->declined ? ::mcp::cancel_request(task)
                                       : ::mcp::send_request(order, ::mcp::agent_reply_form::at_once, new_message_id());
        ::mcp::agent_reply after;
        auto telling = ask(caller, what, std::move(request), after);
        if (!co_await std::move(telling)) {
            co_return;
        }
    }
    co_await answer_result(caller, what, accepted);
}

net::routine<> agent_server::cancel_task(net::caller_exchange& caller, asked& what)
{
    ::mcp::agent_reply reply;
    auto asking = ask(caller, what, ::mcp::cancel_request(what.text(routed::task)), reply);
    if (!co_await std::move(asking)) {
        co_return;
    }
    co_await answer_result(caller, what, accepted);
}

// One call of the agent, whose answer, which is about a task, goes into `reply`. False: there is none, and the caller has been told, or has left.
net::routine<bool>
agent_server::ask(net::caller_exchange& caller, asked& what, std::string request, ::mcp::agent_reply& reply)
{
    agent_step step{what.at, std::move(request), [&caller] { caller.clock().wake().set(); }};
    const auto due = caller.owner().now() + task_wait;
    auto problem = core::errc::upstream_reset;
    while (!step.over() && caller.owner().now() < due && !reply.told()) {
        auto waits = wait_for(caller, due, [&step] { return step.has_some(); });
        if (!co_await std::move(waits)) {
            co_return false;
        }
        while (const auto text = step.take()) {
            auto taking = worked_out<core::result<>>(caller, services_.long_texts, text->size(), [&reply, &text] {
                return reply.take(*text);
            });
            if (const auto taken = co_await std::move(taking); !taken) {
                problem = taken.error().code;
            }
        }
    }
    if (!reply.told()) {
        const auto& failure = step.failure();
        problem = failure ? failure->code : step.over() ? problem : core::errc::upstream_timeout;
    } else if (!what.share.set(reply.bytes())) {
        problem = core::errc::overloaded;
    } else if (!reply.failure().empty() && reply.failure_code() != ::a2a::rpc_code::task_not_cancelable) {
        const bool unknown = reply.failure_code() == ::a2a::rpc_code::task_not_found;
        const auto code = unknown ? unknown_task : internal_error;
        co_await answer_text_as(caller, 200, ::mcp::error_answer(what.id(), code, reply.failure()));
        co_return false;
    } else {
        co_return true;
    }
    co_await responses::send_answer(caller, responses::mcp_error_answer(problem, what.at.agent, what.id()));
    co_return false;
}

void agent_server::tell_later(const agent_step::target& at, std::string request)
{
    if (told_.size() >= most_told_later || stopping_) {
        return;
    }
    const auto place = told_.emplace(told_.end());
    *place = std::make_unique<agent_step>(at, std::move(request), [this, place] {
        if ((*place)->over()) {
            told_.erase(place);
        }
    });
}

void agent_server::forget_unused(const std::string& id)
{
    const auto found = agents_.find(id);
    if (found == agents_.end()) {
        return;
    }
    const auto& known = found->second;
    if (known.tools == nullptr && known.running == 0 && !known.reading && !known.failed) {
        agents_.erase(found);
    }
}

void agent_server::stop()
{
    stopping_ = true;
    wake_subscriptions({}, /*changed=*/false);
}

// Empty: those of all agents.
void agent_server::wake_subscriptions(std::string_view agent, bool changed)
{
    const auto all = subscriptions_;
    for (auto* const each : all) {
        // One that ends on waking, within this call, is not there any more.
        if (subscriptions_.contains(each) && (agent.empty() || each->agent == agent)) {
            each->changed = each->changed || changed;
            each->caller.clock().wake().set();
        }
    }
}

}  // namespace gateway::bridge
