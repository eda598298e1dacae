// Text of an agent or a server, made fit to be shown to operators.
#pragma once

#include "core/redaction.hpp"
#include "core/utf8.hpp"

#include <string>
#include <string_view>

namespace gateway::model {

// At most 256 bytes, and nothing of what it was given to keep. Pure; any thread.
inline std::string shown_words(const core::redaction& secrets, std::string_view words)
{
    constexpr std::size_t longest = 256;
    return std::string{core::cut_utf8(secrets.apply(words, core::cut_utf8(words, longest).size()), longest)};
}

}  // namespace gateway::model
