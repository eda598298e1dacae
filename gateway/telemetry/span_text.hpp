// Spans as one request to a collector: an ExportTraceServiceRequest in the JSON of OTLP (ids in hex, 64-bit numbers as strings;
// https://opentelemetry.io/docs/specs/otlp/), with the attribute names of OpenTelemetry's conventions for HTTP. Pure.
#pragma once

#include "gateway/model/span.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gateway::telemetry {

// `version`: of the gateway.
std::string otlp_text(std::span<const model::span> spans, std::string_view version);

}  // namespace gateway::telemetry
