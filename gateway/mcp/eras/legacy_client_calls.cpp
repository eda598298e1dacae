#include "gateway/mcp/eras/legacy_client_calls.hpp"

#include "mcp/calls/client_method.hpp"
#include "mcp/calls/incoming.hpp"
#include "mcp/calls/upstream_names.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/translation/legacy_messages.hpp"

#include <algorithm>
#include <utility>

namespace gateway::mcp::eras {
namespace {

using core::errc;

// Those that a server may answer with `input_required`.
bool may_need_input(std::string_view method) noexcept
{
    return method == "tools/call" || method == "prompts/get" || method == "resources/read";
}

// With the name if the request was read before, so that nobody looks for it again.
::mcp::message_head head_of(const ::mcp::client_message& request)
{
    auto head = request.head == nullptr ? ::mcp::message_head{} : *request.head;
    const auto target = request.read == nullptr ? std::nullopt : ::mcp::target_of(request.read->method);
    if (target) {
        std::string room;
        head.name = request.read->text(*target, request.text, room).value_or("");
    }
    return head;
}

}  // namespace

legacy_client_calls::legacy_client_calls(services with, const ::mcp::client_terms& terms)
    : with_{std::move(with)},
      terms_{terms},
      share_{with_.kept}
{
}

core::result<>
legacy_client_calls::begin(const ::mcp::client_message& request, const std::shared_ptr<table::text_queue>& reader)
{
    if (calls_.size() >= most_calls) {
        return core::gateway_error(errc::overloaded, "too many calls of this session are in flight");
    }
    const auto made = ::mcp::to_modern(request, terms_);
    const auto head = head_of(request);
    auto sent = made.view();
    sent.head = &head;
    auto upstream = with_.ask(sent);
    if (!upstream) {
        return upstream.error();
    }
    const auto number = ++last_call_;
    auto& call = calls_[number];
    call.id = request.id;
    call.reader = reader;
    call.began = with_.clock();
    call.held = head.held;
    call.stays_open = ::mcp::stays_open(request.method);
    call.upstream = std::move(*upstream);
    keep(call, request);
    watch(number, *call.upstream);
    reader->on_left([this, number, alive = std::weak_ptr<bool>{alive_}](table::text_queue& queue) {
        if (!alive.expired()) {
            left(number, queue);
        }
    });
    return {};
}

void legacy_client_calls::keep(live_call& call, const ::mcp::client_message& request)
{
    if (!may_need_input(request.method)) {
        return;
    }
    const auto fields = request.head == nullptr ? 0 : ::mcp::field_bytes(request.head->fields);
    const auto bytes = request.text.size() + fields;
    if (kept_ + bytes > most_kept || !share_.set(kept_ + bytes)) {
        return;
    }
    kept_ += bytes;
    call.kept = bytes;
    call.request.emplace(request);
    if (request.head != nullptr) {
        call.fields = request.head->fields;
    }
}

core::result<> legacy_client_calls::keep_input(live_call& call, std::size_t bytes)
{
    if (call.kept + bytes > with_.max_message) {
        return core::caller_error(errc::body_too_large, "a call with all that it is given is over max_message");
    }
    if (kept_ + bytes > most_kept || !share_.set(kept_ + bytes)) {
        return core::gateway_error(errc::overloaded, "too much is kept of calls that wait for input");
    }
    kept_ += bytes;
    call.kept += bytes;
    call.input += bytes;
    return {};
}

void legacy_client_calls::forget_input(live_call& call)
{
    const auto bytes = std::exchange(call.input, 0);
    call.kept -= bytes;
    kept_ -= bytes;
    share_.set(kept_);
}

void legacy_client_calls::watch(std::uint64_t number, table::text_queue& upstream)
{
    upstream.set_wake([this, number, alive = std::weak_ptr<bool>{alive_}] {
        if (!alive.expired()) {
            look(number);
        }
    });
}

// A question that has not reached the client reaches nobody: the call cannot go on. The client may come back for the failure.
void legacy_client_calls::left(std::uint64_t number, table::text_queue& reader)
{
    const auto call = calls_.find(number);
    if (call != calls_.end() && (with_.once || !reader.take_questions().empty())) {
        erase(call);
        reader.fail(core::upstream_error(errc::upstream_timeout, "a client did not come back for what it is asked"));
    }
}

void legacy_client_calls::look(std::uint64_t number)
{
    const auto call = calls_.find(number);
    if (call == calls_.end() || call->second.upstream == nullptr) {
        return;
    }
    const auto upstream = call->second.upstream;
    const auto reader = call->second.reader.lock();
    while (auto text = upstream->take()) {
        if (upstream->over() && !upstream->failure()) {
            return take_result(call, std::move(*text));
        }
        if (reader != nullptr) {
            reader->push(std::move(*text), table::text_kind::notification);
        }
    }
    if (!upstream->over()) {
        return;
    }
    if (const auto& why = upstream->failure(); why) {
        return fail(call, *why);
    }
    if (reader != nullptr) {
        reader->close();
    }
    erase(call);
}

void legacy_client_calls::take_result(live_calls::iterator call, std::string text)
{
    const auto asked = ::mcp::read_asked_input(text);
    if (!asked) {
        return fail(call, asked.error());
    }
    if (const auto& wanted = *asked; wanted) {
        if (auto goes_on = ask_client(call, *wanted); !goes_on) {
            fail(call, goes_on.error());
        }
        return;
    }
    if (const auto reader = call->second.reader.lock()) {
        reader->finish(std::move(text));
    }
    erase(call);
}

core::result<> legacy_client_calls::ask_client(live_calls::iterator call, const ::mcp::asked_input& asked)
{
    auto& asking = call->second;
    if (!asking.request) {
        return core::gateway_error(errc::overloaded, "the server asks for input in a call that was not kept");
    }
    if (++asking.rounds > ::mcp::most_input_rounds) {
        return core::upstream_error(errc::upstream_protocol, "the server asks for input without end");
    }
    const auto reader = asking.reader.lock();
    const bool cannot_ask = reader != nullptr && reader->takes_answers_only();
    const auto declared = ::mcp::client_capabilities::read(terms_.capabilities);
    for (const auto& each : asked.requests) {
        if (cannot_ask || !::mcp::may_be_asked(declared, each)) {
            return core::upstream_error(
                errc::upstream_protocol,
                "the server asks for what the client has not declared"
            );
        }
    }
    auto bytes = asked.state.size();
    for (const auto& each : asked.requests) {
        bytes += each.key.size();
    }
    if (auto kept = keep_input(asking, bytes); !kept) {
        return kept;
    }
    asking.upstream = nullptr;
    asking.heard = with_.clock();
    asking.state = asked.state;
    asking.questions.clear();
    if (asked.requests.empty()) {
        return go_on(call);
    }
    if (reader == nullptr) {
        return core::caller_error(errc::caller_gone, "nobody reads what the client is asked");
    }
    for (const auto& each : asked.requests) {
        asking.questions.push_back({.id = ++last_question_, .key = each.key, .result = {}});
        if (!reader->push(::mcp::question_text(last_question_, each), table::text_kind::question)) {
            return core::gateway_error(errc::overloaded, "too much waits for this reader");
        }
    }
    return {};
}

void legacy_client_calls::take_answer(const ::mcp::client_message& answer)
{
    const auto id = ::mcp::integer_of<std::uint64_t>(answer.id);
    const auto is = [id](const question& each) { return each.id == id && each.result.empty(); };
    const auto call = std::ranges::find_if(calls_, [&](const auto& each) {
        return id && std::ranges::any_of(each.second.questions, is);
    });
    if (call == calls_.end()) {
        return;
    }
    auto& asking = call->second;
    asking.heard = with_.clock();
    const auto result = ::mcp::members_of(answer.text).object("result");
    if (result.empty()) {
        if (const auto reader = asking.reader.lock()) {
            const auto* const why = "The client did not answer a request of the server";
            reader->finish(::mcp::error_answer(asking.id, -32603, why));
        }
        erase(call);
        return;
    }
    if (auto kept = keep_input(asking, result.size()); !kept) {
        return fail(call, kept.error());
    }
    std::ranges::find_if(asking.questions, is)->result = result;
    if (std::ranges::none_of(asking.questions, [](const question& each) { return each.result.empty(); })) {
        if (auto sent = go_on(call); !sent) {
            fail(call, sent.error());
        }
    }
}

// The call goes up once more, with what the client has answered.
core::result<> legacy_client_calls::go_on(live_calls::iterator call)
{
    auto& asked = call->second;
    ::mcp::given_input input;
    input.state = std::exchange(asked.state, {});
    if (!asked.questions.empty()) {
        input.responses = "{";
        for (const auto& each : std::exchange(asked.questions, {})) {
            ::mcp::append_member(input.responses, each.key, each.result);
        }
        ::mcp::close(input.responses, '}');
    }
    forget_input(asked);
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): ask_client() has looked
    const auto made = ::mcp::to_modern(asked.request->view(), terms_, input);
    const ::mcp::message_head head{.name = {}, .fields = asked.fields, .held = asked.held};
    auto again = made.view();
    again.head = &head;
    auto upstream = with_.ask(again);
    if (!upstream) {
        return upstream.error();
    }
    asked.upstream = std::move(*upstream);
    watch(call->first, *asked.upstream);
    return {};
}

// The call with this id that began last, as on the server's side.
void legacy_client_calls::cancel(const ::mcp::client_message& notification)
{
    const auto id = ::mcp::plain_name(notification.request_id);
    const auto found = std::find_if(calls_.rbegin(), calls_.rend(), [&](const auto& each) {
        return ::mcp::is_spelled(each.second.id, id);
    });
    if (found == calls_.rend()) {
        return;
    }
    const auto reader = found->second.reader.lock();
    erase(std::prev(found.base()));
    if (reader != nullptr) {
        reader->close();
    }
}

void legacy_client_calls::sweep(core::duration silence)
{
    const auto now = with_.clock();
    for (auto each = calls_.begin(); each != calls_.end();) {
        const auto call = each++;
        const bool silent = call->second.upstream == nullptr && now - call->second.heard >= silence;
        const bool late = !call->second.stays_open && now - call->second.began >= longest;
        if (silent || late) {
            const auto* const why = "a client did not answer, or its call took too long";
            fail(call, core::upstream_error(errc::upstream_timeout, why));
        }
    }
}

void legacy_client_calls::fail(const core::error& why)
{
    while (!calls_.empty()) {
        fail(calls_.begin(), why);
    }
}

void legacy_client_calls::fail(live_calls::iterator call, const core::error& why)
{
    const auto reader = call->second.reader.lock();
    erase(call);
    if (reader != nullptr) {
        reader->fail(why);
    }
}

// Letting go of what comes of it cancels what is still under way at the server.
void legacy_client_calls::erase(live_calls::iterator call)
{
    kept_ -= call->second.kept;
    share_.set(kept_);
    const auto upstream = std::move(call->second.upstream);
    calls_.erase(call);
    if (calls_.empty() && with_.idle) {
        with_.idle();
    }
}

}  // namespace gateway::mcp::eras
