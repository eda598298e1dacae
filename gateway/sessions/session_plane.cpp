// over 400 lines: a session, and the plane that keeps it; each calls the other.
#include "gateway/sessions/session_plane.hpp"

#include "gateway/model/agent_record.hpp"
#include "gateway/model/shown_words.hpp"
#include "gateway/model/version.hpp"
#include "gateway/sessions/session_settings.hpp"
#include "gateway/sessions/session_trouble.hpp"
#include "gateway/sessions/session_waiter.hpp"
#include "mcp/transport/fallback_transport.hpp"
#include "mcp/transport/sse_transport.hpp"
#include "mcp/transport/stdio_transport.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <iterator>

namespace gateway::sessions {
namespace {

using core::errc;
using mcp::session_state;

// A program that does not answer by then, because it waits for something or never will, holds up nobody any more.
constexpr core::duration longest_turn{1000};

// Of a session that waits for the previous one to end.
session_facts facts_of_next(const core::agent& record)
{
    session_facts made;
    made.transport = record.mcp->transport;
    made.state = session_state::starting;
    return made;
}

}  // namespace

class session_plane::kept_session final : private mcp::runner_observer {
public:
    kept_session(session_plane& owner, std::shared_ptr<const model::agent_entry> agent, mcp::transport_factory make)
        : owner_{owner},
          agent_{std::move(agent)},
          secrets_{model::secrets_of(agent_->record)},
          runner_{
              owner.loop_,
              runner_settings_of(agent_->record, &owner.turns_, owner.defaults_.walk),
              std::move(make),
              *this,
              owner.log_,
              agent_->record.id
          }
    {
    }

    mcp::runner& runner() noexcept { return runner_; }
    const mcp::runner& runner() const noexcept { return runner_; }
    const core::agent& record() const noexcept { return agent_->record; }
    const auto& losses() const noexcept { return losses_; }

    // What a server says of itself.
    std::string shown(std::string_view words) const { return model::shown_words(secrets_, words); }

    void wait(std::shared_ptr<session_waiter> who) { waiting_.push_back(std::move(who)); }

    // Of the same session.
    void set_agent(std::shared_ptr<const model::agent_entry> agent)
    {
        if (agent->record != agent_->record) {
            agent_ = std::move(agent);
            render_again();
            set_walk();
        }
    }

    void set_walk() { runner_.set_walk(agent_->record.mcp->walk.value_or(owner_.defaults_.walk)); }

    // What it lists is made a card of again, once it is there to vouch for it.
    void render_again()
    {
        if (leaving_ || runner_.latest() == nullptr) {
            return;
        }
        if (trouble_of(standing_of(runner_))) {
            owes_card_ = true;
        } else {
            render();
        }
    }

    // It ends in order and says nothing more of the agent, which may have another session already.
    void leave()
    {
        leaving_ = true;
        tell(core::gateway_error(owner_.stopped_ ? errc::draining : errc::session_not_ready));
        runner_.stop();
    }

private:
    void session_changed(session_state state, mcp::session_reason why) override
    {
        if (state == session_state::stopped) {
            return owner_.forget(*this);
        }
        if (leaving_) {
            return;
        }
        const bool begins_anew = state == session_state::initializing && served_;
        if (begins_anew || state == session_state::backoff || state == session_state::failed) {
            ++losses_[static_cast<std::size_t>(why)];
        }
        served_ = state == session_state::ready || state == session_state::degraded;
        const auto trouble = trouble_of(standing_of(runner_));
        owner_.cards_.set_session_trouble(agent_->record.id, trouble);
        if (trouble && is_down(trouble->code)) {
            tell(*trouble);
        }
    }

    void listed(std::shared_ptr<const mcp::server_lists> /*what*/) override
    {
        if (!leaving_) {
            render();
            rendered_ = true;
        }
    }

    // Lists that have not changed may make another card than before, or one at last.
    void walked(const core::result<mcp::walk_outcome>& how) override
    {
        const bool rendered = std::exchange(rendered_, false);
        if (how && owes_card_ && !rendered && !leaving_) {
            render();
        }
        if (how && rendering_ > 0) {
            // The card does not say yet what the lists say.
            std::ranges::move(std::exchange(waiting_, {}), std::back_inserter(waiting_for_card_));
        } else {
            tell(how ? core::result<>{} : core::result<>{how.error()});
        }
    }

    void render()
    {
        ++rendering_;
        owner_.cards_.set_session_card(
            agent_->record.id,
            runner_.latest(),
            [this, alive = std::weak_ptr<bool>{alive_}](bool made) {
                if (!alive.expired()) {
                    card_made(made);
                }
            }
        );
    }

    void card_made(bool made)
    {
        owes_card_ = !made;
        if (--rendering_ == 0) {
            tell_all(waiting_for_card_, {});
        }
    }

    void tell(const core::result<>& how)
    {
        tell_all(waiting_, how);
        if (!how) {
            tell_all(waiting_for_card_, how);
        }
    }

    static void tell_all(std::vector<std::shared_ptr<session_waiter>>& waiting, const core::result<>& how)
    {
        for (const auto& each : std::exchange(waiting, {})) {
            each->tell(how);
        }
    }

    session_plane& owner_;
    std::shared_ptr<const model::agent_entry> agent_;
    core::redaction secrets_;
    bool leaving_ = false;
    bool served_ = false;
    bool owes_card_ = false;  // what is listed makes none, or may make another one
    bool rendered_ = false;   // in the walk that is just ending
    std::array<std::uint64_t, mcp::session_reasons> losses_{};
    unsigned rendering_ = 0;  // cards that are being made of what it lists
    std::vector<std::shared_ptr<session_waiter>> waiting_;
    std::vector<std::shared_ptr<session_waiter>> waiting_for_card_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
    mcp::runner runner_;
};

session_plane::session_plane(
    net::loop& control,
    cards::card_plane& cards,
    const core::logger& log,
    const config::mcp_settings& defaults,
    program_settings programs
)
    : loop_{control},
      exchanges_{control.io(), "cardea/" + std::string{model::version()}},
      cards_{cards},
      log_{log},
      defaults_{defaults},
      inherited_{std::move(programs.inherited)},
      turns_{control, programs.starts, longest_turn}
{
    cards_.set_demand([this](const std::string& id) { demand(id); });
    cards_.set_attempts([this](const std::string& id) {
        const auto* const found = find(id);
        return found == nullptr ? std::nullopt : found->runner().next_attempt();
    });
}

session_plane::~session_plane() = default;

void session_plane::set_agents(const model::snapshot& now)
{
    for (const auto& [id, agent] : now.agents) {
        set_agent(id, agent);
    }
}

void session_plane::set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
    const auto there = sessions_.find(id);
    if (there != sessions_.end()) {
        if (agent != nullptr && model::same_session(there->second->record(), agent->record)) {
            there->second->set_agent(agent);
            return;
        }
        auto gone = std::move(there->second);
        sessions_.erase(there);
        retire(std::move(gone));
    }
    const auto waits = next_.find(id);
    if (waits != next_.end()) {
        if (agent != nullptr && model::same_session(waits->second->record, agent->record)) {
            waits->second = agent;
            return;
        }
        next_.erase(waits);
    }
    // A card that the operator wrote needs no session.
    if (agent == nullptr || !agent->record.mcp || !agent->record.card.empty() || stopped_) {
        return;
    }
    if (leaves(id)) {
        next_.emplace(id, agent);
        cards_.set_session_trouble(id, core::upstream_error(errc::session_not_ready));
    } else {
        add(id, agent);
    }
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
        cards_.set_session_trouble(
            id,
            trouble_of(found == nullptr ? session_standing{} : standing_of(found->runner()))
        );
    }
}

void session_plane::add(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
    auto factory = reach(id, agent->record);
    if (factory == nullptr) {
        return;
    }
    auto& made = sessions_[id];
    made = std::make_unique<kept_session>(*this, agent, std::move(factory));
    made->runner().begin();
}

mcp::transport_factory session_plane::reach(const std::string& id, const core::agent& record)
{
    switch (record.mcp->transport) {
        case core::mcp_transport::stdio:
            return mcp::stdio_factory(loop_, *record.mcp, inherited_, id, log_);
        case core::mcp_transport::streamable_http:
            return mcp::fallback_factory(loop_, exchanges_, http_settings_of(record));
        case core::mcp_transport::sse:
            return mcp::sse_factory(loop_, exchanges_, http_settings_of(record));
        case core::mcp_transport::unsupported:
            break;
    }
    log_.write(
        core::log_level::warn,
        "mcp_package_unsupported",
        {{"agent", id}, {"reason", "the gateway runs no packages; expected a command or a url"}}
    );
    return nullptr;
}

void session_plane::retire(std::unique_ptr<kept_session> which)
{
    leaving_.push_back(std::move(which));
    leaving_.back()->leave();
}

// From within what the session tells: it is let go of afterwards.
void session_plane::forget(const kept_session& which)
{
    net::asio::post(loop_.get_executor(), [this, gone = &which, alive = std::weak_ptr<bool>{alive_}] {
        if (alive.expired()) {
            return;
        }
        const auto id = gone->record().id;
        std::erase_if(sessions_, [gone](const auto& each) { return each.second.get() == gone; });
        std::erase_if(leaving_, [gone](const auto& each) { return each.get() == gone; });
        begin_next(id);
    });
}

void session_plane::settings_changed(const std::vector<std::string_view>& paths)
{
    const auto changed = [&](std::string_view path) { return std::ranges::find(paths, path) != paths.end(); };
    const bool cards = changed("cards.max_size");
    const bool walks = changed("mcp.walk");
    for (const auto& [id, each] : sessions_) {
        if (cards) {
            each->render_again();
        }
        if (walks) {
            each->set_walk();
        }
    }
}

void session_plane::demand(const std::string& id)
{
    if (auto* const found = find(id)) {
        found->runner().demand();
    }
}

session_plane::kept_session* session_plane::find(const std::string& id) const
{
    const auto found = sessions_.find(id);
    return found == sessions_.end() ? nullptr : found->second.get();
}

session_facts session_plane::facts_of(const kept_session& which)
{
    const auto& runner = which.runner();
    session_facts made;
    made.transport = runner.fell_back() ? core::mcp_transport::sse : which.record().mcp->transport;
    made.state = runner.state();
    made.reason = runner.reason();
    made.detail = runner.detail();
    made.begun = runner.has_begun();
    made.needs_operator = runner.needs_operator();
    made.ready_since = runner.ready_since();
    made.counts = runner.counts();
    made.queued = runner.queued();
    made.losses = which.losses();
    if (runner.latest() != nullptr) {
        const auto& server = runner.latest()->server;
        made.era = mcp::name(server.speaks);
        made.version = server.protocol_version;
        made.server_name = which.shown(server.name);
        made.server_version = which.shown(server.version);
        made.left_out = mcp::joined(runner.latest()->left_out);
        for (auto& each : made.left_out.first) {
            each = which.shown(each);
        }
    }
    return made;
}

std::optional<session_facts> session_plane::facts(const std::string& id) const
{
    if (const auto* const found = find(id)) {
        return facts_of(*found);
    }
    const auto waits = next_.find(id);
    return waits == next_.end() ? std::nullopt : std::optional{facts_of_next(waits->second->record)};
}

core::error session_plane::absent(const std::string& id) const
{
    const auto code = next_.contains(id) ? errc::session_not_ready : errc::session_not_started;
    return core::gateway_error(stopped_ ? errc::draining : code);
}

core::error session_plane::late(const std::string& id) const
{
    const auto* const found = find(id);
    const auto now = found == nullptr ? session_standing{session_state::stopped} : standing_of(found->runner());
    return trouble_of(now).value_or(core::upstream_error(errc::upstream_timeout, "its lists did not come in time"));
}

net::task<core::result<>> session_plane::refresh(std::string id)
{
    auto* const found = find(id);
    if (found == nullptr) {
        co_return absent(id);
    }
    const auto trouble = trouble_of(standing_of(found->runner()));
    if (trouble && is_down(trouble->code)) {
        co_return *trouble;
    }
    const auto who = std::make_shared<session_waiter>(loop_, found->record().mcp->request_timeout);
    found->wait(who);
    if (trouble) {
        found->runner().demand();
    } else {
        found->runner().refresh();
    }
    const auto told = co_await session_waiter::wait(who);
    co_return told ? *told : core::result<>{late(id)};
}

net::task<mcp::look_result> session_plane::look(std::string id)
{
    auto* const found = find(id);
    if (found == nullptr) {
        co_return absent(id);
    }
    if (const auto trouble = trouble_of(standing_of(found->runner()))) {
        co_return *trouble;
    }
    const auto who = std::make_shared<session_waiter>(loop_, found->record().mcp->request_timeout);
    const auto seen = std::make_shared<mcp::look_result>(core::gateway_error(errc::internal));
    found->runner().look([who, seen](const mcp::look_result& lists) {
        *seen = lists;
        who->tell({});
    });
    const auto told = co_await session_waiter::wait(who);
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

}  // namespace gateway::sessions
