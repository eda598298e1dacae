#include "gateway/agent_filter.hpp"

#include "gateway/cut_text.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

namespace gateway {
namespace {

using core::json;

constexpr std::int64_t most_listed = 1000;

std::string in_small_letters(std::string_view text)
{
    std::string out{text};
    std::transform(out.begin(), out.end(), out.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    });
    return out;
}

class filter_reader {
public:
    filter_reader(const json& params, std::vector<config::problem>& problems)
        : params_{params},
          problems_{problems}
    {
    }

    std::string text(const char* key)
    {
        const auto* value = core::member(params_, key);
        if (value == nullptr || value->is_null()) {
            return {};
        }
        if (!value->is_string()) {
            refuse(key, "is no text; text is meant");
            return {};
        }
        return value->get<std::string>();
    }

    std::optional<core::protocol> protocol()
    {
        const auto name = text("protocol");
        for (const auto each : {core::protocol::a2a, core::protocol::mcp}) {
            if (name == core::name(each)) {
                return each;
            }
        }
        if (!name.empty()) {
            refuse("protocol", "is not a protocol; a2a or mcp is meant");
        }
        return std::nullopt;
    }

    std::size_t limit(std::size_t otherwise)
    {
        const auto* value = core::member(params_, "limit");
        if (value == nullptr || value->is_null()) {
            return otherwise;
        }
        const bool whole = value->is_number_integer() && *value >= 1 && *value <= most_listed;
        if (!whole) {
            refuse("limit", "is no limit; a whole number, 1 to " + std::to_string(most_listed) + ", is meant");
            return otherwise;
        }
        return value->get<std::size_t>();
    }

private:
    void refuse(const char* key, std::string what) { problems_.push_back({{}, 1, 1, key, std::move(what)}); }

    const json& params_;
    std::vector<config::problem>& problems_;
};

void add_tags(const json& from, std::vector<std::string>& tags)
{
    const auto* list = core::member(from, "tags");
    for (std::size_t i = 0; list != nullptr && list->is_array() && i < list->size(); ++i) {
        if (const auto& each = (*list)[i]; each.is_string()) {
            tags.push_back(each.get<std::string>());
        }
    }
}

std::vector<std::string> metadata_tags(const core::agent& agent)
{
    std::vector<std::string> tags;
    // Parsed only if there can be any: a list looks at every agent.
    if (agent.metadata.find("\"tags\"") != std::string::npos) {
        if (const auto metadata = core::parse_json(agent.metadata)) {
            add_tags(*metadata, tags);
        }
    }
    return tags;
}

bool has_tag(const core::agent& agent, const card_words& card, const std::string& tag)
{
    if (std::binary_search(card.tags.begin(), card.tags.end(), tag)) {
        return true;
    }
    const auto tags = metadata_tags(agent);
    return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

}  // namespace

agent_filter read_filter(const json& params, std::vector<config::problem>& problems)
{
    filter_reader read{params, problems};
    agent_filter out;
    out.tag = read.text("tag");
    out.protocol = read.protocol();
    out.text = in_small_letters(read.text("text"));
    out.after = read.text("after");
    out.limit = read.limit(out.limit);
    return out;
}

std::vector<std::string> tags_of(const core::agent& agent, const card_words& card)
{
    auto tags = metadata_tags(agent);
    tags.insert(tags.end(), card.tags.begin(), card.tags.end());
    std::sort(tags.begin(), tags.end());
    tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
    return tags;
}

card_words words_of(const json& card)
{
    constexpr std::size_t most_tags = 1000;
    constexpr std::size_t longest_tag = 256;
    constexpr std::size_t longest_text = 8192;
    card_words out;
    const auto* skills = core::member(card, "skills");
    for (std::size_t i = 0; skills != nullptr && skills->is_array() && i < skills->size(); ++i) {
        add_tags((*skills)[i], out.tags);
    }
    std::sort(out.tags.begin(), out.tags.end());
    out.tags.erase(std::unique(out.tags.begin(), out.tags.end()), out.tags.end());
    std::erase_if(out.tags, [](const std::string& tag) { return tag.size() > longest_tag; });
    out.tags.resize(std::min(out.tags.size(), most_tags));
    out.tags.shrink_to_fit();
    for (const auto* key : {"name", "description"}) {
        if (const auto* words = core::string_member(card, key)) {
            out.text += in_small_letters(cut_text(*words, longest_text)) + '\n';
        }
    }
    return out;
}

bool shows(const agent_filter& filter, const core::agent& agent, const card_words& card)
{
    if (filter.protocol && *filter.protocol != agent.speaks) {
        return false;
    }
    if (!filter.tag.empty() && !has_tag(agent, card, filter.tag)) {
        return false;
    }
    return filter.text.empty() || in_small_letters(agent.id).find(filter.text) != std::string::npos ||
           card.text.find(filter.text) != std::string::npos ||
           in_small_letters(agent.metadata).find(filter.text) != std::string::npos;
}

}  // namespace gateway
