#include "mcp/session/handshake.hpp"

#include <chrono>
#include <utility>

namespace mcp {

handshake::handshake(session_context& host, connections& over, requests& open, list_refresh& walks)
    : host_{host},
      connections_{over},
      requests_{open},
      walks_{walks}
{
}

std::optional<session_event> handshake::send(const session_action& action)
{
    dialect_ = {std::string{action.version}, host_.settings.client};
    began_ = std::chrono::steady_clock::now();
    const bool modern = action.kind == action_kind::send_discover;
    if (auto* const current = connections_.current(); modern && current != nullptr) {
        current->wire->settle(dialect_);
        if (const auto known = std::exchange(current->discovered, {}); !known.empty()) {
            began_ = current->asked_at;
            return accept(known);
        }
    }
    const auto id = requests_.begin(purpose::handshake);
    requests_.send(
        {modern ? discover_request(id, dialect_) : initialize_request(id, dialect_),
         id,
         modern ? "server/discover" : "initialize"}
    );
    return std::nullopt;
}

session_event handshake::accept(std::string_view result)
{
    auto facts = dialect_.modern() ? read_discover_result(result) : read_initialize_result(result);
    if (!facts) {
        return refuse(host_.notes.shown(facts.error().detail));
    }
    session_event event;
    event.kind = event_kind::handshake_done;
    event.version = facts->protocol_version;
    dialect_.version = facts->protocol_version;
    walks_.set_server(std::move(*facts), dialect_);
    auto* const current = connections_.current();
    if (current != nullptr) {
        current->wire->settle(dialect_);
    }
    fell_back_ = current != nullptr && current->wire->fell_back();
    if (fell_back_) {
        host_.notes.fell_back();
    }
    host_.notes.set_needs_operator(false);
    auto& counts = host_.counts;
    ++counts.handshakes;
    counts.latest_handshake = std::chrono::duration_cast<core::duration>(std::chrono::steady_clock::now() - began_);
    return event;
}

session_event handshake::fail(std::string why, std::optional<era> says)
{
    if (!probed_.empty()) {
        host_.notes.say(session_reason::probe_failed, probed_ + "; to initialize: " + why);
    }
    return end(std::move(why), says, false);
}

session_event handshake::end(std::string why, std::optional<era> says, bool answered)
{
    refused_ = why;
    host_.notes.say(session_reason::handshake_refused, std::move(why));
    session_event event;
    event.kind = event_kind::handshake_refused;
    event.verdict = says;
    event.answered = answered;
    return event;
}

void handshake::on_late_start()
{
    auto* const current = connections_.current();
    auto* const shown = current != nullptr ? current : connections_.probe();
    if (shown == nullptr) {
        return;
    }
    // A refusal of `initialize` beside the probe is reported with it, and does not pass by itself.
    host_.notes.set_needs_operator(host_.notes.needs_operator() && current == nullptr && !refused_.empty());
    const auto words = shown->wire->last_words();
    const auto said = words.empty() ? words : "; it wrote: " + words;
    if (host_.state.state() == session_state::initializing) {
        const auto probed = probed_.empty() ? probed_ : "; " + probed_;
        host_.notes.say_late(session_reason::handshake_timeout, probed + said);
    } else if (current == nullptr) {
        host_.notes.say(
            session_reason::probe_failed,
            "no answer to server/discover" + (refused_.empty() ? refused_ : "; to initialize: " + refused_) + said
        );
    }
}

}  // namespace mcp
