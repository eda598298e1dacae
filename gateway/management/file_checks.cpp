#include "gateway/management/file_checks.hpp"

#include "config/file.hpp"
#include "gateway/cards/card_signer.hpp"
#include "net/tls/tls_files.hpp"

#include <map>
#include <memory>
#include <string>

namespace gateway::management {
namespace {

// OpenSSL would wait for whoever writes to a pipe.
core::result<> readable(const std::string& path)
{
    const auto text = config::read_regular_file(path);
    return text ? core::result<>{} : text.error();
}

}  // namespace

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
        .signing_key = cards::check_signing_key,
        .key_set = cards::check_key_set
    };
}

}  // namespace gateway::management
