#include "gateway/model/tls_files.hpp"

#include <algorithm>
#include <iterator>

namespace gateway::model {

net::tls_client_files tls_files(const core::agent& record)
{
    return {.ca_file = record.ca_file, .cert_file = record.cert_file, .key_file = record.key_file};
}

std::vector<net::tls_certificate> tls_certificates(const std::vector<config::certificate_files>& configured)
{
    std::vector<net::tls_certificate> all;
    std::transform(configured.begin(), configured.end(), std::back_inserter(all), [](const auto& each) {
        return net::tls_certificate{each.cert, each.key, each.names};
    });
    return all;
}

}  // namespace gateway::model
