// Messages of a server on their way to their readers: of one call, or of what the server says by itself. The reader looks, then waits to
// be woken; letting go of the queue is how it leaves. On the thread of one loop.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "net/loop/types.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::mcp::table {

// A slow reader may lose notifications; nothing that somebody waits for is lost.
enum class text_kind : unsigned char { notification, question, answer };

class text_queue {
public:
    // The limits of texts that wait: beyond them the oldest notifications are dropped, and no question is accepted.
    static constexpr std::size_t most_texts = 256;
    static constexpr std::size_t most_bytes = 1024 * 1024;

    explicit text_queue(net::executor on)
        : on_{on}
    {
    }
    ~text_queue();
    text_queue(const text_queue&) = delete;
    text_queue& operator=(const text_queue&) = delete;

    // The reader's side. Nothing: none waits. What was taken has reached the reader with arrived(): until then a question is
    // still the queue's, and waits in it again when the reader lets go.
    std::optional<std::string> take();
    void arrived() { under_way_.clear(); }

    // None waits, and none comes any more: the answer was taken, the call was cancelled, or failure() says why.
    bool over() const noexcept { return closed_ && texts_.empty(); }
    const std::optional<core::error>& failure() const noexcept { return failure_; }

    // `wake` is called on the loop, never from within a call of the reader's, when there is something to look at; it may let go
    // of the queue. Empty: nobody waits.
    void set_wake(std::function<void()> wake) { wake_ = std::move(wake); }

    // Before anything is written: the reader gets answers and nothing else; no question is taken.
    void take_answers_only() noexcept { answers_only_ = true; }
    bool takes_answers_only() const noexcept { return answers_only_; }

    // The writer's side. False: a question that cannot be taken.
    bool push(std::string text, text_kind kind);

    // Nothing more comes; behind an answer.
    void close();
    void finish(std::string answer);
    void fail(core::error why);

    // `left` is called when the reader lets go of the queue, which is still whole then, of one that is closed only if a question
    // has not arrived; and `back` when one that has left reads it again.
    void on_left(std::function<void(text_queue&)> left) { left_ = std::move(left); }
    void on_back(std::function<void()> back) { back_ = std::move(back); }
    bool closed() const noexcept { return closed_; }

    // Whoever writes speaks another era than the reader, which was not known when the reader was given the queue.
    void translate() noexcept { translated_ = true; }
    bool translated() const noexcept { return translated_; }

    // The reader has gone, and may come back; what it was asked and has not got waits again.
    void leave();
    void come_back();

    // So many more, with so many bytes in all, may wait without a loss.
    bool has_room(std::size_t bytes, std::size_t texts = 1) const noexcept;

    // Moves the waiting texts to `other` while it has room. Returns the questions that it did not accept.
    std::vector<std::string> move_to(text_queue& other);

    // The questions that wait or have not arrived, which leave the queue.
    std::vector<std::string> take_questions();
    bool has_question() const noexcept;

    // Whether a question with this text waits that was taken before and did not arrive.
    bool repeats(std::string_view text) const noexcept;

private:
    struct waiting {
        std::string text;
        text_kind kind;
        bool repeated = false;  // it was taken once, and did not arrive
    };

    void add(waiting text);
    void make_room();
    void tell();

    net::executor on_;
    std::deque<waiting> texts_;
    std::vector<std::string> under_way_;  // questions that were taken and have not arrived
    std::size_t bytes_ = 0;
    bool closed_ = false;
    bool told_ = false;
    bool translated_ = false;
    bool answers_only_ = false;
    std::optional<core::error> failure_;
    std::function<void()> wake_;
    std::function<void(text_queue&)> left_;
    std::function<void()> back_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

// For the reader of a request that is answered already.
std::shared_ptr<text_queue> answered(net::executor on, std::string answer);

// A server's own messages in one session: they go to the client's GET stream, and wait while nobody listens.
class server_notifications {
public:
    // A question that nobody has come to read by then is refused.
    static constexpr core::duration patience{10'000};

    explicit server_notifications(net::executor on)
        : on_{on}
    {
    }

    // Instead of whoever listened, whose queue ends.
    std::shared_ptr<text_queue> listen();
    bool listened_to() const noexcept { return !listener_.expired(); }

    // Asks text_queue::has_room(); false: nobody listens.
    bool has_room(std::size_t bytes, std::size_t texts = 1) const noexcept;

    // False: a question that cannot be taken.
    bool push(std::string text, text_kind kind, core::steady_time now);

    // The questions that have waited too long or for which there was no room, which are no longer asked.
    std::vector<std::string> overdue(core::steady_time now);

    // Nobody waits for their answers any more.
    void forget_questions();

    // Nothing more comes.
    void close();

private:
    void move(text_queue& from, text_queue& to);
    void watch(text_queue& listener, bool replaced);
    text_queue& unheard();

    net::executor on_;
    std::weak_ptr<text_queue> listener_;
    std::unique_ptr<text_queue> unheard_;                       // what waits for a listener
    std::vector<std::string> left_over_;                        // questions that found no room
    core::steady_time waits_since_ = core::steady_time::max();  // its oldest question
    unsigned forgotten_ = 0;                                    // how often questions were
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

}  // namespace gateway::mcp::table
