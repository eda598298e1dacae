// The `initialize` of clients that are put to a program of which nobody knows yet whether it speaks the legacy era. One that
// refuses because it does not has the session begun in another way, and the client sees nothing of the first attempt. On the
// thread of one loop.
#pragma once

#include "gateway/mcp/table/text_queue.hpp"
#include "mcp/calls/client_message.hpp"
#include "net/loop/types.hpp"

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>

namespace gateway::mcp::table {

class handshake_retry {
public:
    explicit handshake_retry(net::executor on)
        : on_{on}
    {
    }
    handshake_retry(const handshake_retry&) = delete;
    handshake_retry& operator=(const handshake_retry&) = delete;

    // Begins the session in the other way, and answers to `reader`. False: it does not, and the client gets the refusal.
    using other_way = std::function<bool(std::string_view refusal, const std::shared_ptr<text_queue>& reader)>;

    // `answer`: what the program says to `initialize`. What the client reads instead.
    std::shared_ptr<text_queue> watch(std::shared_ptr<text_queue> answer, other_way other);

    void stop() { all_.clear(); }

private:
    struct opening {
        std::shared_ptr<text_queue> answer;
        std::weak_ptr<text_queue> reader;
        other_way other;
    };

    void look(opening& at);
    void drop(const opening& at);

    net::executor on_;
    std::list<opening> all_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

// Whether an answer to `initialize` is what a server says that does not speak the legacy era: an error of the modern one, or
// that it knows no such method (MCP 2026-07-28, basic/versioning).
bool says_modern_only(std::string_view answer);

}  // namespace gateway::mcp::table
