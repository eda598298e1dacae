// Certificates of the configuration as values of net.
#pragma once

#include "config/settings.hpp"
#include "config/tls.hpp"
#include "core/agent.hpp"
#include "net/tls/tls_context.hpp"

#include <vector>

namespace gateway::model {

// Files that verify connections to an agent, for calls and card fetches.
inline net::tls_client_files tls_files(const core::agent& record)
{
    return {.ca_file = record.ca_file, .cert_file = record.cert_file, .key_file = record.key_file};
}

// Certificates that a listener shows.
inline std::vector<net::tls_certificate> tls_certificates(const std::vector<config::certificate_files>& configured)
{
    std::vector<net::tls_certificate> all;
    for (const auto& each : configured) {
        all.push_back({each.cert, each.key, each.names});
    }
    return all;
}

}  // namespace gateway::model
