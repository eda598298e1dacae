// What is counted and written of callers' TLS handshakes.
#pragma once

#include "core/log.hpp"
#include "gateway/telemetry/worker_metrics.hpp"
#include "net/server/server_connection.hpp"

#include <string_view>

namespace gateway::worker {

// That of `peer` ended like this; `why` only of one that failed. One thread.
void note_handshake(
    telemetry::worker_metrics& metrics,
    const core::logger& log,
    net::handshake how,
    std::string_view peer,
    std::string_view why
) noexcept;

}  // namespace gateway::worker
