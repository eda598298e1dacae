// POST /agents/<id>: reads a JSON-RPC call as far as the gateway has to know it, and prepares it for the relay.
#pragma once

#include "core/json/jsonrpc_scan.hpp"
#include "gateway/request/endpoint.hpp"

#include <optional>
#include <string_view>

namespace gateway::a2a {

class call_endpoint : public request::endpoint {
public:
    using endpoint::endpoint;

    net::routine<> look(request::request_context& request);

private:
    net::routine<core::scan_outcome> read_long_call(request::request_context& request, std::string_view body);
    struct read_call {
        ::a2a::method method;
        std::string_view params;  // raw
    };

    std::optional<net::routine<>> prepare(request::request_context& request, std::string_view body, read_call said);
    static net::routine<> respond_version(request::request_context& request, core::errc code);
    void add_edits(request::request_context& request, ::a2a::method method) const;
    net::routine<> translate_call(request::request_context& request, bridged asked);
    net::routine<> prepare_mediated(request::request_context& request, std::string_view body, core::jsonrpc_call call);
};

}  // namespace gateway::a2a
