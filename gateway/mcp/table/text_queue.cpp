#include "gateway/mcp/table/text_queue.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace gateway::mcp::table {

text_queue::~text_queue()
{
    leave();
}

void text_queue::leave()
{
    // Behind its end only what the reader was asked and has not got matters.
    if (!left_ || (closed_ && !has_question() && under_way_.empty())) {
        return;
    }
    for (; !under_way_.empty(); under_way_.pop_back()) {
        bytes_ += under_way_.back().size();
        texts_.push_front({std::move(under_way_.back()), text_kind::question, /*repeated=*/true});
    }
    // The function may close the queue.
    const auto left = left_;
    left(*this);
}

void text_queue::come_back()
{
    if (const auto back = back_) {
        back();
    }
}

std::optional<std::string> text_queue::take()
{
    if (texts_.empty()) {
        return std::nullopt;
    }
    auto text = std::move(texts_.front().text);
    if (left_ && texts_.front().kind == text_kind::question) {
        under_way_.push_back(text);
    }
    texts_.pop_front();
    bytes_ -= text.size();
    return text;
}

bool text_queue::push(std::string text, text_kind kind)
{
    if (closed_) {
        return false;
    }
    if (answers_only_ && kind != text_kind::answer) {
        return kind == text_kind::notification;
    }
    if (kind == text_kind::question && !has_room(text.size())) {
        return false;
    }
    add({std::move(text), kind});
    return true;
}

void text_queue::add(waiting text)
{
    bytes_ += text.text.size();
    texts_.push_back(std::move(text));
    make_room();
    tell();
}

void text_queue::close()
{
    closed_ = true;
    back_ = nullptr;
    tell();
}

void text_queue::finish(std::string answer)
{
    push(std::move(answer), text_kind::answer);
    close();
}

void text_queue::fail(core::error why)
{
    failure_ = std::move(why);
    close();
}

std::vector<std::string> text_queue::move_to(text_queue& other)
{
    std::vector<std::string> left_over;
    for (auto& each : std::exchange(texts_, {})) {
        if (each.kind == text_kind::question && !other.has_room(each.text.size())) {
            left_over.push_back(std::move(each.text));
        } else if (!other.closed_) {
            other.add(std::move(each));
        }
    }
    bytes_ = 0;
    return left_over;
}

std::vector<std::string> text_queue::take_questions()
{
    auto questions = std::exchange(under_way_, {});
    std::erase_if(texts_, [&](waiting& each) {
        const bool taken = each.kind == text_kind::question;
        if (taken) {
            bytes_ -= each.text.size();
            questions.push_back(std::move(each.text));
        }
        return taken;
    });
    return questions;
}

bool text_queue::repeats(std::string_view text) const noexcept
{
    return std::ranges::any_of(texts_, [text](const waiting& each) { return each.repeated && each.text == text; });
}

bool text_queue::has_question() const noexcept
{
    return std::ranges::find(texts_, text_kind::question, &waiting::kind) != texts_.end();
}

bool text_queue::has_room(std::size_t bytes, std::size_t texts) const noexcept
{
    return texts_.size() + texts <= most_texts && (bytes_ == 0 || bytes_ + bytes <= most_bytes);
}

// The last one stays, however long it is.
void text_queue::make_room()
{
    while (texts_.size() > most_texts || bytes_ > most_bytes) {
        const auto oldest = std::ranges::find(texts_, text_kind::notification, &waiting::kind);
        if (oldest == texts_.end() || std::next(oldest) == texts_.end()) {
            return;
        }
        bytes_ -= oldest->text.size();
        texts_.erase(oldest);
    }
}

// Behind what is being done: the reader may let go of the queue, and of more.
void text_queue::tell()
{
    if (std::exchange(told_, true)) {
        return;
    }
    net::asio::post(on_, [this, alive = std::weak_ptr<bool>{alive_}] {
        if (alive.expired()) {
            return;
        }
        told_ = false;
        if (const auto wake = wake_) {
            wake();
        }
    });
}

std::shared_ptr<text_queue> answered(net::executor on, std::string answer)
{
    auto reader = std::make_shared<text_queue>(on);
    reader->finish(std::move(answer));
    return reader;
}

std::shared_ptr<text_queue> server_notifications::listen()
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

// Texts that have not arrived go to the next listener, unless it is a question that was forgotten meanwhile: forget_questions()
// does not reach a listener that was replaced.
void server_notifications::watch(text_queue& listener, bool replaced)
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

void server_notifications::move(text_queue& from, text_queue& to)
{
    std::ranges::move(from.move_to(to), std::back_inserter(left_over_));
}

text_queue& server_notifications::unheard()
{
    if (unheard_ == nullptr) {
        unheard_ = std::make_unique<text_queue>(on_);
        waits_since_ = core::steady_time::max();
    }
    return *unheard_;
}

bool server_notifications::has_room(std::size_t bytes, std::size_t texts) const noexcept
{
    const auto listener = listener_.lock();
    return listener != nullptr && listener->has_room(bytes, texts);
}

bool server_notifications::push(std::string text, text_kind kind, core::steady_time now)
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

std::vector<std::string> server_notifications::overdue(core::steady_time now)
{
    auto questions = std::exchange(left_over_, {});
    if (unheard_ == nullptr || !unheard_->has_question()) {
        waits_since_ = core::steady_time::max();
        return questions;
    }
    // For texts that a listener has left behind the time begins with the first look.
    waits_since_ = std::min(waits_since_, now);
    if (now - waits_since_ < patience) {
        return questions;
    }
    waits_since_ = core::steady_time::max();
    std::ranges::move(unheard_->take_questions(), std::back_inserter(questions));
    return questions;
}

void server_notifications::forget_questions()
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

void server_notifications::close()
{
    if (const auto listener = listener_.lock()) {
        listener->close();
    }
}

}  // namespace gateway::mcp::table
