// What is done to a configuration's text before a YAML parser sees it. Pure.
#pragma once

#include "config/problem.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace config {

struct foreign_text {
    place at;
    std::string why;
};

// The first thing that is not text: bytes that are not UTF-8 (RFC 3629), control characters other than tab, CR and LF.
// yaml-cpp checks neither, and takes 0x04 for the end of the file.
std::optional<foreign_text> not_text(std::string_view text);

// JSON writes a character beyond U+FFFF as two escapes (RFC 8259 section 7), YAML as one, and yaml-cpp refuses halves:
// the same JSON text with one escape `\Uxxxxxxxx` for each two.
std::string join_surrogates(std::string_view json);

// Puts blanks instead of `// ...` and `/* ... */` outside of double quotes, as VS Code takes them in JSON; every other
// byte keeps its place. Text that does not begin with `{` or `[` or such a comment is no JSON and stays as it is. Returns
// where a comment begins that does not end.
std::optional<foreign_text> blank_comments(std::string& json);

}  // namespace config
