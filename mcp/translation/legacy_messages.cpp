#include "mcp/translation/legacy_messages.hpp"

#include "mcp/protocol/raw_json.hpp"
#include "mcp/protocol/version.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

namespace mcp {
namespace {

constexpr std::array modern_members{
    routed::meta_version,
    routed::meta_capabilities,
    routed::meta_client_info,
    routed::meta_level,
};

constexpr std::string_view space = " \t\r\n";

// The member that has this value, from the quote before its name. There is no quote in the names that are looked for.
text_range member_around(text_range value, std::string_view text)
{
    const auto behind_name = text.rfind('"', value.at - 1);
    const auto begin = text.rfind('"', behind_name - 1);
    return {begin, value.at + value.size - begin};
}

// The comma behind the part. Nothing: it is the last of its object.
std::optional<std::size_t> comma_behind(text_range part, std::string_view text)
{
    const auto at = text.find_first_not_of(space, part.at + part.size);
    return at != std::string_view::npos && text[at] == ',' ? std::optional{at} : std::nullopt;
}

// Members of one object, in their order, with one comma if anything stays beside them.
text_edit removal(text_range members, std::string_view text)
{
    if (const auto comma = comma_behind(members, text)) {
        return {{members.at, *comma + 1 - members.at}, {}};
    }
    const auto before = text.find_last_not_of(space, members.at - 1);
    const auto begin = before != std::string_view::npos && text[before] == ',' ? before : members.at;
    return {{begin, members.at + members.size - begin}, {}};
}

incoming without_modern_members(incoming request)
{
    for (const auto each : modern_members) {
        request.members[static_cast<std::size_t>(each)] = {};
    }
    return request;
}

// Both names are required of an `Implementation`.
std::string server_info(const server_facts& facts, std::string_view fallback_name)
{
    if (!facts.name.empty() && !facts.version.empty()) {
        return facts.info;
    }
    std::string out{"{"};
    append_text_member(out, "name", facts.name.empty() ? fallback_name : facts.name);
    append_text_member(out, "version", facts.version.empty() ? "0" : facts.version);
    const auto info = members_of(facts.info);
    for (const auto& each : info.members()) {
        if (each.name != "name" && each.name != "version") {
            append_member(out, each.name, each.value);
        }
    }
    close(out, '}');
    return out;
}

}  // namespace

std::vector<text_edit> edits_for_legacy(const incoming& request, std::string_view text)
{
    std::vector<text_range> members;
    for (const auto each : modern_members) {
        if (!request[each].empty()) {
            members.push_back(member_around(request[each], text));
        }
    }
    std::ranges::sort(members, {}, &text_range::at);
    std::vector<text_edit> edits;
    for (std::size_t i = 0; i < members.size(); ++i) {
        auto run = members[i];
        for (; i + 1 < members.size(); ++i) {
            const auto comma = comma_behind(run, text);
            const auto next = members[i + 1];
            if (!comma || text.find_first_not_of(space, *comma + 1) != next.at) {
                break;
            }
            run.size = next.at + next.size - run.at;
        }
        edits.push_back(removal(run, text));
    }
    return edits;
}

client_message client_message_of(const incoming& message, std::string_view text, std::string& room)
{
    client_message all;
    all.text = message.whole.of(text);
    all.method = message.text(routed::method, text, room).value_or("");
    all.id = message.raw(routed::id, text);
    all.params = message.raw(routed::params, text);
    all.progress_token = message.raw(routed::progress_token, text);
    all.request_id = message.raw(routed::request_id, text);
    return all;
}

legacy_request::legacy_request(const incoming& request, std::string_view text)
{
    const auto edits = edits_for_legacy(request, text);
    read_ = moved(without_modern_members(request), edits);
    text_ = edited(text, edits);
    if (text_.size() != read_.whole.size) {
        text_ = text_.substr(request.whole.at, read_.whole.size);
    }
    std::string room;
    method_ = read_.text(routed::method, text_, room).value_or("");
}

client_message legacy_request::view() const
{
    std::string room;
    auto all = client_message_of(read_, text_, room);
    all.method = method_;
    return all;
}

std::string_view agreed_version(std::string_view asked) noexcept
{
    const auto* const known = std::ranges::find(legacy_versions, asked);
    return known == legacy_versions.end() ? latest(era::legacy) : *known;
}

std::string initialize_answer(
    std::string_view id,
    std::string_view version,
    const server_facts& facts,
    std::string_view fallback_name
)
{
    std::string result{"{"};
    append_text_member(result, "protocolVersion", version);
    append_member(result, "capabilities", facts.capabilities);
    append_member(result, "serverInfo", server_info(facts, fallback_name));
    if (!facts.instructions.empty()) {
        append_text_member(result, "instructions", facts.instructions);
    }
    close(result, '}');
    return answer_text(id, "result", result);
}

}  // namespace mcp
