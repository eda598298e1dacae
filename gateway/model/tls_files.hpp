// What the configuration says of certificates, in the words of net.
#pragma once

#include "config/settings.hpp"
#include "config/tls.hpp"
#include "core/agent.hpp"
#include "net/tls/tls_context.hpp"

#include <vector>

namespace gateway::model {

// What connections to an agent are verified with, calls and card fetches alike.
net::tls_client_files tls_files(const core::agent& record);

// What a listener shows.
std::vector<net::tls_certificate> tls_certificates(const std::vector<config::certificate_files>& configured);

}  // namespace gateway::model
