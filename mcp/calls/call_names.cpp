#include "mcp/calls/call_names.hpp"

#include "mcp/calls/upstream_names.hpp"
#include "mcp/protocol/message.hpp"

namespace mcp {

void call_names::remove(std::string_view name)
{
    if (const auto found = calls_.find(name); found != calls_.end()) {
        calls_.erase(found);
    }
}

call_number call_names::find(std::string_view raw) const
{
    const auto found = calls_.find(plain_name(raw));
    return found == calls_.end() ? 0 : found->second;
}

call_number call_names::find_answered(std::string_view raw) const
{
    auto call = find(raw);
    if (const auto number = call == 0 ? number_of_id(raw) : std::nullopt) {
        const auto digits = std::to_string(*number);
        call = find(digits);
        call = call == 0 ? find('"' + digits + '"') : call;
    }
    return call;
}

}  // namespace mcp
