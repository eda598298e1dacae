#include "mcp/bundle/origins.hpp"

#include "core/ascii.hpp"
#include "core/base64.hpp"
#include "core/json/json_cursor.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <array>
#include <utility>

namespace mcp {
namespace {

constexpr std::string_view own_question = "cardea:";
constexpr char between = '\0';

// A string or a number that is JSON, and nothing around it: it goes into a message as it is.
bool is_raw_id(std::string_view raw) noexcept
{
    if (raw.empty() || (raw.front() != '"' && raw.front() != '-' && !core::is_digit(raw.front()))) {
        return false;
    }
    core::json_cursor<core::wide_bytes> cursor{raw, 1};
    return cursor.value() && cursor.position() == raw.data() + raw.size();
}

}  // namespace

std::string raw_id_of(const question_origin& origin)
{
    std::string text{origin.member};
    text.append(1, between).append(origin.session).append(1, between).append(origin.id);
    return std::string{'"'}.append(own_question).append(core::base64url(text)).append("\"");
}

std::optional<question_origin> origin_of(std::string_view raw)
{
    const auto id = text_of(raw).value_or("");
    if (!id.starts_with(own_question)) {
        return std::nullopt;
    }
    const auto text = core::from_base64url(std::string_view{id}.substr(own_question.size())).value_or("");
    const auto first = text.find(between);
    const auto second = first != std::string::npos ? text.find(between, first + 1) : std::string::npos;
    if (second == std::string::npos || first == 0) {
        return std::nullopt;
    }
    question_origin origin{text.substr(0, first), text.substr(first + 1, second - first - 1), text.substr(second + 1)};
    return is_raw_id(origin.id) ? std::optional{std::move(origin)} : std::nullopt;
}

std::optional<std::string> with_origin(std::string_view message, std::string_view member, std::string_view session)
{
    const auto read = members_of(message);
    const auto method = read.text("method");
    const auto params = members_of(read.object("params"));
    std::vector<text_edit> edits;
    const auto name = [&](std::string_view raw) {
        if (is_raw_id(raw)) {
            const text_range place{static_cast<std::size_t>(raw.data() - message.data()), raw.size()};
            edits.push_back({place, raw_id_of({std::string{member}, std::string{session}, std::string{raw}})});
        }
    };
    if (method == "notifications/cancelled") {
        name(params.find("requestId"));
    } else if (!method.empty() && !read.find("id").empty()) {
        name(read.find("id"));
        name(members_of(params.object("_meta")).find("progressToken"));
    }
    return edits.empty() ? std::nullopt : std::optional{edited(message, edits)};
}

std::optional<returned_message> returned_to(const incoming& message, std::string_view body)
{
    const bool progress = message.kind == incoming_kind::notification && message.method == client_method::progress;
    if (!progress && message.kind != incoming_kind::answer) {
        return std::nullopt;
    }
    const auto place = message[progress ? routed::progressed_token : routed::id];
    auto origin = origin_of(place.of(body));
    if (!origin) {
        return std::nullopt;
    }
    text_edit edit{place, origin->id};
    return returned_message{std::move(*origin), std::move(edit)};
}

std::string event_id_of(const event_origin& origin)
{
    return core::base64url(std::string{origin.member}.append(1, between).append(origin.event));
}

std::optional<event_origin> origin_of_event(std::string_view id)
{
    const auto text = core::from_base64url(id).value_or("");
    const auto end = text.find(between);
    // It goes into the header of a request.
    const auto may_stand_there = [](char c) { return c >= 0x20 && c < 0x7F; };
    if (end == std::string::npos || end == 0 ||
        !std::all_of(text.begin() + static_cast<std::ptrdiff_t>(end) + 1, text.end(), may_stand_there)) {
        return std::nullopt;
    }
    return event_origin{text.substr(0, end), text.substr(end + 1)};
}

}  // namespace mcp
