#include "mcp/session/message_intake.hpp"

#include "mcp/protocol/raw_json.hpp"
#include "mcp/session/caller_lane.hpp"

#include <utility>

namespace mcp {
namespace {

addressee addressee_in(std::string_view text, const read_part* known)
{
    return known != nullptr ? known->whom : addressee_of(text, true);
}

}  // namespace

message_intake::message_intake(
    session_host& host,
    const runner_settings& settings,
    const requests& open,
    const operator_notes& notes,
    intake_observer& observer
)
    : host_{host},
      settings_{settings},
      requests_{open},
      notes_{notes},
      observer_{observer}
{
}

void message_intake::take(connection& from, std::string_view text)
{
    const read_part* const not_known = nullptr;
    take(from, text, read_message(text, settings_.messages), not_known);
}

void message_intake::take(
    connection& from,
    std::string_view text,
    const core::result<message>& read,
    const read_part* known
)
{
    ++host_.counts().received;
    if (!read) {
        const bool first = !std::exchange(from.spoke_nonsense, true);
        auto meant = known != nullptr ? known->meant : addressees_of(text);
        const auto whom = addressee_in(text, known);
        if (!refuse(from, {std::move(meant), read.error(), text.size(), std::nullopt, first}) && !from.probe() &&
            !is_ambiguous(whom)) {
            host_.lane().take(text, host_.lane().answered_by(whom));
        }
        return;
    }
    const bool answers = read->kind == message_kind::result || read->kind == message_kind::failure;
    const bool unnamed = answers && !names_request(read->id);
    if (unnamed && (from.probe() || requests_.any() || !host_.lane().waits())) {
        return take_unnamed(from, text, *read);
    }
    const auto answered = unnamed ? host_.lane().answered_by(addressee_in(text, known)) : read->answered();
    const bool of_caller = !from.probe() && is_of_caller(*read, known);
    if (!from.probe() && (of_caller || read->kind == message_kind::notification)) {
        host_.lane().take(text, answered);
    }
    if (!of_caller) {
        observer_.heard(from, *read, known != nullptr ? known->page.get() : nullptr);
    }
}

// An error that does not say to what, while no caller waits for one: it is the answer to the only request.
void message_intake::take_unnamed(connection& from, std::string_view text, const message& said)
{
    addressee whom;
    whom.answer = true;
    const auto request = request_of(from, whom);
    if (!request) {
        const auto why = core::upstream_error(core::errc::upstream_protocol, "message: an error without an id");
        const bool first = !std::exchange(from.spoke_nonsense, true);
        refuse(from, {{whom}, why, text.size(), std::nullopt, first});
        return;
    }
    const auto id = std::to_string(*request);
    auto answer = said;
    answer.id = id;
    answer.id_is = id_type::number;
    observer_.heard(from, answer, nullptr);
}

// What the server asks is answered here: it cannot know whose call it is about.
bool message_intake::is_of_caller(const message& said, const read_part* known) const
{
    if (said.kind == message_kind::result || said.kind == message_kind::failure) {
        const auto id = said.answered();
        return !id || !requests_.waits(*id);
    }
    if (said.kind == message_kind::request || era_of(host_.state().version()) != era::modern) {
        return false;
    }
    const auto subscription = (known != nullptr ? known->note : parts_of(said)).subscription_id;
    const auto id = integer_of<std::uint64_t>(subscription);
    return !subscription.empty() && !(id && requests_.waits(*id));
}

void message_intake::take_too_long(connection& from, std::string_view beginning, std::size_t limit)
{
    ++host_.counts().received;
    const auto why = core::upstream_error(
        core::errc::message_too_large,
        "a message is over max_message, " + std::to_string(limit) + " bytes"
    );
    const bool first = !std::exchange(from.spoke_too_long, true);
    if (!refuse(from, {{addressee_of(beginning, false)}, why, beginning.size(), limit, first}) && !from.probe()) {
        host_.lane().take_too_long(beginning, limit);
    }
}

// It does not say to what it is the answer, and the gateway and its callers both wait for one.
bool message_intake::is_ambiguous(const addressee& whom) const
{
    return whom.to_nobody() && requests_.any() && host_.lane().waits();
}

// The request that waits for it.
std::optional<std::uint64_t> message_intake::request_of(const connection& from, const addressee& whom) const
{
    if (!from.probe()) {
        return is_ambiguous(whom) ? std::nullopt : requests_.meant_by(whom);
    }
    const bool its = whom.answer && !whom.other && whom.id.value_or(from.question) == from.question;
    return its ? std::optional{from.question} : std::nullopt;
}

bool message_intake::refuse(connection& from, const refused_text& text)
{
    ++host_.counts().refused;
    std::vector<std::uint64_t> asked;
    for (const auto& each : text.whom) {
        if (const auto request = request_of(from, each)) {
            asked.push_back(*request);
        }
    }
    // The first is worth a look, and so is each that something waits for; a flood is not worth a flood.
    const auto level = text.first || !asked.empty() ? core::log_level::warn : core::log_level::debug;
    notes_.message_rejected(level, text.why, text.size, text.limit);
    if (asked.empty()) {
        return false;
    }
    if (from.probe()) {
        // It is there, and does not know the modern era well enough to answer in it.
        const auto says = settings_.states.silence_is_legacy ? std::optional{era::legacy} : std::nullopt;
        observer_.unusable(from, asked.front(), text.why, says);
        return true;
    }
    const auto kept = host_.keep();
    const auto why = refused_answer(text.why);
    for (const auto each : asked) {
        observer_.unusable(from, each, why, std::nullopt);
    }
    return true;
}

}  // namespace mcp
