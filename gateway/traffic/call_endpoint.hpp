// POST /agents/<id>: reads a JSON-RPC call as far as the gateway has to know it, and prepares it for the relay.
#pragma once

#include "a2a/dialect/push_edit.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "gateway/traffic/endpoint.hpp"

#include <optional>
#include <string_view>
#include <vector>

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
    net::routine<> translate_call(request_context& request, bridged asked);
    net::routine<> mediate_push(request_context& request, core::jsonrpc_call call);
    net::routine<a2a::translation<std::vector<a2a::placed_push_config>>>
    find_push(request_context& request, a2a::dialect caller, a2a::operation what, std::string_view params);
    static net::routine<> refuse_push(request_context& request, a2a::dialect caller, a2a::refusal why);
};

}  // namespace gateway::traffic
