#include "gateway/mcp/programs/program_session.hpp"

#include "gateway/mcp/programs/program_sessions.hpp"
#include "gateway/model/version.hpp"
#include "mcp/calls/client_capabilities.hpp"
#include "mcp/calls/upstream_names.hpp"
#include "mcp/protocol/message.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/protocol/server_facts.hpp"
#include "mcp/protocol/version.hpp"
#include "mcp/translation/list_subscription.hpp"
#include "mcp/translation/modern_messages.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace gateway::mcp::programs {
namespace {

// Servers of the legacy era refuse one without a name or a version.
std::string client_info(std::string_view raw)
{
    auto info = ::mcp::short_client_info(raw);
    const auto read = ::mcp::members_of(info);
    if (::mcp::is_string(read.find("name")) && ::mcp::is_string(read.find("version"))) {
        return info;
    }
    info = "{";
    ::mcp::append_text_member(info, "name", "cardea");
    ::mcp::append_text_member(info, "version", model::version());
    ::mcp::close(info, '}');
    return info;
}

using core::errc;

::mcp::book_settings book_settings_of(const model::agent_entry& agent, const ::mcp::client_message& initialize)
{
    const auto& server = *agent.record.mcp;
    ::mcp::book_settings settings;
    settings.declared = ::mcp::capability_names(::mcp::members_of(initialize.params).object("capabilities"));
    settings.most_calls = program_session::most_calls + program_session::most_own_calls;
    settings.messages.bytes = server.max_message;
    settings.numbered = server.transport == core::mcp_transport::streamable_http && !agent.fell_back;
    return settings;
}

// The version that an answer to `initialize` agrees on; else why there is none. `before`: that of the previous program; empty:
// there was none.
core::result<std::string> version_of(const ::mcp::delivery& told, std::string_view before)
{
    auto version = ::mcp::members_of(::mcp::members_of(told.text).object("result")).text("protocolVersion");
    if (told.failure || told.refused) {
        return core::upstream_error(errc::upstream_protocol, "it refused initialize");
    }
    if (::mcp::era_of(version) != ::mcp::era::legacy || (!before.empty() && version != before)) {
        return core::upstream_error(errc::upstream_protocol, "its version is another one");
    }
    return version;
}

core::result<> put_own(program_calls& calls, const table::restored_state::request& wish, core::steady_time now)
{
    const auto kept = ::mcp::own_request("0", wish.method, wish.params);
    auto own = kept.view();
    own.client = 1;  // another one than the client, which is 0 and cancels its own calls only
    return calls.begin_own(own, now);
}

}  // namespace

::mcp::kept_message initialize_of(const single_call& call)
{
    std::string params{"{"};
    ::mcp::append_text_member(params, "protocolVersion", call.version);
    ::mcp::append_member(params, "capabilities", call.capabilities.empty() ? "{}" : call.capabilities);
    ::mcp::append_member(params, "clientInfo", client_info(call.client));
    ::mcp::close(params, '}');
    return ::mcp::own_request("0", "initialize", params);
}

table::restored_state state_of(const single_call& call)
{
    table::restored_state state;
    state.initialized();
    if (!call.level.empty()) {
        std::string params{"{"};
        ::mcp::append_member(params, "level", call.level);
        ::mcp::close(params, '}');
        ::mcp::client_message wish;
        wish.method = "logging/setLevel";
        wish.params = params;
        state.note(wish);
    }
    return state;
}

core::result<>
held_requests::push(const ::mcp::client_message& request, const std::shared_ptr<table::text_queue>& reader)
{
    const auto size = request.text.size();
    if (all_.size() >= most || (!all_.empty() && bytes_ + size > most_bytes)) {
        return core::gateway_error(core::errc::overloaded, "too many calls of this session wait for its program");
    }
    all_.push_back({::mcp::kept_message{request}, reader});
    bytes_ += size;
    return {};
}

bool held_requests::cancel(const ::mcp::client_message& notification)
{
    const auto id = ::mcp::plain_name(notification.request_id);
    const auto cancelled =
        std::ranges::find_if(all_, [&](const held& each) { return ::mcp::is_spelled(each.message.view().id, id); });
    if (cancelled == all_.end()) {
        return false;
    }
    if (const auto reader = cancelled->reader.lock()) {
        reader->close();
    }
    bytes_ -= cancelled->message.view().text.size();
    all_.erase(cancelled);
    return true;
}

std::list<held_requests::held> held_requests::take()
{
    bytes_ = 0;
    return std::exchange(all_, {});
}

void held_requests::fail(const core::error& why)
{
    for (const auto& each : take()) {
        if (const auto reader = each.reader.lock()) {
            reader->fail(why);
        }
    }
}

void held_requests::hand_over(const other_way& to, const table::session_name& session, std::string_view refusal)
{
    std::erase_if(all_, [&](const held& each) {
        const auto reader = each.reader.lock();
        const bool goes = reader != nullptr && to(session, refusal, each.message.view(), reader);
        bytes_ -= goes ? each.message.view().text.size() : 0;
        return goes;
    });
}

program_session::program_session(
    program_sessions& owner,
    table::session_name name,
    const ::mcp::client_message& initialize,
    const std::optional<table::restored_state>& once,
    other_way other
)
    : table::caller_session{owner, std::move(name)},
      owner_{owner},
      initialize_{initialize},
      once_{once.has_value()},
      other_{std::move(other)},
      unasked_{executor()},
      state_{once.value_or(table::restored_state{})}
{
}

program_session::~program_session() = default;

std::shared_ptr<table::text_queue> program_session::open()
{
    auto reader = std::make_shared<table::text_queue>(executor());
    opening_ = reader;
    begin_program(stage::opens, reader);
    end_if_left(*reader);
    return reader;
}

// Nobody has heard of the session yet, or it is for this reader's call alone.
void program_session::end_if_left(table::text_queue& reader)
{
    reader.on_left([this, alive = std::weak_ptr<bool>{alive_}](table::text_queue& queue) {
        if (alive.expired()) {
            return;
        }
        if (!queue.closed()) {
            if (calls_ != nullptr) {
                // Some servers go on with a call whose session has ended.
                calls_->end_those_of(0, core::caller_error(errc::caller_gone));
            }
            return end(model::session_end::deleted, core::caller_error(errc::caller_gone));
        }
        if (calls_ != nullptr) {
            calls_->refuse_those_of(queue);
        }
    });
}

// Questions of the previous program are not known to this one.
void program_session::begin_program(stage opening, const std::shared_ptr<table::text_queue>& reader)
{
    stage_ = opening;
    program_began_ = now();
    auto started = owner_.take_program(*this);
    waited_ = started->runs();
    started->set_observer(this);
    const auto initialize = initialize_.view();
    auto settings = book_settings_of(agent(), initialize);
    settings.first_question = first_question_;
    settings.tally = owner_.tally();
    settings.note = note_to(owner_.log(), agent().record.id);
    settings.only_declared = once_;  // who waits for its only call cannot answer anything else
    calls_ = std::make_unique<program_calls>(std::move(started), ::mcp::era::legacy, std::move(settings));
    if (auto sent = calls_->begin(initialize, reader, program_began_); !sent && !begin_another()) {
        if (reader != nullptr) {
            reader->fail(sent.error());
        }
        lose(sent.error());
    }
}

core::result<std::shared_ptr<table::text_queue>> program_session::request(const ::mcp::client_message& request)
{
    auto reader = std::make_shared<table::text_queue>(executor());
    if (stage_ == stage::opens || stage_ == stage::open) {
        const auto sent = put(request, reader);
        if (sent) {
            return reader;
        }
        if (sent.error().code != errc::upstream_reset) {
            return sent.error();
        }
        // Not a byte of it has reached the program: the next one may have it.
        lose(sent.error());
        if (stage_ == stage::over) {
            return sent.error();
        }
    }
    if (auto held = held_.push(request, reader); !held) {
        return held.error();
    }
    if (once_) {
        end_if_left(*reader);
    }
    if (stage_ == stage::lost) {
        begin_program(stage::opens_again, nullptr);
    }
    return reader;
}

// To the program that runs.
core::result<>
program_session::put(const ::mcp::client_message& request, const std::shared_ptr<table::text_queue>& reader)
{
    if (calls_->count() - calls_->own() >= most_calls) {
        return core::gateway_error(errc::overloaded, "too many calls of this session are in flight");
    }
    if (!state_.takes(request)) {
        return core::gateway_error(errc::overloaded, "the session is subscribed to too many resources");
    }
    if (auto sent = calls_->begin(request, reader, now()); !sent) {
        return sent.error();
    }
    state_.note(request);
    if (once_ && reader != nullptr) {
        end_if_left(*reader);
    }
    return {};
}

core::result<> program_session::tell(const ::mcp::client_message& message)
{
    if (message.method == "notifications/initialized") {
        state_.initialized();
    }
    const bool cancels = message.method == "notifications/cancelled";
    if (cancels && held_.cancel(message)) {
        return {};
    }
    // The next program has asked nothing, and was asked nothing yet.
    if (stage_ != stage::opens && stage_ != stage::open) {
        return {};
    }
    if (cancels) {
        calls_->cancel(message);
        end_if_done();
        return {};
    }
    auto sent = calls_->tell(message, now());
    // That it has ended is told in its own time.
    return sent || sent.error().code == errc::upstream_reset ? core::result<>{} : sent;
}

template <class Messages>
void program_session::came_each(const Messages& messages)
{
    // A message may end the session.
    const std::weak_ptr<bool> alive{alive_};
    for (const auto& each : messages) {
        if (alive.expired() || calls_ == nullptr) {
            return;
        }
        came(calls_->take(each, now(), listened_to()));
    }
}

void program_session::said_too_much(std::string_view beginning, std::size_t limit)
{
    came(calls_->take_too_long(beginning, limit, now()));
}

void program_session::failed(::mcp::call_number call, core::error why)
{
    if (calls_->fail(call, why)) {
        return lose(why);
    }
    end_if_done();
}

void program_session::ended(core::error why)
{
    if (!begin_another()) {
        lose(why);
    }
}

void program_session::came(std::optional<::mcp::delivery> told)
{
    if (!told) {
        return;
    }
    if (told->to == ::mcp::destination::unasked) {
        return come_unasked(std::move(told->text), told->question);
    }
    use(now());
    if (stage_ != stage::open && !calls_->opens_since()) {
        return opened(*told);
    }
    restore_more();
    end_if_done();
}

void program_session::come_unasked(std::string text, bool question)
{
    const auto kind = question ? table::text_kind::question : table::text_kind::notification;
    if (!unasked_.push(text, kind, now()) && question) {
        calls_->refuse(text);
    }
}

void program_session::opened(const ::mcp::delivery& told)
{
    const bool first = stage_ == stage::opens;
    const auto reader = first ? opening_.lock() : nullptr;
    auto version = version_of(told, version_);
    if (!version) {
        return not_opened(told, version.error(), reader);
    }
    if (reader != nullptr) {
        reader->finish(told.text);
    }
    version_ = std::move(*version);
    calls_->ready(version_);
    stage_ = stage::open;
    owner_.opened(*this);
    if (!first && !begin_listening()) {
        restore(::mcp::members_of(told.text).object("result"));
    }
}

// Whoever may be asked has to hear it, also where the server asks beside the stream of a call, as many do for roots.
bool program_session::begin_listening()
{
    const bool over_http = agent().record.mcp->transport == core::mcp_transport::streamable_http && !agent().fell_back;
    const auto declared = ::mcp::members_of(initialize_.view().params).object("capabilities");
    if (!once_ || !over_http || ::mcp::client_capabilities::read(declared).none() || !calls_->listen()) {
        return false;
    }
    stream_asked_ = now();
    return true;
}

void program_session::listening()
{
    if (std::exchange(stream_asked_, std::nullopt)) {
        restore({});
    }
}

// `reader`: of the client's own `initialize`; null: the gateway's was not answered, or nobody waits.
void program_session::not_opened(
    const ::mcp::delivery& told,
    const core::error& why,
    const std::shared_ptr<table::text_queue>& reader
)
{
    const bool first = stage_ == stage::opens;
    const bool refused = told.failure || told.refused;
    const bool may_go = told.refused && other_ && !leaves();
    if (reader != nullptr && !refused) {
        reader->fail(why);
    } else if (reader != nullptr && !told.failure) {
        reader->on_left({});
        if (!may_go || !other_(name(), told.text, initialize_.view(), reader)) {
            reader->finish(told.text);
        }
    }
    if (once_ && may_go) {
        held_.hand_over(other_, name(), told.text);
    }
    end(first && refused ? model::session_end::refused : model::session_end::lost, why);
}

void program_session::restore(std::string_view result)
{
    if (state_.is_initialized()) {
        calls_->send(::mcp::initialized_notification(), "notifications/initialized");
    }
    told_.emplace();
    restore_more();
    if (!once_) {
        const auto announced = ::mcp::announced_lists(::mcp::members_of(result).object("capabilities"));
        for (auto& each : ::mcp::changed_texts({}, announced)) {
            come_unasked(std::move(each), false);
        }
        owner_.recovered(*this);
    }
    for (const auto& each : held_.take()) {
        const auto reader = each.reader.lock();
        auto sent = put(each.message.view(), reader);
        if (!sent && reader != nullptr) {
            reader->fail(std::move(sent).error());
        }
    }
}

// The answers that come make room for more.
void program_session::restore_more()
{
    while (told_ && stage_ == stage::open && calls_->own() < most_own_calls) {
        auto place = *told_;
        const auto wish = state_.next(place);
        if (!wish) {
            return told_.reset();
        }
        if (!put_own(*calls_, *wish, now())) {
            return;
        }
        told_ = std::move(place);
    }
}

// A program that waited has ended without an answer to `initialize`: that is of no concern to the client, and another one gets it.
bool program_session::begin_another()
{
    const bool opens = stage_ == stage::opens || stage_ == stage::opens_again;
    if (!waited_ || !opens || leaves() || calls_->count() > 1) {
        return false;
    }
    const auto reader = stage_ == stage::opens ? opening_.lock() : nullptr;
    const auto ended = std::move(calls_);
    owner_.retire(ended->abandon(), agent().record.id, name().principal);
    begin_program(stage_, reader);
    if (reader != nullptr && stage_ == stage::opens) {
        end_if_left(*reader);
    }
    return true;
}

void program_session::lose(const core::error& why)
{
    const bool was_open = stage_ == stage::open;
    // The answer to a call has been cut off; a session that did not begin has no call.
    const auto error = was_open ? core::upstream_error(errc::upstream_reset, why.detail) : why;
    if (!was_open || once_ || leaves() || agent().record.mcp->on_lost == core::mcp_loss::tell) {
        return end(model::session_end::lost, error);
    }
    // The client may still answer what it has asked: the next one asks under other ids.
    first_question_ = calls_->next_question();
    const auto lost = std::move(calls_);
    owner_.retire(lost->fail(error), agent().record.id, name().principal);
    stage_ = stage::lost;
    told_.reset();
    unasked_.forget_questions();
    // Whoever listens would not hear of changes any more.
    if (listened_to() && now() - program_began_ >= least_life) {
        begin_program(stage::opens_again, nullptr);
    }
}

void program_session::close(const core::error& error)
{
    stage_ = stage::over;
    held_.fail(error);
    if (const auto calls = std::move(calls_)) {
        owner_.retire(calls->fail(error), agent().record.id, name().principal);
    }
    unasked_.close();
}

void program_session::end_if_done()
{
    if (once_ && stage_ == stage::open && held_.empty() && calls_->count() == calls_->own()) {
        end(model::session_end::done, core::caller_error(errc::session_not_found));
    }
}

void program_session::sweep(core::steady_time now)
{
    if (calls_ == nullptr) {
        return;
    }
    const auto since = calls_->opens_since();
    if (since && now - *since >= agent().record.mcp->initialize_timeout) {
        const auto why = calls_->is_held()
                             ? core::gateway_error(errc::session_limit, "max_sessions programs have not exited yet")
                             : core::upstream_error(errc::upstream_timeout, "initialize was not answered");
        return end(model::session_end::lost, why);
    }
    if (stream_asked_ && now - *stream_asked_ >= longest_stream_opening) {
        listening();
    }
    calls_->time_out(now, agent().record.mcp->call_timeout);
    for (const auto& each : unasked_.overdue(now)) {
        calls_->refuse(each);
    }
    restore_more();
    end_if_done();
}

}  // namespace gateway::mcp::programs
