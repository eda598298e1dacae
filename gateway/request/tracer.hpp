// The traces of one worker's requests: which trace a request belongs to, whether that is recorded, and the spans of those that
// are, until the control loop takes them. One thread.
#pragma once

#include "core/clock.hpp"
#include "gateway/model/span.hpp"
#include "gateway/relay/request_trace.hpp"
#include "net/http1/fields.hpp"

#include <cstddef>
#include <functional>
#include <optional>

namespace gateway::request {

struct request_context;

// How the gateway takes part in traces.
struct trace_plan {
    bool joins = false;  // else callers' traces pass it, and it says nothing of its own
    double sample = 0;   // of the traces that begin here
};

// The trace that the caller names. Nothing: it names none, or none that is valid; more than one field is not valid either.
std::optional<core::trace_context> caller_trace(const net::http1::field_list& fields) noexcept;

class tracer {
public:
    // Spans that wait for take(); more are dropped.
    static constexpr std::size_t most_waiting = 2048;

    // `entropy`: as id_source has it.
    explicit tracer(const std::function<std::uint32_t()>& entropy)
        : ids_{entropy}
    {
    }

    // For requests that begin from now on.
    void set_plan(const trace_plan& plan) noexcept { plan_ = plan; }

    // Before anything else is done with a request; sets its record's trace. `readable`: it has a head.
    void begin(request_context& request, bool readable = true);

    // When its record is complete: keeps its spans, if the trace is recorded.
    void account(const request_context& request, core::wall_time now);

    // The spans kept since the last time.
    model::span_batch take();

private:
    void add(model::span done);

    trace_plan plan_;
    relay::id_source ids_;
    model::span_batch done_;
};

}  // namespace gateway::request
