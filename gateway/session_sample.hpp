// A session's facts as the metrics page shows them. Pure; any thread.
#pragma once

#include "gateway/metrics_page.hpp"
#include "gateway/session_plane.hpp"

namespace gateway {

session_sample sample_of(const session_facts& session);

}  // namespace gateway
