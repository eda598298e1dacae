#include "gateway/worker/handshake_notes.hpp"

namespace gateway::worker {

void note_handshake(
    telemetry::worker_metrics& metrics,
    const core::logger& log,
    net::handshake how,
    std::string_view peer,
    std::string_view why
) noexcept
{
    switch (how) {
        case net::handshake::complete:
            metrics.count_handshake(telemetry::tls_handshake::complete);
            return;
        case net::handshake::resumed:
            metrics.count_handshake(telemetry::tls_handshake::resumed);
            return;
        case net::handshake::failed:
            metrics.count_handshake(telemetry::tls_handshake::failed);
            // Scanners make many of them: that they are counted is enough for most.
            log.write(
                core::log_level::debug,
                "handshake_failed",
                {{"listener", "traffic"}, {"peer", peer}, {"reason", why}}
            );
            return;
    }
}

}  // namespace gateway::worker
