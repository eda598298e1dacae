#include "mcp/bundle/tool_words.hpp"

#include "core/ascii.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>

namespace mcp {
namespace {

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
