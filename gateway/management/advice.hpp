// Sentences for operators about a code, a reason or an agent: why it is so, and what to do. They have at most 200 characters, without Markdown.
// Pure; any thread.
#pragma once

#include "core/error.hpp"
#include "gateway/cards/card_plane.hpp"
#include "gateway/management/agent_health.hpp"
#include "gateway/sessions/session_facts.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gateway::management {

struct advice {
    std::string_view why;
    std::string_view what_to_do;
};

advice advice_for(core::errc code) noexcept;

advice advice_for(::mcp::session_reason reason) noexcept;

// The sentences of a judgement::reason, or of any code by its name. Both are empty: there is no such reason.
advice advice_for(std::string_view reason) noexcept;

// About an agent, in its own words where there are some: `The program ended with exit code 3; it wrote: TOKEN is
// missing.`
struct agent_words {
    std::string why;
    std::string what_to_do;
};

// Both are empty: it is healthy. `card` and `session` as for judge(); `complaints`: what its program wrote to stderr, without secrets.
agent_words words_of(
    const judgement& judged,
    const cards::card_status* card,
    const sessions::session_facts* session,
    const std::vector<std::string>& complaints
);

}  // namespace gateway::management
