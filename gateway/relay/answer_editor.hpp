// Edits an agent's answer: reads it whole, or event by event, has each text edited, and sends the result with fields of its
// own. On the thread of the caller's loop; the editing itself is done elsewhere.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/model/answered_card.hpp"
#include "gateway/relay/agent_exchange.hpp"
#include "gateway/relay/answer_body.hpp"
#include "gateway/relay/answer_edit.hpp"
#include "gateway/relay/answer_writer.hpp"
#include "gateway/relay/call_wait.hpp"
#include "net/loop/shared_budget.hpp"
#include "net/sse/sse_events.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace gateway::relay {

class answer_editor {
public:
    // After agent.begin(), for an answer in no content coding. The first of the edits says what is edited, and what comes beside the
    // texts; each text goes through all of them in order. References outlive the editor.
    answer_editor(
        net::caller_exchange& caller,
        agent_exchange& agent,
        exchange_wait& wait,
        answer_writer& writer,
        std::span<const std::unique_ptr<answer_edit>> edits
    );

    // One of the two carries the answer, or what follows if the caller has got the head of a stream already (early_events), to the
    // caller and gives the connection back. They fail as the edits do and its terms say, with overloaded (bodies), event_too_large, upstream_reset or upstream_protocol, or as
    // a wait or a write does; if writer.begun(), with a part of the answer gone out.
    net::routine<core::result<>> edit_whole();

    // For a stream of events, which `writer` knows it to be.
    net::routine<core::result<>> edit_events();

private:
    net::routine<core::result<bool>> read(core::steady_time until);
    core::steady_time silent_until() const;
    void take_received();
    bool between_events() const;
    net::routine<core::result<>> edit_received();
    std::string with_event_id(std::string event) const;
    net::routine<core::result<model::edited_answer>> edited(std::string text);
    net::routine<core::result<>> pass_rest(std::string head);
    void write_fields(std::string& text, body_care care) const;
    body_care care() const noexcept;
    core::error too_large() const;
    void give_up(std::string& text);
    net::routine<core::result<>> send_instead(std::string head, std::string body);
    net::routine<core::result<>> send_whole(std::string head, std::string body);
    net::routine<core::result<>> send_events(std::string text, bool last);

    net::caller_exchange& caller_;
    agent_exchange& agent_;
    exchange_wait& wait_;
    answer_writer& writer_;
    std::span<const std::unique_ptr<answer_edit>> edits_;
    answer_edit& edit_;                  // the first
    std::optional<core::error> broken_;  // the body, behind `text_`
    bool has_body_ = true;               // of a whole answer, be it empty
    std::string text_;                   // of the body, not looked at
    net::sse_splitter events_;
    std::string edited_;  // events that have not gone out
    net::budget_share share_;
};

}  // namespace gateway::relay
