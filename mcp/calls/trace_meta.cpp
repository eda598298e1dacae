#include "mcp/calls/trace_meta.hpp"

#include "mcp/protocol/raw_json.hpp"

#include <string>
#include <utility>

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
