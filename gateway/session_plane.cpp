#include "gateway/session_plane.hpp"

#include "gateway/tls_files.hpp"
#include "gateway/version.hpp"
#include "mcp/http_transport.hpp"
#include "mcp/sse_transport.hpp"
#include "mcp/stdio_transport.hpp"
#include "net/http1/fields.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>

namespace gateway {
namespace {

using core::errc;
using mcp::session_state;

mcp::era_policy policy_of(core::mcp_era era) noexcept
{
    switch (era) {
        case core::mcp_era::automatic:
            return mcp::era_policy::automatic;
        case core::mcp_era::legacy:
            return mcp::era_policy::legacy;
        case core::mcp_era::modern:
            return mcp::era_policy::modern;
    }
    return mcp::era_policy::automatic;
}

mcp::runner_settings settings_of(const core::mcp_server& server)
{
    mcp::runner_settings made;
    auto& states = made.states;
    states.era = policy_of(server.era);
    states.silence_is_legacy = server.transport == core::mcp_transport::stdio;
    states.lazy = server.start == core::mcp_start::lazy;
    states.initialize_timeout = server.initialize_timeout;
    states.backoff_first = server.backoff;
    states.backoff_longest = server.max_backoff;
    states.ping_interval = server.ping_interval;
    states.ping_timeout = std::min(server.request_timeout, states.ping_timeout);
    made.messages.bytes = server.max_message;
    made.client = {"cardea", std::string{version()}};
    return made;
}

// The agent's bearer is for its MCP server too, unless the server's own headers say who is calling.
mcp::http_settings http_of(const core::agent& record)
{
    mcp::http_settings made;
    made.url = record.url;
    made.tls = tls_files(record);
    made.server = *record.mcp;
    auto& headers = made.server.headers;
    const bool authorized = std::ranges::any_of(headers, [](const auto& each) {
        return net::http1::equal_ignoring_case(each.first, "authorization");
    });
    if (!authorized && !record.bearer.empty()) {
        headers.emplace_back("Authorization", core::secret{"Bearer " + record.bearer.reveal()});
    }
    return made;
}

// Why there is no card while a session is in this state; nothing: there is one.
std::optional<core::error> trouble_of(session_state state)
{
    switch (state) {
        case session_state::ready:
        case session_state::degraded:
            return std::nullopt;
        case session_state::configured:
        case session_state::disabled:
            return core::upstream_error(errc::session_not_started);
        case session_state::starting:
        case session_state::initializing:
        case session_state::discovering:
            return core::upstream_error(errc::session_not_ready);
        case session_state::backoff:
        case session_state::failed:
            return core::upstream_error(errc::session_crashed);
        case session_state::stopping:
        case session_state::stopped:
            return core::gateway_error(errc::draining);
    }
    return core::upstream_error(errc::session_not_ready);
}

}  // namespace

class session_plane::kept_session final : private mcp::runner_observer {
public:
    kept_session(session_plane& owner, std::shared_ptr<const agent_entry> agent, mcp::transport_factory make)
        : owner_{owner},
          agent_{std::move(agent)},
          runner_{owner.loop_, settings_of(*agent_->record.mcp), std::move(make), *this, owner.log_, agent_->record.id}
    {
    }

    mcp::runner& runner() noexcept { return runner_; }
    const mcp::runner& runner() const noexcept { return runner_; }
    const core::agent& record() const noexcept { return agent_->record; }

    // It ends in order and says nothing more of the agent, which may have another session already.
    void leave()
    {
        leaving_ = true;
        runner_.stop();
    }

private:
    void session_changed(session_state state, mcp::session_reason) override
    {
        if (state == session_state::stopped) {
            return owner_.forget(*this);
        }
        if (!leaving_) {
            owner_.cards_.set_session_trouble(agent_->record.id, trouble_of(state));
        }
    }

    void listed(std::shared_ptr<const mcp::snapshot> what) override
    {
        if (!leaving_) {
            owner_.cards_.set_session_card(agent_->record.id, *what);
        }
    }

    session_plane& owner_;
    std::shared_ptr<const agent_entry> agent_;
    bool leaving_ = false;
    mcp::runner runner_;
};

session_plane::session_plane(
    net::loop& control,
    card_plane& cards,
    const core::logger& log,
    std::vector<std::pair<std::string, std::string>> inherited
)
    : loop_{control},
      exchanges_{control.io(), "cardea/" + std::string{version()}},
      cards_{cards},
      log_{log},
      inherited_{std::move(inherited)}
{
    cards_.set_demand([this](const std::string& id) { demand(id); });
}

session_plane::~session_plane() = default;

void session_plane::set_agents(const snapshot& now)
{
    for (const auto& [id, agent] : now.agents) {
        set_agent(id, agent);
    }
}

void session_plane::set_agent(const std::string& id, const std::shared_ptr<const agent_entry>& agent)
{
    const auto there = sessions_.find(id);
    if (there != sessions_.end()) {
        if (agent != nullptr && agent->record == there->second->record()) {
            return;
        }
        auto gone = std::move(there->second);
        sessions_.erase(there);
        retire(std::move(gone));
    }
    // A card that the operator wrote needs no session.
    if (agent != nullptr && agent->record.mcp && agent->record.card.empty() && !stopped_) {
        add(id, agent);
    }
}

void session_plane::add(const std::string& id, const std::shared_ptr<const agent_entry>& agent)
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
            return mcp::http_factory(loop_, exchanges_, http_of(record));
        case core::mcp_transport::sse:
            return mcp::sse_factory(loop_, exchanges_, http_of(record));
        case core::mcp_transport::unsupported:
            break;
    }
    log_.write(core::log_level::warn, "mcp_not_run", {{"agent", id}, {"transport", core::name(record.mcp->transport)}});
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
        std::erase_if(sessions_, [gone](const auto& each) { return each.second.get() == gone; });
        std::erase_if(leaving_, [gone](const auto& each) { return each.get() == gone; });
    });
}

void session_plane::demand(const std::string& id)
{
    if (const auto found = sessions_.find(id); found != sessions_.end()) {
        found->second->runner().demand();
    }
}

std::optional<session_facts> session_plane::facts(const std::string& id) const
{
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) {
        return std::nullopt;
    }
    const auto& runner = found->second->runner();
    session_facts made;
    made.state = runner.state();
    made.reason = runner.reason();
    made.ready_since = runner.ready_since();
    made.counts = runner.counts();
    if (runner.latest() != nullptr) {
        made.era = mcp::name(runner.latest()->server.speaks);
        made.version = runner.latest()->server.protocol_version;
    }
    return made;
}

void session_plane::stop()
{
    stopped_ = true;
    for (auto& [id, each] : std::exchange(sessions_, {})) {
        retire(std::move(each));
    }
}

}  // namespace gateway
