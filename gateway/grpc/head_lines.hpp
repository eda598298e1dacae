// Fields as lines of text, as heads and trailers have them. Pure.
#pragma once

#include "core/ascii.hpp"

#include <algorithm>
#include <string_view>

namespace gateway::grpc {

// Takes a line off the front, without its CRLF.
inline std::string_view take_line(std::string_view& rest)
{
    const auto end = std::min(rest.find("\r\n"), rest.size());
    const auto line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 2, rest.size()));
    return line;
}

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
