// The version of A2A that a request names (specification 1.0.1 section 3.6). Pure; any thread.
#pragma once

#include "a2a/dialect/dialect.hpp"
#include "net/http1/head.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace gateway::a2a {

enum class said_version : std::uint8_t {
    none,     // nothing was said, which counts as 0.3
    v03,      // 0.2 or 0.3
    v1,       // 1.0
    other,    // a version that is not supported
    garbage,  // no version, or two
};

// The value of `A2A-Version`, in the head or else in the query (`?A2A-Version=1.0&…`): major and minor count.
said_version version_said(const net::http1::field_list& fields, std::string_view query) noexcept;

// Nothing: none, or no supported one.
std::optional<::a2a::generation> generation_said(said_version version) noexcept;

}  // namespace gateway::a2a
