// Spans as one request to a collector: an ExportTraceServiceRequest in the JSON of OTLP (ids in hex, 64-bit numbers as strings;
// https://opentelemetry.io/docs/specs/otlp/), with the attribute names of OpenTelemetry's conventions for HTTP, MCP and agents; and the queue of those that wait
// to be sent. Pure.
#pragma once

#include "core/clock.hpp"
#include "gateway/model/span.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::telemetry {

// `version`: of the gateway.
std::string otlp_text(std::span<const model::span> spans, std::string_view version);

// Spans that wait to be sent to a collector, in batches. Without a clock of its own; one thread.
class span_queue {
public:
    static constexpr std::size_t most = 2048;  // the rest is dropped
    static constexpr std::size_t batch = 512;
    static constexpr std::chrono::seconds longest_wait{5};

    // Those that find no room are dropped, and so are those that the batch says were.
    void add(model::span_batch came, core::steady_time now);

    // Whether a batch is full, or its first span has waited long enough.
    bool due(core::steady_time now) const noexcept;

    // The oldest, at most a batch of them.
    std::vector<model::span> take();

    std::size_t size() const noexcept { return waiting_.size(); }
    std::uint64_t dropped() const noexcept { return dropped_; }

private:
    struct waiting_span {
        core::steady_time since;
        model::span what;
    };

    std::deque<waiting_span> waiting_;
    std::uint64_t dropped_ = 0;
};

}  // namespace gateway::telemetry
