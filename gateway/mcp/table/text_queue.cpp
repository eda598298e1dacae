#include "gateway/mcp/table/text_queue.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
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
    // It may close the queue.
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

}  // namespace gateway::mcp::table
