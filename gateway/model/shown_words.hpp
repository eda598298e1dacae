// What an agent or a server says of itself, as operators are shown it.
#pragma once

#include "core/redaction.hpp"
#include "gateway/model/cut_text.hpp"

#include <string>
#include <string_view>

namespace gateway::model {

// At most 256 bytes, and nothing of what it was given to keep. Pure; any thread.
inline std::string shown_words(const core::redaction& secrets, std::string_view words)
{
    constexpr std::size_t longest = 256;
    return std::string{cut_text(secrets.apply(words, cut_text(words, longest).size()), longest)};
}

}  // namespace gateway::model
