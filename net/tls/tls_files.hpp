// Certificates, keys and trust stores out of PEM files, into an OpenSSL context. Blocking: for the control side only.
// Failures have errc::config_invalid, and a detail that is a predicate about the file that is at fault: "cannot be opened:
// No such file or directory", "has no certificate in PEM". No detail holds a part of a file.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"

#include <openssl/types.h>

#include <string>
#include <vector>

namespace net {

// The certificate and the chain behind it, in one file; shown to the peer.
core::result<> use_certificate(SSL_CTX& context, const std::string& cert_file);

// The key of the certificate that is in use already. It may stand in the same file; it must not be encrypted.
core::result<> use_key(SSL_CTX& context, const std::string& key_file);

// Who may vouch for the peer: the authorities in `ca_file`, or the system's if it is empty. If the file holds revocation
// lists too, one of them has to cover the peer's certificate.
core::result<> use_trust(SSL_CTX& context, const std::string& ca_file);

// The last of that for a context whose trust store is loaded by somebody else.
void use_revocations(SSL_CTX& context, const std::string& ca_file);

// Everything that use_trust() has made the context trust: each certificate and revocation list by its hash, in their order.
std::string text_of_trust(SSL_CTX& context);

// The DNS names in the certificate that is in use (RFC 6125 section 1.8: no common name), in lower case.
std::vector<std::string> certificate_names(SSL_CTX& context);

// Until when a certificate file is valid: the certificate, or one of its chain that ends before it. Fails like
// use_certificate().
core::result<core::wall_time> valid_until(const std::string& cert_file);

// Whether a listener or a client could be made of these files. `by_name`: the certificate has to have a DNS name.
core::result<> check_certificate(const std::string& cert_file, bool by_name);
core::result<> check_key(const std::string& cert_file, const std::string& key_file);
core::result<> check_trust(const std::string& ca_file);

// Drops OpenSSL's list of errors of this thread and says what the first one was: "no shared cipher". Never empty.
std::string take_tls_error();

}  // namespace net
