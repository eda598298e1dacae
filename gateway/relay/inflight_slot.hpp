// The slot of a call among those of its agent in flight, or among its streams, and its part of the principal's share; both are
// given back at the end. One thread.
#pragma once

#include "core/place_shares.hpp"
#include "gateway/balancing/call_gate.hpp"

#include <cstdint>
#include <utility>

namespace gateway::relay {

enum class stream_slot : std::uint8_t {
    given,
    full,   // the agent has as many streams as it may
    share,  // the principal has half of them
};

class inflight_slot {
public:
    inflight_slot() = default;
    ~inflight_slot() { give_back(); }
    inflight_slot(const inflight_slot&) = delete;
    inflight_slot& operator=(const inflight_slot&) = delete;

    // Sets whose slots these are; 0: of a caller without a credential. Before any of them.
    void belong_to(core::caller_mark whose) noexcept { whose_ = whose; }
    core::caller_mark whose() const noexcept { return whose_; }

    // Takes one among the calls in flight. The gate outlives it. False: the call has to wait for one.
    bool enter(balancing::call_gate& gate) noexcept
    {
        if (whose_ == 0) {
            call_ = gate.try_enter() ? &gate : nullptr;
        } else if (auto share = gate.try_enter(whose_)) {
            hold(gate, std::move(*share));
        }
        return call_ != nullptr;
    }

    // Keeps the one that the gate has given.
    void hold(balancing::call_gate& gate, core::place_share share) noexcept
    {
        call_ = &gate;
        call_share_ = std::move(share);
    }

    // Takes one among the streams, for a call that is to be answered with one.
    stream_slot reserve_stream(balancing::call_gate& gate) noexcept
    {
        auto share = gate.stream_share(whose_);
        if (!share) {
            return stream_slot::share;
        }
        if (!gate.begin_stream()) {
            return stream_slot::full;
        }
        stream_ = &gate;
        stream_share_ = std::move(*share);
        return stream_slot::given;
    }

    // The answer is a stream: the agent has one call fewer in flight, unless no stream has room.
    void became_stream() noexcept
    {
        if (call_ != nullptr && (stream_ != nullptr || reserve_stream(*call_) == stream_slot::given)) {
            leave();
        }
    }

    void give_back() noexcept
    {
        leave();
        stream_share_.give_back();
        if (auto* const gate = std::exchange(stream_, nullptr)) {
            gate->end_stream();
        }
    }

private:
    void leave() noexcept
    {
        call_share_.give_back();
        if (auto* const gate = std::exchange(call_, nullptr)) {
            gate->leave();
        }
    }

    core::caller_mark whose_ = 0;
    balancing::call_gate* call_ = nullptr;
    balancing::call_gate* stream_ = nullptr;
    core::place_share call_share_;
    core::place_share stream_share_;
};

// The answer of a call with this place is a stream; null: calls of its agent are not counted.
inline void note_stream(inflight_slot* slot) noexcept
{
    if (slot != nullptr) {
        slot->became_stream();
    }
}

}  // namespace gateway::relay
