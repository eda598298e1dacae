#include "mcp/bundle/tool_search.hpp"

#include "core/ascii.hpp"
#include "core/json/json_writer.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "core/utf8.hpp"
#include "mcp/bundle/tool_words.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <algorithm>
#include <utility>

namespace mcp {
namespace {

constexpr std::string_view find_purpose =
    "Finds tools by what they do: this server has more tools than it lists. Say in a few words what you need, then "
    "call what you find by its "
    "name, or with call_tool.";

constexpr std::string_view find_schema =
    R"({"type":"object","properties":{)"
    R"("query":{"type":"string","description":"What the tool has to do, or its name; at most 512 bytes and 32 words"},)"
    R"("limit":{"type":"integer","minimum":1,"maximum":50,"default":10,"description":"How many tools to return"},)"
    R"("agent":{"type":"string","description":"Only the tools of this agent"}},"required":["query"]})";

// "describe_tools" and "call_tool" are the same for everybody.
constexpr std::string_view describe_definition =
    R"({"name":"describe_tools","title":"Describe tools","description":"Returns the whole definitions of tools by their names.",)"
    R"("inputSchema":{"type":"object","properties":{"names":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":50,)"
    R"("description":"Names as find_tools returns them"}},"required":["names"]},)"
    R"("annotations":{"readOnlyHint":true,"openWorldHint":false}})";

constexpr std::string_view call_definition =
    R"({"name":"call_tool","title":"Call a tool","description":"Calls a tool that find_tools has found, and returns its result.",)"
    R"("inputSchema":{"type":"object","properties":{"name":{"type":"string","description":"The name as find_tools returns it"},)"
    R"("arguments":{"type":"object","description":"Arguments as the tool's inputSchema wants them"}},"required":["name"]},)"
    R"("annotations":{"readOnlyHint":false,"destructiveHint":true,"openWorldHint":true}})";

core::error unfit(std::string why)
{
    return core::caller_error(core::errc::invalid_params, std::move(why));
}

core::result<raw_object> read_arguments(std::string_view raw)
{
    if (raw.empty()) {
        return raw_object{};
    }
    auto read = raw_object::read(raw);
    return read ? std::move(read) : core::result<raw_object>{unfit("arguments: expected an object whose names differ")};
}

// A text on one line that ends within `longest` bytes.
std::string on_one_line(std::string_view text, std::size_t longest)
{
    std::string line{core::cut_utf8(text, longest)};
    std::ranges::replace_if(line, core::is_control, ' ');
    return line;
}

std::string first_sentence(std::string_view description)
{
    const auto end = std::min(description.find('\n'), description.find(". "));
    return on_one_line(description.substr(0, end), longest_sentence);
}

std::string member_line(const searched_member& member)
{
    auto line = "\n- " + on_one_line(member.name, longest_named_title);
    if (!member.title.empty() && member.title != member.name) {
        line += " (" + on_one_line(member.title, longest_named_title) + ")";
    }
    return line + ": " + std::to_string(member.tools) + (member.tools == 1 ? " tool" : " tools");
}

// The members, a line each, within `room` bytes; those that have no room are counted.
std::string member_lines(std::span<const searched_member> members, std::size_t room)
{
    constexpr std::size_t rest_line = 32;
    std::string lines;
    std::size_t told = 0;
    for (const auto& member : members) {
        const auto line = member_line(member);
        if (lines.size() + line.size() + rest_line > room) {
            break;
        }
        lines += line;
        ++told;
    }
    if (told < members.size()) {
        lines += "\n- and " + std::to_string(members.size() - told) + " more agents";
    }
    return lines;
}

void append_text_content(core::json_writer& out, std::string_view text)
{
    out.name("content");
    out.open('[');
    out.open('{');
    out.member("type", "text");
    out.member("text", text);
    out.close('}');
    out.close(']');
}

void append_type(core::json_writer& out, era speaks)
{
    if (speaks == era::modern) {
        out.member("resultType", "complete");
    }
}

// The result that has a raw object, and the same as text for those who do not read `structuredContent`.
std::string structured_result(std::string_view structured, era speaks)
{
    std::string result;
    core::json_writer out{result, '{'};
    append_type(out, speaks);
    append_text_content(out, structured);
    out.raw_member("structuredContent", structured);
    out.close('}');
    return result;
}

// Definitions as long as they have room, one of them whatever its length if `first_whole`; the others as name and one sentence.
void append_tools(core::json_writer& out, std::span<const found_tool> tools, std::size_t room, bool first_whole)
{
    out.name("tools");
    out.open('[');
    for (const auto& tool : tools) {
        if (tool.definition.size() <= room || first_whole) {
            room -= std::min(room, tool.definition.size());
            out.raw(tool.definition);
        } else {
            out.open('{');
            out.member("name", tool.name);
            out.member_if_any("description", first_sentence(members_of(tool.definition).text("description")));
            out.close('}');
        }
        first_whole = false;
    }
    out.close(']');
}

// Counts of pairs of letters, by the low bits of both.
constexpr std::size_t pair_kinds = 1024;
using pair_counts = std::array<std::int16_t, pair_kinds>;

std::string letters_of(std::string_view name)
{
    std::string letters;
    for (const char c : name) {
        if (core::is_letter(c) || core::is_digit(c) || static_cast<unsigned char>(c) >= 0x80) {
            letters += core::lower(c);
        }
    }
    return letters;
}

std::size_t pair_at(std::string_view letters, std::size_t at) noexcept
{
    return ((static_cast<unsigned char>(letters[at]) & 31U) << 5U) |
           (static_cast<unsigned char>(letters[at + 1]) & 31U);
}

}  // namespace

std::optional<search_tool> search_tool_of(std::string_view name) noexcept
{
    const auto found = std::ranges::find(search_tool_names, name);
    if (found == search_tool_names.end()) {
        return std::nullopt;
    }
    return static_cast<search_tool>(found - search_tool_names.begin());
}

std::array<std::string, 3> search_definitions(std::span<const searched_member> members)
{
    std::string description{find_purpose};
    if (!members.empty()) {
        description += " Agents:";
        description += member_lines(members, longest_description - description.size());
    }
    std::string find;
    core::json_writer out{find, '{'};
    out.member("name", "find_tools");
    out.member("title", "Find tools");
    out.member("description", description);
    out.raw_member("inputSchema", find_schema);
    out.raw_member("annotations", R"({"readOnlyHint":true,"openWorldHint":false})");
    out.close('}');
    return {find, std::string{describe_definition}, std::string{call_definition}};
}

core::result<find_request> read_find(std::string_view arguments)
{
    const auto read = read_arguments(arguments);
    if (!read) {
        return read.error();
    }
    find_request request;
    auto query = text_of(read->find("query"));
    if (!query || query->size() > longest_question) {
        return unfit("query: expected a text of at most " + std::to_string(longest_question) + " bytes");
    }
    if (words_of(*query, most_question_words + 1).size() > most_question_words) {
        return unfit("query: expected at most " + std::to_string(most_question_words) + " words");
    }
    request.query = std::move(*query);
    if (const auto raw = read->find("limit"); !raw.empty() && raw != "null") {
        const auto limit = integer_of<std::size_t>(raw);
        if (!limit || *limit == 0 || *limit > most_tools_found) {
            return unfit("limit: expected a number from 1 to " + std::to_string(most_tools_found));
        }
        request.limit = *limit;
    }
    if (const auto raw = read->find("agent"); !raw.empty() && raw != "null") {
        auto agent = text_of(raw);
        if (!agent) {
            return unfit("agent: expected a text");
        }
        request.agent = std::move(*agent);
    }
    return request;
}

core::result<std::vector<std::string>> read_describe(std::string_view arguments)
{
    const auto read = read_arguments(arguments);
    if (!read) {
        return read.error();
    }
    const auto why = "names: expected an array of 1 to " + std::to_string(most_described) + " texts";
    const auto items = core::scan_elements(read->find("names"), most_described);
    if (!items || items->count == 0 || items->count > most_described) {
        return unfit(why);
    }
    std::vector<std::string> names;
    for (const auto raw : items->raw) {
        auto name = text_of(raw);
        if (!name) {
            return unfit(why);
        }
        names.push_back(std::move(*name));
    }
    return names;
}

core::result<call_request> read_call(std::string_view arguments)
{
    const auto read = read_arguments(arguments);
    if (!read) {
        return read.error();
    }
    auto name = text_of(read->find("name"));
    if (!name) {
        return unfit("name: expected a text");
    }
    const auto given = read->find("arguments");
    if (!given.empty() && given != "null" && !is_object(given)) {
        return unfit("arguments.arguments: expected an object");
    }
    return call_request{.name = std::move(*name), .arguments = is_object(given) ? given : std::string_view{"{}"}};
}

std::string find_result(std::span<const found_tool> tools, std::span<const searched_member> members, era speaks)
{
    std::string structured;
    core::json_writer out{structured, '{'};
    append_tools(out, tools, whole_definitions, false);
    if (tools.empty()) {
        out.name("agents");
        out.open('[');
        for (const auto& member : members) {
            out.open('{');
            out.member("name", member.name);
            out.member_if_any("title", on_one_line(member.title, longest_named_title));
            out.member("tools", member.tools);
            out.close('}');
        }
        out.close(']');
    }
    out.close('}');
    return structured_result(structured, speaks);
}

std::string describe_result(std::span<const found_tool> tools, era speaks)
{
    std::string structured;
    core::json_writer out{structured, '{'};
    append_tools(out, tools, whole_described, true);
    out.close('}');
    return structured_result(structured, speaks);
}

std::string refused_result(std::string_view why, era speaks)
{
    std::string result;
    core::json_writer out{result, '{'};
    append_type(out, speaks);
    append_text_content(out, why);
    out.member("isError", true);
    out.close('}');
    return result;
}

std::string unknown_result(std::string_view name, std::span<const std::string_view> nearest, era speaks)
{
    auto why = "There is no tool '" + on_one_line(name, longest_sentence) + "'.";
    for (std::size_t i = 0; i < nearest.size(); ++i) {
        why += i == 0 ? " The nearest names are " : ", ";
        why += nearest[i];
    }
    return refused_result(why += nearest.empty() ? "" : ".", speaks);
}

double likeness(std::string_view a, std::string_view b)
{
    const auto first = letters_of(a);
    const auto second = letters_of(b);
    if (first.size() < 2 || second.size() < 2) {
        return first == second ? 1 : 0;
    }
    pair_counts counts{};
    for (std::size_t at = 0; at + 1 < first.size(); ++at) {
        ++counts[pair_at(first, at)];
    }
    std::size_t common = 0;
    for (std::size_t at = 0; at + 1 < second.size(); ++at) {
        common += counts[pair_at(second, at)]-- > 0 ? 1U : 0U;
    }
    return 2.0 * static_cast<double>(common) / static_cast<double>(first.size() + second.size() - 2);
}

}  // namespace mcp
