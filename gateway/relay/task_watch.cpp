#include "gateway/relay/task_watch.hpp"

#include "gateway/relay/answer_body.hpp"
#include "mcp/calls/tool_scan.hpp"

#include <utility>

namespace gateway::relay {

void task_watch::begin(const net::http1::response_head& head, body_care care)
{
    scan_.reset();
    if (!has_identity_coding(head)) {
        tool_ = nullptr;
    }
    const bool good = call_.hooks.tasks.index != nullptr && head.status >= 200 && head.status < 300;
    claims_ = good && call_.hooks.tasks.context != 0;
    reads_ = good && has_identity_coding(head);
    if (good && !reads_) {
        on_result();  // for all that can be seen
    }
    if (reads_) {
        events_ = is_event_stream(head);
        const bool known = care == body_care::passes && head.body == net::http1::framing::length && !events_;
        whole_ = known ? head.content_length : 0;
    }
}

void task_watch::see(std::string_view piece)
{
    if (tool_ != nullptr && !tool_->feed(piece)) {
        tool_ = nullptr;
    }
    if (!reads_) {
        return;
    }
    if (!scan_) {
        if (!claims_ && piece.size() == whole_ && !::a2a::may_show_task(piece, call_.hooks.tasks.must_read())) {
            reads_ = false;
            return;
        }
        using enum ::a2a::task_scan::framing;
        using enum ::a2a::task_text::until;
        const auto depth = call_.hooks.tasks.must_read() ? context : task;
        scan_ = std::make_unique<::a2a::task_scan>(events_ ? events : document, depth);
    }
    reads_ = scan_->feed(piece, *this);
}

void task_watch::see_message(std::string_view json)
{
    if (reads_) {
        using enum ::a2a::task_text::until;
        ::a2a::task_text text{call_.hooks.tasks.must_read() ? context : task};
        text.feed(json, *this);
    }
}

void task_watch::on_task(std::string_view id, std::optional<::a2a::task_state> state)
{
    auto* const index = call_.hooks.tasks.index;
    if (index == nullptr) {
        return;
    }
    on_result();
    const auto& agent = *call_.agent;
    const bool changed = index->note(agent.record.id, id, call_.hooks.tasks.facts(), state, caller_.owner().now());
    if (changed && state) {
        settings_.streams.task_changed(agent, *state);
    }
}

void task_watch::on_result()
{
    if (std::exchange(claims_, false)) {
        const auto& terms = call_.hooks.tasks;
        terms.index->claim_context(terms.context, terms.facts().whose, caller_.owner().now());
    }
}

void task_watch::on_context(std::string_view id)
{
    const auto& terms = call_.hooks.tasks;
    if (terms.must_read()) {
        terms.index->note_context(call_.agent->record.id, id, terms.context_facts(), caller_.owner().now());
    }
}

}  // namespace gateway::relay
