#include "gateway/model/directory_request.hpp"

#include "core/agent.hpp"
#include "core/json/json.hpp"

#include <algorithm>
#include <charconv>
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

}  // namespace

bool directory_request::plain() const noexcept
{
    return !shows && !cursor && limit == (kind == directory_kind::agents ? usual_limit : largest_page);
}

core::result<directory_request> read_directory_request(directory_kind kind, std::string_view query)
{
    const bool lists = kind == directory_kind::agents;
    directory_request out;
    out.kind = kind;
    out.limit = lists ? usual_limit : largest_page;
    bool limited = false;
    query.remove_prefix(std::min<std::size_t>(query.size(), 1));
    while (!query.empty()) {
        const auto part = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(query.size(), part.size() + 1));
        const auto key = part.substr(0, part.find('='));
        const auto value = key.size() < part.size() ? part.substr(key.size() + 1) : std::string_view{};
        const bool is_limit = lists && key == "limit";
        if ((is_limit && limited) || (key == "cursor" && out.cursor)) {
            return wrong("The parameter " + std::string{key} + " is given twice.");
        }
        if (!is_limit && key != "cursor") {
            return wrong(
                "There is no parameter " + shown(key) +
                (lists ? "; limit and cursor are." : "; cursor is the only one.")
            );
        }
        limited = limited || is_limit;
        if (auto read = is_limit ? read_limit(value, out) : read_cursor(value, out); !read) {
            return std::move(read).error();
        }
    }
    return out;
}

}  // namespace gateway::model
