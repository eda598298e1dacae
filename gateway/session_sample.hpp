// A session's facts as the metrics page shows them. Pure; any thread.
#pragma once

#include "gateway/sessions/session_facts.hpp"
#include "gateway/telemetry/metrics_page.hpp"

namespace gateway {

telemetry::session_sample sample_of(const sessions::session_facts& session);

}  // namespace gateway
