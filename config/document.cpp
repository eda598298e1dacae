#include "config/document.hpp"

#include "core/ascii.hpp"
#include "core/utf8.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <exception>
#include <map>
#include <sstream>
#include <utility>

namespace config {
namespace {

// A handler of yaml-cpp's events throws it to end the parse; it never leaves this file.
struct stopped {
    place at;
    std::string what;
};

place to_place(const YAML::Mark& mark)
{
    return {static_cast<unsigned>(std::max(mark.line, 0)) + 1, static_cast<unsigned>(std::max(mark.column, 0)) + 1};
}

class tree_builder : public YAML::EventHandler {
public:
    tree_builder(problem_list& problems, document_limits limits)
        : problems_{problems},
          limits_{limits}
    {
    }

    std::optional<node> take() { return std::move(root_); }

    // The start of the innermost map or list that has no end yet.
    place unfinished() const
    {
        if (frames_.empty()) {
            return {};
        }
        return frames_.back().has_key ? frames_.back().key.at : frames_.back().value.at;
    }

    void OnDocumentStart(const YAML::Mark& mark) override
    {
        if (root_) {
            throw stopped{to_place(mark), "a second document starts here; expected one document"};
        }
    }
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override { add(make(node::kind::null, mark)); }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override
    {
        throw stopped{
            to_place(mark),
            "an alias stands here; expected the value itself (text that starts with * needs quotes)"
        };
    }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/, const std::string& text)
        override
    {
        if (tag != "?" && tag != "!" && tag != "tag:yaml.org,2002:str") {
            refuse_tag(mark);
        }
        auto value = make(node::kind::scalar, mark);
        value.text = text;
        value.plain = tag == "?";
        add(std::move(value));
    }

    void OnSequenceStart(
        const YAML::Mark& mark,
        const std::string& tag,
        YAML::anchor_t /*anchor*/,
        YAML::EmitterStyle::value /*style*/
    ) override
    {
        open(node::kind::list, mark, tag);
    }
    void OnSequenceEnd() override { close(); }

    void OnMapStart(
        const YAML::Mark& mark,
        const std::string& tag,
        YAML::anchor_t /*anchor*/,
        YAML::EmitterStyle::value /*style*/
    ) override
    {
        open(node::kind::map, mark, tag);
    }
    void OnMapEnd() override { close(); }

private:
    struct frame {
        node value;
        node::name key;
        bool has_key = false;    // its value comes next
        bool duplicate = false;  // that key was there before
        std::map<std::string, place> seen;
    };

    [[noreturn]] static void refuse_tag(const YAML::Mark& mark)
    {
        throw stopped{
            to_place(mark),
            "a tag stands here; expected a value without a tag (text that starts with ! needs quotes)"
        };
    }

    node make(node::kind kind, const YAML::Mark& mark)
    {
        if (++nodes_ > limits_.nodes) {
            throw stopped{to_place(mark), "more than " + std::to_string(limits_.nodes) + " values"};
        }
        node value;
        value.is = kind;
        value.at = to_place(mark);
        return value;
    }

    void open(node::kind kind, const YAML::Mark& mark, const std::string& tag)
    {
        if (!tag.empty() && tag != "?" && tag != "!") {
            refuse_tag(mark);
        }
        if (frames_.size() == limits_.depth) {
            throw stopped{to_place(mark), "nested deeper than " + std::to_string(limits_.depth)};
        }
        if (!frames_.empty() && expects_key()) {
            throw stopped{to_place(mark), "a { or [ has no end, or stands as a key; expected text as a key"};
        }
        frames_.push_back({make(kind, mark), {}, false, false, {}});
    }

    void close()
    {
        auto value = std::move(frames_.back().value);
        frames_.pop_back();
        add(std::move(value));
    }

    bool expects_key() const { return frames_.back().value.is == node::kind::map && !frames_.back().has_key; }

    void add(node value)
    {
        if (frames_.empty()) {
            root_ = std::move(value);
            return;
        }
        auto& parent = frames_.back();
        if (parent.value.is == node::kind::list) {
            parent.value.items.push_back(std::move(value));
        } else if (!parent.has_key) {
            add_key(parent, std::move(value));
        } else {
            add_member(parent, std::move(value));
        }
    }

    void add_key(frame& parent, node value)
    {
        if (value.is != node::kind::scalar) {
            throw stopped{
                value.at,
                "a key is missing or null, or a ',' or ': ' beside it is missing; expected text as a key"
            };
        }
        const auto [before, is_new] = parent.seen.try_emplace(value.text, value.at);
        if (!is_new) {
            const auto line = std::to_string(before->second.line);
            problems_.add(value.at, join(path(), value.text), "is given twice; line " + line + " has it first");
        }
        parent.duplicate = !is_new;
        parent.key = {std::move(value.text), value.at};
        parent.has_key = true;
    }

    static void add_member(frame& parent, node value)
    {
        if (!parent.duplicate) {
            parent.value.keys.push_back(std::move(parent.key));
            parent.value.items.push_back(std::move(value));
        }
        parent.has_key = false;
    }

    // The path of the open map.
    std::string path() const
    {
        std::string text;
        for (const auto& open_frame : frames_) {
            if (open_frame.value.is == node::kind::list) {
                text += '[' + std::to_string(open_frame.value.items.size()) + ']';
            } else if (open_frame.has_key) {
                text = join(text, open_frame.key.text);
            }
        }
        return text;
    }

    problem_list& problems_;
    document_limits limits_;
    std::size_t nodes_ = 0;
    std::vector<frame> frames_;
    std::optional<node> root_;
};

// yaml-cpp's own words may quote the file, where a credential may stand: only ours are shown.
std::string_view explain(std::string_view said)
{
    struct row {
        std::string_view said;
        std::string_view shown;
    };
    constexpr std::string_view alias =
        "an alias stands here; expected the value itself (text that starts with * needs quotes)";
    constexpr auto rows = std::to_array<row>({
        {"end of map flow not found",
         "a { has no }, or a ',' or ': ' is missing (a ${NAME} within { } or [ ] needs quotes)"},
        {"end of sequence flow not found",
         "a [ has no ], or a ',' or ': ' is missing (a ${NAME} within { } or [ ] needs quotes)"},
        {"end of map not found",
         "the indentation does not fit, a key has no ': ', or text that starts with [ or { has no quotes"},
        {"end of sequence not found", "the indentation does not fit, or an item has no '- '"},
        {"illegal flow end", "a } or ] has no beginning"},
        {"illegal map value", "a ': ' stands where no value can be (text with ': ' in it needs quotes)"},
        {"illegal map key", "a key stands where none can be"},
        {"illegal block entry", "a '- ' stands where no item can be"},
        {"illegal EOF in scalar", "a quoted text has no end"},
        {"illegal document indicator in scalar", "a quoted text has no end"},
        {"unknown escape character",
         "a backslash in double quotes escapes nothing known (single quotes keep it as it is)"},
        {"bad character found while scanning hex", "a \\x or \\u is not followed by hexadecimal digits"},
        {"invalid unicode", "an escape names no Unicode character"},
        {"unknown token", "a character stands here that starts no value (text that starts with it needs quotes)"},
        {"the referenced anchor is not defined", alias},
        {"alias not found", alias},
        {"illegal character found while scanning alias", alias},
    });
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const row& r) { return said.starts_with(r.said); });
    return found == rows.end() ? std::string_view{} : found->shown;
}

// The place (from 0) of a tab in the indentation of this line (from 1).
std::optional<std::size_t> tab_in_indentation(std::string_view text, unsigned line)
{
    for (; line > 1; --line) {
        const auto end = text.find('\n');
        if (end == std::string_view::npos) {
            return {};
        }
        text.remove_prefix(end + 1);
    }
    const auto indentation = text.substr(0, text.find_first_not_of(" \t"));
    const auto tab = indentation.find('\t');
    return tab == std::string_view::npos ? std::nullopt : std::optional{tab};
}

bool beyond_end(std::string_view text, place at)
{
    return at.line > std::count(text.begin(), text.end(), '\n') + 1;
}

stopped syntax_problem(std::string_view text, const YAML::Exception& e, place unfinished)
{
    auto at = to_place(e.mark);
    if (const auto tab = tab_in_indentation(text, at.line)) {
        at.column = static_cast<unsigned>(*tab) + 1;
        return {at, "is not YAML: a tab stands where the indentation is; expected spaces"};
    }
    const auto why = explain(e.msg);
    return {beyond_end(text, at) ? unfinished : at, why.empty() ? "is not YAML" : "is not YAML: " + std::string{why}};
}

std::optional<node> build(std::string_view text, problem_list& problems, document_limits limits)
{
    const auto first = text.find_first_not_of(" \t\r\n");
    const bool json = first != std::string_view::npos && text[first] == '{';
    // yaml-cpp takes the end of the file for the end of a quoted text; the end of a document it does not.
    std::istringstream in{(json ? join_surrogates(text) : std::string{text}) + "\n...\n"};
    tree_builder builder{problems, limits};
    try {
        YAML::Parser parser{in};
        while (parser.HandleNextDocument(builder)) {
        }
        return builder.take();
    } catch (const stopped& s) {
        const bool cut = beyond_end(text, s.at);
        problems.add(cut ? builder.unfinished() : s.at, "", cut ? "is not YAML: a { or [ has no end" : s.what);
    } catch (const YAML::Exception& e) {
        const auto s = syntax_problem(text, e, builder.unfinished());
        problems.add(s.at, "", s.what);
    } catch (const std::exception&) {
        problems.add({}, "", "is not YAML");
    }
    return {};
}

std::string control_character(unsigned char c)
{
    constexpr std::string_view hex = "0123456789ABCDEF";
    return std::string{"has the control character 0x"} + hex[c >> 4U] + hex[c & 0x0FU] + "; expected text";
}

std::optional<unsigned> utf16_escape(std::string_view text, unsigned low, unsigned high)
{
    if (text.size() < 6 || !text.starts_with("\\u")) {
        return {};
    }
    unsigned value = 0;
    const auto* const end = text.data() + 6;
    const auto read = std::from_chars(text.data() + 2, end, value, 16);
    return read.ptr == end && value >= low && value <= high ? std::optional{value} : std::nullopt;
}

place place_of(std::string_view text, std::size_t at)
{
    const auto before = text.substr(0, at);
    const auto line = std::count(before.begin(), before.end(), '\n');
    const auto begin = before.rfind('\n');  // npos + 1 is 0
    return {static_cast<unsigned>(line) + 1, static_cast<unsigned>(at - (begin + 1)) + 1};
}

}  // namespace

std::optional<node> parse_document(std::string_view text, problem_list& problems, document_limits limits)
{
    if (text.size() > limits.bytes) {
        problems.add({}, "", "is longer than " + std::to_string(limits.bytes) + " bytes");
        return {};
    }
    text = core::without_byte_order_mark(text);
    if (const auto foreign = not_text(text)) {
        problems.add(foreign->at, "", foreign->why);
        return {};
    }
    const auto marks = std::count_if(text.begin(), text.end(), [](char c) { return c == '[' || c == '{' || c == ','; });
    if (static_cast<std::size_t>(marks) > limits.flow_marks) {
        problems.add({}, "", "has more than " + std::to_string(limits.flow_marks) + " brackets, braces and commas");
        return {};
    }
    const auto already = !problems.empty();
    auto root = build(text, problems, limits);
    if (!root && !already && problems.empty()) {
        root.emplace();
    }
    if (root && root->is == node::kind::null) {
        problems.add({}, "", "is empty; expected settings (`{}` for none)");
        return {};
    }
    return root;
}

std::optional<foreign_text> not_text(std::string_view text)
{
    place at;
    while (!text.empty()) {
        const char c = text.front();
        if (core::is_control(c) && c != '\t' && c != '\n' && c != '\r') {
            return foreign_text{at, control_character(static_cast<unsigned char>(c))};
        }
        const auto length =
            static_cast<unsigned char>(c) < 0x80 ? 1 : core::utf8_length(text.data(), text.data() + text.size());
        if (length == 0) {
            return foreign_text{at, "is not UTF-8; expected text in UTF-8"};
        }
        if (c == '\n') {
            at = {at.line + 1, 1};
        } else {
            at.column += static_cast<unsigned>(length);
        }
        text.remove_prefix(length);
    }
    return {};
}

std::string join_surrogates(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size();) {
        if (text[i] != '\\') {
            out += text[i++];
            continue;
        }
        const auto high = utf16_escape(text.substr(i), 0xD800, 0xDBFF);
        const auto low = high ? utf16_escape(text.substr(i + 6), 0xDC00, 0xDFFF) : std::nullopt;
        if (!low) {
            out += text.substr(i, 2);
            i += 2;
            continue;
        }
        const unsigned point = 0x10000 + ((*high - 0xD800) << 10U) + (*low - 0xDC00);
        out += "\\U";
        for (unsigned shift = 32; shift > 0; shift -= 4) {
            out += core::hex_digits[(point >> (shift - 4)) & 0x0FU];
        }
        i += 12;
    }
    return out;
}

std::optional<foreign_text> blank_comments(std::string& json)
{
    constexpr std::string_view blanks = " \t\r\n";
    bool quoted = false;
    bool begun = false;
    for (auto i = json.size() - core::without_byte_order_mark(json).size(); i < json.size(); ++i) {
        if (quoted) {
            quoted = json[i] != '"';
            i += json[i] == '\\' ? 1 : 0;
            continue;
        }
        const auto opening = std::string_view{json}.substr(i, 2);
        const bool line = opening == "//";
        if (line || opening == "/*") {
            const auto end = line ? std::min(json.find_first_of("\r\n", i), json.size()) : json.find("*/", i + 2);
            if (end == std::string::npos) {
                return foreign_text{place_of(json, i), "a comment that begins with /* has no */"};
            }
            const auto behind = line ? end : end + 2;
            std::replace_if(
                json.begin() + static_cast<std::ptrdiff_t>(i),
                json.begin() + static_cast<std::ptrdiff_t>(behind),
                [](char c) { return c != '\n' && c != '\r'; },
                ' '
            );
            i = behind - 1;
            continue;
        }
        if (!begun && blanks.find(json[i]) == blanks.npos) {
            begun = json[i] == '{' || json[i] == '[';
            if (!begun) {
                return {};
            }
        }
        quoted = json[i] == '"';
    }
    return {};
}

}  // namespace config
