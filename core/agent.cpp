#include "core/agent.hpp"

#include <algorithm>

namespace core {

bool valid_agent_id(std::string_view id) noexcept
{
    constexpr std::size_t longest = 128;
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
               c == '-';
    };
    return !id.empty() && id.size() <= longest && id != "." && id.find("..") == std::string_view::npos &&
           std::all_of(id.begin(), id.end(), allowed);
}

std::string_view name(protocol p) noexcept
{
    switch (p) {
        case protocol::a2a:
            return "a2a";
        case protocol::mcp:
            return "mcp";
    }
    return "a2a";
}

}  // namespace core
