// Which agents a list shows, and which of them next. Pure.
#pragma once

#include "config/problem.hpp"
#include "core/agent.hpp"
#include "core/json.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gateway {

struct agent_filter {
    std::string tag;                         // as written; empty: any
    std::optional<core::protocol> protocol;  // nullopt: any
    std::string text;                        // in small letters; empty: any
    std::string after;                       // only ids behind this one
    std::size_t limit = 100;
};

// The members `tag`, `protocol`, `text`, `after` and `limit` of a list's parameters; others are not looked at. What
// cannot be read is added to `problems` and left out.
agent_filter read_filter(const core::json& params, std::vector<config::problem>& problems);

// What a card says of its agent, as far as lists are filtered by it. A list looks at all agents: what one says is bounded.
struct card_words {
    std::vector<std::string> tags;  // of all skills, sorted, each once: the first 1000 of at most 256 bytes
    std::string text;               // name and description, 8 KiB of each, in small letters
};

card_words words_of(const core::json& card);

// The tags of the card and of the metadata, sorted, each once.
std::vector<std::string> tags_of(const core::agent& agent, const card_words& card);

// The tags are the card's and `tags` of the metadata, the text is sought in the id, the card's words and the metadata,
// without regard to the case of ASCII letters. `after` is not looked at.
bool shows(const agent_filter& filter, const core::agent& agent, const card_words& card);

}  // namespace gateway
