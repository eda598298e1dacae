#include "core/json/jsonrpc_scan.hpp"

#include "core/ascii.hpp"
#include "core/json/json_cursor.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <string>

namespace core {
namespace {

enum class routed : std::uint8_t { jsonrpc, method, id, params };

constexpr std::array<std::string_view, 4> routed_names{"jsonrpc", "method", "id", "params"};

// An escape has at most six bytes for each byte that it stands for.
constexpr std::size_t longest_spelling = 6 * std::string_view{"jsonrpc"}.size();

std::optional<routed> find_routed(std::string_view name)
{
    for (std::size_t i = 0; i < routed_names.size(); ++i) {
        if (name == routed_names[i]) {
            return static_cast<routed>(i);
        }
    }
    return std::nullopt;
}

// Whether a reader that ignores case takes `name` for a routed member. folded() halves a name at most.
bool is_case_twin(std::string_view name)
{
    return name.size() <= 2 * routed_names.front().size() && find_routed(folded(name)).has_value();
}

struct found_members {
    std::array<std::string_view, 4> values;  // by `routed`; empty: absent
    std::array<bool, 4> twice{};
    bool case_twin = false;
    bool answers = false;  // has `result` or `error`

    std::string_view operator[](routed member) const { return values[static_cast<std::size_t>(member)]; }

    void add(std::string_view name, bool escaped, std::string_view value);

private:
    void add(std::string_view name, std::string_view value);
};

void found_members::add(std::string_view name, bool escaped, std::string_view value)
{
    if (!escaped) {
        add(name, value);
    } else if (name.size() <= longest_spelling) {
        add(unescape_json(name), value);
    }
}

void found_members::add(std::string_view name, std::string_view value)
{
    const auto member = find_routed(name);
    if (!member) {
        answers = answers || name == "result" || name == "error";
        case_twin = case_twin || is_case_twin(name);
        return;
    }
    auto& slot = values[static_cast<std::size_t>(*member)];
    if (!slot.empty()) {
        twice[static_cast<std::size_t>(*member)] = true;
    }
    slot = value;
}

// The raw text of a string value without its quotes.
std::string_view unquoted(std::string_view value)
{
    return value.substr(1, value.size() - 2);
}

bool has_escape(std::string_view raw)
{
    return raw.find('\\') != std::string_view::npos;
}

bool is_version(std::string_view value)
{
    if (!value.starts_with('"')) {
        return false;
    }
    const auto raw = unquoted(value);
    return raw == "2.0" || (has_escape(raw) && raw.size() <= longest_spelling && unescape_json(raw) == "2.0");
}

bool is_id(std::string_view value)
{
    const char c = value.front();
    return c == '"' || c == '-' || c == 'n' || is(c, byte_class::digit);
}

// Empty if the members make a request (JSON-RPC 2.0 section 4).
std::string_view objection(const found_members& found, const scan_limits& limits)
{
    for (const bool twice : found.twice) {
        if (twice) {
            return "a routed member stands twice";
        }
    }
    if (found.case_twin && limits.refuse_case_twins) {
        return "a member differs from a routed one in case only";
    }
    if (!is_version(found[routed::jsonrpc])) {
        return "jsonrpc is not \"2.0\"";
    }
    const auto method = found[routed::method];
    if (method.empty()) {
        return found.answers ? "an answer, not a request" : "no method";
    }
    if (!method.starts_with('"') || method.size() == 2) {
        return "method is not a name";
    }
    if (const auto id = found[routed::id]; !id.empty() && !is_id(id)) {
        return "id is not a string, a number or null";
    }
    if (const auto params = found[routed::params]; !params.empty() && params.front() != '{' && params.front() != '[') {
        return "params is not an object or an array";
    }
    return {};
}

scan_outcome judge(const found_members& found, const scan_limits& limits)
{
    scan_outcome outcome;
    const auto id = found[routed::id];
    if (!id.empty() && !found.twice[static_cast<std::size_t>(routed::id)] && is_id(id)) {
        outcome.call.id = id;
    }
    outcome.why = objection(found, limits);
    if (!outcome.why.empty()) {
        outcome.problem = errc::invalid_request;
        return outcome;
    }
    outcome.call.method = unquoted(found[routed::method]);
    outcome.call.method_escaped = has_escape(outcome.call.method);
    outcome.call.params = found[routed::params];
    return outcome;
}

template <class Bytes>
bool read_members(json_cursor<Bytes>& cursor, found_members& found)
{
    return cursor.object([&found](std::string_view name, bool escaped, std::string_view value) {
        found.add(name, escaped, value);
        return true;
    });
}

template <class Bytes>
scan_outcome scan(std::string_view body, const scan_limits& limits)
{
    json_cursor<Bytes> cursor{body, limits.depth};
    cursor.skip_space();
    const char first = cursor.peek();
    found_members found;
    if (!(first == '{' ? read_members(cursor, found) : cursor.value()) || !cursor.finish()) {
        return {{}, errc::parse_error, cursor.why()};
    }
    if (first != '{') {
        return {{}, errc::invalid_request, first == '[' ? "batch" : "not an object"};
    }
    return judge(found, limits);
}

void append_utf8(std::string& out, std::uint32_t code)
{
    const auto tail = [&out, code](unsigned shift) { out += static_cast<char>(0x80U | ((code >> shift) & 0x3FU)); };
    if (code < 0x80) {
        out += static_cast<char>(code);
    } else if (code < 0x800) {
        out += static_cast<char>(0xC0U | (code >> 6U));
        tail(0);
    } else if (code < 0x10000) {
        out += static_cast<char>(0xE0U | (code >> 12U));
        tail(6);
        tail(0);
    } else {
        out += static_cast<char>(0xF0U | (code >> 18U));
        tail(12);
        tail(6);
        tail(0);
    }
}

// The number of the `\uXXXX` at the start of `raw`, if it is one.
std::optional<std::uint32_t> hex_escape(std::string_view raw)
{
    if (raw.size() < 6 || raw[0] != '\\' || raw[1] != 'u') {
        return std::nullopt;
    }
    std::uint32_t code = 0;
    std::from_chars(raw.data() + 2, raw.data() + 6, code, 16);
    return code;
}

char single_escape(char letter)
{
    switch (letter) {
        case 'b':
            return '\b';
        case 'f':
            return '\f';
        case 'n':
            return '\n';
        case 'r':
            return '\r';
        case 't':
            return '\t';
        default:
            return letter;
    }
}

// Takes one escape from the front of `raw`.
void append_escape(std::string& out, std::string_view& raw)
{
    const auto first = hex_escape(raw);
    if (!first) {
        out += single_escape(raw.size() > 1 ? raw[1] : '\\');
        raw.remove_prefix(std::min<std::size_t>(2, raw.size()));
        return;
    }
    raw.remove_prefix(6);
    if (*first < 0xD800 || *first > 0xDFFF) {
        append_utf8(out, *first);
        return;
    }
    const auto second = hex_escape(raw);
    if (*first > 0xDBFF || !second || *second < 0xDC00 || *second > 0xDFFF) {
        append_utf8(out, 0xFFFD);
        return;
    }
    raw.remove_prefix(6);
    append_utf8(out, 0x10000 + ((*first - 0xD800) << 10U) + (*second - 0xDC00));
}

error not_json(std::string_view why)
{
    return caller_error(errc::parse_error, std::string(why.empty() ? "an array is not closed" : why));
}

using cursor_type = json_cursor<wide_bytes>;

enum class role : std::uint8_t { result, error, method, other };

constexpr std::array<std::string_view, 3> answer_names{"result", "error", "method"};

// An escape has at most six bytes for each byte that it stands for; U+017F has two.
constexpr std::size_t longest_answer_name = 6 * 2 * std::string_view{"result"}.size();

role role_of(std::string_view raw, bool escaped, bool& twin)
{
    if (raw.size() > longest_answer_name) {
        return role::other;
    }
    const auto name = escaped ? unescape_json(raw) : std::string{raw};
    const auto plain = folded(name);
    for (std::size_t i = 0; i < answer_names.size(); ++i) {
        if (plain == answer_names[i]) {
            twin = name != plain;
            return static_cast<role>(i);
        }
    }
    return role::other;
}

struct found_answer {
    std::array<std::string_view, answer_names.size()> values;  // by role
    bool ambiguous = false;

    std::string_view operator[](role member) const { return values[static_cast<std::size_t>(member)]; }

    // Something is said there; null says that there is nothing.
    bool says(role member) const { return !(*this)[member].empty() && (*this)[member] != "null"; }
};

bool read_answer(cursor_type& cursor, found_answer& found)
{
    return cursor.object([&found](std::string_view name, bool escaped, std::string_view text) {
        bool twin = false;
        if (const auto member = role_of(name, escaped, twin); member != role::other) {
            auto& value = found.values[static_cast<std::size_t>(member)];
            found.ambiguous = found.ambiguous || twin || !value.empty();
            value = text;
        }
        return true;
    });
}

result<jsonrpc_answer> judge(std::string_view text, const found_answer& found)
{
    if (found.ambiguous) {
        return caller_error(errc::invalid_request, "a member stands twice, or in another case");
    }
    const auto result = found[role::result];
    if (found.says(role::error)) {
        return found.says(role::result)
                   ? caller_error(errc::invalid_request, "both a result and an error")
                   : core::result<jsonrpc_answer>{jsonrpc_answer{answer_kind::error, text, {}, {}}};
    }
    if (!result.empty()) {
        const auto at = static_cast<std::size_t>(result.data() - text.data());
        return jsonrpc_answer{answer_kind::result, text.substr(0, at), result, text.substr(at + result.size())};
    }
    if (found[role::method].starts_with('"')) {
        return jsonrpc_answer{answer_kind::call, text, {}, {}};
    }
    return caller_error(errc::invalid_request, "neither a result nor an error");
}

}  // namespace

scan_outcome scan_jsonrpc(std::string_view body, scan_limits limits)
{
    return scan<wide_bytes>(body, limits);
}

scan_outcome scan_jsonrpc_bytewise(std::string_view body, scan_limits limits)
{
    return scan<single_bytes>(body, limits);
}

result<json_elements> scan_elements(std::string_view text, std::size_t keep, scan_limits limits)
{
    json_cursor<wide_bytes> cursor{text, limits.depth};
    cursor.skip_space();
    if (cursor.peek() != '[') {
        const bool valid = cursor.value() && cursor.finish();
        return valid ? caller_error(errc::invalid_request, "not an array") : not_json(cursor.why());
    }
    json_elements elements;
    if (!cursor.open('[')) {
        return not_json(cursor.why());
    }
    if (!cursor.close()) {
        do {
            const char* const begin = cursor.position();
            if (!cursor.value()) {
                return not_json(cursor.why());
            }
            if (elements.raw.size() < keep) {
                elements.raw.emplace_back(begin, static_cast<std::size_t>(cursor.position() - begin));
            }
            ++elements.count;
            cursor.skip_space();
        } while (cursor.take(','));
        if (!cursor.close()) {
            return not_json(cursor.why());
        }
    }
    if (!cursor.finish()) {
        return not_json(cursor.why());
    }
    return elements;
}

result<std::size_t> count_members(std::string_view text, scan_limits limits)
{
    json_cursor<wide_bytes> cursor{text, limits.depth};
    cursor.skip_space();
    if (!cursor.value() || !cursor.finish()) {
        return not_json(cursor.why());
    }
    return cursor.members();
}

std::string folded(std::string_view name)
{
    std::string out;
    while (!name.empty()) {
        const bool long_s = name.starts_with("\xC5\xBF");
        out += long_s ? 's' : lower(name.front());
        name.remove_prefix(long_s ? 2 : 1);
    }
    return out;
}

std::string unescape_json(std::string_view raw)
{
    std::string out;
    out.reserve(raw.size());
    while (!raw.empty()) {
        const auto plain = std::min(raw.find('\\'), raw.size());
        out += raw.substr(0, plain);
        raw.remove_prefix(plain);
        if (!raw.empty()) {
            append_escape(out, raw);
        }
    }
    return out;
}

result<jsonrpc_answer> scan_answer(std::string_view text, unsigned depth)
{
    cursor_type cursor{text, depth};
    cursor.skip_space();
    const bool object = cursor.peek() == '{';
    found_answer found;
    if (!(object ? read_answer(cursor, found) : cursor.value()) || !cursor.finish()) {
        return not_json(cursor.why());
    }
    if (!object) {
        return caller_error(errc::invalid_request, "not an object");
    }
    return judge(text, found);
}

}  // namespace core
