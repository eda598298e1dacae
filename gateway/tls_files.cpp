#include "gateway/tls_files.hpp"

#include "config/file.hpp"
#include "gateway/card_signer.hpp"
#include "net/tls_files.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <string>

namespace gateway {
namespace {

// OpenSSL would wait for whoever writes to a pipe.
core::result<> readable(const std::string& path)
{
    const auto text = config::read_regular_file(path);
    return text ? core::result<>{} : text.error();
}

}  // namespace

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
            const auto there = readable(ca_file);
            found = known->emplace(ca_file, there ? net::check_trust(ca_file) : there).first;
        }
        return found->second;
    };
    const auto certificate = [](const std::string& cert, bool by_name) {
        const auto there = readable(cert);
        return there ? net::check_certificate(cert, by_name) : there;
    };
    const auto key = [](const std::string& cert, const std::string& path) {
        const auto there = readable(path);
        return there ? net::check_key(cert, path) : there;
    };
    return {
        .authorities = authorities,
        .certificate = certificate,
        .key = key,
        .signing_key = check_signing_key,
        .key_set = check_key_set
    };
}

}  // namespace gateway
