#include "a2a/gateway_facts.hpp"

#include "core/json/json.hpp"
#include "core/json/json_cursor.hpp"
#include "core/json/jsonrpc_scan.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace a2a {
namespace {

using cursor_type = core::json_cursor<core::wide_bytes>;

constexpr std::array<std::string_view, 4> wrapped_names{"task", "message", "statusUpdate", "artifactUpdate"};

// A member of an object, as raw text.
struct found_member {
    std::string_view value;
    unsigned count = 0;  // how often it stands there
    bool alone = true;   // the object has no other member
};

template <class Wanted>
std::optional<found_member> find(std::string_view object, Wanted wanted)
{
    if (!object.starts_with('{')) {
        return std::nullopt;
    }
    found_member found;
    cursor_type cursor{object, cursor_type::deepest};
    const bool read = cursor.object([&](std::string_view name, bool escaped, std::string_view value) {
        const bool is_it = escaped ? wanted(core::unescape_json(name)) : wanted(name);
        found.count += is_it ? 1 : 0;
        found.alone = found.alone && is_it;
        found.value = is_it ? value : found.value;
        return true;
    });
    return read && found.count < 2 ? std::optional{found} : std::nullopt;
}

struct edit {
    std::string_view replaced;  // of the answer; perhaps empty
    std::string text;
};

// Adds a member in front of the object's others, or where they would be.
edit as_first_member(std::string_view object, std::string member, bool alone)
{
    return {object.substr(1, 0), std::move(member) + (alone ? "" : ",")};
}

std::optional<edit> edit_of(std::string_view object, std::string_view uri, std::string_view facts)
{
    const auto metadata = find(object, [](std::string_view name) { return name == "metadata"; });
    if (!metadata) {
        return std::nullopt;
    }
    std::string member;
    core::append_json_string(member, uri);
    member.append(":").append(facts);
    if (metadata->count == 0) {
        return as_first_member(object, "\"metadata\":{" + member + '}', metadata->alone);
    }
    if (metadata->value == "null") {
        return edit{metadata->value, '{' + member + '}'};
    }
    const auto before = find(metadata->value, [uri](std::string_view name) { return name == uri; });
    if (!before) {
        return std::nullopt;
    }
    if (before->count == 1) {
        return edit{before->value, std::string{facts}};
    }
    return as_first_member(metadata->value, std::move(member), before->alone);
}

}  // namespace

metadata_place place_of_metadata(operation what, generation of) noexcept
{
    switch (what) {
        case operation::send:
        case operation::stream:
        case operation::subscribe:
            return of == generation::v1 ? metadata_place::inside : metadata_place::result;
        case operation::get:
        case operation::cancel:
            return metadata_place::result;
        default:
            return metadata_place::none;
    }
}

std::optional<std::string>
add_facts(std::string_view answer, metadata_place place, std::string_view uri, std::string_view facts)
{
    const auto scanned = core::scan_answer(answer);
    if (!scanned || scanned->kind != core::answer_kind::result || place == metadata_place::none) {
        return std::nullopt;
    }
    auto object = scanned->result;
    if (place == metadata_place::inside) {
        const auto inner = find(object, [](std::string_view name) {
            return std::ranges::find(wrapped_names, name) != wrapped_names.end();
        });
        object = inner && inner->count == 1 ? inner->value : std::string_view{};
    }
    const auto edited = edit_of(object, uri, facts);
    if (!edited) {
        return std::nullopt;
    }
    const auto at = static_cast<std::size_t>(edited->replaced.data() - answer.data());
    std::string out;
    out.reserve(answer.size() + edited->text.size());
    out.append(answer.substr(0, at)).append(edited->text).append(answer.substr(at + edited->replaced.size()));
    return out;
}

}  // namespace a2a
