// A configuration text as a tree in which every key and value knows its place. YAML 1.2; JSON is YAML.
#pragma once

#include "config/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace config {

struct document_limits {
    std::size_t bytes = 16 * 1024 * 1024;
    std::size_t nodes = 1'000'000;
    std::size_t flow_marks = 1'000'000;  // '[', '{' and ','; yaml-cpp takes 240 bytes for each before it says a word
    std::size_t depth = 32;              // maps and lists inside one another
};

struct node {
    enum class kind : std::uint8_t { null, scalar, list, map };

    struct name {
        std::string text;
        place at;
    };

    kind is = kind::null;
    place at;
    std::string text;           // of a scalar
    bool plain = false;         // a scalar without quotes: YAML gives it a type by its look
    bool from_outside = false;  // a variable was put in: the text is not shown
    bool unusable = false;      // its problem is already reported
    std::vector<name> keys;     // of a map: keys[i] names items[i]; each name once
    std::vector<node> items;    // of a list or a map
};

// Null if the text is not one document; why is in `problems`: beyond the limits, not UTF-8, control characters, not
// YAML, aliases, tags other than !!str, keys that are not text, a second document, or nothing at all. Duplicate keys
// are reported too, and the first one stands. Never throws.
std::optional<node> parse_document(std::string_view text, problem_list& problems, document_limits limits = {});

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
