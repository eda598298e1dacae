#include "gateway/model/agent_filter.hpp"

#include "config/choice.hpp"
#include "core/ascii.hpp"
#include "core/utf8.hpp"

#include <string.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

namespace gateway::model {
namespace {

using core::json;

constexpr std::int64_t most_listed = 1000;

void add_tags(const json& from, std::vector<std::string>& tags)
{
    const auto* list = core::member(from, "tags");
    for (std::size_t i = 0; list != nullptr && list->is_array() && i < list->size(); ++i) {
        if (const auto& each = (*list)[i]; each.is_string()) {
            tags.push_back(each.get<std::string>());
        }
    }
}

// The id of an MCP server's skill is the name of its tool.
void add_names(const json& skill, std::string& names)
{
    constexpr std::size_t longest_name = 256;
    constexpr std::size_t longest = 32 * 1024;  // of all
    std::string id;
    for (const auto* key : {"id", "name"}) {
        const auto* words = core::string_member(skill, key);
        if (words == nullptr || names.size() > longest) {
            continue;
        }
        auto name = core::in_lower_case(core::cut_utf8(*words, longest_name));
        if (name != id && names.size() + name.size() < longest) {
            names += name + '\n';
        }
        id = std::move(name);
    }
}

void keep_each_once(std::vector<std::string>& tags)
{
    std::sort(tags.begin(), tags.end());
    tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
}

bool has_tag(const std::vector<std::string>& own, const card_words& card, const std::string& tag)
{
    return std::binary_search(card.tags.begin(), card.tags.end(), tag) ||
           std::binary_search(own.begin(), own.end(), tag);
}

// std::string::find() takes quadratic time for texts that are made for it, and callers and agents choose both of them.
bool contains(std::string_view text, std::string_view wanted)
{
    return ::memmem(text.data(), text.size(), wanted.data(), wanted.size()) != nullptr;
}

}  // namespace

agent_filter read_filter(const json& params, std::vector<config::problem>& problems)
{
    const auto refuse = [&](const char* key, std::string predicate) {
        problems.push_back({{}, 1, 1, key, std::move(predicate)});
    };
    const auto find = [&](const char* key) {
        const auto* value = core::member(params, key);
        return value == nullptr || value->is_null() ? nullptr : value;
    };
    const auto text = [&](const char* key) {
        if (const auto* value = find(key); value != nullptr && !value->is_string()) {
            refuse(key, "is no text; expected text");
        }
        return core::text_member(params, key);
    };
    agent_filter out;
    out.tag = text("tag");
    if (const auto name = text("protocol"); !name.empty()) {
        if (const auto protocol = config::parse_choice<core::protocol>(name)) {
            out.protocol = *protocol;
        } else {
            refuse("protocol", protocol.error().detail + "; expected " + config::listed<core::protocol>());
        }
    }
    out.text = core::in_lower_case(text("text"));
    out.after = text("after");
    if (const auto* limit = find("limit")) {
        if (limit->is_number_integer() && *limit >= 1 && *limit <= most_listed) {
            out.limit = limit->get<std::size_t>();
        } else {
            refuse("limit", "is no limit; expected a whole number, 1 to " + std::to_string(most_listed));
        }
    }
    return out;
}

std::vector<std::string> metadata_tags(const std::string& metadata)
{
    std::vector<std::string> tags;
    if (metadata.find("\"tags\"") != std::string::npos) {
        if (const auto parsed = core::parse_json(metadata, {.bytes = metadata.size()})) {
            add_tags(*parsed, tags);
        }
    }
    keep_each_once(tags);
    return tags;
}

std::vector<std::string> tags_of(const std::vector<std::string>& own, const card_words& card, tag_bounds bounds)
{
    std::vector<std::string> tags;
    const auto add = [&](const std::vector<std::string>& from) {
        std::size_t taken = 0;
        for (auto each = from.begin(); each != from.end() && taken < bounds.most; ++each) {
            if (!each->empty() && each->size() <= bounds.longest) {
                tags.push_back(*each);
                ++taken;
            }
        }
    };
    add(own);
    add(card.tags);
    keep_each_once(tags);
    tags.resize(std::min(tags.size(), bounds.most));
    return tags;
}

card_words words_of(const json& card)
{
    constexpr std::size_t most_tags = 1000;
    constexpr std::size_t longest_tag = 256;
    constexpr std::size_t longest_text = 8192;
    card_words out;
    std::string names;
    const auto* skills = core::member(card, "skills");
    for (std::size_t i = 0; skills != nullptr && skills->is_array() && i < skills->size(); ++i) {
        add_tags((*skills)[i], out.tags);
        add_names((*skills)[i], names);
    }
    keep_each_once(out.tags);
    std::erase_if(out.tags, [](const std::string& tag) { return tag.size() > longest_tag; });
    out.tags.resize(std::min(out.tags.size(), most_tags));
    out.tags.shrink_to_fit();
    for (const auto* key : {"name", "description"}) {
        if (const auto* words = core::string_member(card, key)) {
            out.text += core::in_lower_case(core::cut_utf8(*words, longest_text)) + '\n';
        }
    }
    out.text += names;
    return out;
}

bool shows(
    const agent_filter& filter,
    const core::agent& agent,
    const std::vector<std::string>& own,
    const card_words& card,
    bool metadata_searched
)
{
    if (filter.protocol && *filter.protocol != agent.speaks) {
        return false;
    }
    if (!filter.tag.empty() && !has_tag(own, card, filter.tag)) {
        return false;
    }
    return filter.text.empty() || contains(core::in_lower_case(agent.id), filter.text) ||
           contains(card.text, filter.text) ||
           (metadata_searched && contains(core::in_lower_case(agent.metadata), filter.text));
}

}  // namespace gateway::model
