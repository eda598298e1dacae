// The audit notes of one worker until they are taken. Bounded; allocates only for denials that differ from those before.
// One thread.
#pragma once

#include "core/access.hpp"
#include "gateway/model/audit_trail.hpp"
#include "gateway/model/request_record.hpp"

#include <cstddef>

namespace gateway::telemetry {

class audit_tally {
public:
    static constexpr std::size_t most = 64;         // denials that are told apart, and keys
    static constexpr std::size_t share = most / 4;  // denials of one principal, and of all anonymous callers together

    // Without `on` nothing is kept.
    explicit audit_tally(bool on) noexcept
        : on_{on}
    {
    }

    // A request that has been answered.
    void note(const model::request_record& record);

    // A key was accepted that was not known a moment before.
    void note_key(const core::principal& owner);

    // All since the last time.
    model::audit_notes take();

private:
    bool on_;
    model::audit_notes notes_;
};

}  // namespace gateway::telemetry
