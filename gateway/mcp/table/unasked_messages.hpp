// What a server says unasked in one session: it goes to whoever listens (the client's GET stream), and waits while nobody does.
// On the thread of one loop.
#pragma once

#include "core/clock.hpp"
#include "gateway/mcp/table/text_queue.hpp"
#include "net/loop/types.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace gateway::mcp::table {

class unasked_messages {
public:
    // A question that nobody has come to read by then is refused.
    static constexpr core::duration patience{10'000};

    explicit unasked_messages(net::executor on)
        : on_{on}
    {
    }

    // Instead of whoever listened, whose queue ends.
    std::shared_ptr<text_queue> listen();
    bool listened_to() const noexcept { return !listener_.expired(); }

    // As text_queue::has_room(); false: nobody listens.
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
