#include "mcp/calls/upstream_names.hpp"

#include "mcp/protocol/message.hpp"
#include "mcp/protocol/raw_json.hpp"

namespace mcp {

std::string upstream_names::name_for(std::string_view name)
{
    return passes(name) ? std::string{name} : std::to_string(next_++);
}

bool upstream_names::passes(std::string_view name)
{
    if (always_ || !names_request(name)) {
        return false;
    }
    if (is_string(name)) {
        if (name.size() > longest_string || name.find('\\') != std::string_view::npos ||
            strings_.size() >= most_strings) {
            return false;
        }
        return strings_.emplace(name).second;
    }
    // Many readers hold numbers as doubles: a larger one, or one with a fraction, comes back spelled in another way.
    const auto number = integer_of<std::int64_t>(name);
    if (!number || name.front() == '-' || *number <= highest_ || *number >= first_new) {
        return false;
    }
    highest_ = *number;
    return true;
}

std::string plain_name(std::string_view raw)
{
    if (raw.find('\\') == std::string_view::npos) {
        return std::string{raw};
    }
    const auto text = text_of(raw);
    return text ? '"' + *text + '"' : std::string{raw};
}

bool is_spelled(std::string_view raw, std::string_view plain)
{
    return raw.find('\\') == std::string_view::npos ? raw == plain : plain_name(raw) == plain;
}

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
