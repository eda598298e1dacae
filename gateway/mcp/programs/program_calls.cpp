#include "gateway/mcp/programs/program_calls.hpp"

#include "mcp/calls/client_method.hpp"

#include <algorithm>
#include <utility>

namespace gateway::mcp::programs {

std::function<void(std::string_view)> note_to(const core::logger& log, std::string agent)
{
    return [&log, agent = std::move(agent)](std::string_view why) {
        log.write(core::log_level::warn, "mcp_message_rejected", {{"agent", agent}, {"detail", why}});
    };
}

core::result<::mcp::call_number> program_calls::begin(
    const ::mcp::client_message& request,
    const std::shared_ptr<table::text_queue>& reader,
    core::steady_time now
)
{
    auto begun = book_.begin(request);
    if (!begun) {
        return begun.error();
    }
    ::mcp::outgoing message;
    message.text = std::move(begun->text);
    message.id = begun->call;
    message.method = request.method;
    message.text_id = begun->id;
    if (request.head != nullptr) {
        message.name = request.head->name;
        message.fields = request.head->fields;
    }
    if (auto sent = program_->send(std::move(message)); !sent) {
        book_.cancel(begun->call, "it was not sent");
        return sent.error();
    }
    const auto method = ::mcp::client_method_of(request.method);
    const bool listens = method == ::mcp::client_method::listen;
    const bool streams = method == ::mcp::client_method::events_stream;
    const bool begins = request.method == "initialize";
    calls_.emplace(begun->call, live_call{reader, now, now, begins, listens, streams, false, request.client});
    if (reader == nullptr) {
        book_.detach(begun->call);
    } else {
        // Legacy clients cancel with a notification: that nobody reads any more cancels nothing.
        reader->on_left([this, call = begun->call, alive = std::weak_ptr<bool>{alive_}](table::text_queue& queue) {
            if (alive.expired()) {
                return;
            }
            book_.detach(call);
            refuse_those_of(queue);
        });
        reader->on_back([this, call = begun->call, alive = std::weak_ptr<bool>{alive_}] {
            if (!alive.expired()) {
                book_.attach(call);
            }
        });
    }
    return begun->call;
}

core::result<> program_calls::begin_own(const ::mcp::client_message& request, core::steady_time now)
{
    const auto begun = begin(request, nullptr, now);
    if (!begun) {
        return begun.error();
    }
    calls_.find(*begun)->second.own = true;
    return {};
}

std::size_t program_calls::own() const noexcept
{
    return static_cast<std::size_t>(std::ranges::count_if(calls_, [](const auto& each) { return each.second.own; }));
}

void program_calls::cancel_if_left(table::text_queue& reader, ::mcp::call_number call)
{
    reader.on_left([this, call, alive = std::weak_ptr<bool>{alive_}](table::text_queue& /*queue*/) {
        if (!alive.expired()) {
            calls_.erase(call);
            give_up(call, book_.cancel(call, "the client has left"));
        }
    });
}

core::result<> program_calls::tell(const ::mcp::client_message& message, core::steady_time now)
{
    if (!message.method.empty()) {
        return program_->send(std::string{message.text}, message.method, 0);
    }
    auto answered = book_.take_answer(message);
    if (!answered) {
        return {};
    }
    if (const auto call = calls_.find(answered->asked_in); call != calls_.end()) {
        call->second.heard = now;
    }
    return program_->send(std::move(answered->text), {}, 0);
}

void program_calls::cancel(const ::mcp::client_message& notification)
{
    auto cancelled = book_.cancel(notification);
    if (!cancelled) {
        return;
    }
    give_up(cancelled->call, std::move(cancelled->text));
    const auto call = calls_.extract(cancelled->call);
    if (const auto reader = call.empty() ? nullptr : call.mapped().reader.lock()) {
        reader->close();
    }
}

void program_calls::send(std::string text, std::string_view method)
{
    if (!text.empty()) {
        const auto ignored = program_->send(std::move(text), method, 0);
        static_cast<void>(ignored);
    }
}

void program_calls::refuse_those_of(table::text_queue& reader)
{
    for (const auto& each : reader.take_questions()) {
        refuse(each);
    }
}

void program_calls::give_up(::mcp::call_number call, std::string text)
{
    if (text.empty()) {
        return;
    }
    ::mcp::outgoing message;
    message.text = std::move(text);
    message.method = "notifications/cancelled";
    message.cancels = call;
    const auto ignored = program_->send(std::move(message));
    static_cast<void>(ignored);
}

std::optional<::mcp::delivery> program_calls::take(std::string_view text, core::steady_time now, bool listening)
{
    book_.set_listening(listening);
    return deliver(book_.take(text), now);
}

std::optional<::mcp::delivery>
program_calls::take(const ::mcp::read_part& message, core::steady_time now, bool listening)
{
    book_.set_listening(listening);
    return deliver(book_.take(message), now);
}

std::optional<::mcp::delivery>
program_calls::take_too_long(std::string_view beginning, std::size_t limit, core::steady_time now)
{
    return deliver(book_.take_too_long(beginning, limit), now);
}

std::optional<::mcp::delivery> program_calls::deliver(::mcp::delivery told, core::steady_time now)
{
    if (told.to == ::mcp::destination::unasked) {
        return told;
    }
    if (told.to == ::mcp::destination::server) {
        send(std::move(told.text));
    }
    const auto call = told.to == ::mcp::destination::call ? calls_.find(told.call) : calls_.end();
    if (call == calls_.end()) {
        return std::nullopt;
    }
    call->second.heard = now;
    const auto reader = call->second.reader.lock();
    if (!told.last) {
        const auto kind = told.question ? table::text_kind::question : table::text_kind::notification;
        const bool taken = reader != nullptr && reader->push(told.text, kind);
        if (!taken && told.question) {
            refuse(told.text);
        }
        return std::nullopt;
    }
    const bool initialize = call->second.initialize;
    calls_.erase(call);
    if (reader != nullptr && told.failure) {
        reader->fail(*told.failure);
    } else if (reader != nullptr && !initialize) {
        reader->finish(std::exchange(told.text, {}));
    }
    return told;
}

void program_calls::end_those_of(std::uint64_t client, const core::error& why)
{
    end_if([client](const live_call& each) { return each.client == client; }, "the session has ended", why);
}

void program_calls::agent_changed(const core::agent& before, const core::agent& now)
{
    if (before.mcp->resources != now.mcp->resources) {
        const auto why = core::upstream_error(core::errc::upstream_reset, "the agent's resources have changed");
        end_if([](const live_call& each) { return each.listens; }, "its resources have changed", why);
    }
}

template <class Predicate>
void program_calls::end_if(Predicate ends, std::string_view reason, const core::error& why)
{
    for (auto each = calls_.begin(); each != calls_.end();) {
        if (!ends(each->second)) {
            ++each;
            continue;
        }
        give_up(each->first, book_.cancel(each->first, reason));
        if (const auto reader = each->second.reader.lock()) {
            reader->fail(why);
        }
        each = calls_.erase(each);
    }
}

std::size_t program_calls::count_of(std::uint64_t client) const noexcept
{
    const auto is_its = [client](const auto& each) { return each.second.client == client; };
    return static_cast<std::size_t>(std::ranges::count_if(calls_, is_its));
}

std::set<std::uint64_t> program_calls::clients() const
{
    std::set<std::uint64_t> all;
    for (const auto& [number, call] : calls_) {
        all.insert(call.client);
    }
    return all;
}

void program_calls::time_out(core::steady_time now, core::duration silence)
{
    const auto is_late = [&](const live_call& each) {
        const bool late = now - each.heard >= silence || now - each.began >= longest;
        return late && !each.initialize && !each.streams && !(each.listens && spoken_ == ::mcp::era::modern);
    };
    const auto why = core::upstream_error(core::errc::upstream_timeout, "a call was not answered");
    end_if(is_late, "it took too long", why);
    for (auto& each : book_.expire_questions(now, silence)) {
        send(std::move(each));
    }
}

bool program_calls::fail(::mcp::call_number call, const core::error& why)
{
    const auto failed = calls_.extract(call);
    if (failed.empty()) {
        return false;
    }
    auto cancellation = book_.cancel(call, "it took too long");
    if (why.code == core::errc::upstream_timeout) {
        give_up(call, std::move(cancellation));
    }
    if (const auto reader = failed.mapped().reader.lock()) {
        reader->fail(why);
    }
    return failed.mapped().initialize;
}

std::unique_ptr<program> program_calls::fail(const core::error& why)
{
    for (const auto& [number, call] : std::exchange(calls_, {})) {
        if (const auto reader = call.reader.lock()) {
            reader->fail(why);
        }
    }
    return std::move(program_);
}

std::unique_ptr<program> program_calls::abandon()
{
    calls_.clear();
    return std::move(program_);
}

std::optional<core::steady_time> program_calls::opens_since() const
{
    const auto found = std::ranges::find_if(calls_, [](const auto& each) { return each.second.initialize; });
    return found == calls_.end() ? std::nullopt : std::optional{found->second.began};
}

}  // namespace gateway::mcp::programs
