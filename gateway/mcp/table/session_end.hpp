// Why a caller's session with a program is over.
#pragma once

#include "gateway/model/session_end.hpp"

namespace gateway::mcp::table {

using model::session_end;
using model::session_ends;

}  // namespace gateway::mcp::table
