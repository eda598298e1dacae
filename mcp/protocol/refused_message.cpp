#include "mcp/protocol/refused_message.hpp"

#include "core/json/jsonrpc_scan.hpp"
#include "mcp/protocol/message.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <algorithm>

namespace mcp {
namespace {

constexpr std::string_view blanks = " \t\r\n";

void skip_blanks(std::string_view& rest)
{
    rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
}

bool take(std::string_view& rest, char expected)
{
    skip_blanks(rest);
    if (!rest.starts_with(expected)) {
        return false;
    }
    rest.remove_prefix(1);
    return true;
}

// The string at the start of `rest`, without its quotes; to the end if it has none.
std::string_view take_string(std::string_view& rest)
{
    std::size_t end = 1;
    while (end < rest.size() && rest[end] != '"') {
        end += rest[end] == '\\' ? 2 : 1;
    }
    end = std::min(end, rest.size());
    const auto text = rest.substr(1, end - 1);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return text;
}

// A value, up to the comma or bracket that ends it.
std::string_view take_value(std::string_view& rest)
{
    skip_blanks(rest);
    const auto all = rest;
    for (std::size_t depth = 0; !rest.empty();) {
        const char c = rest.front();
        if (c == '"') {
            take_string(rest);
            continue;
        }
        if (depth == 0 && (c == ',' || c == '}' || c == ']')) {
            break;
        }
        if (c == '{' || c == '[') {
            ++depth;
        } else if (c == '}' || c == ']') {
            --depth;
        }
        rest.remove_prefix(1);
    }
    auto value = all.substr(0, all.size() - rest.size());
    value = value.substr(0, value.find_last_not_of(blanks) + 1);
    return value;
}

}  // namespace

addressee addressee_of(std::string_view text, bool whole)
{
    addressee found;
    bool answers = false;
    bool calls = false;
    bool speaks = !whole;
    bool others = false;
    take(text, '[');
    if (!take(text, '{')) {
        return found;
    }
    for (bool more = true; more;) {
        skip_blanks(text);
        if (!text.starts_with('"')) {
            break;
        }
        const auto name = take_string(text);
        if (!take(text, ':')) {
            break;
        }
        const auto value = take_value(text);
        const bool ends = !text.empty();  // else the value may go on
        if (name == "id" && (ends || whole) && names_request(value)) {
            found.id = number_of_id(value);
            found.other = !found.id;
            found.raw = value;
        }
        answers = answers || name == "result" || name == "error";
        calls = calls || name == "method";
        speaks = speaks || name == "jsonrpc";
        others = others || (name != "id" && name != "result" && name != "error");
        more = take(text, ',');
    }
    // Programs forget `jsonrpc`. A line of a log has more than an answer has.
    speaks = speaks || (answers && !others && !found.raw.empty());
    // A text that has an id and names no method is an answer that lacks both `result` and `error`, if nothing follows that could name one.
    answers = answers || (whole && !found.raw.empty() && take(text, '}'));
    found.answer = answers && !calls && speaks;
    return found;
}

std::vector<addressee> addressees_of(std::string_view text)
{
    const auto elements = opens_array(text) ? core::scan_elements(text, most_in_batch)
                                            : core::result<core::json_elements>{core::json_elements{}};
    if (!elements || elements->raw.empty()) {
        return {addressee_of(text, true)};
    }
    std::vector<addressee> all;
    for (const auto each : elements->raw) {
        all.push_back(addressee_of(each, true));
    }
    return all;
}

core::error refused_answer(core::error why)
{
    why.detail = "answer refused: " + why.detail;
    return why;
}

}  // namespace mcp
