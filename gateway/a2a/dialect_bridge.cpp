#include "gateway/a2a/dialect_bridge.hpp"

#include "a2a/extension_header.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "gateway/model/agent_record.hpp"
#include "net/http1/head_writer.hpp"
#include "net/loop/ask.hpp"
#include "net/sse/sse_events.hpp"

#include <algorithm>
#include <utility>

namespace gateway::a2a {
namespace {

using core::errc;
using net::http1::method;

// A text of this size takes a millisecond.
constexpr std::size_t translated_at_once = 256 * 1024;

// That one list is asked for.
constexpr std::size_t most_pages = 100;

// The id of the calls that the gateway makes itself, and of those of callers of HTTP+JSON, who have no id.
constexpr std::string_view own_id = "1";

constexpr bool is_rest(::a2a::dialect d) noexcept
{
    return d.over == ::a2a::binding::rest;
}

method verb_of(std::string_view name) noexcept
{
    if (name == "GET") {
        return method::get;
    }
    return name == "DELETE" ? method::delete_ : method::post;
}

std::string event_of(std::string_view data)
{
    return net::with_sse_data("data: \n\n", data);
}

// 0.3 need not send the task that a subscription of 1.0 begins with (specification 1.0.1 section 3.1.6). Some agents do: theirs
// is no newer than what they answered after it, and is left out.
constexpr bool begins_with_task(::a2a::operation what, ::a2a::dialect caller, ::a2a::dialect agent) noexcept
{
    return what == ::a2a::operation::subscribe && caller.version == ::a2a::generation::v1 &&
           agent.version == ::a2a::generation::v03;
}

// The result of a request of the gateway's own.
struct further {
    std::string text;
    ::a2a::translation<::a2a::translated_answer> done;
};

net::routine<further> translate_further(
    dialect_bridge::means with,
    ::a2a::exchange how,
    ::a2a::answer_options options,
    relay::side_answer answer
)
{
    const auto work = [&how, &options, &answer] {
        further made;
        made.done = ::a2a::translate_answer(how, {answer.status, answer.body}, options, made.text);
        return made;
    };
    if (answer.body.size() <= translated_at_once) {
        co_return work();
    }
    auto asked = with.long_texts.ask<further>(work);
    co_return co_await net::ask(with.here, with.here, std::move(asked));
}

}  // namespace

dialect_bridge::dialect_bridge(
    std::shared_ptr<const model::agent_entry> agent,
    const model::agent_interface* to,
    ::a2a::dialect caller,
    means with
)
    : relay::answer_edit{{
          .limit = with.largest_answer,
          .every = true,
          .too_large = errc::answer_untranslatable,
          .unreadable = errc::answer_untranslatable,
          .unexpected = errc::answer_untranslatable,
      }},
      agent_{std::move(agent)},
      interface_{to},
      caller_{caller},
      to_{to != nullptr ? to->speaks : ::a2a::dialect{caller.version, ::a2a::binding::jsonrpc}},
      with_{std::move(with)},
      share_{with_.bodies}
{
    if (to_.over == ::a2a::binding::grpc) {
        grpc::agent_messages::terms terms;
        terms.limit = with_.largest_message;
        terms.bodies = with_.bodies;
        terms.elsewhere = [&by = with_.long_texts](auto work) { by.post(std::move(work)); };
        terms.here = with_.here;
        grpc_.emplace(to_.version, std::move(terms));
        to_ = grpc::as_json(to_.version);
        agent_ = agent_->grpc ? agent_->grpc : agent_;
    }
}

net::routine<::a2a::translation<>> dialect_bridge::take_request(::a2a::incoming_request in, std::string_view id)
{
    id_ = id;
    if (id.size() > with_.largest_target) {
        // The id would be written into each event.
        co_return ::a2a::refusal{::a2a::rpc_code::invalid_request, "id", "is longer than the limit"};
    }
    in.from = caller_;
    in.id = is_rest(caller_) ? own_id : id;
    if (in.payload.size() <= translated_at_once) {
        co_return translate_request(in);
    }
    auto asked = with_.long_texts.ask<::a2a::translation<>>([this, &in] { return translate_request(in); });
    co_return co_await net::ask(with_.here, with_.here, std::move(asked));
}

::a2a::translation<> dialect_bridge::translate_request(const ::a2a::incoming_request& in)
{
    ::a2a::request_options options;
    options.limits.bytes = with_.largest_request;
    options.limits.target = with_.largest_target;
    if (interface_ != nullptr) {
        options.tenant = interface_->at.tenant;
    }
    auto how = ::a2a::translate_request(in, to_, options, request_);
    if (!how) {
        return how.error();
    }
    how_ = *how;
    if (grpc_) {
        if (auto encoded = grpc_->encode(request_, how_.sent, message_); !encoded) {
            return encoded;
        }
    }
    if (begins_with_task(in.what, caller_, to_)) {
        auto get = in;
        get.what = ::a2a::operation::get;
        get.id = own_id;
        ::a2a::rest_target task;
        if (in.target != nullptr) {
            task = *in.target;
            task.what = get.what;
            get.target = &task;
        }
        task_.emplace();
        options.whole_history = true;
        auto asked = ::a2a::translate_request(get, to_, options, *task_);
        if (!asked) {
            return asked.error();
        }
    }
    return {};
}

// Makes the head of a request of HTTP+JSON with these fixed fields.
std::string dialect_bridge::head_for(const ::a2a::outgoing_request& out, std::string_view fields) const
{
    std::string head;
    const auto& base = interface_ != nullptr ? interface_->base_path : agent_->base_path;
    const auto target = model::with_query(base + out.target, agent_->query_key);
    net::http1::head_writer{head}.request_line(verb_of(out.verb), target);
    head += fields;
    return head;
}

void dialect_bridge::fill(relay::relay_call& call)
{
    if (grpc_) {
        sent_head_ = grpc_->head(how_.sent, agent_->fixed_fields);
    } else if (is_rest(to_)) {
        sent_head_ = head_for(request_, agent_->fixed_fields);
    } else {
        const bool own = interface_ != nullptr && !interface_->call_head.empty();
        sent_head_ = own ? interface_->call_head : agent_->call_head;
    }
    const auto verb = grpc_ ? method::post : verb_of(request_.verb);
    sent_fields_.reserve(128);
    net::http1::head_writer out{sent_fields_};
    const bool streams = ::a2a::streaming(how_.asked);
    const bool own_type = is_rest(to_) && to_.version == ::a2a::generation::v1;  // specification 1.0.1 section 11.2
    const std::string_view json = own_type ? "application/a2a+json, application/json" : "application/json";
    if (grpc_) {
        sent_fields_ += grpc_agent::lines();
        call.hooks.codec = grpc_->codec(how_.sent, is_rest(caller_) ? own_id : id_);
        call.traits.by_grpc = true;
    } else {
        out.field("Accept", streams ? "text/event-stream, application/json" : json);
    }
    if (!request_.body.empty() && !grpc_) {
        out.field("Content-Type", "application/json");
    }
    if (to_.version == ::a2a::generation::v1) {
        out.field("A2A-Version", "1.0");
    }
    call.agent = agent_;
    call.request.verb = verb;
    call.request.head = sent_head_;
    call.request.lines = sent_fields_;
    call.request.body = grpc_ ? message_ : request_.body;
    call.request.translated = true;
    call.traits.repeatable = ::a2a::safe_to_repeat(::a2a::method_for(how_.sent, to_.version));
    call.traits.streaming = streams;
    may_get_ = !grpc_ && how_.sent == ::a2a::operation::subscribe && is_rest(to_) && verb == method::post;
    if (may_get_) {
        call.hooks.repair = this;
    }
}

void dialect_bridge::note(relay::relay_outcome& outcome) const
{
    outcome.lost = request_.lost + lost_ + (grpc_ ? grpc_->lost() : 0);
    outcome.rounded = grpc_ ? grpc_->rounded() : 0;
    outcome.edited_status = status_;
    outcome.refusal = failure_;
}

void dialect_bridge::begin(const net::http1::response_head& head, bool events, relay::side_requests& beside)
{
    agent_status_ = head.status;
    events_ = events;
    beside_ = &beside;
}

void dialect_bridge::add_fields(std::string& fields) const
{
    net::http1::head_writer out{fields};
    out.field("Content-Type", events_ ? "text/event-stream" : "application/json");
    if (!facts_.text.empty()) {
        out.field(facts_.field, ::a2a::gateway_facts_extension);
    }
}

// The task comes from a request of its own, sent when the subscription is open, so that nothing is missed between them.
net::routine<core::result<std::string>> dialect_bridge::opening()
{
    if (beside_ == nullptr) {
        co_return std::string{};
    }
    if (beside_->call_sent()) {
        std::string{}.swap(request_.body);  // a stream may last for days
        std::string{}.swap(message_);
        hold_request();
    }
    if (!task_) {
        co_return std::string{};
    }
    auto answer = co_await ask(*task_, ::a2a::operation::get);
    if (!answer) {
        co_return std::move(answer).error();
    }
    task_.reset();
    hold_request();
    const bool bare = is_rest(to_) && answer->status < 300;
    if (bare) {
        // HTTP+JSON answers with the task itself, and a stream carries it as a member.
        answer->body = "{\"task\":" + answer->body + "}";
    }
    auto made = co_await translate_further(with_, how_, options(), std::move(*answer));
    if (!made.done || made.done->is_error) {
        events_ = false;
        auto whole = made.done ? model::edited_answer{std::move(made.text), true, made.done->status, std::nullopt}
                               : refused(made.done.error(), std::move(made.text));
        status_ = whole.status;
        instead_ = std::move(whole);
        co_return std::string{};
    }
    lost_ += made.done->lost;
    began_with_task_ = true;
    co_return event_of(with_facts(facts_, std::move(made.text)));
}

net::routine<core::result<model::edited_answer>> dialect_bridge::edit(std::string text)
{
    const bool blank = text.find_first_not_of(" \t\r\n") == std::string::npos;
    if (blank && events_) {
        co_return model::edited_answer{std::move(text), false};
    }
    if (blank && id_.empty() && !is_rest(caller_) && agent_status_ < 300) {
        // A notification is answered with nothing.
        status_ = 204;
        co_return model::edited_answer{{}, true, status_};
    }
    if (card_ != nullptr && text.size() > card_->on().limit) {
        co_return core::upstream_error(card_->on().too_large, "the answer is longer than a card may be");
    }
    if (card_ != nullptr && agent_status_ < 300) {
        auto shown = co_await card_->edit(std::move(text));
        if (!shown) {
            co_return std::move(shown).error();
        }
        text = std::move(shown->text);
    }
    model::edited_answer answer;
    if (text.size() <= translated_at_once) {
        answer = translate(text);
    } else {
        auto asked = with_.long_texts.ask<model::edited_answer>([this, &text] { return translate(text); });
        answer = co_await net::ask(with_.here, with_.here, std::move(asked));
    }
    if (!next_page_.empty() && !events_) {
        auto added = co_await add_pages(answer);
        if (!added) {
            co_return std::move(added).error();
        }
    }
    co_return answer;
}

// Writes it as the call itself has it, whose head has the token, if the agent takes one.
net::routine<core::result<relay::side_answer>>
dialect_bridge::ask(const ::a2a::outgoing_request& further, ::a2a::operation what)
{
    const auto& call = beside_->call();
    const auto fields = call.request.head.substr(call.request.head.find("\r\n") + 2);
    auto head = std::string{call.request.head};
    std::string message;
    std::shared_ptr<relay::side_codec> codec;
    if (grpc_) {
        if (const auto encoded = grpc_->encode(further, what, message); !encoded) {
            co_return core::gateway_error(errc::internal, std::string{encoded.error().why});
        }
        head = grpc_->head(what, fields);
        codec = grpc_->codec(what, own_id);
    } else if (is_rest(to_)) {
        head = head_for(further, fields);
    }
    const auto verb = grpc_ ? method::post : verb_of(further.verb);
    const std::string_view body = grpc_ ? message : further.body;
    co_return co_await beside_->ask(verb, head, body, with_.largest_answer, std::move(codec));
}

// A list in one piece, of an agent that gives it in pages, for callers of JSON-RPC of 0.3, who know none. The texts are our
// own: `{"jsonrpc":"2.0","id":1,"result":[…]}`.
net::routine<core::result<>> dialect_bridge::add_pages(model::edited_answer& whole)
{
    auto& text = whole.text;
    const auto begin = std::string_view{R"({"jsonrpc":"2.0","id":,"result":[)"}.size() +
                       (id_.empty() ? std::string_view{"null"} : id_).size();
    constexpr std::size_t end = std::string_view{"]}"}.size();
    for (std::size_t pages = 1; !next_page_.empty(); ++pages) {
        if (pages == most_pages) {
            co_return core::upstream_error(errc::answer_untranslatable, "the list has too many pages");
        }
        auto page = request_;
        ask_for_page(page);
        auto answer = co_await ask(page, how_.sent);
        if (!answer) {
            co_return std::move(answer).error();
        }
        auto made = co_await translate_further(with_, how_, options(), std::move(*answer));
        auto& more = made.text;
        if (!made.done) {
            whole = refused(made.done.error(), std::move(more));
            co_return core::result<>{};
        }
        lost_ += made.done->lost;
        next_page_ = made.done->next_page;
        if (made.done->is_error) {
            status_ = made.done->status;
            whole = {std::move(more), true, status_, std::nullopt};
            co_return core::result<>{};
        }
        if (text.size() + more.size() > with_.largest_answer) {
            co_return core::upstream_error(errc::answer_untranslatable, "the pages of the list are over the limit");
        }
        if (more.size() > begin + end) {
            text.resize(text.size() - end);
            text.append(text.size() > begin ? "," : "").append(more, begin);
        }
    }
    co_return core::result<>{};
}

// `page`: what asked for the one before. The params of JSON-RPC are the last member of a call.
void dialect_bridge::ask_for_page(::a2a::outgoing_request& page) const
{
    if (is_rest(to_)) {
        const auto token = std::string_view{next_page_}.substr(1, next_page_.size() - 2);
        ::a2a::append_query(page.target, 0, "pageToken", core::unescape_json(token));
        return;
    }
    constexpr std::size_t end = std::string_view{"}}"}.size();
    const bool alone = page.body[page.body.size() - end - 1] == '{';
    page.body.insert(page.body.size() - end, std::string{alone ? "" : ","} + R"("pageToken":)" + next_page_);
}

model::edited_answer dialect_bridge::translate(std::string_view text)
{
    std::string out;
    out.reserve(text.size());  // what the shapes add to each other is about what their envelopes have
    const auto done = events_ ? ::a2a::translate_event(how_, text, options(), out)
                              : ::a2a::translate_answer(how_, {agent_status_, text}, options(), out);
    if (!done) {
        return refused(done.error(), std::move(out));
    }
    if (std::exchange(began_with_task_, false) && done->facts.kind == ::a2a::event_kind::task) {
        return {{}, true, 0, std::nullopt};
    }
    lost_ += done->lost;
    status_ = done->status;
    next_page_ = done->next_page;
    return {with_facts(facts_, std::move(out)), true, done->status, std::nullopt};
}

model::edited_answer dialect_bridge::refused(const ::a2a::refusal& why, std::string out)
{
    over_ = true;
    const bool agents = why.code == ::a2a::rpc_code::invalid_agent_response;
    const auto other =
        why.code == ::a2a::rpc_code::unsupported_operation ? errc::operation_unsupported : errc::not_found;
    const auto code = agents ? errc::answer_untranslatable : other;
    auto detail = why.member.empty() ? std::string{why.why} : why.member + ' ' + std::string{why.why};
    failure_.emplace(code, agents ? core::side::upstream : core::side::caller, std::move(detail));
    const auto status = ::a2a::append_refusal(out, caller_, options(), why);
    status_ = events_ ? 200 : status;
    return {std::move(out), true, status_, code};
}

net::routine<core::result<bool>> dialect_bridge::repair(
    relay::relay_call& call,
    relay::agent_exchange& /*on*/,
    const net::http1::response_head& /*head*/,
    std::string /*body*/
)
{
    may_get_ = false;
    // The rest of the head may have a token that came since.
    const auto line_end = call.request.head.find("\r\n") + 2;
    const auto target = call.request.head.substr(0, line_end).substr(call.request.head.find(' '));
    auto text = std::string{"GET"}.append(target).append(call.request.head.substr(line_end));
    sent_head_ = std::move(text);
    call.request.verb = method::get;
    call.request.head = sent_head_;
    call.request.body = {};
    co_return true;
}

}  // namespace gateway::a2a
