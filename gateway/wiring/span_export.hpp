// What a collector's answer to a batch of spans means (OTLP/HTTP, https://opentelemetry.io/docs/specs/otlp/). Pure.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "net/client/fetch.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::wiring {

// How a batch ended, or a part of it; also a metric label.
enum class span_end : std::uint8_t {
    exported,
    dropped,  // before it was sent: there were too many
    refused,  // the collector does not want it
    failed,   // the collector could not be reached, or took nothing, as often as that was tried
};
inline constexpr std::size_t span_ends = 4;

std::string_view name(span_end e) noexcept;

struct export_verdict {
    std::optional<span_end> end;  // nullopt: it may be sent again
    std::uint64_t refused = 0;    // of an exported batch, the spans that the collector did not take
    core::duration patience{};    // before it is sent again; 0: the collector does not say
    std::string why{};            // it did not end well; empty: it did
};

export_verdict judge_export(const core::result<net::fetch_response>& answer);

inline constexpr unsigned most_exports = 5;  // of one batch
inline constexpr std::chrono::seconds first_export_pause{1};
inline constexpr std::chrono::seconds longest_export_pause{30};

// Before attempt `attempts` + 1: twice the pause before, less up to half at random (`random` from [0, 1)), and no less than the
// collector asks for; never over longest_export_pause.
core::duration export_pause(unsigned attempts, core::duration patience, double random) noexcept;

// Where a collector at this address takes spans.
std::string export_url(std::string_view endpoint);

}  // namespace gateway::wiring
