// What operators read about a code or a reason: why it is so, and what to do. Sentences of at most 200 characters, without Markdown. Pure; any
// thread.
#pragma once

#include "core/error.hpp"
#include "gateway/sessions/session_facts.hpp"

#include <string_view>

namespace gateway::management {

struct advice {
    std::string_view why;
    std::string_view what_to_do;
};

advice advice_for(core::errc code) noexcept;

advice advice_for(::mcp::session_reason reason) noexcept;

// Of judgement::reason, or of any code by its name. Both are empty: there is no such reason.
advice advice_for(std::string_view reason) noexcept;

}  // namespace gateway::management
