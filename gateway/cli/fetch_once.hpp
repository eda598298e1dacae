#pragma once

#include "core/error.hpp"
#include "net/client/fetch.hpp"

namespace gateway::cli {

// One fetch on an event loop of its own. Errors: those of net::fetcher. Blocking.
core::result<net::fetch_response> fetch_once(net::fetch_request request);

}  // namespace gateway::cli
