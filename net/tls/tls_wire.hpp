// What OpenSSL reads and writes through: the socket of a transport, without the reads that would find nothing.
#pragma once

#include <openssl/types.h>

namespace net {

class transport;

struct tls_wire {
    // Owned by the SSL that it is given to; the transport outlives it. Null when memory has run out.
    static BIO* make(transport& below);

    static int read(BIO* bio, char* into, int size);
    static int write(BIO* bio, const char* bytes, int size);
};

}  // namespace net
