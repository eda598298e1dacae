#include "mcp/session/runner.hpp"

#include "mcp/session/conductor.hpp"

#include <utility>

namespace mcp {

runner::runner(
    net::loop& on,
    runner_settings settings,
    transport_factory make,
    runner_observer& observer,
    const core::logger& log,
    std::string name
)
    : conductor_{std::make_shared<
          conductor>(on, settings, std::move(make), observer, operator_notes{log, std::move(name), settings.secrets})}
{
}

runner::~runner()
{
    conductor_->abandon();
}

void runner::begin()
{
    conductor_->happened({.kind = event_kind::begin});
}

void runner::demand()
{
    conductor_->happened({.kind = event_kind::demand});
}

void runner::stop()
{
    conductor_->happened({.kind = event_kind::stop});
}

void runner::refresh()
{
    conductor_->happened({.kind = event_kind::refresh});
}

void runner::set_walk(core::duration interval)
{
    conductor_->set_walk(interval);
}

void runner::look(std::function<void(const look_result&)> then)
{
    conductor_->walks().look(std::move(then));
}

void runner::end_look()
{
    conductor_->walks().end_look(core::upstream_error(core::errc::upstream_timeout, "its lists did not come in time"));
}

transport_factory runner::lane()
{
    return conductor_->lane().factory();
}

session_state runner::state() const noexcept
{
    return conductor_->state().state();
}

session_reason runner::reason() const noexcept
{
    return conductor_->state().reason();
}

const std::string& runner::detail() const noexcept
{
    return conductor_->notes().detail();
}

bool runner::needs_operator() const noexcept
{
    return conductor_->notes().needs_operator();
}

const std::shared_ptr<const server_lists>& runner::latest() const noexcept
{
    return conductor_->walks().latest();
}

std::optional<core::steady_time> runner::ready_since() const noexcept
{
    return conductor_->ready_since();
}

std::optional<core::steady_time> runner::next_attempt() const noexcept
{
    return conductor_->next_attempt();
}

const runner_counts& runner::counts() const noexcept
{
    return conductor_->counts();
}

// A session that is shaking hands again has no version.
std::optional<era> runner::spoken() const noexcept
{
    if (const auto version = conductor_->state().version(); !version.empty()) {
        return era_of(version);
    }
    return latest() == nullptr ? std::nullopt : std::optional{latest()->server.speaks};
}

bool runner::fell_back() const noexcept
{
    return conductor_->fell_back();
}

std::size_t runner::queued() const noexcept
{
    return conductor_->queued();
}

}  // namespace mcp
