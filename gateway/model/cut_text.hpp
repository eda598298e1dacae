// Text of others, no longer than it may be.
#pragma once

#include "core/utf8.hpp"

#include <cstddef>
#include <string_view>

namespace gateway::model {

// As core::cut_utf8().
inline std::string_view cut_text(std::string_view text, std::size_t longest) noexcept
{
    return core::cut_utf8(text, longest);
}

}  // namespace gateway::model
