// A call's place among those of its agent in flight, or among its streams, with what it is of its principal's share; given back at
// the end. One thread.
#pragma once

#include "core/place_shares.hpp"
#include "gateway/balancing/call_gate.hpp"

#include <cstdint>
#include <utility>

namespace gateway::relay {

enum class stream_place : std::uint8_t {
    given,
    full,   // the agent has as many streams as it may
    share,  // the principal has half of them
};

class call_place {
public:
    call_place() = default;
    ~call_place() { give_back(); }
    call_place(const call_place&) = delete;
    call_place& operator=(const call_place&) = delete;

    // Whose places these are; 0: of a caller without a credential. Before any of them.
    void belong_to(core::caller_mark whose) noexcept { whose_ = whose; }
    core::caller_mark whose() const noexcept { return whose_; }

    // One among the calls in flight. The gate outlives the place. False: the call has to wait for one.
    bool enter(balancing::call_gate& gate) noexcept
    {
        if (whose_ == 0) {
            call_ = gate.try_enter() ? &gate : nullptr;
        } else if (auto share = gate.try_enter(whose_)) {
            hold(gate, std::move(*share));
        }
        return call_ != nullptr;
    }

    // The same that the gate has given.
    void hold(balancing::call_gate& gate, core::place_share share) noexcept
    {
        call_ = &gate;
        call_share_ = std::move(share);
    }

    // One among the streams, for a call that is to be answered with one.
    stream_place reserve_stream(balancing::call_gate& gate) noexcept
    {
        auto share = gate.stream_share(whose_);
        if (!share) {
            return stream_place::share;
        }
        if (!gate.begin_stream()) {
            return stream_place::full;
        }
        stream_ = &gate;
        stream_share_ = std::move(*share);
        return stream_place::given;
    }

    // The answer is a stream: the agent has one call fewer in flight, unless no stream has room.
    void became_stream() noexcept
    {
        if (call_ != nullptr && (stream_ != nullptr || reserve_stream(*call_) == stream_place::given)) {
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
inline void note_stream(call_place* place) noexcept
{
    if (place != nullptr) {
        place->became_stream();
    }
}

}  // namespace gateway::relay
