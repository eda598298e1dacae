// The heads of a try: of the request as a worker gets it, and of the answer as the operator gets it. Pure; any thread.
#pragma once

#include "config/settings.hpp"
#include "net/http1/head.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace gateway::console {

// The head with which a worker gets it, for a body of `length` bytes, under the host of `public_base`, which is a URL. Fields pass but for
// Host, Origin, Cookie, Sec-*, Referer, those of one hop, and credentials (Authorization, X-API-Key and its like, what a provider of the
// settings reads), which are for the admin listener; a field Cardea-Caller-<name>, such as Cardea-Caller-Authorization, becomes <name>.
std::string head_of_try(
    const net::http1::request_head& asked,
    std::size_t length,
    std::string_view public_base,
    const config::settings& settings
);

// The head of the answer from what a worker answered, without framing and the empty line. Fields that a browser would obey, though it is an
// agent's word, stand there as Cardea-Caller-Location, Cardea-Caller-Content-Security-Policy and so on.
std::string fields_of_try(const net::http1::response_head& answered);

}  // namespace gateway::console
