// The sessions with MCP servers on the metrics page. Pure; any thread.
#pragma once

#include "gateway/metrics_family.hpp"
#include "gateway/metrics_page.hpp"

#include <vector>

namespace gateway {

void add_sessions(families& page, const std::vector<session_sample>& sessions);

}  // namespace gateway
