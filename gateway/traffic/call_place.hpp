// A call's place among those of its agent in flight, or among its streams, given back at the end. One thread.
#pragma once

#include "gateway/reach/call_gate.hpp"

#include <utility>

namespace gateway::traffic {

class call_place {
public:
    call_place() = default;
    ~call_place() { give_back(); }
    call_place(const call_place&) = delete;
    call_place& operator=(const call_place&) = delete;

    // One among the streams, for a call that is to be answered with one. The gate outlives the place. False: there is none.
    bool reserve_stream(reach::call_gate& gate) noexcept
    {
        stream_ = gate.begin_stream() ? &gate : nullptr;
        return stream_ != nullptr;
    }

    // The same among the calls in flight, which the gate has given.
    void hold(reach::call_gate& gate) noexcept { call_ = &gate; }

    // The answer is a stream: the agent has one call fewer in flight, unless no stream has room.
    void became_stream() noexcept
    {
        if (call_ != nullptr && (stream_ != nullptr || reserve_stream(*call_))) {
            std::exchange(call_, nullptr)->leave();
        }
    }

    void give_back() noexcept
    {
        if (auto* const gate = std::exchange(call_, nullptr)) {
            gate->leave();
        }
        if (auto* const gate = std::exchange(stream_, nullptr)) {
            gate->end_stream();
        }
    }

private:
    reach::call_gate* call_ = nullptr;
    reach::call_gate* stream_ = nullptr;
};

// The answer of a call with this place is a stream; null: calls of its agent are not counted.
inline void note_stream(call_place* place) noexcept
{
    if (place != nullptr) {
        place->became_stream();
    }
}

}  // namespace gateway::traffic
