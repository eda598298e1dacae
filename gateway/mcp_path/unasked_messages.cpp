#include "gateway/mcp_path/unasked_messages.hpp"

#include <algorithm>
#include <utility>

namespace gateway::mcp_path {

std::shared_ptr<text_queue> unasked_messages::listen()
{
    auto listener = std::make_shared<text_queue>(on_);
    if (const auto before = listener_.lock()) {
        before->move_to(*listener);
        before->close();
    }
    if (const auto waiting = std::move(unheard_)) {
        waiting->move_to(*listener);
    }
    listener->on_left([this, alive = std::weak_ptr<bool>{alive_}](text_queue& queue) {
        if (!alive.expired()) {
            listener_left(queue);
        }
    });
    listener_ = listener;
    return listener;
}

void unasked_messages::listener_left(text_queue& queue)
{
    listener_.reset();
    queue.move_to(unheard());
}

text_queue& unasked_messages::unheard()
{
    if (unheard_ == nullptr) {
        unheard_ = std::make_unique<text_queue>(on_);
        waits_since_ = core::steady_time::max();
    }
    return *unheard_;
}

bool unasked_messages::push(std::string text, text_kind kind, core::steady_time now)
{
    if (const auto listener = listener_.lock()) {
        return listener->push(std::move(text), kind);
    }
    auto& waiting = unheard();
    if (kind == text_kind::question) {
        waits_since_ = std::min(waits_since_, now);
    }
    return waiting.push(std::move(text), kind);
}

std::vector<std::string> unasked_messages::overdue(core::steady_time now)
{
    if (unheard_ == nullptr || !unheard_->has_question()) {
        waits_since_ = core::steady_time::max();
        return {};
    }
    // Of what a listener has left behind the time begins with the first look.
    waits_since_ = std::min(waits_since_, now);
    if (now - waits_since_ < patience) {
        return {};
    }
    waits_since_ = core::steady_time::max();
    return unheard_->take_questions();
}

void unasked_messages::forget_questions()
{
    if (const auto listener = listener_.lock()) {
        listener->take_questions();
    }
    if (unheard_ != nullptr) {
        unheard_->take_questions();
    }
}

void unasked_messages::close()
{
    if (const auto listener = listener_.lock()) {
        listener->close();
    }
}

}  // namespace gateway::mcp_path
