// Fields as lines of text, as heads and trailers have them. Pure.
#pragma once

#include "core/ascii.hpp"
#include "net/http2/heads.hpp"

#include <algorithm>
#include <string_view>

namespace gateway::grpc {

using net::http2::take_line;

// Whether the line is a field of this name.
inline bool names(std::string_view line, std::string_view name)
{
    return line.size() > name.size() && line[name.size()] == ':' &&
           core::equal_ignoring_case(line.substr(0, name.size()), name);
}

// The value of the first field of this name; empty: there is none.
inline std::string_view value_in(std::string_view lines, std::string_view name)
{
    while (!lines.empty()) {
        const auto line = take_line(lines);
        if (names(line, name)) {
            const auto value = line.substr(name.size() + 1);
            return value.substr(std::min(value.find_first_not_of(" \t"), value.size()));
        }
    }
    return {};
}

}  // namespace gateway::grpc
