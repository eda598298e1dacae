// One fetch for a command that has nothing else to do. Blocking.
#pragma once

#include "core/error.hpp"
#include "net/client/fetch.hpp"

namespace gateway::cli {

// Fails as net::fetcher does.
core::result<net::fetch_response> fetch_once(net::fetch_request request);

}  // namespace gateway::cli
