#include "config/mcp_calls.hpp"

#include "config/agent_parts.hpp"
#include "core/ascii.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

namespace config {
namespace {

using core::json;
using pairs = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view expected_filter = "a map with allow, deny, rename and describe";

std::vector<std::string> read_patterns(const field& f, problem_list& problems)
{
    std::vector<std::string> patterns;
    const auto elements = read_list(f, "a list of patterns such as read_*", problems);
    if (elements.size() > most_filter_patterns) {
        problems.add(f.at, f.path, "has more than " + std::to_string(most_filter_patterns) + " patterns");
        return patterns;
    }
    for (const auto& each : elements) {
        if (auto pattern = read_line(each, "a name, in which * is any text", problems)) {
            patterns.push_back(std::move(*pattern));
        }
    }
    return patterns;
}

struct pair_words {
    std::string_view map;
    std::string_view value;
    std::size_t longest;
};

pairs read_pairs(const field& f, const pair_words& words, problem_list& problems)
{
    pairs read;
    const auto* map = read_map(f, words.map, problems);
    if (map == nullptr) {
        return read;
    }
    if (map->keys.size() > most_filter_names) {
        problems.add(f.at, f.path, "has more than " + std::to_string(most_filter_names) + " names");
        return read;
    }
    for (std::size_t i = 0; i < map->keys.size(); ++i) {
        const auto value = member(*map, i, f.path);
        const auto* text = read_text(value, words.value, problems);
        if (text == nullptr) {
            continue;
        }
        if (text->empty() || text->size() > words.longest) {
            refuse(
                value,
                text->empty() ? "is empty" : "is longer than " + std::to_string(words.longest) + " bytes",
                words.value,
                problems
            );
        } else {
            read.emplace_back(map->keys[i].text, *text);
        }
    }
    return read;
}

void check_names(const field& f, const pairs& names, problem_list& problems)
{
    std::set<std::string_view> exposed;
    for (const auto& [name, other] : names) {
        if (!exposed.insert(other).second) {
            problems.add(f.at, f.path, "gives two names the name `" + other + "`; expected another one");
        }
    }
}

json shown_pairs(const pairs& shown)
{
    auto map = json::object();
    for (const auto& [name, value] : shown) {
        map[name] = value;
    }
    return map;
}

bool is_forwardable(std::string_view name)
{
    constexpr auto refused = std::to_array<std::string_view>({"authorization", "cookie", "origin", "content-encoding"});
    const auto lower = core::in_lower_case(name);
    return std::ranges::find(refused, lower) == refused.end() && !lower.starts_with("mcp-") &&
           !is_reserved(name, header_use::calls) && !is_reserved(name, header_use::mcp);
}

// 43 digits of base64 have 32 bytes and two bits, which are 0.
bool is_session_key(std::string_view text)
{
    constexpr std::string_view hexadecimal = "0123456789abcdefABCDEF";
    constexpr std::string_view last_digits = "AEIMQUYcgkosw048";
    const auto is_base64 = [](char c) {
        return core::is_letter(c) || core::is_digit(c) || c == '+' || c == '/' || c == '-' || c == '_';
    };
    if (text.size() == 64 && text.find_first_not_of(hexadecimal) == std::string_view::npos) {
        return true;
    }
    text.remove_suffix(text.ends_with('=') ? 1 : 0);
    return text.size() == 43 && std::ranges::all_of(text, is_base64) &&
           last_digits.find(text.back()) != std::string_view::npos;
}

}  // namespace

core::mcp_filter read_mcp_filter(const field& f, problem_list& problems)
{
    core::mcp_filter filter;
    if (f.value->is == node::kind::list) {
        filter.allow = read_patterns(f, problems);
        return filter;
    }
    const auto* map = read_map(f, expected_filter, problems);
    if (map == nullptr) {
        return filter;
    }
    const auto given = read_members(*map, f.path, {"allow", "deny", "rename", "describe"}, problems);
    if (const auto* allow = find_field(given, "allow")) {
        filter.allow = read_patterns(*allow, problems);
    }
    if (const auto* deny = find_field(given, "deny")) {
        filter.deny = read_patterns(*deny, problems);
    }
    if (const auto* names = find_field(given, "rename")) {
        filter.names = read_pairs(*names, {"a map of names", "the name for callers", longest_exposed_name}, problems);
        check_names(*names, filter.names, problems);
    }
    if (const auto* texts = find_field(given, "describe")) {
        constexpr pair_words words{"a map of descriptions", "a description", longest_exposed_description};
        filter.descriptions = read_pairs(*texts, words, problems);
    }
    return filter;
}

json shown_mcp_filter(const core::mcp_filter& filter)
{
    json shown;
    if (!filter.allow.empty()) {
        shown["allow"] = filter.allow;
    }
    if (!filter.deny.empty()) {
        shown["deny"] = filter.deny;
    }
    if (!filter.names.empty()) {
        shown["rename"] = shown_pairs(filter.names);
    }
    if (!filter.descriptions.empty()) {
        shown["describe"] = shown_pairs(filter.descriptions);
    }
    return shown;
}

std::vector<core::secret> read_session_keys(const field& f, const secret_reader& files, problem_list& problems)
{
    constexpr std::string_view expected =
        "the path of a file with 32 bytes as hex or base64, such as openssl rand -hex 32 prints";
    std::vector<core::secret> keys;
    const auto elements = read_list(f, "a list of files with keys", problems);
    if (elements.size() > most_session_keys) {
        problems.add(f.at, f.path, "has more than " + std::to_string(most_session_keys) + " keys");
        return keys;
    }
    for (const auto& each : elements) {
        auto text = read_named_file(each, expected, files, problems);
        if (!text) {
            continue;
        }
        if (is_session_key(*text)) {
            keys.emplace_back(std::move(*text));
        } else {
            problems.add(each.at, each.path, "names a file that has no key; expected " + std::string{expected});
        }
    }
    return keys;
}

std::vector<std::string> read_forwarded_headers(const field& f, problem_list& problems)
{
    constexpr std::string_view expected = "the name of a header field such as X-Tenant";
    std::vector<std::string> names;
    const auto elements = read_list(f, "a list of header fields", problems);
    if (elements.size() > most_forwarded_headers) {
        problems.add(f.at, f.path, "has more than " + std::to_string(most_forwarded_headers) + " names");
        return names;
    }
    for (const auto& each : elements) {
        const auto* name = read_text(each, expected, problems);
        if (name == nullptr) {
            continue;
        }
        if (!core::is_token(*name) || name->find('_') != std::string::npos) {
            refuse(
                each,
                "is not the name of a header field, or has a '_', with which none goes on",
                expected,
                problems
            );
        } else if (!is_forwardable(*name)) {
            refuse(each, "is a credential, or a field of HTTP, MCP or the gateway", expected, problems);
        } else {
            names.push_back(*name);
        }
    }
    return names;
}

}  // namespace config
