#include "gateway/mcp_path/http_sessions.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace gateway::mcp_path {
namespace {

using core::errc;

constexpr std::size_t longest_params = 4096;  // of a request that is kept to be told again

core::error ended_by_client()
{
    return core::caller_error(errc::session_not_found, "the client has ended it");
}

}  // namespace

http_sessions::http_sessions(http_session_services services)
    : services_{std::move(services)},
      exchanges_{services_.loop.io(), services_.client.name + '/' + services_.client.version},
      notes_{services_.loop, exchanges_, services_.client}
{
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

bool http_sessions::is_due(const entry& each, core::steady_time now) const noexcept
{
    const bool idle = each.upstream && !each.over && now - each.used >= longest_idle;
    return !each.under_way && (idle || now - each.began >= longest_life);
}

void http_sessions::drop(agent_sessions& from, shelf::iterator which)
{
    if (is_marked(*which)) {
        services_.mark(which->id, false);
    }
    clear_state(from, *which);
    from.by_id.erase(which->id);
    from.all.erase(which);
}

// Null: nothing is known of it.
http_sessions::entry* http_sessions::look(const std::string& agent, const mcp::session_digest& id)
{
    const auto in = agents_.find(agent);
    if (in == agents_.end()) {
        return nullptr;
    }
    const auto found = in->second.by_id.find(id);
    if (found == in->second.by_id.end()) {
        return nullptr;
    }
    const auto now = services_.clock();
    if (is_due(*found->second, now)) {
        drop(in->second, found->second);
        return nullptr;
    }
    found->second->used = now;
    in->second.all.splice(in->second.all.begin(), in->second.all, found->second);
    return &*found->second;
}

http_sessions::entry& http_sessions::touch(const std::string& agent, const mcp::session_digest& id)
{
    if (auto* const known = look(agent, id)) {
        return *known;
    }
    auto& in = agents_[agent];
    make_room(in);
    const auto now = services_.clock();
    in.all.push_front(entry{.id = id, .began = now, .used = now});
    in.by_id.emplace(id, in.all.begin());
    return in.all.front();
}

void http_sessions::make_room(agent_sessions& in)
{
    const auto now = services_.clock();
    while (!in.all.empty() && (in.all.size() >= most_sessions || is_due(in.all.back(), now))) {
        drop(in, std::prev(in.all.end()));
    }
}

// Its state had so many bytes before.
void http_sessions::recount(agent_sessions& in, const entry& changed, std::size_t before)
{
    const auto now = changed.state.bytes();
    in.bytes = in.bytes - before + now;
    in.by_size.erase({before, changed.id});
    if (now > 0) {
        in.by_size.emplace(now, changed.id);
    }
}

void http_sessions::clear_state(agent_sessions& in, entry& of)
{
    const auto before = of.state.bytes();
    of.state = {};
    recount(in, of, before);
}

// The session with the largest state loses it, and nothing else goes: the rest takes few bytes, and callers rely on it.
void http_sessions::bound_states(agent_sessions& in)
{
    while (in.bytes > most_bytes) {
        const auto largest = in.by_id.find(std::prev(in.by_size.end())->second)->second;
        if (is_marked(*largest) || largest->under_way) {
            clear_state(in, *largest);
        } else {
            drop(in, largest);
        }
    }
}

net::task<core::result<std::optional<std::string>>> http_sessions::find(std::string agent, mcp::session_digest id)
{
    const auto* const known = look(agent, id);
    if (known == nullptr) {
        co_return std::optional<std::string>{};
    }
    if (known->over) {
        co_return ended_by_client();
    }
    co_return known->upstream;
}

net::task<bool> http_sessions::end(std::string agent, mcp::session_digest id)
{
    auto& known = touch(agent, id);
    const bool ends = !std::exchange(known.over, true);
    if (ends) {
        clear_state(agents_.find(agent)->second, known);
        services_.mark(id, true);
        if (const auto attempt = known.under_way; attempt != nullptr && attempt->recovery == nullptr) {
            known.under_way.reset();
            turns_.remove(attempt);
            finish(*attempt, ended_by_client());
        }
    }
    co_return ends;
}

void http_sessions::keep(std::string agent, mcp::session_digest id, std::string upstream)
{
    later([this, agent = std::move(agent), id, upstream = std::move(upstream)]() mutable {
        touch(agent, id).upstream = std::move(upstream);
        services_.mark(id, true);
    });
}

void http_sessions::note(std::string agent, mcp::session_digest id, std::string_view method, std::string params)
{
    if (params.size() > longest_params) {
        return;
    }
    later([this, agent = std::move(agent), id, method = std::string{method}, params = std::move(params)] {
        auto& known = touch(agent, id);
        if (known.over) {
            return;
        }
        mcp::client_message request;
        request.method = method;
        request.params = params;
        const auto before = known.state.bytes();
        known.state.note(request);
        auto& in = agents_.find(agent)->second;
        recount(in, known, before);
        bound_states(in);
    });
}

std::shared_ptr<const mcp::http_settings> http_sessions::settings_for(const model::session_call& call) const
{
    auto settings = services_.settings(*call.agent);
    settings.headers.insert(settings.headers.end(), call.fields.begin(), call.fields.end());
    return std::make_shared<const mcp::http_settings>(std::move(settings));
}

void http_sessions::cancel(model::session_call in, std::string request_id)
{
    later([this, call = std::move(in), id = std::move(request_id)] { notes_.cancel(settings_for(call), call, id); });
}

net::task<core::result<std::string>> http_sessions::recover(model::session_call lost, std::stop_token left)
{
    if (stopped_) {
        co_return core::gateway_error(errc::draining);
    }
    auto& known = touch(lost.agent->record.id, lost.id);
    if (known.over) {
        co_return ended_by_client();
    }
    if (known.upstream && *known.upstream != lost.upstream) {
        co_return *known.upstream;
    }
    auto attempt = known.under_way;
    if (attempt == nullptr) {
        attempt = std::make_shared<session_attempt>();
        attempt->call = std::move(lost);
        if (!turns_.push(attempt)) {
            co_return core::gateway_error(errc::overloaded, "too many sessions of the agent are begun again");
        }
        known.under_way = attempt;
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
    session_recovery::terms terms{call.version, call.agreed, call.declared, services_.client, {}};
    if (const auto* const known = look(call.agent->record.id, call.id)) {
        known->state.each([&](std::string_view method, std::string_view params) {
            terms.requests.emplace_back(method, params);
        });
    }
    attempt->recovery = std::make_unique<session_recovery>(
        services_.loop,
        exchanges_,
        settings_for(call),
        std::move(terms),
        [this, of = std::weak_ptr{attempt}](core::result<std::string> outcome) {
            if (const auto ended = of.lock()) {
                recovery_ended(ended, std::move(outcome));
            }
        }
    );
    attempt->recovery->begin();
}

void http_sessions::recovery_ended(const recovery_turns::attempt& attempt, core::result<std::string> outcome)
{
    const auto& call = attempt->call;
    turns_.remove(attempt);
    auto& known = touch(call.agent->record.id, call.id);
    known.under_way.reset();
    if (known.over) {
        // The client has ended the one before; the server knows nothing of that yet.
        if (outcome && !outcome->empty()) {
            attempt->call.upstream = std::move(*outcome);
            notes_.end(settings_for(call), call);
        }
        outcome = ended_by_client();
    } else if (outcome) {
        known.upstream = *outcome;
        services_.mark(call.id, true);
        ++recovered_;
        write_recovered(*attempt);
    }
    finish(*attempt, std::move(outcome));
    begin_next();
}

void http_sessions::finish(session_attempt& attempt, core::result<std::string> outcome)
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
        {{"agent", attempt.call.agent->record.id}, {"session", mcp::tag_of(attempt.call.id)}}
    );
}

void http_sessions::forget(const std::string& agent)
{
    for (const auto& each : turns_.take(agent)) {
        finish(*each, core::upstream_error(errc::upstream_reset, "the agent is gone"));
    }
    begin_next();
    const auto in = agents_.find(agent);
    if (in == agents_.end()) {
        return;
    }
    while (!in->second.all.empty()) {
        drop(in->second, in->second.all.begin());
    }
    agents_.erase(in);
}

void http_sessions::stop()
{
    stopped_ = true;
    notes_.stop();
    for (const auto& each : turns_.take_all()) {
        finish(*each, core::gateway_error(errc::draining));
    }
}

std::size_t http_sessions::known(const std::string& agent) const
{
    const auto in = agents_.find(agent);
    return in == agents_.end() ? 0 : in->second.all.size();
}

std::size_t http_sessions::bytes(const std::string& agent) const
{
    const auto in = agents_.find(agent);
    return in == agents_.end() ? 0 : in->second.bytes;
}

}  // namespace gateway::mcp_path
