// Which web pages may call the gateway (RFC 6454; MCP 2025-11-25, basic/transports, "Security Warning"). Pure; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mcp {

enum class origin_verdict : std::uint8_t {
    none,      // no field: no page
    own,       // the gateway's
    loopback,  // of this machine, on a listener that only this machine reaches
    listed,    // in `mcp.origins`
    forbidden,
};

struct origin_policy {
    std::span<const std::string> own;     // origins or URLs of the gateway
    bool loopback_listener = false;       // the request came to an address of this machine only
    std::span<const std::string> listed;  // `mcp.origins`
};

// `count`: of the fields; two are forbidden. `null` is always forbidden, and so is what is no origin.
origin_verdict judge_origin(std::string_view origin, unsigned count, const origin_policy& policy);

}  // namespace mcp
