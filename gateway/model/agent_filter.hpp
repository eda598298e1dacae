// Which agents a list shows, and which of them next. Pure.
#pragma once

#include "config/problem.hpp"
#include "core/agent.hpp"
#include "core/json/json.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gateway::model {

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

// Parts of a card by which lists are filtered. A list looks at all agents: what one says is bounded.
struct card_words {
    std::vector<std::string> tags;  // of all skills, sorted, each once: the first 1000 of at most 256 bytes
    std::string
        text;  // name and description, 8 KiB of each, names of skills and tools, 32 KiB of all; in small letters
};

inline const card_words no_words;

card_words words_of(const core::json& card);

// The member `tags` of an agent's metadata (JSON text), sorted, each once.
std::vector<std::string> metadata_tags(const std::string& metadata);

// The tags of the metadata and of the card, sorted, each once; not more than `most` of those that are neither empty nor
// longer than `longest` bytes.
struct tag_bounds {
    std::size_t most;
    std::size_t longest;
};
std::vector<std::string> tags_of(const std::vector<std::string>& own, const card_words& card, tag_bounds bounds);

// `own` are the agent's metadata_tags(). The text is searched for in the id, the card's words and the metadata, without
// regard to the case of ASCII letters; in the metadata only if `metadata_searched`. `after` and `limit` are not looked at. Takes time linear in those texts.
bool shows(
    const agent_filter& filter,
    const core::agent& agent,
    const std::vector<std::string>& own,
    const card_words& card,
    bool metadata_searched = true
);

}  // namespace gateway::model
