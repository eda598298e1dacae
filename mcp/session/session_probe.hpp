// Finds out which era a server speaks: by a probe, and if that is not answered soon by `initialize` beside it. The verdict
// holds for the next attempts. Pure.
#pragma once

#include "mcp/session/session_state.hpp"

#include <optional>

namespace mcp {

class session_probe {
public:
    explicit session_probe(const session_settings& settings)
        : settings_{settings}
    {
    }

    // The era of a handshake that begins now.
    era spoken() const noexcept;

    // The probe is open, and nothing else is.
    bool alone() const noexcept { return alone_; }

    // The probe is open beside the connection.
    bool beside() const noexcept { return beside_; }

    // The probe became the connection of a legacy session: the server may have minded the probe.
    bool minded() const noexcept { return kept_ && verdict_ == era::legacy; }

    // Whether what is spoken is known from before this attempt, so that the server may be asked again.
    bool recalled() const noexcept { return settings_.era == era_policy::automatic && verdict_ && !learned_; }

    // Its answer in this attempt, such as 503, says nothing of the era: the attempt goes on in the legacy one.
    void tell_nothing() noexcept { told_nothing_ = true; }
    bool told_nothing() const noexcept { return told_nothing_; }

    void learn(era verdict, core::steady_time now);
    void forget() noexcept { verdict_.reset(); }

    // The server has said that it speaks another era than this one by now. If the next handshake is of this one again, may_move() is false
    // from then on, until another such claim is right.
    void doubt(era spoken) noexcept
    {
        forget();
        doubted_ = spoken;
    }
    void shaken(era spoken) noexcept;

    // Whether such a claim is worth a question.
    bool may_move() const noexcept { return settings_.era == era_policy::automatic && !contradicts_itself_; }

    // The session has stood: what was learned for it is from before.
    void age() noexcept { learned_ = false; }

    // Opens the connection of a new attempt, or first its probe.
    void begin(session_step& step);

    // The probe was not answered soon: the connection is opened beside it.
    void on_silence(session_step& step);

    // Its connection becomes the session's.
    void keep(session_step& step, bool end_session);

    // The session goes on without it, on a connection of its own.
    void leave(session_step& step);

    // The connection beside it has failed: it may still be answered.
    void wait(session_step& step);

    // A probe beside the connection ends with the session.
    void end(session_step& step);

    // Nothing of the attempt is open any more.
    void forget_attempt() noexcept;

private:
    core::duration patience() const noexcept;

    session_settings settings_;
    bool alone_ = false;
    bool beside_ = false;
    bool kept_ = false;
    bool learned_ = false;  // the verdict, in this attempt
    bool told_nothing_ = false;
    bool contradicts_itself_ = false;
    std::optional<era> doubted_;
    std::optional<era> verdict_;
    core::steady_time verdict_at_{};
};

}  // namespace mcp
