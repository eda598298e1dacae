#include "gateway/mcp/http/http_sessions.hpp"

#include "mcp/calls/name_filter.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <boost/asio/post.hpp>

#include <chrono>
#include <iterator>
#include <utility>

namespace gateway::mcp::http {
namespace {

using core::errc;

constexpr std::size_t longest_params = 4096;  // of a request that is kept to be told again

// The message is about a resource that callers do not get since a reload.
bool is_hidden(const model::agent_entry& agent, std::string_view params)
{
    const auto uri = ::mcp::members_of(params).text("uri");
    return agent.filters != nullptr && !uri.empty() && !agent.filters->resources.exposed(uri);
}

core::error agent_gone()
{
    return core::upstream_error(errc::upstream_reset, "the agent is gone");
}

core::error ended_by_client()
{
    return core::caller_error(errc::session_not_found, "the client has ended it");
}

}  // namespace

http_sessions::http_sessions(http_session_services services)
    : services_{std::move(services)},
      calls_{services_.clock},
      exchanges_{services_.loop, services_.client.name + '/' + services_.client.version},
      notes_{services_.loop, exchanges_, services_.client},
      sweeper_{*this}
{
    services_.loop.timers().add(sweeper_);
}

http_sessions::~http_sessions() = default;

template <class Function>
void http_sessions::later(Function then)
{
    net::asio::post(
        services_.loop.get_executor(),
        [alive = std::weak_ptr<bool>{alive_}, then = std::move(then)]() mutable {
            if (!alive.expired()) {
                then();
            }
        }
    );
}

void http_sessions::sweeper::on_due()
{
    set_due(std::chrono::steady_clock::now() + sweep_every);
    of_.sweep(of_.services_.clock());
}

// Null: nothing is known of it.
known_session* http_sessions::look(const std::string& agent, const ::mcp::session_digest& id)
{
    const auto in = agents_.find(agent);
    return in == agents_.end() ? nullptr : in->second.look(id, services_.clock());
}

// Null: there is no such agent.
known_session* http_sessions::touch(const std::string& agent, const ::mcp::session_digest& id)
{
    if (!services_.has_agent(agent)) {
        return nullptr;
    }
    clear_all(agent);
    return &agents_.try_emplace(agent, services_.mark).first->second.touch(id, services_.clock());
}

void http_sessions::sweep(core::steady_time now)
{
    std::size_t room = most_swept;
    for (auto each = agents_.begin(); each != agents_.end() && room > 0;) {
        room -= each->second.sweep(now, room);
        each = each->second.size() == 0 ? agents_.erase(each) : std::next(each);
    }
    if (room == 0) {
        later([this, now] { sweep(now); });
    }
}

net::task<core::result<model::found_session>>
http_sessions::find(std::string agent, ::mcp::session_digest id, bool listens)
{
    auto* const known = look(agent, id);
    if (known == nullptr) {
        co_return model::found_session{};
    }
    if (known->over) {
        co_return ended_by_client();
    }
    co_return model::found_session{known->upstream, listens ? std::exchange(known->changed, {}) : ::mcp::list_set{}};
}

net::task<bool> http_sessions::end(std::string agent, ::mcp::session_digest id)
{
    auto* const known = touch(agent, id);
    if (known == nullptr || known->over) {
        co_return false;
    }
    agents_.find(agent)->second.end(*known);
    if (const auto attempt = known->under_way; attempt != nullptr && attempt->recovery == nullptr) {
        known->under_way.reset();
        turns_.remove(attempt);
        finish(*attempt, ended_by_client());
    }
    co_return true;
}

void http_sessions::keep(std::string agent, ::mcp::session_digest id, ::mcp::upstream_session upstream)
{
    later([this, agent = std::move(agent), id, upstream = std::move(upstream)]() mutable {
        auto* const known = touch(agent, id);
        if (known != nullptr && !known->over && !known->upstream) {
            agents_.find(agent)->second.keep(*known, std::move(upstream));
        }
    });
}

// Several answers may set cookies at once, each unaware of the others.
void http_sessions::take_cookies(
    std::string agent,
    ::mcp::session_digest id,
    ::mcp::upstream_session upstream,
    model::given_cookies given
)
{
    later([this, agent = std::move(agent), id, upstream = std::move(upstream), given = std::move(given)]() mutable {
        auto* const known = touch(agent, id);
        if (known == nullptr || known->over || (known->upstream && known->upstream->id != upstream.id)) {
            return;
        }
        auto session = known->upstream.value_or(std::move(upstream));
        bool changed = false;
        for (const auto& field : given.fields) {
            const auto now = std::chrono::system_clock::now();
            changed = session.cookies.take(field, {given.host, given.path, given.secure}, now) || changed;
        }
        if (changed) {
            agents_.find(agent)->second.keep(*known, std::move(session));
        }
    });
}

void http_sessions::note(std::string agent, ::mcp::session_digest id, std::string_view method, std::string params)
{
    if (params.size() > longest_params) {
        return;
    }
    later([this, agent = std::move(agent), id, method = std::string{method}, params = std::move(params)] {
        auto* const known = touch(agent, id);
        if (known == nullptr || known->over) {
            return;
        }
        ::mcp::client_message request;
        request.method = method;
        request.params = params;
        agents_.find(agent)->second.note(*known, request);
    });
}

std::shared_ptr<const ::mcp::http_settings> http_sessions::settings_for(const model::session_call& call) const
{
    auto settings = services_.settings(*call.agent);
    settings.headers.insert(settings.headers.end(), call.fields.begin(), call.fields.end());
    return std::make_shared<const ::mcp::http_settings>(std::move(settings));
}

void http_sessions::cancel(model::session_call in, std::string request_id)
{
    later([this, call = std::move(in), id = std::move(request_id)] {
        if (!is_contained(call)) {
            notes_.cancel(settings_for(call), call, id);
        }
    });
}

void http_sessions::answer(model::session_call in, std::string text)
{
    later([this, call = std::move(in), said = std::move(text)] {
        if (!is_contained(call)) {
            notes_.answer(settings_for(call), call, said);
        }
    });
}

net::task<core::result<::mcp::upstream_session>> http_sessions::recover(model::session_call lost, std::stop_token left)
{
    if (stopped_) {
        co_return core::gateway_error(errc::draining);
    }
    if (is_contained(lost)) {
        co_return core::caller_error(errc::agent_contained);
    }
    auto* const known = touch(lost.agent->record.id, lost.id);
    if (known == nullptr) {
        co_return agent_gone();
    }
    if (known->over) {
        co_return ended_by_client();
    }
    if (known->upstream && known->upstream->id != lost.upstream.id) {
        co_return *known->upstream;
    }
    auto attempt = known->under_way;
    if (attempt == nullptr) {
        attempt = std::make_shared<session_attempt>();
        attempt->call = std::move(lost);
        if (!turns_.push(attempt)) {
            co_return core::gateway_error(errc::overloaded, "too many sessions of the agent are begun again");
        }
        known->under_way = attempt;
        begin_next();
    }
    if (!attempt->outcome) {
        const auto waiter = std::make_shared<net::task_signal>();
        attempt->waiting.push_back(waiter);
        // On the thread that says so, or here.
        const std::stop_callback leaving{left, [this, attempt, waiter] {
                                             later([this, attempt, waiter] { leave(attempt, waiter); });
                                         }};
        co_await waiter->wait();
    }
    co_return attempt->outcome.value_or(core::caller_error(errc::caller_gone, "while its session began again"));
}

// An attempt that nobody waits for does not begin; one under way goes on, for the next caller.
void http_sessions::leave(const recovery_turns::attempt& attempt, const recovery_waiter& who)
{
    if (attempt->outcome || std::erase(attempt->waiting, who) == 0) {
        return;
    }
    if (attempt->waiting.empty() && attempt->recovery == nullptr) {
        turns_.remove(attempt);
        if (auto* const known = look(attempt->call.agent->record.id, attempt->call.id)) {
            known->under_way.reset();
        }
    }
    who->set();
}

void http_sessions::begin_next()
{
    while (const auto next = turns_.next()) {
        begin(next);
    }
}

void http_sessions::begin(const recovery_turns::attempt& attempt)
{
    const auto& call = attempt->call;
    session_recovery::terms terms{call.version, call.agreed, call.declared, call.further, services_.client, {}};
    if (const auto* const known = look(call.agent->record.id, call.id)) {
        known->state.each([&](std::string_view method, std::string_view params) {
            if (!is_hidden(*call.agent, params)) {
                terms.requests.emplace_back(method, params);
            }
        });
    }
    attempt->recovery = std::make_unique<session_recovery>(
        services_.loop,
        exchanges_,
        settings_for(call),
        std::move(terms),
        [this, of = std::weak_ptr{attempt}](core::result<::mcp::upstream_session> outcome) {
            if (const auto ended = of.lock()) {
                recovery_ended(ended, std::move(outcome));
            }
        }
    );
    attempt->recovery->begin();
}

void http_sessions::recovery_ended(
    const recovery_turns::attempt& attempt,
    core::result<::mcp::upstream_session> outcome
)
{
    const auto& call = attempt->call;
    turns_.remove(attempt);
    // Nobody waits for it if the agent is gone: forget().
    auto* const known = look(call.agent->record.id, call.id);
    if (known != nullptr) {
        known->under_way.reset();
    }
    if (known == nullptr || known->over) {
        // The client has ended the one before; the server knows nothing of that yet.
        if (outcome && !outcome->id.empty()) {
            attempt->call.upstream = std::move(*outcome);
            notes_.end(settings_for(call), call);
        }
        outcome = ended_by_client();
    } else if (outcome) {
        agents_.find(call.agent->record.id)->second.keep(*known, *outcome);
        known->changed |= attempt->recovery->announced();
        ++recovered_;
        write_recovered(*attempt);
    }
    finish(*attempt, std::move(outcome));
    begin_next();
}

void http_sessions::finish(session_attempt& attempt, core::result<::mcp::upstream_session> outcome)
{
    attempt.recovery.reset();
    attempt.outcome = std::move(outcome);
    for (const auto& each : std::exchange(attempt.waiting, {})) {
        each->set();
    }
}

void http_sessions::write_recovered(const session_attempt& attempt) const
{
    services_.log.write(
        core::log_level::info,
        "mcp_recovered",
        {{"agent", attempt.call.agent->record.id}, {"session", ::mcp::tag_of(attempt.call.id)}}
    );
}

void http_sessions::forget(const std::string& agent)
{
    for (const auto& each : turns_.take(agent)) {
        finish(*each, agent_gone());
    }
    begin_next();
    const auto in = agents_.find(agent);
    if (in == agents_.end()) {
        return;
    }
    const bool under_way = !leaving_.empty();
    leaving_.push_back(agents_.extract(in));
    if (!under_way) {
        clear_some();
    }
}

bool http_sessions::is_contained(const model::session_call& call) const
{
    return services_.is_contained && services_.is_contained(call.agent->record.id);
}

void http_sessions::contain(const std::string& agent)
{
    for (const auto& each : turns_.take(agent)) {
        if (auto* const known = look(agent, each->call.id)) {
            known->under_way.reset();
        }
        finish(*each, core::caller_error(errc::agent_contained));
    }
    begin_next();
}

void http_sessions::clear_some()
{
    std::size_t room = most_swept;
    while (!leaving_.empty() && room > 0) {
        auto& sessions = leaving_.front().mapped();
        room -= sessions.clear(room);
        if (sessions.size() == 0) {
            leaving_.pop_front();
        }
    }
    if (!leaving_.empty()) {
        later([this] { clear_some(); });
    }
}

// The rest of a former agent of the same name must not take marks away that its sessions get from now on.
void http_sessions::clear_all(const std::string& agent)
{
    for (auto& each : leaving_) {
        if (each.key() == agent) {
            each.mapped().clear(each.mapped().size());
        }
    }
}

void http_sessions::stop()
{
    stopped_ = true;
    notes_.stop();
    exchanges_.close();
    for (const auto& each : turns_.take_all()) {
        finish(*each, core::gateway_error(errc::draining));
    }
}

std::size_t http_sessions::known(const std::string& agent) const
{
    const auto in = agents_.find(agent);
    return in == agents_.end() ? 0 : in->second.size();
}

std::size_t http_sessions::bytes(const std::string& agent) const
{
    const auto in = agents_.find(agent);
    return in == agents_.end() ? 0 : in->second.bytes();
}

}  // namespace gateway::mcp::http
