#include "gateway/mcp/table/unasked_messages.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gateway::mcp::table {

std::shared_ptr<text_queue> unasked_messages::listen()
{
    auto listener = std::make_shared<text_queue>(on_);
    const auto before = std::exchange(listener_, listener).lock();
    if (before != nullptr) {
        move(*before, *listener);
        before->close();
        watch(*before, /*replaced=*/true);
    }
    if (const auto waiting = std::move(unheard_)) {
        move(*waiting, *listener);
    }
    watch(*listener, /*replaced=*/false);
    return listener;
}

// What has not arrived there goes to whoever listens then, unless it is a question that was forgotten meanwhile: forget_questions()
// does not reach a listener that was replaced.
void unasked_messages::watch(text_queue& listener, bool replaced)
{
    listener.on_left([this, replaced, since = forgotten_, alive = std::weak_ptr<bool>{alive_}](text_queue& queue) {
        if (alive.expired()) {
            return;
        }
        if (replaced && since != forgotten_) {
            queue.take_questions();
        }
        const auto next = listener_.lock();
        move(queue, next != nullptr ? *next : unheard());
    });
}

void unasked_messages::move(text_queue& from, text_queue& to)
{
    std::ranges::move(from.move_to(to), std::back_inserter(left_over_));
}

text_queue& unasked_messages::unheard()
{
    if (unheard_ == nullptr) {
        unheard_ = std::make_unique<text_queue>(on_);
        waits_since_ = core::steady_time::max();
    }
    return *unheard_;
}

bool unasked_messages::has_room(std::size_t bytes, std::size_t texts) const noexcept
{
    const auto listener = listener_.lock();
    return listener != nullptr && listener->has_room(bytes, texts);
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
    auto questions = std::exchange(left_over_, {});
    if (unheard_ == nullptr || !unheard_->has_question()) {
        waits_since_ = core::steady_time::max();
        return questions;
    }
    // Of what a listener has left behind the time begins with the first look.
    waits_since_ = std::min(waits_since_, now);
    if (now - waits_since_ < patience) {
        return questions;
    }
    waits_since_ = core::steady_time::max();
    std::ranges::move(unheard_->take_questions(), std::back_inserter(questions));
    return questions;
}

void unasked_messages::forget_questions()
{
    ++forgotten_;
    left_over_.clear();
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

}  // namespace gateway::mcp::table
