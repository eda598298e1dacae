#include "gateway/tls_files.hpp"

#include "gateway/card_signer.hpp"
#include "net/tls_files.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <string>

namespace gateway {

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

config::tls_checks tls_checks()
{
    const auto known = std::make_shared<std::map<std::string, core::result<>>>();
    const auto authorities = [known](const std::string& ca_file) {
        auto found = known->find(ca_file);
        if (found == known->end()) {
            found = known->emplace(ca_file, net::check_trust(ca_file)).first;
        }
        return found->second;
    };
    return {
        .authorities = authorities,
        .certificate = net::check_certificate,
        .key = net::check_key,
        .signing_key = check_signing_key,
        .key_set = check_key_set
    };
}

}  // namespace gateway
