// The answers to the messages of a batch (MCP 2025-03-26, basic, "Batching"): what comes of each goes to one reader, as it comes. On
// the thread of one loop.
#pragma once

#include "core/error.hpp"
#include "gateway/mcp/table/session_table.hpp"
#include "gateway/mcp/table/text_queue.hpp"
#include "mcp/calls/client_message.hpp"
#include "net/loop/types.hpp"

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

namespace gateway::mcp::table {

class gathered_answers {
public:
    explicit gathered_answers(net::executor on)
        : on_{on}
    {
    }
    gathered_answers(const gathered_answers&) = delete;
    gathered_answers& operator=(const gathered_answers&) = delete;

    // What comes of one request of the batch.
    struct member {
        std::string id;  // raw, of the request
        std::shared_ptr<text_queue> answer;
    };

    // The messages of a batch, in their order, each as if it had come alone: what comes of its requests. Nothing is said of a
    // notification or an answer that was not taken, unless they are all that there is. Fails with session_not_found, and then
    // with what a notification or an answer fails with.
    core::result<std::vector<member>> ask_each(
        const std::vector<::mcp::kept_message>& batch,
        const ::mcp::message_head& head,
        session_table& in,
        const session_key& key
    ) const;

    // Gets what the server has asked and the client has not got.
    using refuse_function = std::function<void(const std::string& question)>;

    // What the client reads, until all members are answered. One that fails has an error with its id. A client that leaves lets go
    // of all of them. `refuse` is called for what the server has asked and there is no room for, and for what has not arrived when the
    // client leaves, also behind the last answer.
    std::shared_ptr<text_queue> gather(std::vector<member> members, std::string agent_id, refuse_function refuse);

private:
    struct batch {
        std::vector<member> members;  // that are not answered
        std::string agent_id;
        refuse_function refuse;
        std::weak_ptr<text_queue> reader;
    };

    void look(batch& at);
    void drop(const batch* at);

    net::executor on_;
    std::list<batch> all_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

// Refuses questions of this session's server, as a client would that cannot be asked. That the session is over, or that the server does
// not read, changes nothing. The table outlives it.
gathered_answers::refuse_function refusing(session_table& in, const session_key& key);

}  // namespace gateway::mcp::table
