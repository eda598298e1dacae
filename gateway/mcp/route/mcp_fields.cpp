#include "gateway/mcp/route/mcp_fields.hpp"

#include "core/ascii.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace gateway::mcp::route {
namespace {

// What is read, and perhaps unescaped, on the loop.
constexpr std::size_t longest_routed = 64 * 1024;

// What is kept of each call in flight, raw.
constexpr std::size_t longest_id = 1024;

}  // namespace

::mcp::head_fields mcp_fields_of(const net::http1::request_head& head)
{
    ::mcp::head_fields fields;
    const std::array<std::pair<std::string_view, ::mcp::head_field*>, 5> once{{
        {"MCP-Protocol-Version", &fields.version},
        {"Mcp-Method", &fields.method},
        {"Mcp-Name", &fields.name},
        {"Mcp-Session-Id", &fields.session},
        {"Last-Event-ID", &fields.event},
    }};
    for (const auto& field : head.fields) {
        for (const auto& [name, value] : once) {
            if (core::equal_ignoring_case(field.name, name)) {
                value->add(field.value);
            }
        }
        if (core::equal_ignoring_case(field.name, "Accept")) {
            fields.accept.add(field.value);
        }
    }
    return fields;
}

std::vector<std::pair<std::string, std::string>> parameter_fields_of(const net::http1::request_head& head)
{
    constexpr std::string_view prefix = "Mcp-Param-";
    std::vector<std::pair<std::string, std::string>> fields;
    for (const auto& field : head.fields) {
        const std::string_view name = field.name;
        if (core::equal_ignoring_case(name.substr(0, prefix.size()), prefix)) {
            fields.emplace_back(name, field.value);
        }
    }
    return fields;
}

bool is_too_long(const ::mcp::incoming_body& read)
{
    using enum ::mcp::routed;
    constexpr auto looked_at = std::to_array(
        {method,
         name,
         uri,
         capabilities,
         meta_capabilities,
         meta_level,
         listen_to,
         reference_name,
         reference_uri,
         delivery}
    );
    const auto has_long = [&](const ::mcp::incoming& message) {
        return std::ranges::any_of(
                   looked_at,
                   [&](::mcp::routed each) { return message[each].size > longest_routed; }
               ) ||
               message[id].size > longest_id || message[progress_token].size > longest_id;
    };
    return has_long(read.message);
}

}  // namespace gateway::mcp::route
