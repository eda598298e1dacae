// Words of names and of questions, so that a question finds the tool whatever the manner in which its name is written. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mcp {

// The words of a text, as they stand there: runs of letters, digits and bytes beyond ASCII, which end where a small letter is followed by
// a capital one (`readFile`), and before the last of several capitals (`DNSRecord`). At most so many.
std::vector<std::string_view> words_of(std::string_view text, std::size_t most = static_cast<std::size_t>(-1));

// The words in lower case with a blank between them: names that are written in different manners are equal in it.
std::string plain_words(std::string_view text);

// The text of a document of the index: its words, and the names of the meanings that they share with other words. `is_name`: two words
// that follow one another are also one (`local_storage`: `localstorage`).
std::string indexed_words(std::string_view text, bool is_name);

// The words that a question is looked up by: its own without those that say nothing (unless all are such), two that follow one another
// as one, and the names of meanings.
std::vector<std::string> asked_words(std::string_view question);

}  // namespace mcp
