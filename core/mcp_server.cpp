#include "core/mcp_server.hpp"

#include "core/choices.hpp"

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

std::string_view name(mcp_era value) noexcept
{
    return chosen_name(value);
}

std::string_view name(mcp_sessions value) noexcept
{
    return chosen_name(value);
}

std::string_view name(mcp_sessionless value) noexcept
{
    return chosen_name(value);
}

std::string_view name(mcp_loss value) noexcept
{
    return chosen_name(value);
}

std::string_view name(mcp_start value) noexcept
{
    return chosen_name(value);
}

}  // namespace core
