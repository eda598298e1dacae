#include "gateway/model/directory_request.hpp"

#include "core/agent.hpp"
#include "core/json/json.hpp"
#include "core/url.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <span>
#include <utility>

namespace gateway::model {
namespace {

constexpr std::size_t usual_limit = 100;

core::error wrong(std::string sentence)
{
    return core::caller_error(core::errc::invalid_params, std::move(sentence));
}

std::string shown(std::string_view text)
{
    std::string out;
    core::append_json_string(out, text.substr(0, 64));
    return out;
}

core::result<> read_limit(std::string_view text, directory_request& into)
{
    std::size_t value = 0;
    const auto* const begin = text.data();
    const auto* const end = begin + text.size();
    const auto read = std::from_chars(begin, end, value);
    if (read.ec != std::errc{} || read.ptr != end || value < 1 || value > largest_page) {
        return wrong("The parameter limit is " + shown(text) + "; expected a whole number, 1 to 1000.");
    }
    into.limit = value;
    return {};
}

core::result<> read_cursor(std::string_view text, directory_request& into)
{
    if (!text.empty() && !core::valid_agent_id(text)) {
        return wrong("The parameter cursor is " + shown(text) + "; expected the nextCursor of the page before.");
    }
    into.cursor = std::string{text};
    return {};
}

bool has_limit(directory_kind kind) noexcept
{
    return kind == directory_kind::agents || kind == directory_kind::servers;
}

std::span<const std::string_view> parameters_of(directory_kind kind) noexcept
{
    static constexpr std::array<std::string_view, 6>
        all{"limit", "cursor", "search", "version", "updated_since", "include_deleted"};
    const std::span<const std::string_view> names{all};
    if (kind == directory_kind::servers) {
        return names;
    }
    return has_limit(kind) ? names.first(2) : names.subspan(1, 1);
}

std::string listed(std::span<const std::string_view> names)
{
    std::string text{names.front()};
    for (std::size_t i = 1; i < names.size(); ++i) {
        text.append(i + 1 < names.size() ? ", " : " and ").append(names[i]);
    }
    return text + (names.size() == 1 ? " is the only one." : " are.");
}

core::result<> read_parameter(std::string_view key, std::string_view value, directory_request& into)
{
    if (key == "limit") {
        return read_limit(value, into);
    }
    if (key == "cursor") {
        return read_cursor(value, into);
    }
    if (key == "search") {
        into.search = core::decoded(value);
    } else if (key == "version" && value != latest_version) {
        into.version = core::decoded(value);
    }
    return {};
}

}  // namespace

bool directory_request::plain() const noexcept
{
    const auto usual = has_limit(kind) ? usual_limit : largest_page;
    return !shows && !cursor && limit == usual && agent.empty() && search.empty() && version.empty();
}

core::result<directory_request> read_directory_request(directory_kind kind, std::string_view query)
{
    directory_request out;
    out.kind = kind;
    out.limit = has_limit(kind) ? usual_limit : largest_page;
    std::set<std::string_view> given;
    query.remove_prefix(std::min<std::size_t>(query.size(), 1));
    while (!query.empty()) {
        const auto part = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(query.size(), part.size() + 1));
        const auto key = part.substr(0, part.find('='));
        const auto value = key.size() < part.size() ? part.substr(key.size() + 1) : std::string_view{};
        const auto names = parameters_of(kind);
        if (std::ranges::find(names, key) == names.end()) {
            return wrong("There is no parameter " + shown(key) + "; " + listed(names));
        }
        if (!given.insert(key).second) {
            return wrong("The parameter " + std::string{key} + " is given twice.");
        }
        if (auto read = read_parameter(key, value, out); !read) {
            return std::move(read).error();
        }
    }
    return out;
}

}  // namespace gateway::model
