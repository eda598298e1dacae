#include "gateway/sessions/agent_session.hpp"

#include "gateway/model/agent_record.hpp"
#include "net/loop/thrown.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <iterator>
#include <utility>

namespace gateway::sessions {

using ::mcp::session_state;

agent_session::agent_session(
    session_services services,
    std::shared_ptr<const model::agent_entry> agent,
    ::mcp::runner_settings settings,
    ::mcp::transport_factory connect,
    server_words words,
    std::function<void(const agent_session& session)> ended
)
    : services_{services},
      agent_{std::move(agent)},
      ended_{std::move(ended)},
      words_{std::move(words)},
      vouching_{services_.control.get_executor()},
      runner_{::mcp::session_runner::make(
          services_.control,
          std::move(settings),
          std::move(connect),
          *this,
          services_.log,
          agent_->record.id
      )}
{
}

session_facts agent_session::facts() const
{
    session_facts facts;
    facts.transport = runner_->fell_back() ? core::mcp_transport::sse : record().mcp->transport;
    facts.state = runner_->state();
    facts.reason = runner_->reason();
    facts.detail = runner_->detail();
    facts.begun = runner_->has_begun();
    facts.needs_operator = runner_->needs_operator();
    facts.ready_since = runner_->ready_since();
    facts.counts = runner_->counts();
    facts.queued = runner_->queued();
    facts.losses = losses_;
    facts.failure = failure_;
    facts.next_attempt = runner_->next_attempt();
    if (const auto& lists = runner_->latest()) {
        const auto shown = [&](std::string_view words) { return model::shown_words(*words_.secrets, words); };
        facts.era = ::mcp::name(lists->server.speaks);
        facts.version = lists->server.protocol_version;
        facts.server_name = shown(lists->server.name);
        facts.server_version = shown(lists->server.version);
        facts.left_out = ::mcp::joined(lists->left_out);
        std::ranges::transform(facts.left_out.first, facts.left_out.first.begin(), shown);
    }
    return facts;
}

std::vector<std::string> agent_session::complaints() const
{
    if (words_.complaints == nullptr) {
        return {};
    }
    const auto& lines = words_.complaints->lines();
    return {lines.begin(), lines.end()};
}

std::optional<core::error> agent_session::trouble() const
{
    auto why = trouble_of({runner_->state(), runner_->has_begun(), runner_->needs_operator()});
    if (why && why->code == core::errc::session_misconfigured && model::passes_logins(agent_->record)) {
        why->detail =
            "needs login: the server asks who is calling; callers can log in, and `card_headers` may have a "
            "credential for the card";
    }
    return why;
}

void agent_session::set_agent(std::shared_ptr<const model::agent_entry> agent, core::duration usual_walk)
{
    const bool same = agent->record == agent_->record && agent->pins == agent_->pins;
    if (agent->token != agent_->token) {
        // The server may still repeat the previous one.
        *words_.secrets = model::secrets_of(agent->record, {agent->token.reveal(), agent_->token.reveal()});
    }
    agent_ = std::move(agent);
    if (!same) {
        render_again();
        set_walk(usual_walk);
    }
}

void agent_session::set_walk(core::duration usual_walk)
{
    runner_->set_walk(record().mcp->walk.value_or(usual_walk));
}

void agent_session::vouch(passed_lists lists)
{
    if (lists.made_of != model::session_fingerprint(record())) {
        return;
    }
    vouched_ = true;
    services_.cards.set_session_card(record().id, std::move(lists.lists), [](bool) {});
    vouching_.expires_after(vouched_for);
    vouching_.async_wait([this, alive = std::weak_ptr<bool>{alive_}](net::error_code cancelled) {
        if (!cancelled && !alive.expired()) {
            end_vouching();
        }
    });
}

std::optional<passed_lists> agent_session::lists_to_pass() const
{
    if (trouble() || lists() == nullptr) {
        return std::nullopt;
    }
    return passed_lists{record().id, model::session_fingerprint(record()), lists()};
}

void agent_session::end_vouching()
{
    if (std::exchange(vouched_, false) && !leaving_) {
        services_.cards.set_session_trouble(record().id, trouble());
    }
}

void agent_session::render_again()
{
    if (leaving_ || runner_->latest() == nullptr) {
        return;
    }
    if (trouble()) {
        owes_card_ = true;
    } else {
        render();
    }
}

std::shared_ptr<session_waiter> agent_session::refresh()
{
    auto waiter = std::make_shared<session_waiter>(services_.control, record().mcp->request_timeout);
    waiting_.push_back(waiter);
    if (trouble()) {
        runner_->demand();
    } else {
        runner_->refresh();
    }
    return waiter;
}

std::shared_ptr<session_waiter> agent_session::find_era()
{
    auto waiter = std::make_shared<session_waiter>(services_.control, record().mcp->initialize_timeout);
    waiting_for_era_.push_back(waiter);
    runner_->demand();
    return waiter;
}

void agent_session::leave(core::error why, bool silently)
{
    leaving_ = true;
    tell(std::move(why));
    silently ? runner_->stop_silently() : runner_->stop();
}

void agent_session::session_changed(session_state state, ::mcp::session_reason why)
{
    if (state == session_state::stopped) {
        return ended_(*this);
    }
    if (leaving_) {
        return;
    }
    const bool begins_again = served_ && (state == session_state::initializing || state == session_state::starting);
    if (begins_again || state == session_state::backoff || state == session_state::failed) {
        ++losses_[static_cast<std::size_t>(why)];
        failure_ = session_failure{why, runner_->detail(), services_.control.now()};
    }
    served_ = state == session_state::ready || state == session_state::degraded;
    const auto now = trouble();
    vouched_ = vouched_ && now.has_value();
    if (!vouched_) {
        services_.cards.set_session_trouble(record().id, now);
    }
    if (runner_->spoken()) {
        tell_all(waiting_for_era_, {});
    }
    if (now && is_down(now->code)) {
        tell(*now);
    }
    if (served_ && services_.fell_back && runner_->fell_back() != agent_->fell_back) {
        const auto id = record().id;
        services_.fell_back(id, runner_->fell_back());
    }
}

void agent_session::listed(std::shared_ptr<const ::mcp::server_lists> lists)
{
    if (leaving_) {
        return;
    }
    if (services_.judge) {
        judge();
    }
    if (!is_pinned()) {
        if (services_.listed) {
            services_.listed(record().id, lists);
        }
        render();
    }
    rendered_ = true;
}

// The lists of an agent that is not pinned reach callers, whatever the outcome.
void agent_session::judge()
{
    if (std::exchange(judging_, true)) {
        judge_again_ = true;
        return;
    }
    ++rendering_;
    net::asio::co_spawn(
        services_.control.get_executor(),
        judge_lists(alive_),
        [this, &log = services_.log, alive = std::weak_ptr<bool>{alive_}](const std::exception_ptr& bug) {
            net::log_thrown(bug, log, "pins");
            if (!alive.expired()) {
                judging_ = false;
                if (--rendering_ == 0) {
                    tell_all(waiting_for_card_, {});
                }
            }
        }
    );
}

// A change of the agent's pins that this brings about comes back through set_agent(), which asks no second time while this goes on.
net::task<> agent_session::judge_lists(std::weak_ptr<bool> alive)
{
    if (alive.expired()) {
        co_return;
    }
    do {
        judge_again_ = false;
        const auto seen = runner_->latest();
        auto asked = services_.judge(agent_, seen);
        auto approved = co_await std::move(asked);
        if (alive.expired() || leaving_) {
            co_return;
        }
        if (is_pinned()) {
            const auto id = record().id;
            approved_ = std::move(approved);
            if (services_.listed) {
                services_.listed(id, approved_);
            }
            render_approved();
        }
    } while (judge_again_);
}

// Lists that have not changed may make another card than before, or one at last.
void agent_session::walked(const core::result<::mcp::walk_outcome>& outcome)
{
    const bool rendered = std::exchange(rendered_, false);
    if (outcome && owes_card_ && !rendered && !leaving_) {
        render();
    }
    if (outcome && rendering_ > 0) {
        // The card does not say yet what the lists say.
        std::ranges::move(std::exchange(waiting_, {}), std::back_inserter(waiting_for_card_));
    } else {
        tell(outcome ? core::result<>{} : core::result<>{outcome.error()});
    }
}

void agent_session::render()
{
    if (is_pinned()) {
        judge();
    } else {
        render_approved();
    }
}

void agent_session::render_approved()
{
    ++rendering_;
    services_.cards.set_session_card(record().id, lists(), [this, alive = std::weak_ptr<bool>{alive_}](bool success) {
        if (!alive.expired()) {
            card_made(success);
        }
    });
}

void agent_session::card_made(bool success)
{
    owes_card_ = !success;
    if (--rendering_ == 0) {
        tell_all(waiting_for_card_, {});
    }
}

void agent_session::tell(const core::result<>& outcome)
{
    tell_all(waiting_, outcome);
    if (!outcome) {
        tell_all(waiting_for_card_, outcome);
        tell_all(waiting_for_era_, outcome);
    }
}

void agent_session::tell_all(waiters& waiting, const core::result<>& outcome)
{
    for (const auto& each : std::exchange(waiting, {})) {
        each->tell(outcome);
    }
}

}  // namespace gateway::sessions
