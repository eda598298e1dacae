#include "core/mcp_server.hpp"

namespace core {

std::string_view name(mcp_transport t) noexcept
{
    switch (t) {
        case mcp_transport::stdio:
            return "stdio";
        case mcp_transport::streamable_http:
            return "streamable-http";
        case mcp_transport::sse:
            return "sse";
        case mcp_transport::unsupported:
            return "unsupported";
    }
    return "unsupported";
}

std::string_view name(mcp_era e) noexcept
{
    switch (e) {
        case mcp_era::automatic:
            return "auto";
        case mcp_era::legacy:
            return "legacy";
        case mcp_era::modern:
            return "modern";
    }
    return "auto";
}

std::string_view name(mcp_start s) noexcept
{
    switch (s) {
        case mcp_start::eager:
            return "eager";
        case mcp_start::lazy:
            return "lazy";
    }
    return "eager";
}

}  // namespace core
