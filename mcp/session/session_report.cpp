#include "mcp/session/session_report.hpp"

#include <utility>

namespace mcp {
namespace {

// Describes troubles for which the server has given no words.
std::string_view words_for(session_reason why) noexcept
{
    switch (why) {
        case session_reason::start_timeout:
            return "the start took too long";
        case session_reason::handshake_refused:
            return "the handshake was refused";
        case session_reason::handshake_timeout:
            return "no answer to the handshake";
        case session_reason::ping_timeout:
            return "no answer to a ping";
        case session_reason::session_lost:
            return "it has forgotten the session";
        case session_reason::stream_down:
            return "the stream of its notifications is down";
        case session_reason::era_changed:
            return "it speaks another era by now";
        case session_reason::none:
        case session_reason::start_failed:
        case session_reason::probe_failed:
        case session_reason::exited:
        case session_reason::refresh_failed:
        case session_reason::unreachable:
            break;
    }
    return {};
}

}  // namespace

session_report::session_report(
    const core::logger& log,
    std::string agent,
    std::shared_ptr<const core::redaction> secrets
)
    : log_{log},
      agent_{std::move(agent)},
      secrets_{std::move(secrets)}
{
}

std::string session_report::shown(std::string_view words) const
{
    constexpr std::size_t longest = 700;
    return secrets_->apply(words, longest);
}

std::string session_report::shown(const core::error& why) const
{
    return shown(std::string{core::name(why.code)} + ": " + why.detail);
}

void session_report::say(session_reason about, std::string words)
{
    auto& said = words_of(about);
    said = std::move(words);
    if (state_ == session_state::degraded && reason_ == about) {
        detail_ = said;
    }
}

void session_report::say_late(session_reason about, std::string_view end)
{
    say(about, std::string{words_for(about)}.append(end));
}

void session_report::report(const session_action& now, std::string_view version)
{
    const bool trouble = now.state == session_state::backoff || now.state == session_state::failed ||
                         now.state == session_state::degraded;
    if (now.state == session_state::ready) {
        detail_.clear();
    } else if (trouble || now.reason != reason_) {
        const auto& said = words_of(now.reason);
        detail_ = said.empty() ? std::string{words_for(now.reason)} : said;
    }
    state_ = now.state;
    reason_ = now.reason;
    if (state_ != session_state::degraded) {
        words_ = {};
    }
    log_.write(
        trouble ? core::log_level::warn : core::log_level::info,
        "mcp_session",
        {{"agent", agent_},
         {"state", name(state_)},
         {"reason", reason_ == session_reason::none ? std::string_view{} : name(reason_)},
         {"detail", trouble ? detail_ : std::string{}},
         {"version", version}}
    );
}

void session_report::message_rejected(
    core::log_level level,
    const core::error& why,
    std::size_t size,
    std::optional<std::size_t> limit
) const
{
    constexpr std::string_view event = "mcp_message_rejected";
    const auto detail = shown(why.detail);
    if (limit) {
        log_.write(level, event, {{"agent", agent_}, {"detail", detail}, {"size", size}, {"limit", *limit}});
    } else {
        log_.write(level, event, {{"agent", agent_}, {"detail", detail}, {"size", size}});
    }
}

void session_report::notification_rejected(core::log_level level, const core::error& why) const
{
    log_.write(level, "mcp_notification_rejected", {{"agent", agent_}, {"detail", shown(why)}});
}

void session_report::items_omitted(const left_out_items& items) const
{
    if (items.count == 0) {
        return;
    }
    std::string first;
    for (const auto& each : items.first) {
        first.append(first.empty() ? "" : "; ").append(shown(each));
    }
    log_.write(
        core::log_level::warn,
        "mcp_items_omitted",
        {{"agent", agent_}, {"count", items.count}, {"first", first}}
    );
}

void session_report::walk_failed(std::string_view why)
{
    auto words = shown(why);
    log_.write(core::log_level::warn, "mcp_walk_failed", {{"agent", agent_}, {"detail", words}});
    say(session_reason::refresh_failed, std::move(words));
}

void session_report::fell_back() const
{
    log_.write(core::log_level::info, "mcp_transport_changed", {{"agent", agent_}, {"transport", "sse"}});
}

}  // namespace mcp
