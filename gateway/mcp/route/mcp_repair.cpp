#include "gateway/mcp/route/mcp_repair.hpp"

#include "core/ascii.hpp"
#include "core/url.hpp"
#include "gateway/access/access_plan.hpp"
#include "gateway/mcp/route/mcp_call.hpp"
#include "gateway/model/agent_record.hpp"
#include "gateway/model/control_services.hpp"
#include "gateway/relay/agent_exchange.hpp"
#include "gateway/relay/forwarding.hpp"
#include "gateway/request/request_context.hpp"
#include "gateway/responses/answer.hpp"
#include "mcp/protocol/message.hpp"
#include "mcp/protocol/server_facts.hpp"
#include "mcp/translation/list_subscription.hpp"
#include "mcp/translation/modern_messages.hpp"
#include "net/http1/head_writer.hpp"
#include "net/loop/ask.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <chrono>
#include <exception>
#include <stop_token>
#include <utility>

namespace gateway::mcp::route {
namespace {

using core::errc;
using net::http1::method;

constexpr std::string_view session_field = "Mcp-Session-Id";

struct recovery_outcome {
    std::exception_ptr failure;
    core::result<::mcp::upstream_session> begun;
    bool ready = false;
};

}  // namespace

std::vector<std::pair<std::string, core::secret>> forwarded_fields(const request::request_context& request)
{
    std::vector<std::pair<std::string, core::secret>> passed;
    const auto& agent = *request.agent;
    if (agent.record.mcp->forward_headers.empty() && agent.record.of_callers.names.empty()) {
        return passed;
    }
    const auto* credentials = request.sender.access ? &request.sender.access->reader() : nullptr;
    for (const auto& field : request.caller.head().fields) {
        if (relay::is_forwarded(field.name, agent, credentials)) {
            passed.emplace_back(field.name, core::secret{std::string{field.value}});
        }
    }
    return passed;
}

core::result<std::string_view> mcp_repair::set_session(
    const ::mcp::session_digest& id,
    ::mcp::sealed_session session,
    std::string_view version,
    bool alone
)
{
    const bool lives_elsewhere = !message_.translated && !request_.agent->has_program_sessions();
    if (lives_elsewhere && !use_session(id, session.began, alone)) {
        return core::caller_error(errc::session_not_found, "it has been idle for too long");
    }
    const auto sealed = session.version;
    id_ = id;
    session_ = std::move(session);
    for (const auto known : ::mcp::versions(::mcp::era::legacy)) {
        if (known == version) {
            session_.version = known;
            agreed_ = true;
        }
    }
    if (auto* const upstream = std::get_if<std::string>(&session_.place)) {
        upstream_.id = std::move(*upstream);
    }
    if (session_.cookies) {
        upstream_.cookies = net::http1::cookie_jar::of_text(*session_.cookies);
    }
    name_session();
    return sealed;
}

// False: it has been idle for too long.
bool mcp_repair::use_session(const ::mcp::session_digest& id, core::wall_time began, bool alone)
{
    auto& calls = control_.caller_sessions.calls();
    const auto age = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now() - began);
    if (alone && calls.is_idle(id, age)) {
        return false;
    }
    if (request_.caller.head().verb == method::get) {
        place_ = calls.hold(id);
    } else {
        calls.use(id);
    }
    return true;
}

bool mcp_repair::begin_call()
{
    cancellable_ = true;
    if (!id_) {
        return true;
    }
    auto place = control_.caller_sessions.calls().take(*id_);
    if (place) {
        place_ = std::move(*place);
    }
    return place.has_value();
}

// The field is the first line of what is written of the session; other fields of the message stand behind it.
void mcp_repair::name_session()
{
    auto& fields = message_.session_lines;
    std::string_view rest{fields};
    if (core::equal_ignoring_case(rest.substr(0, session_field.size()), session_field)) {
        rest.remove_prefix(rest.find("\r\n") + 2);
    }
    std::string text;
    if (!upstream_.id.empty()) {
        net::http1::head_writer{text}.field(session_field, upstream_.id);
    }
    text += rest;
    fields = std::move(text);
    name_cookies();
}

void mcp_repair::name_cookies()
{
    const auto& jar = upstream_.cookies;
    cookies_ = jar.empty() ? std::string{} : jar.line(path(), std::chrono::system_clock::now());
}

// The target of the message, with its query.
std::string_view mcp_repair::path() const
{
    return redirects_.path().empty() ? paths_.of(*request_.agent) : redirects_.path();
}

bool mcp_repair::replaces(const net::http1::response_head& head) const
{
    return message_.answer.replaces(head);
}

core::result<> mcp_repair::accept(const net::http1::response_head& head)
{
    return message_.answer.accept(head);
}

void mcp_repair::add_head_fields(std::string& fields) const
{
    message_.answer.add_fields(fields);
}

std::string_view mcp_repair::challenge() const noexcept
{
    return message_.answer.challenge();
}

// Cookies of an answer outside a session count if it begins one.
void mcp_repair::note_answer(const net::http1::response_head& head)
{
    model::given_cookies given;
    for (const auto& field : head.fields) {
        if (field.id == net::http1::field_name::set_cookie) {
            given.fields.emplace_back(field.value);
        }
    }
    const auto at = given.fields.empty() ? std::nullopt : core::http_url::parse(request_.agent->call_url);
    if (!at) {
        return;
    }
    const auto before = upstream_;
    bool changed = false;
    for (const auto& field : given.fields) {
        const net::http1::cookie_source from{at->host, path(), at->secure};
        changed = upstream_.cookies.take(field, from, std::chrono::system_clock::now()) || changed;
    }
    if (changed && id_) {
        given.host = at->host;
        given.path = path();
        given.secure = at->secure;
        control_.caller_sessions.take_cookies(request_.agent->record.id, *id_, before, std::move(given));
    }
}

net::routine<core::result<>> mcp_repair::find_session()
{
    if (!id_) {
        co_return core::result<>{};
    }
    const bool listens = request_.caller.head().verb == method::get;
    auto asked = control_.caller_sessions.find(request_.agent->record.id, *id_, listens);
    const auto here = request_.caller.owner().get_executor();
    auto known = co_await net::ask(control_.executor, here, std::move(asked));
    if (!known) {
        co_return std::move(known).error();
    }
    for (const auto& each : ::mcp::changed_texts({}, known->changed)) {
        first_events_.append("event: message\ndata: ").append(each).append("\n\n");
    }
    if (auto& moved = known->upstream) {
        upstream_ = std::move(*moved);
        name_session();
    } else if (!std::holds_alternative<std::string>(session_.place)) {
        co_return core::caller_error(errc::session_not_found, "another process or nobody has it");
    }
    co_return core::result<>{};
}

net::routine<> mcp_repair::end_session()
{
    if (!id_) {
        co_return;
    }
    auto asked = control_.caller_sessions.end(request_.agent->record.id, *id_);
    const auto here = request_.caller.owner().get_executor();
    const bool ends = co_await net::ask(control_.executor, here, std::move(asked));
    if (ends) {
        message_.answer.set_ended(
            request_.caller.head().verb == method::delete_ ? model::session_end::deleted : model::session_end::lost
        );
    }
}

mcp_repair::mcp_repair(mcp_call& message, model::control_services& control, relay::redirect_cache& paths)
    : message_{message},
      request_{message.request},
      control_{control},
      paths_{paths}
{
}

std::optional<std::size_t> mcp_repair::interest(const net::http1::response_head& head) const
{
    if (head.status == 307 || head.status == 308) {
        return redirects_.may_follow() ? std::optional<std::size_t>{0} : std::nullopt;
    }
    const bool may_be_lost = id_ && request_.caller.head().verb != method::delete_ && !begun_again_;
    if (may_be_lost && head.status == 404) {
        return 0;
    }
    return may_be_lost && head.status == 400 ? std::optional{longest_refusal} : std::nullopt;
}

net::routine<core::result<bool>> mcp_repair::repair(
    relay::relay_call& call,
    relay::agent_exchange& on,
    const net::http1::response_head& head,
    std::string body
)
{
    if (head.status == 307 || head.status == 308) {
        const bool follows = redirects_.follow(call, head);
        if (follows) {
            name_cookies();
            call.request.cookies = cookies_;
        }
        if (follows && call.request.verb == method::post) {  // where a GET leads is its own
            paths_.set(*call.agent, redirects_.path());
        }
        co_return follows;
    }
    const auto read = ::mcp::read_message(body);
    if (!::mcp::says_session_lost(head.status, read ? &*read : nullptr)) {
        co_return false;
    }
    paths_.forget(call.agent->record.id);
    if (call.agent->record.mcp->on_lost == core::mcp_loss::tell) {
        co_await end_session();
        co_return core::upstream_error(errc::session_not_found, "the server has lost the session");
    }
    co_return co_await begin_again(call, on);
}

net::routine<core::result<bool>> mcp_repair::begin_again(relay::relay_call& call, relay::agent_exchange& on)
{
    begun_again_ = true;
    on.discard();
    // The server has refused the message: there is nothing that it could be told to give up.
    const bool cancellable = std::exchange(cancellable_, false);
    auto begun = co_await await_session(call, on);
    if (!begun) {
        if (begun.error().code == errc::session_not_found) {
            co_await end_session();
        }
        co_return std::move(begun).error();
    }
    cancellable_ = cancellable;
    upstream_ = std::move(*begun);
    name_session();
    if (call.request.verb == method::get) {
        auto found = co_await find_session();
        if (!found) {
            co_return std::move(found).error();
        }
    }
    call.request.lines = message_.session_lines;
    call.request.cookies = cookies_;
    co_return true;
}

// Waits as for the server's answer: a caller may leave, gets events when it has waited for long, and waits no longer than a call may
// take.
net::routine<core::result<::mcp::upstream_session>>
mcp_repair::await_session(const relay::relay_call& call, relay::agent_exchange& on)
{
    const auto here = net::asio::make_work_guard(request_.caller.owner().get_executor());
    auto& clock = request_.caller.clock();
    std::stop_source leaving;
    recovery_outcome asked;
    net::asio::co_spawn(
        control_.executor,
        control_.caller_sessions.recover(call_of(call), leaving.get_token()),
        [&](const std::exception_ptr& failure, core::result<::mcp::upstream_session> begun) {
            asked.failure = failure;
            asked.begun = std::move(begun);
            net::asio::post(here.get_executor(), [&] {
                asked.ready = true;
                clock.wake().set();
            });
        }
    );
    const auto until = on.head_due();
    core::result<> waited;
    while (!asked.ready && waited) {
        waited = co_await on.await_event(until);
    }
    leaving.request_stop();
    while (!asked.ready) {
        co_await clock.wait();
    }
    if (asked.failure) {
        std::rethrow_exception(asked.failure);
    }
    if (!waited) {
        co_return std::move(waited).error();
    }
    co_return std::move(asked.begun);
}

model::session_call mcp_repair::call_of(const relay::relay_call& call) const
{
    model::session_call out;
    out.agent = call.agent;
    out.id = id_.value_or(::mcp::session_digest{});
    out.upstream = upstream_;
    out.version = session_.version.empty() ? ::mcp::latest(::mcp::era::legacy) : session_.version;
    out.agreed = agreed_;
    out.declared = session_.declared;
    out.further = session_.further;
    out.fields = message_.forwarded;
    out.whose = request_.slot.whose();
    if (call.token) {
        out.fields.emplace_back("Authorization", core::secret{"Bearer " + call.token->text.reveal()});
    }
    return out;
}

void mcp_repair::gave_up(const relay::relay_call& call)
{
    if (cancellable_) {
        control_.caller_sessions.cancel(call_of(call), request_.errors.call_id);
    }
}

// A server of the modern era waits for no answer.
void mcp_repair::refuse(const relay::relay_call& call, std::string answer)
{
    if (id_) {
        control_.caller_sessions.answer(call_of(call), std::move(answer));
    }
}

std::string mcp_repair::failure_text(const core::error& why) const
{
    if (request_.errors.call_id.empty()) {
        return {};
    }
    return responses::mcp_error_answer(why.code, request_.record.agent, request_.errors.call_id).body;
}

std::string mcp_repair::end_text() const
{
    if (request_.errors.call_id.empty()) {
        return {};
    }
    const auto asked = request_.record.mcp_method.value_or(::mcp::client_method::listen);
    return ::mcp::end_answer(asked, request_.record.era.value_or(::mcp::era::modern), request_.errors.call_id);
}

}  // namespace gateway::mcp::route
