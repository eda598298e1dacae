// The head of a request on the gateway's own behalf. Pure; any thread. Seen by exchange_run.cpp only.
#pragma once

#include "net/client/exchange.hpp"
#include "net/http1/head.hpp"
#include "net/upstream/upstream.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace net {

struct exchange_text {
    http1::method verb;
    std::string text;
};

// Nothing: the method is unknown, or a field cannot be sent.
std::optional<exchange_text>
write_exchange_head(const exchange_request& request, const upstream_target& to, std::string_view user_agent);

}  // namespace net
