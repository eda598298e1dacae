// Fields of forwarded messages as lines of text, for the tests of what is written.
#pragma once

#include "gateway/relay/forwarding.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace relay_rig {

using lines = std::vector<std::pair<std::string, std::string>>;

inline constexpr gateway::relay::forwarding_hop stranger{"203.0.113.9", "gw.test", "http", false};

// Fields by name, in lower case as they are looked for.
inline lines lines_of(const std::string& text)
{
    lines found;
    std::istringstream stream{text};
    for (std::string line; std::getline(stream, line);) {
        if (const auto colon = line.find(": "); colon != std::string::npos) {
            auto name = line.substr(0, colon);
            std::ranges::transform(name, name.begin(), [](char c) {
                return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
            });
            found.emplace_back(std::move(name), line.substr(colon + 2, line.size() - colon - 3));
        }
    }
    return found;
}

inline std::vector<std::string> values(const std::string& text, std::string_view name)
{
    std::vector<std::string> found;
    for (const auto& [each, value] : lines_of(text)) {
        if (each == name) {
            found.push_back(value);
        }
    }
    return found;
}

// The fields are views of the lines.
net::http1::field_list fields_of(const lines&& written) = delete;
inline net::http1::field_list fields_of(const lines& written)
{
    net::http1::field_list fields;
    for (const auto& [name, value] : written) {
        fields.push_back({net::http1::lookup_field(name), name, value});
    }
    return fields;
}

}  // namespace relay_rig
