// Text of others, no longer than it may be.
#pragma once

#include <cstddef>
#include <string_view>

namespace gateway::model {

// The first `longest` bytes at most of UTF-8, not ending in the middle of a character.
inline std::string_view cut_text(std::string_view text, std::size_t longest) noexcept
{
    if (text.size() <= longest) {
        return text;
    }
    while (longest > 0 && (static_cast<unsigned char>(text[longest]) & 0xC0) == 0x80) {
        --longest;
    }
    return text.substr(0, longest);
}

}  // namespace gateway::model
