#include "mcp/calls/text_edits.hpp"

#include "mcp/protocol/raw_json.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace mcp {
namespace {

// Behind the bracket that opens the object. Nothing: a name stands twice in it, or it has too many members.
std::optional<text_edit> first_member(text_range object, std::string_view text, std::string member)
{
    const auto members = raw_object::read(object.of(text));
    if (!members) {
        return std::nullopt;
    }
    if (!members->members().empty()) {
        member += ',';
    }
    return text_edit{{object.at + 1, 0}, std::move(member)};
}

}  // namespace

std::string edited(std::string_view text, std::span<const text_edit> edits)
{
    std::vector<const text_edit*> in_order;
    std::size_t added = 0;
    for (const auto& edit : edits) {
        in_order.push_back(&edit);
        added += edit.text.size();
    }
    std::ranges::sort(in_order, {}, [](const text_edit* edit) { return std::pair{edit->place.at, edit->place.size}; });
    std::string out;
    out.reserve(text.size() + added);
    std::size_t copied = 0;
    for (const auto* const edit : in_order) {
        out.append(text, copied, edit->place.at - copied).append(edit->text);
        copied = edit->place.at + edit->place.size;
    }
    out.append(text, copied);
    return out;  // by its name, which is moved
}

text_range moved(text_range part, std::span<const text_edit> edits) noexcept
{
    if (part.empty()) {
        return part;
    }
    auto there = part;
    for (const auto& edit : edits) {
        const auto grown = edit.text.size() - edit.place.size;  // modulo 2^64
        if (part.at >= edit.place.at + edit.place.size) {
            there.at += grown;
        } else if (part.at + part.size > edit.place.at) {
            there.size += grown;
        }
    }
    return there;
}

incoming moved(const incoming& message, std::span<const text_edit> edits) noexcept
{
    auto there = message;
    const auto whole = moved(message.whole, edits);
    there.whole = {0, whole.size};
    for (auto& each : there.members) {
        each = moved(each, edits);
        each.at -= each.empty() ? 0 : whole.at;
    }
    return there;
}

std::optional<text_edit> trace_edit(const incoming& message, std::string_view text, const trace_words& words)
{
    const auto params = message[routed::params];
    const auto meta = message[routed::meta];
    if (!is_object(params.of(text)) || (!meta.empty() && !is_object(meta.of(text)))) {
        return std::nullopt;
    }
    const auto said = members_of(meta.of(text));
    if (!said.find("traceparent").empty()) {
        return std::nullopt;
    }
    std::string trace;
    append_text_member(trace, "traceparent", words.parent);
    if (!words.state.empty() && said.find("tracestate").empty()) {
        append_text_member(trace, "tracestate", words.state);
    }
    trace.pop_back();
    if (!meta.empty()) {
        return first_member(meta, text, std::move(trace));
    }
    return first_member(params, text, R"("_meta":{)" + trace + '}');
}

}  // namespace mcp
