#include "tests/unit/mcp/session/session_driver.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string_view>
#include <utility>

namespace tests {
namespace {

using mcp::action_kind;
using mcp::event_kind;

constexpr std::array<std::string_view, 19> action_words{
    "probe",
    "keep_probe",
    "drop_probe",
    "open",
    "drop_connection",
    "close",
    "send_initialize",
    "send_initialized",
    "send_discover",
    "open_stream",
    "walk",
    "finish_walk",
    "cancel_walk",
    "publish",
    "send_ping",
    "cancel_ping",
    "arm",
    "disarm",
    "report",
};

}  // namespace

std::string words_of(const mcp::session_action& action)
{
    std::string words{action_words[static_cast<std::size_t>(action.kind)]};
    const auto add = [&words](std::string_view word) { words.append(" ").append(word); };
    if (action.kind == action_kind::arm || action.kind == action_kind::disarm) {
        add(name(action.timer));
    }
    if (action.kind == action_kind::arm) {
        add(std::to_string(action.after.count()));
    }
    if (action.kind == action_kind::report) {
        add(name(action.state));
        if (action.reason != mcp::session_reason::none) {
            add(name(action.reason));
        }
    }
    if (!action.version.empty()) {
        add(action.version);
    }
    if (action.end_session) {
        add("end_session");
    }
    if (action.changed_only) {
        add("changed");
    }
    return words;
}

std::string session_driver::on(mcp::session_event event)
{
    if (event.of == 0) {
        event.of = about_connection(event.kind) ? session.connection() : session.generation();
    }
    std::string words;
    for (const auto& action : session.on(event, now, random)) {
        words.append(words.empty() ? "" : ", ").append(words_of(action));
    }
    return words;
}

void session_driver::make_ready()
{
    on(event_kind::begin);
    if (probed(mcp::era::legacy).empty()) {
        on(event_kind::connected);
    }
    handshake("2025-11-25");
    on(event_kind::walk_done);
    REQUIRE(session.state() == mcp::session_state::ready);
}

}  // namespace tests
