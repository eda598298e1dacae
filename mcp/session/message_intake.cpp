#include "mcp/session/message_intake.hpp"

#include "mcp/protocol/raw_json.hpp"

#include <utility>

namespace mcp {
namespace {

addressee addressee_in(std::string_view text, const read_part* known)
{
    return known != nullptr ? known->whom : addressee_of(text, true);
}

}  // namespace

message_intake::outcome message_intake::accept(connection& from, std::string_view text)
{
    const read_part* const not_known = nullptr;
    return accept(from, text, read_message(text, host_.settings.messages), not_known);
}

message_intake::outcome message_intake::accept(
    connection& from,
    std::string_view text,
    const core::result<message>& read,
    const read_part* known
)
{
    ++host_.counts.received;
    if (!read) {
        const bool first = !std::exchange(from.spoke_nonsense, true);
        auto meant = known != nullptr ? known->meant : addressees_of(text);
        const auto whom = addressee_in(text, known);
        auto out = refuse(from, {std::move(meant), read.error(), text.size(), std::nullopt, first});
        if (out.bad.empty() && !from.probe && !is_ambiguous(whom)) {
            host_.lane.take(text, host_.lane.answered_by(whom));
        }
        return out;
    }
    const bool answers = read->kind == message_kind::result || read->kind == message_kind::failure;
    const bool unnamed = answers && !names_request(read->id);
    if (unnamed && (from.probe || requests_.any() || !host_.lane.waits())) {
        return accept_unnamed(from, text, *read);
    }
    const auto answered = unnamed ? host_.lane.answered_by(addressee_in(text, known)) : read->answered();
    const bool of_caller = !from.probe && is_of_caller(*read, known);
    if (!from.probe && (of_caller || read->kind == message_kind::notification)) {
        host_.lane.take(text, answered);
    }
    outcome out;
    if (!of_caller) {
        out.heard = *read;
        out.answered = read->answered();
        out.page = known != nullptr ? known->page.get() : nullptr;
    }
    return out;
}

// An error that does not say to what, while no caller waits for one: it is the answer to the only request.
message_intake::outcome message_intake::accept_unnamed(connection& from, std::string_view text, const message& said)
{
    addressee whom;
    whom.answer = true;
    const auto request = request_of(from, whom);
    if (!request) {
        const auto why = core::upstream_error(core::errc::upstream_protocol, "message: an error without an id");
        const bool first = !std::exchange(from.spoke_nonsense, true);
        return refuse(from, {{whom}, why, text.size(), std::nullopt, first});
    }
    outcome out;
    out.heard = said;
    out.answered = request;
    return out;
}

// A request of the server is answered here: the server cannot know whose call it is about.
bool message_intake::is_of_caller(const message& said, const read_part* known) const
{
    if (said.kind == message_kind::result || said.kind == message_kind::failure) {
        const auto id = said.answered();
        return !id || !requests_.waits(*id);
    }
    if (said.kind == message_kind::request || era_of(host_.state.version()) != era::modern) {
        return false;
    }
    const auto subscription = (known != nullptr ? known->note : parts_of(said)).subscription_id;
    const auto id = integer_of<std::uint64_t>(subscription);
    return !subscription.empty() && !(id && requests_.waits(*id));
}

message_intake::outcome message_intake::accept_too_long(connection& from, std::string_view beginning, std::size_t limit)
{
    ++host_.counts.received;
    const auto why = core::upstream_error(
        core::errc::message_too_large,
        "a message is over max_message, " + std::to_string(limit) + " bytes"
    );
    const bool first = !std::exchange(from.spoke_too_long, true);
    auto out = refuse(from, {{addressee_of(beginning, false)}, why, beginning.size(), limit, first});
    if (out.bad.empty() && !from.probe) {
        host_.lane.take_too_long(beginning, limit);
    }
    return out;
}

// An answer that does not say to what, while the gateway and its callers both wait for one.
bool message_intake::is_ambiguous(const addressee& whom) const
{
    return whom.to_nobody() && requests_.any() && host_.lane.waits();
}

// The request that waits for it.
std::optional<std::uint64_t> message_intake::request_of(const connection& from, const addressee& whom) const
{
    if (!from.probe) {
        return is_ambiguous(whom) ? std::nullopt : requests_.meant_by(whom);
    }
    const bool its = whom.answer && !whom.other && whom.id.value_or(from.question) == from.question;
    return its ? std::optional{from.question} : std::nullopt;
}

message_intake::outcome message_intake::refuse(connection& from, const refused_text& text)
{
    ++host_.counts.refused;
    outcome out;
    auto& asked = out.bad;
    for (const auto& each : text.whom) {
        if (const auto request = request_of(from, each)) {
            asked.push_back(*request);
        }
    }
    // The first is worth a look, and so is each that something waits for; a flood is not worth a flood.
    const auto level = text.first || !asked.empty() ? core::log_level::warn : core::log_level::debug;
    host_.notes.message_rejected(level, text.why, text.size, text.limit);
    if (asked.empty()) {
        return out;
    }
    if (from.probe) {
        // The server does not know the modern era well enough to answer in it.
        asked.resize(1);
        out.why = text.why;
        out.says = host_.settings.states.silence_is_legacy ? std::optional{era::legacy} : std::nullopt;
    } else {
        out.why = refused_answer(text.why);
    }
    return out;
}

}  // namespace mcp
