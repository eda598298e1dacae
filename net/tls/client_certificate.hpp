// The owner of a client certificate. Any thread.
#pragma once

#include "core/clock.hpp"

#include <openssl/types.h>

#include <memory>
#include <string>
#include <vector>

namespace net {

// Names with anything but visible ASCII in them are empty: they would not be compared as they are read.
struct client_certificate {
    std::string fingerprint;        // its SHA-256, 32 bytes
    std::string alternative_name;   // the first that is a DNS name, a URI or an email address; empty: there is none
    std::vector<std::string> uris;  // of the alternative names
    std::string subject;            // as RFC 2253 has it; empty: it has none
    core::wall_time valid_until;
};

// That of the peer of a connection whose handshake is over, also of one that was resumed. Null: it has shown none, or one that
// was not verified.
std::unique_ptr<const client_certificate> client_certificate_of(SSL& connection);

}  // namespace net
