// Log lines about one session, and the words for its current trouble. Words of the server are shortened, and the secrets that
// it was given are masked. On the control loop's thread.
#pragma once

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/redaction.hpp"
#include "mcp/protocol/discovery.hpp"
#include "mcp/session/session_state.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace mcp {

class session_report {
public:
    // References outlive it. `agent` is for the log.
    session_report(const core::logger& log, std::string agent, std::shared_ptr<const core::redaction> secrets);

    std::string shown(std::string_view words) const;
    std::string shown(const core::error& why) const;

    // `words`, from shown(), are the detail of this trouble once it is reported, or at once if it is the current one.
    void say(session_reason about, std::string words);
    void forget(session_reason about) { words_of(about).clear(); }

    // The usual words for this trouble, with this end.
    void say_late(session_reason about, std::string_view end);

    // A new state, with a log line.
    void report(const session_action& now, std::string_view version);

    // Describes the current trouble; empty: there are no words for it, or the session is ready.
    const std::string& detail() const noexcept { return detail_; }

    // The latest attempt failed with what does not pass by itself.
    void set_needs_operator(bool needed) noexcept { needs_operator_ = needed; }
    bool needs_operator() const noexcept { return needs_operator_; }

    void message_rejected(
        core::log_level level,
        const core::error& why,
        std::size_t size,
        std::optional<std::size_t> limit
    ) const;
    void notification_rejected(core::log_level level, const core::error& why) const;
    void items_omitted(const left_out_items& items) const;
    void walk_failed(std::string_view why);
    void fell_back() const;

private:
    std::string& words_of(session_reason about) { return words_[static_cast<std::size_t>(about)]; }

    const core::logger& log_;
    std::string agent_;
    std::shared_ptr<const core::redaction> secrets_;
    std::array<std::string, session_reasons> words_;  // of each trouble that there is or is about to be
    std::string detail_;
    session_state state_ = session_state::configured;
    session_reason reason_ = session_reason::none;
    bool needs_operator_ = false;
};

}  // namespace mcp
