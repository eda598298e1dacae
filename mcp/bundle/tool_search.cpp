#include "mcp/bundle/tool_search.hpp"

#include "core/ascii.hpp"
#include "core/json/json_writer.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "core/utf8.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
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

// A result of a tool: a text, and one more member, which is raw.
std::string text_result(std::string_view text, std::string_view name, std::string_view raw, era speaks)
{
    std::string result;
    core::json_writer out{result, '{'};
    if (speaks == era::modern) {
        out.member("resultType", "complete");
    }
    out.name("content");
    out.open('[');
    out.open('{');
    out.member("type", "text");
    out.member("text", text);
    out.close('}');
    out.close(']');
    out.raw_member(name, raw);
    out.close('}');
    return result;
}

// A raw object, and the same as text for those who do not read `structuredContent`.
std::string structured_result(std::string_view structured, era speaks)
{
    return text_result(structured, "structuredContent", structured, speaks);
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

// Words by which people and the makers of tools mean the same, a group a line. They are of everyday English, not of any server: a word that
// only one product uses is not here.
constexpr std::string_view synonyms =
    "create make new add generate build produce\n"
    "add insert append attach include\n"
    "delete remove erase drop clear destroy purge wipe empty\n"
    "get retrieve fetch read show display view look see load\n"
    "list enumerate all which\n"
    "search find look query locate lookup\n"
    "update change edit modify set alter replace\n"
    "send post submit deliver mail email\n"
    "move rename\n"
    "copy duplicate clone\n"
    "open navigate visit goto browse\n"
    "buy purchase order acquire\n"
    "cancel abort stop terminate\n"
    "start begin launch run execute trigger initiate\n"
    "stop shutdown halt end kill\n"
    "restart reboot\n"
    "enable activate on\n"
    "disable deactivate off\n"
    "undo revert reset restore rollback\n"
    "fix repair resolve solve\n"
    "check verify validate test lint\n"
    "error exception failure bug issue problem crash\n"
    "folder directory dir\n"
    "file document\n"
    "picture image photo\n"
    "screenshot capture snapshot\n"
    "website site page web\n"
    "url link address\n"
    "internet online offline network\n"
    "fake mock stub simulate\n"
    "price cost\n"
    "pay payment card billing invoice\n"
    "coupon discount voucher promotion\n"
    "shop store ecommerce\n"
    "customer client contact subscriber\n"
    "user account person people member\n"
    "login signin sign authenticate\n"
    "password credential secret\n"
    "free available availability\n"
    "several multiple many batch bulk\n"
    "big size large\n"
    "diagram chart graph plot visualization\n"
    "draw plot visualize chart\n"
    "log history\n"
    "team group\n"
    "assign delegate\n"
    "comment note annotate\n"
    "repository repo project\n"
    "request call\n"
    "talk chat message\n"
    "meeting event appointment calendar\n"
    "when time date\n"
    "where location place\n"
    "who whoami author user\n"
    "weather forecast temperature\n"
    "translate language\n"
    "done complete finish resolve\n"
    "server machine vm vps virtual\n"
    "domain hostname\n"
    "schedule cron\n"
    "text string\n"
    "repeat echo\n"
    "sum total\n"
    "terminal shell command\n"
    "docs documentation manual help\n";

// Words of a question that say nothing about what is looked for.
constexpr auto empty_words = std::to_array<std::string_view>(
    {"a",    "an",  "and",  "are",  "as",   "at",    "be",    "but",      "by",   "can",  "could", "did",  "do",
     "does", "for", "from", "has",  "have", "how",   "i",     "in",       "into", "is",   "it",    "its",  "me",
     "my",   "of",  "off",  "on",   "or",   "so",    "some",  "somebody", "that", "the",  "their", "them", "this",
     "to",   "up",  "was",  "what", "when", "where", "which", "who",      "why",  "will", "with",  "you",  "your"}
);

enum class letter_kind : std::uint8_t { none, small, capital, digit };

letter_kind kind_of(char c) noexcept
{
    if (core::is_digit(c)) {
        return letter_kind::digit;
    }
    if (c >= 'A' && c <= 'Z') {
        return letter_kind::capital;
    }
    const bool beyond_ascii = static_cast<unsigned char>(c) >= 0x80;
    return beyond_ascii || core::is_letter(c) ? letter_kind::small : letter_kind::none;
}

// Whether a word ends before text[at].
bool ends_before(std::string_view text, std::size_t at) noexcept
{
    const auto before = kind_of(text[at - 1]);
    const auto here = kind_of(text[at]);
    if (here != letter_kind::capital) {
        return here == letter_kind::none;
    }
    const bool small_after = at + 1 < text.size() && kind_of(text[at + 1]) == letter_kind::small;
    return before != letter_kind::capital || small_after;
}

using meanings = std::vector<std::string>;  // names of groups, which no text has as words

const std::unordered_map<std::string_view, meanings>& groups()
{
    static const auto made = [] {
        std::unordered_map<std::string_view, meanings> by_word;
        std::size_t group = 0;
        for (auto rest = synonyms; !rest.empty(); ++group) {
            const auto line = rest.substr(0, rest.find('\n'));
            rest.remove_prefix(line.size() + 1);
            for (const auto word : words_of(line)) {
                by_word[word].push_back("0x" + std::to_string(group) + "m");
            }
        }
        return by_word;
    }();
    return made;
}

const meanings* meanings_of(std::string_view word)
{
    const auto found = groups().find(word);
    return found == groups().end() ? nullptr : &found->second;
}

// Those of a word in lower case, also in the plural or as a form of a verb. Null: it has none of its own.
const meanings* meanings_of_form(const std::string& word)
{
    if (const auto* const own = meanings_of(word)) {
        return own;
    }
    constexpr auto endings = std::to_array<std::pair<std::string_view, std::string_view>>(
        {{"s", ""}, {"es", ""}, {"d", ""}, {"ed", ""}, {"ing", ""}, {"ing", "e"}}
    );
    for (const auto& [ending, instead] : endings) {
        if (word.ends_with(ending)) {
            const auto stem = word.substr(0, word.size() - ending.size()) + std::string{instead};
            if (const auto* const its = meanings_of(stem)) {
                return its;
            }
        }
    }
    return nullptr;
}

constexpr unsigned deepest_parameters = 4;

// Appends names and descriptions of the parameters of a raw schema, while there is room.
void append_parameters(std::string& out, std::string_view schema, unsigned depth)
{
    const auto members = members_of(schema);
    const auto properties = members_of(members.object("properties"));
    for (const auto& [name, value] : properties.members()) {
        if (out.size() >= text_share) {
            return;
        }
        out.append(name).append(" ").append(members_of(value).text("description")).append(" ");
        if (depth > 1) {
            append_parameters(out, value, depth - 1);
        }
    }
    if (depth > 1 && out.size() < text_share) {
        append_parameters(out, members.object("items"), depth - 1);
    }
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
    return text_result(why, "isError", "true", speaks);
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

std::vector<std::string_view> words_of(std::string_view text, std::size_t most)
{
    std::vector<std::string_view> words;
    for (std::size_t at = 0; at < text.size() && words.size() < most;) {
        const auto begin = at++;
        if (kind_of(text[begin]) == letter_kind::none) {
            continue;
        }
        while (at < text.size() && !ends_before(text, at)) {
            ++at;
        }
        words.push_back(text.substr(begin, at - begin));
    }
    return words;
}

std::string plain_words(std::string_view text)
{
    std::string plain;
    for (const auto word : words_of(text)) {
        plain += plain.empty() ? "" : " ";
        plain += core::in_lower_case(word);
    }
    return plain;
}

void append_indexed(std::string& out, std::string_view text)
{
    std::string shared;
    for (const auto word : words_of(text)) {
        const auto plain = core::in_lower_case(word);
        out.append(plain).append(" ");
        if (const auto* const its = meanings_of_form(plain)) {
            for (const auto& meaning : *its) {
                shared.append(meaning).append(" ");
            }
        }
    }
    out += shared;
}

std::array<std::string, tool_texts>
indexed_tool(std::string_view name, std::string_view prefix, std::string_view definition)
{
    const auto members = members_of(definition);
    auto title = members.text("title");
    if (title.empty()) {
        title = members_of(members.object("annotations")).text("title");
    }
    std::string parameters;
    append_parameters(parameters, members.object("inputSchema"), deepest_parameters);
    const auto description = members.text("description");
    const std::array<std::string_view, tool_texts> texts{name, prefix, title, description, parameters};
    std::array<std::string, tool_texts> indexed;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        append_indexed(indexed[i], texts[i].substr(0, text_share));
    }
    return indexed;
}

std::vector<std::vector<std::string>> asked_things(std::string_view question)
{
    std::vector<std::string> words;
    for (const auto each : words_of(question)) {
        auto plain = core::in_lower_case(each);
        if (std::ranges::find(words, plain) == words.end()) {
            words.push_back(std::move(plain));
        }
    }
    const auto is_empty = [](const std::string& word) {
        return std::ranges::find(empty_words, word) != empty_words.end();
    };
    if (!std::ranges::all_of(words, is_empty)) {
        std::erase_if(words, is_empty);
    }
    std::vector<std::vector<std::string>> things;
    for (auto& word : words) {
        const auto* const its = meanings_of_form(word);
        auto& thing = things.emplace_back(1, std::move(word));
        if (its != nullptr) {
            thing.insert(thing.end(), its->begin(), its->end());
        }
    }
    return things;
}

}  // namespace mcp
