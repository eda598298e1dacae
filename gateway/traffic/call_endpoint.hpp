// POST /agents/<id>: reads a JSON-RPC call as far as the gateway has to know it, and prepares it for the relay.
#pragma once

#include "core/json/jsonrpc_scan.hpp"
#include "gateway/traffic/endpoint.hpp"

#include <optional>

namespace gateway::traffic {

class call_endpoint : public endpoint {
public:
    using endpoint::endpoint;

    net::routine<> look(request_context& request);

private:
    net::routine<core::scan_outcome> read_long_call(request_context& request, std::string_view body);
    net::routine<> await_card(request_context& request);
    std::optional<net::routine<>> prepare(request_context& request, std::string_view body, a2a::method method);
};

}  // namespace gateway::traffic
