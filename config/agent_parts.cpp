#include "config/agent_parts.hpp"

#include "config/choice.hpp"
#include "config/json_value.hpp"
#include "core/ascii.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

namespace config {
namespace {

std::optional<field> find(const node& map, std::string_view key, std::string_view path)
{
    for (std::size_t i = 0; i < map.keys.size(); ++i) {
        if (map.keys[i].text == key) {
            return member(map, i, path);
        }
    }
    return {};
}

bool is_named(const node& map)
{
    const auto name = find(map, "name", "");
    return name && name->value->is == node::kind::scalar && !name->value->text.empty() &&
           to_json(*name->value).is_string();
}

// As JSON text within what core::parse_json takes by default.
std::string bounded_text(const field& f, const core::json& value, problem_list& problems)
{
    auto text = core::to_text(value);
    const auto most = core::json_limits{}.bytes;
    if (text.size() > most) {
        problems.add(f.at, f.path, "is longer than " + std::to_string(most) + " bytes as JSON");
        return {};
    }
    return text;
}

}  // namespace

core::secret bearer_of(const field& f, const std::string& text, problem_list& problems)
{
    constexpr std::size_t longest = 16 * 1024;
    if (text.size() > longest || !std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7F; })) {
        problems.add(
            f.at,
            f.path,
            std::string{text.size() > longest ? "is longer than 16KiB" : "has a character that no bearer has"} +
                "; expected the token alone, without `Bearer `"
        );
        return {};
    }
    return core::secret{text};
}

bool routes_message(std::string_view name)
{
    constexpr auto fields = std::to_array<std::string_view>(
        {"host",
         "content-length",
         "transfer-encoding",
         "connection",
         "keep-alive",
         "proxy-connection",
         "te",
         "trailer",
         "upgrade"}
    );
    return std::ranges::any_of(fields, [&](std::string_view each) { return core::equal_ignoring_case(each, name); });
}

// These say where a message goes and where it ends, what it is in MCP, or what the gateway says of the caller.
bool is_reserved(std::string_view name, header_use use)
{
    constexpr auto of_mcp = std::to_array<std::string_view>(
        {"accept", "content-type", "last-event-id", "mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name"}
    );
    constexpr auto of_calls =
        std::to_array<std::string_view>({"accept", "accept-encoding", "content-type", "expect", "forwarded", "via"});
    const auto begins = [&](std::string_view text) {
        return core::equal_ignoring_case(name.substr(0, text.size()), text);
    };
    const auto is_name = [&](std::string_view each) { return core::equal_ignoring_case(each, name); };
    if (use == header_use::calls &&
        (std::ranges::any_of(of_calls, is_name) || begins("proxy-") || begins("x-forwarded-") || begins("cardea-"))) {
        return true;
    }
    return routes_message(name) || (use == header_use::mcp && std::ranges::any_of(of_mcp, is_name));
}

std::string_view wrong_header_value(std::string_view value)
{
    constexpr std::size_t longest = 16 * 1024;
    if (value.empty()) {
        return "is empty";
    }
    if (value.size() > longest) {
        return "is longer than 16KiB";
    }
    if (std::ranges::any_of(value, [](char c) { return c != '\t' && core::is_control(c); })) {
        return "has a line break or another control character";
    }
    if (core::trim(value).size() != value.size()) {
        return "starts or ends with a blank";
    }
    return {};
}

std::vector<std::pair<std::string, core::secret>> read_headers(const field& f, problem_list& problems, header_use use)
{
    constexpr std::size_t most = 64;
    std::vector<std::pair<std::string, core::secret>> headers;
    const auto* map = read_map(f, "a map of header fields", problems);
    if (map == nullptr) {
        return headers;
    }
    if (map->keys.size() > most) {
        problems.add(f.at, f.path, "has more than 64 header fields");
        return headers;
    }
    std::set<std::string> seen;
    for (std::size_t i = 0; i < map->keys.size(); ++i) {
        auto header = member(*map, i, f.path);
        header.secret = true;
        const auto& name = map->keys[i].text;
        if (!core::is_token(name)) {
            problems
                .add(map->keys[i].at, header.path, "is not a header field's name; expected a name such as X-Api-Key");
        } else if (is_reserved(name, use)) {
            problems.add(map->keys[i].at, header.path, "is set by the gateway itself; expected another header field");
        } else if (!seen.insert(core::in_lower_case(name)).second) {
            problems.add(map->keys[i].at, header.path, "is given twice; header fields' names have no case");
        }
        const auto* text = read_text(header, "the value of a header field", problems);
        if (text == nullptr) {
            continue;
        }
        if (const auto wrong = wrong_header_value(*text); !wrong.empty()) {
            refuse(header, wrong, "the value of a header field", problems);
        } else {
            headers.emplace_back(name, core::secret{*text});
        }
    }
    return headers;
}

std::vector<core::a2a_dialect> read_dialects(const field& f, problem_list& problems)
{
    std::vector<core::a2a_dialect> dialects;
    for (const auto& element : read_list(f, "a list of dialects", problems)) {
        const auto dialect = read_choice<core::a2a_dialect>(element, problems);
        if (dialect && std::ranges::find(dialects, *dialect) != dialects.end()) {
            refuse(element, "is given twice", listed<core::a2a_dialect>() + ", each once", problems);
        } else if (dialect) {
            dialects.push_back(*dialect);
        }
    }
    return dialects;
}

std::vector<std::string> read_relay_paths(const field& f, problem_list& problems)
{
    constexpr std::string_view expected = "a pattern such as /v1/* or /**";
    std::vector<std::string> patterns;
    for (const auto& element : read_list(f, "a list of patterns", problems)) {
        const auto pattern = read_line(element, expected, problems);
        if (!pattern) {
            continue;
        }
        const auto segments = *pattern + '/';
        const bool dots = segments.find("/./") != std::string::npos || segments.find("/../") != std::string::npos;
        if (pattern->front() != '/') {
            refuse(element, "does not begin with '/'", expected, problems);
        } else if (dots || pattern->find_first_of("?# %\\") != std::string::npos) {
            refuse(element, "is not a pattern of paths", expected, problems);
        } else {
            patterns.push_back(*pattern);
        }
    }
    return patterns;
}

std::string read_card(const field& f, problem_list& problems)
{
    constexpr std::string_view expected = "an agent card (a map with a name)";
    if (f.value->is == node::kind::null) {
        refuse(f, "has no value", expected, problems);
        return {};
    }
    const auto* card = read_map(f, expected, problems);
    if (card == nullptr) {
        return {};
    }
    if (!is_named(*card)) {
        refuse(f, "has no name", expected, problems);
        return {};
    }
    return bounded_text(f, to_json(*card), problems);
}

metadata_parts read_metadata_parts(const field& f, problem_list& problems)
{
    metadata_parts parts;
    const auto* map = read_map(f, "a map", problems);
    if (map == nullptr) {
        return parts;
    }
    for (std::size_t i = 0; i < map->keys.size(); ++i) {
        const auto m = member(*map, i, f.path);
        const bool card = map->keys[i].text == "agentCard" && m.value->is == node::kind::map;
        const auto url = card ? find(*m.value, "url", m.path) : std::nullopt;
        const bool has_url = url && url->value->is == node::kind::scalar && !url->value->text.empty();
        if (card && is_named(*m.value)) {
            parts.card = bounded_text(m, to_json(*m.value), problems);
            const auto address =
                has_url ? parse_http_url(url->value->text, query::allowed) : core::result<std::string>{""};
            parts.card_url = address ? *address : "";
            continue;
        }
        if (has_url) {
            parts.card_url = read_url(*url, problems).value_or("");
        }
        append_member(parts.members, map->keys[i].text, to_json(*m.value));
    }
    bounded_text(f, parts.members, problems);
    return parts;
}

}  // namespace config
