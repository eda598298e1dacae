#include "net/http2/codes.hpp"

#include <array>
#include <cstddef>

namespace net::http2 {

std::string_view name(error_code code) noexcept
{
    constexpr std::array<std::string_view, 14> names{
        "no_error",
        "protocol_error",
        "internal_error",
        "flow_control_error",
        "settings_timeout",
        "stream_closed",
        "frame_size_error",
        "refused_stream",
        "cancel",
        "compression_error",
        "connect_error",
        "enhance_your_calm",
        "inadequate_security",
        "http_1_1_required"
    };
    const auto index = static_cast<std::size_t>(code);
    return index < names.size() ? names[index] : "unknown";
}

std::string_view name(limit which) noexcept
{
    constexpr std::array<std::string_view, 7>
        names{"streams", "resets", "control", "pings", "header", "header_fields", "continuations"};
    return names[static_cast<std::size_t>(which)];
}

}  // namespace net::http2
