// The parts of http2_agent that know nothing of its connections.
#pragma once

#include "tests/support/http2_agent.hpp"
#include "tests/support/script.hpp"

#include <nghttp2/nghttp2.h>
#include <openssl/ssl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace test_support {

using fields_of_library = std::vector<nghttp2_nv>;

inline std::uint8_t* bytes_of(const std::string& text)
{
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
}

// Names as they are, which stay with the caller: else the library puts them in lower case.
inline fields_of_library converted(const field_list& fields)
{
    fields_of_library out;
    for (const auto& [name, value] : fields) {
        out.push_back({bytes_of(name), bytes_of(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NO_COPY_NAME});
    }
    return out;
}

inline std::string text_of(const std::uint8_t* bytes, std::size_t size)
{
    return {reinterpret_cast<const char*>(bytes), size};
}

struct h2_stream {
    std::size_t index = 0;
    recorded_request request;
    std::deque<h2::step> left;
    std::string sending;  // of the data step at hand
    bool sends_last = false;
    bool headed = false;
    bool busy = false;  // the data step at hand is not out
    bool closed = false;
    field_list trailers;
};

struct ssl_free {
    void operator()(SSL* tls) const { SSL_free(tls); }
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};

// Chooses HTTP/2 by ALPN, unless it is not to. The options outlive it.
inline std::unique_ptr<SSL_CTX, ssl_free> h2_context(http2_agent_options& options)
{
    std::unique_ptr<SSL_CTX, ssl_free> made{SSL_CTX_new(TLS_server_method())};
    if (SSL_CTX_use_certificate_chain_file(made.get(), options.cert_file.c_str()) != 1 ||
        SSL_CTX_use_PrivateKey_file(made.get(), options.key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
        throw std::runtime_error{"http2_agent: no certificate"};
    }
    const auto choose =
        [](SSL*, const unsigned char** out, unsigned char* size, const unsigned char* in, unsigned in_size, void* to) {
            static constexpr std::array<unsigned char, 3> h2{2, 'h', '2'};
            auto* chosen = const_cast<unsigned char*>(*out);
            if (!static_cast<http2_agent_options*>(to)->chooses_h2 ||
                SSL_select_next_proto(&chosen, size, h2.data(), h2.size(), in, in_size) != OPENSSL_NPN_NEGOTIATED) {
                return SSL_TLSEXT_ERR_NOACK;
            }
            *out = chosen;
            return SSL_TLSEXT_ERR_OK;
        };
    SSL_CTX_set_alpn_select_cb(made.get(), choose, &options);
    return made;
}

}  // namespace test_support
