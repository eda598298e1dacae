// Words of names and of questions, so that a question finds the tool however the name of that is written. Pure; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mcp {

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
