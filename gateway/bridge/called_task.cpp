#include "gateway/bridge/called_task.hpp"

#include "gateway/bridge/task_table.hpp"
#include "gateway/model/version.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/protocol/read_text.hpp"
#include "mcp/protocol/version.hpp"
#include "mcp/translation/input_questions.hpp"
#include "mcp/transport/http_wire.hpp"
#include "net/loop/thrown.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <utility>

namespace gateway::bridge {
namespace {

using ::a2a::task_state;

constexpr std::string_view too_long = "the server's answer is too long to be kept";

std::string made_client_info()
{
    std::string out{"{"};
    ::mcp::append_text_member(out, "name", "cardea");
    ::mcp::append_text_member(out, "version", model::version());
    ::mcp::close(out, '}');
    return out;
}

const std::string& client_info()
{
    static const auto made = made_client_info();
    return made;
}

}  // namespace

std::string_view name_of(task_state state) noexcept
{
    const auto raw = spelled(state, ::a2a::body_shape::types);
    return raw.substr(1, raw.size() - 2);
}

std::string owner_of(const model::inner_caller& caller)
{
    return caller.principal == nullptr ? std::string{} : caller.principal->provider + '\n' + caller.principal->id;
}

called_task::called_task(
    const means& with,
    identity who,
    ::mcp::tool_call call,
    model::inner_caller_pointer caller,
    std::uint64_t largest_message
)
    : with_{with},
      who_{std::move(who)},
      largest_{largest_message},
      call_{std::move(call)},
      caller_{std::move(caller)},
      events_{static_cast<std::size_t>(largest_message)}
{
    set_state(task_state::working, {});
    with_.control.timers().add(*this);
}

called_task::~called_task() = default;

void called_task::begin()
{
    send({});
}

void called_task::send(const ::mcp::given_input& input)
{
    body_.clear();
    status_ = 0;
    streams_ = answered_ = false;
    events_.begin();
    model::inner_request request;
    request.caller = caller_;
    request.target = "/agents/" + who_.agent + "/mcp";
    request.fields = {
        {"Content-Type", "application/json"},
        {"Accept", "application/json, text/event-stream"},
        {"MCP-Protocol-Version", std::string{::mcp::latest(::mcp::era::modern)}},
        {"Mcp-Method", "tools/call"},
        {"Mcp-Name", ::mcp::as_header_value(call_.name)}
    };
    for (const auto& [name, value] : call_.fields) {
        request.fields.emplace_back(name, ::mcp::as_header_value(value));
    }
    request.body = std::make_shared<const std::string>(::mcp::tool_call_text(call_, client_info(), input));
    request.head_timeout = std::chrono::hours{24};  // the relay of the call knows the limits
    request.max_size = largest_;
    exchange_ = with_.calls.start(std::move(request), *this);
}

void called_task::headed(const net::exchange_head& head)
{
    status_ = head.status;
    streams_ = head.has_type("text/event-stream");
}

void called_task::took(std::string_view piece)
{
    const auto self = shared_from_this();
    if (!streams_) {
        body_ += piece;
        return;
    }
    events_.feed(piece);
    while (auto event = events_.next()) {
        take_text(std::move(event->data));
    }
    if (events_.too_large() && is_running()) {
        fail("too_large", too_long);
    }
}

void called_task::ended(core::result<> how)
{
    const auto self = shared_from_this();
    exchange_ = nullptr;
    if (has_ended()) {
        set_due(with_.control.now() + kept_for);
    }
    if (!is_running() || reading_ > 0) {
        return;
    }
    if (!how) {
        fail("transport", "the call was cut off: " + std::string{core::message(how.error().code)});
    } else if (streams_) {
        fail("transport", "the server ended its answer before the result");
    } else if (body_.find(R"("jsonrpc")") == std::string::npos) {
        fail("transport", "the call was answered with HTTP status " + std::to_string(status_));
    } else {
        take_text(std::exchange(body_, {}));
        if (is_running() && reading_ == 0) {
            fail("transport", "the server's answer has no result");
        }
    }
}

void called_task::take_text(std::string text)
{
    if (!is_running()) {
        return;
    }
    if (text.size() > ::mcp::read_at_once) {
        read_elsewhere(std::move(text));
    } else {
        act(::mcp::read_call_event(text, {.bytes = static_cast<std::size_t>(largest_)}));
    }
}

// Long ones stay in their order. What comes meanwhile need not wait: nothing is behind a result, and nobody needs progress before one.
void called_task::read_elsewhere(std::string text)
{
    const auto size = text.size();
    reading_ += size;
    if (reading_ > 2 * largest_ || !with_.table.resize(*this)) {
        reading_ -= size;
        return fail("too_large", too_long);
    }
    auto question = with_.long_texts.ask<::mcp::call_event>([text = std::move(text), most = largest_] {
        return ::mcp::read_call_event(text, {.bytes = static_cast<std::size_t>(most)});
    });
    net::asio::co_spawn(
        with_.control.get_executor(),
        std::move(question),
        [weak = weak_from_this(),
         log = &with_.log,
         size,
         round = rounds_](const std::exception_ptr& bug, ::mcp::call_event event) {
            net::log_thrown(bug, *log, "bridge");
            const auto self = weak.lock();
            if (self == nullptr) {
                return;
            }
            self->reading_ -= size;
            self->with_.table.resize(*self);
            if (!self->is_running() || round != self->rounds_) {
                return;
            }
            self->act(std::move(event));
            if (self->is_running() && self->reading_ == 0 && self->exchange_ == nullptr) {
                self->fail("transport", "the server ended its answer before the result");
            }
        }
    );
}

void called_task::act(::mcp::call_event event)
{
    if (event.progress) {
        note_progress(std::move(*event.progress));
    } else if (event.outcome) {
        finish(std::move(*event.outcome));
    } else if (!event.questions.empty() || !event.state.empty()) {
        ask(std::move(event));
    }
}

void called_task::note_progress(std::string words)
{
    progress_ = std::move(words);
    const auto now = with_.control.now();
    if (now >= told_ + progress_interval) {
        tell_progress();
    } else {
        set_due(told_ + progress_interval);
    }
}

void called_task::tell_progress()
{
    if (!progress_.empty()) {
        told_ = with_.control.now();
        if (!set_state(task_state::working, ::mcp::text_parts(std::exchange(progress_, {})))) {
            set_state(task_state::working, {});  // the task is worth more than what it says on its way
        }
        tell(::mcp::status_event);
    }
}

void called_task::on_due()
{
    const auto self = shared_from_this();
    if (has_ended() && exchange_ != nullptr) {
        exchange_ = nullptr;
        set_due(with_.control.now() + kept_for);
    } else if (has_ended()) {
        with_.table.remove(who_.id);
    } else if (state_ == task_state::input_required) {
        fail("unanswered", "nobody answered the question in time");
    } else {
        tell_progress();
    }
}

void called_task::ask(::mcp::call_event event)
{
    answered_ = true;
    server_state_ = std::move(event.state);
    questions_ = std::move(event.questions);
    responses_.clear();
    if (++rounds_ > ::mcp::most_input_rounds) {
        fail("questions", "the server asks too often");
    } else if (questions_.empty()) {
        send({.responses = {}, .state = std::exchange(server_state_, {})});
    } else {
        tell_progress();
        if (put_question()) {
            tell(::mcp::status_event);
        }
    }
}

// False: there was no room for it, and the task has failed.
bool called_task::put_question()
{
    if (!set_state(task_state::input_required, questions_.front().asked.parts())) {
        fail("too_large", "there is no room for the questions of the task");
        return false;
    }
    set_due(with_.control.now() + question_patience);
    return true;
}

::a2a::translation<> called_task::answer(const ::mcp::a2a_message& said, model::inner_caller_pointer caller)
{
    auto given = questions_.front().asked.answer(said.data, said.text);
    if (!given) {
        return std::move(given).error();
    }
    const auto self = shared_from_this();
    ::mcp::append_member(responses_, questions_.front().key, *given);
    questions_.erase(questions_.begin());
    caller_ = std::move(caller);
    if (!questions_.empty()) {
        put_question();
        return {};
    }
    auto responses = '{' + std::exchange(responses_, {});
    ::mcp::close(responses, '}');
    set_due(net::never);
    set_state(task_state::working, {});
    send({.responses = std::move(responses), .state = std::exchange(server_state_, {})});
    return {};
}

void called_task::cancel()
{
    end(task_state::canceled, {}, "caller");
}

void called_task::fail(std::string_view why, std::string_view words)
{
    end(task_state::failed, ::mcp::text_parts(words), why);
}

void called_task::finish(::mcp::tool_outcome outcome)
{
    answered_ = true;
    if (outcome.failed) {
        end(task_state::failed, std::move(outcome.parts), "tool");
        return;
    }
    artifact_ = std::move(outcome.parts);
    if (!with_.table.resize(*this)) {
        std::string{}.swap(artifact_);
        fail("too_large", too_long);
        return;
    }
    tell_progress();
    if (!artifact_.empty()) {
        tell(::mcp::artifact_event);
    }
    end(task_state::completed, {}, {});
}

void called_task::end(task_state state, std::string parts, std::string_view why)
{
    const auto self = shared_from_this();
    // The inner call is over, or its caller leaves; one that has been answered ends by itself, or soon.
    if (!answered_) {
        exchange_ = nullptr;
    }
    std::exchange(call_, {});  // an assignment would keep its memory
    caller_ = nullptr;
    questions_.clear();
    for (auto* const text : {&responses_, &server_state_, &progress_}) {
        std::string{}.swap(*text);
    }
    if (!set_state(state, std::move(parts))) {
        set_state(state, ::mcp::text_parts(too_long));
    }
    with_.table.note_end(*this);
    set_due(with_.control.now() + (exchange_ == nullptr ? kept_for : longest_farewell));
    with_.log.write(
        state == task_state::failed ? core::log_level::info : core::log_level::debug,
        "bridge_task",
        {{"agent", who_.agent},
         {"direction", name(model::bridge_direction::a2a_mcp)},
         {"state", name_of(state)},
         {"reason", why},
         {"task", who_.id}}
    );
    tell(::mcp::status_event);
}

// False: there is no room for what the task has now, and it counts as before.
bool called_task::set_state(task_state state, std::string parts)
{
    state_ = state;
    changed_ = std::chrono::system_clock::now();
    order_ = with_.table.next_order();
    timestamp_.clear();
    core::append_timestamp(timestamp_, changed_);
    parts_.swap(parts);  // an assignment may keep the memory of those before
    message_id_ = parts_.empty() ? std::string{} : who_.id + '-' + std::to_string(++messages_);
    return with_.table.resize(*this);
}

// A listener may leave while another one is told.
void called_task::tell(std::string (*event)(const ::mcp::a2a_task_view& task))
{
    std::shared_ptr<const std::string> text;  // once somebody takes it
    for (auto* const each : listeners_) {
        if (each->takes_events && (each->events.size() < most_events || is_settled())) {
            text = text == nullptr ? std::make_shared<const std::string>(event(view())) : text;
            each->events.push_back(text);
        }
    }
    const auto all = listeners_;
    for (auto* const each : all) {
        if (std::ranges::find(listeners_, each) != listeners_.end()) {
            each->wake.set();
        }
    }
}

::mcp::a2a_task_view called_task::view() const noexcept
{
    return {who_.id, who_.context, state_, timestamp_, message_id_, parts_, artifact_};
}

std::size_t called_task::bytes() const noexcept
{
    auto sum = sizeof *this + who_.id.capacity() + who_.context.capacity() + who_.agent.size() + who_.owner.size() +
               parts_.capacity() + artifact_.capacity() + call_.name.capacity() + call_.arguments.capacity() +
               responses_.capacity() + server_state_.capacity() + reading_;
    if (caller_ != nullptr) {
        for (const auto& [name, value] : caller_->fields) {
            sum += name.size() + value.reveal().size();
        }
    }
    for (const auto& each : questions_) {
        sum += each.key.capacity() + each.asked.bytes();
    }
    return sum;
}

}  // namespace gateway::bridge
