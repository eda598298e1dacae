#include "core/json/jsonrpc_answer.hpp"

#include "core/json/json_cursor.hpp"
#include "core/json/jsonrpc_scan.hpp"

#include <array>
#include <string>

namespace core {
namespace {

using cursor_type = json_cursor<wide_bytes>;

enum class role : std::uint8_t { result, error, method, other };

constexpr std::array<std::string_view, 3> names{"result", "error", "method"};

// An escape has at most six bytes for each byte that it stands for; U+017F has two.
constexpr std::size_t longest_spelling = 6 * 2 * std::string_view{"result"}.size();

role role_of(std::string_view raw, bool escaped, bool& twin)
{
    if (raw.size() > longest_spelling) {
        return role::other;
    }
    const auto name = escaped ? unescape_json(raw) : std::string{raw};
    const auto plain = folded(name);
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (plain == names[i]) {
            twin = name != plain;
            return static_cast<role>(i);
        }
    }
    return role::other;
}

struct found_answer {
    std::array<std::string_view, names.size()> values;  // by role
    bool ambiguous = false;

    std::string_view operator[](role member) const { return values[static_cast<std::size_t>(member)]; }

    // Something is said there; null says that there is nothing.
    bool says(role member) const { return !(*this)[member].empty() && (*this)[member] != "null"; }
};

bool read(cursor_type& cursor, found_answer& found)
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

error not_json(std::string_view why)
{
    return caller_error(errc::parse_error, std::string{why});
}

}  // namespace

result<jsonrpc_answer> scan_answer(std::string_view text, unsigned depth)
{
    cursor_type cursor{text, depth};
    cursor.skip_space();
    const bool object = cursor.peek() == '{';
    found_answer found;
    if (!(object ? read(cursor, found) : cursor.value()) || !cursor.finish()) {
        return not_json(cursor.why());
    }
    if (!object) {
        return caller_error(errc::invalid_request, "not an object");
    }
    return judge(text, found);
}

}  // namespace core
