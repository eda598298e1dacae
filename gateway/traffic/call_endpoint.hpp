// POST /agents/<id>: reads a JSON-RPC call as far as the gateway has to know it, and prepares it for the relay.
#pragma once

#include "core/json/jsonrpc_scan.hpp"
#include "gateway/traffic/endpoint.hpp"

#include <optional>
#include <string_view>

namespace gateway::traffic {

class call_endpoint : public endpoint {
public:
    using endpoint::endpoint;

    net::routine<> look(request_context& request);

private:
    net::routine<core::scan_outcome> read_long_call(request_context& request, std::string_view body);
    struct read_call {
        a2a::method method;
        std::string_view params;  // raw
    };

    std::optional<net::routine<>> prepare(request_context& request, std::string_view body, read_call said);
    static net::routine<> respond_version(request_context& request, core::errc code);
    void add_edits(request_context& request, a2a::method method) const;
    net::routine<> translate_call(request_context& request, bridged asked);
    net::routine<> prepare_mediated(request_context& request, std::string_view body, core::jsonrpc_call call);
};

}  // namespace gateway::traffic
