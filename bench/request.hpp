// The requests that the measured agent reads: as little of HTTP/1.1 as the proxies of a bench send.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace bench {

struct request {
    std::string_view method;
    std::string_view target;
    std::size_t length = 0;  // head and body
};

// The first request in `bytes`, if all of it has come; it points into `bytes`. A request that is not understood (no
// request line, a chunked body) is a std::runtime_error: no proxy of a bench sends one.
std::optional<request> first_request(std::string_view bytes);

}  // namespace bench
