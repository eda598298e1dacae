#include "gateway/mcp/route/program_relay.hpp"

#include "core/json/jsonrpc_server.hpp"
#include "gateway/mcp/route/era_choice.hpp"
#include "gateway/mcp/route/mcp_call.hpp"
#include "gateway/mcp/route/server_edits.hpp"
#include "gateway/model/inner_calls.hpp"
#include "gateway/relay/call_wait.hpp"
#include "gateway/request/agent_relay.hpp"
#include "gateway/request/contained_answer.hpp"
#include "gateway/request/request_context.hpp"
#include "gateway/request/responder.hpp"
#include "mcp/protocol/message.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/translation/modern_messages.hpp"
#include "net/http1/head_writer.hpp"
#include "net/loop/ask.hpp"
#include "net/server/timed_ask.hpp"
#include "net/sse/sse.hpp"

#include <algorithm>
#include <utility>

namespace gateway::mcp::route {
namespace {

using core::errc;
using model::program_act;

// An answer of this size takes a millisecond.
constexpr std::size_t translated_at_once = 256 * 1024;

// The status of an answer to a request of the modern era, which a program gives without one (MCP 2026-07-28,
// basic/transports/streamable-http).
unsigned modern_status(std::string_view answer, std::optional<::mcp::client_method> asked)
{
    constexpr std::size_t longest_error = 64 * 1024;
    if (answer.size() > longest_error) {
        return 200;
    }
    const auto code = ::mcp::members_of(::mcp::members_of(answer).object("error")).find("code");
    if (code == "-32601") {
        // Each server of the era has that method: without it, it is one of the legacy era, of which 400 is the sign.
        return asked == ::mcp::client_method::discover ? 400 : 404;
    }
    return code == "-32020" || code == "-32021" || code == "-32022" ? 400 : 200;
}

}  // namespace

program_relay::program_relay(
    mcp_call& message,
    model::control_services& control,
    const config::settings& settings,
    relay::open_streams& streams
)
    : message_{message},
      request_{message.request},
      call_{*message.program},
      control_{control},
      settings_{settings},
      streams_{streams},
      wait_{message.request.caller, /*streaming=*/true},
      stream_{message.request.caller},
      share_{message.request.caller.bodies()}
{
    request_.passing = this;
}

program_relay::~program_relay()
{
    request_.passing = nullptr;
    if (announced_) {
        streams_.end();
    }
    if (placed_) {
        streams_.give_place_up(*this);
    }
}

const model::agent_entry& program_relay::agent() const noexcept
{
    return *request_.agent;
}

// Only whole events go out.
bool program_relay::contain(bool /*at_once*/)
{
    auto& caller = request_.caller;
    if (caller.answered()) {
        caller.hurry();
    }
    caller.interrupt();
    return true;
}

core::caller_mark program_relay::whose() const noexcept
{
    return request_.slot.whose();
}

net::routine<> program_relay::run()
{
    if (request_.contained) {
        co_await request::respond_contained(request_);
        co_return;
    }
    auto& caller = request_.caller;
    auto& asked = call_.asked;
    const auto act = asked.act;
    const bool whole = call_.form == ::mcp::answer_form::json;
    const bool may_stream = act != model::program_act::tell && act != model::program_act::end && !whole;
    placed_ = may_stream && streams_.keep_place(*this);
    if (may_stream && !placed_) {
        co_await request::respond_call_error(
            request_,
            core::gateway_error(errc::overloaded, "streams, of all or of this principal")
        );
        co_return;
    }
    const bool asks =
        act == model::program_act::request || act == model::program_act::call || act == model::program_act::modern;
    const bool soon = asks && !whole;
    // The deadline of the head of the answer; a stream has begun by then, or never does.
    auto due = relay::caller_deadline(caller.head().fields, settings_.deadlines.fields, caller.started());
    if (act == model::program_act::begin && message_.translated) {
        due = std::min(due, opening_due(request_));
    }
    const auto until = std::min(due, soon ? caller.owner().now() + longest_silence : net::never);
    const bool begins_at_place = soon && asked.resumes == model::resumption::at_once;
    auto& port = message_.port != nullptr ? *message_.port : control_.programs;
    if (passes_caller(act)) {
        pass_caller(asked);
    }
    reader_ = port.open(std::move(asked), caller.owner().get_executor(), caller.clock().wake());
    auto came = co_await next_batch(until);
    if (came && *came) {
        request_.record.upstream_first_byte = caller.owner().now() - caller.started();
    } else if (came && caller.owner().now() >= due) {
        came = net::gave_up(caller);
    } else if (came && begins_at_place) {
        reader_->stream();
        came = co_await next_batch(net::never);
    }
    caller.clock().stop();
    if (!came) {
        co_await request::respond_call_error(request_, std::move(came).error());
    } else if (*came && batch_.failure && batch_.texts.empty() && batch_.events.empty()) {
        co_await request::respond_call_error(request_, std::move(*batch_.failure));
    } else {
        co_await answer(act, *came);
        if (act == model::program_act::begin && !request_.record.code) {
            reader_->next();
        }
    }
}

// To a server within the process, which hears for whom it acts.
bool program_relay::passes_caller(model::program_act act) const
{
    const auto* const server = request_.agent.get();
    const bool asks = act == model::program_act::begin || act == model::program_act::call ||
                      act == model::program_act::request || act == model::program_act::modern;
    return asks && server != nullptr && server->upstream != nullptr && server->upstream->dial;
}

void program_relay::pass_caller(model::program_request& asked)
{
    request_.record.bridge = model::bridge_direction::mcp_a2a;
    auto place = std::make_shared<const model::inner_callers::place>(
        control_.inner.put(request::inner_caller_of(request_, request_.record.bridge))
    );
    asked.fields.emplace_back(model::inner_callers::field_name, place->text());
    asked.held = std::move(place);
}

// Waits for the next batch. False: none has come by then.
net::routine<core::result<bool>> program_relay::next_batch(core::steady_time until)
{
    for (;;) {
        if (auto batch = reader_->take()) {
            batch_ = std::move(*batch);
            name_events();
            request_.record.translated = batch_.translated;
            co_return true;
        }
        if (announcing_) {
            co_return false;
        }
        const auto how = co_await wait_.until(until);
        if (how == relay::woken::late) {
            co_return false;
        }
        if (how != relay::woken::by_event) {
            co_return relay::interrupted(how, "a program's answer");
        }
    }
}

// In a bundle an event names its member too.
void program_relay::name_events()
{
    if (!message_.member || message_.member->edit == nullptr) {
        return;
    }
    const auto rename = [this](std::string& id) {
        if (!id.empty()) {
            id = message_.member->edit->event_id(id).value_or(id);
        }
    };
    rename(batch_.place);
    for (auto& each : batch_.events) {
        rename(each.id);
    }
}

net::routine<> program_relay::answer(model::program_act act, bool came)
{
    switch (act) {
        case model::program_act::tell:
            return answer_whole(202);
        case model::program_act::end:
            return answer_whole(200);
        case model::program_act::begin:
        case model::program_act::call:
        case model::program_act::request:
        case model::program_act::modern:
        case model::program_act::listen:
            break;
        case model::program_act::resume:
            // The client has everything: it need not come again (HTML standard, "Server-sent events").
            return batch_.over && batch_.events.empty() ? answer_whole(204) : stream(came);
    }
    if (call_.form == ::mcp::answer_form::json && batch_.texts.empty()) {
        return answer_whole(202);  // a call that was cancelled has no answer
    }
    const bool whole = came && batch_.over && batch_.texts.size() == 1 && !batch_.failure;
    const auto status = whole && act == model::program_act::modern
                            ? modern_status(batch_.texts.front(), request_.record.mcp_method)
                            : 200;
    const bool streams = !whole || (status == 200 && call_.form == ::mcp::answer_form::events);
    return streams ? stream(came) : answer_whole(status);
}

net::routine<> program_relay::answer_whole(unsigned status)
{
    responses::answer answer;
    answer.status = status;
    if (!batch_.texts.empty()) {
        auto ready = co_await prepare_batch();
        if (!ready) {
            co_await request::respond_call_error(request_, std::move(ready).error());
            co_return;
        }
        answer.fields = session_fields();
        answer.body = std::move(batch_.texts.front());
    }
    co_await request::respond(request_, std::move(answer));
}

// The session's id, if one begins and the server has not refused it.
std::string program_relay::session_fields()
{
    std::string fields;
    if (batch_.handle.empty() || batch_.texts.empty()) {
        return fields;
    }
    const bool refused = batch_.over && ::mcp::members_of(batch_.texts.back()).find("result").empty();
    if (!refused) {
        ::mcp::local_handle place{.worker = session_here};
        std::ranges::copy(batch_.handle, place.random.begin());
        net::http1::head_writer{fields}.field("Mcp-Session-Id", message_.answer.begin_here(place));
    }
    return fields;
}

// Makes of the answer what callers may see of it, if it is a list. What fails is gone from the batch.
net::routine<core::result<>> program_relay::prepare_batch()
{
    std::uint64_t size = 0;
    for (const auto& each : batch_.texts) {
        size += each.size();
    }
    for (const auto& each : batch_.events) {
        size += each.text->size();
    }
    if (!share_.set(size)) {
        batch_.texts.clear();
        batch_.events.clear();
        batch_.told = false;
        co_return core::gateway_error(errc::overloaded, "bodies");
    }
    if (!request_.record.tool.empty()) {
        look_for_tool_error();
    }
    const bool answers = batch_.over && !batch_.texts.empty();
    if (answers && batch_.translated && request_.record.era == ::mcp::era::modern) {
        co_await translate(batch_.texts.back());
    }
    auto edited = co_await edit_batch(answers);
    if (edited && message_.member && message_.member->edit != nullptr) {
        co_return co_await edit_each(*message_.member->edit, batch_);
    }
    co_return edited;
}

// The answer to a call of a tool is among the messages, which are whole.
void program_relay::look_for_tool_error()
{
    const auto look = [this](std::string_view text) {
        auto& scan = message_.tool;
        if (!scan.tool_error() && !scan.failed()) {
            scan = {};
            scan.feed(text);
        }
    };
    for (const auto& each : batch_.texts) {
        look(each);
    }
    for (const auto& each : batch_.events) {
        look(*each.text);
    }
}

net::routine<core::result<>> program_relay::edit_batch(bool answers)
{
    if (message_.edit != nullptr && message_.edit->on().each) {
        co_return co_await edit_each(*message_.edit, batch_);
    }
    if (message_.edit == nullptr || !answers) {
        co_return core::result<>{};
    }
    auto whole = std::move(batch_.texts.back());
    auto edited = co_await message_.edit->edit(std::move(whole));
    if (!edited) {
        batch_.texts.pop_back();
        co_return std::move(edited).error();
    }
    batch_.texts.back() = std::move(edited->text);
    co_return core::result<>{};
}

// Makes the answer one of a server of the modern era.
net::routine<> program_relay::translate(std::string& text)
{
    const auto asked = request_.record.mcp_method.value_or(::mcp::client_method::other);
    if (text.size() <= translated_at_once) {
        text = ::mcp::modern_answer(asked, std::move(text));
        co_return;
    }
    const auto here = request_.caller.owner().get_executor();
    auto answer =
        control_.long_bodies.ask<std::string>([asked, &text] { return ::mcp::modern_answer(asked, std::move(text)); });
    text = co_await net::ask(here, here, std::move(answer));
}

net::routine<> program_relay::stream(bool came)
{
    if (std::exchange(placed_, false)) {
        streams_.give_place_up(*this);
    }
    announced_ = streams_.begin(*this);
    auto& caller = request_.caller;
    auto& record = request_.record;
    record.status = 200;
    record.stream = model::stream_end::complete;
    record.first_byte = std::chrono::steady_clock::now() - caller.started();
    stream_.begin(came ? session_fields() : std::string{});
    if (call_.primed) {
        stream_.prime(batch_.place);
    }
    caller.release_request();
    auto done = co_await pass_batches(came);
    if (!done) {
        record.stream = model::end_of_stream(done.error());
        if (done.error().code == errc::caller_gone) {
            caller.cut();
        }
        request::note_failure(request_, std::move(done).error());
    }
}

// Fails with what the caller was told in the stream, and with caller_gone.
net::routine<core::result<>> program_relay::pass_batches(bool came)
{
    if (!came) {
        auto sent = co_await stream_.send_head();
        if (!sent) {
            co_return sent;
        }
    }
    for (;;) {
        if (came) {
            auto passed = co_await pass_batch();
            if (!passed || batch_.over) {
                co_return passed;
            }
            reader_->next();
        }
        const auto silence = settings_.timeouts.stream_keep_alive;
        const auto comment_due = silence > core::duration{} ? stream_.last_sent() + silence : net::never;
        auto next = co_await next_batch(comment_due);
        request_.caller.clock().stop();
        if (!next) {
            auto failure = std::move(next).error();
            if (failure.code != errc::caller_gone) {
                co_return co_await send_failure(std::move(failure));
            }
            co_return failure;
        }
        came = *next;
        if (!came) {
            const auto text = std::exchange(announcing_, false) ? net::sse_draining : net::sse_keep_alive;
            auto sent = co_await stream_.send_comment(text);
            if (!sent) {
                co_return sent;
            }
        }
    }
}

void program_relay::announce_end()
{
    announcing_ = settings_.timeouts.stream_keep_alive > core::duration{};
    request_.caller.clock().wake().set();
}

net::routine<core::result<>> program_relay::pass_batch()
{
    auto ready = co_await prepare_batch();
    if (!ready && !batch_.failure) {
        batch_.failure = std::move(ready).error();
        batch_.over = true;
    }
    const auto count = batch_.texts.size();
    for (std::size_t i = 0; i < count; ++i) {
        const bool last = batch_.over && !batch_.failure && i + 1 == count;
        auto sent = co_await stream_.send(std::move(batch_.texts[i]), last);
        if (!sent) {
            co_return sent;
        }
    }
    const bool ends_with_event = batch_.over && (!batch_.failure || batch_.told);
    for (const auto& each : batch_.events) {
        auto sent = co_await stream_.send(each, ends_with_event && &each == &batch_.events.back());
        if (!sent) {
            co_return sent;
        }
    }
    if (batch_.failure && batch_.told) {
        co_return std::move(*batch_.failure);
    }
    if (batch_.failure) {
        co_return co_await send_failure(std::move(*batch_.failure));
    }
    // Text that an idle stream has sent takes no room from others.
    share_.set(0);
    core::result<> sent;
    const bool empty = count == 0 && batch_.events.empty();
    if (empty && batch_.over && request_.contained) {
        co_return co_await send_failure(request::contained_failure(request_));  // its session has ended for that
    }
    if (empty && batch_.over) {
        sent = co_await stream_.send_end();
    } else if (empty) {
        sent = co_await stream_.send_head();
    }
    co_return sent;
}

// Ends the stream with it: whoever called is told, whoever listens is not. A request that stays open ends in order with the gateway (MCP
// 2026-07-28, basic/patterns/subscriptions).
net::routine<core::result<>> program_relay::send_failure(core::error failure)
{
    core::result<> sent;
    if (request_.contained) {
        const bool listens = request_.caller.head().verb == net::http1::method::get;
        const auto text = request::contained_event(request_, listens);
        sent = co_await stream_.send_last(text);
        failure = request::contained_failure(request_);
    } else if (request_.errors.call_id.empty()) {
        sent = co_await stream_.send_end();
    } else {
        const auto asked = request_.record.mcp_method.value_or(::mcp::client_method::other);
        const auto speaks = request_.record.era.value_or(::mcp::era::modern);
        const bool in_order = failure.code == errc::draining && ::mcp::stays_open(asked);
        auto text = in_order ? ::mcp::end_answer(asked, speaks, request_.errors.call_id)
                             : core::jsonrpc_error_body(request_.errors.call_id, failure.code, request_.record.agent);
        sent = co_await stream_.send(std::move(text), /*last=*/true);
    }
    if (!sent) {
        co_return sent;
    }
    co_return failure;
}

}  // namespace gateway::mcp::route
