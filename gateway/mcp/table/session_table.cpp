#include "gateway/mcp/table/session_table.hpp"

#include "gateway/model/agent_record.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <random>
#include <tuple>
#include <utility>

namespace gateway::mcp::table {
namespace {

using core::errc;

core::error no_session()
{
    return core::caller_error(errc::session_not_found);
}

}  // namespace

caller_session::caller_session(session_table& in, session_name name)
    : in_{in},
      name_{std::move(name)},
      began_{in.now()},
      last_use_{began_}
{
}

void caller_session::end(model::session_end why, const core::error& error)
{
    if (!std::exchange(over_, true)) {
        share_.give_back();
        close(error);
        in_.over(*this, why);
    }
}

core::steady_time caller_session::now() const
{
    return in_.now();
}

net::executor caller_session::executor() const
{
    return in_.executor();
}

std::string new_session_handle()
{
    std::random_device source;
    std::string handle;
    for (int word = 0; word < 4; ++word) {
        auto bits = source();
        for (int byte = 0; byte < 4; ++byte, bits >>= 8U) {
            handle += static_cast<char>(bits & 255U);
        }
    }
    return handle;
}

caller_session* agent_sessions::next_to_go(std::string_view principal, core::steady_time now)
{
    const auto known = full_until.find(principal);
    if (known != full_until.end() && now < known->second) {
        return nullptr;
    }
    auto until = now + longest_full;
    caller_session* next = nullptr;
    for (const auto& [handle, each] : sessions) {
        if (!principal.empty() && each->name().principal != principal) {
            continue;
        }
        const bool listens = each->listened_to();
        const auto due = listens ? each->last_use() + evictable_listener : each->unused_since() + evictable;
        if (now < due) {
            until = std::min(until, due);
            continue;
        }
        const bool first = next == nullptr ||
                           std::tuple{listens, each->last_use()} < std::tuple{next->listened_to(), next->last_use()};
        if (first && !each->busy()) {
            next = each.get();
        }
    }
    if (next == nullptr) {
        std::erase_if(full_until, [&](const auto& each) { return each.second <= now; });
        full_until.insert_or_assign(std::string{principal}, until);
    }
    return next;
}

void ending_sessions::add(
    std::unique_ptr<caller_session> session,
    model::session_end why,
    std::shared_ptr<const core::error> error
)
{
    session->leave();
    const auto* const name = session.get();
    all_.emplace(name, ending{std::move(session), why, std::move(error)});
}

void ending_sessions::begin()
{
    if (!under_way_) {
        end_some(most_at_once);
    }
}

void ending_sessions::end_all()
{
    while (!all_.empty()) {
        end_some(all_.size());
    }
}

// One may end others meanwhile, and more may come.
void ending_sessions::end_some(std::size_t most)
{
    under_way_ = true;
    for (; most > 0 && !all_.empty(); --most) {
        const auto& how = all_.begin()->second;
        const auto error = how.error;
        how.session->end(how.why, *error);
    }
    under_way_ = !all_.empty();
    if (!under_way_) {
        return;
    }
    net::asio::post(on_, [this, alive = std::weak_ptr{alive_}] {
        if (!alive.expired()) {
            end_some(most_at_once);
        }
    });
}

std::unique_ptr<caller_session> ending_sessions::take(const caller_session& session)
{
    auto found = all_.extract(&session);
    return found.empty() ? nullptr : std::move(found.mapped().session);
}

std::size_t ending_sessions::count(std::string_view agent_id) const
{
    return static_cast<std::size_t>(std::ranges::count_if(all_, [&](const auto& each) {
        return each.first->agent().record.id == agent_id;
    }));
}

caller_session* session_table::find(const session_key& key) const
{
    const auto in = agents_.find(key.agent_id);
    if (in == agents_.end()) {
        return nullptr;
    }
    const auto found = in->second.sessions.find(key.handle);
    const bool fits = found != in->second.sessions.end() && found->second->name().principal == key.principal;
    return fits ? found->second.get() : nullptr;
}

caller_session* session_table::use(const session_key& key) const
{
    auto* const session = find(key);
    if (session != nullptr) {
        session->use(now());
    }
    return session;
}

core::result<std::shared_ptr<text_queue>>
session_table::request(const session_key& key, const ::mcp::client_message& request)
{
    auto* const session = use(key);
    if (session == nullptr) {
        return no_session();
    }
    return session->request(request);
}

core::result<> session_table::tell(const session_key& key, const ::mcp::client_message& message)
{
    auto* const session = use(key);
    if (session == nullptr) {
        return no_session();
    }
    return session->tell(message);
}

core::result<std::shared_ptr<text_queue>> session_table::listen(const session_key& key)
{
    auto* const session = use(key);
    if (session == nullptr) {
        return no_session();
    }
    return session->listen();
}

core::result<> session_table::end(const session_key& key)
{
    auto* const session = find(key);
    if (session == nullptr) {
        return no_session();
    }
    session->end(model::session_end::deleted, no_session());
    return {};
}

void session_table::set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
    const auto found = agents_.find(id);
    if (found == agents_.end()) {
        return;
    }
    const auto before = found->second.agent;
    if (agent == before) {
        return;
    }
    if (agent != nullptr && model::same_callers_sessions(before->record, agent->record)) {
        found->second.agent = agent;
        const bool filtered_anew = before->record.mcp->resources != agent->record.mcp->resources;
        std::vector<caller_session*> subscribed;
        for (auto* const each : all(id)) {
            each->set_agent(agent);
            if (filtered_anew && each->subscribes()) {
                subscribed.push_back(each);
            }
        }
        end_each(
            subscribed,
            model::session_end::withdrawn,
            core::upstream_error(errc::upstream_reset, "its resources have changed")
        );
        return;
    }
    end_all(id, model::session_end::withdrawn, core::upstream_error(errc::upstream_reset, "the agent has changed"));
}

core::result<core::place_share> session_table::make_room(
    const std::shared_ptr<const model::agent_entry>& agent,
    std::string_view principal,
    std::size_t most
)
{
    if (stopped_) {
        return core::gateway_error(errc::draining);
    }
    const auto& id = agent->record.id;
    set_agent(id, agent);
    const auto places = core::place_shares::of_object(this, id);
    const auto whose = core::mark_of_principal({}, principal);
    auto share = core::all_shares().take(places, whose, core::half_of(most));
    if (!share && evict(id, principal)) {
        share = core::all_shares().take(places, whose, core::half_of(most));
    }
    if (!share) {
        return core::gateway_error(errc::session_limit, "the principal has half of max_sessions sessions, all in use");
    }
    if (size(id) >= most && !evict(id, {})) {
        return core::gateway_error(errc::session_limit, "max_sessions sessions are in use");
    }
    return std::move(*share);
}

// Ends one of this principal, or of all. False: none may go.
bool session_table::evict(const std::string& agent_id, std::string_view principal)
{
    const auto in = agents_.find(agent_id);
    auto* const gone = in == agents_.end() ? nullptr : in->second.next_to_go(principal, now());
    if (gone != nullptr) {
        gone->end(model::session_end::evicted, no_session());
    }
    return gone != nullptr;
}

void session_table::keep(std::unique_ptr<caller_session> begun)
{
    const auto& name = begun->name();
    ++counts_.begun;
    services_.log
        .write(core::log_level::debug, "mcp_client_session", {{"agent", name.agent->record.id}, {"state", "begun"}});
    auto& in = agents_[name.agent->record.id];
    in.agent = name.agent;
    in.sessions.emplace(name.handle, std::move(begun));
}

void session_table::over(const caller_session& session, model::session_end why)
{
    const auto& id = session.agent().record.id;
    ++counts_.ended[static_cast<std::size_t>(why)];
    services_.log.write(
        core::log_level::debug,
        "mcp_client_session",
        {{"agent", id}, {"state", "ended"}, {"reason", model::name(why)}}
    );
    if (services_.ended) {
        services_.ended(session.name().handle);
    }
    // The session may be in a call of its own.
    auto keep = [ended = std::shared_ptr<caller_session>{take(session)}] {};
    net::asio::post(executor(), std::move(keep));
}

std::unique_ptr<caller_session> session_table::take(const caller_session& session)
{
    if (auto leaving = ends_soon_.take(session)) {
        return leaving;
    }
    const auto in = agents_.find(session.agent().record.id);
    auto found = in->second.sessions.extract(session.name().handle);
    if (in->second.sessions.empty()) {
        agents_.erase(in);
    }
    return std::move(found.mapped());
}

void session_table::count_recovery(const std::string& agent_id)
{
    ++counts_.recovered;
    services_.log.write(core::log_level::info, "mcp_recovered", {{"agent", agent_id}});
}

std::vector<caller_session*> session_table::owned_by(const session_owners& owners) const
{
    std::vector<caller_session*> found;
    for (const auto& [id, in] : agents_) {
        for (const auto& [handle, session] : in.sessions) {
            if (owners.contains(session->name().principal)) {
                found.push_back(session.get());
            }
        }
    }
    return found;
}

void session_table::end_of(const session_owners& owners)
{
    if (!owners.empty()) {
        end_each(owned_by(owners), model::session_end::withdrawn, core::caller_error(errc::principal_contained));
    }
}

std::size_t session_table::size_of(const session_owners& owners) const
{
    return owners.empty() ? 0 : owned_by(owners).size();
}

std::vector<caller_session*> session_table::all(std::string_view agent_id) const
{
    std::vector<caller_session*> found;
    for (const auto& [id, in] : agents_) {
        if (agent_id.empty() || id == agent_id) {
            for (const auto& [handle, session] : in.sessions) {
                found.push_back(session.get());
            }
        }
    }
    return found;
}

void session_table::end_all(std::string_view agent_id, model::session_end why, const core::error& error)
{
    end_each(all(agent_id), why, error);
}

void session_table::end_each(
    const std::vector<caller_session*>& which,
    model::session_end why,
    const core::error& error
)
{
    const auto shared = std::make_shared<const core::error>(error);
    for (auto* const each : which) {
        ends_soon_.add(take(*each), why, shared);
    }
    ends_soon_.begin();
}

void session_table::sweep(core::steady_time now)
{
    if (sweep_) {
        sweep_->now = now;
        return;
    }
    sweep_ = sweep_place{.now = now, .agent = {}, .handle = {}};
    sweep_some();
}

// By name, since sessions come and go meanwhile.
void session_table::sweep_some()
{
    if (!sweep_) {
        return;
    }
    auto place = std::move(*sweep_);
    const auto some = some_behind(place);
    const bool all_seen = some.size() < most_swept;
    if (!all_seen) {
        const auto& last = some.back()->name();
        place.agent = last.agent->record.id;
        place.handle = last.handle;
    }
    // One that ends, and those that it ends, are there until the loop does something else.
    for (auto* const each : some) {
        judge(*each, place.now);
    }
    if (all_seen) {
        sweep_.reset();
        return;
    }
    sweep_ = std::move(place);
    later([this] { sweep_some(); });
}

void session_table::later(std::function<void()> then)
{
    net::asio::post(executor(), [alive = std::weak_ptr{alive_}, then = std::move(then)] {
        if (!alive.expired()) {
            then();
        }
    });
}

std::vector<caller_session*> session_table::some(std::string_view agent_id, std::string_view behind) const
{
    std::vector<caller_session*> found;
    const auto in = agents_.find(agent_id);
    if (in == agents_.end()) {
        return found;
    }
    const auto& sessions = in->second.sessions;
    for (auto at = sessions.upper_bound(behind); at != sessions.end() && found.size() < most_swept; ++at) {
        found.push_back(at->second.get());
    }
    return found;
}

std::vector<caller_session*> session_table::some_behind(const sweep_place& place) const
{
    std::vector<caller_session*> some;
    for (auto in = agents_.lower_bound(place.agent); in != agents_.end() && some.size() < most_swept; ++in) {
        const auto& sessions = in->second.sessions;
        auto at = in->first == place.agent ? sessions.upper_bound(place.handle) : sessions.begin();
        for (; at != sessions.end() && some.size() < most_swept; ++at) {
            some.push_back(at->second.get());
        }
    }
    return some;
}

void session_table::judge(caller_session& session, core::steady_time now)
{
    if (session.busy() || session.listened_to()) {
        session.note_open(now);
    }
    if (now - session.began() >= longest_life && !session.busy()) {
        session.end(model::session_end::aged, no_session());
    } else if (now - session.last_use() >= longest_idle && !session.listened_to() && !session.busy()) {
        session.end(model::session_end::idle, no_session());
    } else if (!session.is_over()) {
        session.sweep(now);
    }
}

void session_table::stop()
{
    stopped_ = true;
    end_all({}, model::session_end::draining, core::gateway_error(errc::draining));
    ends_soon_.end_all();
}

std::size_t session_table::size() const noexcept
{
    std::size_t sum = 0;
    for (const auto& [id, in] : agents_) {
        sum += in.sessions.size();
    }
    return sum;
}

std::size_t session_table::size(std::string_view agent_id) const
{
    const auto found = agents_.find(agent_id);
    return found == agents_.end() ? 0 : found->second.sessions.size();
}

}  // namespace gateway::mcp::table
