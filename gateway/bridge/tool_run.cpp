#include "gateway/bridge/tool_run.hpp"

#include "core/json/json_writer.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "core/log.hpp"
#include "gateway/responses/answer.hpp"
#include "jose/sealed_text.hpp"
#include "mcp/protocol/message.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/translation/modern_messages.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace gateway::bridge {
namespace {

using ::mcp::agent_act;
using ::mcp::agent_reply_form;

bool is_error_answer(std::string_view text)
{
    const auto read = core::scan_answer(text);
    return !read || read->kind == core::answer_kind::error;
}

}  // namespace

std::string now_text()
{
    std::string out;
    core::append_timestamp(out, std::chrono::system_clock::now());
    return out;
}

std::string new_message_id()
{
    // Drawn many at a time: a draw costs more than all else here.
    thread_local std::array<unsigned char, 1024> drawn{};
    thread_local std::size_t used = drawn.size();
    std::array<unsigned char, 16> bytes{};
    if (used == drawn.size()) {
        jose::system_random(drawn);
        used = 0;
    }
    std::copy_n(drawn.begin() + static_cast<std::ptrdiff_t>(used), bytes.size(), bytes.begin());
    used += bytes.size();
    bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0FU) | 0x40U);
    bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3FU) | 0x80U);
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            out += '-';
        }
        out += digits[bytes[i] >> 4U];
        out += digits[bytes[i] & 0x0FU];
    }
    return out;
}

tool_run::tool_run(net::caller_exchange& caller, tool_terms terms, tool_request request)
    : caller_{caller},
      terms_{std::move(terms)},
      request_{std::move(request)},
      events_{caller},
      share_{caller.bodies()},
      waits_until_{caller.owner().now() + terms_.patience},
      beat_at_{caller.owner().now() + heartbeat}
{
}

net::routine<> tool_run::run()
{
    begin();
    while (ending_ == ending::none) {
        const auto has_some = [this] { return step_ != nullptr && step_->has_some(); };
        auto waits = wait_for(caller_, next_due(), has_some);
        if (!co_await std::move(waits)) {
            abandon();
            co_return;
        }
        auto taking = take_texts();
        co_await std::move(taking);
        decide();
        if (ending_ == ending::none) {
            auto told = tell_progress();
            if (!co_await std::move(told)) {
                abandon();
                co_return;
            }
        }
    }
    step_ = nullptr;
    auto last = finish();
    co_await std::move(last);
}

void tool_run::begin()
{
    auto read = ::mcp::read_agent_order(*terms_.tools, request_.tool, request_.arguments);
    if (!read) {
        return refuse("Unknown tool: " + request_.tool);
    }
    auto& order = read->order;
    if (!order) {
        return fail(read->problem);
    }
    order_ = std::move(*order);
    if (!request_.state.empty()) {
        const auto asked = ::mcp::read_asked_state(::mcp::text_of(request_.state).value_or(""));
        if (!asked) {
            return refuse("Unknown requestState");
        }
        return begin_again(*asked);
    }
    send_order();
}

// The client has been asked, and comes back with the same call: only its answer goes on to the agent.
void tool_run::begin_again(const ::mcp::asked_state& asked)
{
    order_ = {.act = agent_act::get, .task = asked.task};
    if (auto given = ::mcp::answer_given(request_.responses, asked.key)) {
        order_.act = given->declined ? agent_act::cancel : agent_act::send;
        order_.context = asked.context;
        order_.message = std::move(given->text);
        request_.arguments = std::move(given->data);
        order_.data = request_.arguments;
    }
    send_order();
}

void tool_run::send_order()
{
    switch (order_.act) {
        case agent_act::get:
            return send(::mcp::get_request(order_.task, order_.history));
        case agent_act::cancel:
            return send(::mcp::cancel_request(order_.task));
        case agent_act::send:
            break;
    }
    const auto form = terms_.tools->streams ? agent_reply_form::stream : agent_reply_form::at_once;
    send(::mcp::send_request(order_, form, new_message_id()));
}

void tool_run::send(std::string request)
{
    refused_ = false;
    poll_at_ = core::steady_time::max();
    step_ = std::make_unique<agent_step>(terms_.at, std::move(request), [this] { caller_.clock().wake().set(); });
}

core::steady_time tool_run::next_due() const
{
    auto due = std::min(poll_at_, beat_at_);
    if (!reply_.task().empty()) {
        due = std::min(due, waits_until_);
    }
    return due;
}

net::routine<> tool_run::take_texts()
{
    while (ending_ == ending::none && step_ != nullptr && step_->any()) {
        const auto text = step_->take().value_or(std::string{});
        auto taking =
            worked_out<core::result<>>(caller_, terms_.long_texts, text.size(), [this, &text] { return take(text); });
        if (const auto taken = co_await std::move(taking); !taken) {
            fail_for(taken.error().code);
        } else if (!share_.set(reply_.bytes())) {
            reply_ = {};
            fail_for(core::errc::overloaded);
        }
    }
    if (ending_ != ending::none || step_ == nullptr) {
        co_return;
    }
    if (const auto& failure = step_->failure(); failure && failure->code == core::errc::overloaded) {
        fail_for(core::errc::overloaded);
    }
}

// Any thread, while the routine waits.
core::result<> tool_run::take(const std::string& text)
{
    if (stage_ != stage::call && is_error_answer(text)) {
        refused_ = true;
        return {};
    }
    return reply_.take(text);
}

void tool_run::decide()
{
    const bool over = step_ != nullptr && step_->over();
    if (ending_ != ending::none) {
        return;
    }
    if (changes_nothing()) {
        if (over && !reply_.told()) {
            return fail("The connection to the agent ended before it answered.");
        }
        if (!over) {
            return;
        }
    } else if (!reply_.settled()) {
        if (request_.takes_tasks && !reply_.task().empty()) {
            ending_ = ending::task;
            return;
        }
        const bool late = caller_.owner().now() >= waits_until_;
        if (reply_.task().empty() || !late) {
            if (over || (step_ == nullptr && caller_.owner().now() >= poll_at_)) {
                follow();
            }
            return;
        }
    }
    ending_ = reply_.asks() && request_.takes_forms ? ending::question : ending::result;
}

// The call itself, or what it was followed with, has ended, while its task goes on; or it is time to ask again.
void tool_run::follow()
{
    if (reply_.task().empty()) {
        return fail("The connection to the agent ended before it answered.");
    }
    if (step_ == nullptr) {
        return send(::mcp::get_request(reply_.task(), std::nullopt));
    }
    const bool failed = refused_ || step_->failure();
    step_ = nullptr;
    if (stage_ == stage::call && terms_.tools->streams) {
        stage_ = stage::subscription;
        return send(::mcp::subscribe_request(reply_.task()));
    }
    failures_ = stage_ == stage::polling && failed ? failures_ + 1 : 0;
    if (failures_ >= most_failures) {
        return fail("The agent does not say any more what became of the task " + reply_.task() + ".");
    }
    stage_ = stage::polling;
    poll_at_ = caller_.owner().now() + pause_;
    pause_ = std::min(pause_ * 2, longest_poll);
}

void tool_run::fail(std::string words)
{
    reply_.fail(std::move(words));
    ending_ = ending::result;
}

void tool_run::fail_for(core::errc why)
{
    if (why == core::errc::event_too_large) {
        fail("The agent's answer is too long.");
    } else if (why == core::errc::overloaded) {
        fail("The gateway has no room for the agent's answer now.");
    } else {
        fail("The agent's answer cannot be used: " + std::string{core::message(why)});
    }
}

void tool_run::refuse(std::string_view words)
{
    error_ = ::mcp::error_answer(request_.id, ::mcp::invalid_params, words);
    ending_ = ending::refusal;
}

std::string tool_run::send_tool_name() const
{
    if (terms_.tools->skills.empty()) {
        return std::string{::mcp::send_tool};
    }
    return changes_nothing() ? "the tool that began the task" : request_.tool;
}

// Also says that the call goes on, if nothing else was told for a while.
net::routine<core::result<>> tool_run::tell_progress()
{
    const auto now = caller_.owner().now();
    auto news = reply_.take_news();
    const bool beats = now >= beat_at_;
    if (!beats && (!news || request_.progress_token.empty())) {
        co_return core::result<>{};
    }
    beat_at_ = now + heartbeat;
    if (request_.progress_token.empty()) {
        co_return co_await events_.send_comment();
    }
    std::string text;
    core::json_writer out{text, '{'};
    out.member("jsonrpc", "2.0");
    out.member("method", "notifications/progress");
    out.name("params");
    out.open('{');
    out.raw_member("progressToken", request_.progress_token);
    out.member("progress", ++progress_);
    out.member_if_any("message", news.value_or(""));
    out.close('}');
    out.close('}');
    co_return co_await events_.send(std::move(text), false);
}

net::routine<> tool_run::finish()
{
    auto making = worked_out<std::string>(caller_, terms_.long_texts, reply_.bytes(), [this] { return answer(); });
    auto text = co_await std::move(making);
    if (!share_.set(reply_.bytes() + text.size())) {
        reply_ = {};
        fail_for(core::errc::overloaded);
        text = answer();
    }
    if (events_.begun()) {
        co_await events_.send(std::move(text), true);
        co_return;
    }
    responses::answer out;
    out.body = std::move(text);
    co_await responses::send_answer(caller_, std::move(out));
}

// Any thread, while the routine waits.
std::string tool_run::answer() const
{
    std::string result;
    switch (ending_) {
        case ending::none:
        case ending::refusal:
            return error_;
        case ending::task:
            result = reply_.task_handle(now_text());
            break;
        case ending::question:
            result = reply_.question_result();
            break;
        case ending::result:
            result = reply_.call_result(send_tool_name());
            break;
    }
    return ::mcp::modern_answer(::mcp::client_method::tools_call, ::mcp::answer_text(request_.id, "result", result));
}

void tool_run::abandon()
{
    step_ = nullptr;
    if (!changes_nothing() && !reply_.task().empty() && !reply_.settled()) {
        terms_.tell_later(::mcp::cancel_request(reply_.task()));
    }
    if (events_.begun()) {
        caller_.cut();
    }
}

}  // namespace gateway::bridge
