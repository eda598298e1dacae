// Certificates of the configuration as values of net.
#pragma once

#include "config/settings.hpp"
#include "config/tls.hpp"
#include "core/agent.hpp"
#include "net/tls/tls_context.hpp"

#include <vector>

namespace gateway::model {

// Files that verify connections to an agent, for calls and card fetches.
net::tls_client_files tls_files(const core::agent& record);

// Certificates that a listener shows.
std::vector<net::tls_certificate> tls_certificates(const std::vector<config::certificate_files>& configured);

}  // namespace gateway::model
