// TLS 1.2 and 1.3 towards callers and towards agents: how it is set up, once for many connections. Contexts are immutable
// when they are made; any number of threads may make connections from one. There is no way to turn verification off.
#pragma once

#include "core/error.hpp"
#include "net/tls/tls_tickets.hpp"

#include <openssl/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace net {

// A connection made from it keeps what it needs, however soon this is let go.
using tls_context = std::shared_ptr<SSL_CTX>;

struct tls_certificate {
    std::string cert_file;  // PEM: the certificate, then its chain
    std::string key_file;   // PEM
    std::vector<std::string>
        names;  // whom it is shown to, by SNI; `*.` in front is any one label; empty: its DNS names

    friend bool operator==(const tls_certificate&, const tls_certificate&) = default;
};

// For callers: the first certificate is shown to a caller that names no host or for one that no certificate has; where several
// have it, the first of them. ALPN is http/1.1 or none, or h2 after offer_http2(): who offers others only is refused (RFC 7301 section
// 3.2). No
// renegotiation, no compression, no early data; sessions are resumed by ticket only. With `client_ca_file` (PEM, with
// revocation lists if there are any) callers are asked for a certificate; one that is not of these authorities ends the
// handshake, none does not, and sessions hold for the same authorities only. Fails with config_invalid: no certificate at all,
// a file that cannot be used; the detail names it.
core::result<tls_context> make_server_tls(
    const std::vector<tls_certificate>& certificates,
    std::shared_ptr<ticket_keys> tickets,
    const std::string& client_ca_file = {}
);

// Whether both ask callers for certificates of the same authorities with the same revocation lists, or neither asks. Null asks
// for none; a server's context else.
bool same_client_authorities(const tls_context& one, const tls_context& other);

struct tls_client_files {
    std::string ca_file{};    // PEM, with revocation lists if there are any; empty: the system's authorities
    std::string cert_file{};  // PEM: shown to agents that ask for a certificate; empty: none
    std::string key_file{};   // PEM; goes with cert_file

    friend bool operator==(const tls_client_files&, const tls_client_files&) = default;
};

// For agents. Fails with config_invalid; the detail names the file.
core::result<tls_context> make_client_tls(const tls_client_files& files);

// Sets the demands of every client here on a peer's certificate, whoever makes the context: keys and signatures that are strong
// enough, and authorities as they are given, be they roots or not.
void verify_strictly(SSL_CTX& context);

// Each verification of a certificate leaves its verdict there (X509_V_OK or X509_V_ERR_...), on the thread that verifies.
void record_verdict(SSL_CTX& context, std::shared_ptr<long> verdict);

// From now on the peer's certificate has to be for `host`, a name or an address: by a subject alternative name, as a whole
// or with `*` as a whole label (RFC 6125 section 6.4.3). False: it cannot be asked for, and there must be no handshake.
[[nodiscard]] bool expect_name(X509_VERIFY_PARAM& verification, const std::string& host);

// Sets the expected peer of one connection, with its SNI. Called before the handshake.
[[nodiscard]] bool expect_peer(SSL& connection, const std::string& host);

// For one connection of either role, before its handshake: HTTP/2 is spoken too, and preferred to HTTP/1.1. False: memory has run out.
[[nodiscard]] bool offer_http2(SSL& connection);

// After the handshake: both have agreed on HTTP/2.
bool chose_http2(const SSL& connection);

// After the handshake of a server: the connection is for requests to `host`, a name or an address without brackets. The certificate that
// was shown is for it, or the caller has asked for it by SNI, or has named none and asks for an address, which SNI cannot name. (A resumed
// session of TLS 1.2 does not tell a name that no certificate has.)
bool is_for_host(const SSL& connection, std::string_view host);

// Why a handshake failed, for the log: `reason`, and what is wrong with the peer's certificate.
std::string handshake_failure(const SSL& connection, std::string_view reason);

}  // namespace net
