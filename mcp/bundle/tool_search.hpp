// The three tools with which clients of a bundle look for its tools instead of listing all of them: their definitions, arguments and
// results; and the words of names and of questions, so that a question finds the tool however the name of that is written. Pure; any
// thread.
#pragma once

#include "core/error.hpp"
#include "mcp/protocol/version.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcp {

enum class search_tool : std::uint8_t { find, describe, call };

inline constexpr std::array<std::string_view, 3> search_tool_names{"find_tools", "describe_tools", "call_tool"};

// Nothing: a tool of a member.
std::optional<search_tool> search_tool_of(std::string_view name) noexcept;

inline constexpr std::size_t longest_question = 512;  // bytes
inline constexpr std::size_t most_question_words = 32;
inline constexpr std::size_t tools_found = 10;  // unless the question says how many
inline constexpr std::size_t most_tools_found = 50;
inline constexpr std::size_t most_described = 50;
inline constexpr std::size_t whole_definitions = 16 * 1024;   // bytes of those that find_tools gives whole
inline constexpr std::size_t whole_described = 1024 * 1024;   // the same of describe_tools
inline constexpr std::size_t longest_description = 2 * 1024;  // of find_tools
inline constexpr std::size_t longest_named_title = 80;        // of a member in it
inline constexpr std::size_t longest_sentence = 200;          // of a definition that is not whole

// A member of the bundle as one caller has it.
struct searched_member {
    std::string name;   // its prefix; its agent's id if it has none
    std::string title;  // in the server's words; empty: none
    std::size_t tools = 0;
};

// The raw definitions for `tools/list`, in the order of search_tool_names. That of find_tools names the members, since models do not
// look for what they do not know of.
std::array<std::string, 3> search_definitions(std::span<const searched_member> members);

struct find_request {
    std::string query;
    std::size_t limit = tools_found;
    std::string agent;  // a name of a member; empty: all of them
};

// A tool by name, and the raw arguments, a view into those that were read; `{}` if there are none.
struct call_request {
    std::string name;
    std::string_view arguments;
};

// `arguments`: raw, of the call; empty: none. They fail with invalid_params, and the detail is for the caller: it quotes nothing.
core::result<find_request> read_find(std::string_view arguments);
core::result<std::vector<std::string>> read_describe(std::string_view arguments);
core::result<call_request> read_call(std::string_view arguments);

// A tool of a result.
struct found_tool {
    std::string_view name;        // as callers have it
    std::string_view definition;  // raw object, with that name
};

// The raw `result` of a call of find_tools, for a client of this era: `structuredContent.tools`, and the same as text. Definitions that have
// no room any more are name and one sentence. No tools: the members instead.
std::string find_result(std::span<const found_tool> tools, std::span<const searched_member> members, era speaks);

// The same of describe_tools. The first definition is always whole.
std::string describe_result(std::span<const found_tool> tools, era speaks);

// A result with `isError` and this text.
std::string refused_result(std::string_view why, era speaks);

// The result for a name that this caller has no tool of; `nearest` are the names of tools that it has.
std::string unknown_result(std::string_view name, std::span<const std::string_view> nearest, era speaks);

// How much two names resemble each other, from 0 to 1 for equal ones: their pairs of letters, without regard to case and separators.
double likeness(std::string_view a, std::string_view b);

// The words of a text: runs of letters, digits and bytes beyond ASCII, which end where a small letter is followed by a capital one
// (`readFile`), and before the last of several capitals (`DNSRecord`). At most so many; views into the text.
std::vector<std::string_view> words_of(std::string_view text, std::size_t most = static_cast<std::size_t>(-1));

// The words in lower case with a blank between them. Names that are written in different manners are equal in it.
std::string plain_words(std::string_view text);

// Appends the words of the text, and after them the meanings that they share with other words (`folder`, `directory`), as a document of
// the index has them.
void append_indexed(std::string& out, std::string_view text);

// The documents' texts of a tool, indexed: its name, the prefix, its title, its description, and names and descriptions of its parameters, also nested ones.
// Of a long description, and of many parameters, the first text_share bytes.
inline constexpr std::size_t text_share = 2048;
inline constexpr std::size_t tool_texts = 5;
std::array<std::string, tool_texts>
indexed_tool(std::string_view name, std::string_view prefix, std::string_view definition);

// The things that a question asks for: each word that says something (all, if none does) with its meanings.
std::vector<std::vector<std::string>> asked_things(std::string_view question);

}  // namespace mcp
