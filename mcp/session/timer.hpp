// Until its last user includes session_timers.hpp.
#pragma once

#include "mcp/session/session_timers.hpp"
