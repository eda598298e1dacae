#include "gateway/mcp/shared/shared_calls.hpp"

#include "gateway/mcp/shared/shared_session.hpp"
#include "gateway/mcp/shared/shared_sessions.hpp"
#include "mcp/calls/upstream_names.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/translation/modern_messages.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace gateway::mcp::shared {
namespace {

using core::errc;

constexpr std::string_view subscribe = "resources/subscribe";
constexpr std::string_view unsubscribe = "resources/unsubscribe";

::mcp::book_settings settings_of(const core::mcp_server& server)
{
    ::mcp::book_settings settings;
    settings.shared = true;
    settings.most_calls = shared_calls::most_calls + shared_calls::most_own_calls;
    settings.most_of_principal = shared_calls::most_calls_of_principal;
    settings.messages.bytes = server.max_message;
    return settings;
}

}  // namespace

subscription_waiters::ticket
subscription_waiters::add(const ::mcp::client_message& request, const std::shared_ptr<table::text_queue>& reader)
{
    const auto made = ++last_;
    waiting added{request.client, std::string{request.principal}, std::string{request.id}, reader};
    all_.emplace(made, std::move(added));
    return made;
}

void subscription_waiters::finish(ticket request, std::string_view member, std::string_view raw)
{
    const auto found = all_.extract(request);
    if (const auto reader = found.empty() ? nullptr : found.mapped().reader.lock()) {
        reader->finish(::mcp::answer_text(found.mapped().id, member, raw));
    }
}

void subscription_waiters::fail(ticket request, const core::error& why)
{
    const auto found = all_.extract(request);
    if (const auto reader = found.empty() ? nullptr : found.mapped().reader.lock()) {
        reader->fail(why);
    }
}

bool subscription_waiters::cancel(const ::mcp::client_message& notification)
{
    const auto id = ::mcp::plain_name(notification.request_id);
    const auto found = std::ranges::find_if(all_, [&](const auto& each) {
        return each.second.client == notification.client && ::mcp::is_spelled(each.second.id, id);
    });
    if (found == all_.end()) {
        return false;
    }
    if (const auto reader = found->second.reader.lock()) {
        reader->close();
    }
    all_.erase(found);
    return true;
}

void subscription_waiters::end_those_of(std::uint64_t client, const core::error& why)
{
    std::erase_if(all_, [&](const auto& each) {
        const bool its = each.second.client == client;
        if (const auto reader = its ? each.second.reader.lock() : nullptr) {
            reader->fail(why);
        }
        return its;
    });
}

std::size_t subscription_waiters::count_of(std::uint64_t client) const
{
    const auto is_its = [client](const auto& each) { return each.second.client == client; };
    return static_cast<std::size_t>(std::ranges::count_if(all_, is_its));
}

std::size_t subscription_waiters::count_of(std::string_view principal) const
{
    const auto is_its = [principal](const auto& each) { return each.second.principal == principal; };
    return static_cast<std::size_t>(std::ranges::count_if(all_, is_its));
}

shared_calls::shared_calls(shared_sessions& owner, std::shared_ptr<const model::agent_entry> agent)
    : owner_{owner},
      agent_{std::move(agent)}
{
}

shared_calls::~shared_calls()
{
    end(core::gateway_error(errc::draining));
}

void shared_calls::connect()
{
    if (calls_ != nullptr) {
        return;
    }
    const auto lane = owner_.lane(agent_->record.id);
    if (lane == nullptr) {
        return;
    }
    auto started = std::make_unique<programs::program>(nullptr, lane);
    started->set_observer(this);
    auto settings = settings_of(*agent_->record.mcp);
    settings.tally = owner_.tally();
    settings.note = programs::note_to(owner_.log(), agent_->record.id);
    calls_ = std::make_unique<programs::program_calls>(std::move(started), ::mcp::era::legacy, std::move(settings));
}

std::uint64_t shared_calls::join(shared_session& client)
{
    sessions_.emplace(++last_client_, &client);
    return last_client_;
}

core::result<std::shared_ptr<table::text_queue>>
shared_calls::request(const ::mcp::client_message& request, bool cancels_if_left)
{
    connect();
    if (calls_ == nullptr) {
        return core::upstream_error(errc::session_not_ready, "the agent has no session");
    }
    if (count_of(request.client) >= most_calls_of_client) {
        return core::gateway_error(errc::overloaded, "too many calls of this session are in flight");
    }
    if (calls_->count() - calls_->count_of(0) + waiting_.size() >= most_calls) {
        return core::gateway_error(errc::overloaded, "too many calls of the shared session are in flight");
    }
    if (!request.principal.empty() && count_of(request.principal) >= most_calls_of_principal) {
        return core::gateway_error(errc::overloaded, "too many calls of one principal are in flight");
    }
    auto reader = std::make_shared<table::text_queue>(owner_.executor());
    if (request.method == subscribe || request.method == unsubscribe) {
        if (auto changed = change_subscription(request, reader); !changed) {
            return std::move(changed).error();
        }
        return reader;
    }
    const auto begun = calls_->begin(request, reader, owner_.now());
    if (!begun) {
        return begun.error();
    }
    if (cancels_if_left) {
        calls_->cancel_if_left(*reader, *begun);
    }
    return reader;
}

std::size_t shared_calls::count_of(std::uint64_t client) const
{
    return waiting_.count_of(client) + (calls_ == nullptr ? 0 : calls_->count_of(client));
}

std::size_t shared_calls::count_of(std::string_view principal) const
{
    return waiting_.count_of(principal) + (calls_ == nullptr ? 0 : calls_->count_of(principal));
}

core::result<> shared_calls::change_subscription(
    const ::mcp::client_message& request,
    const std::shared_ptr<table::text_queue>& reader
)
{
    const auto uri = ::mcp::members_of(request.params).text("uri");
    const auto ticket = waiting_.add(request, reader);
    const subscriptions::subscriber who{request.client, request.principal};
    if (request.method == unsubscribe) {
        carry_out(subscriptions_.unsubscribe(who, uri, ticket), {});
        return {};
    }
    auto step = subscriptions_.subscribe(who, uri, ticket);
    if (!step) {
        waiting_.forget(ticket);
        return std::move(step).error();
    }
    carry_out(std::move(*step), {});
    return {};
}

// With all that follows from it.
void shared_calls::carry_out(subscriptions::outcome step, const said_to_us& how)
{
    const said_to_us done{.member = "result", .raw = "{}"};
    const said_to_us unsent{.failure = core::gateway_error(errc::overloaded, "the server does not take what is sent")};
    const auto* heard = &how;
    for (bool sent = false; !sent;) {
        for (const auto each : step.done) {
            answer(each, done);
        }
        if (step.carried) {
            answer(*step.carried, *heard);
        }
        sent = !step.ask || ask(*step.ask);
        if (!sent) {
            heard = &unsent;
            step = subscriptions_.answered(std::string{step.ask->uri}, false);
        }
    }
}

// A question of the gateway's own, whose answer concerns whoever waits for it then.
bool shared_calls::ask(const subscriptions::question& what)
{
    if (calls_ == nullptr || asked_.size() >= most_own_calls) {
        return false;
    }
    std::string params{"{"};
    ::mcp::append_text_member(params, "uri", what.uri);
    ::mcp::close(params, '}');
    const auto own = ::mcp::own_request("0", what.subscribes ? subscribe : unsubscribe, params);
    auto reader = std::make_shared<table::text_queue>(owner_.executor());
    if (!calls_->begin(own.view(), reader, owner_.now())) {
        return false;
    }
    reader->set_wake([this, uri = what.uri] { look_at_answer(uri); });
    asked_.insert_or_assign(what.uri, std::move(reader));
    return true;
}

void shared_calls::look_at_answer(const std::string& uri)
{
    const auto found = asked_.find(uri);
    if (found == asked_.end()) {
        return;
    }
    const auto reader = found->second;
    said_to_us how;
    std::optional<std::string> text;
    ::mcp::raw_object answer;
    while (how.member.empty() && (text = reader->take())) {
        answer = ::mcp::members_of(*text);
        for (const std::string_view member : {"result", "error"}) {
            if (!answer.find(member).empty()) {
                how.member = member;
                how.raw = answer.find(member);
            }
        }
    }
    if (how.member.empty() && !reader->over()) {
        return;
    }
    if (how.member.empty()) {
        how.failure = reader->failure().value_or(core::upstream_error(errc::upstream_protocol, "no answer came"));
    }
    asked_.erase(found);
    carry_out(subscriptions_.answered(std::string{uri}, how.member == "result"), how);
    restore_more();
}

void shared_calls::answer(subscriptions::ticket request, const said_to_us& how)
{
    if (how.failure) {
        waiting_.fail(request, *how.failure);
    } else {
        waiting_.finish(request, how.member, how.raw);
    }
}

void shared_calls::restore_more()
{
    while (runs_ && asked_.size() < most_restored) {
        const auto next = subscriptions_.restore();
        if (!next) {
            return;
        }
        if (!ask(*next)) {
            subscriptions_.keep_lapsed(next->uri);
            return;
        }
    }
}

// A subscription is changed all the same: the client did not want to wait for that.
void shared_calls::cancel(const ::mcp::client_message& notification)
{
    if (!waiting_.cancel(notification) && calls_ != nullptr) {
        calls_->cancel(notification);
    }
}

void shared_calls::leave(std::uint64_t client, const core::error& why)
{
    sessions_.erase(client);
    if (calls_ != nullptr) {
        calls_->end_those_of(client, why);
    }
    waiting_.end_those_of(client, why);
    for (auto& each : subscriptions_.leave(client)) {
        carry_out(std::move(each), {});
    }
}

void shared_calls::sweep(core::steady_time now)
{
    connect();
    tell_changes(now);
    if (calls_ != nullptr) {
        calls_->time_out(now, agent_->record.mcp->call_timeout);
        restore_more();
    }
    for (const auto client : calls_ == nullptr ? std::set<std::uint64_t>{} : calls_->clients()) {
        if (const auto session = sessions_.find(client); session != sessions_.end()) {
            session->second->use(now);
        }
    }
}

void shared_calls::end(const core::error& why)
{
    runs_ = false;
    asked_.clear();
    for (const auto request : subscriptions_.lose()) {
        answer(request, {.failure = why});
    }
    if (const auto calls = std::move(calls_)) {
        owner_.retire(calls->fail(why), agent_->record.id);
    }
}

void shared_calls::connected()
{
    runs_ = true;
    if (calls_ != nullptr) {
        calls_->set_era(owner_.era_of(agent_->record.id));
    }
    restore_more();
    if (std::exchange(again_, false)) {
        owner_.recovered(*this);
    }
}

void shared_calls::said(std::string_view text)
{
    const auto told = calls_->take(text, owner_.now(), /*listening=*/true);
    if (told && told->to == ::mcp::destination::unasked) {
        come_unasked(told->text);
    }
}

void shared_calls::said_too_much(std::string_view beginning, std::size_t limit)
{
    calls_->take_too_long(beginning, limit, owner_.now());
}

void shared_calls::failed(::mcp::call_number call, core::error why)
{
    calls_->fail(call, why);
}

// The next one is waited for at once: it may have begun when somebody calls.
void shared_calls::ended(core::error why)
{
    again_ = again_ || runs_;
    end(core::upstream_error(errc::upstream_reset, why.detail));
    owner_.lost(*this);
    connect();
}

void shared_calls::tell_changes(core::steady_time now)
{
    if (changed_.none() || now < told_ + least_pause) {
        return;
    }
    told_ = now;
    list_changed(std::exchange(changed_, {}));
}

void shared_calls::list_changed(const ::mcp::list_set& lists)
{
    for (const auto& [number, session] : sessions_) {
        session->list_changed(lists);
    }
}

// Messages about the tasks or questions of one caller are dropped: they do not say whose they are.
void shared_calls::come_unasked(std::string_view text)
{
    const auto message = ::mcp::members_of(text);
    const auto method = message.text("method");
    if (const auto changed = ::mcp::changed_by(method); changed.any()) {
        changed_ |= changed;
        tell_changes(owner_.now());
    }
    if (method == "notifications/resources/updated") {
        const auto uri = ::mcp::members_of(message.object("params")).text("uri");
        subscriptions_.each_subscriber(uri, [&](std::uint64_t client, const std::string& subscribed) {
            if (const auto session = sessions_.find(client); session != sessions_.end()) {
                session->second->updated(subscribed, text);
            }
        });
    }
}

}  // namespace gateway::mcp::shared
