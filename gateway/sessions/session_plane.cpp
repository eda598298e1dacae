#include "gateway/sessions/session_plane.hpp"

#include "gateway/model/agent_record.hpp"
#include "gateway/sessions/agent_session.hpp"
#include "gateway/sessions/server_reach.hpp"
#include "gateway/telemetry/metric_family.hpp"
#include "net/loop/thrown.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <exception>
#include <ranges>
#include <utility>

namespace gateway::sessions {
namespace {

using core::errc;

// A program that does not answer by then, because it waits for something or never will, holds up nobody any more.
constexpr core::duration longest_turn{1000};

// Facts of a session that waits for the previous one to end.
session_facts facts_of_next(const core::agent& record)
{
    session_facts facts;
    facts.transport = record.mcp->transport;
    facts.state = ::mcp::session_state::starting;
    return facts;
}

// The part of a pinned server that callers get depends on its lists, whoever wrote its card.
bool needs_session(const model::agent_entry& agent)
{
    return model::needs_session(agent.record) || agent.pins != nullptr;
}

bool keeps_session(const model::agent_entry& was, const model::agent_entry& is)
{
    const auto& a = was.record;
    const auto& b = is.record;
    return model::keeps_session(a, b) ||
           (was.pins != nullptr && is.pins != nullptr && a.card.empty() == b.card.empty() &&
            a.card_headers == b.card_headers && model::same_callers_sessions(a, b));
}

using telemetry::family;
using telemetry::metric;

void add_up(family& into, const std::string& id, const session_facts& session)
{
    into.add({{"agent", id}}, std::uint64_t{session.ready_since ? 1U : 0U});
}

void add_states(family& into, const std::string& id, const session_facts& session)
{
    for (std::size_t i = 0; i < ::mcp::session_states; ++i) {
        const auto state = static_cast<::mcp::session_state>(i);
        into.add({{"agent", id}, {"state", ::mcp::name(state)}}, std::uint64_t{state == session.state ? 1U : 0U});
    }
}

void add_losses(family& into, const std::string& id, const session_facts& session)
{
    for (std::size_t i = 0; i < session.losses.size(); ++i) {
        const auto reason = static_cast<::mcp::session_reason>(i);
        into.add_some({{"agent", id}, {"reason", ::mcp::name(reason)}}, session.losses[i]);
    }
}

void add_attempts(family& into, const std::string& id, const session_facts& session)
{
    into.add({{"agent", id}}, session.counts.attempts);
}

void add_restarts(family& into, const std::string& id, const session_facts& session)
{
    into.add_some({{"agent", id}}, restarts_of(session));
}

void add_handshake_time(family& into, const std::string& id, const session_facts& session)
{
    if (session.counts.handshakes > 0) {
        into.add({{"agent", id}}, telemetry::seconds(session.counts.latest_handshake));
    }
}

void add_refreshes(family& into, const std::string& id, const session_facts& session)
{
    const auto& counts = session.counts;
    into.add_some({{"agent", id}, {"outcome", "changed"}}, counts.walks_changed);
    into.add_some(
        {{"agent", id}, {"outcome", "unchanged"}},
        counts.walks - counts.walks_changed - counts.walks_incomplete
    );
    into.add_some({{"agent", id}, {"outcome", "incomplete"}}, counts.walks_incomplete);
    into.add_some({{"agent", id}, {"outcome", "failed"}}, counts.walks_failed);
}

void add_messages(family& into, const std::string& id, const session_facts& session)
{
    into.add_some({{"agent", id}, {"direction", "received"}}, session.counts.received);
    into.add_some({{"agent", id}, {"direction", "sent"}}, session.counts.sent);
}

void add_refused(family& into, const std::string& id, const session_facts& session)
{
    into.add_some({{"agent", id}}, session.counts.refused);
}

void add_write_queue(family& into, const std::string& id, const session_facts& session)
{
    if (session.transport == core::mcp_transport::stdio) {
        into.add({{"agent", id}}, session.queued);
    }
}

}  // namespace

session_plane::session_plane(
    net::loop& control,
    cards::card_plane& cards,
    const core::logger& log,
    const config::mcp_settings& defaults,
    program_settings programs
)
    : loop_{control},
      cards_{cards},
      log_{log},
      defaults_{defaults},
      operators_{programs.operators},
      reach_{control, log, std::move(programs.inherited), programs.long_bodies},
      turns_{control, programs.starts, longest_turn}
{
    cards_.set_demand([this](const std::string& id) {
        if (auto* const found = find(id)) {
            found->runner().demand();  // a lazy session begins
        }
    });
    cards_.set_attempts([this](const std::string& id) {
        auto* const found = find(id);
        return found == nullptr ? std::nullopt : found->runner().next_attempt();
    });
}

session_plane::~session_plane() = default;

std::vector<passed_lists> session_plane::all_lists() const
{
    std::vector<passed_lists> all;
    for (const auto& [id, each] : sessions_) {
        if (auto lists = each->lists_to_pass()) {
            all.push_back(std::move(*lists));
        }
    }
    return all;
}

void session_plane::set_agents(const std::shared_ptr<const model::snapshot>& now)
{
    plane::set_agents(now);
    passed_.clear();
}

void session_plane::set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
    reach_.renew(id, agent);
    const auto there = sessions_.find(id);
    if (there != sessions_.end()) {
        if (agent != nullptr && keeps_session(*there->second->entry(), *agent)) {
            there->second->set_agent(agent, defaults_.walk);
            if (agent->pins != nullptr) {
                there->second->runner().demand();  // as in add(); one that has begun goes on
            }
            return;
        }
        auto gone = std::move(there->second);
        sessions_.erase(there);
        retire(std::move(gone));
    }
    const auto waits = next_.find(id);
    if (waits != next_.end()) {
        if (agent != nullptr && keeps_session(*waits->second, *agent)) {
            waits->second = agent;
            return;
        }
        next_.erase(waits);
    }
    // A card that the operator wrote needs no session, callers may.
    if (agent == nullptr || !needs_session(*agent) || stopped_) {
        return;
    }
    if (leaves(id)) {
        next_.emplace(id, agent);
        cards_.set_session_trouble(id, core::upstream_error(errc::session_not_ready));
    } else {
        add(id, agent);
    }
}

void session_plane::contain(const std::string& id)
{
    next_.erase(id);
    const auto there = sessions_.find(id);
    if (there != sessions_.end()) {
        leaving_.push_back(std::move(there->second));
        sessions_.erase(there);
        leaving_.back()->leave(core::caller_error(errc::agent_contained), /*silently=*/true);
    }
}

bool session_plane::restart(const std::string& id)
{
    const auto there = sessions_.find(id);
    if (there == sessions_.end() || stopped_) {
        return next_.contains(id);  // the one before is just ending
    }
    auto gone = std::move(there->second);
    sessions_.erase(there);
    next_.insert_or_assign(id, gone->entry());
    retire(std::move(gone));
    cards_.set_session_trouble(id, core::upstream_error(errc::session_not_ready));
    return true;
}

bool session_plane::leaves(const std::string& id) const
{
    return std::ranges::any_of(leaving_, [&](const auto& each) { return each->record().id == id; });
}

void session_plane::begin_next(const std::string& id)
{
    if (leaves(id)) {
        return;
    }
    if (const auto waited = next_.extract(id)) {
        add(id, waited.mapped());
        const auto* const found = find(id);
        cards_.set_session_trouble(id, found == nullptr ? trouble_of({}) : found->trouble());
    }
}

void session_plane::add(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
    const auto secrets = std::make_shared<core::redaction>(model::secrets_of(agent->record, {agent->token.reveal()}));
    const auto complaints = std::make_shared<::mcp::stderr_lines>();
    auto factory = reach_.of_gateway(*agent, secrets, complaints);
    if (factory == nullptr) {
        log_.write(
            core::log_level::warn,
            "mcp_package_unsupported",
            {{"agent", id}, {"reason", "the gateway runs no packages; expected a command or a url"}}
        );
        return;
    }
    auto settings = runner_settings_of(agent->record, &turns_, defaults_.walk);
    settings.secrets = secrets;
    auto& session = sessions_[id] = std::make_unique<agent_session>(
        session_services{loop_, cards_, log_, listed_, fell_back_, judge_},
        agent,
        std::move(settings),
        std::move(factory),
        server_words{secrets, complaints},
        [this](const agent_session& ended) { forget(ended); }
    );
    if (auto passed = passed_.extract(id)) {
        session->vouch(std::move(passed.mapped()));
    }
    session->runner().begin();
    if (agent->pins != nullptr) {
        session->runner().demand();  // what callers get of it depends on what it lists
    }
}

void session_plane::retire(std::unique_ptr<agent_session> session)
{
    leaving_.push_back(std::move(session));
    leaving_.back()->leave(core::gateway_error(stopped_ ? errc::draining : errc::session_not_ready));
}

// From within what the session tells: it is let go of afterwards.
void session_plane::forget(const agent_session& session)
{
    net::asio::post(loop_.get_executor(), [this, gone = &session, alive = std::weak_ptr<bool>{alive_}] {
        if (alive.expired()) {
            return;
        }
        const auto id = gone->record().id;
        std::erase_if(sessions_, [gone](const auto& each) { return each.second.get() == gone; });
        std::erase_if(leaving_, [gone](const auto& each) { return each.get() == gone; });
        begin_next(id);
    });
}

void session_plane::apply(const config::settings& /*now*/, const model::changed_settings& changed)
{
    const bool cards = changed.has("cards.max_size") || changed.has("access");
    const bool walks = changed.has("mcp.walk");
    if (sessions_.empty() || (!cards && !walks)) {
        return;
    }
    const auto keys = std::views::keys(sessions_);
    std::vector<std::string> ids{keys.begin(), keys.end()};
    auto tell_each =
        threads::in_turns(operators_, std::move(ids), [this, cards, walks, held = changes_](const std::string& id) {
            auto* const found = find(id);
            if (found != nullptr && cards) {
                found->render_again();
            }
            if (found != nullptr && walks) {
                found->set_walk(defaults_.walk);
            }
            return !stopped_;
        });
    net::asio::co_spawn(loop_.get_executor(), std::move(tell_each), [this](const std::exception_ptr& bug) {
        net::log_thrown(bug, log_, "session_settings");
    });
}

agent_session* session_plane::find(const std::string& id) const
{
    const auto found = sessions_.find(id);
    return found == sessions_.end() ? nullptr : found->second.get();
}

std::optional<session_facts> session_plane::facts(const std::string& id) const
{
    if (const auto* const found = find(id)) {
        return found->facts();
    }
    const auto waits = next_.find(id);
    return waits == next_.end() ? std::nullopt : std::optional{facts_of_next(waits->second->record)};
}

std::vector<std::string> session_plane::complaints(const std::string& id) const
{
    const auto* const found = find(id);
    return found == nullptr ? std::vector<std::string>{} : found->complaints();
}

bool session_plane::speaks_modern(const std::string& id) const
{
    const auto* const found = find(id);
    return found != nullptr && found->speaks_modern();
}

net::task<core::result<>> session_plane::find_era(std::string id)
{
    auto* const found = find(id);
    if (found == nullptr) {
        co_return stopped_ || next_.contains(id) ? core::result<>{absent(id)} : core::result<>{};
    }
    if (found->runner().spoken()) {
        co_return core::result<>{};
    }
    if (const auto trouble = found->trouble(); trouble && is_down(trouble->code)) {
        co_return *trouble;
    }
    auto waiter = found->find_era();
    const auto told = co_await session_waiter::wait(std::move(waiter));
    const auto late = core::upstream_error(errc::session_not_ready, "its era was not found out in time");
    co_return told ? *told : core::result<>{late};
}

core::result<std::shared_ptr<const ::mcp::server_facts>> session_plane::control(const std::string& id)
{
    auto* const found = find(id);
    if (found == nullptr) {
        return absent(id);
    }
    if (const auto trouble = found->trouble()) {
        found->runner().demand();
        return *trouble;
    }
    const auto& lists = found->lists();
    if (lists == nullptr) {
        return core::upstream_error(errc::session_not_ready, "nobody has compared its lists yet");
    }
    return std::shared_ptr<const ::mcp::server_facts>{lists, &lists->server};
}

::mcp::transport_factory session_plane::lane(const std::string& id)
{
    auto* const found = find(id);
    return found == nullptr ? ::mcp::transport_factory{} : reach_.reading(found->runner().lane(), found->record());
}

std::shared_ptr<const ::mcp::server_lists> session_plane::known_lists(const std::string& id) const
{
    auto* const found = find(id);
    return found == nullptr ? nullptr : found->lists();
}

std::shared_ptr<const ::mcp::server_lists> session_plane::lists(const std::string& id) const
{
    const auto* const found = find(id);
    return found == nullptr || found->trouble() ? nullptr : found->lists();
}

core::error session_plane::absent(const std::string& id) const
{
    const auto code = next_.contains(id) ? errc::session_not_ready : errc::session_not_started;
    return core::gateway_error(stopped_ ? errc::draining : code);
}

core::error session_plane::late(const std::string& id) const
{
    const auto* const found = find(id);
    const auto late = core::upstream_error(errc::upstream_timeout, "its lists did not come in time");
    return found == nullptr ? core::gateway_error(errc::draining) : found->trouble().value_or(late);
}

net::task<core::result<>> session_plane::refresh(std::string id)
{
    auto* const found = find(id);
    if (found == nullptr) {
        co_return absent(id);
    }
    if (const auto trouble = found->trouble(); trouble && is_down(trouble->code)) {
        co_return *trouble;
    }
    auto waiter = found->refresh();
    const auto told = co_await session_waiter::wait(std::move(waiter));
    co_return told ? *told : core::result<>{late(id)};
}

net::task<::mcp::look_result> session_plane::look(std::string id)
{
    auto* const found = find(id);
    if (found == nullptr) {
        co_return absent(id);
    }
    if (const auto trouble = found->trouble()) {
        co_return *trouble;
    }
    const auto waiter = std::make_shared<session_waiter>(loop_, found->record().mcp->request_timeout);
    const auto seen = std::make_shared<::mcp::look_result>(core::gateway_error(errc::internal));
    found->runner().look([waiter, seen](const ::mcp::look_result& lists) {
        *seen = lists;
        waiter->tell({});
    });
    const auto told = co_await session_waiter::wait(waiter);
    if (!told) {
        if (auto* const still = find(id)) {
            still->runner().end_look();
        }
        co_return late(id);
    }
    co_return *seen;
}

void session_plane::stop()
{
    stopped_ = true;
    next_.clear();
    for (auto& [id, each] : std::exchange(sessions_, {})) {
        retire(std::move(each));
    }
}

void session_plane::collect(telemetry::metrics& into) const
{
    const auto add = [&](const telemetry::metric_row& row,
                         void (*of)(family&, const std::string&, const session_facts&)) {
        into.add_agents(row, [this, of](family& series, const std::string& id) {
            if (const auto known = facts(id)) {
                of(series, id, *known);
            }
        });
    };
    add(metric("cardea_mcp_session_up"), add_up);
    add(metric("cardea_mcp_session_state"), add_states);
    add(metric("cardea_mcp_session_losses_total"), add_losses);
    add(metric("cardea_mcp_attempts_total"), add_attempts);
    add(metric("cardea_mcp_session_restarts_total"), add_restarts);
    add(metric("cardea_mcp_initialize_seconds"), add_handshake_time);
    add(metric("cardea_mcp_list_refreshes_total"), add_refreshes);
    add(metric("cardea_mcp_messages_total"), add_messages);
    add(metric("cardea_mcp_messages_refused_total"), add_refused);
    add(metric("cardea_mcp_write_queue_bytes"), add_write_queue);
}

}  // namespace gateway::sessions
